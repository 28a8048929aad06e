/* From the bin on, no branch and no address depends on what a device tells, or on whether it has something to tell. Nor does
 * one, when the draw is made, on whether the device takes part and when. */
#include "device/answer/answer.h"
#include "device/answer/participate.h"
#include "recipe/claim.h"
#include "sim/random.h"
#include "support/ctime.h"
#include "support/recipes.h"
#include "support/tokens.h"

#include <string.h>

static sotto_status fill_secret(void *context, void *out, size_t len, sotto_err *err)
{
    (void)err;
    sotto_sim_random_bytes(context, out, len);
    sotto_ctime_secret(out, len);
    return SOTTO_OK;
}

static void seal_with(sotto_test *t, const sotto_recipe *recipe, uint64_t bin,
                      const sotto_wallet_row *token)
{
    const sotto_parties *parties = sotto_test_parties(t, NULL, NULL);
    sotto_answer_plan plan = {.recipe = recipe, .token = token, .now = recipe->opens};
    sotto_sim_random random;
    sotto_entropy entropy;
    sotto_report_content content;
    sotto_report report;
    sotto_task task;

    CHECK_OK(t, sotto_recipe_content(&content, recipe, &t->err));
    CHECK_OK(t, sotto_task_compile(&task, recipe, parties, 0, &t->arena, &t->err));
    plan.task = &task;
    plan.content = &content;
    plan.parties[0] = sotto_parties_find(parties, recipe->leader);
    plan.parties[1] = sotto_parties_find(parties, recipe->helper);
    for (int i = 0; i < 2; i++)
        plan.keys[i] = sotto_party_key_at(plan.parties[i], plan.now);
    sotto_sim_random_init(&random, 1);
    sotto_entropy_init(&entropy, fill_secret, &random);
    sotto_ctime_secret(&bin, sizeof bin);
    CHECK_OK(t, sotto_answer_seal(&report, &plan, bin, &entropy, &t->arena, &t->err));
    CHECK(t, report.bytes.len == task.report_bytes);
}

static void seal(sotto_test *t, const sotto_recipe *recipe, uint64_t bin)
{
    seal_with(t, recipe, bin, NULL);
}

/* The one-time key agrees with both servers; the token itself is public from then on. */
static void nor_does_an_answer_with_a_token(sotto_test *t)
{
    const sotto_recipe *recipe =
        sotto_test_recipe(t, "\"schedule\"",
                          "\"anonymity\": {\"tokens\": \"type-2\", \"attester\": \"key:attester\","
                          " \"issuer\": \"key:issuer\"}, \"schedule\"");
    const sotto_admission_collection collection = {.issuer = {(const uint8_t *)"key:issuer", 10}};
    sotto_wallet_row row = {.state = SOTTO_TOKEN_HELD, .len = SOTTO_WALLET_HELD, .secret = {3}};
    sotto_test_issuer issuer;

    sotto_test_issuer_open(t, &issuer, 0);
    const sotto_bytes token = sotto_test_token(t, &issuer, &collection, row.secret);
    memcpy(row.secret + SOTTO_ONCE_SEED, token.data, token.len);
    sotto_test_issuer_close(&issuer);
    sotto_ctime_secret(row.secret, SOTTO_ONCE_SEED);
    seal_with(t, recipe, 7, &row);
}

static void sealing_an_answer_takes_no_branch_on_it(sotto_test *t)
{
    const sotto_recipe *recipe = sotto_test_recipe(t, NULL, NULL);

    seal(t, recipe, 7);
    seal(t, recipe, SOTTO_NO_VALUE);
}

static void nor_does_an_answer_of_one_bin(sotto_test *t)
{
    const sotto_recipe *recipe = sotto_test_recipe(
        t, "{\"type\": \"one-hot\", \"form\": \"asymmetric\", \"epsilon_local\": 2.0}",
        "{\"type\": \"choice\", \"epsilon_local\": 2.0}");

    seal(t, recipe, 7);
    seal(t, recipe, SOTTO_NO_VALUE);
}

static void nor_does_an_answer_that_others_add_noise_to(sotto_test *t)
{
    static const char *const statistics[] = {"quantiles", "count", "sum", "mean"};
    static const char *const sources[] = {"\"servers\", \"sigma\": 500",
                                          "\"shares\", \"sigma\": 500"};

    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 2; j++) {
            const sotto_recipe *recipe = sotto_test_recipe_of(t, statistics[i], sources[j]);

            seal(t, recipe, i == 1 ? 0 : 7);
            seal(t, recipe, SOTTO_NO_VALUE);
        }
}

static void draw(sotto_test *t, const char *participation)
{
    const sotto_recipe *recipe = sotto_test_recipe(
        t, "\"participation\": {\"type\": \"poisson\", \"rate\": 0.1}", participation);
    sotto_sim_random random;
    sotto_entropy entropy;

    sotto_sim_random_init(&random, 2);
    sotto_entropy_init(&entropy, fill_secret, &random);
    sotto_lot lot = {.recipe = recipe, .entropy = &entropy, .now = recipe->opens};
    for (int i = 0; i < 20; i++) {
        sotto_decision decision = {0};

        CHECK_OK(t, sotto_participation_draw(&lot, &decision, &t->err));
    }
}

/* Importance sampling looks at the bin. */
static void nor_does_a_draw_after_the_value(sotto_test *t)
{
    const sotto_participation p = {
        .type = SOTTO_IMPORTANCE, .rate = 0.2, .rate_other = 0.7, .default_bin = 3};
    sotto_sim_random random;
    sotto_entropy entropy;

    sotto_sim_random_init(&random, 3);
    sotto_entropy_init(&entropy, fill_secret, &random);
    for (uint64_t i = 0; i < 8; i++) {
        uint64_t bin = i;
        bool silent;

        sotto_ctime_secret(&bin, sizeof bin);
        CHECK_OK(t, sotto_participation_weigh(&silent, &p, bin, &entropy, &t->err));
    }
}

#define SLOTS   "\"start\": \"2026-11-20T00:00:00Z\", \"slot\": \"1h\""
#define DUMMIES "\"dummies\": 0.3, "

static void the_draw_takes_no_branch_on_what_falls(sotto_test *t)
{
    draw(t, DUMMIES "\"participation\": {\"type\": \"poisson\", \"rate\": 0.5}");
    draw(t, DUMMIES "\"participation\": {\"type\": \"check-in\", \"variant\": \"averaged\", "
                    "\"window\": 7, " SLOTS "}");
    draw(t, DUMMIES
         "\"participation\": {\"type\": \"donation\", \"slots\": 7, \"rate\": 0.5, " SLOTS "}");
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(sealing_an_answer_takes_no_branch_on_it),     CASE(nor_does_an_answer_of_one_bin),
        CASE(nor_does_an_answer_that_others_add_noise_to), CASE(nor_does_an_answer_with_a_token),
        CASE(the_draw_takes_no_branch_on_what_falls),      CASE(nor_does_a_draw_after_the_value),
    };
    return RUN_TESTS(argc, argv, cases);
}
