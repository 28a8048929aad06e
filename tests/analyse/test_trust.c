/* Every reader of the table of trust models says what the table says. */
#include "../account/question_support.h"
#include "account/trust.h"
#include "analyse/receipt_encryption.h"
#include "recipe/claim.h"
#include "recipe/schema.h"
#include "sotto/analyse.h"
#include "sotto/view.h"
#include "support/recipes.h"

#include <stdio.h>
#include <string.h>

#define EACH_TRUST(trust)                                                                          \
    for (sotto_trust trust = SOTTO_TRUST_SPLIT; trust <= SOTTO_TRUST_AERO; trust++)

#define POISSON "{\"type\": \"poisson\", \"rate\": 0.1}"

static char memory[1 << 14];
static sotto_mistakes mistakes;

static const char *replaced(sotto_test *t, const char *text, const char *old, const char *new)
{
    return (const char *)sotto_test_replace(t, text, old, new).data;
}

/* The example, added up in this way. */
static const char *text_of(sotto_test *t, sotto_trust trust)
{
    return (const char *)sotto_test_recipe_text_trusting(t, trust).data;
}

static const sotto_recipe *read(sotto_test *t, const char *text)
{
    const sotto_recipe *recipe = NULL;
    sotto_status status;

    memset(&mistakes, 0, sizeof mistakes);
    status = sotto_recipe_read(&recipe, sotto_bytes_of(text, strlen(text)), &t->arena, &mistakes,
                               &t->err);
    CHECK(t, (status == SOTTO_OK) == (mistakes.errors == 0));
    return recipe;
}

static const sotto_recipe *recipe_of(sotto_test *t, sotto_trust trust)
{
    const sotto_recipe *recipe = read(t, text_of(t, trust));

    CHECK(t, recipe != NULL);
    return recipe;
}

static sotto_recipe_claim claim_of(sotto_test *t, const sotto_recipe *recipe)
{
    sotto_recipe hidden = *recipe;
    sotto_recipe_claim claim;

    hidden.anonymity = (sotto_anonymity){.relay = "relay",
                                         .gateway = "gateway",
                                         .tokens = SOTTO_TOKENS_TYPE_2,
                                         .attester = "attester",
                                         .issuer = "issuer",
                                         .log = "log"};
    CHECK_OK(t,
             sotto_recipe_claim_compute(&claim, &hidden, (sotto_decimal){500000000000}, &t->err));
    CHECK_OK(t, sotto_recipe_claim_sampling(&claim, &hidden, 1000000000000, &t->err));
    return claim;
}

static bool says(const char *what)
{
    return strstr(memory, what) != NULL;
}

/* ---- the table itself ----------------------------------------------------------------------------------- */

static void every_trust_model_is_told_in_words(sotto_test *t)
{
    EACH_TRUST(trust)
    {
        const sotto_trust_model *model = sotto_trust_model_of(trust);
        const sotto_trust_words *words = sotto_trust_words_of(trust);

        CHECK(t, sotto_trust_named(model->name) == trust);
        CHECK(t, words->assumes[0] && (words->assumes[1] != NULL) == model->can_hide);
        CHECK(t, words->honest && words->sees && words->noise && words->inputs);
        CHECK(t, (strstr(words->inputs, "Nothing is proved") == NULL) == model->proved);
        CHECK(t, (strstr(words->noise, "Each server") != NULL) ==
                     ((model->noise & SOTTO_NOISE_BY_SERVERS) != 0));
        CHECK(t, (strstr(words->noise, "Each device") != NULL) ==
                     ((model->noise & SOTTO_NOISE_BY_SHARES) != 0));
        CHECK(t, (strstr(words->noise, "committee") != NULL) ==
                     ((model->noise & SOTTO_NOISE_BY_COMMITTEE) != 0));
    }
}

/* A gain by taking part in secret is worth nothing where that can't be a secret. */
static void split_alone_earns_a_gain(sotto_test *t)
{
    EACH_TRUST(trust)
    {
        const sotto_trust_model *model = sotto_trust_model_of(trust);

        CHECK(t, (model->gains != 0) == (trust == SOTTO_TRUST_SPLIT));
        CHECK(t, model->can_hide == (trust == SOTTO_TRUST_SPLIT));
        CHECK(t, model->two_servers == (trust == SOTTO_TRUST_SPLIT));
        CHECK(t, model->proved == (trust != SOTTO_TRUST_FLAMINGO));
    }
}

/* It is for questions; recipes and policies do not know it. */
static void central_is_no_trust_of_recipes(sotto_test *t)
{
    CHECK(t, strcmp(sotto_trust_name(SOTTO_TRUST_CENTRAL), "central") == 0);
    CHECK(t, !sotto_trust_named("central"));
    CHECK(t, read(t, replaced(t, text_of(t, SOTTO_TRUST_SPLIT), "\"trust\": \"split\"",
                              "\"trust\": \"central\"")) == NULL);
}

static void what_is_no_trust_model_earns_nothing(sotto_test *t)
{
    static const int none[] = {0, -1, SOTTO_TRUST_CENTRAL + 1, 1 << 20};

    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        const sotto_trust_model *model = sotto_trust_model_of((sotto_trust)none[i]);

        CHECK(t, strcmp(model->name, "none") == 0 && !model->gains && !model->noise);
        CHECK(t, !model->can_hide && !model->two_servers && !model->proved);
        CHECK(t, sotto_trust_words_of((sotto_trust)none[i])->assumes[1] == NULL);
    }
    CHECK(t, !sotto_trust_named("none") && !sotto_trust_named("") && !sotto_trust_named("Split"));
}

/* ---- the accountant ------------------------------------------------------------------------------------- */

static unsigned gain_of(sotto_mechanism mechanism)
{
    switch (mechanism) {
    case SOTTO_MECHANISM_SHUFFLED:
    case SOTTO_MECHANISM_SYMMETRIC_ONE_HOT:
    case SOTTO_MECHANISM_BINARY_RESPONSE:
        return SOTTO_GAIN_SHUFFLE;
    case SOTTO_MECHANISM_SAMPLED_GAUSSIAN:
        return SOTTO_GAIN_SAMPLING;
    case SOTTO_MECHANISM_ALLOCATED_GAUSSIAN:
    case SOTTO_MECHANISM_CHECK_IN:
    case SOTTO_MECHANISM_DONATION:
        return SOTTO_GAIN_CHECK_IN;
    default:
        return 0;
    }
}

static void the_accountant_grants_what_the_table_grants(sotto_test *t)
{
    sotto_question each[16];
    size_t n = questions_of_each(each);
    sotto_answer a;

    EACH_TRUST(trust)
    {
        const sotto_trust_model *model = sotto_trust_model_of(trust);

        for (size_t i = 0; i < n; i++) {
            unsigned gain = gain_of(each[i].mechanism);
            bool granted = (model->gains & gain) == gain;

            each[i].trust = trust;
            each[i].participation_is_hidden = model->can_hide;
            CHECK_STATUS(t, granted ? SOTTO_OK : SOTTO_DENIED,
                         sotto_privacy_epsilon(&a, &each[i], NULL, &t->err));
            each[i].participation_is_hidden = true;
            CHECK(t, sotto_privacy_epsilon(&a, &each[i], NULL, &t->err) ==
                         (model->can_hide ? SOTTO_OK : SOTTO_DENIED));
            each[i].participation_is_hidden = false;
            granted = granted && !(gain & (SOTTO_GAIN_SAMPLING | SOTTO_GAIN_CHECK_IN));
            CHECK(t, sotto_privacy_epsilon(&a, &each[i], NULL, &t->err) ==
                         (granted ? SOTTO_OK : SOTTO_DENIED));
        }
    }
}

static void an_account_assumes_what_the_table_says(sotto_test *t)
{
    EACH_TRUST(trust)
    {
        for (int hidden = 0; hidden <= sotto_trust_model_of(trust)->can_hide; hidden++) {
            sotto_question q = question_gaussian();
            sotto_answer a;
            sotto_buf out = sotto_buf_over(memory, sizeof memory - 1);
            sotto_view view = sotto_view_into(&out, SOTTO_VIEW_JSON);

            q.trust = trust;
            q.participation_is_hidden = hidden;
            CHECK_OK(t, sotto_privacy_epsilon(&a, &q, NULL, &t->err));
            CHECK_OK(t, sotto_view_account(
                            &view, &(sotto_account_view){.question = &q, .answer = &a}, &t->err));
            memory[out.len] = 0;
            CHECK(t, says(sotto_trust_words_of(trust)->assumes[hidden]));
        }
    }
}

/* ---- recipes -------------------------------------------------------------------------------------------- */

static void recipes_and_policies_know_the_names_of_the_table(sotto_test *t)
{
    size_t variants = 0, lists = 0;

    for (size_t i = 0; i < sotto_schema_count; i++)
        if (strcmp(sotto_schema[i].key, "trusts") == 0)
            lists += sotto_schema[i].of == NULL; /* the names of the table itself */
    CHECK_EQUAL(t, 1, lists);
    for (size_t i = 0; i < sotto_schema_object_count; i++)
        variants += strncmp(sotto_schema_objects[i], "aggregation.", 12) == 0 &&
                    sotto_trust_named(sotto_schema_objects[i] + 12);
    CHECK_EQUAL(t, SOTTO_TRUST_AERO, variants);
    EACH_TRUST(trust)
    {
        char list[64];

        (void)snprintf(list, sizeof list, "\"trusts\": [\"%s\"], \"min_cohort\"",
                       sotto_trust_name(trust));
        CHECK(t, sotto_test_policy(t, "\"min_cohort\"", list)->trusts == 1U << trust);
        CHECK(t, recipe_of(t, trust)->trust == trust);
    }
}

static void a_claim_has_the_gains_of_the_table(sotto_test *t)
{
    static const char moment[] =
        "{\"type\": \"donation\", \"slots\": 1000000, \"start\": \"2026-11-20T00:00:00Z\", "
        "\"slot\": \"1h\"}";

    EACH_TRUST(trust)
    {
        const unsigned gains = sotto_trust_model_of(trust)->gains;
        sotto_recipe_claim claim = claim_of(t, recipe_of(t, trust));

        CHECK(t,
              (claim.epsilon_cohort < claim.epsilon_local) == ((gains & SOTTO_GAIN_SHUFFLE) != 0));
        CHECK(t, (claim.sampled_by != NULL) == ((gains & SOTTO_GAIN_SAMPLING) != 0));
        claim = claim_of(t, read(t, replaced(t, text_of(t, trust), POISSON, moment)));
        CHECK(t, (claim.sampled_by != NULL) == ((gains & SOTTO_GAIN_CHECK_IN) != 0));
    }
}

static void lint_and_compile_accept_what_has_two_servers(sotto_test *t)
{
    EACH_TRUST(trust)
    {
        const sotto_trust_model *model = sotto_trust_model_of(trust);
        const sotto_recipe *recipe = recipe_of(t, trust);
        sotto_recipe_claim claim;
        sotto_task task;

        CHECK_STATUS(t, model->two_servers ? SOTTO_OK : SOTTO_DENIED,
                     sotto_recipe_lint(&claim, recipe, NULL, &mistakes, &t->err));
        CHECK(t, model->two_servers || model->one_server);
        CHECK(t, sotto_test_has_mistake(&mistakes, "privacy.by", "no amplification") ==
                     model->one_server);
        CHECK_STATUS(t, model->two_servers ? SOTTO_OK : SOTTO_DENIED,
                     sotto_task_compile(&task, recipe, sotto_test_parties(t, NULL, NULL), 0,
                                        &t->arena, &t->err));
    }
}

static void an_explanation_names_who_must_be_honest(sotto_test *t)
{
    static const char importance[] =
        "{\"type\": \"importance\", \"rate_default\": 0.1, \"rate_other\": 0.4}";

    EACH_TRUST(trust)
    {
        const sotto_trust_model *model = sotto_trust_model_of(trust);
        const sotto_recipe *recipe = recipe_of(t, trust);
        sotto_recipe_claim claim = claim_of(t, recipe);
        sotto_buf out = sotto_buf_over(memory, sizeof memory - 1);

        CHECK_OK(t, sotto_recipe_explain(&out, recipe, &claim, &t->err));
        memory[out.len] = 0;
        CHECK(t, says("split between two servers") == model->two_servers);
        CHECK(t, says("nobody sees who takes part") == model->can_hide);
        /* A price for what silence tells is no reason to speak of a relay. */
        recipe = read(t, replaced(t, text_of(t, trust), POISSON, importance));
        claim = claim_of(t, recipe);
        out = sotto_buf_over(memory, sizeof memory - 1);
        CHECK_OK(t, sotto_recipe_explain(&out, recipe, &claim, &t->err));
        memory[out.len] = 0;
        CHECK(t, !says("nobody sees who takes part"));
    }
}

static void a_receipt_names_who_must_be_honest(sotto_test *t)
{
    static sotto_receipt receipt;
    static sotto_collection collection;
    sotto_result result = {.p = 0.5, .q = 0.125};
    sotto_task task;

    CHECK_OK(t, sotto_task_compile(&task, recipe_of(t, SOTTO_TRUST_SPLIT),
                                   sotto_test_parties(t, NULL, NULL), 0, &t->arena, &t->err));
    EACH_TRUST(trust)
    {
        const sotto_trust_model *model = sotto_trust_model_of(trust);
        const sotto_recipe *recipe = recipe_of(t, trust);
        sotto_recipe_claim claim = claim_of(t, recipe);
        sotto_buf out = sotto_buf_over(memory, sizeof memory - 1);

        sotto_receipt_of(&receipt, recipe, &task, &claim, &collection, &result);
        CHECK(t, receipt.split == model->two_servers && !receipt.sampling);
        CHECK(t, receipt.aggregation == ((model->gains & SOTTO_GAIN_SHUFFLE) != 0));
        CHECK_OK(t, sotto_receipt_explain(&out, &receipt, &t->err));
        memory[out.len] = 0;
        CHECK(t, says("the leader (key:leader-2026a) or the helper") == model->two_servers);
        CHECK(t, says("amplified by aggregation: yes") == receipt.aggregation);
        /* 126 decryptors, of whom 29 may lie: 5% of them are hardly ever as many. */
        const bool masked = model->one_server && !model->encrypted;
        CHECK(t, says("committee: 126 decryptors; 84 must sign, and 29 may lie") == masked);
        CHECK(t, receipt.stated.holds == masked && !says("prove nothing"));
        CHECK(t, receipt.proved == model->proved && !says("proves nothing"));
        CHECK(t, (receipt.server[0] != 0) == model->one_server);
        CHECK(t, receipt.stated.tail <= receipt.delta);
    }
}

/* The paper's sizes, as the recipe's keys have them, with noise by a committee. */
static const sotto_recipe *encrypted_of(sotto_test *t, const char *count)
{
    const char *text = text_of(t, SOTTO_TRUST_AERO);

    text = replaced(t, text,
                    "\"randomizer\": {\"type\": \"one-hot\", \"form\": \"asymmetric\", "
                    "\"epsilon_local\": 2.0},",
                    "");
    text = replaced(t, text, "\"rate\": 0.1", "\"rate\": 0.00001");
    text = replaced(t, text, "\"min_cohort\": 40000",
                    "\"min_cohort\": 8000, \"by\": \"committee\", \"sigma\": 100");
    return read(t, replaced(t, text, "\"count\": 4", count));
}

static void receipt_of(sotto_test *t, sotto_receipt *receipt, const sotto_recipe *recipe,
                       const sotto_result *result)
{
    static sotto_collection collection;
    const sotto_task task = {0};
    sotto_recipe_claim claim;

    CHECK_OK(t, sotto_recipe_claim_compute(&claim, recipe, (sotto_decimal){500000000000}, &t->err));
    sotto_receipt_of(receipt, recipe, &task, &claim, &collection, result);
}

static void explain(sotto_test *t, const sotto_receipt *receipt)
{
    sotto_buf out = sotto_buf_over(memory, sizeof memory - 1);

    CHECK_OK(t, sotto_receipt_explain(&out, receipt, &t->err));
    memory[out.len] = 0;
}

static void a_receipt_of_encrypted_sums_names_its_odds(sotto_test *t)
{
    static sotto_receipt receipt;
    const sotto_recipe *recipe = encrypted_of(t, "\"count\": 1");
    const sotto_result result = {.p = 1};
    sotto_buf out = sotto_buf_over(memory, sizeof memory - 1);
    sotto_view view = sotto_view_into(&out, SOTTO_VIEW_JSON);

    receipt_of(t, &receipt, recipe, &result);
    CHECK(t, receipt.encryption.is_known && receipt.encryption.holds);
    CHECK(t, !receipt.aggregation && !receipt.sampling);
    receipt.encryption.dropped[0].cause = "late";
    receipt.encryption.dropped[0].devices = 3;
    receipt.encryption.dropped_count = 1;
    receipt.encryption.entries[0].what = "certificate";
    receipt.encryption.entries[0].index = 17;
    receipt.encryption.entry_count = 1;
    explain(t, &receipt);
    CHECK(t, !says("committees:"));
    CHECK(t, says("of 900000000 to 1000000000 devices, a part of at most 0.03 lies and of 0.2"));
    CHECK(t, says("45 members, of whom 18 may lie; more do with at most 1.34e-17"));
    CHECK(t, says("280 members, of whom 36 may lie and 28 be missing"));
    CHECK(t, says("40 expected for each leaf; a wrong leaf is missed with at most 7.17e-12"));
    CHECK(t, says("set b87, 159 bits of security, 158 with all hints (lattice estimator"));
    CHECK(t, says("left out: 3 late") && says("certificate at 17"));
    CHECK(t, says("amplified by aggregation: no") && says("inputs are validated"));
    CHECK(t, says("sampling") == false || says("no: the server sees who takes part"));
    CHECK(t, !says("leader") && !says("an analyst who brings"));
    const sotto_answer_view answer = {.recipe = recipe, .result = &result, .receipt = &receipt};
    CHECK_OK(t, sotto_view_answer(&view, &answer, &t->arena, &t->err));
    memory[out.len] = 0;
    CHECK(t, says("\"hint_rho\"") && says("\"late\": 3") && says("\"certificate\": 17"));
}

/* One that is lost has read its part of all contributions: four are lost with four times the chance. */
static void a_receipt_of_several_committees_counts_each(sotto_test *t)
{
    static sotto_receipt receipt;
    const sotto_result result = {.p = 1};

    receipt_of(t, &receipt, encrypted_of(t, "\"count\": 4"), &result);
    explain(t, &receipt);
    CHECK(t, says("committees: 4, each of the size below and with a key of its own; chances are "
                  "that any one of them fails"));
    CHECK(t, says("45 members, of whom 18 may lie; more do with at most 5.35e-17"));
}

/* Each of the chances is within delta. */
static void a_receipt_holds_all_chances_to_delta(sotto_test *t)
{
    static sotto_receipt receipt;
    const sotto_result result = {.p = 1};
    const sotto_recipe *recipe = encrypted_of(t, "\"count\": 1");
    sotto_encrypted plan;

    CHECK_OK(t, sotto_encrypted_plan(&plan, recipe, &t->err));
    plan.odds = (sotto_aero_odds){.members = 3e-7, .noise = 3e-7, .missed = 3e-7};
    receipt_of(t, &receipt, recipe, &result);
    sotto_stated_encryption_of(&receipt.encryption, &plan, 1e-6);
    explain(t, &receipt);
    CHECK(t, receipt.encryption.holds && says("any of these three happens with at most 9e-07"));
    plan.odds.missed = 5e-7;
    sotto_stated_encryption_of(&receipt.encryption, &plan, 1e-6);
    explain(t, &receipt);
    CHECK(t, !receipt.encryption.holds && says("prove nothing against a server"));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_trust_model_is_told_in_words),
        CASE(split_alone_earns_a_gain),
        CASE(central_is_no_trust_of_recipes),
        CASE(what_is_no_trust_model_earns_nothing),
        CASE(the_accountant_grants_what_the_table_grants),
        CASE(an_account_assumes_what_the_table_says),
        CASE(recipes_and_policies_know_the_names_of_the_table),
        CASE(a_claim_has_the_gains_of_the_table),
        CASE(lint_and_compile_accept_what_has_two_servers),
        CASE(an_explanation_names_who_must_be_honest),
        CASE(a_receipt_names_who_must_be_honest),
        CASE(a_receipt_of_encrypted_sums_names_its_odds),
        CASE(a_receipt_holds_all_chances_to_delta),
        CASE(a_receipt_of_several_committees_counts_each),
    };

    return RUN_TESTS(argc, argv, cases);
}
