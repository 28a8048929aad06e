/* A committee makes its key over the aggregator's board, and hands it on. */
#define _POSIX_C_SOURCE 200809L
#include "aggregation.h"

#include "base/arena.h"
#include "base/hex.h"
#include "device/duties/inside.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { DEVICES = 6, MEMBERS = 4, STEP_MS = 5000, TURNS = 200 };

static const char *place_of(sotto_test *t, sotto_bytes call, const char *what)
{
    char id[2 * SOTTO_KEYGEN_ID + 1], *out = sotto_arena_take(&t->arena, 200);
    sotto_keygen k;

    CHECK(t, out != NULL);
    CHECK_OK(t, sotto_keygen_open(&k, call, &t->arena, &t->err));
    sotto_hex_encode(id, sotto_bytes_of(k.id, sizeof k.id));
    (void)snprintf(out, 200, "keygens/%s%s", id, what);
    return out;
}

static sotto_bytes call_of(sotto_test *t, aggregation *a, bool hands_on)
{
    const sotto_fleet_call wanted = {.members = MEMBERS,
                                     .step_ms = STEP_MS,
                                     .now = aggregation_now(a),
                                     .ends = aggregation_now(a) + 600000,
                                     .hands_on = hands_on,
                                     .token = OPERATOR};
    sotto_bytes call;

    CHECK_OK(t, sotto_fleet_call_keygen(&a->fleet, &wanted, &call, &t->err));
    return call;
}

/* The open step, and how many posts there are. */
static unsigned step_of(sotto_test *t, aggregation *a, sotto_bytes call, unsigned *posts)
{
    static const uint8_t since[8];
    const sotto_http_response r =
        aggregation_ask(t, a, SOTTO_HTTP_POST, place_of(t, call, "/board"), "",
                        SOTTO_KEYGEN_SINCE_TYPE, sotto_bytes_of(since, sizeof since));

    CHECK_EQUAL(t, 200, r.status);
    CHECK(t, r.body.len >= 5);
    *posts = (unsigned)r.body.data[3] << 8 | r.body.data[4];
    return r.body.data[0];
}

/* Turns until the board is closed. */
static void finish(sotto_test *t, aggregation *a, sotto_bytes call)
{
    unsigned posts;

    for (unsigned i = 0; i < TURNS && step_of(t, a, call, &posts) != SOTTO_KEYGEN_OVER; i++)
        aggregation_turn(t, a, 1000);
    CHECK_EQUAL(t, SOTTO_KEYGEN_OVER, step_of(t, a, call, &posts));
    aggregation_turn(t, a, 1000);
    CHECK_OK(t, sotto_fleet_read_key(&a->fleet, call, &t->err));
}

/* A round with this committee. */
static void check_round(sotto_test *t, aggregation *a)
{
    CHECK_EQUAL(t, 201, aggregation_post(t, a, DEVICES));
    for (uint32_t i = 0; i < DEVICES; i++)
        aggregation_answer(t, a, i, true);
    CHECK(t, aggregation_ends(t, a, "released"));
    CHECK(t, aggregation_sum_is(t, a, (1u << DEVICES) - 1));
}

static unsigned shares(sotto_test *t, const aggregation *a, uint64_t epoch)
{
    unsigned count = 0;

    for (uint32_t i = 0; i < DEVICES; i++) {
        char path[SOTTO_FLEET_PATH];
        int64_t found = 0;
        sqlite3 *db;
        char sql[128];

        (void)snprintf(path, sizeof path, "%s", a->fleet.devices[i].journal);
        (void)snprintf(sql, sizeof sql,
                       "SELECT count(*) FROM share WHERE epoch = %u AND share IS NOT NULL",
                       (unsigned)epoch);
        CHECK_EQUAL(t, SQLITE_OK, sqlite3_open(path, &db));
        CHECK_OK(t, sotto_sqlite_number(db, &found, sql, "test", &t->err));
        (void)sqlite3_close(db);
        count += (unsigned)found;
    }
    return count;
}

/* Shares of other keys are none of its business: of that of epoch 1, and of one of epoch 0. */
static void a_committee_makes_its_key_on_the_board(sotto_test *t)
{
    static const uint8_t share[32] = {9};
    aggregation a;

    aggregation_open(t, &a, DEVICES, MEMBERS, "");
    for (uint32_t i = 0; i < DEVICES; i++)
        CHECK_OK(t, sotto_journal_put_share(&a.fleet.devices[i].duties->journal,
                                            a.fleet.epoch.session, 0, share, &t->err));
    finish(t, &a, call_of(t, &a, false));
    CHECK_EQUAL(t, DEVICES, shares(t, &a, 0));
    CHECK_EQUAL(t, MEMBERS, shares(t, &a, 1));
    CHECK_EQUAL(t, MEMBERS, shares(t, &a, 2));
    check_round(t, &a);
    aggregation_close(&a);
}

static void a_key_is_handed_on_and_old_shares_are_erased(sotto_test *t)
{
    aggregation a;
    uint8_t key[SOTTO_P256_WIDE];

    aggregation_open(t, &a, DEVICES, MEMBERS, "");
    memcpy(key, a.fleet.epoch.record.key, sizeof key);
    CHECK_EQUAL(t, MEMBERS, shares(t, &a, 1));
    finish(t, &a, call_of(t, &a, true));
    CHECK(t, memcmp(key, a.fleet.epoch.record.key, sizeof key) == 0);
    CHECK_EQUAL(t, 0, shares(t, &a, 1));
    CHECK_EQUAL(t, MEMBERS, shares(t, &a, 2));
    check_round(t, &a);
    aggregation_close(&a);
}

static void everybody_may_crash_after_any_exchange(sotto_test *t)
{
    aggregation a;
    unsigned posts;

    aggregation_open(t, &a, DEVICES, MEMBERS, "");
    const sotto_bytes call = call_of(t, &a, false);
    for (unsigned i = 0; i < TURNS && step_of(t, &a, call, &posts) != SOTTO_KEYGEN_OVER; i++) {
        a.fleet.exchanges_left = 1 + i % 12;
        aggregation_turn(t, &a, 100);
        aggregation_restart(t, &a);
    }
    a.fleet.exchanges_left = UINT_MAX;
    finish(t, &a, call);
    CHECK_EQUAL(t, MEMBERS, shares(t, &a, 2));
    check_round(t, &a);
    aggregation_close(&a);
}

/* Of this epoch it has a share already, which some round may need. It keeps that one, and signs for no other. */
static void a_share_that_is_there_is_not_replaced(sotto_test *t)
{
    static const uint8_t share[32] = {9};
    uint8_t kept[32];
    aggregation a;
    sotto_keygen k;

    aggregation_open(t, &a, DEVICES, MEMBERS, "");
    const sotto_bytes call = call_of(t, &a, false);
    CHECK_OK(t, sotto_keygen_open(&k, call, &t->arena, &t->err));
    sotto_journal *journal = &a.fleet.devices[k.members[2]].duties->journal;
    CHECK_OK(t, sotto_journal_put_share(journal, k.session, k.epoch, share, &t->err));
    finish(t, &a, call);
    CHECK(t, a.fleet.epoch.record.is_signed[1] && !a.fleet.epoch.record.is_signed[2]);
    CHECK_OK(t, sotto_journal_share(journal, k.session, k.epoch, kept, &t->err));
    CHECK_BYTES(t, share, kept, sizeof kept);
    aggregation_close(&a);
}

static void a_lost_member_costs_its_time_once(sotto_test *t)
{
    aggregation a;

    aggregation_open(t, &a, DEVICES, MEMBERS, "");
    const sotto_bytes call = call_of(t, &a, false);
    sotto_keygen k;

    CHECK_OK(t, sotto_keygen_open(&k, call, &t->arena, &t->err));
    aggregation_turn(t, &a, 0);
    /* It has dealt, and counts: what it does not reveal is rebuilt. */
    sotto_fleet_kill(&a.fleet, k.members[1]);
    const uint64_t before = aggregation_now(&a);
    finish(t, &a, call);
    CHECK(t, aggregation_now(&a) - before < 2 * STEP_MS + 16000);
    CHECK(t, !a.fleet.epoch.record.is_signed[1]);
    CHECK_EQUAL(t, MEMBERS - 1, shares(t, &a, 2));
    CHECK_OK(t, sotto_fleet_revive(&a.fleet, k.members[1], &t->err));
    aggregation_close(&a);
}

static void who_slept_until_the_end_erases_what_it_handed_on(sotto_test *t)
{
    aggregation a;
    sotto_keygen k;

    aggregation_open(t, &a, DEVICES, MEMBERS, "");
    const sotto_bytes call = call_of(t, &a, true);
    CHECK_OK(t, sotto_keygen_open(&k, call, &t->arena, &t->err));
    aggregation_turn(t, &a, 0);
    sotto_fleet_kill(&a.fleet, k.dealer[1]);
    finish(t, &a, call);
    CHECK_EQUAL(t, 1, shares(t, &a, 1));
    sotto_sim_clock_advance(&a.time, (k.ends - aggregation_now(&a)) * 1000000);
    CHECK_OK(t, sotto_fleet_revive(&a.fleet, k.dealer[1], &t->err));
    a.fleet.devices[k.dealer[1]].next_ms = 0;
    aggregation_turn(t, &a, 1000);
    CHECK_EQUAL(t, 0, shares(t, &a, 1));
    aggregation_close(&a);
}

static sotto_status spoil(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_sql q;

    (void)context;
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE keygen SET wire = ?1", err));
    sotto_sql_bytes(&q, 1, sotto_bytes_of("x", 1));
    return sotto_sql_run(&q, NULL, err);
}

/* A device looks four times a second: the call, with everybody who is registered, is read once. */
static void a_look_at_the_board_reads_no_call(sotto_test *t)
{
    unsigned posts;
    aggregation a;

    aggregation_open(t, &a, DEVICES, MEMBERS, "");
    const sotto_bytes call = call_of(t, &a, false);
    CHECK_EQUAL(t, SOTTO_KEYGEN_DEAL, step_of(t, &a, call, &posts));
    CHECK_OK(t, sotto_db_run(a.host->db, spoil, NULL, &t->err));
    CHECK_EQUAL(t, SOTTO_KEYGEN_DEAL, step_of(t, &a, call, &posts));
    /* Steps end by the same times. */
    sotto_sim_clock_advance(&a.time, (uint64_t)STEP_MS * 1000000);
    CHECK_EQUAL(t, SOTTO_KEYGEN_COMPLAIN, step_of(t, &a, call, &posts));
    aggregation_close(&a);
}

/* Nor does a post: anybody may send one, and it is the signature that is looked at. */
static void a_post_reads_no_call(sotto_test *t)
{
    static const uint8_t empty[2];
    uint8_t bytes[200];
    sotto_buf wire = sotto_buf_over(bytes, sizeof bytes);
    sotto_keygen_post post = {.step = SOTTO_KEYGEN_COMPLAIN,
                              .body = sotto_bytes_of(empty, sizeof empty)};
    unsigned posts = 0;
    aggregation a;

    aggregation_open(t, &a, DEVICES, MEMBERS, "");
    const sotto_bytes call = call_of(t, &a, false);
    CHECK_EQUAL(t, SOTTO_KEYGEN_DEAL, step_of(t, &a, call, &posts));
    CHECK_OK(t, sotto_db_run(a.host->db, spoil, NULL, &t->err));
    CHECK_OK(t, sotto_keygen_post_encode(&wire, &post, &t->err));
    CHECK_EQUAL(t, 403,
                aggregation_ask(t, &a, SOTTO_HTTP_POST, place_of(t, call, "/posts"), "", "x/y",
                                sotto_buf_bytes(&wire))
                    .status);
    /* Who signs is heard. */
    for (unsigned i = 0; i < TURNS && posts < MEMBERS; i++) {
        aggregation_turn(t, &a, 250);
        (void)step_of(t, &a, call, &posts);
    }
    CHECK(t, posts >= MEMBERS);
    aggregation_close(&a);
}

static void only_the_operator_calls(sotto_test *t)
{
    aggregation a;

    aggregation_open(t, &a, DEVICES, MEMBERS, "");
    const sotto_bytes call = call_of(t, &a, false);
    CHECK_EQUAL(t, 401,
                aggregation_ask(t, &a, SOTTO_HTTP_POST, "keygens", "Bearer nobody",
                                SOTTO_POSTING_TYPE, call)
                    .status);
    /* The same once more is fine; it is read by everybody. */
    CHECK_EQUAL(
        t, 201,
        aggregation_ask(t, &a, SOTTO_HTTP_POST, "keygens", OPERATOR, SOTTO_POSTING_TYPE, call)
            .status);
    const sotto_http_response r =
        aggregation_ask(t, &a, SOTTO_HTTP_GET, place_of(t, call, ""), "", "", (sotto_bytes){0});
    CHECK_EQUAL(t, 200, r.status);
    CHECK(t, r.body.len == call.len && memcmp(r.body.data, call.data, call.len) == 0);
    aggregation_close(&a);
}

/* As `wanted` was, but for what this changes. */
static unsigned call_again(sotto_test *t, aggregation *a, sotto_bytes call, unsigned what)
{
    sotto_keygen k;
    sotto_buf wire;

    CHECK_OK(t, sotto_keygen_open(&k, call, &t->arena, &t->err));
    k.epoch += what == 0 ? 0 : 1;
    k.ends = what == 1 ? aggregation_now(a) : k.ends + 1;
    k.posting.registry.server[0] ^= what == 2;
    CHECK_OK(t, sotto_buf_take(&wire, &t->arena, call.len + 100, &t->err));
    CHECK_OK(t, sotto_keygen_encode(&wire, &k, &t->arena, &t->err));
    return aggregation_ask(t, a, SOTTO_HTTP_POST, "keygens", OPERATOR, SOTTO_POSTING_TYPE,
                           sotto_buf_bytes(&wire))
        .status;
}

static void calls_that_cannot_be_are_refused(sotto_test *t)
{
    aggregation a;

    aggregation_open(t, &a, DEVICES, MEMBERS, "");
    const sotto_bytes call = call_of(t, &a, false);
    CHECK_EQUAL(t, 422, call_again(t, &a, call, 0)); /* another one of this epoch */
    CHECK_EQUAL(t, 409, call_again(t, &a, call, 1)); /* of the past */
    CHECK_EQUAL(t, 422, call_again(t, &a, call, 2)); /* of another server */
    CHECK_EQUAL(t, 201, call_again(t, &a, call, 3));
    aggregation_close(&a);
}

static void many_participants_are_refused(sotto_test *t)
{
    aggregation a;
    const sotto_fleet_call wanted = {.members = MEMBERS,
                                     .step_ms = STEP_MS,
                                     .now = UINT64_MAX / 2,
                                     .ends = UINT64_MAX / 2,
                                     .token = OPERATOR};
    sotto_bytes call;

    aggregation_open(t, &a, DEVICES, MEMBERS, "max_participants = 5\n");
    CHECK_STATUS(t, SOTTO_DENIED, sotto_fleet_call_keygen(&a.fleet, &wanted, &call, &t->err));
    aggregation_close(&a);
}

static void posts_come_once_and_in_their_step(sotto_test *t)
{
    static const uint8_t empty[2];
    aggregation a;
    sotto_keygen k;
    unsigned posts;

    aggregation_open(t, &a, DEVICES, MEMBERS, "");
    const sotto_bytes call = call_of(t, &a, false);
    CHECK_OK(t, sotto_keygen_open(&k, call, &t->arena, &t->err));
    sotto_keygen_post post = {.step = SOTTO_KEYGEN_COMPLAIN,
                              .body = sotto_bytes_of(empty, sizeof empty)};
    uint8_t bytes[200];
    sotto_buf wire = sotto_buf_over(bytes, sizeof bytes);

    /* Not signed by who is there. */
    CHECK_OK(t, sotto_keygen_post_encode(&wire, &post, &t->err));
    CHECK_EQUAL(t, 403,
                aggregation_ask(t, &a, SOTTO_HTTP_POST, place_of(t, call, "/posts"), "", "x/y",
                                sotto_buf_bytes(&wire))
                    .status);
    CHECK_EQUAL(t, 400,
                aggregation_ask(t, &a, SOTTO_HTTP_POST, place_of(t, call, "/posts"), "", "x/y",
                                sotto_bytes_of(bytes, 3))
                    .status);
    /* Nobody posts, and the time goes on: each step opens by the clock. */
    CHECK_EQUAL(t, SOTTO_KEYGEN_DEAL, step_of(t, &a, call, &posts));
    a.fleet.exchanges_left = 0;
    for (unsigned step = SOTTO_KEYGEN_DEAL; step < SOTTO_KEYGEN_OVER; step++) {
        aggregation_turn(t, &a, STEP_MS - 1);
        CHECK_EQUAL(t, step, step_of(t, &a, call, &posts));
        aggregation_turn(t, &a, 1);
        CHECK_EQUAL(t, step + 1, step_of(t, &a, call, &posts));
        CHECK_EQUAL(t, 0, posts);
    }
    aggregation_close(&a);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_committee_makes_its_key_on_the_board),
        CASE(a_key_is_handed_on_and_old_shares_are_erased),
        CASE(everybody_may_crash_after_any_exchange),
        CASE(a_share_that_is_there_is_not_replaced),
        CASE(a_lost_member_costs_its_time_once),
        CASE(who_slept_until_the_end_erases_what_it_handed_on),
        CASE(a_look_at_the_board_reads_no_call),
        CASE(a_post_reads_no_call),
        CASE(only_the_operator_calls),
        CASE(calls_that_cannot_be_are_refused),
        CASE(many_participants_are_refused),
        CASE(posts_come_once_and_in_their_step),
    };

    return RUN_TESTS(argc, argv, cases);
}
