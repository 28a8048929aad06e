/* Slots: by which law they are drawn, once for an analysis, and what happens when they have passed. */
#include "device/answer/participate.h"
#include "support/devices.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sotto_test_phone phone;

#define START "\"start\": \"2026-11-20T00:00:00Z\""
#define CHECK_IN(variant, window, slot)                                                            \
    "{\"type\": \"check-in\", \"variant\": \"" variant "\", \"window\": " window ", " START        \
    ", \"slot\": \"" slot "\"}"
#define DONATION(slots, slot)                                                                      \
    "{\"type\": \"donation\", \"slots\": " slots ", " START ", \"slot\": \"" slot "\"}"

static void offer(sotto_test *t, sotto_bytes recipe)
{
    CHECK_OK(t, sotto_device_offer(phone.device, recipe, &t->err));
}

static sotto_bytes slotted(sotto_test *t, const char *name, const char *participation)
{
    return sotto_test_sure_recipe(t, name, "{\"type\": \"poisson\", \"rate\": 1}", participation);
}

static void start_at(sotto_test *t, int64_t now)
{
    sotto_test_phone_start(t, &phone, sotto_test_generous_policy);
    phone.now = now;
}

/* ---- the law ---------------------------------------------------------------------------------------------- */

enum { DRAWS = 200000, MOST = 64 };

static sotto_status fill_repeatably(void *random, void *out, size_t len, sotto_err *err)
{
    (void)err;
    sotto_sim_random_bytes(random, out, len);
    return SOTTO_OK;
}

/* How often each slot was drawn, and behind them silence. */
static void count_draws(sotto_test *t, double seen[MOST + 1], const sotto_participation *p,
                        uint64_t seed)
{
    static sotto_recipe recipe;
    sotto_sim_random random;
    sotto_entropy entropy;

    recipe.participation = *p;
    sotto_sim_random_init(&random, seed);
    sotto_entropy_init(&entropy, fill_repeatably, &random);
    sotto_lot lot = {&recipe, &entropy, 0};
    for (uint64_t i = 0; i <= p->slots; i++)
        seen[i] = 0;
    for (int i = 0; i < DRAWS; i++) {
        sotto_decision d = {0};

        CHECK_OK(t, sotto_participation_draw(&lot, &d, &t->err));
        CHECK(t, d.slot < p->slots);
        seen[d.choice == SOTTO_CHOICE_TAKE_PART ? d.slot : p->slots]++;
    }
    sotto_entropy_clear(&entropy);
}

/* Chi-square as a standard normal number (Wilson and Hilferty 1931): beyond 4.9 either way once in a million seeds. */
static void follows(sotto_test *t, const double *seen, const double *chance, uint64_t cells)
{
    double chi = 0, freedom = (double)cells - 1, spread = 2 / (9 * freedom);

    for (uint64_t i = 0; i < cells; i++)
        chi += (seen[i] - DRAWS * chance[i]) * (seen[i] - DRAWS * chance[i]) / (DRAWS * chance[i]);
    CHECK_NEAR(t, 0, (cbrt(chi / freedom) - (1 - spread)) / sqrt(spread), 4.9);
}

/* Talwar et al. 2024, Appendix A: slot i with chance (1/m)(1 - 1/m)^i, silence with (1 - 1/m)^m; all of it behind a coin. */
static void a_donation_is_the_first_head_of_its_coins(sotto_test *t)
{
    static const uint64_t slots[] = {2, 3, 10, MOST};
    static const double rates[] = {1, 0.25};

    for (size_t i = 0; i < 8; i++) {
        const double m = (double)slots[i / 2], rate = rates[i % 2];
        const sotto_participation p = {
            .type = SOTTO_DONATION, .rate = rate, .slots = slots[i / 2], .length = 60};
        double seen[MOST + 1], chance[MOST + 1], tails = 1;

        for (uint64_t slot = 0; slot < p.slots; slot++) {
            chance[slot] = rate * tails / m;
            tails *= 1 - 1 / m;
        }
        chance[p.slots] = 1 - rate + rate * tails;
        count_draws(t, seen, &p, 40 + i);
        follows(t, seen, chance, p.slots + 1);
    }
}

static void a_check_in_is_as_likely_in_every_slot(sotto_test *t)
{
    const sotto_participation p = {
        .type = SOTTO_CHECK_IN_AVERAGED_WINDOW, .rate = 1, .slots = 10, .length = 60};
    double seen[MOST + 1], chance[MOST + 1];

    for (uint64_t slot = 0; slot < p.slots; slot++)
        chance[slot] = 0.1;
    count_draws(t, seen, &p, 50);
    CHECK(t, seen[10] == 0); /* everybody checks in */
    follows(t, seen, chance, 10);
}

/* A window of m slots of their own length from the slot of arrival on, however long the schedule is. */
static void a_sliding_window_is_the_device_s_own(sotto_test *t)
{
    static sotto_recipe recipe;
    sotto_sim_random random;
    sotto_entropy entropy;
    uint64_t seen = 0;

    recipe.participation = (sotto_participation){
        .type = SOTTO_CHECK_IN_SLIDING_WINDOW, .rate = 1, .slots = 4, .start = 1000, .length = 60};
    recipe.opens = 0;
    recipe.closes = 1000000;
    sotto_sim_random_init(&random, 51);
    sotto_entropy_init(&entropy, fill_repeatably, &random);
    for (int i = 0; i < 100; i++) {
        const int64_t arrival = 1000 + i * 25, first = 1000 + i * 25 / 60 * 60;
        sotto_lot lot = {&recipe, &entropy, arrival};
        sotto_decision d = {0};

        CHECK_OK(t, sotto_participation_draw(&lot, &d, &t->err));
        CHECK(t, d.choice == SOTTO_CHOICE_TAKE_PART && d.slot < 4);
        CHECK_EQUAL(t, first, d.window.start);
        CHECK(t, sotto_participation_drawn_for(&recipe.participation, &d.window));
        CHECK(t, sotto_participation_turn(&d, first + (int64_t)d.slot * 60) == SOTTO_TURN_NOW);
        CHECK(t, sotto_participation_turn(&d, first + 240) == SOTTO_TURN_MISSED);
        seen |= UINT64_C(1) << d.slot;
    }
    CHECK_EQUAL(t, 15, seen);
    sotto_entropy_clear(&entropy);
}

static void the_last_slot_of_all_is_still_to_come(sotto_test *t)
{
    static const int64_t last = INT64_C(253402300799);
    const sotto_window ever = {.law = SOTTO_DONATION, .slots = 1000000, .length = 2592000};
    sotto_decision late = {.slot = 999999, .window = ever}, early = {.window = ever};

    CHECK(t, sotto_participation_turn(&early, last) == SOTTO_TURN_MISSED);
    CHECK(t, sotto_participation_turn(&late, last) == SOTTO_TURN_TO_COME);
    late.window.start = last;
    CHECK(t, sotto_participation_turn(&late, 0) == SOTTO_TURN_TO_COME);
    CHECK(t, sotto_participation_turn(&late, last) == SOTTO_TURN_TO_COME);
}

/* ---- on a device ------------------------------------------------------------------------------------------- */

/* Ticks at every start of a slot; which slot it answered in, or `slots`. */
static uint64_t slot_of_answer(sotto_test *t, int64_t length, uint64_t slots)
{
    uint64_t answered = slots;

    for (uint64_t slot = 0; slot < slots; slot++) {
        uint64_t made = sotto_test_tick(&phone).made;

        CHECK(t, made == 0 || (made == 1 && answered == slots));
        answered = made ? slot : answered;
        phone.now += length;
    }
    return answered;
}

/* The slots that were somebody's, and how many devices were silent. */
static uint64_t slots_of_many(sotto_test *t, const char *participation, int64_t length,
                              uint64_t slots, uint64_t *silent)
{
    uint64_t seen = 0;

    *silent = 0;
    for (int i = 0; i < 40; i++) {
        start_at(t, SOTTO_TEST_OPENS);
        offer(t, slotted(t, "50001", participation));
        uint64_t slot = slot_of_answer(t, length, slots);
        seen |= UINT64_C(1) << slot;
        *silent += slot == slots;
        CHECK_EQUAL(t, 1, sotto_test_lines(&phone, NULL, SOTTO_RECORD_DECIDED));
        sotto_test_phone_close(&phone);
    }
    return seen;
}

static void a_check_in_happens_in_its_slot(sotto_test *t)
{
    uint64_t silent;

    CHECK_EQUAL(t, 15, slots_of_many(t, CHECK_IN("averaged", "4", "42h"), 151200, 4, &silent));
    CHECK_EQUAL(t, 0, silent);
    CHECK_EQUAL(t, 15, slots_of_many(t, CHECK_IN("fixed", "4", "6h"), 21600, 4, &silent));
    CHECK_EQUAL(t, 0, silent);
}

/* Of 40 some 12.7 are silent: none once in 3 million seeds. */
static void a_donation_happens_in_its_slot_or_not_at_all(sotto_test *t)
{
    uint64_t silent;

    CHECK_EQUAL(t, 31, slots_of_many(t, DONATION("4", "1h"), 3600, 4, &silent));
    CHECK(t, silent > 0 && silent < 40);
}

static void a_slot_that_passed_is_not_made_up_for(sotto_test *t)
{
    uint64_t missed = 0;

    for (int i = 0; i < 12; i++) {
        start_at(t, SOTTO_TEST_CLOSES - 10); /* the last of them */
        offer(t, slotted(t, "50001", CHECK_IN("averaged", "4", "42h")));
        if (sotto_test_tick(&phone).made == 0) {
            CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_SLOT_MISSED);
            missed++;
        }
        sotto_test_phone_close(&phone);
    }
    CHECK(t, missed > 3);
}

static sotto_bytes moved(sotto_test *t, sotto_bytes text, const char *opens, const char *closes)
{
    text = sotto_test_replace(t, (const char *)text.data, "\"opens\": \"2026-11-20T00:00:00Z\"",
                              opens);
    return sotto_test_replace(t, (const char *)text.data, "\"closes\": \"2026-11-27T00:00:00Z\"",
                              closes);
}

/* Two rounds, each open for one slot of two. Whoever did not answer in the first though it was its slot stays silent in the
 * second, which is another recipe that the device never saw before. */
static void a_slot_missed_in_one_round_is_silence_in_the_next(sotto_test *t)
{
    static const char in[] = CHECK_IN("averaged", "2", "3d");
    uint64_t missed = 0, answered = 0;

    for (int i = 0; i < 24; i++) {
        start_at(t, SOTTO_TEST_OPENS);
        offer(t, moved(t, slotted(t, "r1", in), "\"opens\": \"2026-11-20T00:00:00Z\"",
                       "\"closes\": \"2026-11-23T00:00:00Z\""));
        const sotto_conditions offline = {true, true, false};
        CHECK_OK(t, sotto_device_tick(phone.device, NULL, offline, &t->err));
        phone.now = SOTTO_TEST_OPENS + 3 * 86400 - 1;
        const bool first = sotto_test_tick(&phone).made == 1;
        phone.now += 3600;
        offer(t, moved(t, slotted(t, "r2", in), "\"opens\": \"2026-11-23T00:00:00Z\"",
                       "\"closes\": \"2026-11-26T00:00:00Z\""));
        const bool second = sotto_test_tick(&phone).made == 1;
        CHECK(t, first != second); /* everybody checks in, once */
        sotto_test_phone_close(&phone);

        /* The same again by a device that slept through the first. */
        start_at(t, SOTTO_TEST_OPENS + 3 * 86400);
        offer(t, moved(t, slotted(t, "r2", in), "\"opens\": \"2026-11-23T00:00:00Z\"",
                       "\"closes\": \"2026-11-26T00:00:00Z\""));
        const bool made = sotto_test_tick(&phone).made == 1;
        answered += made;
        missed += !made && sotto_test_why(&phone, "r2") == SOTTO_WHY_SLOT_MISSED;
        sotto_test_phone_close(&phone);
    }
    CHECK_EQUAL(t, 24, missed + answered);
    CHECK(t,
          missed > 3 && answered > 3); /* fewer of either once in 6,000 seeds; this one is fixed */
}

static void an_analysis_draws_once_for_all_its_rounds(sotto_test *t)
{
    static const char in[] = CHECK_IN("averaged", "2", "84h");

    start_at(t, SOTTO_TEST_OPENS);
    offer(t, slotted(t, "50001", in));
    offer(t, slotted(t, "50002", in));
    CHECK(t, slot_of_answer(t, 302400, 2) < 2);
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, NULL, SOTTO_RECORD_DECIDED));
    CHECK_EQUAL(t, 1, sotto_test_charged(&phone));
    phone.now = SOTTO_TEST_OPENS + 1;
    CHECK(t, sotto_test_why(&phone, "50002") == SOTTO_WHY_ANALYSIS_DONE);
    sotto_test_phone_close(&phone);
}

/* Other slots, another law or a recipe that is drawn for by itself would be a second draw. */
static void a_draw_holds_for_its_slots_alone(sotto_test *t)
{
    static const char in[] = CHECK_IN("averaged", "2", "84h");
    static const char *const others[] = {
        CHECK_IN("averaged", "3", "84h"),
        CHECK_IN("averaged", "2", "42h"),
        CHECK_IN("fixed", "2", "84h"),
        DONATION("2", "84h"),
        "{\"type\": \"check-in\", \"variant\": \"averaged\", \"window\": 2, \"start\": "
        "\"2026-11-20T01:00:00Z\", \"slot\": \"84h\"}",
        "{\"type\": \"poisson\", \"rate\": 1}",
    };

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        start_at(t, SOTTO_TEST_OPENS);
        do { /* until its slot is the second */
            sotto_test_phone_close(&phone);
            start_at(t, SOTTO_TEST_OPENS);
            offer(t, slotted(t, "50001", in));
        } while (sotto_test_tick(&phone).made);
        CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_SLOT_TO_COME);
        offer(t, slotted(t, "50002", others[i]));
        CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
        CHECK(t, sotto_test_why(&phone, "50002") == SOTTO_WHY_POLICY);
        phone.now = SOTTO_TEST_OPENS + 302400;
        CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made); /* the one it drew for */
        CHECK(t, sotto_test_why(&phone, "50002") != SOTTO_WHY_ANSWERED);
        sotto_test_phone_close(&phone);
    }
}

/* A version that everybody draws for and nobody can pay for, and behind it the one that is meant, whose sample would be everybody.
 * The other recipe takes what the first version would need. */
static sotto_why why_after_another_version(sotto_test *t, const char *participation,
                                           const char *dummies)
{
    static const char sure[] = "{\"type\": \"poisson\", \"rate\": 1}";
    char second[128];

    sotto_test_phone_start(t, &phone,
                           (const char *)sotto_test_replace(t, sotto_test_generous_policy,
                                                            "\"epsilon\": 10000", "\"epsilon\": 40")
                               .data);
    phone.now = SOTTO_TEST_OPENS;
    offer(t, sotto_test_clear_recipe(t, "first", NULL, NULL));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    offer(t, sotto_test_sure_recipe(t, "50001", "\"epsilon\": 0.30", "\"epsilon\": 20"));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_BUDGET);
    (void)snprintf(second, sizeof second, "\"version\": 2, \"dummies\": %s", dummies);
    offer(t, sotto_test_replace(
                 t, (const char *)sotto_test_sure_recipe(t, "50001", sure, participation).data,
                 "\"version\": 1", second));
    (void)sotto_test_tick(&phone);
    const sotto_why why = sotto_test_why(&phone, "50001");
    sotto_test_phone_close(&phone);
    return why;
}

static void a_draw_holds_for_its_rate_alone(sotto_test *t)
{
    CHECK_EQUAL(t, SOTTO_WHY_ANSWERED,
                why_after_another_version(t, "{\"type\": \"poisson\", \"rate\": 1}", "0"));
    CHECK_EQUAL(t, SOTTO_WHY_POLICY,
                why_after_another_version(t, "{\"type\": \"poisson\", \"rate\": 0.1}", "0"));
}

/* Whoever drew without them sends none, and the number of reports would hide nobody. */
static void a_draw_holds_for_its_dummies_alone(sotto_test *t)
{
    CHECK_EQUAL(t, SOTTO_WHY_POLICY,
                why_after_another_version(t, "{\"type\": \"poisson\", \"rate\": 1}", "0.5"));
}

/* Servers add up all reports of a slot, and no theorem covers these. */
static void check_ins_without_a_theorem_are_refused(sotto_test *t)
{
    static const char *const refused[] = {
        CHECK_IN("sliding", "2", "84h"),
        "{\"type\": \"check-in\", \"variant\": \"fixed\", \"window\": 2, " START
        ", \"slot\": \"84h\", \"probability\": 0.5}",
    };

    for (size_t i = 0; i < 2; i++) {
        start_at(t, SOTTO_TEST_OPENS);
        CHECK_STATUS(t, SOTTO_DENIED,
                     sotto_device_offer(phone.device, slotted(t, "50001", refused[i]), &t->err));
        CHECK_REASON(t, "no theorem");
        CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_POLICY);
        sotto_test_phone_close(&phone);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_donation_is_the_first_head_of_its_coins),
        CASE(a_check_in_is_as_likely_in_every_slot),
        CASE(a_sliding_window_is_the_device_s_own),
        CASE(the_last_slot_of_all_is_still_to_come),
        CASE(a_check_in_happens_in_its_slot),
        CASE(a_donation_happens_in_its_slot_or_not_at_all),
        CASE(a_slot_that_passed_is_not_made_up_for),
        CASE(a_slot_missed_in_one_round_is_silence_in_the_next),
        CASE(an_analysis_draws_once_for_all_its_rounds),
        CASE(a_draw_holds_for_its_slots_alone),
        CASE(a_draw_holds_for_its_rate_alone),
        CASE(a_draw_holds_for_its_dummies_alone),
        CASE(check_ins_without_a_theorem_are_refused),
    };
    return RUN_TESTS(argc, argv, cases);
}
