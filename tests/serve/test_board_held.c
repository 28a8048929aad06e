/* A server that keeps complaints off its board: witnesses hold them, and cosign nothing before they are there. Proofs are doubles. */
#define _POSIX_C_SOURCE 200809L
#include "observed.h"

#include "crypto/hash.h"
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
    CHECK_EQUAL(t, 0, ballot_look(t, &o.b, SOTTO_TO_EVERYBODY).of[SOTTO_AERO_COMPLAINT]);
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
    const ballot_seen board = ballot_look(t, &o.b, SOTTO_TO_EVERYBODY);
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
    const ballot_seen board = ballot_look(t, &o.b, SOTTO_TO_EVERYBODY);
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
    const ballot_seen board = ballot_look(t, &o.b, SOTTO_TO_EVERYBODY);
    CHECK(t, board.of[SOTTO_AERO_SUMMED] > 0);
    CHECK_EQUAL(t, 0, board.of[SOTTO_AERO_VERDICT]);
    sotto_logs_shift(0);
    observed_close(&o);
}

/* ---- a policy that changes -------------------------------------------------------------------------------------------------- */

enum { SEEN = 512 };

/* Complaints that the second witness was asked to take, and that it took; those that the first was asked to take again. */
static struct reorder {
    bool is_reordered;
    struct handing {
        uint32_t device;
        uint8_t digest[32];
    } first[SEEN], second[SEEN];
    size_t firsts, seconds, taken;
    unsigned again;
} reorder_;

#define SECOND "http://127.0.0.1:1/"

static size_t place_of(const struct handing *list, size_t count, uint32_t device, sotto_bytes body)
{
    uint8_t digest[32];
    size_t i = 0;

    sotto_hash_once(digest, SOTTO_SHA256, body);
    while (i < count &&
           (list[i].device != device || memcmp(list[i].digest, digest, sizeof digest) != 0))
        i++;
    return i;
}

static void note(struct handing *list, size_t *count, uint32_t device, sotto_bytes body)
{
    if (*count == SEEN || place_of(list, *count, device, body) < *count)
        return;
    list[*count].device = device;
    sotto_hash_once(list[(*count)++].digest, SOTTO_SHA256, body);
}

/* The server keeps complaints off, and the second witness is away until the policy changes. */
static unsigned hand_in_order(sotto_fleet *f, uint32_t device, const char *url, sotto_bytes body)
{
    struct reorder *r = &reorder_;

    if (strncmp(url, f->server, strlen(f->server)) == 0)
        return swallow(f, device, url, body);
    if (strncmp(url, SECOND, strlen(SECOND)) == 0) {
        if (!r->is_reordered)
            note(r->second, &r->seconds, device, body);
        else if (place_of(r->second, r->seconds, device, body) < r->seconds)
            r->taken++;
        return r->is_reordered ? 204 : 503;
    }
    if (!strstr(url, "/messages"))
        return 0;
    if (!r->is_reordered)
        note(r->first, &r->firsts, device, body);
    else
        r->again += place_of(r->first, r->firsts, device, body) < r->firsts;
    return 0;
}

/* Who has a complaint is known by the witness's key: a policy that lists witnesses in another order has nobody left out. */
static void a_policy_in_another_order_leaves_no_witness_out(sotto_test *t)
{
    sotto_note_key keys[2], turned[2];
    observed o;

    observed_open(t, &o, true);
    const char *urls[] = {o.url, SECOND}, *turned_urls[] = {SECOND, o.url};
    keys[0] = turned[1] = o.keys.witness;
    keys[1] = o.keys.witness;
    keys[1].public_key[3] ^= 1;
    keys[1].id ^= 1;
    turned[0] = keys[1];
    memset(&reorder_, 0, sizeof reorder_);
    o.log.trust.witnesses = keys;
    o.log.trust.witness_count = 2;
    o.log.urls = urls;
    ballot_post(t, &o.b);
    ballot_join(t, &o.b, 0xff);
    swallowed = 0;
    o.b.a.fleet.keep_off = hand_in_order;
    observed_lie(t, &o);
    while (aggregation_now(&o.b.a) < o.b.round.verify_by && reorder_.seconds == 0)
        aggregation_turn(t, &o.b.a, 250);
    CHECK(t, reorder_.firsts > 0 && reorder_.seconds > 0);
    o.log.trust.witnesses = turned;
    o.log.urls = turned_urls;
    reorder_.is_reordered = true;
    for (unsigned i = 0; i < 16; i++)
        aggregation_turn(t, &o.b.a, 250);
    CHECK_EQUAL(t, reorder_.seconds, reorder_.taken);
    CHECK_EQUAL(t, 0, reorder_.again);
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
    CHECK_EQUAL(t, 0, ballot_look(t, &o.b, SOTTO_TO_EVERYBODY).of[SOTTO_AERO_VERDICT]);
    sotto_logs_shift(0);
    sotto_signer_file_clear(&fork_.witness);
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
        CASE(a_policy_in_another_order_leaves_no_witness_out),
        CASE(members_sign_for_a_board_of_the_last_hour_at_no_time),
        CASE(a_head_of_another_board_is_not_that_of_what_was_read),
    };

    if (!sotto_test_at_end(sotto_logs_forget))
        return 1;
    return RUN_TESTS(argc, argv, cases);
}
