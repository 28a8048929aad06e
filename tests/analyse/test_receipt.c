#include "dap/dap.h"
#include "recipe/claim.h"
#include "sotto/analyse.h"
#include "support/recipes.h"

#include <stdio.h>
#include <string.h>

static sotto_receipt receipt;
static sotto_collection collection;
static sotto_rejections told;  /* by both servers, if there is a population in it */
static sotto_rejections other; /* by one of them, the same */
static bool other_is_leader;

static void make_of(sotto_test *t, const sotto_recipe *recipe)
{
    const sotto_parties *parties = sotto_test_parties(t, NULL, NULL);
    sotto_recipe seen = *recipe; /* these parties have no relay */
    sotto_recipe_claim claim;
    sotto_result result = {.p = 0.5, .q = 0.125};
    sotto_task task;

    seen.anonymity = (sotto_anonymity){0};
    CHECK_OK(t, sotto_recipe_claim_compute(&claim, recipe, SOTTO_HONEST_UNSAID, &t->err));
    CHECK_OK(t, sotto_recipe_claim_sampling(&claim, recipe, 1000000, &t->err));
    CHECK_OK(t, sotto_task_compile(&task, &seen, parties, 0, &t->arena, &t->err));
    collection = (sotto_collection){.reports = 41234, .from = task.opens, .until = task.closes};
    collection.leader =
        (sotto_rejections){.known = true,
                           .rate = SOTTO_RATE_OFF,
                           .count = 2,
                           .items = {{"report_replayed", 3}, {"vdaf_verify_error", 12}}};
    collection.helper.why = "it does not tell";
    if (told.population > 0)
        collection.leader = collection.helper = told;
    if (other.population > 0)
        *(other_is_leader ? &collection.leader : &collection.helper) = other;
    sotto_receipt_of(&receipt, recipe, &task, &claim, &collection, &result);
    CHECK_BYTES(t, task.id, receipt.task_id, sizeof task.id);
    CHECK_NEAR(t, claim.epsilon_cohort, receipt.epsilon_cohort, 0);
    CHECK(t, claim.epsilon_local == receipt.epsilon_local);
}

static void make(sotto_test *t)
{
    make_of(t, sotto_test_recipe(t, NULL, NULL));
}

static void a_receipt_claims_aggregation_and_no_sampling(sotto_test *t)
{
    make(t);
    CHECK(t, receipt.split && receipt.aggregation && !receipt.sampling);
    CHECK(t, strstr(receipt.sampling_why, "no relay") != NULL);
    CHECK(t, strstr(receipt.theorem, "amplification by shuffling") != NULL);
    CHECK_EQUAL(t, 40000, receipt.min_cohort);
    CHECK_EQUAL(t, 20000, receipt.honest);
    CHECK_NEAR(t, 0.5, receipt.honest_share, 0);
}

static void explain(sotto_test *t, char *text, size_t size)
{
    sotto_buf out = sotto_buf_over(text, size - 1);

    CHECK_OK(t, sotto_receipt_explain(&out, &receipt, &t->err));
    text[out.len] = 0;
}

#define ANONYMITY                                                                                  \
    "\"anonymity\": {\"relay\": \"key:relay\", \"gateway\": \"key:gateway\", "                     \
    "\"tokens\": \"type-2\", \"attester\": \"key:attester\", \"issuer\": \"key:issuer\", "         \
    "\"log\": \"key:log\"}, \"population\""

#define ARC                                                                                        \
    "\"anonymity\": {\"relay\": \"key:relay\", \"gateway\": \"key:gateway\", "                     \
    "\"tokens\": \"arc\", \"attester\": \"key:attester\", \"log\": \"key:log\"}, \"population\""

/* By the figure that both operators stand behind, never by the recipe's own. */
static void a_receipt_claims_sampling_by_the_operators_population(sotto_test *t)
{
    const sotto_recipe *recipe = sotto_test_recipe(t, "\"population\"", ANONYMITY);
    double before;

    told = (sotto_rejections){.known = true, .rate = SOTTO_RATE_PASSED, .population = 1000000};
    make_of(t, recipe);
    CHECK(t, receipt.sampling && receipt.tokens);
    CHECK(t, receipt.epsilon_sampled < receipt.epsilon_cohort);
    CHECK(t, strstr(receipt.sampling_why, "Talwar et al. 2024") != NULL);
    CHECK_EQUAL(t, 1000000, receipt.population);
    before = receipt.epsilon_sampled;
    told.population = 100000;
    make_of(t, recipe);
    CHECK(t, receipt.sampling && receipt.epsilon_sampled > before);
    told.rate = SOTTO_RATE_RELEASED;
    make_of(t, recipe);
    CHECK(t, !receipt.sampling && strstr(receipt.sampling_why, "more reports came"));
    told.population = 0;
    make_of(t, recipe);
    CHECK(t, !receipt.sampling && strstr(receipt.sampling_why, "no population"));
    CHECK_NEAR(t, receipt.epsilon_cohort, receipt.epsilon_sampled, 0);
}

/* A token for each device stops devices; not those who make tokens. */
static void a_receipt_says_who_can_make_tokens(sotto_test *t)
{
    char text[8192];

    make_of(t, sotto_test_recipe(t, "\"population\"", ANONYMITY));
    explain(t, text, sizeof text);
    CHECK(t,
          strstr(text, "what bounds that: one anonymous token (type-2) for each device, ") != NULL);
    CHECK(t, strstr(text, "may bring reports of no device all the same: the issuer (key:issuer) or "
                          "the attester (key:attester), each alone") != NULL);
    CHECK(t, strcmp(receipt.token_kind, "type-2") == 0);
    make(t);
    explain(t, text, sizeof text);
    CHECK(t, strstr(text, "reports of no device") == NULL && !receipt.token_kind);
}

/* Of ARC leader and helper are the issuers. */
static void a_receipt_says_which_kind_of_token_reports_had(sotto_test *t)
{
    char text[8192];

    told = (sotto_rejections){.known = true, .rate = SOTTO_RATE_PASSED, .population = 1000000};
    make_of(t, sotto_test_recipe(t, "\"population\"", ARC));
    told = (sotto_rejections){0};
    CHECK(t, receipt.sampling && strcmp(receipt.token_kind, "arc") == 0);
    explain(t, text, sizeof text);
    CHECK(t, strstr(text, "one anonymous credential (arc) for each device, volume") != NULL);
    CHECK(t, strstr(text, "may bring reports of no device all the same: the attester "
                          "(key:attester), the leader or the helper, each alone") != NULL);
    CHECK(t, strstr(text, "; attester (key:attester) with a server, which issues\n") != NULL);
}

/* One of the two operators may lie: the worse of what they say counts. */
static void a_receipt_believes_the_worse_of_two_operators(sotto_test *t)
{
    const sotto_recipe *recipe = sotto_test_recipe(t, "\"population\"", ANONYMITY);

    for (unsigned i = 0; i < 2; i++) {
        other_is_leader = i == 1;
        told = (sotto_rejections){.known = true, .rate = SOTTO_RATE_PASSED, .population = 1000000};
        other = told;
        other.population = 100000;
        make_of(t, recipe);
        CHECK(t, receipt.sampling && receipt.population == 100000);
        other.rate = SOTTO_RATE_RELEASED;
        make_of(t, recipe);
        CHECK(t, !receipt.sampling && strstr(receipt.sampling_why, "more reports came"));
    }
    other = told = (sotto_rejections){0};
}

/* Relay and leader can match reports to devices by their times: tests/anonymity shows it. */
static void a_receipt_names_who_must_not_work_together(sotto_test *t)
{
    static const char *const parts[] = {
        "may know that: the relay, and a device's own network\n",
        "the relay (key:relay) with the gateway (key:gateway) or the leader (key:leader-2026a);",
        "attester (key:attester) or issuer (key:issuer) with a server\n"};
    char text[8192];
    sotto_buf out = sotto_buf_over(text, sizeof text - 1);

    told = (sotto_rejections){.known = true, .rate = SOTTO_RATE_PASSED, .population = 1000000};
    make_of(t, sotto_test_recipe(t, "\"population\"", ANONYMITY));
    CHECK_OK(t, sotto_receipt_explain(&out, &receipt, &t->err));
    text[out.len] = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        CHECK(t, strstr(text, parts[i]) != NULL);
    told = (sotto_rejections){0};
}

#define NO_RELAY                                                                                   \
    "\"anonymity\": {\"tokens\": \"type-2\", \"attester\": \"key:attester\", \"issuer\": "         \
    "\"key:issuer\", \"log\": \"key:log\"}, \"population\""
#define RELAY_ALONE                                                                                \
    "\"anonymity\": {\"relay\": \"key:relay\", \"gateway\": \"key:gateway\"}, \"population\""

/* A weaker deployment must not read as the better one: what it has needs the same as before, and what it lacks has its price. */
static void a_receipt_without_a_part_names_who_is_left(sotto_test *t)
{
    char text[8192];

    make_of(t, sotto_test_recipe(t, "\"population\"", NO_RELAY));
    explain(t, text, sizeof text);
    CHECK(t, strstr(text, "names no relay, so servers see who takes part\n") != NULL);
    CHECK(t, strstr(text, "may know who took part: the leader, which sees the address") != NULL);
    CHECK(t, strstr(text, "must not work together: attester (key:attester) or issuer (key:issuer) "
                          "with a server\n") != NULL);
    make_of(t, sotto_test_recipe(t, "\"population\"", RELAY_ALONE));
    explain(t, text, sizeof text);
    CHECK(t, strstr(text, "asks for no tokens, so one device can answer as many; it names no log, "
                          "so a device may be asked alone\n") != NULL);
    CHECK(t, strstr(text, "may know who took part: the relay, and a device's own") != NULL);
    CHECK(t, strstr(text, "must not work together: the relay (key:relay) with the gateway "
                          "(key:gateway) or the leader (key:leader-2026a)\n") != NULL);
    make(t);
    explain(t, text, sizeof text);
    CHECK(t, strstr(text, "names no relay, so servers see who takes part; it asks for no tokens, "
                          "so one device can answer as many; it names no log") != NULL);
    CHECK(t, strstr(text, "must not work together") == NULL);
}

/* Or whoever compares it with a server's list finds another. */
static void a_receipt_names_its_task_as_the_servers_do(sotto_test *t)
{
    char text[8192], id[SOTTO_DAP_ID_TEXT_MAX], line[64];
    sotto_buf out = sotto_buf_over(text, sizeof text - 1);

    make(t);
    CHECK_OK(t, sotto_receipt_explain(&out, &receipt, &t->err));
    text[out.len] = 0;
    sotto_dap_id_encode(id, sotto_bytes_of(receipt.task_id, sizeof receipt.task_id));
    (void)snprintf(line, sizeof line, "\n  task %s\n", id);
    CHECK(t, strstr(text, line) != NULL);
}

static void a_receipt_says_what_silence_told(sotto_test *t)
{
    char text[8192];
    sotto_buf out = sotto_buf_over(text, sizeof text - 1);

    make_of(t, sotto_test_recipe(t, "\"no-value\"", "\"silence\""));
    CHECK(t, receipt.none_told);
    CHECK_OK(t, sotto_receipt_explain(&out, &receipt, &t->err));
    text[out.len] = 0;
    CHECK(t, strstr(text, "not hidden: that a device has no value") != NULL);
}

static void a_receipt_says_that_two_rates_were_drawn_at(sotto_test *t)
{
    char text[8192];

    make_of(t, sotto_test_recipe(t, "{\"type\": \"poisson\", \"rate\": 0.1}",
                                 "{\"type\": \"importance\", \"rate_default\": 0.1, "
                                 "\"rate_other\": 0.4}"));
    explain(t, text, sizeof text);
    CHECK(t, strstr(text, "with the default value took part with chance 0.1, all others with 0.4"));
    CHECK(t, strstr(text, "faces one device's report, epsilon 3.387")); /* or that there is none */
    make(t);
    explain(t, text, sizeof text);
    CHECK(t, !strstr(text, "default value"));
}

static void a_receipt_of_a_handful_claims_no_crowd(sotto_test *t)
{
    char text[8192];
    sotto_buf out = sotto_buf_over(text, sizeof text - 1);

    make_of(t, sotto_test_recipe(t, "\"epsilon\": 0.30, \"delta\": 1e-6, \"min_cohort\": 40000",
                                 "\"epsilon\": 2, \"delta\": 1e-6, \"min_cohort\": 12"));
    CHECK(t, receipt.split && !receipt.aggregation);
    CHECK_OK(t, sotto_receipt_explain(&out, &receipt, &t->err));
    text[out.len] = 0;
    CHECK(t, strstr(text, "this answer: epsilon 2 at") != NULL);
    CHECK(t, strstr(text, "amplified by aggregation: no\n") != NULL);
    CHECK(t, strstr(text, "Feldman") == NULL);
}

/* A liar's bit may be 1 where the other report had 0, and the other way about: in the bins of both. */
static void a_receipt_says_how_far_one_liar_reaches(sotto_test *t)
{
    char text[8192];

    make(t);
    CHECK_NEAR(t, 1 / 0.375, receipt.liar, 1e-12);
    CHECK(t, receipt.liar >= 1 / 0.375);
    CHECK(t, receipt.liar_sums > receipt.weight && receipt.liar_sums <= 2 * receipt.weight);
    make_of(t, sotto_test_recipe_of(t, "quantiles", "\"servers\", \"sigma\": 500.0"));
    explain(t, text, sizeof text);
    CHECK_EQUAL(t, 1, receipt.weight);
    CHECK(t, strstr(text, "in place of an honest one can shift up to 2 counts by 1 each") != NULL);
}

static void a_receipt_reads_well(sotto_test *t)
{
    static const char *const parts[] = {
        "41234 reports",
        "2026-11-20T00:00:00Z",
        "key:leader-2026a) or the helper",
        "20000 reports are honest (50% of the smallest cohort, 40000)",
        "charged: each device that answered pays epsilon 0.3 from its ledger, as the recipe states",
        "amplified by aggregation: yes",
        "amplified by sampling: not claimed",
        "3 report_replayed, 12 vdaf_verify_error",
        "rejected by the helper: unknown; it does not tell",
        "volume (Sybil) check at the leader: OFF, since its operator gave no population",
        "volume (Sybil) check at the helper: unknown; it does not tell\n"};
    char text[8192];
    sotto_buf out = sotto_buf_over(text, sizeof text - 1), small = sotto_buf_over(text, 100);

    make(t);
    CHECK_OK(t, sotto_receipt_explain(&out, &receipt, &t->err));
    text[out.len] = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        CHECK(t, strstr(text, parts[i]) != NULL);
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_receipt_explain(&small, &receipt, &t->err));
}

/* Who brings all reports of a batch but one, and subtracts them, has that one: no amplification is left. */
static void a_receipt_says_what_an_analyst_can_do_at_worst(sotto_test *t)
{
    char text[8192], worst[160];

    make(t);
    explain(t, text, sizeof text);
    (void)snprintf(worst, sizeof worst,
                   "an analyst who brings 39999 reports of his own to a batch of 40000, and "
                   "subtracts them, faces one device's report, epsilon %.4g\n",
                   receipt.epsilon_local);
    CHECK(t, strstr(text, worst) != NULL);
    CHECK(t,
          strstr(text, "what bounds that: volume (Sybil) checks and the honest share\n") != NULL);
    receipt.tokens = true;
    explain(t, text, sizeof text);
    CHECK(t, strstr(text, "what bounds that: one anonymous token for each device, volume") != NULL);
}

static void a_receipt_says_what_came_of_each_servers_check(sotto_test *t)
{
    char text[8192];

    make(t);
    receipt.helper_rejections.known = true;
    receipt.leader_rejections.rate = SOTTO_RATE_PASSED;
    receipt.helper_rejections.rate = SOTTO_RATE_RELEASED;
    explain(t, text, sizeof text);
    CHECK(t, strstr(text, "volume (Sybil) check at the leader: passed\n") != NULL);
    CHECK(t, strstr(text, "volume (Sybil) check at the helper: TOO MANY for the population that "
                          "its operator gave, who released the batch all the same") != NULL);
    receipt.helper_rejections.rate = SOTTO_RATE_CHECKED;
    explain(t, text, sizeof text);
    CHECK(t, strstr(text, "at the helper: checked; it does not tell what came of it\n") != NULL);
}

/* Or a server that is down looks like one of another make. */
static void one_reason_is_given_for_all_that_a_server_did_not_tell(sotto_test *t)
{
    char text[8192];

    make(t);
    receipt.helper_rejections.why = "it could not be asked";
    explain(t, text, sizeof text);
    CHECK(t, strstr(text, "rejected by the helper: unknown; it could not be asked\n") != NULL);
    CHECK(t, strstr(text, "volume (Sybil) check at the helper: unknown; it could not be asked\n") !=
                 NULL);
    receipt.helper_rejections.why = NULL;
    explain(t, text, sizeof text);
    CHECK(t, strstr(text, "volume (Sybil) check at the helper: unknown; nobody asked\n") != NULL);
    receipt.helper_rejections.known = true; /* it tells its counts, and no more */
    explain(t, text, sizeof text);
    CHECK(t, strstr(text, "rejected by the helper: none\n") != NULL);
    CHECK(t,
          strstr(text, "volume (Sybil) check at the helper: unknown; it does not tell\n") != NULL);
}

static void how_far_a_liar_reaches_is_told_to_the_last_step(sotto_test *t)
{
    char text[8192], liar[80];

    make_of(t, sotto_test_recipe_of(t, "sum", "\"shares\", \"sigma\": 50000"));
    explain(t, text, sizeof text);
    (void)snprintf(liar, sizeof liar, "by %.0f each; the", receipt.liar);
    CHECK(t, receipt.liar > 1000 && strstr(text, liar) != NULL);
}

static void a_receipt_tells_who_added_the_noise(sotto_test *t)
{
    char text[8192];

    make(t);
    explain(t, text, sizeof text);
    CHECK(t, strstr(text, "noise by the") == NULL);
    make_of(t, sotto_test_recipe_of(t, "mean", "\"servers\", \"sigma\": 500.0"));
    explain(t, text, sizeof text);
    CHECK(t, strstr(text, "one report alone: no local protection (replacement)\n") != NULL);
    CHECK(t, strstr(text, "by the noise of one honest server alone") != NULL);
    CHECK(t, strstr(text, "noise by the servers: sigma 500 each") != NULL);
    CHECK(t, strstr(text, "theorem 4") != NULL && strstr(text, "at worst") == NULL);
    CHECK(t, strstr(text, "shift up to 2 sums of steps by 100 each") != NULL);
    CHECK(t, !receipt.aggregation);
    make_of(t, sotto_test_recipe_of(t, "sum", "\"shares\", \"sigma\": 500.0"));
    explain(t, text, sizeof text);
    CHECK(t, strstr(text, "no local protection but its part of the noise") != NULL);
    CHECK(t, strstr(text, "noise by the devices: sigma 3.54 each") != NULL);
    CHECK(t, strstr(text, "Skellam") != NULL);
    CHECK(t, strstr(text, "faces one device's report, which has no local protection") != NULL);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_receipt_claims_aggregation_and_no_sampling),
        CASE(a_receipt_claims_sampling_by_the_operators_population),
        CASE(a_receipt_says_who_can_make_tokens),
        CASE(a_receipt_says_which_kind_of_token_reports_had),
        CASE(a_receipt_believes_the_worse_of_two_operators),
        CASE(a_receipt_names_who_must_not_work_together),
        CASE(a_receipt_without_a_part_names_who_is_left),
        CASE(a_receipt_names_its_task_as_the_servers_do),
        CASE(a_receipt_says_what_silence_told),
        CASE(a_receipt_of_a_handful_claims_no_crowd),
        CASE(a_receipt_says_that_two_rates_were_drawn_at),
        CASE(a_receipt_says_how_far_one_liar_reaches),
        CASE(a_receipt_reads_well),
        CASE(a_receipt_says_what_an_analyst_can_do_at_worst),
        CASE(a_receipt_says_what_came_of_each_servers_check),
        CASE(one_reason_is_given_for_all_that_a_server_did_not_tell),
        CASE(how_far_a_liar_reaches_is_told_to_the_last_step),
        CASE(a_receipt_tells_who_added_the_noise),
    };

    return RUN_TESTS(argc, argv, cases);
}
