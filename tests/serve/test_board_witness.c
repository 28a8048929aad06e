/* A witness of boards: what it holds, for whom, and what that costs it. Proofs are doubles. */
#define _POSIX_C_SOURCE 200809L
#include "observed.h"

#include "aggregate/board_origin.h"
#include "aggregate/excerpt.h"
#include "aggregate/posting.h"
#include "base/hex.h"
#include "serve/witness/held.h"
#include "tlog/witness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* One device has a place, and not all of it. */
static void hold_many(sotto_test *t, const observed *o, const sotto_signer *signer)
{
    unsigned held = 0, status = 204;

    for (uint32_t i = 0; status == 204 && i < 64; i++, held++) {
        const observed_claim large = {SOTTO_AERO_COMPLAINT, i, 1 << 20};

        status = observed_tell(t, o, "messages", observed_write_claim(t, o, signer, &large));
    }
    CHECK_EQUAL(t, 413, status);
    CHECK(t, held > 16);
}

typedef struct offer {
    const uint8_t *round;
    sotto_merkle_hash leaf; /* that it asks for */
    sotto_bytes record;     /* that it has in the place of it */
} offer;

static sotto_status hold_offer(sotto_tx *tx, void *context, sotto_err *err)
{
    const offer *one = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO held (round, leaf, sender, size, posted, record)"
                                " VALUES (?1, ?2, 0, 0, 0, ?3)"
                                " ON CONFLICT (round, leaf) DO UPDATE SET record = excluded.record",
                                err));
    sotto_sql_bytes(&q, 1, sotto_bytes_of(one->round, SOTTO_ROUND_ID));
    sotto_sql_bytes(&q, 2, sotto_bytes_of(one->leaf.bytes, SOTTO_MERKLE_HASH));
    sotto_sql_bytes(&q, 3, one->record);
    return sotto_sql_run(&q, NULL, err);
}

static void leaf_of(sotto_test *t, sotto_merkle_hash *out, sotto_bytes record)
{
    uint8_t bytes[SOTTO_EXCERPT_LEAF];
    sotto_buf leaf = sotto_buf_over(bytes, sizeof bytes);

    CHECK_OK(t, sotto_excerpt_leaf(&leaf, record, &t->err));
    sotto_merkle_leaf(out, sotto_buf_bytes(&leaf));
}

/* A head is asked for again once all that was brought for the one before is on the board, or left out. */
static bool is_fetched(sotto_test *t, observed *o)
{
    const unsigned long before = sotto_logs_metric(t, o->witness, "sotto_witness_withheld");

    for (uint64_t until = 0; sotto_test_waits(&until, 2);) {
        aggregation_turn(t, &o->b.a, 10);
        if (sotto_logs_metric(t, o->witness, "sotto_witness_withheld") > before + 1)
            return true;
    }
    return false;
}

static bool is_on_board(sotto_test *t, observed *o)
{
    for (uint64_t until = 0; sotto_test_waits(&until, 2);) {
        aggregation_turn(t, &o->b.a, 10);
        if (ballot_look(t, &o->b, SOTTO_TO_EVERYBODY).of[SOTTO_AERO_COMPLAINT] == 1)
            return true;
    }
    return false;
}

/* A witness and a device that lie: it asks for one record, and brings others of which nobody said that they are missing. */
static void a_witness_brings_what_it_asks_for(sotto_test *t)
{
    const observed_claim one = {SOTTO_AERO_COMPLAINT, 1, 0}, another = {SOTTO_AERO_COMPLAINT, 2, 0};
    sotto_signer signer;
    observed o;

    observed_open(t, &o, true);
    observed_post_with_key(t, &o, &signer);
    /* Bodies are written in one place. */
    const sotto_bytes asked = observed_write_claim(t, &o, &signer, &one),
                      brought = observed_write_claim(t, &o, &signer, &another);
    observed_members_join(t, &o);
    offer made = {.round = o.b.a.id, .record = {brought.data + 4, brought.len - 4}};
    leaf_of(t, &made.leaf, sotto_bytes_of(asked.data + 4, asked.len - 4));
    CHECK_OK(t, sotto_db_run(o.witness->db, hold_offer, &made, &t->err));
    CHECK(t, is_fetched(t, &o));
    CHECK_EQUAL(t, 0, ballot_look(t, &o.b, SOTTO_TO_EVERYBODY).of[SOTTO_AERO_COMPLAINT]);
    made.record = sotto_bytes_of(asked.data + 4, asked.len - 4);
    CHECK_OK(t, sotto_db_run(o.witness->db, hold_offer, &made, &t->err));
    CHECK(t, is_on_board(t, &o));
    sotto_signer_clear(&signer);
    observed_close(&o);
}

/* What it holds, another process that has its database holds. */
static void restart_witness(sotto_test *t, observed *o, sotto_bytes record)
{
    sotto_merkle_hash hash;
    char id[2 * SOTTO_ROUND_ID + 1], line[200];

    leaf_of(t, &hash, sotto_bytes_of(record.data + 4, record.len - 4));
    sotto_host_close(o->witness);
    o->witness = sotto_logs_open_witness(t, &o->keys, o->database);
    sotto_hex_encode(id, sotto_bytes_of(o->b.a.id, SOTTO_ROUND_ID));
    (void)snprintf(line, sizeof line, "POST /rounds/%s/records", id);
    const sotto_test_answer got =
        sotto_logs_ask(t, sotto_host_port(o->witness), line, "", hash.bytes, sizeof hash.bytes);
    CHECK_EQUAL(t, 200, got.status);
    CHECK_EQUAL(t, record.len, got.body_len);
    CHECK_BYTES(t, record.data, got.body, record.len);
}

/* Until members sign, and a third of the time for verification more: later records would withhold head after head. */
static void a_witness_takes_no_late_records(sotto_test *t)
{
    const observed_claim first = {SOTTO_AERO_COMPLAINT, 1, 0},
                         second = {SOTTO_AERO_COMPLAINT, 2, 0},
                         third = {SOTTO_AERO_COMPLAINT, 3, 0};
    sotto_signer signer;
    observed o;

    observed_open(t, &o, true);
    observed_post_with_key(t, &o, &signer);
    observed_members_join(t, &o);
    CHECK_EQUAL(t, 204, observed_tell(t, &o, "posting", o.b.a.posting));
    CHECK_EQUAL(t, 204,
                observed_tell(t, &o, "messages", observed_write_claim(t, &o, &signer, &first)));
    const uint64_t grace = (o.b.round.verify_by - o.b.round.closes) / 3;
    o.b.a.time.wall = (o.b.round.verify_by + grace) * 1000000;
    CHECK_EQUAL(t, 204,
                observed_tell(t, &o, "messages", observed_write_claim(t, &o, &signer, &second)));
    o.b.a.time.wall += 1000000;
    CHECK(t, aggregation_now(&o.b.a) < o.b.round.release_by);
    CHECK_EQUAL(t, 409,
                observed_tell(t, &o, "messages", observed_write_claim(t, &o, &signer, &third)));
    /* A device whose answer was lost is told that it is held. */
    CHECK_EQUAL(t, 204,
                observed_tell(t, &o, "messages", observed_write_claim(t, &o, &signer, &first)));
    CHECK_EQUAL(t, 2, sotto_logs_metric(t, o.witness, "sotto_witness_held"));
    sotto_signer_clear(&signer);
    observed_close(&o);
}

static sotto_status count_boards(sotto_tx *tx, void *context, sotto_err *err)
{
    bool row;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT count(*) FROM held_board", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *(int64_t *)context = row ? sotto_sql_column_int(&q, 0) : 0;
    return sotto_sql_run(&q, NULL, err);
}

/* It cosigned a head of the round's board. */
static sotto_status know_round(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q,
        "INSERT INTO witnessed (origin, size, root, note) SELECT ?1, size, root, note"
        " FROM witnessed LIMIT 1",
        err));
    sotto_sql_bytes(&q, 1, sotto_bytes_of(context, SOTTO_BOARD_ORIGIN));
    return sotto_sql_run(&q, NULL, err);
}

/* A posting of the round as it would be with other times, and what the witness says of it. It cosigned a head of that board. */
static unsigned tell_of(sotto_test *t, const observed *o, const sotto_round *round)
{
    char origin[SOTTO_BOARD_ORIGIN + 1], path[100], id[2 * SOTTO_ROUND_ID + 1];
    sotto_buf wire = sotto_test_buf(t, 1 << 12), out = sotto_test_buf(t, 1 << 16);
    uint8_t hash[SOTTO_ROUND_ID];
    sotto_posting posting;

    CHECK_OK(t, sotto_posting_decode(&posting, o->b.a.posting, &t->arena, &t->err));
    CHECK_OK(t, sotto_round_encode(&wire, round, &t->err));
    CHECK_OK(t, sotto_round_id(round, hash, &t->err));
    posting.round = sotto_buf_bytes(&wire);
    CHECK_OK(t, sotto_posting_encode(&out, &posting, &t->err));
    sotto_board_origin(origin, posting.registry.server, hash);
    CHECK_OK(t, sotto_db_run(o->witness->db, know_round, origin, &t->err));
    sotto_hex_encode(id, sotto_bytes_of(hash, sizeof hash));
    (void)snprintf(path, sizeof path, "POST /rounds/%s/posting", id);
    return sotto_logs_ask(t, sotto_host_port(o->witness), path, "", out.data, out.len).status;
}

/* It would be held for good. So would one that begins in a hundred years. */
static void a_witness_keeps_no_round_without_end(sotto_test *t)
{
    const uint64_t most = SOTTO_ROUND_MOST_MS, century = UINT64_C(3155760000000);
    int64_t boards = 0;
    observed o;

    observed_open(t, &o, true);
    ballot_post(t, &o.b);
    observed_members_join(t, &o);
    sotto_round round = o.b.round;
    round.release_by = (uint64_t)1 << 63;
    CHECK_EQUAL(t, 403, tell_of(t, &o, &round));
    round = o.b.round;
    round.verify_by = round.opens + most / 2;
    round.release_by = round.opens + most + 1;
    CHECK_EQUAL(t, 403, tell_of(t, &o, &round));
    round = o.b.round;
    round.opens += century;
    round.commit_by += century;
    round.closes += century;
    round.verify_by += century;
    round.release_by += century;
    CHECK_EQUAL(t, 403, tell_of(t, &o, &round));
    CHECK_OK(t, sotto_db_run(o.witness->db, count_boards, &boards, &t->err));
    CHECK_EQUAL(t, 0, boards);
    round = o.b.round;
    round.verify_by = round.opens + most / 2;
    round.release_by = round.opens + most;
    CHECK_EQUAL(t, 204, tell_of(t, &o, &round));
    observed_close(&o);
}

static void a_witness_holds_what_the_registered_signed(sotto_test *t)
{
    const uint8_t other[SOTTO_SIGN_SEED] = {78};
    const observed_claim right = {SOTTO_AERO_COMPLAINT, 1, 0},
                         verdict = {SOTTO_AERO_VERDICT, 1, 32}, question = {SOTTO_AERO_ASK, 1, 5};
    sotto_signer signer, stranger;
    observed o;

    observed_open(t, &o, true);
    CHECK_OK(t, sotto_signer_init(&stranger, other, &t->err));
    observed_post_with_key(t, &o, &signer);
    const sotto_bytes good = observed_write_claim(t, &o, &signer, &right);
    /* No head of this board was cosigned here: there is nothing to hold back. */
    CHECK_EQUAL(t, 404, observed_tell(t, &o, "messages", good));
    CHECK_EQUAL(t, 404, observed_tell(t, &o, "posting", o.b.a.posting));
    observed_members_join(t, &o);
    CHECK_EQUAL(t, 404, observed_tell(t, &o, "messages", good));
    CHECK_EQUAL(t, 400, observed_tell(t, &o, "posting", sotto_bytes_of("?", 1)));
    CHECK_EQUAL(t, 204, observed_tell(t, &o, "posting", o.b.a.posting));
    CHECK_EQUAL(t, 400, observed_tell(t, &o, "messages", sotto_bytes_of("?", 1)));
    CHECK_EQUAL(t, 403,
                observed_tell(t, &o, "messages", observed_write_claim(t, &o, &stranger, &right)));
    CHECK_EQUAL(t, 403,
                observed_tell(t, &o, "messages", observed_write_claim(t, &o, &signer, &verdict)));
    CHECK_EQUAL(t, 403,
                observed_tell(t, &o, "messages", observed_write_claim(t, &o, &signer, &question)));
    CHECK_EQUAL(t, 0, sotto_logs_metric(t, o.witness, "sotto_witness_held"));
    CHECK_EQUAL(t, 204, observed_tell(t, &o, "messages", good));
    CHECK_EQUAL(t, 204, observed_tell(t, &o, "messages", good));
    CHECK_EQUAL(t, 1, sotto_logs_metric(t, o.witness, "sotto_witness_held"));
    hold_many(t, &o, &signer);
    restart_witness(t, &o, good);
    o.b.a.time.wall += (uint64_t)3600 * 1000000000;
    CHECK_EQUAL(t, 409, observed_tell(t, &o, "messages", good));
    sotto_signer_clear(&signer);
    sotto_signer_clear(&stranger);
    observed_close(&o);
}

/* ---- what strangers may have it do ---------------------------------------------------------------------------------- */

/* A posting that begins as the right one does. */
static sotto_bytes garble(sotto_test *t, sotto_bytes posting)
{
    sotto_buf out = sotto_test_buf(t, 600);

    memset(out.data, 0xa5, out.cap);
    memcpy(out.data, posting.data, 60);
    return sotto_bytes_of(out.data, out.cap);
}

/* A posting has megabytes: nobody has it decoded for a board that is not known here, nor a second time. */
static void a_posting_is_decoded_once_for_a_board(sotto_test *t)
{
    const observed_claim one = {SOTTO_AERO_COMPLAINT, 1, 0};
    sotto_signer signer;
    observed o;

    observed_open(t, &o, true);
    observed_post_with_key(t, &o, &signer);
    const sotto_bytes bad = garble(t, o.b.a.posting);
    CHECK_EQUAL(t, 404, observed_tell(t, &o, "posting", bad));
    observed_members_join(t, &o);
    CHECK_EQUAL(t, 400, observed_tell(t, &o, "posting", bad));
    CHECK_EQUAL(t, 204, observed_tell(t, &o, "posting", o.b.a.posting));
    CHECK_EQUAL(t, 204, observed_tell(t, &o, "posting", bad));
    CHECK_EQUAL(t, 204,
                observed_tell(t, &o, "messages", observed_write_claim(t, &o, &signer, &one)));
    sotto_signer_clear(&signer);
    observed_close(&o);
}

/* What names another round, and has bytes too many behind it: whoever decodes all of it says 400. */
static sotto_bytes misname(sotto_test *t, sotto_bytes posting)
{
    sotto_buf out = sotto_test_buf(t, posting.len + 1);

    memcpy(out.data, posting.data, posting.len);
    out.data[posting.len] = 0;
    out.len = posting.len + 1;
    for (size_t i = 0; i + 13 < posting.len; i++)
        if (memcmp(out.data + i, "sotto-round-1", 13) == 0)
            out.data[i + 20] ^= 1; /* the session */
    return sotto_buf_bytes(&out);
}

/* A week after its end a round is forgotten. Its posting would be decoded again and again, whenever a stranger brings it. */
static void postings_that_are_old_or_of_others_are_not_decoded(sotto_test *t)
{
    int64_t boards = 0;
    observed o;

    observed_open(t, &o, true);
    ballot_post(t, &o.b);
    observed_members_join(t, &o);
    CHECK_EQUAL(t, 403, observed_tell(t, &o, "posting", misname(t, o.b.a.posting)));
    o.b.a.time.wall = o.b.round.release_by * 1000000;
    CHECK_EQUAL(t, 409, observed_tell(t, &o, "posting", o.b.a.posting));
    CHECK_OK(t, sotto_db_run(o.witness->db, count_boards, &boards, &t->err));
    CHECK_EQUAL(t, 0, boards);
    o.b.a.time.wall -= 1000000;
    CHECK_EQUAL(t, 204, observed_tell(t, &o, "posting", o.b.a.posting));
    observed_close(&o);
}

static sotto_status say_full(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE held_sender SET records = records + ?1", err));
    sotto_sql_int(&q, 1, *(const int64_t *)context);
    return sotto_sql_run(&q, NULL, err);
}

/* What a device handed in is counted as it comes: a record costs the same whatever is held. */
static void records_are_counted_as_they_come(sotto_test *t)
{
    const int64_t more = SOTTO_HELD_RECORDS - 2;
    sotto_signer signer;
    observed o;

    observed_open(t, &o, true);
    observed_post_with_key(t, &o, &signer);
    observed_members_join(t, &o);
    CHECK_EQUAL(t, 204, observed_tell(t, &o, "posting", o.b.a.posting));
    for (uint32_t i = 1; i < 5; i++) {
        const observed_claim one = {SOTTO_AERO_COMPLAINT, i, 0};

        CHECK_EQUAL(t, i < 3 ? 204 : 413,
                    observed_tell(t, &o, "messages", observed_write_claim(t, &o, &signer, &one)));
        if (i == 2)
            CHECK_OK(t, sotto_db_run(o.witness->db, say_full, (void *)(size_t)&more, &t->err));
    }
    CHECK_EQUAL(t, 2, sotto_logs_metric(t, o.witness, "sotto_witness_held"));
    sotto_signer_clear(&signer);
    observed_close(&o);
}

/* The database stands still until this is told to go on. */
static atomic_bool goes_on;

static sotto_status stand_still(sotto_tx *tx, void *context, sotto_err *err)
{
    (void)tx;
    (void)err;
    atomic_store((atomic_bool *)context, true);
    while (!atomic_load(&goes_on))
        sotto_test_pause_ms(1);
    return SOTTO_OK;
}

static void on_done(void *context, sotto_status status, const sotto_err *err)
{
    (void)status;
    (void)err;
    atomic_store((atomic_bool *)context, false);
}

static void *go_on_later(void *context)
{
    sotto_test_pause_ms(3000);
    atomic_store(&goes_on, true);
    return context;
}

/* A checkpoint of the listed aggregator, which somebody else signed. */
static sotto_bytes forge_checkpoint(sotto_test *t)
{
    const uint8_t own[SOTTO_SIGN_SEED] = {7}, other[SOTTO_SIGN_SEED] = {8};
    const sotto_bytes name = {(const uint8_t *)"aggregator", 10};
    sotto_buf note = sotto_test_buf(t, 1000), out = sotto_test_buf(t, 2000);
    sotto_checkpoint c = {.origin = name, .size = 3};
    sotto_note_signer signer = {0};

    CHECK_OK(t, sotto_signer_init(&signer.signer, own, &t->err));
    CHECK_OK(t, sotto_note_key_init(&signer.key, name, SOTTO_NOTE_ED25519, signer.signer.public_key,
                                    &t->err));
    sotto_signer_clear(&signer.signer);
    CHECK_OK(t, sotto_signer_init(&signer.signer, other, &t->err));
    CHECK_OK(t, sotto_checkpoint_encode(&note, &c, &t->err));
    const sotto_bytes text = sotto_buf_bytes(&note);
    note.data[note.len++] = '\n';
    CHECK_OK(t, sotto_note_sign(&note, text, &signer, 0, &t->err));
    sotto_signer_clear(&signer.signer);
    const sotto_witness_request request = {.note = sotto_buf_bytes(&note)};
    CHECK_OK(t, sotto_witness_request_encode(&out, &request, &t->err));
    return sotto_buf_bytes(&out);
}

/* The database stands still, and a stranger is told 403 all the same: it has nothing to do with that. */
static void strangers_do_not_wait_for_the_database(sotto_test *t)
{
    atomic_bool still = false;
    sotto_db_job job = {stand_still, &still, on_done, &still, NULL, SOTTO_OK, {0}};
    pthread_t thread;
    observed o;

    observed_open(t, &o, true);
    const sotto_bytes body = forge_checkpoint(t);
    atomic_store(&goes_on, false);
    sotto_db_post(o.witness->db, &job);
    while (!atomic_load(&still))
        sotto_test_pause_ms(1);
    CHECK(t, pthread_create(&thread, NULL, go_on_later, NULL) == 0);
    CHECK_EQUAL(t, 403,
                sotto_logs_ask(t, sotto_host_port(o.witness), "POST /add-checkpoint", "", body.data,
                               body.len)
                    .status);
    const bool waited = atomic_load(&goes_on);
    atomic_store(&goes_on, true);
    (void)pthread_join(thread, NULL);
    while (atomic_load(&still))
        sotto_test_pause_ms(1);
    CHECK(t, !waited);
    observed_close(&o);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_witness_holds_what_the_registered_signed),
        CASE(a_witness_takes_no_late_records),
        CASE(a_witness_keeps_no_round_without_end),
        CASE(a_witness_brings_what_it_asks_for),
        CASE(a_posting_is_decoded_once_for_a_board),
        CASE(records_are_counted_as_they_come),
        CASE(postings_that_are_old_or_of_others_are_not_decoded),
        CASE(strangers_do_not_wait_for_the_database),
    };

    if (!sotto_test_at_end(sotto_logs_forget))
        return 1;
    return RUN_TESTS(argc, argv, cases);
}
