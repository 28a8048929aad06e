/* Tasks: the bytes that DAP has, and what a recipe makes of them. */
#include "dap/admission.h"
#include "dap/task_configuration.h"
#include "recipe/task.h"

#include "recipe/claim.h"
#include "support/recipes.h"

#include <stdio.h>
#include <string.h>

static void check_configuration(sotto_test *t, const sotto_task_configuration *task,
                                const char *wanted)
{
    uint8_t memory[512];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_bytes bytes = sotto_test_hex(t, wanted);

    CHECK_OK(t, sotto_task_configuration_encode(&out, task, &t->err));
    CHECK_EQUAL(t, bytes.len, out.len);
    CHECK_BYTES(t, bytes.data, out.data, out.len);
}

static sotto_bytes text(const char *words)
{
    return sotto_bytes_of(words, strlen(words));
}

/* Published encodings, written out here so that a bare clone tests them. */
static void configurations_are_those_of_others(sotto_test *t)
{
    sotto_task_configuration task = {.task_info = text("foobar"),
                                     .leader_url = text("https://example.com/"),
                                     .helper_url = text("https://another.example.com/"),
                                     .time_precision = 3600,
                                     .min_batch_size = 10000,
                                     .batch_mode = 1,
                                     .vdaf = {.type = SOTTO_PRIO3_COUNT},
                                     .has_interval = true,
                                     .interval_start = 277,
                                     .interval_duration = 28};

    check_configuration(t, &task,
                        "06666f6f626172001468747470733a2f2f6578616d706c652e636f6d2f001c68747470733a"
                        "2f2f616e6f74686572"
                        "2e6578616d706c652e636f6d2f0000000000000e1000000000000027100100000000000100"
                        "000014000100100000"
                        "000000000115000000000000001c");
    task.task_info = text("f");
    task.time_precision = task.min_batch_size = 1000;
    task.batch_mode = 2;
    task.vdaf = (sotto_prio3_config){.type = SOTTO_PRIO3_SUM, .max = 255};
    task.has_interval = false;
    task.extensions = sotto_bytes_of("\0\0\0\4"
                                     "0123",
                                     8);
    check_configuration(t, &task,
                        "0166001468747470733a2f2f6578616d706c652e636f6d2f001c68747470733a2f2f616e6f"
                        "746865722e6578616d"
                        "706c652e636f6d2f00000000000003e800000000000003e802000000000002000800000000"
                        "000000ff0008000000"
                        "0430313233");
}

static void every_vdaf_has_its_own_order(sotto_test *t)
{
    static const struct {
        sotto_prio3_config vdaf;
        const char *wanted; /* from vdaf_type to vdaf_configuration */
    } cases[] = {
        {{.type = SOTTO_PRIO3_SUM_VEC, .length = 12, .max = 8, .chunk_length = 14},
         "0000000300100000000c00000000000000080000000e"},
        {{.type = SOTTO_PRIO3_HISTOGRAM, .length = 256, .chunk_length = 18},
         "0000000400080000010000000012"},
        {{.type = SOTTO_PRIO3_MULTIHOT_COUNT_VEC, .length = 256, .chunk_length = 18, .max = 14},
         "0000000500100000010000000012000000000000000e"},
    };
    enum { BEFORE = 1 + 1 + 2 + 2 + 8 + 8 + 1 + 2 };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sotto_task_configuration task = {.task_info = text("x"), .vdaf = cases[i].vdaf};
        sotto_bytes wanted = sotto_test_hex(t, cases[i].wanted);
        uint8_t memory[128];
        sotto_buf out = sotto_buf_over(memory, sizeof memory);

        CHECK_OK(t, sotto_task_configuration_encode(&out, &task, &t->err));
        CHECK_EQUAL(t, BEFORE + wanted.len + 2, out.len);
        CHECK_BYTES(t, wanted.data, out.data + BEFORE, wanted.len);
    }
}

static void task_ids_are_taskprov_s(sotto_test *t)
{
    sotto_bytes configuration = sotto_test_hex(
        t,
        "0474657374001b68747470733a2f2f6c65616465722e6578616d706c652e636f6d2f001b68747470733a2f2f"
        "68656c7065722e6578616d706c652e636f6d2f000000000000003c000000000000000a01000000000001000000"
        "1400010010000000000000003c0000000000000064");
    sotto_bytes wanted =
        sotto_test_hex(t, "35848a898adb146b559385247c7e49db1cbd28af52e3c11cfb01d4fc4b490479");
    uint8_t id[SOTTO_TASK_ID_SIZE];

    sotto_task_id_derive(id, configuration);
    CHECK_BYTES(t, wanted.data, id, sizeof id);
}

static void the_example_compiles(sotto_test *t)
{
    const sotto_recipe *recipe = sotto_test_recipe(t, NULL, NULL);
    const sotto_parties *parties = sotto_test_parties(t, NULL, NULL);
    sotto_task task, other;
    sotto_prio3 vdaf;

    CHECK_OK(t, sotto_task_compile(&task, recipe, parties, 0, &t->arena, &t->err));
    CHECK_EQUAL(t, SOTTO_PRIO3_MULTIHOT_COUNT_VEC, task.vdaf.type);
    CHECK_EQUAL(t, 272, task.vdaf.length);
    CHECK_EQUAL(t, task.weight, task.vdaf.max);
    CHECK(t, task.miss < 1e-9);
    CHECK_EQUAL(t, 40000, task.min_batch_size);
    CHECK_OK(t, sotto_prio3_init(&vdaf, &t->arena, &task.vdaf, &t->err));
    /* The recipe's hash is in task_info, behind its length and the tag. */
    CHECK_BYTES(t, sotto_recipe_hash(recipe),
                task.configuration.data + 1 + strlen(SOTTO_TASK_INFO_TAG), SOTTO_RECIPE_HASH_SIZE);
    CHECK_OK(t, sotto_task_compile(&other, recipe, parties, 1, &t->arena, &t->err));
    CHECK(t, memcmp(task.id, other.id, sizeof task.id) != 0);
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_task_compile(&other, recipe, parties, 2, &t->arena, &t->err));
}

/* What a device or server can't do is refused, never passed over: a claim may rest on it. */
static void a_task_binds_the_kind_of_its_tokens(sotto_test *t)
{
    const sotto_parties *parties = sotto_test_parties(t, NULL, NULL);
    sotto_recipe recipe = *sotto_test_recipe(t, NULL, NULL);
    sotto_task bare, task[2];
    sotto_task_configuration c;

    CHECK_OK(t, sotto_task_compile(&bare, &recipe, parties, 0, &t->arena, &t->err));
    for (unsigned i = 0; i < 2; i++) {
        recipe.anonymity.tokens = i ? SOTTO_TOKENS_ARC : SOTTO_TOKENS_TYPE_2;
        CHECK_OK(t, sotto_task_compile(&task[i], &recipe, parties, 0, &t->arena, &t->err));
        CHECK_OK(t, sotto_task_configuration_decode(&c, task[i].configuration, &t->err));
        CHECK_EQUAL(t, i ? 0xe5ac : 2, c.token_type);
        CHECK(t, memcmp(bare.id, task[i].id, sizeof bare.id) != 0);
        CHECK_EQUAL(t, i ? SOTTO_ARC_ADMISSION_REPORT : SOTTO_ADMISSION_REPORT,
                    task[i].report_bytes - bare.report_bytes);
    }
    CHECK(t, memcmp(task[0].id, task[1].id, sizeof bare.id) != 0);
}

/* Each part makes another task; a relay must be one of the parties. */
static void a_task_binds_the_relay_and_the_log(sotto_test *t)
{
    static const char with[] =
        "{\n  \"r\": {\"role\": \"relay\", \"url\": \"https://r.example/\"},";
    const sotto_parties *plain = sotto_test_parties(t, NULL, NULL);
    sotto_recipe recipe = *sotto_test_recipe(t, NULL, NULL);
    sotto_task bare, logged, relayed;

    CHECK_OK(t, sotto_task_compile(&bare, &recipe, plain, 0, &t->arena, &t->err));
    recipe.anonymity.log = "log";
    CHECK_OK(t, sotto_task_compile(&logged, &recipe, plain, 0, &t->arena, &t->err));
    CHECK(t, memcmp(bare.id, logged.id, sizeof bare.id) != 0);
    recipe.anonymity.relay = "r";
    recipe.anonymity.gateway = "key:helper-2026a"; /* there, but no gateway */
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_task_compile(&relayed, &recipe, plain, 0, &t->arena, &t->err));
    CHECK_REASON(t, "anonymity: the parties have no relay \"r\" with gateway");
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_task_compile(&relayed, &recipe, sotto_test_parties(t, "{", with), 0,
                                    &t->arena, &t->err));
    CHECK_REASON(t, "anonymity: the parties have no relay \"r\" with gateway");
    sotto_party_entry entries[4] = {plain->entries[0],
                                    plain->entries[1],
                                    {.name = "r", .role = SOTTO_PARTY_RELAY},
                                    {.name = "g", .role = SOTTO_PARTY_GATEWAY}};
    recipe.anonymity.gateway = "g";
    CHECK_OK(t, sotto_task_compile(&relayed, &recipe, &(sotto_parties){entries, 4}, 0, &t->arena,
                                   &t->err));
    CHECK(t, memcmp(logged.id, relayed.id, sizeof bare.id) != 0);
}

static void one_byte_of_the_recipe_is_another_task(sotto_test *t)
{
    const sotto_parties *parties = sotto_test_parties(t, NULL, NULL);
    sotto_task task, other;

    CHECK_OK(t, sotto_task_compile(&task, sotto_test_recipe(t, NULL, NULL), parties, 0, &t->arena,
                                   &t->err));
    CHECK_OK(t,
             sotto_task_compile(&other, sotto_test_recipe(t, "\"version\": 1", "\"version\":  1"),
                                parties, 0, &t->arena, &t->err));
    CHECK(t, memcmp(task.id, other.id, sizeof task.id) != 0);
}

static void compile_with(sotto_test *t, sotto_task *task, const char *old, const char *new)
{
    CHECK_OK(t, sotto_task_compile(task, sotto_test_recipe(t, NULL, NULL),
                                   sotto_test_parties(t, old, new), 0, &t->arena, &t->err));
}

/* A key of nobody, with its id and times to be filled in. */
#define NINES "0909090909090909"
#define OTHER_KEY                                                                                  \
    "{\"config\": \"%s0020000100010020" NINES NINES NINES NINES                                    \
    "\", \"from\": \"%s\", \"until\": \"%s\"}"

/* What both operators compare, and every share is sealed under, covers every key that a share may be sealed to. */
static void another_key_is_another_task(sotto_test *t)
{
    /* In use with the schedule and for a week behind it: 2026-11-20 to 2026-12-04. */
    static const struct {
        const char *from, *until;
        bool another;
    } cases[] = {{"2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z", true},
                 {"2026-01-01T00:00:00Z", "2026-11-20T00:00:01Z", true},
                 {"2026-01-01T00:00:00Z", "2026-11-20T00:00:00Z", false},
                 {"2026-12-03T23:59:59Z", "2027-01-01T00:00:00Z", true},
                 {"2026-12-04T00:00:00Z", "2027-01-01T00:00:00Z", false}};
    sotto_task task, other;

    compile_with(t, &task, NULL, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (unsigned before = 0; before < 2; before++) {
            char text[512];

            (void)snprintf(text, sizeof text, "%s" OTHER_KEY "%s", before ? "\"hpke\": [" : ", ",
                           "55", cases[i].from, cases[i].until, before ? ", " : "]");
            compile_with(t, &other, before ? "\"hpke\": [" : "]", text);
            CHECK(t, (memcmp(task.id, other.id, sizeof task.id) != 0) == cases[i].another);
        }
    /* Of the key that is there: from when, and until when. */
    compile_with(t, &other, "2026-01-01", "2026-01-02");
    CHECK(t, memcmp(task.id, other.id, sizeof task.id) != 0);
    compile_with(t, &other, "2027-07-01", "2027-07-02");
    CHECK(t, memcmp(task.id, other.id, sizeof task.id) != 0);
}

static void the_order_of_keys_is_no_other_task(sotto_test *t)
{
    static const char *const ids[] = {"55", "56"};
    char keys[2][300];
    sotto_task task[4];

    for (unsigned i = 0; i < 2; i++)
        (void)snprintf(keys[i], sizeof keys[i], OTHER_KEY ", ", ids[i], "2026-01-01T00:00:00Z",
                       "2027-01-01T00:00:00Z");
    for (unsigned i = 0; i < 4; i++) { /* 0: one, other; 1: other, one; 2: one twice; 3: one */
        char text[1024];

        (void)snprintf(text, sizeof text, "\"hpke\": [%s%s", keys[i == 1],
                       i == 3 ? "" : keys[i == 0]);
        compile_with(t, &task[i], "\"hpke\": [", text);
    }
    CHECK_BYTES(t, task[0].id, task[1].id, sizeof task[0].id);
    CHECK_BYTES(t, task[2].id, task[3].id, sizeof task[0].id);
    CHECK(t, memcmp(task[0].id, task[3].id, sizeof task[0].id) != 0);
}

static void parties_must_play_their_role(sotto_test *t)
{
    const sotto_recipe *recipe = sotto_test_recipe(t, NULL, NULL);
    sotto_task task;

    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_task_compile(&task, recipe,
                           sotto_test_parties(t, "\"role\": \"helper\"", "\"role\": \"leader\""), 0,
                           &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_task_compile(&task, recipe,
                                    sotto_test_parties(t, "key:leader-2026a", "key:leader-2026b"),
                                    0, &t->arena, &t->err));
    CHECK_REASON(t, "leader-2026a");
}

static void keys_must_last_as_long_as_the_recipe(sotto_test *t)
{
    const sotto_recipe *recipe = sotto_test_recipe(t, NULL, NULL);
    sotto_task task;

    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_task_compile(&task, recipe,
                                    sotto_test_parties(t, "2027-07-01", "2026-11-26"), 0, &t->arena,
                                    &t->err));
    /* What has to move is said to its end. */
    CHECK(t, strstr(t->err.reason, "for the schedule's end (2026-11-27T00:00:00Z); the last: "
                                   "2026-01-01T00:00:00Z to 2026-11-26T00:00:00Z"));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_task_compile(&task, recipe,
                                    sotto_test_parties(t, "2026-01-01", "2026-11-21"), 0, &t->arena,
                                    &t->err));
    CHECK(t, strstr(t->err.reason, "for the schedule's start (2026-11-20T00:00:00Z)"));
    /* A KEM that is not ours decodes, but can't be sealed to. */
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_task_compile(&task, recipe, sotto_test_parties(t, "\"010020", "\"01fff0"), 0,
                                    &t->arena, &t->err));
}

/* The example needs keys until a week after 2026-11-27. Whoever has a newer file may know one that comes into use by then,
 * and have another task. */
static void a_file_that_knows_too_little_makes_no_task(sotto_test *t)
{
    static const struct {
        const char *next;
        bool enough;
    } cases[] = {{"2026-01-01T00:00:00Z", false},
                 {"2026-11-27T00:00:00Z", false},
                 {"2026-12-03T23:59:59Z", false},
                 {"2026-12-04T00:00:00Z", true},
                 {"2027-01-01T00:00:00Z", true}};
    sotto_task plain, task;
    char text[128];

    compile_with(t, &plain, NULL, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)snprintf(text, sizeof text, "2027-07-01T00:00:00Z\", \"next\": \"%s", cases[i].next);
        CHECK_STATUS(t, cases[i].enough ? SOTTO_OK : SOTTO_DENIED,
                     sotto_task_compile(&task, sotto_test_recipe(t, NULL, NULL),
                                        sotto_test_parties(t, "2027-07-01T00:00:00Z", text), 0,
                                        &t->arena, &t->err));
        CHECK(t, cases[i].enough || (strstr(t->err.reason, cases[i].next) &&
                                     strstr(t->err.reason, "needed until 2026-12-04T00:00:00Z")));
        /* What the file promises of later keys is no part of the task. */
        CHECK(t, !cases[i].enough || memcmp(plain.id, task.id, sizeof task.id) == 0);
    }
}

/* Both parts of the schedule are covered, though by no single key. */
static void a_later_key_may_cover_the_end(sotto_test *t)
{
    char text[512];
    sotto_task task;

    (void)snprintf(text, sizeof text, "2026-11-23T00:00:00Z\"}, " OTHER_KEY, "55",
                   "2026-11-22T00:00:00Z", "2027-07-01T00:00:00Z");
    compile_with(t, &task, "2027-07-01T00:00:00Z\"}", text);
}

static void other_trusts_have_no_task(sotto_test *t)
{
    sotto_task task;

    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_task_compile(&task, sotto_test_recipe_trusting(t, SOTTO_TRUST_AERO),
                                    sotto_test_parties(t, NULL, NULL), 0, &t->arena, &t->err));
}

static void a_choice_is_proved_to_be_one(sotto_test *t)
{
    const sotto_recipe *recipe = sotto_test_recipe(
        t, "\"type\": \"one-hot\", \"form\": \"asymmetric\"", "\"type\": \"choice\"");
    sotto_task task;

    CHECK_OK(t, sotto_task_compile(&task, recipe, sotto_test_parties(t, NULL, NULL), 0, &t->arena,
                                   &t->err));
    CHECK_EQUAL(t, SOTTO_PRIO3_HISTOGRAM, task.vdaf.type);
    CHECK_EQUAL(t, 273, task.vdaf.length); /* one for "no value" */
}

static sotto_prio3_config vdaf_of(sotto_test *t, const char *statistic, const char *by)
{
    sotto_task task = {0};

    CHECK_OK(t, sotto_task_compile(&task, sotto_test_recipe_of(t, statistic, by),
                                   sotto_test_parties(t, NULL, NULL), 0, &t->arena, &t->err));
    return task.vdaf;
}

/* A report with noise in it is no single bit or bin any more: its numbers are proved to be within a range. */
static void each_statistic_has_the_proof_made_for_it(sotto_test *t)
{
    static const struct {
        const char *statistic;
        sotto_prio3_type by_servers, by_shares;
    } rows[] = {{"count", SOTTO_PRIO3_COUNT, SOTTO_PRIO3_SUM},
                {"sum", SOTTO_PRIO3_SUM, SOTTO_PRIO3_SUM},
                {"mean", SOTTO_PRIO3_SUM_VEC, SOTTO_PRIO3_SUM_VEC},
                {"quantiles", SOTTO_PRIO3_HISTOGRAM, SOTTO_PRIO3_SUM_VEC}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const sotto_prio3_config servers =
                                     vdaf_of(t, rows[i].statistic, "\"servers\", \"sigma\": 500"),
                                 shares =
                                     vdaf_of(t, rows[i].statistic, "\"shares\", \"sigma\": 500");

        CHECK_EQUAL(t, rows[i].by_servers, servers.type);
        CHECK_EQUAL(t, rows[i].by_shares, shares.type);
        CHECK(t, shares.max > servers.max);
    }
}

static void cohorts_are_numbered_by_their_values(sotto_test *t)
{
    const sotto_recipe *recipe =
        sotto_test_recipe(t, "{\"locale\": [\"en_US\", \"en_GB\"]}",
                          "{\"locale\": [\"en_US\", \"en_GB\"], \"os\": [\"1\", \"2\", \"3\"]}");
    const char *here[] = {"en_GB", "2"}, *elsewhere[] = {"de_DE", "2"}, *unknown[] = {NULL, "2"};
    size_t cohort;

    CHECK_EQUAL(t, 6, sotto_recipe_cohorts(recipe));
    CHECK_OK(t, sotto_recipe_cohort_of(recipe, &cohort, here, &t->err));
    CHECK_EQUAL(t, 4, cohort);
    CHECK_STATUS(t, SOTTO_MISSING, sotto_recipe_cohort_of(recipe, &cohort, elsewhere, &t->err));
    CHECK_REASON(t, "locale");
    CHECK_STATUS(t, SOTTO_MISSING, sotto_recipe_cohort_of(recipe, &cohort, unknown, &t->err));
    /* And back: every number has the values that lead to it. */
    for (size_t i = 0; i < 6; i++) {
        char text[SOTTO_COHORT_TEXT];
        sotto_cohort named;

        sotto_recipe_cohort(recipe, &named, i);
        CHECK_EQUAL(t, 2, named.count);
        CHECK_OK(t, sotto_recipe_cohort_of(recipe, &cohort, named.values, &t->err));
        CHECK_EQUAL(t, i, cohort);
        CHECK(t, strstr(sotto_cohort_text(text, &named), named.values[1]) != NULL);
    }
}

static void targets_are_listed_values(sotto_test *t)
{
    const sotto_recipe *recipe =
        sotto_test_recipe(t, "\"encode\"", "\"targeting\": {\"os\": [\"1\", \"2\"]}, \"encode\"");

    CHECK_EQUAL(t, 1, recipe->targeting_count);
    CHECK(t, sotto_recipe_targets(recipe, 0, "2"));
    CHECK(t, !sotto_recipe_targets(recipe, 0, "3"));
    CHECK(t, !sotto_recipe_targets(recipe, 0, NULL));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(configurations_are_those_of_others),
        CASE(every_vdaf_has_its_own_order),
        CASE(task_ids_are_taskprov_s),
        CASE(the_example_compiles),
        CASE(a_task_binds_the_kind_of_its_tokens),
        CASE(a_task_binds_the_relay_and_the_log),
        CASE(one_byte_of_the_recipe_is_another_task),
        CASE(another_key_is_another_task),
        CASE(the_order_of_keys_is_no_other_task),
        CASE(parties_must_play_their_role),
        CASE(keys_must_last_as_long_as_the_recipe),
        CASE(a_file_that_knows_too_little_makes_no_task),
        CASE(a_later_key_may_cover_the_end),
        CASE(other_trusts_have_no_task),
        CASE(a_choice_is_proved_to_be_one),
        CASE(each_statistic_has_the_proof_made_for_it),
        CASE(cohorts_are_numbered_by_their_values),
        CASE(targets_are_listed_values),
    };

    return RUN_TESTS(argc, argv, cases);
}
