/* A server that keeps complaints off its board: witnesses hold them, and cosign nothing before they are there. Proofs are doubles. */
#define _POSIX_C_SOURCE 200809L
#include "observed.h"

#include "aggregate/board_origin.h"
#include "aggregate/excerpt.h"
#include "aggregate/inbox.h"
#include "base/hex.h"
#include "tlog/checkpoint.h"
#include "tlog/key_file.h"

#include <stdio.h>
#include <string.h>

/* ---- a server that lies ---------------------------------------------------------------------------------------------- */

static unsigned swallowed;

static bool decode(sotto_message *m, sotto_bytes body)
{
    sotto_reader in = sotto_reader_over(body);

    return sotto_message_decode(m, sotto_read_opaque32(&in), NULL) == SOTTO_OK;
}

/* It says that it took the complaint, and did not. */
static unsigned swallow(sotto_fleet *f, uint32_t device, const char *url, sotto_bytes body)
{
    sotto_message m;

    (void)device;
    if (strncmp(url, f->server, strlen(f->server)) != 0 || !strstr(url, "/messages") ||
        !decode(&m, body) || m.kind != SOTTO_AERO_COMPLAINT)
        return 0;
    swallowed++;
    return 204;
}

/* Who looks at leaves is shown nonsense from then on: a board that others do not see ends a duty. */
static void confuse(sotto_fleet *f, uint32_t device, const char *url, uint8_t *body, size_t len)
{
    (void)f;
    (void)device;
    if (swallowed && strstr(url, "/board") && len)
        body[len - 1] ^= 1;
}

/* So does a server that never asks the witness for what it holds. */
static sotto_status blank(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_sql q;

    (void)context;
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE held SET record = ?1", err));
    sotto_sql_bytes(&q, 1, (sotto_bytes){NULL, 0});
    return sotto_sql_run(&q, NULL, err);
}

/* takes: the server takes what the witness offers. */
static bool ends(sotto_test *t, observed *o, const char *how, bool takes)
{
    aggregation *a = &o->b.a;
    uint64_t next;

    while (!takes && aggregation_now(a) < o->b.round.release_by) {
        (void)!sotto_fleet_tick(&a->fleet, aggregation_now(a), &next, NULL);
        CHECK_OK(t, sotto_db_run(o->witness->db, blank, NULL, &t->err));
        aggregation_turn(t, a, 250);
    }
    return aggregation_ends(t, a, how);
}

/* knows: devices know where the witness is. */
static void play(sotto_test *t, observed *o, bool knows)
{
    observed_open(t, o, true);
    o->log.urls = knows ? o->urls : NULL;
    ballot_post(t, &o->b);
    ballot_join(t, &o->b, 0xff);
    swallowed = 0;
    o->b.a.fleet.keep_off = swallow;
    observed_lie(t, o);
}

static void a_complaint_that_is_kept_off_stops_the_round(sotto_test *t)
{
    observed o;

    play(t, &o, true);
    o.b.a.fleet.bend = confuse;
    CHECK(t, ends(t, &o, "burnt", false));
    CHECK(t, swallowed > 0);
    CHECK_EQUAL(t, 0, ballot_look(t, &o.b, 0).of[SOTTO_AERO_COMPLAINT]);
    CHECK(t, sotto_logs_metric(t, o.witness, "sotto_witness_held") > 0);
    CHECK(t, sotto_logs_metric(t, o.witness, "sotto_witness_withheld") > 0);
    observed_close(&o);
}

/* The same where devices know of no way around the server: this is what witnesses hold records for. */
static void without_witnesses_complaints_are_kept_off(sotto_test *t)
{
    observed o;

    play(t, &o, false);
    CHECK(t, ends(t, &o, "released", true));
    CHECK(t, swallowed > 0);
    CHECK(t, !ballot_sum_is(t, &o.b, 0xff));
    observed_close(&o);
}

/* A server that takes what witnesses have is told of its lie on its own board. */
static void what_a_witness_holds_comes_to_the_board(sotto_test *t)
{
    observed o;

    play(t, &o, true);
    CHECK(t, ends(t, &o, "burnt", true));
    CHECK(t, swallowed > 0);
    const ballot_seen board = ballot_look(t, &o.b, 0);
    CHECK(t, board.of[SOTTO_AERO_COMPLAINT] > 0);
    CHECK_EQUAL(t, 0, board.of[SOTTO_AERO_VERDICT]);
    observed_close(&o);
}

/* ---- a server that does not lie ------------------------------------------------------------------------------------------ */

/* The server of device 0 does not hear its questions, nor that it had no answer. */
static unsigned mute(sotto_fleet *f, uint32_t device, const char *url, sotto_bytes body)
{
    sotto_message m;

    if (device != 0 || strncmp(url, f->server, strlen(f->server)) != 0 ||
        !strstr(url, "/messages") || !decode(&m, body) ||
        (m.kind != SOTTO_AERO_ASK && m.kind != SOTTO_AERO_COMPLAINT))
        return 0;
    swallowed++;
    return 503;
}

static void a_server_answers_what_it_heard_from_a_witness(sotto_test *t)
{
    observed o;

    observed_open(t, &o, true);
    o.log.urls = o.urls;
    ballot_post(t, &o.b);
    ballot_join(t, &o.b, 0xff);
    swallowed = 0;
    o.b.a.fleet.keep_off = mute;
    CHECK(t, aggregation_ends(t, &o.b.a, "released"));
    CHECK(t, swallowed > 0);
    CHECK(t, ballot_sum_is(t, &o.b, 0xff));
    const ballot_seen board = ballot_look(t, &o.b, 0);
    CHECK(t, board.of[SOTTO_AERO_ANSWER] > 0);
    /* All but two, which say that it may have been left out, as contributor and as noise member. */
    CHECK(t, board.of[SOTTO_AERO_ANSWER] + 2 >= board.of[SOTTO_AERO_COMPLAINT]);
    observed_close(&o);
}

static unsigned in_a_row, most_in_a_row;

/* Nor does the witness hear device 0. It hands over what it has before it says anything else. */
static unsigned silence(sotto_fleet *f, uint32_t device, const char *url, sotto_bytes body)
{
    if (device != 0)
        return 0;
    if (strncmp(url, f->server, strlen(f->server)) == 0) {
        in_a_row = 0;
        return mute(f, device, url, body);
    }
    in_a_row++;
    most_in_a_row = in_a_row > most_in_a_row ? in_a_row : most_in_a_row;
    return 503;
}

/* Else one witness that lets every call wait keeps complaints from all others. */
static void a_witness_that_does_not_answer_is_asked_once_in_a_while(sotto_test *t)
{
    observed o;

    observed_open(t, &o, true);
    o.log.urls = o.urls;
    ballot_post(t, &o.b);
    ballot_join(t, &o.b, 0xff);
    in_a_row = most_in_a_row = 0;
    o.b.a.fleet.keep_off = silence;
    CHECK(t, aggregation_ends(t, &o.b.a, "released"));
    CHECK_EQUAL(t, 1, most_in_a_row);
    observed_close(&o);
}

/* What a member is shown must have been cosigned after complaints were due. A witness that is an hour behind says otherwise. */
static void members_sign_for_a_board_of_the_last_hour_at_no_time(sotto_test *t)
{
    observed o;

    observed_open(t, &o, true);
    sotto_logs_shift(-3600);
    ballot_post(t, &o.b);
    ballot_join(t, &o.b, 0xff);
    CHECK(t, aggregation_ends(t, &o.b.a, "burnt"));
    const ballot_seen board = ballot_look(t, &o.b, 0);
    CHECK(t, board.of[SOTTO_AERO_SUMMED] > 0);
    CHECK_EQUAL(t, 0, board.of[SOTTO_AERO_VERDICT]);
    sotto_logs_shift(0);
    observed_close(&o);
}

/* ---- a fork ------------------------------------------------------------------------------------------------------------ */

/* A server and a witness that lie: who has read a board is shown the head of another one of the same size, cosigned just now. */
static struct fork {
    const observed *o;
    sotto_signer_file witness;
    uint64_t shown[DEVICES]; /* entries below the head that each device was shown last */
    unsigned forged;
} fork_;

static sotto_status forge(uint8_t *body, size_t len, uint64_t seen, uint64_t *size)
{
    const uint8_t seed[SOTTO_SIGN_SEED] = {7};
    sotto_note_signer server = {0};
    uint8_t room[8192];
    sotto_buf out = sotto_buf_over(room, sizeof room);
    sotto_checkpoint c;
    sotto_note note;

    SOTTO_TRY(sotto_note_decode(&note, sotto_bytes_of(body, len), NULL));
    SOTTO_TRY(sotto_checkpoint_decode(&c, note.text, NULL));
    *size = c.size;
    if (c.size != seen)
        return SOTTO_OK;
    SOTTO_TRY(sotto_signer_init(&server.signer, seed, NULL));
    SOTTO_TRY(sotto_note_key_init(&server.key, c.origin, SOTTO_NOTE_ED25519,
                                  server.signer.public_key, NULL));
    c.root.bytes[5] ^= 1;
    SOTTO_TRY(sotto_checkpoint_encode(&out, &c, NULL));
    const sotto_bytes text = sotto_buf_bytes(&out);
    out.data[out.len++] = '\n';
    SOTTO_TRY(sotto_note_sign(&out, text, &server, 0, NULL));
    SOTTO_TRY(sotto_note_sign(&out, text, &fork_.witness.signer,
                              aggregation_now(&fork_.o->b.a) / 1000, NULL));
    sotto_signer_clear(&server.signer);
    if (out.len != len)
        return SOTTO_BUG;
    memcpy(body, room, len);
    fork_.forged++;
    return SOTTO_OK;
}

static void show_another_head(sotto_fleet *f, uint32_t device, const char *url, uint8_t *body,
                              size_t len)
{
    uint64_t size = 0;

    (void)f;
    if (strstr(url, "/head") && aggregation_now(&fork_.o->b.a) >= fork_.o->b.round.verify_by &&
        forge(body, len, fork_.shown[device], &size) == SOTTO_OK)
        fork_.shown[device] = size;
}

static void a_head_of_another_board_is_not_that_of_what_was_read(sotto_test *t)
{
    char path[160];
    observed o;

    observed_open(t, &o, true);
    memset(&fork_, 0, sizeof fork_);
    fork_.o = &o;
    (void)snprintf(path, sizeof path, "%s/witness.key", o.keys.directory);
    CHECK_OK(t, sotto_signer_file_read(&fork_.witness, path, &t->err));
    /* The witness itself is an hour behind: what it says is never late enough. */
    sotto_logs_shift(-3600);
    ballot_post(t, &o.b);
    ballot_join(t, &o.b, 0xff);
    o.b.a.fleet.bend = show_another_head;
    CHECK(t, aggregation_ends(t, &o.b.a, "burnt"));
    CHECK(t, fork_.forged > 0);
    CHECK_EQUAL(t, 0, ballot_look(t, &o.b, 0).of[SOTTO_AERO_VERDICT]);
    sotto_logs_shift(0);
    sotto_signer_file_clear(&fork_.witness);
    observed_close(&o);
}

/* ---- the witness ------------------------------------------------------------------------------------------------------------ */

static unsigned tell(sotto_test *t, const observed *o, const char *what, sotto_bytes body)
{
    char id[2 * SOTTO_ROUND_ID + 1], line[200];

    sotto_hex_encode(id, sotto_bytes_of(o->b.a.id, SOTTO_ROUND_ID));
    (void)snprintf(line, sizeof line, "POST /rounds/%s/%s", id, what);
    return sotto_logs_ask(t, sotto_host_port(o->witness), line, "", body.data, body.len).status;
}

typedef struct claim {
    uint16_t kind;
    uint32_t position; /* of the leaf that is not answered */
    size_t len;        /* 0: of a challenge */
} claim;

/* A record of device 0, signed with some key. */
static sotto_bytes write_claim(sotto_test *t, const observed *o, const sotto_signer *signer,
                               const claim *c)
{
    static uint8_t body[1 << 20];
    const size_t len = c->len ? c->len : 6;
    sotto_message m = {.epoch = o->b.round.epoch,
                       .round = o->b.round.number,
                       .kind = c->kind,
                       .to = c->kind == SOTTO_AERO_ASK ? SOTTO_TO_SERVER : SOTTO_TO_BOARD,
                       .body = {body, len}};
    uint8_t signature[SOTTO_SIGNATURE];
    sotto_buf out = sotto_test_buf(t, len + 1000);
    sotto_writer w = sotto_writer_on(&out);

    memset(body, 0, len);
    body[0] = SOTTO_AERO_NO_ANSWER;
    for (unsigned i = 0; i < 4; i++)
        body[2 + i] = (uint8_t)(c->position >> (24 - 8 * i));
    memcpy(m.session, o->b.round.session, sizeof m.session);
    CHECK_OK(t, sotto_message_sign(&m, signature, signer, &t->err));
    sotto_write_uint(&w, sotto_message_size(&m), 4);
    CHECK_OK(t, sotto_writer_finish(&w, "claim", &t->err));
    CHECK_OK(t, sotto_message_encode(&out, &m, &t->err));
    return sotto_buf_bytes(&out);
}

/* A round whose only device 0 has a key that this test knows. */
static void post_with_key(sotto_test *t, observed *o, const sotto_signer *signer)
{
    sotto_fleet *f = &o->b.a.fleet;
    uint8_t(*keys)[SOTTO_SIGN_PUBLIC] = sotto_arena_take_array(&t->arena, DEVICES, sizeof *keys);

    CHECK(t, keys != NULL);
    memcpy(keys, f->epoch.registry.keys, DEVICES * sizeof *keys);
    memcpy(keys[0], signer->public_key, sizeof *keys);
    f->epoch.registry.keys = (const uint8_t(*)[SOTTO_SIGN_PUBLIC])keys;
    ballot_post(t, &o->b);
}

/* Members but for device 0: they have a board, whose heads are cosigned. */
static void members_join(sotto_test *t, observed *o)
{
    for (uint32_t i = 1; i < DEVICES; i++)
        if (sotto_aero_committee_place(o->b.plan, i) >= 0)
            CHECK_OK(t, sotto_duties_take(o->b.a.fleet.devices[i].duties, o->b.a.posting, i,
                                          SOTTO_DUTY_DECRYPTOR, NULL, 0, &t->err));
    for (unsigned i = 0; i < 8; i++)
        aggregation_turn(t, &o->b.a, 250);
    sotto_logs_await_metric(t, o->witness, "sotto_witness_cosigned");
}

/* One device has a place, and not all of it. */
static void hold_many(sotto_test *t, const observed *o, const sotto_signer *signer)
{
    unsigned held = 0, status = 204;

    for (uint32_t i = 0; status == 204 && i < 64; i++, held++) {
        const claim large = {SOTTO_AERO_COMPLAINT, i, 1 << 20};

        status = tell(t, o, "messages", write_claim(t, o, signer, &large));
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
        if (ballot_look(t, &o->b, 0).of[SOTTO_AERO_COMPLAINT] == 1)
            return true;
    }
    return false;
}

/* A witness and a device that lie: it asks for one record, and brings others of which nobody said that they are missing. */
static void a_witness_brings_what_it_asks_for(sotto_test *t)
{
    const uint8_t seed[SOTTO_SIGN_SEED] = {77};
    const claim one = {SOTTO_AERO_COMPLAINT, 1, 0}, another = {SOTTO_AERO_COMPLAINT, 2, 0};
    sotto_signer signer;
    observed o;

    observed_open(t, &o, true);
    CHECK_OK(t, sotto_signer_init(&signer, seed, &t->err));
    post_with_key(t, &o, &signer);
    /* Bodies are written in one place. */
    const sotto_bytes asked = write_claim(t, &o, &signer, &one),
                      brought = write_claim(t, &o, &signer, &another);
    members_join(t, &o);
    offer made = {.round = o.b.a.id, .record = {brought.data + 4, brought.len - 4}};
    leaf_of(t, &made.leaf, sotto_bytes_of(asked.data + 4, asked.len - 4));
    CHECK_OK(t, sotto_db_run(o.witness->db, hold_offer, &made, &t->err));
    CHECK(t, is_fetched(t, &o));
    CHECK_EQUAL(t, 0, ballot_look(t, &o.b, 0).of[SOTTO_AERO_COMPLAINT]);
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
    const uint8_t seed[SOTTO_SIGN_SEED] = {77};
    const claim first = {SOTTO_AERO_COMPLAINT, 1, 0}, second = {SOTTO_AERO_COMPLAINT, 2, 0},
                third = {SOTTO_AERO_COMPLAINT, 3, 0};
    sotto_signer signer;
    observed o;

    observed_open(t, &o, true);
    CHECK_OK(t, sotto_signer_init(&signer, seed, &t->err));
    post_with_key(t, &o, &signer);
    members_join(t, &o);
    CHECK_EQUAL(t, 204, tell(t, &o, "posting", o.b.a.posting));
    CHECK_EQUAL(t, 204, tell(t, &o, "messages", write_claim(t, &o, &signer, &first)));
    const uint64_t grace = (o.b.round.verify_by - o.b.round.closes) / 3;
    o.b.a.time.wall = (o.b.round.verify_by + grace) * 1000000;
    CHECK_EQUAL(t, 204, tell(t, &o, "messages", write_claim(t, &o, &signer, &second)));
    o.b.a.time.wall += 1000000;
    CHECK(t, aggregation_now(&o.b.a) < o.b.round.release_by);
    CHECK_EQUAL(t, 409, tell(t, &o, "messages", write_claim(t, &o, &signer, &third)));
    /* A device whose answer was lost is told that it is held. */
    CHECK_EQUAL(t, 204, tell(t, &o, "messages", write_claim(t, &o, &signer, &first)));
    CHECK_EQUAL(t, 2, sotto_logs_metric(t, o.witness, "sotto_witness_held"));
    sotto_signer_clear(&signer);
    observed_close(&o);
}

static sotto_status look_at_end(sotto_tx *tx, void *context, sotto_err *err)
{
    bool row;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT max(ends) FROM held_round", err));
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

/* A round that ends later than a database can say is not one that is over. */
static void a_witness_keeps_a_round_without_end(sotto_test *t)
{
    char origin[SOTTO_BOARD_ORIGIN + 1], path[100], id[2 * SOTTO_ROUND_ID + 1];
    uint8_t hash[SOTTO_ROUND_ID];
    sotto_posting posting;
    int64_t ends = 0;
    observed o;

    observed_open(t, &o, true);
    ballot_post(t, &o.b);
    members_join(t, &o);
    sotto_round round = o.b.round;
    sotto_buf wire = sotto_test_buf(t, 1 << 12), out = sotto_test_buf(t, 1 << 16);
    CHECK_OK(t, sotto_posting_decode(&posting, o.b.a.posting, &t->arena, &t->err));
    round.release_by = (uint64_t)1 << 63;
    CHECK_OK(t, sotto_round_encode(&wire, &round, &t->err));
    CHECK_OK(t, sotto_round_id(&round, hash, &t->err));
    posting.round = sotto_buf_bytes(&wire);
    CHECK_OK(t, sotto_posting_encode(&out, &posting, &t->err));
    sotto_board_origin(origin, posting.registry.server, hash);
    CHECK_OK(t, sotto_db_run(o.witness->db, know_round, origin, &t->err));
    sotto_hex_encode(id, sotto_bytes_of(hash, sizeof hash));
    (void)snprintf(path, sizeof path, "POST /rounds/%s/posting", id);
    CHECK_EQUAL(t, 204,
                sotto_logs_ask(t, sotto_host_port(o.witness), path, "", out.data, out.len).status);
    CHECK_OK(t, sotto_db_run(o.witness->db, look_at_end, &ends, &t->err));
    CHECK(t, ends == INT64_MAX);
    observed_close(&o);
}

static void a_witness_holds_what_the_registered_signed(sotto_test *t)
{
    const uint8_t seed[SOTTO_SIGN_SEED] = {77}, other[SOTTO_SIGN_SEED] = {78};
    const claim right = {SOTTO_AERO_COMPLAINT, 1, 0}, verdict = {SOTTO_AERO_VERDICT, 1, 32},
                question = {SOTTO_AERO_ASK, 1, 5};
    sotto_signer signer, stranger;
    observed o;

    observed_open(t, &o, true);
    CHECK_OK(t, sotto_signer_init(&signer, seed, &t->err));
    CHECK_OK(t, sotto_signer_init(&stranger, other, &t->err));
    post_with_key(t, &o, &signer);
    const sotto_bytes good = write_claim(t, &o, &signer, &right);
    /* No head of this board was cosigned here: there is nothing to hold back. */
    CHECK_EQUAL(t, 404, tell(t, &o, "messages", good));
    CHECK_EQUAL(t, 404, tell(t, &o, "posting", o.b.a.posting));
    members_join(t, &o);
    CHECK_EQUAL(t, 404, tell(t, &o, "messages", good));
    CHECK_EQUAL(t, 400, tell(t, &o, "posting", sotto_bytes_of("?", 1)));
    CHECK_EQUAL(t, 204, tell(t, &o, "posting", o.b.a.posting));
    CHECK_EQUAL(t, 400, tell(t, &o, "messages", sotto_bytes_of("?", 1)));
    CHECK_EQUAL(t, 403, tell(t, &o, "messages", write_claim(t, &o, &stranger, &right)));
    CHECK_EQUAL(t, 403, tell(t, &o, "messages", write_claim(t, &o, &signer, &verdict)));
    CHECK_EQUAL(t, 403, tell(t, &o, "messages", write_claim(t, &o, &signer, &question)));
    CHECK_EQUAL(t, 0, sotto_logs_metric(t, o.witness, "sotto_witness_held"));
    CHECK_EQUAL(t, 204, tell(t, &o, "messages", good));
    CHECK_EQUAL(t, 204, tell(t, &o, "messages", good));
    CHECK_EQUAL(t, 1, sotto_logs_metric(t, o.witness, "sotto_witness_held"));
    hold_many(t, &o, &signer);
    restart_witness(t, &o, good);
    o.b.a.time.wall += (uint64_t)3600 * 1000000000;
    CHECK_EQUAL(t, 409, tell(t, &o, "messages", good));
    sotto_signer_clear(&signer);
    sotto_signer_clear(&stranger);
    observed_close(&o);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_complaint_that_is_kept_off_stops_the_round),
        CASE(without_witnesses_complaints_are_kept_off),
        CASE(what_a_witness_holds_comes_to_the_board),
        CASE(a_server_answers_what_it_heard_from_a_witness),
        CASE(a_witness_that_does_not_answer_is_asked_once_in_a_while),
        CASE(members_sign_for_a_board_of_the_last_hour_at_no_time),
        CASE(a_head_of_another_board_is_not_that_of_what_was_read),
        CASE(a_witness_holds_what_the_registered_signed),
        CASE(a_witness_takes_no_late_records),
        CASE(a_witness_keeps_a_round_without_end),
        CASE(a_witness_brings_what_it_asks_for),
    };

    if (!sotto_test_at_end(sotto_logs_forget))
        return 1;
    return RUN_TESTS(argc, argv, cases);
}
