/* Rounds of learning of which a device draws one: it answers in that one, and in no other. */
#include "device/arc.h"
#include "device/round.h"
#include "support/learners.h"

#include <stdio.h>
#include <string.h>

static sotto_test_learner learner;

enum { ROUNDS = 48, WINDOW = 6 };

#define START "\"start\": \"2026-11-20T00:00:00Z\""
#define CHECK_IN(variant, window, slot)                                                            \
    "{\"type\": \"check-in\", \"variant\": \"" variant "\", \"window\": " window ", " START        \
    ", \"slot\": \"" slot "\"}"

static sotto_bytes swap(sotto_test *t, sotto_bytes text, const char *old, const char *new)
{
    return sotto_test_replace(t, (const char *)text.data, old, new);
}

/* 20,000 devices, 416 in each of 48 rounds. */
static sotto_bytes drawn(sotto_test *t, const char *participation)
{
    sotto_bytes text = swap(t, learner.recipe, "\"participations\": 3, \"separation\": 2",
                            "\"participations\": 1");

    text = swap(t, text, "{\"type\": \"poisson\", \"rate\": 1.0}", participation);
    return swap(t, text, "\"population\": 1000}", "\"population\": 20000}");
}

static void start(sotto_test *t, const char *participation)
{
    sotto_test_learner_start(t, &learner, NULL, NULL);
    learner.recipe = drawn(t, participation);
}

static sotto_why why_of(uint64_t round)
{
    char name[32];

    (void)snprintf(name, sizeof name, "digits#%llu", (unsigned long long)round);
    return sotto_test_why(&learner.phone, name);
}

/* The session goes on after its report: whatever is asked, the device has answered. */
static void a_device_answers_in_the_round_that_it_drew(sotto_test *t)
{
    uint64_t made = 0, answered = 0;

    start(t, CHECK_IN("averaged", "48", "1h"));
    for (uint64_t round = 0; round < ROUNDS; round++) {
        const uint64_t now = sotto_test_learner_round(&learner, round);

        if (made > 0)
            CHECK_EQUAL(t, SOTTO_WHY_ANALYSIS_DONE, why_of(round));
        else if (now == 0)
            CHECK_EQUAL(t, SOTTO_WHY_SLOT_TO_COME, why_of(round));
        else
            answered = round;
        made += now;
    }
    CHECK_EQUAL(t, 1, made);
    CHECK_EQUAL(t, 1, learner.trainings);
    CHECK_EQUAL(t, SOTTO_WHY_ANSWERED, why_of(answered));
    CHECK_EQUAL(t, 1, sotto_test_learner_rho(&learner, SOTTO_RHO_RECIPE).participations);
    sotto_test_phone_close(&learner.phone);
}

/* A leader that wants this device in its last round can't have it: the slot that was drawn is over, and no other follows. */
static void nobody_else_picks_the_round_of_a_device(sotto_test *t)
{
    uint64_t late = 0;

    start(t, CHECK_IN("averaged", "48", "1h"));
    /* Phones draw from a fixed seed: several sessions, until one drew neither of the two. */
    for (unsigned i = 0; i < 20 && late == 0; i++) {
        if (sotto_test_learner_round(&learner, 0) == 0 &&
            sotto_test_learner_round(&learner, ROUNDS - 1) == 0) {
            CHECK_EQUAL(t, SOTTO_WHY_SLOT_MISSED, why_of(ROUNDS - 1));
            late = 1;
        }
        if (late == 0) {
            sotto_test_phone_close(&learner.phone);
            start(t, CHECK_IN("averaged", "48", "1h"));
        }
    }
    CHECK_EQUAL(t, 1, late);
    CHECK_EQUAL(t, 0, learner.trainings);
    /* Nor with another window, in which the draw might be again. */
    learner.recipe = swap(t, swap(t, learner.recipe, "\"version\": 1", "\"version\": 2"),
                          "\"window\": 48", "\"window\": 24");
    learner.recipe = swap(t, learner.recipe, "\"count\": 48", "\"count\": 24");
    CHECK_EQUAL(t, 0, sotto_test_learner_round(&learner, 23));
    sotto_test_phone_close(&learner.phone);
}

/* Its window begins with the round in which it first heard of the session. */
static void a_sliding_window_begins_when_a_device_arrives(sotto_test *t)
{
    uint64_t made = 0;

    start(t, CHECK_IN("sliding", "6", "1h"));
    for (uint64_t round = 10; round < 10 + WINDOW; round++)
        made += sotto_test_learner_round(&learner, round);
    CHECK_EQUAL(t, 1, made);
    CHECK_EQUAL(t, 0, sotto_test_learner_round(&learner, 10 + WINDOW));
    sotto_test_phone_close(&learner.phone);
}

/* One round of a week with 168 slots: a report is of the slot that was drawn, so servers can use one of each. */
static void a_report_has_the_time_of_its_slot(sotto_test *t)
{
    enum { SLOT = 3600, SLOTS = 168 };
    sotto_dap_report report;
    uint64_t made = 0;

    start(t, CHECK_IN("fixed", "168", "1h"));
    learner.recipe = swap(t, learner.recipe, "\"count\": 48, \"every\": \"1h\"",
                          "\"count\": 1, \"every\": \"7d\"");
    CHECK_OK(t, sotto_test_learner_offer(&learner, 0));
    for (unsigned slot = 0; slot < SLOTS && made == 0; slot++) {
        learner.phone.now = SOTTO_TEST_OPENS + slot * SLOT + 1;
        made = sotto_test_tick(&learner.phone).made;
    }
    CHECK_EQUAL(t, 1, made);
    CHECK_OK(t, sotto_dap_report_decode(&report, learner.phone.uploaded[0].body, &t->err));
    CHECK_EQUAL(t, (uint64_t)learner.phone.now / SLOT, report.metadata.time);
    learner.phone.now += SLOT;
    CHECK_EQUAL(t, 0, sotto_test_tick(&learner.phone).made);
    sotto_test_phone_close(&learner.phone);
}

/* The first round is an answer like any other: no second recipe of the analysis gets one in the same slot. */
static void an_answer_in_the_first_round_is_the_only_one_of_the_analysis(sotto_test *t)
{
    enum { SLOT = 3600, SLOTS = 168 };
    uint64_t made = 0;

    start(t, CHECK_IN("fixed", "168", "1h"));
    learner.recipe = swap(t, learner.recipe, "\"count\": 48, \"every\": \"1h\"",
                          "\"count\": 1, \"every\": \"7d\"");
    CHECK_OK(t, sotto_test_learner_offer(&learner, 0));
    for (unsigned slot = 0; slot < SLOTS && made == 0; slot++) {
        learner.phone.now = SOTTO_TEST_OPENS + slot * SLOT + 1;
        made = sotto_test_tick(&learner.phone).made;
    }
    CHECK_EQUAL(t, 1, made);
    learner.recipe = swap(t, learner.recipe, "\"recipe\": \"digits\"", "\"recipe\": \"again\"");
    CHECK_OK(t, sotto_test_learner_offer(&learner, 0));
    CHECK_EQUAL(t, 0, sotto_test_tick(&learner.phone).made);
    CHECK_EQUAL(t, SOTTO_WHY_ANALYSIS_DONE, sotto_test_why(&learner.phone, "again#0"));
    CHECK_EQUAL(t, 1, learner.trainings);
    sotto_test_phone_close(&learner.phone);
}

/* Credentials are shown for all rounds together, and the shelf keeps a round by its own time. */
static void a_credential_is_shown_once_in_a_session(sotto_test *t)
{
    uint8_t contexts[2][SOTTO_ARC_CONTEXT];

    start(t, CHECK_IN("averaged", "48", "1h"));
    for (unsigned i = 0; i < 2; i++) {
        sotto_case c = {.now = learner.phone.now};
        const sotto_bytes record =
            sotto_test_round_record(t, learner.recipe, 3 * (uint64_t)i, learner.model);

        CHECK_OK(t, sotto_round_read(learner.phone.device, &c, record, &t->err));
        CHECK_EQUAL(t, SOTTO_TEST_OPENS + 3 * 3600 * (int64_t)i, c.kept->opens);
        const sotto_arc_collection collection = sotto_arc_collection_of(c.recipe);
        sotto_arc_presentation_context(contexts[i], &collection);
    }
    CHECK_BYTES(t, contexts[0], contexts[1], sizeof contexts[0]);
    sotto_test_phone_close(&learner.phone);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_device_answers_in_the_round_that_it_drew),
        CASE(nobody_else_picks_the_round_of_a_device),
        CASE(a_sliding_window_begins_when_a_device_arrives),
        CASE(a_report_has_the_time_of_its_slot),
        CASE(an_answer_in_the_first_round_is_the_only_one_of_the_analysis),
        CASE(a_credential_is_shown_once_in_a_session),
    };
    return RUN_TESTS(argc, argv, cases);
}
