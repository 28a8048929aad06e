/* Boards of encrypted sums that witnesses cosign: devices read nothing else, and an aggregator with two boards is caught. Proofs are
 * doubles. */
#define _POSIX_C_SOURCE 200809L
#include "observed.h"

#include "aggregate/board_origin.h"
#include "aggregate/excerpt.h"
#include "aggregate/inbox.h"
#include "device/duties/inside.h"
#include "tlog/merkle_list.h"
#include "tlog/witness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sums ---------------------------------------------------------------------------------------------------------- */

static void a_sum_is_opened_under_cosigned_heads(sotto_test *t)
{
    observed o;

    observed_open(t, &o, true);
    ballot_post(t, &o.b);
    ballot_join(t, &o.b, 0x7e);
    for (unsigned i = 0; i < 8; i++)
        aggregation_turn(t, &o.b.a, 250);
    /* The server does not know any more what the witness has; devices have their trees from their journals. */
    aggregation_restart(t, &o.b.a);
    CHECK(t, aggregation_ends(t, &o.b.a, "released"));
    CHECK(t, ballot_sum_is(t, &o.b, 0x7e));
    CHECK(t, sotto_logs_metric(t, o.witness, "sotto_witness_cosigned") > 5);
    sotto_test_await(t, o.witness->db, "SELECT count(*) FROM fork", 0);
    observed_close(&o);
}

/* Members that had not read it wait for it, and the board for them. So it is cosigned again, though nothing is new. */
static void a_restart_loses_no_head(sotto_test *t)
{
    observed o;
    sotto_http_response r = {0};

    observed_open(t, &o, true);
    o.b.slow = 6;
    ballot_post(t, &o.b);
    ballot_join(t, &o.b, 0xff);
    for (unsigned i = 0; i < 16; i++)
        aggregation_turn(t, &o.b.a, 250);
    const uint64_t before = ballot_look(t, &o.b, SOTTO_TO_EVERYBODY).entries;
    aggregation_restart(t, &o.b.a);
    for (unsigned i = 0; i < 16 && r.status != 200; i++) {
        aggregation_turn(t, &o.b.a, 250);
        r = aggregation_ask(t, &o.b.a, SOTTO_HTTP_POST, aggregation_place(t, &o.b.a, "/head"), "",
                            "text/plain", sotto_bytes_of(NULL, 0));
    }
    CHECK_EQUAL(t, before, ballot_look(t, &o.b, SOTTO_TO_EVERYBODY).entries);
    CHECK_EQUAL(t, 200, r.status);
    CHECK(t, aggregation_ends(t, &o.b.a, "released"));
    observed_close(&o);
}

static void a_board_that_nobody_cosigned_is_not_read(sotto_test *t)
{
    observed o;

    /* The witness does not know this aggregator. */
    observed_open(t, &o, false);
    ballot_post(t, &o.b);
    ballot_join(t, &o.b, 0xff);
    CHECK(t, aggregation_ends(t, &o.b.a, "burnt"));
    CHECK_EQUAL(t, 0, ballot_look(t, &o.b, SOTTO_TO_EVERYBODY).of[SOTTO_AERO_KEY]);
    CHECK_EQUAL(t, 0, sotto_logs_metric(t, o.witness, "sotto_witness_cosigned"));
    observed_close(&o);
}

static void heads_without_cosignatures_are_not_believed(sotto_test *t)
{
    observed o;

    observed_open(t, &o, true);
    /* The server has a witness, but not the one that the policy names. */
    sotto_note_key other = o.keys.witness;
    other.public_key[3] ^= 1;
    other.id ^= 1;
    o.log.trust.witnesses = &other;
    ballot_post(t, &o.b);
    ballot_join(t, &o.b, 0xff);
    CHECK(t, aggregation_ends(t, &o.b.a, "burnt"));
    CHECK_EQUAL(t, 0, ballot_look(t, &o.b, SOTTO_TO_EVERYBODY).of[SOTTO_AERO_KEY]);
    observed_close(&o);
}

/* ---- two boards ---------------------------------------------------------------------------------------------------- */

static const sotto_aero_plan *drawn; /* who is in the committee */
static unsigned hidden;

/* Members are shown a board on which each complaint has another byte, so that its signature does not hold and it does not count. */
static void hide_complaints(sotto_fleet *f, uint32_t device, const char *url, uint8_t *body,
                            size_t len)
{
    sotto_inbox page = {.left = sotto_bytes_of(body, len)};
    sotto_bytes wire, record;
    uint64_t n, index;

    (void)f;
    if (!strstr(url, "/board") || sotto_aero_committee_place(drawn, device) < 0)
        return;
    while (sotto_inbox_next(&page, &n, &wire)) {
        sotto_message entry, m;

        if (sotto_message_decode(&entry, wire, NULL) != SOTTO_OK ||
            sotto_entry_decode(&index, &record, entry.body, NULL) != SOTTO_OK ||
            sotto_message_decode(&m, record, NULL) != SOTTO_OK || m.kind != SOTTO_AERO_COMPLAINT)
            continue;
        ((uint8_t *)(size_t)m.body.data)[m.body.len - 1] ^= 1;
        hidden++;
    }
}

/* A round with a leaf that its server replaced, and with complaints that members are not shown. */
static void play_two_boards(sotto_test *t, observed *o)
{
    ballot *b = &o->b;

    ballot_post(t, b);
    ballot_join(t, b, 0xff);
    drawn = b->plan;
    hidden = 0;
    b->a.fleet.bend = hide_complaints;
    observed_lie(t, o);
}

static void an_aggregator_with_two_boards_is_caught(sotto_test *t)
{
    observed o;

    observed_open(t, &o, true);
    play_two_boards(t, &o);
    CHECK(t, aggregation_ends(t, &o.b.a, "burnt"));
    CHECK(t, hidden > 0);
    const ballot_seen board = ballot_look(t, &o.b, SOTTO_TO_EVERYBODY);
    CHECK(t, board.of[SOTTO_AERO_COMPLAINT] > 0);
    CHECK_EQUAL(t, 0, board.of[SOTTO_AERO_VERDICT]);
    observed_close(&o);
}

/* An entry whose complaint comes without its end; 0: it has no complaint. */
static size_t shortened(uint8_t *to, size_t room, sotto_bytes wire)
{
    static const sotto_pieces first = {.count = 1, .at = {{0, 10}}};
    static uint8_t record_room[1 << 20], body_room[1 << 20];
    sotto_buf shown = sotto_buf_over(record_room, sizeof record_room);
    sotto_buf body = sotto_buf_over(body_room, sizeof body_room), out = sotto_buf_over(to, room);
    sotto_message entry, m;
    sotto_bytes record;
    uint64_t index;

    if (sotto_message_decode(&entry, wire, NULL) != SOTTO_OK ||
        sotto_entry_decode(&index, &record, entry.body, NULL) != SOTTO_OK ||
        sotto_message_decode(&m, record, NULL) != SOTTO_OK || m.kind != SOTTO_AERO_COMPLAINT ||
        sotto_excerpt_encode(&shown, &m, &first, NULL) != SOTTO_OK ||
        sotto_entry_encode(&body, index, sotto_buf_bytes(&shown), NULL) != SOTTO_OK)
        return 0;
    entry.body = sotto_buf_bytes(&body);
    return sotto_message_encode(&out, &entry, NULL) == SOTTO_OK ? out.len : 0;
}

/* A record and the beginning of it have one leaf: members are shown complaints without their ends. What is behind the last entry then is no
 * entry. */
static void shorten_complaints(sotto_fleet *f, uint32_t device, const char *url, uint8_t *body,
                               size_t len)
{
    static uint8_t cut[1 << 20];
    sotto_inbox page = {.left = sotto_bytes_of(body, len)};
    sotto_bytes wire;
    uint64_t n;

    (void)f;
    if (!strstr(url, "/board") || sotto_aero_committee_place(drawn, device) < 0)
        return;
    uint8_t *copy = calloc(1, len + 1);
    sotto_buf out = sotto_buf_over(copy, copy ? len : 0);
    while (copy && sotto_inbox_next(&page, &n, &wire)) {
        const size_t size = shortened(cut, sizeof cut, wire);
        sotto_writer w = sotto_writer_on(&out);

        hidden += size > 0;
        sotto_write_uint(&w, n, 8);
        sotto_write_opaque32(&w, size ? sotto_bytes_of(cut, size) : wire);
        if (sotto_writer_finish(&w, "page", NULL) != SOTTO_OK)
            break;
    }
    if (copy)
        memcpy(body, copy, len);
    free(copy);
}

static void a_complaint_that_is_shown_in_part_is_another_board(sotto_test *t)
{
    observed o;

    observed_open(t, &o, true);
    ballot_post(t, &o.b);
    ballot_join(t, &o.b, 0xff);
    drawn = o.b.plan;
    hidden = 0;
    o.b.a.fleet.bend = shorten_complaints;
    observed_lie(t, &o);
    CHECK(t, aggregation_ends(t, &o.b.a, "burnt"));
    CHECK(t, hidden > 0);
    CHECK_EQUAL(t, 0, ballot_look(t, &o.b, SOTTO_TO_EVERYBODY).of[SOTTO_AERO_VERDICT]);
    observed_close(&o);
}

static void write_number(uint8_t *at, uint64_t n)
{
    for (unsigned i = 0; i < 8; i++)
        at[i] = (uint8_t)(n >> (56 - 8 * i));
}

/* The second entry of a page has a number far beyond the head, outside and inside. */
static void number_far_beyond(sotto_fleet *f, uint32_t device, const char *url, uint8_t *body,
                              size_t len)
{
    const uint64_t far = UINT64_C(1) << 40;
    sotto_inbox page = {.left = sotto_bytes_of(body, len)};
    sotto_bytes wire;
    sotto_message entry;
    uint64_t n;

    (void)f;
    (void)device;
    if (!strstr(url, "/board") || !sotto_inbox_next(&page, &n, &wire) || page.left.len < 8)
        return;
    uint8_t *second = body + (len - page.left.len);
    if (!sotto_inbox_next(&page, &n, &wire) ||
        sotto_message_decode(&entry, wire, NULL) != SOTTO_OK || entry.body.len < 8)
        return;
    write_number(second, far);
    write_number((uint8_t *)(size_t)entry.body.data, far);
    hidden++;
}

/* A server numbers what it sends: a number is no place in this device's memory. The entry is asked for again. */
static void an_entry_has_the_next_number(sotto_test *t)
{
    observed o;

    observed_open(t, &o, true);
    ballot_post(t, &o.b);
    ballot_join(t, &o.b, 0x7e);
    hidden = 0;
    o.b.a.fleet.bend = number_far_beyond;
    CHECK(t, aggregation_ends(t, &o.b.a, "released"));
    CHECK(t, hidden > 0);
    CHECK(t, ballot_sum_is(t, &o.b, 0x7e));
    observed_close(&o);
}

/* Two devices that complain at length fill a board with more than others have memory for, before these look again. */
static void a_board_that_is_long_is_read_in_steps(sotto_test *t)
{
    unsigned behind = 0;
    observed o;

    observed_open(t, &o, true);
    o.b.slow = 6;
    ballot_post(t, &o.b);
    ballot_join(t, &o.b, 0x7e);
    for (size_t i = 0; i < o.b.a.fleet.count; i++)
        o.b.a.fleet.devices[i].duties->board_room = 16384;
    for (unsigned turn = 0; turn < 24; turn++) {
        aggregation_turn(t, &o.b.a, 250);
        for (size_t i = 0; i < o.b.a.fleet.count; i++)
            behind += o.b.a.fleet.devices[i].duties->behind;
    }
    CHECK(t, behind > 0);
    CHECK(t, aggregation_ends(t, &o.b.a, "released"));
    CHECK(t, ballot_sum_is(t, &o.b, 0x7e));
    observed_close(&o);
}

/* The same where the policy names no witnesses: this is what heads are for. */
static void without_witnesses_two_boards_are_not_seen(sotto_test *t)
{
    observed o;

    observed_open(t, &o, true);
    o.b.a.fleet.log_count = 0;
    observed_revive(t, &o);
    play_two_boards(t, &o);
    CHECK(t, aggregation_ends(t, &o.b.a, "released"));
    CHECK(t, hidden > 0);
    CHECK(t, !ballot_sum_is(t, &o.b, 0xff));
    observed_close(&o);
}

/* ---- the witness ---------------------------------------------------------------------------------------------------- */

/* A head of this many entries, all of them `entry`, signed with the aggregator's key: the witness' answer. */
static unsigned submit(sotto_test *t, const observed *o, uint64_t old, size_t count, uint8_t entry)
{
    const uint8_t seed[SOTTO_SIGN_SEED] = {7}, round[SOTTO_ROUND_ID] = {9};
    sotto_merkle_hash leaves[8];
    sotto_checkpoint c = {.size = count};
    sotto_witness_request request = {.old = old};
    sotto_note_signer signer = {0};
    sotto_buf note = sotto_test_buf(t, 4096), body = sotto_test_buf(t, 8192);
    char origin[SOTTO_BOARD_ORIGIN + 1];

    CHECK_OK(t, sotto_signer_init(&signer.signer, seed, &t->err));
    sotto_board_origin(origin, signer.signer.public_key, round);
    c.origin = sotto_bytes_of(origin, SOTTO_BOARD_ORIGIN);
    CHECK_OK(t, sotto_note_key_init(&signer.key, c.origin, SOTTO_NOTE_ED25519,
                                    signer.signer.public_key, &t->err));
    for (size_t i = 0; i < count; i++)
        sotto_merkle_leaf(&leaves[i], sotto_bytes_of(&entry, 1));
    sotto_merkle_list_root(&c.root, leaves, count);
    if (old)
        sotto_merkle_list_consistency(&request.proof, leaves, (size_t)old, count);
    CHECK_OK(t, sotto_checkpoint_encode(&note, &c, &t->err));
    const sotto_bytes text = sotto_buf_bytes(&note);
    note.data[note.len++] = '\n';
    CHECK_OK(t, sotto_note_sign(&note, text, &signer, 0, &t->err));
    request.note = sotto_buf_bytes(&note);
    CHECK_OK(t, sotto_witness_request_encode(&body, &request, &t->err));
    sotto_signer_clear(&signer.signer);
    return sotto_logs_ask(t, sotto_host_port(o->witness), "POST /add-checkpoint", "", body.data,
                          body.len)
        .status;
}

static void a_witness_cosigns_one_board_of_a_round(sotto_test *t)
{
    observed o;

    observed_open(t, &o, true);
    CHECK_EQUAL(t, 200, submit(t, &o, 0, 3, 'a'));
    CHECK_EQUAL(t, 200, submit(t, &o, 3, 5, 'a'));
    CHECK_EQUAL(t, 409, submit(t, &o, 0, 5, 'b')); /* another board */
    CHECK_EQUAL(t, 422, submit(t, &o, 5, 6, 'b'));
    sotto_logs_await_metric(t, o.witness, "sotto_witness_forks");
    observed_close(&o);
}

static void a_witness_cosigns_boards_of_listed_aggregators(sotto_test *t)
{
    observed o;

    observed_open(t, &o, false);
    CHECK_EQUAL(t, 404, submit(t, &o, 0, 3, 'a'));
    observed_close(&o);
}

/* ---- names, trees and leaves ------------------------------------------------------------------------------------------ */

static void a_board_has_one_name(sotto_test *t)
{
    const uint8_t key[SOTTO_SIGN_PUBLIC] = {0xab}, id[SOTTO_ROUND_ID] = {9};
    uint8_t server[SOTTO_SIGN_PUBLIC], round[SOTTO_ROUND_ID];
    char origin[SOTTO_BOARD_ORIGIN + 1];
    const sotto_bytes name = sotto_bytes_of(origin, SOTTO_BOARD_ORIGIN);

    sotto_board_origin(origin, key, id);
    CHECK_EQUAL(t, SOTTO_BOARD_ORIGIN, strlen(origin));
    CHECK(t, sotto_board_origin_read(server, round, name));
    CHECK_BYTES(t, key, server, sizeof key);
    CHECK_BYTES(t, id, round, sizeof id);
    origin[12] = 'A';
    CHECK(t, !sotto_board_origin_read(server, round, name));
    sotto_board_origin(origin, key, id);
    origin[0] = 'S';
    CHECK(t, !sotto_board_origin_read(server, round, name));
    sotto_board_origin(origin, key, id);
    CHECK(t, !sotto_board_origin_read(server, round, sotto_bytes_of(origin, name.len - 1)));
}

static void a_list_proves_that_it_grew(sotto_test *t)
{
    enum { MOST_LEAVES = 20 };
    sotto_merkle_hash leaves[MOST_LEAVES], before, after;
    sotto_merkle_proof proof;

    for (uint8_t i = 0; i < MOST_LEAVES; i++)
        sotto_merkle_leaf(&leaves[i], sotto_bytes_of(&i, 1));
    for (size_t count = 1; count <= MOST_LEAVES; count++)
        for (size_t old = 1; old <= count; old++) {
            sotto_merkle_list_root(&before, leaves, old);
            sotto_merkle_list_root(&after, leaves, count);
            sotto_merkle_list_consistency(&proof, leaves, old, count);
            CHECK_OK(t,
                     sotto_merkle_check_consistency(&proof, old, &before, count, &after, &t->err));
            before.bytes[0] ^= 1;
            CHECK_STATUS(t, SOTTO_REJECTED,
                         sotto_merkle_check_consistency(&proof, old, &before, count, &after, NULL));
        }
}

/* Members read a record whole and others an excerpt of it: both have the same tree. */
static void a_record_has_one_leaf(sotto_test *t)
{
    static uint8_t body[200 * SOTTO_BODY_PIECE];
    sotto_message m = {.kind = SOTTO_AERO_KEY, .to = SOTTO_TO_BOARD, .body = {body, sizeof body}};
    const size_t room = sizeof body + 10000;
    sotto_buf whole = sotto_test_buf(t, room), wanted = sotto_test_buf(t, SOTTO_EXCERPT_LEAF);

    memset(body, 7, sizeof body);
    CHECK_OK(t, sotto_message_encode(&whole, &m, &t->err));
    CHECK_OK(t, sotto_excerpt_leaf(&wanted, sotto_buf_bytes(&whole), &t->err));
    for (uint32_t shown = 0; shown <= 200; shown += 40) {
        const sotto_pieces pieces = {.count = shown ? 1 : 0, .at = {{200 - shown, shown}}};
        sotto_buf wire = sotto_test_buf(t, room), leaf = sotto_test_buf(t, SOTTO_EXCERPT_LEAF);

        CHECK_OK(t, sotto_excerpt_encode(&wire, &m, &pieces, &t->err));
        CHECK_OK(t, sotto_excerpt_leaf(&leaf, sotto_buf_bytes(&wire), &t->err));
        CHECK_EQUAL(t, wanted.len, leaf.len);
        CHECK_BYTES(t, wanted.data, leaf.data, leaf.len);
    }
    body[sizeof body - 1] ^= 1;
    whole.len = 0;
    sotto_buf leaf = sotto_test_buf(t, SOTTO_EXCERPT_LEAF);
    CHECK_OK(t, sotto_message_encode(&whole, &m, &t->err));
    CHECK_OK(t, sotto_excerpt_leaf(&leaf, sotto_buf_bytes(&whole), &t->err));
    CHECK(t, leaf.len == wanted.len && memcmp(leaf.data, wanted.data, leaf.len) != 0);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_sum_is_opened_under_cosigned_heads),
        CASE(a_restart_loses_no_head),
        CASE(a_board_that_nobody_cosigned_is_not_read),
        CASE(heads_without_cosignatures_are_not_believed),
        CASE(an_aggregator_with_two_boards_is_caught),
        CASE(a_complaint_that_is_shown_in_part_is_another_board),
        CASE(an_entry_has_the_next_number),
        CASE(a_board_that_is_long_is_read_in_steps),
        CASE(without_witnesses_two_boards_are_not_seen),
        CASE(a_witness_cosigns_one_board_of_a_round),
        CASE(a_witness_cosigns_boards_of_listed_aggregators),
        CASE(a_board_has_one_name),
        CASE(a_list_proves_that_it_grew),
        CASE(a_record_has_one_leaf),
    };

    if (!sotto_test_at_end(sotto_logs_forget))
        return 1;
    return RUN_TESTS(argc, argv, cases);
}
