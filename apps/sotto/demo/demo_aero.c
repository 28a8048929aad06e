/* sotto demo --trust aero: encrypted sums that devices check and a committee opens; then the same with a server that lies. */
#define _POSIX_C_SOURCE 200809L
#include "demo_aero.h"
#include "workdir.h"

#include "base/arena.h"
#include "base/clock.h"
#include "device/answer/measure.h"
#include "recipe/claim.h"
#include "recipe/encoding.h"
#include "sotto/random.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TRIES = 4 };

typedef demo_aero_scene scene;

static void say(const demo *d, const char *text)
{
    if (!d->quiet)
        (void)fprintf(stderr, "%s\n", text);
}

/* ---- the question ------------------------------------------------------------------------------------------------- */

static void write_recipe(demo *d, unsigned checks)
{
    char values[512], opens[32], closes[32];
    const time_t now = time(NULL);

    demo_write_time(opens, now - 3600);
    demo_write_time(closes, now + 3 * 3600);
    (void)snprintf(
        d->recipe_text, sizeof d->recipe_text,
        DEMO_QUESTION
        "  \"participation\": {\"type\": \"poisson\", \"rate\": 0.25},\n"
        "  \"privacy\": {\"adjacency\": \"replacement\", \"epsilon\": 4.0, \"delta\": 1e-6,\n"
        "              \"min_cohort\": %llu, \"by\": \"committee\", \"sigma\": 3},\n"
        "  \"aggregation\": {\"trust\": \"aero\", \"server\": \"key:aggregator\", \"log\": "
        "\"none\",\n"
        "                  \"beacon\": \"key:witnesses\", \"devices\": {\"least\": %llu, \"most\": "
        "%llu},\n"
        "                  \"corrupt\": 0.03, \"offline\": 0.2, \"parameters\": \"b87\", \"bits\": "
        "12,\n"
        "                  \"committee\": {\"size\": %d, \"corrupt\": %d, \"count\": 1},\n"
        "                  \"noise\": {\"size\": %d, \"corrupt\": %d, \"missing\": %d}, "
        "\"checks\": "
        "%u,\n"
        "                  \"proof\": {\"queries\": 118, \"grind\": 20, \"group\": 37}, \"rekey\": "
        "\"round\"},\n"
        "  \"schedule\": {\"opens\": \"%s\", \"closes\": \"%s\", \"precision\": \"1h\"},\n"
        "  \"population\": %llu, \"on_no_match\": \"no-value\"\n"
        "}\n",
        demo_values(values), (unsigned long long)(d->devices < 120 ? 10 : d->devices / 12),
        (unsigned long long)d->devices, (unsigned long long)d->devices, DEMO_AERO_COMMITTEE,
        DEMO_AERO_CORRUPT, DEMO_AERO_NOISE, DEMO_AERO_NOISE_CORRUPT, DEMO_AERO_NOISE_MISSING,
        checks, opens, closes, (unsigned long long)d->devices);
}

/* Small fleets need more checks of each leaf: so many that lint has nothing to say. */
static sotto_status read_recipe(scene *s, sotto_err *err)
{
    demo *d = s->d;
    sotto_mistakes *mistakes = sotto_arena_take(&d->arena, sizeof *mistakes);

    if (!mistakes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the demo");
    for (unsigned checks = 40; checks < 250; checks += 4) {
        write_recipe(d, checks);
        SOTTO_TRY(sotto_recipe_read(&d->recipe,
                                    sotto_bytes_of(d->recipe_text, strlen(d->recipe_text)),
                                    &d->arena, mistakes, err));
        SOTTO_TRY(sotto_encrypted_plan(&s->plan, d->recipe, err));
        if (s->plan.odds.missed <= SOTTO_AERO_ODDS)
            break;
    }
    SOTTO_TRY(sotto_recipe_lint(&d->claim, d->recipe, NULL, mistakes, err));
    SOTTO_TRY(sotto_recipe_content(&s->content, d->recipe, err));
    d->values = (size_t)s->content.values;
    d->truth.bins = sotto_arena_take_array(&d->arena, d->values, sizeof *d->truth.bins);
    s->bins = sotto_arena_take_array(&d->arena, (size_t)d->devices, sizeof *s->bins);
    s->vectors = sotto_arena_take_array(&d->arena, (size_t)d->devices, sizeof *s->vectors);
    s->reported = sotto_arena_take(&d->arena, (size_t)d->devices);
    return d->truth.bins && s->bins && s->vectors && s->reported
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_NO_MEMORY, "the demo");
}

/* ---- who ------------------------------------------------------------------------------------------------------------ */

static sotto_status draw_people(scene *s, sotto_err *err)
{
    demo *d = s->d;
    sotto_entropy entropy;
    sotto_status status = SOTTO_OK;

    sotto_entropy_system(&entropy);
    for (size_t i = 0; i < d->devices && status == SOTTO_OK; i++) {
        size_t choice = 0;
        sotto_measurement values;
        sotto_bytes bits;
        uint8_t draw = 0;

        status = sotto_random_bytes(&draw, 1, err);
        while (choice + 1 < DEMO_CHOICES && draw > demo_town[choice])
            choice++;
        const sotto_datum cell = {
            .type = SOTTO_DATUM_TEXT,
            .text = sotto_bytes_of(demo_choices[choice], strlen(demo_choices[choice]))};
        s->bins[i] = sotto_encoding_bin_vartime(&d->recipe->encoding, &cell);
        if (status == SOTTO_OK)
            status =
                sotto_measure(&values, &bits, &s->content, s->bins[i], &entropy, &d->arena, err);
        if (status == SOTTO_OK)
            s->vectors[i] = values.values;
    }
    sotto_entropy_clear(&entropy);
    return status;
}

/* ---- rounds ------------------------------------------------------------------------------------------------------------ */

/* A round that opened nothing had too few contributors, by chance, or this machine was busy: the next one has more time. */
static sotto_status play(scene *s, sotto_err *err)
{
    bool released = false;

    s->patience = demo_business();
    for (unsigned i = 0; i < TRIES && !released; i++) {
        if (i > 0)
            say(s->d, "Nothing was opened; the next round has twice the time ...");
        s->patience *= i > 0 ? 2 : 1;
        SOTTO_TRY(demo_aero_play(s, s->patience, &released, err));
    }
    return released ? SOTTO_OK : sotto_fail(err, SOTTO_DENIED, "no round could be finished");
}

/* A round without a complaint that opened nothing had too few contributors to lie about. */
static sotto_status play_liar(scene *s, bool *released, sotto_err *err)
{
    s->lies = true;
    for (unsigned i = 0; i < TRIES; i++) {
        s->patience *= i > 0 ? 2 : 1;
        SOTTO_TRY(demo_aero_play(s, s->patience, released, err));
        if (*released || s->board.complaints)
            break;
    }
    return SOTTO_OK;
}

static sotto_status collect(scene *s, sotto_err *err)
{
    const demo_aggregator_round round = {.id = s->id,
                                         .entries = s->content.entries,
                                         .width = 8,
                                         .bins = s->bins,
                                         .reported = s->reported,
                                         .count = s->fleet.count};

    return demo_aggregator_collect(s->d, &s->server, s->fleet.client, &round, &s->scratch, err);
}

/* ---- what is printed ---------------------------------------------------------------------------------------------------- */

static void add_cause(sotto_stated_encryption *e, const char *cause, uint64_t devices)
{
    if (devices == 0)
        return;
    e->dropped[e->dropped_count].cause = cause;
    e->dropped[e->dropped_count++].devices = devices;
}

static void print_lie(const scene *s, bool released)
{
    (void)printf(
        "\nA server that lies\n\nIn a second round the aggregator's operator put the answer of "
        "device %u in the place of that of device %u, in its database. It signed everything else "
        "as it should be, and had complaints dropped before they reached it: %u of them.\n",
        s->lie.copied, s->lie.victim, s->kept_off);
    if (!released && s->board.complaints)
        (void)printf("Caught: device %u looked at that leaf. The witness held its complaint, and "
                     "cosigned nothing before it was on the board: it is entry %llu there, and "
                     "anybody can check it alone. No member of the committee signed, and nothing "
                     "was opened.\n",
                     s->board.first, (unsigned long long)s->board.last[SOTTO_AERO_COMPLAINT] - 1);
    else
        (void)printf("Not caught.\n");
    (void)printf("\nAggregator and witness were processes of their own. Devices read boards that "
                 "the witness had cosigned, and no others; "
                 "they made %llu requests, and read\n%llu MB. One process played all devices and "
                 "the witnesses of the beacon: in this demo you "
                 "trust that process. It verified each proof once, %llu\nin the last round, for "
                 "%llu looks. No device paid from its ledger "
                 "(docs/protocols/aero.md).\n",
                 (unsigned long long)s->fleet.requests,
                 (unsigned long long)(s->fleet.received >> 20),
                 (unsigned long long)s->known.verified,
                 (unsigned long long)s->known.verified + s->known.looked_up);
}

static sotto_status show(scene *s, const sotto_stated_encryption *round, bool *right,
                         sotto_err *err)
{
    static sotto_receipt receipt;
    demo *d = s->d;

    sotto_receipt_of(&receipt, d->recipe, &d->task, &d->claim, &d->collection, &d->result);
    memcpy(receipt.encryption.dropped, round->dropped, sizeof round->dropped);
    memcpy(receipt.encryption.entries, round->entries, sizeof round->entries);
    receipt.encryption.dropped_count = round->dropped_count;
    receipt.encryption.entry_count = round->entry_count;
    return demo_show_answer(d, &receipt, NULL, right, err);
}

static sotto_status run(scene *s, bool *right, sotto_err *err)
{
    static sotto_stated_encryption round;
    demo *d = s->d;
    bool released = false;

    SOTTO_TRY(read_recipe(s, err));
    SOTTO_TRY(sotto_workdir_make(d->folder, "demo", err));
    say(d, "A witness and an aggregator start: one server, which will see ciphertexts and keep a "
           "board ...");
    SOTTO_TRY(demo_aero_open(s, err));
    SOTTO_TRY(draw_people(s, err));
    say(d, "Witnesses draw the beacon. A committee makes a key; devices encrypt, prove and check; "
           "the committee opens. This takes minutes ...");
    SOTTO_TRY(play(s, err));
    SOTTO_TRY(collect(s, err));
    add_cause(&round, "contributors that were switched off", s->off_drawn);
    add_cause(&round, "noise member that was switched off", 1);
    add_cause(&round, "member of the committee that was switched off", 1);
    demo_board_entries(&round, &s->board);
    say(d, "A second round, with a server that lies ...");
    SOTTO_TRY(play_liar(s, &released, err));
    SOTTO_TRY(show(s, &round, right, err));
    if (!d->json)
        print_lie(s, released);
    *right = *right && !released && s->board.complaints > 0;
    return SOTTO_OK;
}

sotto_status demo_aero(demo *d, bool *right, sotto_err *err)
{
    static scene s; /* too large for a stack */

    s.d = d;
    sotto_arena_init(&s.memory, (size_t)1 << 30);
    sotto_arena_init(&s.scratch, (size_t)256 << 20);
    const sotto_status status = run(&s, right, err);
    demo_aero_close(&s);
    sotto_arena_clear(&s.scratch);
    sotto_arena_clear(&s.memory);
    return status;
}
