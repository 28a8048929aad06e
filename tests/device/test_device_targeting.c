/* Recipes for some devices alone: a device answers one only where a logged release shows that the target is large. */
#include "recipe/target.h"

#include "base/hex.h"
#include "support/devices.h"
#include "support/logs.h"

#include <stdio.h>
#include <string.h>

enum { DAY = 86400, COUNT = 60000 };

static sotto_test_phone phone;
static sotto_test_log logs;
static sotto_mistakes mistakes;

static const char *policy_with(sotto_test *t, const char *floor)
{
    const char *policy = sotto_test_log_policy(t, &logs, sotto_test_generous_policy, "");

    return (const char *)sotto_test_replace(t, policy, "\"targeting_floor\": 0", floor).data;
}

static void start_with(sotto_test *t, const char *floor)
{
    sotto_test_log_init(t, &logs);
    sotto_test_log_grow(t, &logs, 3);
    sotto_test_phone_init(t, &phone, policy_with(t, floor));
    sotto_test_phone_in_files(&phone);
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
}

/* The honest half of 60,000 meets the floor, and not by one more. */
static void start(sotto_test *t)
{
    start_with(t, "\"targeting_floor\": 30000, \"targeting_rate\": 0.9");
}

static void end(void)
{
    sotto_test_phone_close(&phone);
    sotto_test_log_clear(&logs);
}

/* ---- releases, and recipes that rest on them ---------------------------------------------------------------- */

static sotto_bytes cohort_of(sotto_test *t, const char *const *pairs)
{
    sotto_buf out = sotto_test_buf(t, 256);
    sotto_writer w = sotto_writer_on(&out);

    for (size_t i = 0; pairs[i]; i += 2) {
        sotto_write_opaque8(&w, sotto_bytes_of(pairs[i], strlen(pairs[i])));
        sotto_write_opaque16(&w, sotto_bytes_of(pairs[i + 1], strlen(pairs[i + 1])));
    }
    CHECK_OK(t, sotto_writer_finish(&w, "cohort", &t->err));
    return sotto_buf_bytes(&out);
}

/* Of devices in English of the United States, half a year before the recipe opens. */
static sotto_tlog_entry release_of(sotto_test *t)
{
    static const char *const english[] = {"locale", "en_US", NULL};
    sotto_tlog_entry e = {.type = SOTTO_ENTRY_RELEASE,
                          .start = SOTTO_TEST_OPENS - 190 * DAY,
                          .end = SOTTO_TEST_OPENS - 183 * DAY,
                          .count = COUNT,
                          .cohort = cohort_of(t, english)};

    memset(e.digest, 0xa5, sizeof e.digest);
    return e;
}

/* A recipe for `targeting` alone, at a rate of 0.9, that names the entry at this index as its release; UINT64_MAX: none. */
static sotto_bytes recipe_for(sotto_test *t, const char *targeting, uint64_t index)
{
    char text[16384], digits[12288] = "";
    sotto_bytes recipe = sotto_test_sure_recipe(t, "aimed", "\"rate\": 1", "\"rate\": 0.9"), bundle;

    (void)snprintf(text, sizeof text, "\"targeting\": %s", targeting);
    if (index != UINT64_MAX) {
        bundle = sotto_test_log_bundle(t, &logs, index, logs.size);
        CHECK(t, 2 * bundle.len < sizeof digits);
        sotto_hex_encode(digits, bundle);
        (void)snprintf(text, sizeof text,
                       "\"targeting\": %s, \"release\": {\"recipe\": "
                       "\"a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5\", "
                       "\"bundle\": \"%s\"}",
                       targeting, digits);
    }
    return sotto_test_replace(t, (const char *)recipe.data,
                              "\"cohorts\": {\"locale\": [\"en_US\", \"en_GB\"]}", text);
}

static sotto_status offer(sotto_test *t, sotto_bytes recipe)
{
    const uint64_t at = sotto_test_log_add(t, &logs, SOTTO_ENTRY_RECIPE, 0, recipe);

    return sotto_device_offer(phone.device, sotto_test_log_bundle(t, &logs, at, logs.size),
                              &t->err);
}

/* Refused by lint and by the device for one reason, which `why` repeats. */
static void check_refused(sotto_test *t, sotto_bytes text, const char *reason)
{
    const sotto_recipe *recipe;
    const sotto_policy *policy;
    sotto_recipe_claim claim;
    sotto_explanation why;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_read(&recipe, text, &t->arena, &mistakes, &t->err));
    CHECK_OK(t, sotto_policy_read(&policy, phone.options.policy, &t->arena, &mistakes, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_recipe_lint(&claim, recipe, policy, &mistakes, &t->err));
    CHECK(t, sotto_test_has_mistake(&mistakes, "targeting", reason));
    CHECK_EQUAL(t, 1, mistakes.errors);
    CHECK_STATUS(t, SOTTO_DENIED, offer(t, text));
    CHECK_OK(t, sotto_device_why(phone.device, &why, "aimed", &t->err));
    CHECK(t, strstr(why.sentence, reason) != NULL);
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
}

static void check_release_refused(sotto_test *t, const sotto_tlog_entry *release,
                                  const char *reason)
{
    start(t);
    const uint64_t at = sotto_test_log_add_entry(t, &logs, release);
    check_refused(t, recipe_for(t, "{\"locale\": [\"en_US\", \"en_CA\"]}", at), reason);
    end();
}

/* ---- what a device obeys -------------------------------------------------------------------------------------- */

static void a_target_that_a_release_counted_is_obeyed(sotto_test *t)
{
    static const char *const more[] = {"os", "17", "locale", "en_US", NULL};
    uint64_t made = 0;

    start(t);
    sotto_tlog_entry release = release_of(t);
    uint64_t at = sotto_test_log_add_entry(t, &logs, &release);
    CHECK_OK(t, offer(t, recipe_for(t, "{\"locale\": [\"en_US\", \"en_CA\"]}", at)));
    made = sotto_test_tick(&phone).made; /* nine times in ten */
    CHECK(t, made == 1 || sotto_test_why(&phone, "aimed") == SOTTO_WHY_NOT_SAMPLED);
    end();
    /* Fewer devices than the target has are counted: it is larger still. */
    start(t);
    release.cohort = cohort_of(t, more);
    at = sotto_test_log_add_entry(t, &logs, &release);
    CHECK_OK(t, offer(t, recipe_for(t, "{\"locale\": [\"en_US\"]}", at)));
    end();
}

static void a_target_without_a_release_is_refused(sotto_test *t)
{
    start(t);
    check_refused(t, recipe_for(t, "{\"locale\": [\"en_US\"]}", UINT64_MAX),
                  "the policy wants a logged release of 30000 such devices; the recipe names none");
    end();
}

static void a_policy_without_a_floor_allows_no_target(sotto_test *t)
{
    start_with(t, "\"targeting_rate\": 0.9");
    check_refused(t, recipe_for(t, "{\"locale\": [\"en_US\"]}", UINT64_MAX),
                  "the policy has no targeting_floor, and so allows no targeting");
    end();
    start_with(t, "\"targeting_floor\": 0"); /* its author's word */
    CHECK_OK(t, offer(t, recipe_for(t, "{\"locale\": [\"en_US\"]}", UINT64_MAX)));
    end();
}

static void a_floor_goes_with_a_rate_below_one(sotto_test *t)
{
    const char *with[] = {"\"targeting_floor\": 1",
                          "\"targeting_floor\": 1, \"targeting_rate\": 0.91"};
    const sotto_policy *policy;

    sotto_test_log_init(t, &logs);
    for (size_t i = 0; i < 2; i++) {
        const char *text = policy_with(t, with[i]);

        memset(&mistakes, 0, sizeof mistakes);
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_policy_read(&policy, sotto_bytes_of(text, strlen(text)), &t->arena,
                                       &mistakes, &t->err));
        CHECK(t, sotto_test_has_mistake(&mistakes, "targeting_floor", "tell who met the target"));
    }
    sotto_test_log_clear(&logs);
}

/* ---- releases that show nothing -------------------------------------------------------------------------------- */

static void a_release_of_too_few_is_refused(sotto_test *t)
{
    sotto_tlog_entry release = release_of(t);

    release.count = COUNT - 1;
    check_release_refused(t, &release,
                          "the release that it names: it counted 59999, 29999 of them honest; the "
                          "policy wants 30000");
}

static void a_release_of_others_is_refused(sotto_test *t)
{
    static const char *const others[] = {"locale", "en_GB", NULL}, *const field[] = {"os", "17",
                                                                                     NULL};
    static const char reason[] = "it counted devices outside of the target by locale";
    sotto_tlog_entry release = release_of(t);

    release.cohort = cohort_of(t, others);
    check_release_refused(t, &release, reason);
    release.cohort = cohort_of(t, field);
    check_release_refused(t, &release, reason);
    release.cohort = sotto_bytes_of(NULL, 0); /* of everybody */
    check_release_refused(t, &release, reason);
}

static void a_release_of_another_recipe_is_refused(sotto_test *t)
{
    sotto_tlog_entry release = release_of(t);

    release.digest[31] ^= 1;
    check_release_refused(t, &release, "it is of another recipe than the one that is named");
}

static void an_entry_of_another_type_is_no_release(sotto_test *t)
{
    sotto_tlog_entry entry = release_of(t);

    entry.type = SOTTO_ENTRY_ISSUER_KEY;
    entry.cohort = sotto_bytes_of(NULL, 0);
    check_release_refused(t, &entry, "it is an entry of another type");
}

static void an_old_release_is_refused(sotto_test *t)
{
    sotto_tlog_entry release = release_of(t);

    release.start = release.end = SOTTO_TEST_OPENS - 400 * DAY - 1;
    check_release_refused(t, &release, "it ended more than 400 days before the recipe opens");
}

/* Otherwise one entry with an end far ahead would serve for ever. */
static void a_release_that_ends_later_is_refused(sotto_test *t)
{
    sotto_tlog_entry release = release_of(t);

    release.end = SOTTO_TEST_OPENS + 1;
    check_release_refused(t, &release, "it ends after the recipe opens");
}

/* The log's own signature is not enough, nor is another log's; a count that was changed afterwards is in no tree. */
static void a_release_is_proved_to_be_in_the_log(sotto_test *t)
{
    sotto_tlog_entry release = release_of(t);
    sotto_bytes text;
    char *digits;

    start(t);
    uint64_t at = sotto_test_log_add_entry(t, &logs, &release);
    logs.witnesses = 1;
    text = recipe_for(t, "{\"locale\": [\"en_US\"]}", at);
    logs.witnesses = 3;
    check_refused(t, text,
                  "the release that it names: checkpoint: cosigned by 1 witnesses; 2 are wanted");
    end();
    start(t);
    at = sotto_test_log_add_entry(t, &logs, &release);
    text = recipe_for(t, "{\"locale\": [\"en_US\"]}", at);
    digits = strstr((char *)(uintptr_t)text.data, "000000000000ea60"); /* 60,000 */
    CHECK(t, digits != NULL);
    digits[11] = '1';
    check_refused(t, text, "the release that it names: ");
    end();
    start(t);
    at = sotto_test_log_add_entry(t, &logs, &release);
    text = recipe_for(t, "{\"locale\": [\"en_US\"]}", at);
    digits =
        strstr((char *)(uintptr_t)text.data, "6578616d706c652e636f6d2f6c6f67"); /* its origin */
    CHECK(t, digits != NULL);
    digits[1] = '6';
    check_refused(t, text, "it is on no log that the policy names");
    end();
}

static void a_release_goes_with_a_target(sotto_test *t)
{
    const sotto_recipe *recipe;
    const sotto_bytes text = sotto_test_recipe_text(
        t, "\"encode\"",
        "\"release\": {\"recipe\": "
        "\"a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5\", \"bundle\": "
        "\"a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5"
        "a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5\"}, \"encode\"");

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_recipe_read(&recipe, text, &t->arena, &mistakes, &t->err));
    CHECK(t, sotto_test_has_mistake(&mistakes, "release", "release goes with targeting"));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_target_that_a_release_counted_is_obeyed),
        CASE(a_target_without_a_release_is_refused),
        CASE(a_policy_without_a_floor_allows_no_target),
        CASE(a_floor_goes_with_a_rate_below_one),
        CASE(a_release_of_too_few_is_refused),
        CASE(a_release_of_others_is_refused),
        CASE(a_release_of_another_recipe_is_refused),
        CASE(an_entry_of_another_type_is_no_release),
        CASE(an_old_release_is_refused),
        CASE(a_release_that_ends_later_is_refused),
        CASE(a_release_is_proved_to_be_in_the_log),
        CASE(a_release_goes_with_a_target),
    };

    return RUN_TESTS(argc, argv, cases);
}
