/* Recipes that a device keeps, against somebody who publishes too many, too long or too early. */
#include "device/ledger/consent.h"
#include "device/ledger/ledger_internal.h"
#include "device/ledger/record.h"
#include "device/ledger/shelf.h"
#include "support/devices.h"

#include <stdio.h>
#include <string.h>

static sotto_test_phone phone;

enum { LARGEST = SOTTO_RECIPE_MAX_BYTES };

/* A recipe with these words replaced, with blanks in it until it has so many bytes. */
static sotto_bytes make(sotto_test *t, const char *name, const char *old, const char *new,
                        size_t bytes)
{
    sotto_bytes text = sotto_test_clear_recipe(t, name, old, new);
    uint8_t *out;

    if (text.len >= bytes)
        return text;
    out = sotto_test_take(t, bytes + 1);
    memset(out, ' ', bytes);
    out[0] = '{';
    memcpy(out + bytes - (text.len - 1), text.data + 1, text.len - 1);
    out[bytes] = 0;
    return sotto_bytes_of(out, bytes);
}

static const char schedule[] =
    "\"opens\": \"2026-11-20T00:00:00Z\", \"closes\": \"2026-11-27T00:00:00Z\"";

static sotto_status offer(sotto_test *t, sotto_bytes recipe)
{
    return sotto_device_offer(phone.device, recipe, &t->err);
}

typedef struct counted {
    unsigned of[2]; /* analyses: the example's, the other */
} counted;

static sotto_status count_one(void *context, const sotto_known_recipe *recipe, sotto_err *err)
{
    counted *c = context;

    (void)err;
    c->of[strcmp(recipe->analysis, "other") == 0]++;
    return SOTTO_OK;
}

static counted count(sotto_test *t)
{
    counted c = {{0, 0}};

    CHECK_OK(t, sotto_device_recipes(phone.device, count_one, &c, &t->err));
    return c;
}

static void start(sotto_test *t)
{
    static char policy[2048];

    (void)snprintf(policy, sizeof policy, "%s",
                   (const char *)sotto_test_replace(
                       t, sotto_test_generous_policy, "\"analyses\": {",
                       "\"analyses\": {\"other\": {\"epsilon\": 10000, \"delta\": 0.001, "
                       "\"reports\": 100, \"fields\": [\"keyboard_ngrams.ngram\", "
                       "\"keyboard_ngrams.age\"]}, ")
                       .data);
    sotto_test_phone_start(t, &phone, policy);
}

/* ---- the attacks -------------------------------------------------------------------------------------------- */

static void far_future_recipes_take_no_room(sotto_test *t)
{
    char name[16];

    start(t);
    for (int i = 0; i < 20; i++) {
        (void)snprintf(name, sizeof name, "far%d", i);
        CHECK_STATUS(t, SOTTO_STALE,
                     offer(t, make(t, name, schedule,
                                   "\"opens\": \"2032-11-20T00:00:00Z\", \"closes\": "
                                   "\"2032-11-27T00:00:00Z\"",
                                   0)));
    }
    CHECK_REASON(t, "opens in more than 90 days");
    CHECK_OK(t, offer(t, make(t, "soon", schedule,
                              "\"opens\": \"2027-02-17T00:00:00Z\", \"closes\": "
                              "\"2027-02-18T00:00:00Z\"",
                              0)));
    CHECK_EQUAL(t, 1, count(t).of[0]);
    sotto_test_phone_close(&phone);
}

static void fill(sotto_test *t, const char *old, const char *new)
{
    char name[24];

    for (int i = 0; i < 4; i++) {
        (void)snprintf(name, sizeof name, "large%d", i);
        CHECK_OK(t, offer(t, make(t, name, old, new, LARGEST)));
    }
}

static void recipes_are_bounded_in_bytes(sotto_test *t)
{
    start(t);
    fill(t, NULL, NULL);
    CHECK_STATUS(t, SOTTO_TOO_LARGE, offer(t, make(t, "large4", NULL, NULL, LARGEST)));
    CHECK_STATUS(t, SOTTO_TOO_LARGE, offer(t, make(t, "small", NULL, NULL, 0)));
    CHECK_EQUAL(t, 4, count(t).of[0]);
    /* A later version takes the place of an earlier one. */
    CHECK_OK(t, offer(t, make(t, "large0", "\"version\": 1", "\"version\": 2", LARGEST)));
    CHECK_EQUAL(t, 4, count(t).of[0]);
    sotto_test_phone_close(&phone);
}

static void what_opens_sooner_takes_the_place_of_what_opens_later(sotto_test *t)
{
    start(t);
    fill(t, schedule, "\"opens\": \"2027-01-20T00:00:00Z\", \"closes\": \"2027-01-27T00:00:00Z\"");
    CHECK_OK(t, offer(t, make(t, "now", NULL, NULL, 0)));
    CHECK_EQUAL(t, 4, count(t).of[0]);
    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 offer(t, make(t, "later", schedule,
                               "\"opens\": \"2027-01-21T00:00:00Z\", \"closes\": "
                               "\"2027-01-27T00:00:00Z\"",
                               LARGEST)));
    sotto_test_phone_close(&phone);
}

static void one_analysis_can_not_keep_another_out(sotto_test *t)
{
    static const char mine[] = "com.example.keyboard-ngrams\"";

    start(t);
    fill(t, NULL, NULL);
    CHECK_OK(t, offer(t, make(t, "other0", mine, "other\"", LARGEST)));
    CHECK_OK(t, offer(t, make(t, "other1", mine, "other\"", LARGEST)));
    CHECK_EQUAL(t, 2, count(t).of[0]);
    CHECK_EQUAL(t, 2, count(t).of[1]);
    /* Nor take more than it has. */
    CHECK_STATUS(t, SOTTO_TOO_LARGE, offer(t, make(t, "other2", mine, "other\"", LARGEST)));
    CHECK_EQUAL(t, 2, count(t).of[0]);
    sotto_test_phone_close(&phone);
}

/* A later version of the same name, by somebody who may ask something else. */
static void one_analysis_can_not_replace_another_s_recipe(sotto_test *t)
{
    static const char mine[] = "com.example.keyboard-ngrams\",", theirs[] = "other\",";
    sotto_bytes later = sotto_test_replace(t, (const char *)make(t, "50001", mine, theirs, 0).data,
                                           "\"version\": 1", "\"version\": 9");

    start(t);
    CHECK_OK(t, sotto_test_phone_type(&phone, 1, 35, "i went home"));
    CHECK_OK(t, offer(t, make(t, "50001", NULL, NULL, 0)));
    CHECK_STATUS(t, SOTTO_DENIED, offer(t, later));
    CHECK_REASON(t, "another analysis has a recipe of this name");
    CHECK_EQUAL(t, 1, count(t).of[0]);
    CHECK_EQUAL(t, 0, count(t).of[1]);
    phone.now = SOTTO_TEST_OPENS;
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 1, sotto_test_charged(&phone)); /* the first one's analysis */
    sotto_test_phone_close(&phone);
}

static void recipes_that_are_done_with_make_room(sotto_test *t)
{
    start(t);
    CHECK_OK(t, sotto_test_phone_type(&phone, 1, 35, "i went home"));
    fill(t, NULL, NULL);
    CHECK_STATUS(t, SOTTO_TOO_LARGE, offer(t, make(t, "large4", NULL, NULL, LARGEST)));
    phone.answer = SOTTO_DELIVERY_LATER;
    CHECK_EQUAL(t, 4, sotto_test_tick(&phone).made);
    /* Their reports wait, and are given up by way of their recipes. */
    CHECK_STATUS(t, SOTTO_TOO_LARGE, offer(t, make(t, "large4", NULL, NULL, LARGEST)));
    phone.answer = SOTTO_DELIVERY_ACCEPTED;
    phone.now += 86400;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    CHECK_OK(t, offer(t, make(t, "large4", NULL, NULL, LARGEST)));
    /* One that made room is not answered again. */
    CHECK_OK(t, offer(t, make(t, "large0", NULL, NULL, LARGEST)));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, SOTTO_WHY_ANSWERED, sotto_test_why(&phone, "large0"));
    sotto_test_phone_close(&phone);
}

static void a_recipe_of_a_million_bins_is_refused(sotto_test *t)
{
    sotto_bytes recipe = sotto_test_recipe_text(t, "SELECT age, ngram FROM", "SELECT age FROM");
    const char *text = (const char *)recipe.data, *from = strstr(text, "\"encode\""),
               *to = strstr(text, "\"randomizer\"");
    char *out = sotto_test_take(t, recipe.len + 200);

    (void)snprintf(out, recipe.len + 200,
                   "%.*s\"encode\": {\"age\": {\"type\": \"integer\", \"min\": 1, \"max\": "
                   "1000000}},\n%s",
                   (int)(from - text), text, to);
    start(t);
    CHECK_STATUS(t, SOTTO_DENIED, offer(t, sotto_bytes_of(out, strlen(out))));
    CHECK_REASON(t, "longer than the policy allows");
    CHECK_EQUAL(t, 0, count(t).of[0]);
    sotto_test_phone_close(&phone);
}

/* ---- the record --------------------------------------------------------------------------------------------- */

typedef struct lines {
    unsigned passing, others, asked;
    bool first; /* the first one that was passed over is there */
} lines;

static sotto_status count_line(void *context, const sotto_record_entry *entry, sotto_err *err)
{
    lines *l = context;

    (void)err;
    if (entry->kind == SOTTO_RECORD_SILENT)
        l->passing++;
    else
        l->others++;
    l->asked += entry->asked != NULL;
    l->first = l->first || strcmp(entry->recipe, "r0") == 0;
    return SOTTO_OK;
}

static void the_record_is_bounded(sotto_test *t)
{
    const sotto_ledger_options options = {.path = NULL};
    sotto_ledger *ledger;
    lines before = {0, 0, 0, false}, after = {0, 0, 0, false};
    const sotto_asked asked = {.min_cohort = 1};
    int64_t questions;
    char name[16];
    const sotto_record_entry entry = {
        .at = 1, .kind = SOTTO_RECORD_SILENT, .recipe = name, .note = "no", .asked = &asked};

    CHECK_OK(t, sotto_ledger_open(&ledger, &options, &t->err));
    CHECK_OK(t, sotto_consent_set(ledger, true, 1, &t->err));
    CHECK_OK(t, sotto_record_show(ledger, NULL, 0, count_line, &before, &t->err));
    CHECK(t, before.others > 0);
    for (int i = 0; i < SOTTO_RECORD_KEPT + 4 * SOTTO_RECORD_SLACK; i++) {
        (void)snprintf(name, sizeof name, "r%d", i);
        CHECK_OK(t, sotto_record_append(ledger, &entry, &t->err));
    }
    CHECK_OK(t, sotto_record_show(ledger, NULL, 0, count_line, &after, &t->err));
    CHECK(t, after.passing >= SOTTO_RECORD_KEPT);
    CHECK(t, after.passing <= SOTTO_RECORD_KEPT + SOTTO_RECORD_SLACK);
    CHECK_EQUAL(t, before.others, after.others);
    CHECK(t, !after.first);
    CHECK_EQUAL(t, after.passing, after.asked);
    CHECK_OK(
        t, sotto_sqlite_number(ledger->db, &questions, "SELECT count(*) FROM asked", "", &t->err));
    CHECK_EQUAL(t, after.asked, questions); /* none outlives its entry */
    CHECK(t, sotto_ledger_closed(ledger) == NULL);
    sotto_ledger_close(ledger);
}

static void put_version(sotto_test *t, sotto_ledger *ledger, uint64_t version)
{
    static const uint8_t judge[SOTTO_RECIPE_HASH_SIZE] = {1};
    sotto_recipe recipe = {.name = "known",
                           .analysis = "a",
                           .query = "SELECT 1",
                           .version = version,
                           .opens = 1,
                           .closes = 2,
                           .text = sotto_bytes_of("{}", 2)};

    memcpy(recipe.hash, &version, sizeof version);
    CHECK_OK(t, sotto_shelf_put(ledger, &recipe, judge, (sotto_known_epsilon){1, 0.5}, 1, &t->err));
}

/* Each version is an entry, and so is each reason for silence that is not the last one. */
static void versions_of_a_known_recipe_do_not_fill_the_record(sotto_test *t)
{
    const sotto_ledger_options options = {.path = NULL};
    const sotto_record_entry silent = {
        .at = 1, .kind = SOTTO_RECORD_SILENT, .recipe = "known", .note = "no"};
    enum { VERSIONS = SOTTO_RECORD_KEPT / 2 + 4 * SOTTO_RECORD_SLACK };
    lines after = {0};
    char note[SOTTO_RECORD_NOTE], last[32];
    sotto_ledger *ledger;
    uint64_t round;
    bool found;

    CHECK_OK(t, sotto_ledger_open(&ledger, &options, &t->err));
    for (uint64_t version = 1; version <= VERSIONS; version++) {
        put_version(t, ledger, version);
        CHECK_OK(t, sotto_record_append(ledger, &silent, &t->err));
    }
    CHECK_OK(t, sotto_record_show(ledger, NULL, 0, count_line, &after, &t->err));
    CHECK(t, after.passing + after.others >= SOTTO_RECORD_KEPT);
    CHECK(t, after.passing + after.others <= SOTTO_RECORD_KEPT + SOTTO_RECORD_SLACK);
    CHECK_OK(t,
             sotto_record_last(ledger, &found, &round, note, SOTTO_RECORD_SEEN, "known", &t->err));
    (void)snprintf(last, sizeof last, "version %d", VERSIONS);
    CHECK(t, found && strcmp(note, last) == 0);
    CHECK(t, sotto_ledger_closed(ledger) == NULL);
    sotto_ledger_close(ledger);
}

/* The only one of its kind about a recipe that is known stays, however old. */
static void the_last_word_about_a_known_recipe_stays(sotto_test *t)
{
    const sotto_ledger_options options = {.path = NULL};
    char note[SOTTO_RECORD_NOTE], name[16];
    const sotto_record_entry silent = {
        .at = 1, .kind = SOTTO_RECORD_SILENT, .recipe = name, .note = "no"};
    sotto_ledger *ledger;
    uint64_t round;
    bool found;

    CHECK_OK(t, sotto_ledger_open(&ledger, &options, &t->err));
    put_version(t, ledger, 1);
    for (int i = 0; i < SOTTO_RECORD_KEPT + 4 * SOTTO_RECORD_SLACK; i++) {
        (void)snprintf(name, sizeof name, "r%d", i);
        CHECK_OK(t, sotto_record_append(ledger, &silent, &t->err));
    }
    CHECK_OK(t,
             sotto_record_last(ledger, &found, &round, note, SOTTO_RECORD_SEEN, "known", &t->err));
    CHECK(t, found);
    sotto_ledger_close(ledger);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(far_future_recipes_take_no_room),
        CASE(recipes_are_bounded_in_bytes),
        CASE(what_opens_sooner_takes_the_place_of_what_opens_later),
        CASE(one_analysis_can_not_keep_another_out),
        CASE(one_analysis_can_not_replace_another_s_recipe),
        CASE(recipes_that_are_done_with_make_room),
        CASE(a_recipe_of_a_million_bins_is_refused),
        CASE(the_record_is_bounded),
        CASE(versions_of_a_known_recipe_do_not_fill_the_record),
        CASE(the_last_word_about_a_known_recipe_stays),
    };

    return RUN_TESTS(argc, argv, cases);
}
