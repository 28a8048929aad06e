/* sotto demo --trust flamingo: one server, devices that mask for each other, and a committee of them that unmasks the sum. */
#define _POSIX_C_SOURCE 200809L
#include "demo_witnesses.h"
#include "workdir.h"

#include "base/arena.h"
#include "base/clock.h"
#include "device/answer/measure.h"
#include "recipe/claim.h"
#include "recipe/content.h"
#include "recipe/encoding.h"
#include "recipe/one_server.h"
#include "sotto/random.h"
#include "support/fleet.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    COMMITTEE = 10,
    NEIGHBOURS = 10, /* that must stay */
    DEGREE = 40,
    DROP_EACH = 12, /* every twelfth device is switched off before it reports */
    TRIES = 4,
    PAUSE_MS = 100,
    STEP_MS = 20000, /* of the key generation: how long the last member is waited for */
    KEY_MS = 10 * 60 * 1000
};

/* What this way needs beside the demo's own. */
typedef struct scene {
    demo *d;
    sotto_fleet fleet;
    demo_aggregator server;
    demo_witnesses witnesses;
    sotto_report_content content;
    uint64_t *bins; /* of each device */
    uint64_t number, window_ms;
    sotto_bytes posting;
    uint8_t id[SOTTO_ROUND_ID];
    sotto_arena scratch; /* of one answer */
    uint64_t killed;     /* decryptors */
    uint8_t *reported;   /* by device */
} scene;

static uint64_t now_ms(void)
{
    return sotto_clock_wall(&sotto_clock_system) / 1000000;
}

static void say(const demo *d, const char *text)
{
    if (!d->quiet)
        (void)fprintf(stderr, "%s\n", text);
}

/* ---- the recipe -------------------------------------------------------------------------------------------------- */

/* The demo's question, with noise in shares: nothing else protects where one server adds up. */
static void write_recipe(demo *d)
{
    char values[512], opens[32], closes[32];
    const time_t now = time(NULL);

    demo_write_time(opens, now - 3600);
    demo_write_time(closes, now + 3 * 3600);
    (void)snprintf(
        d->recipe_text, sizeof d->recipe_text,
        DEMO_QUESTION
        "  \"participation\": {\"type\": \"poisson\", \"rate\": 1},\n"
        "  \"privacy\": {\"adjacency\": \"replacement\", \"epsilon\": 2.0, \"delta\": 1e-6,\n"
        "              \"min_cohort\": %llu, \"by\": \"shares\", \"sigma\": 6, \"honest\": 0.75},\n"
        "  \"aggregation\": {\"trust\": \"flamingo\", \"server\": \"key:aggregator\", \"log\": "
        "\"none\",\n"
        "                  \"beacon\": \"key:witnesses\", \"ring\": \"z32\", \"corrupt\": 0.05, "
        "\"cohort\": %llu, \"dropout\": 0.2,\n"
        "                  \"decryptors\": {\"count\": %d, \"dropout\": 0.1, \"epoch_rounds\": "
        "10},\n"
        "                  \"graph\": {\"degree\": %d, \"neighbours\": %d}, \"prg\": "
        "\"aes-128-ctr\"},\n"
        "  \"schedule\": {\"opens\": \"%s\", \"closes\": \"%s\", \"precision\": \"1h\"},\n"
        "  \"population\": %llu, \"on_no_match\": \"no-value\"\n"
        "}\n",
        demo_values(values), (unsigned long long)(d->devices * 4 / 5),
        (unsigned long long)d->devices, COMMITTEE, DEGREE, NEIGHBOURS, opens, closes,
        (unsigned long long)d->devices);
}

static sotto_status read_recipe(scene *s, sotto_err *err)
{
    demo *d = s->d;
    sotto_mistakes *mistakes = sotto_arena_take(&d->arena, sizeof *mistakes);

    if (!mistakes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the demo");
    write_recipe(d);
    SOTTO_TRY(sotto_recipe_read(&d->recipe, sotto_bytes_of(d->recipe_text, strlen(d->recipe_text)),
                                &d->arena, mistakes, err));
    SOTTO_TRY(sotto_recipe_lint(&d->claim, d->recipe, NULL, mistakes, err));
    /* The receipt counts on those that the noise was sized for. */
    SOTTO_TRY(sotto_recipe_claim_compute(&d->claim, d->recipe, d->recipe->honest, err));
    SOTTO_TRY(sotto_recipe_content(&s->content, d->recipe, err));
    d->values = (size_t)s->content.values;
    d->truth.bins = sotto_arena_take_array(&d->arena, d->values, sizeof *d->truth.bins);
    s->bins = sotto_arena_take_array(&d->arena, (size_t)d->devices, sizeof *s->bins);
    s->reported = sotto_arena_take(&d->arena, (size_t)d->devices);
    return d->truth.bins && s->bins && s->reported ? SOTTO_OK
                                                   : sotto_fail(err, SOTTO_NO_MEMORY, "the demo");
}

/* ---- a posted round -------------------------------------------------------------------------------------------------- */

static sotto_status post(scene *s, sotto_err *err)
{
    const uint64_t now = now_ms();
    sotto_epoch_round round = {.number = ++s->number,
                               .ring = SOTTO_RING_Z32,
                               .length = s->content.entries,
                               .most = s->content.max,
                               .least = s->d->recipe->min_cohort,
                               .neighbours = NEIGHBOURS,
                               .edge = sotto_one_server_edge(DEGREE, s->d->devices),
                               .opens = now,
                               .closes = now + s->window_ms,
                               .verify_by = now + 2 * s->window_ms,
                               .release_by = now + 6 * s->window_ms};

    memcpy(round.recipe, s->d->recipe->hash, sizeof round.recipe);
    SOTTO_TRY(sotto_epoch_post(&s->fleet.epoch, &round, &s->posting, s->id, &s->d->arena, err));
    sotto_arena_reset(&s->scratch);
    return demo_aggregator_post(&s->server, s->fleet.client, s->posting, &s->scratch, err);
}

/* ---- devices ------------------------------------------------------------------------------------------------------- */

static bool drops(const scene *s, uint32_t device)
{
    for (uint32_t i = 0; i < s->fleet.epoch.record.count; i++)
        if (s->fleet.epoch.record.members[i] == device)
            return false; /* the committee's losses are told apart */
    return device % DROP_EACH == DROP_EACH - 1;
}

static sotto_status draw_people(scene *s, sotto_err *err)
{
    for (uint32_t i = 0; i < s->fleet.count; i++) {
        size_t choice = 0;
        uint8_t draw;

        SOTTO_TRY(sotto_random_bytes(&draw, 1, err));
        while (choice + 1 < DEMO_CHOICES && draw > demo_town[choice])
            choice++;
        const sotto_datum cell = {
            .type = SOTTO_DATUM_TEXT,
            .text = sotto_bytes_of(demo_choices[choice], strlen(demo_choices[choice]))};
        s->bins[i] = sotto_encoding_bin_vartime(&s->d->recipe->encoding, &cell);
    }
    return SOTTO_OK;
}

/* A device's answer with its part of the noise; drawn anew in each round. */
static sotto_status answer(scene *s, uint32_t device, sotto_entropy *entropy, sotto_err *err)
{
    sotto_measurement values;
    sotto_bytes bits;

    sotto_arena_reset(&s->scratch);
    SOTTO_TRY(
        sotto_measure(&values, &bits, &s->content, s->bins[device], entropy, &s->scratch, err));
    return sotto_duties_take(s->fleet.devices[device].duties, s->posting, device, SOTTO_DUTY_CLIENT,
                             values.values, values.count, err);
}

static sotto_status take_duties(scene *s, sotto_err *err)
{
    const sotto_decryptors_record *r = &s->fleet.epoch.record;
    sotto_status status = SOTTO_OK;
    sotto_entropy entropy;

    sotto_entropy_system(&entropy);
    for (uint32_t i = 0; i < s->fleet.count && status == SOTTO_OK; i++) {
        if (drops(s, i) || !s->fleet.devices[i].duties)
            continue;
        status = answer(s, i, &entropy, err);
        s->fleet.devices[i].next_ms = 0;
    }
    for (uint32_t i = 0; i < r->count && status == SOTTO_OK; i++)
        if (s->fleet.devices[r->members[i]].duties)
            status = sotto_duties_take(s->fleet.devices[r->members[i]].duties, s->posting,
                                       r->members[i], SOTTO_DUTY_DECRYPTOR, NULL, 0, err);
    sotto_entropy_clear(&entropy);
    return status;
}

/* ---- the committee's key ------------------------------------------------------------------------------------------- */

static void pause_ms(unsigned ms)
{
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    (void)nanosleep(&t, NULL);
}

/* Members deal, complain, agree, reveal and sign on the aggregator's board; nobody ever has the key. */
static sotto_status make_committee(scene *s, sotto_err *err)
{
    const uint64_t now = now_ms(), until = now + KEY_MS;
    const sotto_fleet_call wanted = {.members = COMMITTEE,
                                     .step_ms = STEP_MS,
                                     .now = now,
                                     .ends = until,
                                     .token = s->server.token};
    sotto_status status = SOTTO_AGAIN;
    sotto_bytes call;
    uint64_t next;

    SOTTO_TRY(sotto_fleet_call_keygen(&s->fleet, &wanted, &call, err));
    while (status == SOTTO_AGAIN) {
        if (demo_interrupted() || now_ms() >= until)
            return sotto_fail(err, SOTTO_AGAIN, "the committee made no key");
        (void)!sotto_fleet_tick(&s->fleet, now_ms(), &next, NULL);
        status = sotto_fleet_read_key(&s->fleet, call, NULL);
        if (status == SOTTO_AGAIN)
            pause_ms(PAUSE_MS);
    }
    return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "the committee's board");
}

/* ---- a round --------------------------------------------------------------------------------------------------------- */

/* Until the round is over. One decryptor is killed once its device has reported. */
static sotto_status play(scene *s, bool *released, sotto_err *err)
{
    const uint32_t victim = s->fleet.epoch.record.members[0];
    uint64_t next;

    for (;;) {
        if (demo_interrupted())
            return sotto_fail(err, SOTTO_AGAIN, "interrupted");
        (void)!sotto_fleet_tick(&s->fleet, now_ms(), &next, NULL);
        if (s->fleet.devices[victim].duties) {
            sotto_fleet_kill(&s->fleet, victim);
            s->killed++;
        }
        sotto_arena_reset(&s->scratch);
        const sotto_status status =
            demo_aggregator_result(&s->server, s->fleet.client, s->id, released, s->reported,
                                   s->d->devices, &s->scratch, err);
        if (status != SOTTO_AGAIN)
            return status;
        pause_ms(PAUSE_MS);
    }
}

/* A round that could not be finished is burnt: everybody answers again under the next number, with more time. */
static sotto_status run_rounds(scene *s, sotto_err *err)
{
    bool released = false;

    for (unsigned i = 0; i < TRIES && !released; i++) {
        s->window_ms = (4000 + 30 * s->d->devices) << i;
        SOTTO_TRY(post(s, err));
        SOTTO_TRY(take_duties(s, err));
        SOTTO_TRY(play(s, &released, err));
        if (!released)
            say(s->d, "The round is burnt; the next one has twice the time ...");
    }
    return released ? SOTTO_OK : sotto_fail(err, SOTTO_DENIED, "no round could be finished");
}

/* ---- the answer ------------------------------------------------------------------------------------------------------- */

static sotto_status collect(scene *s, sotto_err *err)
{
    const demo_aggregator_round round = {.id = s->id,
                                         .entries = s->content.entries,
                                         .width = 4,
                                         .bins = s->bins,
                                         .reported = s->reported,
                                         .count = s->fleet.count};

    return demo_aggregator_collect(s->d, &s->server, s->fleet.client, &round, &s->scratch, err);
}

static void print_people(const scene *s)
{
    unsigned gone = 0;

    (void)printf("\nSwitched off before they reported: devices");
    for (uint32_t i = 0; i < s->fleet.count; i++)
        if (!s->reported[i] && ++gone <= 20)
            (void)printf(" %u", i);
    (void)printf("%s.\n", gone > 20 ? " and others" : gone ? "" : " none");
    (void)printf("%u of %u devices dropped; their masks were opened by the committee.\n", gone,
                 s->fleet.count);
    (void)printf("%llu of %d decryptors was killed after it had reported; %u signatures and %u "
                 "shares were enough.\n",
                 (unsigned long long)s->killed, COMMITTEE, sotto_decryptors_quorum(COMMITTEE),
                 sotto_decryptors_threshold(COMMITTEE));
    (void)printf(
        "The committee made its key over the aggregator's board, in signed and sealed posts. The "
        "%d "
        "witnesses of the\nbeacon were processes of their own and made their key themselves; one "
        "was switched off, and %u gave the\nvalue. One process played all devices: in this demo "
        "you trust that process. No device paid from its\nledger (docs/protocols/flamingo.md).\n",
        DEMO_WITNESSES, s->fleet.epoch.part_count);
}

static sotto_status show(scene *s, bool *right, sotto_err *err)
{
    static sotto_receipt receipt;
    demo *d = s->d;

    sotto_receipt_of(&receipt, d->recipe, &d->task, &d->claim, &d->collection, &d->result);
    SOTTO_TRY(demo_show_answer(d, &receipt, NULL, right, err));
    if (!d->json)
        print_people(s);
    return SOTTO_OK;
}

static sotto_status run(scene *s, bool *right, sotto_err *err)
{
    say(s->d, "An aggregator starts: one server, which will see masked vectors only ...");
    SOTTO_TRY(sotto_workdir_make(s->d->folder, "demo", err));
    SOTTO_TRY(demo_aggregator_start(s->d, &s->server, err));
    SOTTO_TRY(demo_witnesses_start(s->d, &s->witnesses, err));
    SOTTO_TRY(read_recipe(s, err));
    say(s->d, "Four witnesses make the beacon's key; then one of them is switched off ...");
    SOTTO_TRY(demo_witnesses_meet(s->d, &s->witnesses, err));
    demo_witnesses_lose(&s->witnesses, 0);
    say(s->d, "Devices register, and the other witnesses draw the beacon ...");
    sotto_one_server server;

    (void)sotto_recipe_one_server(&server, s->d->recipe);
    sotto_fleet_options fleet = {.devices = (uint32_t)s->d->devices,
                                 .served = &s->witnesses.asked,
                                 .server_key = s->server.key,
                                 .port = s->server.process.port};
    fleet.terms = (sotto_duties_terms){.least = s->d->recipe->min_cohort,
                                       .cohort = server.cohort,
                                       .neighbours = NEIGHBOURS,
                                       .numbers = server.epoch_rounds,
                                       .edge = sotto_one_server_edge(DEGREE, s->d->devices)};
    fleet.terms.densest = fleet.terms.edge;
    memcpy(fleet.terms.recipe, s->d->recipe->hash, sizeof fleet.terms.recipe);
    SOTTO_TRY(sotto_fleet_open(&s->fleet, &fleet, err));
    say(s->d, "A committee of ten makes a key over the aggregator's board ...");
    SOTTO_TRY(make_committee(s, err));
    SOTTO_TRY(draw_people(s, err));
    say(s->d, "Each device adds its part of the noise, masks its vector, and sends it ...");
    SOTTO_TRY(run_rounds(s, err));
    SOTTO_TRY(collect(s, err));
    return show(s, right, err);
}

sotto_status demo_flamingo(demo *d, bool *right, sotto_err *err)
{
    static scene s; /* too large for a stack */

    s.d = d;
    sotto_arena_init(&s.scratch, (size_t)64 << 20);
    const sotto_status status = run(&s, right, err);
    sotto_fleet_close(&s.fleet);
    demo_process_stop(&s.server.process);
    demo_witnesses_stop(&s.witnesses);
    sotto_arena_clear(&s.scratch);
    return status;
}
