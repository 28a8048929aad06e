/* A session of encrypted sums: a witness of the aggregator's boards, a beacon for each round, and committees that the beacon draws. */
#define _POSIX_C_SOURCE 200809L
#include "learn_one.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "crypto/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEMBERS_MS = 200, /* members of the committee are never left alone for longer */
    READ_MS = 1000,
    KNOWN = 4096 /* proofs, of all rounds */
};

static uint64_t now_ms(void)
{
    return sotto_clock_wall(&sotto_clock_system) / 1000000;
}

/* ---- the session ------------------------------------------------------------------------------------------------------- */

sotto_status learn_encrypted_open(learn_one *one, sotto_err *err)
{
    learn_encrypted *e = sotto_alloc(sizeof *e);

    if (!e)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a session of encrypted sums");
    e->witness.process.port = one->witness_port;
    one->encrypted = e;
    return demo_witness_start(&one->run->deployment, &one->server, &e->witness, err);
}

void learn_encrypted_close(learn_one *one)
{
    learn_encrypted *e = one->encrypted;

    demo_process_stop(&e->witness.process);
    sotto_arena_clear(&e->proofs);
    one->encrypted = NULL;
    sotto_release(e, sizeof *e);
}

sotto_status learn_encrypted_check(const learn_run *run, sotto_err *err)
{
    const uint64_t population = run->learning->head.population;
    sotto_encrypted plan;

    SOTTO_TRY(sotto_learning_encrypted_plan(&plan, run->learning, err));
    if (population < plan.least || population > plan.most)
        return sotto_fail(err, SOTTO_DENIED,
                          "%" PRIu64 " devices: all of them are registered here, and the recipe "
                          "wants %" PRIu64 " to %" PRIu64,
                          population, plan.least, plan.most);
    return SOTTO_OK;
}

/* One process plays everybody, and each proof would be verified by as many devices as look at it. */
sotto_status learn_encrypted_begin(learn_one *one, sotto_err *err)
{
    learn_encrypted *e = one->encrypted;

    SOTTO_TRY(sotto_learning_encrypted_plan(&e->plan, one->run->learning, err));
    sotto_encrypted_session(one->epoch.epoch.session, &one->run->learning->head);
    sotto_arena_init(&e->proofs, (size_t)1 << 20);
    SOTTO_TRY(sotto_aero_known_init(&e->known, KNOWN, &e->proofs, err));
    e->own.known = &e->known;
    e->patience = demo_business();
    return SOTTO_OK;
}

void learn_encrypted_tell(learn_one *one, sotto_duties *duties)
{
    sotto_duties_own(duties, &one->encrypted->own);
    sotto_duties_watch(duties, &one->encrypted->witness.log, 1);
}

/* ---- a round ------------------------------------------------------------------------------------------------------------ */

/* Devices prove and look one after the other, in this process. */
static void set_times(learn_encrypted *e, uint64_t window_ms)
{
    const uint64_t times = e->patience, proofs = e->plan.largest + e->plan.terms.noise_members;
    sotto_round *r = &e->round;

    r->opens = now_ms();
    r->commit_by = r->opens + window_ms + times * (6000 + 450 * proofs);
    r->closes = r->commit_by + times * (4000 + 120 * proofs);
    r->verify_by = r->closes + times * (8000 + 350 * proofs);
    /* It ends with the sum. Each of nine attempts has a twelfth of this. */
    r->release_by = r->verify_by + times * 60000;
}

/* What the next round has to say of this one, to take over its key. */
static void note_origin(learn_one *one)
{
    learn_encrypted *e = one->encrypted;
    const sotto_epoch *epoch = &one->epoch.epoch;

    e->last.number = epoch->part_count <= LEARN_ENCRYPTED_WITNESSES ? e->round.number : 0;
    if (e->last.number == 0)
        return;
    e->last.handed = e->plan.terms.handed;
    memcpy(e->last.origin.round, one->id, sizeof e->last.origin.round);
    memcpy(e->last.origin.beacon, e->round.beacon, sizeof e->last.origin.beacon);
    e->last.part_count = epoch->part_count;
    memcpy(e->last.parts, epoch->parts, epoch->part_count * sizeof *epoch->parts);
}

/* The key of the round before, unless it has served its rounds. Where none was handed over, that round's board has a key of its own. */
static void choose_key(learn_encrypted *e, uint64_t number)
{
    sotto_aero_terms *t = &e->plan.terms;
    const unsigned handed = e->board.last[SOTTO_AERO_KEYED] ? 0 : e->last.handed;

    t->handed = 0;
    if (e->last.number == 0 || e->last.number + 1 != number || handed + 1 >= t->rekey)
        return;
    t->handed = (uint8_t)(handed + 1);
    t->origin = e->last.origin;
}

static sotto_status draw(learn_one *one, sotto_err *err)
{
    learn_run *run = one->run;
    learn_encrypted *e = one->encrypted;
    sotto_epoch *epoch = &one->epoch.epoch;
    sotto_recipe named = run->learning->head;

    epoch->number = sotto_learning_number(run->learning, run->record.round);
    choose_key(e, epoch->number);
    SOTTO_TRY(sotto_epoch_beacon(epoch, &run->round_arena, err));
    e->round = (sotto_round){.epoch = epoch->number,
                             .number = epoch->number,
                             .registered = epoch->registry.count,
                             .keys = &epoch->registry};
    set_times(e, one->window_ms);
    memcpy(e->round.session, epoch->session, sizeof e->round.session);
    memcpy(e->round.beacon, epoch->beacon, sizeof e->round.beacon);
    sotto_registry_root(&epoch->registry, e->round.registry);
    sotto_hash_once(named.hash, SOTTO_SHA256, run->record_bytes);
    SOTTO_TRY(sotto_encrypted_round(&e->round, e->parameters, &e->plan, &named, err));
    e->drawn = sotto_arena_take(&run->round_arena, sizeof *e->drawn);
    if (!e->drawn)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a round");
    return sotto_aero_plan_init(e->drawn, &e->round, &run->round_arena, err);
}

/* A session has one round of a number. One that a killed run had posted is burnt: what was answered there is not asked for again. */
bool learn_encrypted_was_posted(learn_run *run)
{
    char posted[32];

    return learn_get_text(run, "posted", posted, sizeof posted, NULL) == SOTTO_OK &&
           strtoull(posted, NULL, 10) >= run->record.round;
}

static sotto_status note_posted(const learn_run *run, sotto_err *err)
{
    char text[32];
    const int len = snprintf(text, sizeof text, "%" PRIu64 "\n", run->record.round);

    return learn_put_file(run, "posted", sotto_bytes_of(text, (size_t)len), err);
}

sotto_status learn_encrypted_post(learn_one *one, sotto_err *err)
{
    const sotto_epoch *epoch = &one->epoch.epoch;
    uint8_t bytes[SOTTO_ROUND_MOST_BYTES];
    sotto_buf round = sotto_buf_over(bytes, sizeof bytes), wire;

    SOTTO_TRY(draw(one, err));
    one->encrypted->board = (demo_board){0};
    SOTTO_TRY(note_posted(one->run, err));
    SOTTO_TRY(sotto_round_encode(&round, &one->encrypted->round, err));
    SOTTO_TRY(sotto_round_id(&one->encrypted->round, one->id, err));
    const bool handed = one->encrypted->plan.terms.handed != 0;
    const sotto_posting posting = {.registry = epoch->registry,
                                   .part_count = epoch->part_count,
                                   .parts = epoch->parts,
                                   .round = sotto_buf_bytes(&round),
                                   .old_part_count = handed ? one->encrypted->last.part_count : 0,
                                   .old_parts = one->encrypted->last.parts};
    SOTTO_TRY(sotto_buf_take(&wire, &one->run->round_arena, 1 << 18, err));
    SOTTO_TRY(sotto_posting_encode(&wire, &posting, err));
    one->posting = sotto_buf_bytes(&wire);
    note_origin(one);
    sotto_arena_reset(&one->asking);
    return demo_aggregator_post(&one->server, one->epoch.client, one->posting, &one->asking, err);
}

bool learn_encrypted_serves(const learn_one *one, uint32_t device)
{
    const sotto_aero_plan *drawn = one->encrypted->drawn;

    return sotto_aero_committee_place(drawn, device) >= 0 ||
           sotto_aero_old_place(drawn, device) >= 0 || sotto_aero_noise_place(drawn, device) >= 0;
}

/* A member that is away when half of a phase is over can't tell whether the server was in time, and signs for nothing. */
void learn_encrypted_look(learn_one *one)
{
    learn_encrypted *e = one->encrypted;
    const sotto_aero_plan *drawn = e->drawn;

    if (now_ms() >= e->members_at + MEMBERS_MS) {
        for (uint32_t i = 0; i < drawn->members + drawn->old_members; i++)
            learn_one_tick_device(one,
                                  drawn->committee[i]); /* who hands over a key stands behind */
        e->members_at = now_ms();
    }
    if (now_ms() < e->read_at + READ_MS)
        return;
    e->read_at = now_ms();
    sotto_arena_reset(&one->asking);
    demo_board_read(&e->board, &one->server, one->epoch.client, &e->round, one->id, &one->asking);
}

/* How far a round came that opened nothing. */
void learn_encrypted_say(const learn_one *one)
{
    sotto_stated_encryption said = {0};
    char text[200] = "nothing";
    size_t len = 0;

    demo_board_entries(&said, &one->encrypted->board);
    for (size_t i = 0; i < said.entry_count && len < sizeof text; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", i > 0 ? ", " : "",
                                said.entries[i].what);
    learn_say(one->run, "round %" PRIu64 ": nothing was opened; its board has %s",
              one->run->record.round, text);
}

/* ---- what a receipt says of it -------------------------------------------------------------------------------------------- */

static void add_cause(sotto_stated_encryption *out, const char *cause, uint64_t devices)
{
    if (devices == 0)
        return;
    out->dropped[out->dropped_count].cause = cause;
    out->dropped[out->dropped_count++].devices = devices;
}

void learn_one_tell(const learn_run *run, sotto_learning_receipt *receipt)
{
    const learn_encrypted *e = run->one ? run->one->encrypted : NULL;
    sotto_stated_encryption *out = &receipt->encryption;

    if (!e)
        return;
    add_cause(out, "drawn devices that were switched off", e->lost);
    add_cause(out, "devices whose update was not proved in time",
              run->took_part > run->sent ? run->took_part - run->sent : 0);
    demo_board_entries(out, &e->board);
}
