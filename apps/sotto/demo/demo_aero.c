/* sotto demo --trust aero: encrypted sums that devices check and a committee opens; then the same with a server that lies. */
#define _POSIX_C_SOURCE 200809L
#include "demo.h"
#include "show.h"

#include "aggregate/aero/proof_known.h"
#include "aggregate/aero/server.h"
#include "base/arena.h"
#include "device/answer/measure.h"
#include "recipe/claim.h"
#include "recipe/encoding.h"
#include "recipe/encrypted.h"
#include "sotto/random.h"
#include "support/epoch.h"
#include "support/gathering.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    WITNESSES = 4,
    COMMITTEE = 15,
    CORRUPT = 8,
    NOISE = 16,
    NOISE_CORRUPT = 8,
    NOISE_MISSING = 2,
    DROP_EACH = 12, /* every twelfth device is switched off, if it is in no committee */
    TRIES = 4,      /* rounds, where too few are drawn */
    KINDS = SOTTO_AERO_PART + 1,
    /* Virtual milliseconds of a round. */
    OPENS = 100,
    COMMIT_BY = 2000,
    CLOSES = 3000,
    VERIFY_BY = 5000,
    RELEASE_BY = 9000
};

/* What the board showed of a round. */
typedef struct witness {
    struct scene *s;
    uint64_t last[KINDS]; /* index of the last record of each kind, and 1 */
    uint64_t complaints;
    uint32_t first; /* device that complained */
} witness;

typedef struct scene {
    demo *d;
    sotto_company company;
    sotto_epoch epoch;
    sotto_report_content content;
    sotto_encrypted plan;
    uint8_t parameters[SOTTO_AERO_TERMS];
    sotto_round round;
    sotto_aero_account account;
    sotto_aero_known known;
    sotto_aero_plan *drawn; /* who is drawn for what */
    uint64_t *bins;
    sotto_vector *vectors;
    uint8_t *off; /* by device: switched off */
    sotto_arena memory;
    sotto_gathering *gathering;
    witness seen;
    uint32_t off_drawn; /* of those switched off, how many would have contributed */
    uint64_t number;
} scene;

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
        (unsigned long long)d->devices, (unsigned long long)d->devices, COMMITTEE, CORRUPT, NOISE,
        NOISE_CORRUPT, NOISE_MISSING, checks, opens, closes, (unsigned long long)d->devices);
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
    s->off = sotto_arena_take(&d->arena, (size_t)d->devices);
    return d->truth.bins && s->bins && s->vectors && s->off
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
            s->vectors[i] = (sotto_vector){.ring = SOTTO_RING_Z64,
                                           .length = values.count,
                                           .of.z64 = (uint64_t *)(size_t)values.values};
    }
    sotto_entropy_clear(&entropy);
    return status;
}

/* Devices register, and only then witnesses draw: nobody chooses keys that the draw favours. */
static sotto_status make_round(scene *s, sotto_err *err)
{
    demo *d = s->d;
    uint8_t session[32];

    SOTTO_TRY(sotto_random_bytes(session, sizeof session, err));
    memcpy(s->epoch.session, session, sizeof session);
    s->epoch.number = ++s->number;
    s->epoch.registry = s->company.registry;
    SOTTO_TRY(sotto_epoch_beacon(&s->epoch, &d->arena, err));
    s->round = (sotto_round){.epoch = s->number,
                             .number = s->number,
                             .registered = d->devices,
                             .opens = OPENS,
                             .commit_by = COMMIT_BY,
                             .closes = CLOSES,
                             .verify_by = VERIFY_BY,
                             .release_by = RELEASE_BY,
                             .keys = &s->company.registry,
                             .account = &s->account};
    memcpy(s->round.session, session, sizeof session);
    memcpy(s->round.beacon, s->epoch.beacon, sizeof s->round.beacon);
    sotto_registry_root(&s->company.registry, s->round.registry);
    SOTTO_TRY(sotto_encrypted_round(&s->round, s->parameters, &s->plan, d->recipe, err));
    /* What every device asks before it joins. */
    SOTTO_TRY(sotto_encrypted_agrees(&s->round, &s->plan, d->recipe, err));
    s->drawn = sotto_arena_take(&s->memory, sizeof *s->drawn);
    if (!s->drawn)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a round");
    return sotto_aero_plan_init(s->drawn, &s->round, &s->memory, err);
}

/* One member of each committee is lost, and some of the others. */
static void choose_the_lost(scene *s)
{
    memset(s->off, 0, (size_t)s->d->devices);
    s->off_drawn = 0;
    s->off[s->drawn->committee[0]] = 1;
    for (uint32_t i = 0; i < NOISE; i++)
        if (sotto_aero_committee_place(s->drawn, s->drawn->noise[i]) < 0) {
            s->off[s->drawn->noise[i]] = 1;
            break;
        }
    for (uint32_t i = DROP_EACH - 1; i < s->d->devices; i += DROP_EACH)
        if (sotto_aero_committee_place(s->drawn, i) < 0 && sotto_aero_noise_place(s->drawn, i) < 0)
            s->off[i] = 1;
    for (uint32_t i = 0; i < s->d->devices; i++)
        s->off_drawn += s->off[i] && sotto_aero_is_sampled(s->drawn, i);
}

/* ---- a round ---------------------------------------------------------------------------------------------------------- */

/* After a complaint that is right, nothing that other devices find changes what happens: they are not asked any more. */
static void read_board(void *context, uint64_t index, const sotto_message *record)
{
    witness *w = context;

    if (record->kind >= KINDS)
        return;
    w->last[record->kind] = index + 1;
    if (record->kind != SOTTO_AERO_COMPLAINT)
        return;
    if (w->complaints++ == 0)
        w->first = record->from;
    for (uint32_t i = 0; i < w->s->d->devices; i++)
        if (sotto_aero_committee_place(w->s->drawn, i) < 0)
            sotto_gathering_switch_off(w->s->gathering, i);
}

static sotto_status begin(scene *s, sotto_err *err)
{
    sotto_arena_reset(&s->memory);
    s->seen = (witness){.s = s};
    s->account = (sotto_aero_account){.known = &s->known};
    SOTTO_TRY(make_round(s, err));
    choose_the_lost(s);
    SOTTO_TRY(sotto_aero_known_init(&s->known, 4096, &s->memory, err));
    SOTTO_TRY(sotto_gathering_open(&s->gathering, &sotto_method_aero, &s->round, &s->company,
                                   &s->memory, err));
    sotto_gathering_read_board(s->gathering, read_board, &s->seen);
    for (uint32_t i = 0; i < s->d->devices; i++) {
        sotto_gathering_give(s->gathering, i, &s->vectors[i]);
        if (s->off[i])
            sotto_gathering_switch_off(s->gathering, i);
    }
    return SOTTO_OK;
}

static void end(scene *s)
{
    sotto_gathering_close(s->gathering);
    s->gathering = NULL;
}

static sotto_status collect(scene *s, sotto_err *err)
{
    demo *d = s->d;
    sotto_collection *c = &d->collection;
    sotto_round_result result = {0};
    sotto_vector sum;

    SOTTO_TRY(sotto_gathering_run(s->gathering, 10 * (uint64_t)RELEASE_BY, err));
    SOTTO_TRY(sotto_gathering_result(s->gathering, &result, err));
    const sotto_bytes parts[2] = {{NULL, 0}, result.opening};
    SOTTO_TRY(sotto_method_aero.tally->open(&sum, &s->round, parts, 2, result.contributions,
                                            &d->arena, err));
    c->sums = sotto_arena_take_array(&d->arena, s->content.entries, sizeof *c->sums);
    if (!c->sums)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the sum");
    c->sum_count = s->content.entries;
    for (size_t i = 0; i < c->sum_count; i++)
        c->sums[i] =
            (sotto_uint128){.low = sum.of.z64[i], .high = sum.of.z64[i] >> 63 ? UINT64_MAX : 0};
    for (size_t i = 0; i < result.counted_count; i++)
        d->truth.bins[s->bins[result.counted[i]]]++;
    c->reports = result.contributions;
    c->from = (uint64_t)d->recipe->opens;
    c->until = (uint64_t)d->recipe->closes;
    SOTTO_TRY(sotto_round_id(&s->round, d->task.id, err));
    return sotto_result_estimate(&d->result, d->recipe, c->sums, c->sum_count, c->reports, NULL,
                                 &d->arena, err);
}

/* By chance too few may be drawn: then there is another round, with another beacon. */
static sotto_status play(scene *s, sotto_err *err)
{
    sotto_err why = {0};
    sotto_status status = SOTTO_DENIED;

    for (unsigned i = 0; i < TRIES && status == SOTTO_DENIED && !demo_interrupted(); i++) {
        end(s);
        why = (sotto_err){0};
        SOTTO_TRY(begin(s, err));
        status = collect(s, &why);
    }
    return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "%s", why.reason);
}

/* ---- a server that lies ------------------------------------------------------------------------------------------------ */

typedef struct lie {
    uint32_t victim,
        copied; /* devices: the second one's answer stands in the place of the first one's */
    uint32_t found_by;
    uint64_t entry; /* of the log */
    char reason[160];
    bool is_caught, is_released;
} lie;

/* Everything is as it was, but one leaf: its sender's answer is gone, and another one's counts twice. */
static bool put_in_place(scene *s, lie *l)
{
    sotto_aero_aggregator *server = (sotto_aero_aggregator *)sotto_gathering_server(s->gathering);
    sotto_aero_entrant *found[2] = {NULL, NULL};

    for (uint32_t i = 0; i < server->count && !found[1]; i++)
        if (server->entrants[i].promise.role == SOTTO_AERO_CONTRIBUTOR &&
            server->entrants[i].groups[0].is_there)
            found[found[0] ? 1 : 0] = &server->entrants[i];
    if (!found[1])
        return false;
    l->victim = found[0]->promise.index;
    l->copied = found[1]->promise.index;
    found[0]->groups[0] = found[1]->groups[0];
    found[0]->of = found[1]->of;
    return true;
}

static sotto_status lie_once(scene *s, lie *l, sotto_err *err)
{
    sotto_round_result result = {0};
    sotto_err why = {0};

    end(s);
    SOTTO_TRY(begin(s, err));
    SOTTO_TRY(sotto_gathering_run(s->gathering, CLOSES - 1, err));
    if (!put_in_place(s, l))
        return SOTTO_OK; /* nobody was drawn */
    SOTTO_TRY(sotto_gathering_run(s->gathering, 10 * (uint64_t)RELEASE_BY, err));
    l->is_released = sotto_gathering_result(s->gathering, &result, &why) == SOTTO_OK;
    l->is_caught = !l->is_released && s->seen.complaints > 0;
    l->found_by = s->seen.first;
    l->entry = s->seen.last[SOTTO_AERO_COMPLAINT] - 1;
    (void)snprintf(l->reason, sizeof l->reason, "%s", why.reason);
    return SOTTO_OK;
}

/* A round without a complaint that opened nothing had too few contributors to lie about. */
static sotto_status play_liar(scene *s, lie *l, sotto_err *err)
{
    for (unsigned i = 0; i < TRIES && !demo_interrupted(); i++) {
        SOTTO_TRY(lie_once(s, l, err));
        if (l->is_caught || l->is_released)
            break;
    }
    return SOTTO_OK;
}

/* ---- what is printed ---------------------------------------------------------------------------------------------------- */

static void add_cause(sotto_stated_encryption *e, const char *cause, uint64_t devices)
{
    if (devices == 0)
        return;
    e->dropped[e->dropped_count].cause = cause;
    e->dropped[e->dropped_count++].devices = devices;
}

static void add_entries(sotto_stated_encryption *e, const witness *w)
{
    static const struct {
        unsigned kind;
        const char *what;
    } named[] = {{SOTTO_AERO_KEYED, "key"},          {SOTTO_AERO_CERTIFY, "certificate"},
                 {SOTTO_AERO_COMMITTED, "promises"}, {SOTTO_AERO_ADDED, "leaves"},
                 {SOTTO_AERO_SUMMED, "sums"},        {SOTTO_AERO_VERDICT, "verdict"}};

    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        if (w->last[named[i].kind] == 0)
            continue;
        e->entries[e->entry_count].what = named[i].what;
        e->entries[e->entry_count++].index = w->last[named[i].kind] - 1;
    }
}

static void print_lie(const scene *s, const lie *l)
{
    (void)printf("\nA server that lies\n\nIn a second round the server put the answer of device %u "
                 "in the place "
                 "of that of device %u. It signed everything else as it should be.\n",
                 l->copied, l->victim);
    if (l->is_caught)
        (void)printf(
            "Caught: device %u looked at that leaf. Its complaint is entry %llu of the board, and "
            "anybody can check it alone. No member of the committee signed, and nothing was "
            "opened: %s.\n",
            l->found_by, (unsigned long long)l->entry, l->reason);
    else
        (void)printf("Not caught.\n");
    (void)printf(
        "\nOne process played all devices, the witnesses of the beacon, the server and the "
        "board: in this demo you trust\nthat process. It verified each proof once, %llu in "
        "all, for %llu looks. No device paid from its ledger\n(docs/protocols/aero.md).\n",
        (unsigned long long)s->known.verified,
        (unsigned long long)s->known.verified + s->known.looked_up);
}

static sotto_status show(scene *s, const sotto_stated_encryption *round, bool *right,
                         sotto_err *err)
{
    static sotto_receipt receipt;
    demo *d = s->d;
    sotto_answer_view answer_of = {.recipe = d->recipe, .result = &d->result, .receipt = &receipt};
    sotto_view view = sotto_show_view(d->json ? SOTTO_VIEW_JSON : SOTTO_VIEW_TEXT);
    sotto_result_check check;

    sotto_receipt_of(&receipt, d->recipe, &d->task, &d->claim, &d->collection, &d->result);
    memcpy(receipt.encryption.dropped, round->dropped, sizeof round->dropped);
    memcpy(receipt.encryption.entries, round->entries, sizeof round->entries);
    receipt.encryption.dropped_count = round->dropped_count;
    receipt.encryption.entry_count = round->entry_count;
    if (d->check) {
        SOTTO_TRY(sotto_result_compare(&check, &d->result, d->truth.bins, d->result.count, err));
        *right = !check.wrong;
        answer_of.check = &check;
        answer_of.truth = d->truth.bins;
    }
    return sotto_view_answer(&view, &answer_of, &d->arena, err);
}

static sotto_status run(scene *s, bool *right, sotto_err *err)
{
    static sotto_stated_encryption round;
    demo *d = s->d;
    lie l = {0};

    SOTTO_TRY(read_recipe(s, err));
    say(d, "Devices register, and witnesses draw the beacon: it draws committees and contributors "
           "...");
    SOTTO_TRY(sotto_company_init(&s->company, (uint32_t)d->devices, &d->arena, err));
    SOTTO_TRY(sotto_epoch_witnesses(&s->epoch, WITNESSES, &d->arena, err));
    SOTTO_TRY(draw_people(s, err));
    say(d, "A committee makes a key; devices encrypt, prove and check; the committee opens ...");
    SOTTO_TRY(play(s, err));
    add_cause(&round, "contributors that were switched off", s->off_drawn);
    add_cause(&round, "noise member that was switched off", 1);
    add_cause(&round, "member of the committee that was switched off", 1);
    add_entries(&round, &s->seen);
    end(s);
    say(d, "A second round, with a server that lies ...");
    SOTTO_TRY(play_liar(s, &l, err));
    end(s);
    SOTTO_TRY(show(s, &round, right, err));
    if (!d->json)
        print_lie(s, &l);
    *right = *right && l.is_caught;
    return SOTTO_OK;
}

sotto_status demo_aero(demo *d, bool *right, sotto_err *err)
{
    static scene s; /* too large for a stack */

    s.d = d;
    sotto_arena_init(&s.memory, (size_t)1 << 30);
    const sotto_status status = run(&s, right, err);
    sotto_gathering_close(s.gathering);
    sotto_company_clear(&s.company);
    sotto_arena_clear(&s.memory);
    return status;
}
