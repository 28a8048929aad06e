/* One server and devices with duties, over HTTP: sums, dropouts, crashes, and what is refused. */
#define _POSIX_C_SOURCE 200809L
#include "aggregation.h"

#include "aggregate/flamingo/flamingo.h"
#include "base/alloc.h"
#include "serve/aggregator/aggregator.h"

#include <limits.h>
#include <sqlite3.h>
#include <string.h>

static const sotto_bytes nothing = {NULL, 0};

static void a_sum_is_released_without_those_who_dropped(sotto_test *t)
{
    aggregation a;

    aggregation_open(t, &a, 12, 7, "");
    CHECK_EQUAL(t, 201, aggregation_post(t, &a, 7));
    for (uint32_t i = 0; i < 12; i++)
        aggregation_answer(t, &a, i, i >= 3); /* three never report */
    /* The committee lasts without two of its seven. */
    for (uint32_t i = 0; i < 2; i++)
        sotto_fleet_kill(&a.fleet, a.fleet.epoch.record.members[i]);
    const uint32_t gone[] = {a.fleet.epoch.record.members[0], a.fleet.epoch.record.members[1]};
    uint64_t stay = 0xff8;
    for (size_t i = 0; i < 2; i++)
        stay &= ~((uint64_t)1 << gone[i]); /* they are clients, too */
    CHECK(t, aggregation_ends(t, &a, "released"));
    CHECK(t, aggregation_sum_is(t, &a, stay));
    aggregation_close(&a);
}

static void too_few_reports_burn_the_round(sotto_test *t)
{
    aggregation a;

    aggregation_open(t, &a, 5, 3, "");
    CHECK_EQUAL(t, 201, aggregation_post(t, &a, 4));
    for (uint32_t i = 0; i < 5; i++)
        aggregation_answer(t, &a, i, i < 3);
    CHECK(t, aggregation_ends(t, &a, "burnt"));
    CHECK_EQUAL(t, 409,
                aggregation_ask(t, &a, SOTTO_HTTP_GET, aggregation_place(t, &a, "/sum"), OPERATOR,
                                "text/plain", nothing)
                    .status);
    aggregation_close(&a);
}

/* Everybody loses power after each request in turn, the server among them; and the sum is the sum. */
static void a_restart_after_any_request_changes_nothing(sotto_test *t)
{
    const unsigned step = sotto_test_on_postgres() || sotto_test_rule_is_off() ? 5 : 1;
    aggregation a;

    aggregation_open(t, &a, 4, 3, "");
    for (unsigned after = 0; after < 24; after += step) {
        CHECK_EQUAL(t, 201, aggregation_post(t, &a, 4));
        for (uint32_t i = 0; i < 4; i++)
            aggregation_answer(t, &a, i, true);
        a.fleet.exchanges_left = after;
        for (unsigned i = 0; i < 6; i++)
            aggregation_turn(t, &a, 250);
        aggregation_restart(t, &a);
        a.fleet.exchanges_left = UINT_MAX;
        CHECK(t, aggregation_ends(t, &a, "released"));
        CHECK(t, aggregation_sum_is(t, &a, 0xf));
    }
    aggregation_close(&a);
}

/* As it is in the journal of a decryptor that signed other labels of this round, and came back from a copy that forgot all else. */
static void vow_otherwise(sotto_test *t, const aggregation *a, uint32_t member)
{
    char *sql = sqlite3_mprintf(
        "INSERT INTO vow SELECT session, epoch, %llu, %d, %u, zeroblob(32) FROM share LIMIT 1",
        (unsigned long long)a->number, SOTTO_FLAMINGO_VOTE, member);
    sqlite3 *db;

    CHECK_EQUAL(t, SQLITE_OK, sqlite3_open(a->fleet.devices[member].journal, &db));
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_exec(db, sql, NULL, NULL, NULL));
    CHECK_EQUAL(t, 1, sqlite3_changes(db));
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_close(db));
    sqlite3_free(sql);
}

/* Two of three are a quorum. Where two have a vow for other labels, there is none for these. */
static void a_decryptor_that_vowed_other_labels_signs_none(sotto_test *t)
{
    aggregation a;

    aggregation_open(t, &a, 4, 3, "");
    for (uint32_t vowed = 1; vowed < 3; vowed++) {
        CHECK_EQUAL(t, 201, aggregation_post(t, &a, 4));
        for (uint32_t i = 0; i < 4; i++)
            aggregation_answer(t, &a, i, true);
        for (uint32_t i = 0; i < vowed; i++)
            vow_otherwise(t, &a, a.fleet.epoch.record.members[i]);
        CHECK(t, aggregation_ends(t, &a, vowed == 1 ? "released" : "burnt"));
    }
    aggregation_close(&a);
}

/* Half of the devices speak to each. Whoever comes second with a step begins it again. */
static void two_replicas_finish_one_round(sotto_test *t)
{
    sotto_host *second;
    aggregation a;

    if (!sotto_test_on_postgres())
        NOT_FOR_THIS_DATABASE(t, "a file has one server");
    aggregation_open(t, &a, 8, 5, "");
    second = aggregation_second(t, &a);
    sotto_fleet_aim(&a.fleet, sotto_host_port(second));
    for (uint32_t i = 0; i < 8; i += 2) {
        sotto_fleet_kill(&a.fleet, i);
        CHECK_OK(t, sotto_fleet_revive(&a.fleet, i, &t->err));
    }
    CHECK_EQUAL(t, 201, aggregation_post(t, &a, 6));
    for (uint32_t i = 0; i < 8; i++)
        aggregation_answer(t, &a, i, i != 3);
    CHECK(t, aggregation_ends(t, &a, "released"));
    CHECK(t, aggregation_sum_is(t, &a, 0xf7));
    aggregation_close(&a);
}

static void rounds_run_beside_each_other(sotto_test *t)
{
    uint8_t first[SOTTO_ROUND_ID];
    aggregation a;

    aggregation_open(t, &a, 4, 3, "");
    CHECK_EQUAL(t, 201, aggregation_post(t, &a, 3));
    memcpy(first, a.id, sizeof first);
    for (uint32_t i = 0; i < 4; i++)
        aggregation_answer(t, &a, i, true);
    CHECK_EQUAL(t, 201, aggregation_post(t, &a, 3));
    for (uint32_t i = 0; i < 4; i++)
        aggregation_answer(t, &a, i, i != 2);
    CHECK(t, aggregation_ends(t, &a, "released"));
    CHECK(t, aggregation_sum_is(t, &a, 0xb));
    memcpy(a.id, first, sizeof first);
    CHECK(t, aggregation_ends(t, &a, "released"));
    CHECK(t, aggregation_sum_is(t, &a, 0xf));
    aggregation_close(&a);
}

/* ---- what is refused ------------------------------------------------------------------------------------------------ */

static void only_the_operator_posts_rounds_and_reads_sums(sotto_test *t)
{
    static const char *const places[] = {"/result", "/sum"};
    aggregation a;

    aggregation_open(t, &a, 3, 3, "");
    CHECK_EQUAL(t, 201, aggregation_post(t, &a, 2));
    CHECK_EQUAL(t, 401,
                aggregation_ask(t, &a, SOTTO_HTTP_POST, "rounds", "Bearer somebody-else",
                                SOTTO_POSTING_TYPE, a.posting)
                    .status);
    for (size_t i = 0; i < 2; i++)
        CHECK_EQUAL(t, 401,
                    aggregation_ask(t, &a, SOTTO_HTTP_GET, aggregation_place(t, &a, places[i]),
                                    "Bearer somebody-else", "text/plain", nothing)
                        .status);
    CHECK_EQUAL(t, 503,
                aggregation_ask(t, &a, SOTTO_HTTP_GET, aggregation_place(t, &a, "/sum"), OPERATOR,
                                "text/plain", nothing)
                    .status);
    aggregation_close(&a);
}

static unsigned post_again(sotto_test *t, const aggregation *a, sotto_bytes posting)
{
    return aggregation_ask(t, a, SOTTO_HTTP_POST, "rounds", OPERATOR, SOTTO_POSTING_TYPE, posting)
        .status;
}

static void a_number_is_used_once(sotto_test *t)
{
    aggregation a;

    aggregation_open(t, &a, 3, 3, "");
    CHECK_EQUAL(t, 201, aggregation_post(t, &a, 2));
    CHECK_EQUAL(t, 409, post_again(t, &a, a.posting));
    a.number--;
    sotto_sim_clock_advance(&a.time, 1000000000);
    CHECK_EQUAL(t, 422, aggregation_post(t, &a, 2)); /* another round of the same number */
    CHECK_EQUAL(t, 400, post_again(t, &a, sotto_bytes_of(a.posting.data, a.posting.len - 1)));
    CHECK_EQUAL(t, 400, post_again(t, &a, nothing));
    aggregation_close(&a);
}

static void rounds_of_another_server_are_refused(sotto_test *t)
{
    aggregation a;

    aggregation_open(t, &a, 3, 3, "");
    /* A server that may not sign for a round could not finish it. Its registry's key is the second field. */
    a.fleet.epoch.registry.server[0] ^= 1;
    a.fleet.epoch.number++;
    CHECK_OK(t, sotto_epoch_draw(&a.fleet.epoch, 3, &t->arena, &t->err));
    CHECK_OK(t, sotto_fleet_install(&a.fleet, &t->err));
    CHECK_EQUAL(t, 422, aggregation_post(t, &a, 2));
    aggregation_close(&a);
}

/* Devices would not join it, nor witnesses hold anything of it. */
static void a_round_of_another_century_is_refused(sotto_test *t)
{
    aggregation a;

    aggregation_open(t, &a, 3, 3, "");
    a.opens_in = SOTTO_ROUND_MOST_MS + 60000;
    CHECK_EQUAL(t, 422, aggregation_post(t, &a, 2));
    a.opens_in = SOTTO_ROUND_MOST_MS;
    CHECK_EQUAL(t, 201, aggregation_post(t, &a, 2));
    aggregation_close(&a);
}

static void sizes_are_limited(sotto_test *t)
{
    aggregation a;

    aggregation_open(t, &a, 4, 3, "max_participants = 3\n");
    CHECK_EQUAL(t, 413, aggregation_post(t, &a, 2));
    aggregation_close(&a);
    aggregation_open(t, &a, 3, 3, "max_vector = 23\n");
    CHECK_EQUAL(t, 413, aggregation_post(t, &a, 2));
    aggregation_close(&a);
    aggregation_open(t, &a, 3, 3, "max_rounds = 1\n");
    CHECK_EQUAL(t, 201, aggregation_post(t, &a, 2));
    CHECK_EQUAL(t, 503, aggregation_post(t, &a, 2));
    aggregation_close(&a);
}

static void a_long_body_for_an_unknown_round_is_not_read(sotto_test *t)
{
    const size_t len = SOTTO_MESSAGE_MOST_BODY + 1000000;
    uint8_t *body = sotto_alloc(len);
    aggregation a;

    aggregation_open(t, &a, 3, 3, "max_vector = 24\n");
    CHECK(t, body != NULL);
    /* Nobody has posted it. Whoever would read the body would find it too long first. */
    CHECK_EQUAL(t, 404,
                aggregation_ask(t, &a, SOTTO_HTTP_POST, aggregation_place(t, &a, "/messages"), "",
                                SOTTO_MESSAGE_TYPE, sotto_bytes_of(body, len))
                    .status);
    CHECK_EQUAL(t, 201, aggregation_post(t, &a, 2));
    CHECK_EQUAL(t, 413,
                aggregation_ask(t, &a, SOTTO_HTTP_POST, aggregation_place(t, &a, "/messages"), "",
                                SOTTO_MESSAGE_TYPE, sotto_bytes_of(body, len))
                    .status);
    sotto_release(body, len);
    aggregation_close(&a);
}

/* max_rounds limits what is posted, not what a server that starts finds. */
static void a_server_that_starts_finds_every_round(sotto_test *t)
{
    enum { ROUNDS = 20 };
    uint8_t ids[ROUNDS][SOTTO_ROUND_ID];
    aggregation a;
    size_t known = 0;

    aggregation_open(t, &a, 3, 3, "max_rounds = 20\n");
    for (size_t i = 0; i < ROUNDS; i++) {
        CHECK_EQUAL(t, 201, aggregation_post(t, &a, 2));
        memcpy(ids[i], a.id, sizeof ids[i]);
    }
    aggregation_restart(t, &a);
    ((sotto_aggregator *)a.host->state)->config.max_rounds = 1;
    aggregation_turn(t, &a, 1000);
    sotto_aggregator *server = a.host->state;
    pthread_mutex_lock(&server->lock);
    for (size_t i = 0; i < ROUNDS; i++)
        known += sotto_aggregator_find(server, ids[i]) != NULL;
    pthread_mutex_unlock(&server->lock);
    CHECK_EQUAL(t, ROUNDS, known);
    aggregation_close(&a);
}

/* They count as soon as it starts, before it has looked for them. */
static void rounds_of_an_earlier_process_count(sotto_test *t)
{
    aggregation a;

    aggregation_open(t, &a, 3, 3, "");
    CHECK_EQUAL(t, 201, aggregation_post(t, &a, 2));
    aggregation_restart(t, &a);
    ((sotto_aggregator *)a.host->state)->config.max_rounds = 1;
    CHECK_EQUAL(t, 503, aggregation_post(t, &a, 2));
    ((sotto_aggregator *)a.host->state)->config.max_rounds = 2;
    CHECK_EQUAL(t, 201, aggregation_post(t, &a, 2));
    aggregation_close(&a);
}

static sotto_status run_text(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, context, err));
    return sotto_sql_run(&q, NULL, err);
}

/* The message that ends a round is stored, whether the end can be stored or not. */
static void an_end_that_fails_loses_no_message(sotto_test *t)
{
    static char away[] = "ALTER TABLE round RENAME COLUMN blamed TO away",
                back[] = "ALTER TABLE round RENAME COLUMN away TO blamed";
    aggregation a;

    aggregation_open(t, &a, 8, 5, "");
    CHECK_EQUAL(t, 201, aggregation_post(t, &a, 3));
    for (uint32_t i = 0; i < 8; i++)
        aggregation_answer(t, &a, i, true);
    CHECK_OK(t, sotto_db_run(a.host->db, run_text, away, &t->err));
    const sotto_aggregator *server = a.host->state;
    for (unsigned i = 0; i < 100; i++)
        aggregation_turn(t, &a, 250);
    CHECK_EQUAL(t, 0, atomic_load(&server->over));
    CHECK_EQUAL(t, 0, atomic_load(&server->refused));
    CHECK_OK(t, sotto_db_run(a.host->db, run_text, back, &t->err));
    CHECK(t, aggregation_ends(t, &a, "released"));
    aggregation_close(&a);
}

static void a_round_of_the_past_is_refused(sotto_test *t)
{
    aggregation a;

    aggregation_open(t, &a, 3, 3, "");
    CHECK_EQUAL(t, 201, aggregation_post(t, &a, 2));
    const sotto_bytes old = a.posting;
    aggregation_close(&a);
    aggregation_open(t, &a, 3, 3, "");
    sotto_sim_clock_advance(&a.time, UINT64_C(20000) * 1000000);
    CHECK_EQUAL(t, 409, post_again(t, &a, old));
    aggregation_close(&a);
}

/* ---- messages ---------------------------------------------------------------------------------------------------------- */

static unsigned send(sotto_test *t, const aggregation *a, sotto_bytes body)
{
    return aggregation_ask(t, a, SOTTO_HTTP_POST, aggregation_place(t, a, "/messages"), OPERATOR,
                           SOTTO_MESSAGE_TYPE, body)
        .status;
}

/* A message of a registered client that this server has no use for, signed by `signer`. */
static sotto_bytes message_of(sotto_test *t, const aggregation *a, const sotto_signer *signer,
                              uint64_t number, size_t bulk)
{
    static const uint8_t body[32];
    sotto_message m = {.epoch = 1,
                       .round = number,
                       .kind = SOTTO_FLAMINGO_VOTE,
                       .from = a->fleet.epoch.record.members[0],
                       .to = SOTTO_TO_SERVER,
                       .bulk_len = bulk,
                       .body = {body, sizeof body}};
    uint8_t signature[SOTTO_SIGNATURE];
    sotto_buf out;

    memcpy(m.session, a->fleet.epoch.session, sizeof m.session);
    CHECK_OK(t, sotto_message_sign(&m, signature, signer, &t->err));
    const size_t size = sotto_message_size(&m);
    out = sotto_buf_over(sotto_arena_take(&t->arena, size + 4), size + 4);
    for (unsigned i = 0; i < 4; i++)
        out.data[out.len++] = (uint8_t)(size >> (24 - 8 * i));
    CHECK_OK(t, sotto_message_encode(&out, &m, &t->err));
    return sotto_buf_bytes(&out);
}

static void messages_are_refused_for_what_is_wrong(sotto_test *t)
{
    const uint8_t seed[SOTTO_SIGN_SEED] = {9};
    sotto_signer stranger;
    aggregation a;

    aggregation_open(t, &a, 3, 3, "");
    CHECK_EQUAL(t, 201, aggregation_post(t, &a, 2));
    CHECK_OK(t, sotto_signer_init(&stranger, seed, &t->err));
    const sotto_bytes forged = message_of(t, &a, &stranger, a.number, 0);
    CHECK_EQUAL(t, 403, send(t, &a, forged));
    CHECK_EQUAL(t, 409, send(t, &a, message_of(t, &a, &stranger, 99, 0)));
    CHECK_EQUAL(t, 400, send(t, &a, sotto_bytes_of(forged.data, forged.len - 1)));
    CHECK_EQUAL(t, 400, send(t, &a, sotto_bytes_of(forged.data, 3)));
    CHECK_EQUAL(t, 400, send(t, &a, nothing));
    CHECK_EQUAL(t, 415,
                aggregation_ask(t, &a, SOTTO_HTTP_POST, aggregation_place(t, &a, "/messages"),
                                OPERATOR, "text/plain", forged)
                    .status);
    a.id[0] ^= 1;
    CHECK_EQUAL(t, 404, send(t, &a, forged));
    CHECK_EQUAL(
        t, 404,
        aggregation_ask(t, &a, SOTTO_HTTP_GET, "rounds/xyz", OPERATOR, "text/plain", nothing)
            .status);
    sotto_signer_clear(&stranger);
    aggregation_close(&a);
}

/* Whoever missed the answer sends its report again: it counts once. */
static void a_report_that_comes_twice_counts_once(sotto_test *t)
{
    aggregation a;

    aggregation_open(t, &a, 3, 3, "");
    CHECK_EQUAL(t, 201, aggregation_post(t, &a, 3));
    for (uint32_t i = 0; i < 3; i++)
        aggregation_answer(t, &a, i, true);
    /* The first device's report as it stands in its journal. */
    a.fleet.exchanges_left = 0;
    aggregation_turn(t, &a, 1);
    sotto_fleet_kill(&a.fleet, 0);
    const sotto_bytes body = aggregation_waiting(t, &a, 0);
    CHECK_EQUAL(t, 204, send(t, &a, body));
    CHECK_EQUAL(t, 204, send(t, &a, body));
    /* With another vector behind it, it is not taken again, whatever is said. */
    CHECK_EQUAL(t, 400, send(t, &a, sotto_bytes_of(body.data, body.len - 4)));
    a.fleet.exchanges_left = UINT_MAX;
    CHECK_OK(t, sotto_fleet_revive(&a.fleet, 0, &t->err));
    CHECK(t, aggregation_ends(t, &a, "released"));
    CHECK(t, aggregation_sum_is(t, &a, 7));
    CHECK_EQUAL(t, 409, send(t, &a, body));
    aggregation_close(&a);
}

/* Nobody need prove who it is to ask about a round that is over: nothing but its outcome is read. */
static void a_round_that_is_over_is_not_loaded_for_strangers(sotto_test *t)
{
    static const uint8_t small[5] = {0, 0, 0, 1, 7};
    static const uint8_t ask[SOTTO_INBOX_ASK];
    aggregation a;

    aggregation_open(t, &a, 3, 3, "");
    CHECK_EQUAL(t, 201, aggregation_post(t, &a, 3));
    CHECK(t, aggregation_ends(t, &a, "burnt")); /* nobody reports */
    aggregation_restart(t, &a);
    const sotto_aggregator *server = a.host->state;
    CHECK_EQUAL(t, 409, send(t, &a, sotto_bytes_of(small, sizeof small)));
    CHECK_EQUAL(t, 409,
                aggregation_ask(t, &a, SOTTO_HTTP_POST, aggregation_place(t, &a, "/inbox"),
                                OPERATOR, SOTTO_INBOX_TYPE, sotto_bytes_of(ask, sizeof ask))
                    .status);
    CHECK_EQUAL(t, 0, atomic_load(&server->over)); /* no round was loaded */
    aggregation_close(&a);
}

static void an_inbox_is_its_owners(sotto_test *t)
{
    const uint8_t seed[SOTTO_SIGN_SEED] = {9};
    uint8_t text[SOTTO_INBOX_TEXT], ask[SOTTO_INBOX_ASK] = {0};
    sotto_signer stranger;
    aggregation a;

    aggregation_open(t, &a, 3, 3, "");
    CHECK_EQUAL(t, 201, aggregation_post(t, &a, 2));
    CHECK_OK(t, sotto_signer_init(&stranger, seed, &t->err));
    sotto_inbox_text(text, a.id, 0);
    CHECK_OK(t, sotto_sign(&stranger, ask + 12, sotto_bytes_of(text, sizeof text), &t->err));
    CHECK_EQUAL(t, 403,
                aggregation_ask(t, &a, SOTTO_HTTP_POST, aggregation_place(t, &a, "/inbox"),
                                OPERATOR, SOTTO_INBOX_TYPE, sotto_bytes_of(ask, sizeof ask))
                    .status);
    memset(ask, 0xff, 4); /* the server's own index */
    CHECK_EQUAL(t, 403,
                aggregation_ask(t, &a, SOTTO_HTTP_POST, aggregation_place(t, &a, "/inbox"),
                                OPERATOR, SOTTO_INBOX_TYPE, sotto_bytes_of(ask, sizeof ask))
                    .status);
    CHECK_EQUAL(t, 400,
                aggregation_ask(t, &a, SOTTO_HTTP_POST, aggregation_place(t, &a, "/inbox"),
                                OPERATOR, SOTTO_INBOX_TYPE, sotto_bytes_of(ask, 12))
                    .status);
    sotto_signer_clear(&stranger);
    aggregation_close(&a);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_sum_is_released_without_those_who_dropped),
        CASE(too_few_reports_burn_the_round),
        CASE(a_restart_after_any_request_changes_nothing),
        CASE(a_decryptor_that_vowed_other_labels_signs_none),
        CASE(two_replicas_finish_one_round),
        CASE(rounds_run_beside_each_other),
        CASE(only_the_operator_posts_rounds_and_reads_sums),
        CASE(a_number_is_used_once),
        CASE(rounds_of_another_server_are_refused),
        CASE(a_round_of_another_century_is_refused),
        CASE(sizes_are_limited),
        CASE(a_long_body_for_an_unknown_round_is_not_read),
        CASE(a_server_that_starts_finds_every_round),
        CASE(rounds_of_an_earlier_process_count),
        CASE(an_end_that_fails_loses_no_message),
        CASE(a_round_of_the_past_is_refused),
        CASE(messages_are_refused_for_what_is_wrong),
        CASE(a_report_that_comes_twice_counts_once),
        CASE(a_round_that_is_over_is_not_loaded_for_strangers),
        CASE(an_inbox_is_its_owners),
    };
    return RUN_TESTS(argc, argv, cases);
}
