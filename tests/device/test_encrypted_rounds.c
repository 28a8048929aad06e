/* A device with a ledger in rounds of encrypted sums: what it pays, what allows it, and what it refuses. The beacon draws two hundred. */
#define _POSIX_C_SOURCE 200809L
#include "support/epoch.h"
#include "support/recipes.h"

#include "base/arena.h"
#include "recipe/calendar.h"
#include "recipe/encrypted.h"
#include "sotto/rounds.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { DEVICES = 200, WITNESSES = 4 };

static const uint8_t secret[SOTTO_ROUNDS_SECRET] = {42};

typedef struct scene {
    sotto_device *device;
    sotto_rounds *rounds;
    sotto_bytes policy, text;
    const sotto_recipe *recipe;
    sotto_encrypted plan;
    sotto_epoch epoch;
    unsigned sent; /* requests */
} scene;

static sotto_status carry(void *context, sotto_exchange *exchange)
{
    scene *s = context;

    (void)exchange;
    s->sent++;
    return SOTTO_IO;
}

/* ---- set-up ----------------------------------------------------------------------------------------------------- */

static sotto_bytes recipe_text(sotto_test *t)
{
    enum { SIZE = 2400, DAY = 86400 };
    char *out = sotto_arena_take(&t->arena, SIZE), opens[SOTTO_CALENDAR_TEXT],
         closes[SOTTO_CALENDAR_TEXT];
    const int64_t today = (int64_t)time(NULL) / DAY * DAY;

    CHECK(t, out);
    sotto_calendar_format_time(opens, today - DAY);
    sotto_calendar_format_time(closes, today + 3 * DAY);
    const int len = snprintf(
        out, SIZE,
        "{\"recipe\": \"launches\", \"version\": 1, \"analysis\": \"com.example.launch\",\n"
        " \"query\": \"SELECT ms FROM launches\", \"pick\": \"one-at-random\",\n"
        " \"encode\": {\"ms\": {\"type\": \"buckets\", \"boundaries\": [100, 200, 400],\n"
        "   \"underflow\": \"bucket\", \"overflow\": \"bucket\"}, \"combine\": [\"ms\"]},\n"
        " \"participation\": {\"type\": \"poisson\", \"rate\": 0.25},\n"
        " \"privacy\": {\"adjacency\": \"replacement\", \"epsilon\": 4.0, \"delta\": 1e-6,\n"
        "   \"min_cohort\": 16, \"by\": \"committee\", \"sigma\": 3},\n"
        " \"aggregation\": {\"trust\": \"aero\", \"server\": \"key:aggregator\", \"log\": "
        "\"none\",\n"
        "   \"beacon\": \"key:witnesses\", \"devices\": {\"least\": %d, \"most\": %d},\n"
        "   \"corrupt\": 0.03, \"offline\": 0.2, \"parameters\": \"b87\", \"bits\": 12,\n"
        "   \"committee\": {\"size\": 15, \"corrupt\": 8, \"count\": 1},\n"
        "   \"noise\": {\"size\": 16, \"corrupt\": 8, \"missing\": 2}, \"checks\": 60,\n"
        "   \"proof\": {\"queries\": 118, \"grind\": 20, \"group\": 37}, \"rekey\": \"round\"},\n"
        " \"schedule\": {\"opens\": \"%s\", \"closes\": \"%s\", \"precision\": \"1h\"},\n"
        " \"population\": %d, \"on_no_match\": \"no-value\"}\n",
        DEVICES, DEVICES, opens, closes, DEVICES);

    CHECK(t, len > 0 && len < SIZE);
    return sotto_bytes_of(out, (size_t)len);
}

static sotto_bytes policy_text(sotto_test *t, const char *duties)
{
    enum { SIZE = 1000 };
    char *out = sotto_arena_take(&t->arena, SIZE);
    const int len =
        snprintf(out, SIZE,
                 "{\"policy\": \"test\", \"version\": 1,\n"
                 " \"analyses\": {\"com.example.launch\": {\"epsilon\": 9.0, \"delta\": 1e-5,\n"
                 "   \"reports\": 9, \"fields\": [\"launches.ms\"]}},\n"
                 " \"fields\": {\"launches.ms\": {\"epsilon_local\": \"none\", \"by\": "
                 "[\"committee\"],\n"
                 "   \"epsilon\": 9.0, \"delta\": 1e-5, \"reports\": 9}},\n"
                 " \"min_cohort\": 10, \"honest\": 0.75, \"trusts\": [\"aero\"], \"duties\": %s}\n",
                 duties);

    CHECK(t, len > 0 && len < SIZE);
    return sotto_bytes_of(out, (size_t)len);
}

/* Place 0 is this device's; nobody looks at what the others are. */
static void make_registry(sotto_test *t, scene *s)
{
    uint8_t(*keys)[32] = sotto_arena_take_array(&t->arena, DEVICES, sizeof *keys);
    uint8_t(*pair)[32] = sotto_arena_take_array(&t->arena, DEVICES, sizeof *pair);
    uint8_t(*channel)[32] = sotto_arena_take_array(&t->arena, DEVICES, sizeof *channel);
    sotto_rounds_public mine;

    CHECK(t, keys && pair && channel);
    sotto_rounds_keys(s->rounds, &mine);
    for (size_t i = 0; i < DEVICES; i++) {
        keys[i][0] = pair[i][1] = channel[i][2] = (uint8_t)i;
        keys[i][31] = 1;
    }
    memcpy(keys[0], mine.sign, 32);
    memcpy(pair[0], mine.pair, 32);
    memcpy(channel[0], mine.channel, 32);
    s->epoch.registry = (sotto_registry){.server = {5},
                                         .keys = (const uint8_t(*)[32])keys,
                                         .pair = (const uint8_t(*)[32])pair,
                                         .channel = (const uint8_t(*)[32])channel,
                                         .count = DEVICES};
}

static void open_scene(sotto_test *t, scene *s, const char *duties)
{
    static const sotto_field field = {"ms", SOTTO_TYPE_INTEGER};
    static const sotto_stream stream = {"launches", &field, 1, 30 * 86400, 100};
    const sotto_value value = {SOTTO_TYPE_INTEGER, {.integer = 150}};
    const sotto_event event = {"launches", {1}, (int64_t)time(NULL), &value, 1};
    sotto_mistakes *mistakes = sotto_arena_take(&t->arena, sizeof *mistakes);
    uint8_t root[32];

    memset(s, 0, sizeof *s);
    s->policy = policy_text(t, duties);
    s->text = recipe_text(t);
    CHECK(t, mistakes);
    CHECK_OK(t, sotto_recipe_read(&s->recipe, s->text, &t->arena, mistakes, &t->err));
    CHECK_OK(t, sotto_encrypted_plan(&s->plan, s->recipe, &t->err));
    const sotto_device_options options = {.streams = &stream,
                                          .stream_count = 1,
                                          .policy = s->policy,
                                          .parties = {(const uint8_t *)"{}", 2},
                                          .host = {.exchange = carry, .context = s}};
    CHECK_OK(t, sotto_device_open(&s->device, &options, &t->err));
    CHECK_OK(t, sotto_device_consent(s->device, true, &t->err));
    CHECK_OK(t, sotto_device_offer(s->device, s->text, &t->err));
    CHECK_OK(t, sotto_device_donate(s->device, &event, 1, NULL, &t->err));
    CHECK_OK(t, sotto_epoch_witnesses(&s->epoch, WITNESSES, &t->arena, &t->err));
    const sotto_rounds_options rounds = {.size = sizeof rounds,
                                         .secret = secret,
                                         .policy = s->policy,
                                         .witnesses = s->epoch.witnesses.verify[0],
                                         .witness_count = WITNESSES,
                                         .server = "http://127.0.0.1:1/"};
    CHECK_OK(t, sotto_rounds_open(&s->rounds, s->device, &rounds, &t->err));
    CHECK_OK(t, sotto_rounds_consent(s->rounds, true, &t->err));
    make_registry(t, s);
    sotto_encrypted_session(s->epoch.session, s->recipe);
    sotto_registry_root(&s->epoch.registry, root);
    sotto_rounds_expect(s->rounds, root, 0);
}

static void close_scene(scene *s)
{
    sotto_rounds_close(s->rounds);
    sotto_device_close(s->device);
}

/* A round of this number, under the beacon of that epoch. */
static sotto_bytes posting_of(sotto_test *t, scene *s, uint64_t number, uint64_t epoch, bool *drawn)
{
    const uint64_t now = ((uint64_t)time(NULL) - 1) * 1000;
    uint8_t bytes[SOTTO_ROUND_MOST_BYTES], parameters[SOTTO_AERO_TERMS_HANDED];
    sotto_buf wire, round = sotto_buf_over(bytes, sizeof bytes);

    s->epoch.number = epoch;
    CHECK_OK(t, sotto_epoch_beacon(&s->epoch, &t->arena, &t->err));
    sotto_round r = {.epoch = epoch,
                     .number = number,
                     .registered = DEVICES,
                     .opens = now,
                     .commit_by = now + 600000,
                     .closes = now + 900000,
                     .verify_by = now + 1200000,
                     .release_by = now + 1500000,
                     .keys = &s->epoch.registry};
    memcpy(r.session, s->epoch.session, sizeof r.session);
    memcpy(r.beacon, s->epoch.beacon, sizeof r.beacon);
    sotto_registry_root(&s->epoch.registry, r.registry);
    CHECK_OK(t, sotto_encrypted_round(&r, parameters, &s->plan, s->recipe, &t->err));
    CHECK_OK(t, sotto_round_encode(&round, &r, &t->err));
    const sotto_posting p = {.registry = s->epoch.registry,
                             .part_count = s->epoch.part_count,
                             .parts = s->epoch.parts,
                             .round = sotto_buf_bytes(&round)};
    CHECK_OK(t, sotto_buf_take(&wire, &t->arena, 1 << 16, &t->err));
    CHECK_OK(t, sotto_posting_encode(&wire, &p, &t->err));
    *drawn = sotto_method_aero.contributes(&r, 0);
    return sotto_buf_bytes(&wire);
}

static sotto_status sum_up(void *context, const sotto_record_line *line, sotto_err *err)
{
    (void)err;
    if (line->kind == SOTTO_RECORD_SPENT)
        *(double *)context += line->epsilon;
    return SOTTO_OK;
}

static double spent(sotto_test *t, scene *s)
{
    double epsilon = 0;

    CHECK_OK(t, sotto_device_record(s->device, NULL, 0, sum_up, &epsilon, &t->err));
    return epsilon;
}

#define ALL "[\"contributor\", \"verifier\", \"committee\", \"noise\"]"

/* ---- what it does ------------------------------------------------------------------------------------------------ */

/* The budget of the session pays for a round of a low number alone: the beacon is drawn anew until one of those has this device. A beacon
 * has it with chance 1/4, so 200 in a row miss it with a chance of 10^-25. */
static sotto_bytes first_round(sotto_test *t, scene *s, bool wanted)
{
    bool drawn = !wanted;
    sotto_bytes posting = {NULL, 0};

    for (unsigned i = 0; drawn != wanted && i < 200; i++) {
        if (i) {
            close_scene(s);
            open_scene(t, s, ALL);
        }
        posting = posting_of(t, s, 1, 1, &drawn);
    }
    CHECK(t, drawn == wanted);
    return posting;
}

static void a_contribution_is_paid_for_once(sotto_test *t)
{
    sotto_explanation why;
    unsigned parts;
    uint64_t next;
    scene s;

    open_scene(t, &s, ALL);
    const sotto_bytes posting = first_round(t, &s, true);
    CHECK_OK(t, sotto_rounds_take(s.rounds, &parts, &why, posting, &t->err));
    CHECK_EQUAL(t, SOTTO_ROUNDS_CLIENT | SOTTO_ROUNDS_VERIFIER,
                parts & ~(unsigned)SOTTO_ROUNDS_DECRYPTOR);
    CHECK_EQUAL(t, SOTTO_WHY_TRANSPORT, why.why);
    CHECK_NEAR(t, 4.0, spent(t, &s), 1e-9);
    /* The key is not there yet: nothing of the vector leaves. It is paid for, and not again. */
    (void)!sotto_rounds_tick(s.rounds, (uint64_t)time(NULL) * 1000, &next, &t->err);
    CHECK_OK(t, sotto_rounds_take(s.rounds, &parts, &why, posting, &t->err));
    CHECK_EQUAL(t, 0, parts & SOTTO_ROUNDS_CLIENT);
    CHECK_EQUAL(t, SOTTO_WHY_TRANSPORT, why.why);
    CHECK_NEAR(t, 4.0, spent(t, &s), 1e-9);
    close_scene(&s);
}

/* Nothing of a board in the whole round, from a server or its witnesses: the person is told so. */
static void a_round_without_a_board_is_left_for_that(sotto_test *t)
{
    sotto_explanation why;
    unsigned parts;
    uint64_t next;
    scene s;

    open_scene(t, &s, ALL);
    const sotto_bytes posting = first_round(t, &s, true);
    CHECK_OK(t, sotto_rounds_take(s.rounds, &parts, &why, posting, &t->err));
    CHECK_OK(t, sotto_rounds_tick(s.rounds, ((uint64_t)time(NULL) + 1600) * 1000, &next, &t->err));
    CHECK_OK(t, sotto_device_why(s.device, &why, "launches#1", &t->err));
    CHECK_EQUAL(t, SOTTO_WHY_GIVEN_UP, why.why);
    CHECK(t, strstr(why.sentence, "no board was shown") != NULL);
    close_scene(&s);
}

static void who_joined_without_an_answer_pays_for_none(sotto_test *t)
{
    sotto_explanation why;
    unsigned parts;
    scene s;

    open_scene(t, &s, ALL);
    const sotto_bytes posting = first_round(t, &s, true);
    CHECK_OK(t, sotto_device_consent(s.device, false, &t->err));
    CHECK_OK(t, sotto_rounds_take(s.rounds, &parts, &why, posting, &t->err));
    CHECK_EQUAL(t, SOTTO_ROUNDS_VERIFIER, parts & ~(unsigned)SOTTO_ROUNDS_DECRYPTOR);
    CHECK_EQUAL(t, SOTTO_WHY_NO_CONSENT, why.why);
    /* Its place in the journal is taken: an answer would cost its budget, and go nowhere. */
    CHECK_OK(t, sotto_device_consent(s.device, true, &t->err));
    CHECK_OK(t, sotto_device_offer(s.device, s.text, &t->err));
    CHECK_OK(t, sotto_rounds_take(s.rounds, &parts, &why, posting, &t->err));
    CHECK_EQUAL(t, 0, parts);
    CHECK_EQUAL(t, SOTTO_WHY_SLOT_MISSED, why.why);
    CHECK_NEAR(t, 0, spent(t, &s), 1e-9);
    close_scene(&s);
}

static void who_is_not_drawn_checks_and_pays_nothing(sotto_test *t)
{
    sotto_explanation why;
    unsigned parts;
    scene s;

    open_scene(t, &s, ALL);
    const sotto_bytes posting = first_round(t, &s, false);
    CHECK_OK(t, sotto_rounds_take(s.rounds, &parts, &why, posting, &t->err));
    CHECK_EQUAL(t, SOTTO_ROUNDS_VERIFIER, parts & ~(unsigned)SOTTO_ROUNDS_DECRYPTOR);
    CHECK_EQUAL(t, SOTTO_WHY_NOT_SAMPLED, why.why);
    CHECK_NEAR(t, 0, spent(t, &s), 1e-9);
    close_scene(&s);
}

static void who_may_only_check_pays_nothing(sotto_test *t)
{
    sotto_explanation why;
    bool drawn = false;
    sotto_bytes posting = {NULL, 0};
    unsigned parts;
    scene s;

    for (unsigned i = 0; !drawn && i < 200; i++) {
        if (i)
            close_scene(&s);
        open_scene(t, &s, "[\"verifier\"]");
        posting = posting_of(t, &s, 1, 1, &drawn);
    }
    CHECK(t, drawn);
    CHECK_OK(t, sotto_rounds_take(s.rounds, &parts, &why, posting, &t->err));
    CHECK_EQUAL(t, SOTTO_ROUNDS_VERIFIER, parts);
    CHECK_EQUAL(t, SOTTO_WHY_POLICY, why.why);
    CHECK_NEAR(t, 0, spent(t, &s), 1e-9);
    close_scene(&s);
}

/* ---- what it refuses ------------------------------------------------------------------------------------------------- */

static void a_round_of_another_session_is_refused(sotto_test *t)
{
    sotto_explanation why;
    bool drawn;
    scene s;

    open_scene(t, &s, ALL);
    s.epoch.session[0] ^= 1;
    const sotto_bytes posting = posting_of(t, &s, 1, 1, &drawn);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_rounds_take(s.rounds, NULL, &why, posting, &t->err));
    CHECK_NEAR(t, 0, spent(t, &s), 1e-9);
    close_scene(&s);
}

static void a_number_has_a_beacon_of_its_own(sotto_test *t)
{
    sotto_explanation why;
    bool drawn;
    scene s;

    open_scene(t, &s, ALL);
    /* The same number under the next beacon has another committee, whose members vowed nothing. */
    const sotto_bytes posting = posting_of(t, &s, 1, 2, &drawn);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_rounds_take(s.rounds, NULL, &why, posting, &t->err));
    close_scene(&s);
}

static void a_number_beyond_the_budget_is_refused(sotto_test *t)
{
    sotto_explanation why;
    bool drawn;
    scene s;

    open_scene(t, &s, ALL);
    /* Those before it have spent it, by their numbers. */
    const sotto_bytes posting = posting_of(t, &s, 9, 9, &drawn);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_rounds_take(s.rounds, NULL, &why, posting, &t->err));
    CHECK_NEAR(t, 0, spent(t, &s), 1e-9);
    close_scene(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_contribution_is_paid_for_once),
        CASE(a_round_without_a_board_is_left_for_that),
        CASE(who_joined_without_an_answer_pays_for_none),
        CASE(who_is_not_drawn_checks_and_pays_nothing),
        CASE(who_may_only_check_pays_nothing),
        CASE(a_round_of_another_session_is_refused),
        CASE(a_number_has_a_beacon_of_its_own),
        CASE(a_number_beyond_the_budget_is_refused),
    };
    return RUN_TESTS(argc, argv, cases);
}
