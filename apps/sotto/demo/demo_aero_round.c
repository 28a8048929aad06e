/* A round of encrypted sums over HTTP: an aggregator and a witness of its boards as processes, and devices in this one. */
#define _POSIX_C_SOURCE 200809L
#include "demo_aero.h"

#include "base/arena.h"
#include "base/clock.h"
#include "sotto/random.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    WITNESSES = 4,      /* of the beacon */
    DROP_EACH = 12,     /* every twelfth device is switched off, if it is in no committee */
    MEMBERS_MS = 200,   /* members of the committee are never left alone for longer */
    ASK_MS = 1000,      /* between two questions for the result */
    BEFORE_CLOSES = 500 /* milliseconds: when a server that lies changes its database */
};

typedef demo_aero_scene scene;

static uint64_t now_ms(void)
{
    return sotto_clock_wall(&sotto_clock_system) / 1000000;
}

/* ---- servers --------------------------------------------------------------------------------------------------------- */

sotto_status demo_aero_open(scene *s, sotto_err *err)
{
    demo *d = s->d;
    sotto_fleet_options fleet = {.devices = (uint32_t)d->devices,
                                 .witnesses = WITNESSES,
                                 .server_key = s->server.key,
                                 .own = &s->account};

    SOTTO_TRY(demo_witness_start(d, &s->server, &s->witness, err));
    fleet.port = s->server.process.port;
    fleet.terms = (sotto_duties_terms){.methods = 1u << SOTTO_METHOD_AERO,
                                       .least = d->recipe->min_cohort,
                                       .cohort = s->plan.largest,
                                       .noise = s->plan.noise};
    memcpy(fleet.terms.recipe, d->recipe->hash, sizeof fleet.terms.recipe);
    SOTTO_TRY(sotto_fleet_open(&s->fleet, &fleet, err));
    s->fleet.logs = &s->witness.log;
    s->fleet.log_count = 1;
    return SOTTO_OK;
}

void demo_aero_close(scene *s)
{
    if (s->fleet.client)
        sotto_fleet_close(&s->fleet);
    demo_process_stop(&s->server.process);
    demo_process_stop(&s->witness.process);
}

/* ---- a round ------------------------------------------------------------------------------------------------------------ */

/* Devices register, and only then witnesses draw: nobody chooses keys that the draw favours. Each round has a session of its own: a
 * recipe's budget pays for a round or two. */
static sotto_status draw_round(scene *s, unsigned patience, sotto_err *err)
{
    demo *d = s->d;
    sotto_epoch *e = &s->fleet.epoch;
    const uint64_t now = now_ms(), n = d->devices, times = patience;

    SOTTO_TRY(sotto_random_bytes(e->session, sizeof e->session, err));
    e->number = 1;
    SOTTO_TRY(sotto_epoch_beacon(e, &s->memory, err));
    sotto_fleet_expect(&s->fleet, DEMO_AERO_COMMITTEE);
    s->round = (sotto_round){.epoch = 1, .number = 1, .registered = n, .keys = &e->registry};
    /* One process makes the proofs of all devices, and looks at all leaves for them. */
    s->round.opens = now;
    s->round.commit_by = s->round.opens + times * (10000 + 300 * n);
    s->round.closes = s->round.commit_by + times * (8000 + 60 * n);
    s->round.verify_by = s->round.closes + times * (10000 + 220 * n);
    /* It ends with the sum. Each of nine attempts has a twelfth of this, in which members have to be asked one after the other. */
    s->round.release_by = s->round.verify_by + times * (s->lies ? 10000 : 60000 + 300 * n);
    memcpy(s->round.session, e->session, sizeof s->round.session);
    memcpy(s->round.beacon, e->beacon, sizeof s->round.beacon);
    sotto_registry_root(&e->registry, s->round.registry);
    SOTTO_TRY(sotto_encrypted_round(&s->round, s->parameters, &s->plan, d->recipe, err));
    /* What every device asks before it joins. */
    SOTTO_TRY(sotto_encrypted_agrees(&s->round, &s->plan, d->recipe, err));
    s->drawn = sotto_arena_take(&s->memory, sizeof *s->drawn);
    if (!s->drawn)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a round");
    return sotto_aero_plan_init(s->drawn, &s->round, &s->memory, err);
}

static sotto_status post(scene *s, sotto_err *err)
{
    uint8_t bytes[SOTTO_ROUND_MOST_BYTES];
    sotto_buf round = sotto_buf_over(bytes, sizeof bytes), wire;

    SOTTO_TRY(sotto_round_encode(&round, &s->round, err));
    SOTTO_TRY(sotto_round_id(&s->round, s->id, err));
    const sotto_posting posting = {.registry = s->fleet.epoch.registry,
                                   .part_count = s->fleet.epoch.part_count,
                                   .parts = s->fleet.epoch.parts,
                                   .round = sotto_buf_bytes(&round)};
    SOTTO_TRY(sotto_buf_take(&wire, &s->memory, 1 << 18, err));
    SOTTO_TRY(sotto_posting_encode(&wire, &posting, err));
    s->posting = sotto_buf_bytes(&wire);
    sotto_arena_reset(&s->scratch);
    return demo_aggregator_post(&s->server, s->fleet.client, s->posting, &s->scratch, err);
}

/* A noise member and some of the others are lost before they say anything; a member of the committee is lost later. */
static bool is_lost(const scene *s, uint32_t device)
{
    if (sotto_aero_committee_place(s->drawn, device) >= 0)
        return false;
    for (uint32_t i = 0; i < DEMO_AERO_NOISE; i++) {
        if (sotto_aero_committee_place(s->drawn, s->drawn->noise[i]) >= 0)
            continue;
        if (s->drawn->noise[i] == device)
            return true;
        break;
    }
    return device % DROP_EACH == DROP_EACH - 1 && sotto_aero_noise_place(s->drawn, device) < 0;
}

static sotto_status join(scene *s, sotto_err *err)
{
    s->off_drawn = 0;
    for (uint32_t i = 0; i < s->fleet.count; i++) {
        sotto_fleet_kill(&s->fleet, i);
        if (is_lost(s, i)) {
            s->off_drawn += sotto_aero_is_sampled(s->drawn, i);
            continue;
        }
        s->fleet.devices[i].counter = 0; /* its journal, which was in memory, begins anew */
        SOTTO_TRY(sotto_fleet_revive(&s->fleet, i, err));
        sotto_duties *duties = s->fleet.devices[i].duties;
        SOTTO_TRY(sotto_duties_consent(duties, true, err));
        SOTTO_TRY(sotto_duties_take(duties, s->posting, i, SOTTO_DUTY_CLIENT,
                                    sotto_aero_is_sampled(s->drawn, i) ? s->vectors[i] : NULL,
                                    s->content.entries, err));
        if (sotto_aero_committee_place(s->drawn, i) >= 0)
            SOTTO_TRY(sotto_duties_take(duties, s->posting, i, SOTTO_DUTY_DECRYPTOR, NULL, 0, err));
    }
    return SOTTO_OK;
}

/* ---- a server that lies ------------------------------------------------------------------------------------------------- */

/* Complaints do not reach it. Whoever sends one is told that it was taken. */
static unsigned keep_off(sotto_fleet *f, uint32_t device, const char *url, sotto_bytes body)
{
    scene *s = (scene *)(void *)((uint8_t *)f - offsetof(scene, fleet));
    sotto_reader in = sotto_reader_over(body);
    sotto_message m;

    (void)device;
    if (strncmp(url, f->server, strlen(f->server)) != 0 || !strstr(url, "/messages") ||
        sotto_message_decode(&m, sotto_read_opaque32(&in), NULL) != SOTTO_OK ||
        m.kind != SOTTO_AERO_COMPLAINT)
        return 0;
    s->kept_off++;
    return 204;
}

/* Its operator stops it, puts one device's answer in the place of another's, and starts it again. No thread of this process runs
 * meanwhile, since a process is forked. */
static sotto_status lie(scene *s, sotto_err *err)
{
    const sotto_db_options database = {.address = s->server.process.database};
    sotto_db *db;

    s->has_lied = true;
    sotto_http_client_close(s->fleet.client);
    s->fleet.client = NULL;
    demo_process_stop(&s->server.process);
    SOTTO_TRY(sotto_db_open(&db, &database, err));
    const sotto_status status = sotto_lie_in_database(db, s->id, &s->lie, &s->memory, err);
    sotto_db_close(db);
    s->fleet.keep_off = keep_off;
    SOTTO_TRY(demo_aggregator_again(s->d, &s->server, err));
    SOTTO_TRY(sotto_http_client_open(&s->fleet.client, &(sotto_http_client_options){0}, err));
    return status;
}

/* ---- time passes ---------------------------------------------------------------------------------------------------------- */

/* A member that is away when half of a phase is over can't tell whether the server was in time, and signs for nothing. */
static void tick_members(scene *s)
{
    for (uint32_t i = 0; i < DEMO_AERO_COMMITTEE; i++)
        (void)!sotto_fleet_tick_one(&s->fleet, s->drawn->committee[i], now_ms(), NULL);
    s->members_at = now_ms();
}

/* After a complaint that is right, nothing that other devices find changes what happens: they are not asked any more. */
static void switch_off(scene *s)
{
    const uint32_t first = s->drawn->committee[0];

    if (s->board.last[SOTTO_AERO_SUMMED] && s->fleet.devices[first].duties)
        sotto_fleet_kill(&s->fleet, first);
    for (uint32_t i = 0; s->lies && s->board.complaints && i < s->fleet.count; i++)
        if (sotto_aero_committee_place(s->drawn, i) < 0)
            sotto_fleet_kill(&s->fleet, i);
}

/* What has its own time. SOTTO_AGAIN: the round runs. */
static sotto_status look_around(scene *s, bool *released, sotto_err *err)
{
    if (demo_interrupted())
        return sotto_fail(err, SOTTO_IO, "interrupted");
    if (s->lies && !s->has_lied && now_ms() + BEFORE_CLOSES >= s->round.closes)
        SOTTO_TRY(lie(s, err));
    if (now_ms() >= s->members_at + MEMBERS_MS)
        tick_members(s);
    if (now_ms() < s->asked_at + ASK_MS)
        return SOTTO_AGAIN;
    s->asked_at = now_ms();
    demo_board_read(&s->board, &s->server, s->fleet.client, &s->round, s->id, &s->scratch);
    switch_off(s);
    sotto_arena_reset(&s->scratch);
    return demo_aggregator_result(&s->server, s->fleet.client, s->id, released, s->reported,
                                  s->d->devices, &s->scratch, err);
}

static sotto_status run_round(scene *s, bool *released, sotto_err *err)
{
    const struct timespec pause = {0, 10 * 1000000};

    for (;;) {
        for (uint32_t i = 0; i < s->fleet.count; i++) {
            const sotto_status status = look_around(s, released, err);

            if (status != SOTTO_AGAIN)
                return status;
            (void)!sotto_fleet_tick_one(&s->fleet, i, now_ms(), NULL);
        }
        (void)nanosleep(&pause, NULL);
    }
}

sotto_status demo_aero_play(scene *s, unsigned patience, bool *released, sotto_err *err)
{
    sotto_arena_reset(&s->memory);
    s->board = (demo_board){0};
    s->has_lied = false;
    s->kept_off = 0;
    s->fleet.keep_off = NULL;
    s->account = (sotto_aero_account){.known = &s->known};
    *released = false;
    SOTTO_TRY(sotto_aero_known_init(&s->known, 4096, &s->memory, err));
    SOTTO_TRY(draw_round(s, patience, err));
    SOTTO_TRY(post(s, err));
    SOTTO_TRY(join(s, err));
    return run_round(s, released, err);
}
