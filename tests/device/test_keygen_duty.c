/* A device in a committee that makes its key: what allows it, what it stores, and what it never says twice. */
#define _POSIX_C_SOURCE 200809L
#include "base/arena.h"
#include "device/duties/inside.h"
#include "support/directory.h"
#include "support/fleet.h"
#include "support/test.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { DEVICES = 5, MEMBERS = 4, ENDS = 100000 };

typedef struct scene {
    sotto_fleet fleet;
    sotto_bytes call;
    sotto_keygen k;
    uint32_t device; /* a member; of a hand-over, one that has a share */
} scene;

/* Nobody listens; what the server says is for the test to say. */
static void open_scene(sotto_test *t, scene *s, bool hands_on)
{
    static const uint8_t server[SOTTO_SIGN_PUBLIC] = {5};
    const sotto_fleet_options options = {.devices = DEVICES,
                                         .members = MEMBERS,
                                         .witnesses = 4,
                                         .folder = sotto_test_directory(t),
                                         .server_key = server,
                                         .port = 1};
    const sotto_fleet_call wanted = {
        .members = MEMBERS, .step_ms = 1000, .ends = ENDS, .hands_on = hands_on};

    memset(s, 0, sizeof *s);
    CHECK_OK(t, sotto_fleet_open(&s->fleet, &options, &t->err));
    s->fleet.exchanges_left = 0;
    CHECK_OK(t, sotto_fleet_write_call(&s->fleet, &wanted, &s->call, &t->err));
    CHECK_OK(t, sotto_keygen_open(&s->k, s->call, &t->arena, &t->err));
    s->device = hands_on ? s->k.dealer[0] : s->k.members[0];
}

static sotto_status join_at(sotto_test *t, scene *s, uint64_t now)
{
    t->err = (sotto_err){0};
    return sotto_duties_join_keygen(s->fleet.devices[s->device].duties, s->call, s->device, now,
                                    &t->err);
}

static sotto_status join(sotto_test *t, scene *s)
{
    return join_at(t, s, 0);
}

/* The server answers everything with this board. */
static sotto_status tick_on(sotto_test *t, scene *s, sotto_bytes board, uint64_t now)
{
    uint64_t next;

    t->err = (sotto_err){0};
    s->fleet.exchanges_left = UINT_MAX;
    s->fleet.answers_with = 200;
    s->fleet.answer = board;
    const sotto_status status =
        sotto_duties_tick(s->fleet.devices[s->device].duties, now, &next, &t->err);
    s->fleet.exchanges_left = 0;
    s->fleet.answer = (sotto_bytes){NULL, 0};
    return status;
}

/* The server says that this step is open, and that nobody posted anything. */
static sotto_status tick(sotto_test *t, scene *s, uint8_t step, uint64_t now)
{
    const uint8_t board[5] = {step};

    return tick_on(t, s, sotto_bytes_of(board, sizeof board), now);
}

static int64_t number(sotto_test *t, const scene *s, const char *sql)
{
    int64_t out = -1;
    sqlite3 *db;

    CHECK_EQUAL(t, SQLITE_OK, sqlite3_open(s->fleet.devices[s->device].journal, &db));
    CHECK_OK(t, sotto_sqlite_number(db, &out, sql, "test", &t->err));
    (void)sqlite3_close(db);
    return out;
}

/* What this device said in its first step. */
static sotto_bytes said(sotto_test *t, const scene *s)
{
    sqlite3_stmt *q;
    sqlite3 *db;

    CHECK_EQUAL(t, SQLITE_OK, sqlite3_open(s->fleet.devices[s->device].journal, &db));
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_prepare_v2(db, "SELECT wire FROM said", -1, &q, NULL));
    CHECK_EQUAL(t, SQLITE_ROW, sqlite3_step(q));
    const size_t len = (size_t)sqlite3_column_bytes(q, 0);
    uint8_t *copy = sotto_arena_take(&t->arena, len);
    CHECK(t, copy && len > 0);
    memcpy(copy, sqlite3_column_blob(q, 0), len);
    (void)sqlite3_finalize(q);
    (void)sqlite3_close(db);
    return sotto_bytes_of(copy, len);
}

static void a_committee_is_what_the_application_knows(sotto_test *t)
{
    sotto_duties_terms terms;
    scene s;

    open_scene(t, &s, false);
    sotto_duties *d = s.fleet.devices[s.device].duties;
    terms = s.fleet.terms;
    terms.registry[0] ^= 1;
    sotto_duties_expect(d, &terms);
    CHECK_STATUS(t, SOTTO_DENIED, join(t, &s));
    terms = s.fleet.terms;
    terms.committee = MEMBERS + 1;
    sotto_duties_expect(d, &terms);
    CHECK_STATUS(t, SOTTO_DENIED, join(t, &s));
    terms.committee = 0; /* the application never said */
    sotto_duties_expect(d, &terms);
    CHECK_STATUS(t, SOTTO_DENIED, join(t, &s));
    sotto_duties_expect(d, &s.fleet.terms);
    CHECK_OK(t, join(t, &s));
    CHECK_STATUS(t, SOTTO_STALE, join(t, &s));
    sotto_fleet_close(&s.fleet);
}

static void nobody_joins_without_consent_or_for_others(sotto_test *t)
{
    scene s;

    open_scene(t, &s, false);
    sotto_duties *d = s.fleet.devices[s.device].duties;
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_duties_join_keygen(d, s.call, (s.device + 1) % DEVICES, 0, &t->err));
    CHECK_OK(t, sotto_duties_consent(d, false, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, join(t, &s));
    CHECK_OK(t, sotto_duties_consent(d, true, &t->err));
    CHECK_OK(t, join(t, &s));
    CHECK_EQUAL(t, 1, number(t, &s, "SELECT count(*) FROM keygen WHERE seed IS NOT NULL"));
    /* A no erases what it would deal. */
    CHECK_OK(t, sotto_duties_consent(d, false, &t->err));
    CHECK_EQUAL(t, 0, number(t, &s, "SELECT count(*) FROM keygen WHERE seed IS NOT NULL"));
    sotto_fleet_close(&s.fleet);
}

/* The registry has other keys where this device is, or it has no place. */
static void a_place_is_of_whoever_has_its_keys(sotto_test *t)
{
    sotto_buf wire;
    scene s;

    open_scene(t, &s, false);
    sotto_duties *d = s.fleet.devices[s.device].duties;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_duties_join_keygen(d, s.call, DEVICES, 0, &t->err));
    CHECK_REASON(t, "other keys");
    for (unsigned i = 0; i < 2; i++) {
        const uint8_t(*keys)[32] = i ? s.k.posting.registry.channel : s.k.posting.registry.keys;
        uint8_t *key = (uint8_t *)(size_t)keys[s.device];

        key[0] ^= 1;
        CHECK_OK(t, sotto_buf_take(&wire, &t->arena, s.call.len, &t->err));
        CHECK_OK(t, sotto_keygen_encode(&wire, &s.k, &t->arena, &t->err));
        t->err = (sotto_err){0};
        CHECK_STATUS(t, SOTTO_DENIED,
                     sotto_duties_join_keygen(d, sotto_buf_bytes(&wire), s.device, 0, &t->err));
        CHECK_REASON(t, "other keys");
        key[0] ^= 1;
    }
    for (s.device = 0; sotto_keygen_place(&s.k, SOTTO_KEYGEN_DEAL, s.device) >= 0;)
        s.device++;
    CHECK_STATUS(t, SOTTO_DENIED, join(t, &s));
    CHECK_REASON(t, "no place");
    sotto_fleet_close(&s.fleet);
}

/* A beacon that nobody made draws whom its maker likes. */
static void the_witnesses_draw_the_committee(sotto_test *t)
{
    sotto_buf wire;
    scene s;

    open_scene(t, &s, false);
    s.k.posting.parts[0].bytes[70] ^= 1;
    CHECK_OK(t, sotto_buf_take(&wire, &t->arena, s.call.len, &t->err));
    CHECK_OK(t, sotto_keygen_encode(&wire, &s.k, &t->arena, &t->err));
    s.call = sotto_buf_bytes(&wire);
    CHECK_STATUS(t, SOTTO_REJECTED, join(t, &s));
    CHECK_EQUAL(t, 0, number(t, &s, "SELECT count(*) FROM keygen"));
    s.call.len--;
    CHECK_STATUS(t, SOTTO_MALFORMED, join(t, &s));
    sotto_fleet_close(&s.fleet);
}

/* The same call, with another end. */
static void end_at(sotto_test *t, scene *s, uint64_t ends)
{
    sotto_keygen other = s->k;
    sotto_buf wire;

    other.ends = ends;
    CHECK_OK(t, sotto_buf_take(&wire, &t->arena, s->call.len, &t->err));
    CHECK_OK(t, sotto_keygen_encode(&wire, &other, &t->arena, &t->err));
    s->call = sotto_buf_bytes(&wire);
}

static void a_call_ends_soon(sotto_test *t)
{
    static const uint64_t week = (uint64_t)7 * 24 * 3600 * 1000;
    scene s;

    open_scene(t, &s, false);
    end_at(t, &s, 5000 + week);
    CHECK_STATUS(t, SOTTO_DENIED, join_at(t, &s, 4999));
    /* It vowed nothing. */
    CHECK_EQUAL(t, 0, number(t, &s, "SELECT count(*) FROM keygen"));
    CHECK_OK(t, join_at(t, &s, 5000));
    sotto_fleet_close(&s.fleet);
}

static void one_key_is_made_for_an_epoch(sotto_test *t)
{
    scene s;

    open_scene(t, &s, false);
    CHECK_OK(t, join(t, &s));
    end_at(t, &s, ENDS + 1);
    CHECK_STATUS(t, SOTTO_DENIED, join(t, &s));
    sotto_fleet_close(&s.fleet);
}

static void a_post_is_stored_and_goes_again_the_same(sotto_test *t)
{
    scene s;

    open_scene(t, &s, false);
    CHECK_OK(t, join(t, &s));
    /* The answer to its post is no acknowledgement. */
    CHECK_OK(t, tick(t, &s, SOTTO_KEYGEN_DEAL, 1000));
    CHECK_EQUAL(t, 1, number(t, &s, "SELECT count(*) FROM said WHERE step = 1 AND sent = 0"));
    const sotto_bytes first = said(t, &s);
    sotto_fleet_kill(&s.fleet, s.device);
    CHECK_OK(t, sotto_fleet_revive(&s.fleet, s.device, &t->err));
    CHECK_OK(t, tick(t, &s, SOTTO_KEYGEN_DEAL, 2000));
    CHECK_EQUAL(t, 1, number(t, &s, "SELECT count(*) FROM said"));
    CHECK(t, sotto_bytes_equal_vartime(first, said(t, &s)));
    /* It ends with its time, and nothing stays. */
    CHECK_OK(t, tick(t, &s, SOTTO_KEYGEN_DEAL, ENDS));
    CHECK_EQUAL(t, 0, number(t, &s, "SELECT count(*) FROM keygen WHERE seed IS NOT NULL"));
    CHECK_EQUAL(t, 0, number(t, &s, "SELECT count(*) FROM said"));
    sotto_fleet_close(&s.fleet);
}

/* What is no board says nothing of which step is open. */
static void nothing_is_said_without_a_board(sotto_test *t)
{
    static const uint8_t cut[4] = {SOTTO_KEYGEN_DEAL}, whole[5] = {SOTTO_KEYGEN_DEAL};
    uint64_t next = UINT64_MAX;
    scene s;

    open_scene(t, &s, false);
    CHECK_OK(t, join(t, &s));
    CHECK_OK(t, tick_on(t, &s, sotto_bytes_of(cut, sizeof cut), 1000));
    s.fleet.exchanges_left = UINT_MAX;
    s.fleet.answers_with = 404;
    s.fleet.answer = sotto_bytes_of(whole, sizeof whole);
    CHECK_OK(t, sotto_duties_tick(s.fleet.devices[s.device].duties, 2000, &next, &t->err));
    CHECK_EQUAL(t, 0, number(t, &s, "SELECT count(*) FROM said"));
    CHECK_OK(t, tick(t, &s, SOTTO_KEYGEN_DEAL, 3000));
    CHECK_EQUAL(t, 1, number(t, &s, "SELECT count(*) FROM said"));
    sotto_fleet_close(&s.fleet);
}

/* It sees too few deals, and no quorum later. It ends, and what it dealt from is erased. */
static void who_stops_forgets_its_seed(sotto_test *t)
{
    scene s;

    open_scene(t, &s, false);
    CHECK_OK(t, join(t, &s));
    CHECK_OK(t, tick(t, &s, SOTTO_KEYGEN_DEAL, 1000));
    CHECK_STATUS(t, SOTTO_DENIED, tick(t, &s, SOTTO_KEYGEN_AGREE, 2000));
    CHECK_EQUAL(t, 1, number(t, &s, "SELECT ended FROM keygen"));
    CHECK_EQUAL(t, 0, number(t, &s, "SELECT count(*) FROM keygen WHERE seed IS NOT NULL"));
    sotto_fleet_close(&s.fleet);
}

/* Of those who hand on, the first who takes over as well. */
static void pick_who_is_in_both(sotto_test *t, scene *s)
{
    for (uint32_t i = 1; sotto_keygen_place(&s->k, SOTTO_KEYGEN_AGREE, s->device) < 0; i++) {
        CHECK(t, i < s->k.dealers);
        s->device = s->k.dealer[i];
    }
}

/* A server that opens a step which hand-overs do not have neither hears anything nor ends the duty. */
static void steps_that_a_hand_over_has_not_change_nothing(sotto_test *t)
{
    scene s;

    open_scene(t, &s, true);
    pick_who_is_in_both(t, &s);
    CHECK_OK(t, join(t, &s));
    for (uint8_t step = SOTTO_KEYGEN_REVEAL; step < SOTTO_KEYGEN_RECORD; step++)
        CHECK_OK(t, tick(t, &s, step, 1000 * (uint64_t)step));
    CHECK_EQUAL(t, 0, number(t, &s, "SELECT ended FROM keygen"));
    CHECK_EQUAL(t, 0, number(t, &s, "SELECT count(*) FROM said"));
    sotto_fleet_close(&s.fleet);
}

/* Its share is gone, by an earlier hand-over: it has nothing to deal. */
static void a_share_that_is_gone_is_not_handed_on(sotto_test *t)
{
    scene s;

    open_scene(t, &s, true);
    CHECK_OK(t, join(t, &s));
    CHECK_OK(t, sotto_journal_erase_share(&s.fleet.devices[s.device].duties->journal, s.k.session,
                                          s.k.old.epoch, &t->err));
    CHECK_OK(t, tick(t, &s, SOTTO_KEYGEN_DEAL, 1000));
    CHECK_EQUAL(t, 0, number(t, &s, "SELECT count(*) FROM said"));
    CHECK_EQUAL(t, 0, number(t, &s, "SELECT ended FROM keygen"));
    sotto_fleet_close(&s.fleet);
}

static void a_share_that_nobody_took_over_stays(sotto_test *t)
{
    scene s;

    open_scene(t, &s, true);
    CHECK_OK(t, join(t, &s));
    CHECK_OK(t, tick(t, &s, SOTTO_KEYGEN_DEAL, 1000));
    CHECK_EQUAL(t, 1, number(t, &s, "SELECT count(*) FROM said"));
    CHECK_OK(t, tick(t, &s, SOTTO_KEYGEN_OVER, 2000));
    CHECK_EQUAL(t, 1, number(t, &s, "SELECT ended FROM keygen"));
    CHECK_EQUAL(t, 1, number(t, &s, "SELECT count(*) FROM share WHERE share IS NOT NULL"));
    sotto_fleet_close(&s.fleet);
}

static void who_hands_on_and_can_not_take_over_stays_to_the_end(sotto_test *t)
{
    scene s;

    open_scene(t, &s, true);
    pick_who_is_in_both(t, &s);
    CHECK_OK(t, join(t, &s));
    CHECK_OK(t, tick(t, &s, SOTTO_KEYGEN_DEAL, 1000));
    /* It sees nobody's deal, and has no share to sign for. */
    CHECK_OK(t, tick(t, &s, SOTTO_KEYGEN_RECORD, 2000));
    CHECK_EQUAL(t, 0, number(t, &s, "SELECT ended FROM keygen"));
    CHECK_EQUAL(t, 1, number(t, &s, "SELECT count(*) FROM said"));
    CHECK_OK(t, tick(t, &s, SOTTO_KEYGEN_RECORD, ENDS));
    CHECK_EQUAL(t, 1, number(t, &s, "SELECT ended FROM keygen"));
    CHECK_EQUAL(t, 1, number(t, &s, "SELECT count(*) FROM share WHERE share IS NOT NULL"));
    sotto_fleet_close(&s.fleet);
}

/* Everybody in the new committee complains about this device. */
static sotto_bytes complaints(sotto_test *t, const scene *s)
{
    const int place = sotto_keygen_place(&s->k, SOTTO_KEYGEN_DEAL, s->device);
    bool wrong[MEMBERS] = {false};
    sotto_buf board, body, wire;

    wrong[place] = true;
    CHECK_OK(t, sotto_buf_take(&board, &t->arena, 5 + MEMBERS * 400, &t->err));
    sotto_writer w = sotto_writer_on(&board);
    sotto_write_uint(&w, SOTTO_KEYGEN_ANSWER, 1);
    sotto_write_uint(&w, MEMBERS, 4);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        sotto_keygen_post post = {.step = SOTTO_KEYGEN_COMPLAIN, .place = i};

        CHECK_OK(t, sotto_buf_take(&body, &t->arena, 64, &t->err));
        CHECK_OK(t, sotto_keygen_places_encode(&body, wrong, s->k.dealers, &t->err));
        post.body = sotto_buf_bytes(&body);
        CHECK_OK(t, sotto_keygen_post_sign(
                        &s->k, &post, &s->fleet.devices[s->k.members[i]].duties->signer, &t->err));
        CHECK_OK(t, sotto_buf_take(&wire, &t->arena, 300, &t->err));
        CHECK_OK(t, sotto_keygen_post_encode(&wire, &post, &t->err));
        sotto_write_uint(&w, i, 8);
        sotto_write_opaque32(&w, sotto_buf_bytes(&wire));
    }
    CHECK_OK(t, sotto_writer_finish(&w, "board", &t->err));
    return sotto_buf_bytes(&board);
}

/* A hand-over with an old member that is no new one, which is the scene's device. */
static void open_with_leaver(sotto_test *t, scene *s)
{
    enum { TRIES = 12 }; /* one draw in five has no such dealer */
    bool found = false;

    for (unsigned i = 0; i < TRIES && !found; i++) {
        if (i > 0)
            sotto_fleet_close(&s->fleet);
        open_scene(t, s, true);
        for (uint32_t d = 0; d < s->k.dealers && !found; d++) {
            s->device = s->k.dealer[d];
            found = sotto_keygen_place(&s->k, SOTTO_KEYGEN_AGREE, s->device) < 0;
        }
    }
    CHECK(t, found);
}

/* Liars of two new committees would each have shares of one key. */
static void a_share_goes_to_one_committee(sotto_test *t)
{
    scene s;

    open_with_leaver(t, &s);
    CHECK_OK(t, join(t, &s));
    end_at(t, &s, ENDS + 1);
    CHECK_STATUS(t, SOTTO_DENIED, join(t, &s));
    sotto_fleet_close(&s.fleet);
}

/* So many complaints are not answered. It has its share still, and sees at the end whether others have the key. */
static void a_dealer_that_may_not_answer_stays_to_the_end(sotto_test *t)
{
    scene s;

    open_with_leaver(t, &s);
    CHECK_OK(t, join(t, &s));
    CHECK_OK(t, tick(t, &s, SOTTO_KEYGEN_DEAL, 1000));
    CHECK_OK(t, tick_on(t, &s, complaints(t, &s), 2000));
    CHECK_EQUAL(t, 1, number(t, &s, "SELECT count(*) FROM said")); /* the deal alone */
    CHECK_EQUAL(t, 0, number(t, &s, "SELECT ended FROM keygen"));
    CHECK_EQUAL(t, 1, number(t, &s, "SELECT count(*) FROM share WHERE share IS NOT NULL"));
    sotto_fleet_close(&s.fleet);
}

static void a_post_that_is_shown_again_takes_no_room(sotto_test *t)
{
    enum { TIMES = 3 };
    sotto_buf board;
    scene s;

    open_scene(t, &s, false);
    CHECK_OK(t, join(t, &s));
    CHECK_OK(t, tick(t, &s, SOTTO_KEYGEN_DEAL, 1000));
    const sotto_bytes wire = said(t, &s);
    CHECK_OK(t, sotto_buf_take(&board, &t->arena, 5 + TIMES * (12 + wire.len), &t->err));
    for (uint64_t round = 0; round < 2; round++) {
        board.len = 0;
        sotto_writer w = sotto_writer_on(&board);
        sotto_write_uint(&w, SOTTO_KEYGEN_DEAL, 1);
        sotto_write_uint(&w, (round + 1) * TIMES, 4);
        for (uint64_t n = 0; n < TIMES; n++) {
            sotto_write_uint(&w, round * TIMES + n, 8);
            sotto_write_opaque32(&w, wire);
        }
        CHECK_OK(t, tick_on(t, &s, sotto_buf_bytes(&board), 2000 + round));
        CHECK_EQUAL(t, (round + 1) * TIMES, number(t, &s, "SELECT since FROM keygen"));
        CHECK_EQUAL(t, 1, number(t, &s, "SELECT count(*) FROM posted"));
    }
    sotto_fleet_close(&s.fleet);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_committee_is_what_the_application_knows),
        CASE(nobody_joins_without_consent_or_for_others),
        CASE(a_place_is_of_whoever_has_its_keys),
        CASE(the_witnesses_draw_the_committee),
        CASE(a_call_ends_soon),
        CASE(one_key_is_made_for_an_epoch),
        CASE(a_post_is_stored_and_goes_again_the_same),
        CASE(nothing_is_said_without_a_board),
        CASE(who_stops_forgets_its_seed),
        CASE(steps_that_a_hand_over_has_not_change_nothing),
        CASE(a_share_that_is_gone_is_not_handed_on),
        CASE(a_share_goes_to_one_committee),
        CASE(a_share_that_nobody_took_over_stays),
        CASE(who_hands_on_and_can_not_take_over_stays_to_the_end),
        CASE(a_dealer_that_may_not_answer_stays_to_the_end),
        CASE(a_post_that_is_shown_again_takes_no_room),
    };

    return RUN_TESTS(argc, argv, cases);
}
