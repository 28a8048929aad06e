/* A round of encrypted sums over HTTP: an aggregator and a witness of its boards as processes, and devices in this one. */
#define _POSIX_C_SOURCE 200809L
#include "demo_aero.h"

#include "aggregate/inbox.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/hex.h"
#include "log_publish.h"
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

/* The witness knows the aggregator by its key, and the aggregator the witness by its URL. */
static sotto_status start_servers(scene *s, sotto_err *err)
{
    demo *d = s->d;
    char line[DEMO_NOTE_KEY + 64], path[DEMO_FILE];
    sotto_buf text = sotto_buf_over(line, sizeof line - 2),
              public = sotto_buf_over(s->witness_text, sizeof s->witness_text - 1);
    sotto_note_key key;

    SOTTO_TRY(demo_aggregator_key(d, &s->server, err));
    SOTTO_TRY(sotto_note_key_init(&key, sotto_bytes_of("aggregator", 10), SOTTO_NOTE_ED25519,
                                  s->server.key, err));
    SOTTO_TRY(sotto_note_key_encode(&text, &key, err));
    line[text.len] = '\n';
    line[text.len + 1] = 0;
    SOTTO_TRY(demo_write_file(d, "witness.logs", line, err));
    (void)snprintf(path, sizeof path, "%s/witness-signing.key", d->folder);
    SOTTO_TRY(
        sotto_log_key_make(path, "witness.example/demo", SOTTO_NOTE_COSIGNATURE, &public, err));
    SOTTO_TRY(sotto_note_key_decode(&s->witness_key, sotto_buf_bytes(&public), err));
    SOTTO_TRY(demo_process_start(d, &s->witness, "witness",
                                 "key = witness-signing.key\nlogs = witness.logs\n", err));
    (void)snprintf(line, sizeof line, "%.*s http://127.0.0.1:%u/\n", (int)public.len,
                   s->witness_text, s->witness.port);
    SOTTO_TRY(demo_write_file(d, "board.witnesses", line, err));
    return demo_aggregator_start_with(d, &s->server, "witnesses = board.witnesses\n", err);
}

sotto_status demo_aero_open(scene *s, sotto_err *err)
{
    demo *d = s->d;
    sotto_fleet_options fleet = {.devices = (uint32_t)d->devices,
                                 .witnesses = WITNESSES,
                                 .server_key = s->server.key,
                                 .own = &s->account};

    SOTTO_TRY(start_servers(s, err));
    fleet.port = s->server.process.port;
    fleet.terms = (sotto_duties_terms){.methods = 1u << SOTTO_METHOD_AERO,
                                       .least = d->recipe->min_cohort,
                                       .cohort = s->plan.largest,
                                       .noise = s->plan.noise};
    memcpy(fleet.terms.recipe, d->recipe->hash, sizeof fleet.terms.recipe);
    SOTTO_TRY(sotto_fleet_open(&s->fleet, &fleet, err));
    s->log = (sotto_policy_log){
        .name = "board", .trust = {.witnesses = &s->witness_key, .witness_count = 1, .quorum = 1}};
    s->fleet.logs = &s->log;
    s->fleet.log_count = 1;
    return SOTTO_OK;
}

void demo_aero_close(scene *s)
{
    if (s->fleet.client)
        sotto_fleet_close(&s->fleet);
    demo_process_stop(&s->server.process);
    demo_process_stop(&s->witness);
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

/* ---- the board, as anybody may read it ----------------------------------------------------------------------------------- */

static void read_entry(scene *s, sotto_bytes wire)
{
    demo_aero_board *b = &s->board;
    sotto_message entry, m;
    sotto_bytes record;
    uint64_t index;

    if (sotto_message_decode(&entry, wire, NULL) != SOTTO_OK ||
        sotto_entry_decode(&index, &record, entry.body, NULL) != SOTTO_OK ||
        sotto_aero_record_open(&m, &s->round, record, true, NULL) != SOTTO_OK ||
        m.kind >= DEMO_AERO_KINDS)
        return;
    b->last[m.kind] = index + 1;
    if (m.kind == SOTTO_AERO_COMPLAINT && b->complaints++ == 0)
        b->first = m.from;
}

static void read_board(scene *s)
{
    static const sotto_http_field type = {"Content-Type", SOTTO_ENTRIES_ASK_TYPE};
    char url[200], hex[2 * SOTTO_ROUND_ID + 1];
    uint8_t ask[SOTTO_ENTRIES_ASK] = {0};
    sotto_http_response response;
    sotto_bytes wire;
    uint64_t n;

    sotto_hex_encode(hex, sotto_bytes_of(s->id, sizeof s->id));
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/rounds/%s/board", s->server.process.port,
                   hex);
    for (unsigned i = 0; i < 8; i++)
        ask[i] = (uint8_t)(s->board.next >> (56 - 8 * i));
    const sotto_http_call call = {.method = SOTTO_HTTP_POST,
                                  .url = url,
                                  .fields = &type,
                                  .field_count = 1,
                                  .body = sotto_bytes_of(ask, sizeof ask),
                                  .attempts = 1,
                                  .max_response = (size_t)33 << 20};
    sotto_arena_reset(&s->scratch);
    if (sotto_http_call_wait(s->fleet.client, &response, &call, &s->scratch, NULL) != SOTTO_OK ||
        response.status != 200)
        return;
    sotto_inbox page = {.left = response.body, .since = s->board.next};
    while (sotto_inbox_next(&page, &n, &wire)) {
        read_entry(s, wire);
        s->board.next = n + 1;
    }
}

/* ---- a server that lies ------------------------------------------------------------------------------------------------- */

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
    read_board(s);
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
    s->board = (demo_aero_board){0};
    s->has_lied = false;
    s->account = (sotto_aero_account){.known = &s->known};
    *released = false;
    SOTTO_TRY(sotto_aero_known_init(&s->known, 4096, &s->memory, err));
    SOTTO_TRY(draw_round(s, patience, err));
    SOTTO_TRY(post(s, err));
    SOTTO_TRY(join(s, err));
    return run_round(s, released, err);
}
