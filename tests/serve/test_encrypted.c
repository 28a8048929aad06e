/* Encrypted sums over HTTP: an aggregator with its board, and devices that contribute, give noise, check, and open. Proofs are doubles. */
#define _POSIX_C_SOURCE 200809L
#include "ballot.h"

#include "aggregate/shared/mask.h"
#include "base/arena.h"
#include "serve/aggregator/aggregator.h"
#include "support/liar.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

/* ---- sums ------------------------------------------------------------------------------------------------------------ */

/* Writes rounds until one has a device that is in no committee: its index. Fewer than one in five has none, so that twenty in a row have
 * a chance below 2^-46. */
static uint32_t write_with_bystander(sotto_test *t, ballot *b)
{
    for (unsigned tries = 0; tries < 20; tries++) {
        ballot_write(t, b);
        for (uint32_t i = 0; i < DEVICES; i++)
            if (sotto_aero_committee_place(b->plan, i) < 0 &&
                sotto_aero_noise_place(b->plan, i) < 0)
                return i;
    }
    CHECK(t, false);
    return 0;
}

static void an_encrypted_sum_is_opened_over_http(sotto_test *t)
{
    ballot b;

    ballot_open(t, &b, "");
    ballot_post(t, &b);
    ballot_join(t, &b, 0x7e); /* the first and the last only check */
    /* One member of the committee is lost. */
    sotto_fleet_kill(&b.a.fleet, b.plan->committee[0]);
    const unsigned stay = 0x7eu & ~(1u << b.plan->committee[0]);
    CHECK(t, aggregation_ends(t, &b.a, "released"));
    CHECK(t, ballot_sum_is(t, &b, stay));
    const ballot_seen board = ballot_look(t, &b, SOTTO_TO_EVERYBODY);
    CHECK_EQUAL(t, COMMITTEE - 1, board.of[SOTTO_AERO_SEAL]);
    CHECK_EQUAL(t, COMMITTEE - 1, board.of[SOTTO_AERO_CERTIFY]);
    CHECK_EQUAL(t, COMMITTEE - 1, board.of[SOTTO_AERO_VERDICT]);
    CHECK_EQUAL(t, 1, board.of[SOTTO_AERO_SUMMED]);
    CHECK_EQUAL(t, 0, board.of[SOTTO_AERO_COMPLAINT]);
    /* A ledger hears of the vector alone, and of nothing that noise or checks send. */
    for (uint32_t i = 0; i < DEVICES; i++) {
        CHECK_EQUAL(t, stay >> i & 1, ballot_leaves[i]);
        CHECK_EQUAL(t, stay >> i & 1, ballot_arrives[i]);
    }
    aggregation_close(&b.a);
}

/* All five members have to agree. */
static void a_sum_is_opened_on_the_robust_path_over_http(sotto_test *t)
{
    ballot b;

    ballot_open(t, &b, "");
    b.opening = SOTTO_AERO_ROBUST;
    ballot_post(t, &b);
    ballot_join(t, &b, 0xff);
    CHECK(t, aggregation_ends(t, &b.a, "released"));
    CHECK(t, ballot_sum_is(t, &b, 0xff));
    const ballot_seen board = ballot_look(t, &b, SOTTO_TO_EVERYBODY);
    CHECK(t, board.of[SOTTO_AERO_DEALERS] >= 1);
    CHECK(t, board.of[SOTTO_AERO_DEALT] >= 1);
    aggregation_close(&b.a);
}

/* Until so many milliseconds after the round's beginning; then so many requests are answered, and all memory of server and devices is lost.
 * It is never within a second of a deadline: a device that is cut off then is late, and rightly so. */
static void lose_memory(sotto_test *t, ballot *b, uint64_t ms, unsigned requests)
{
    while (aggregation_now(&b->a) < b->round.opens + ms)
        aggregation_turn(t, &b->a, 250);
    b->a.fleet.exchanges_left = requests;
    aggregation_turn(t, &b->a, 250);
    CHECK_EQUAL(t, 0, b->a.fleet.exchanges_left);
    b->a.fleet.exchanges_left = UINT_MAX;
    aggregation_restart(t, &b->a);
}

/* In each phase of a round, and in the middle of what devices send. */
static void a_restart_after_any_request_changes_nothing(sotto_test *t)
{
    ballot b;

    ballot_open(t, &b, "");
    ballot_post(t, &b);
    ballot_join(t, &b, 0xff);
    lose_memory(t, &b, 0, 1);
    lose_memory(t, &b, 750, 17);
    lose_memory(t, &b, 1500, 9);
    lose_memory(t, &b, COMMIT_BY, 11);
    lose_memory(t, &b, COMMIT_BY + 750, 5);
    lose_memory(t, &b, CLOSES, 13);
    lose_memory(t, &b, CLOSES + 1000, 7);
    lose_memory(t, &b, VERIFY_BY, 3);
    CHECK(t, aggregation_ends(t, &b.a, "released"));
    CHECK(t, ballot_sum_is(t, &b, 0xff));
    aggregation_close(&b.a);
}

/* ---- a server that lies ------------------------------------------------------------------------------------------------ */

static void an_operator_that_edits_its_database_is_caught(sotto_test *t)
{
    ballot b;

    ballot_open(t, &b, "");
    ballot_post(t, &b);
    ballot_join(t, &b, 0xff);
    while (aggregation_now(&b.a) + 250 < b.round.closes)
        aggregation_turn(t, &b.a, 250);
    CHECK_OK(t, sotto_lie_in_database(b.a.host->db, b.a.id, &(sotto_lie){0}, &t->arena, &t->err));
    aggregation_restart(t, &b.a);
    CHECK(t, aggregation_ends(t, &b.a, "burnt"));
    const ballot_seen board = ballot_look(t, &b, SOTTO_TO_EVERYBODY);
    /* Everybody checks forty leaves, which are more than there are: so the edited one is among them. */
    CHECK(t, board.of[SOTTO_AERO_COMPLAINT] > 0);
    CHECK_EQUAL(t, 0, board.of[SOTTO_AERO_VERDICT]);
    aggregation_close(&b.a);
}

/* ---- devices that found nothing wrong ---------------------------------------------------------------------------------- */

static unsigned shown_to; /* a bit for each device */

/* To the others the server answers nothing once sums are due. That looks like a slow network. */
static unsigned shows_few(sotto_fleet *f, uint32_t device, const char *url, sotto_bytes body)
{
    const ballot *b = (const ballot *)(const void *)((const char *)f - offsetof(ballot, a.fleet));

    (void)url;
    (void)body;
    return aggregation_now(&b->a) >= b->round.closes && !(shown_to >> device & 1) ? 503 : 0;
}

static bool opens_where_shown(sotto_test *t, unsigned shown, uint32_t clears)
{
    unsigned looked = 0;
    ballot b;

    ballot_open(t, &b, "");
    b.clears = clears;
    ballot_post(t, &b);
    ballot_join(t, &b, 0xff);
    shown_to = shown;
    for (uint32_t i = 0; i < COMMITTEE; i++) /* members are shown everything */
        shown_to |= 1u << b.plan->committee[i];
    b.a.fleet.keep_off = shows_few;
    const bool opened = aggregation_ends(t, &b.a, "released");
    const ballot_seen board = ballot_look(t, &b, SOTTO_TO_EVERYBODY);
    for (uint32_t i = 0; i < DEVICES; i++)
        looked += shown_to >> i & 1;
    CHECK_EQUAL(t, clears ? looked : 0, board.of[SOTTO_AERO_CLEAR]);
    aggregation_close(&b.a);
    return opened;
}

/* Members check leaves, too: five of eight. */
static void a_server_that_shows_most_devices_nothing_has_no_sum_opened(sotto_test *t)
{
    CHECK(t, opens_where_shown(t, 0xff, DEVICES));
    CHECK(t, opens_where_shown(t, 0, COMMITTEE));
    CHECK(t, opens_where_shown(t, 0, 0));
    CHECK(t, !opens_where_shown(t, 0, DEVICES - 1));
}

/* ---- the board --------------------------------------------------------------------------------------------------------- */

/* Until members have dealt the key. */
static void deal(sotto_test *t, ballot *b)
{
    for (unsigned i = 0; i < 6; i++)
        aggregation_turn(t, &b->a, 250);
}

static void devices_read_a_key_without_its_shares(sotto_test *t)
{
    ballot b;

    ballot_open(t, &b, "");
    ballot_post(t, &b);
    ballot_join(t, &b, 0xff);
    deal(t, &b);
    const ballot_seen whole = ballot_look(t, &b, SOTTO_TO_BOARD),
                      excerpts = ballot_look(t, &b, SOTTO_TO_EVERYBODY);
    CHECK_EQUAL(t, whole.entries, excerpts.entries);
    CHECK_EQUAL(t, COMMITTEE, whole.of[SOTTO_AERO_KEY]);
    CHECK_EQUAL(t, COMMITTEE, excerpts.excerpts);
    CHECK_EQUAL(t, 0, whole.excerpts);
    /* A member is shown what all of them are, and its share; others nothing of it. */
    for (uint32_t i = 0; i < COMMITTEE; i++) {
        const ballot_seen own = ballot_look(t, &b, b.plan->committee[i]);

        CHECK_EQUAL(t, whole.entries, own.entries);
        CHECK_EQUAL(t, COMMITTEE, own.excerpts);
        /* Of OPENING - 1 dealers it is shown a seed in the place of a share. */
        const size_t shares = 2 * COMMITTEE - (OPENING - 1),
                     poly = sotto_aero_poly_size(&b.plan->aero);
        CHECK(t, own.shown > shares * poly && own.shown < shares * poly + COMMITTEE * 3000);
    }
    CHECK_EQUAL(t, 0, excerpts.shown);
    CHECK(t, aggregation_ends(t, &b.a, "released"));
    /* Shares are erased then; all else stays for whoever asks. */
    CHECK_EQUAL(t, COMMITTEE, ballot_look(t, &b, SOTTO_TO_BOARD).excerpts);
    CHECK_EQUAL(t, COMMITTEE, ballot_look(t, &b, b.plan->committee[0]).excerpts);
    b.a.id[0] ^= 1;
    CHECK_EQUAL(t, 404, ballot_read(t, &b, 0, 0).status);
    aggregation_close(&b.a);
}

static sotto_bytes put_of(sotto_test *t, const sotto_message *m)
{
    const size_t size = sotto_message_size(m);
    sotto_buf out;

    CHECK_OK(t, sotto_buf_take(&out, &t->arena, size + 4, &t->err));
    for (unsigned i = 0; i < 4; i++)
        out.data[out.len++] = (uint8_t)(size >> (24 - 8 * i));
    CHECK_OK(t, sotto_message_encode(&out, m, &t->err));
    return sotto_buf_bytes(&out);
}

static unsigned send(sotto_test *t, const ballot *b, const sotto_message *m)
{
    return aggregation_ask(t, &b->a, SOTTO_HTTP_POST, aggregation_place(t, &b->a, "/messages"), "",
                           SOTTO_MESSAGE_TYPE, put_of(t, m))
        .status;
}

static sotto_message message_of(const ballot *b, unsigned kind, uint32_t from, uint32_t to,
                                sotto_bytes body)
{
    sotto_message m = {.epoch = b->round.epoch,
                       .round = b->round.number,
                       .kind = (uint16_t)kind,
                       .from = from,
                       .to = to,
                       .body = body};

    memcpy(m.session, b->round.session, sizeof m.session);
    return m;
}

static void nobody_puts_entries_on_the_board_itself(sotto_test *t)
{
    uint8_t body[12 + 8];
    sotto_buf out = sotto_buf_over(body, sizeof body);
    ballot b;

    ballot_open(t, &b, "");
    ballot_post(t, &b);
    /* An entry is signed by nobody: whoever delivers it vouches for its number. */
    CHECK_OK(t, sotto_entry_encode(&out, 0, sotto_bytes_of("a record", 8), &t->err));
    const sotto_message entry =
        message_of(&b, SOTTO_AERO_ENTRY, SOTTO_TO_BOARD, SOTTO_TO_EVERYBODY, sotto_buf_bytes(&out));
    CHECK_EQUAL(t, 403, send(t, &b, &entry));
    CHECK_EQUAL(t, 0, ballot_look(t, &b, SOTTO_TO_BOARD).entries);
    aggregation_close(&b.a);
}

/* A signer with a device's own keys. */
static void signer_of(sotto_test *t, const ballot *b, uint32_t device, sotto_signer *out)
{
    static const uint8_t no_round[SOTTO_ROUND_ID];
    uint8_t key[32];

    CHECK_OK(t,
             sotto_round_kdf(key, "sotto-duties-1",
                             sotto_bytes_of(b->a.fleet.devices[device].secret, SOTTO_DUTIES_SECRET),
                             no_round, 0, 1, &t->err));
    CHECK_OK(t, sotto_signer_init(out, key, &t->err));
}

static void a_record_is_on_the_board_once(sotto_test *t)
{
    static const uint8_t body[2] = {SOTTO_AERO_LEFT_OUT, SOTTO_AERO_CONTRIBUTOR};
    uint8_t signature[SOTTO_SIGNATURE];
    sotto_signer signer;
    ballot b;

    ballot_open(t, &b, "");
    ballot_post(t, &b);
    signer_of(t, &b, 3, &signer);
    sotto_message m =
        message_of(&b, SOTTO_AERO_COMPLAINT, 3, SOTTO_TO_BOARD, sotto_bytes_of(body, sizeof body));
    CHECK_EQUAL(t, 400, send(t, &b, &m)); /* not signed */
    CHECK_OK(t, sotto_message_sign(&m, signature, &signer, &t->err));
    CHECK_EQUAL(t, 204, send(t, &b, &m));
    CHECK_EQUAL(t, 204, send(t, &b, &m)); /* the answer was missed */
    CHECK_EQUAL(t, 1, ballot_look(t, &b, SOTTO_TO_BOARD).entries);
    signature[5] ^= 1;
    CHECK_EQUAL(t, 403, send(t, &b, &m));
    m.from = 4;
    CHECK_OK(t, sotto_message_sign(&m, signature, &signer, &t->err));
    CHECK_EQUAL(t, 403, send(t, &b, &m)); /* in another's name */
    sotto_signer_clear(&signer);
    aggregation_close(&b.a);
}

static void a_record_that_is_known_costs_no_write(sotto_test *t)
{
    static const uint8_t body[2] = {SOTTO_AERO_LEFT_OUT, SOTTO_AERO_CONTRIBUTOR};
    static const char steps[] = "SELECT version FROM round";
    uint8_t signature[SOTTO_SIGNATURE];
    sotto_signer signer;
    ballot b;

    ballot_open(t, &b, "");
    ballot_post(t, &b);
    signer_of(t, &b, 3, &signer);
    sotto_message m =
        message_of(&b, SOTTO_AERO_COMPLAINT, 3, SOTTO_TO_BOARD, sotto_bytes_of(body, sizeof body));
    CHECK_OK(t, sotto_message_sign(&m, signature, &signer, &t->err));
    const int64_t before = sotto_test_ask_number(t, b.a.host->db, steps);
    CHECK_EQUAL(t, 204, send(t, &b, &m));
    const int64_t after = sotto_test_ask_number(t, b.a.host->db, steps);
    CHECK(t, after > before);
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQUAL(t, 204, send(t, &b, &m));
    CHECK(t, sotto_test_ask_number(t, b.a.host->db, steps) == after);
    sotto_signer_clear(&signer);
    aggregation_close(&b.a);
}

/* As if each of its records were there twice. */
static sotto_status twice(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_sql q;

    (void)context;
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "UPDATE board_sender SET records = 2 * records,"
                                " bytes = 2 * bytes WHERE sender = 3",
                                err));
    return sotto_sql_run(&q, NULL, err);
}

/* Whether there is room for this message, which one of so many witnesses wants to see there. */
static sotto_status admits(sotto_test *t, const ballot *b, const sotto_message *m,
                           unsigned witnesses)
{
    const sotto_bytes put = put_of(t, m), record = {put.data + 4, put.len - 4};
    const sotto_board board = {0};
    bool known;

    return sotto_board_admit(&board, b->a.host->db, b->a.id, m->from, record, witnesses, &known,
                             NULL);
}

static void one_device_does_not_fill_the_board(sotto_test *t)
{
    const size_t len = (size_t)15 << 20;
    uint8_t *body = sotto_arena_take(&t->arena, len), signature[SOTTO_SIGNATURE];
    unsigned taken = 0;
    sotto_signer signer;
    ballot b;

    CHECK(t, body != NULL);
    ballot_open(t, &b, "");
    ballot_post(t, &b);
    signer_of(t, &b, 3, &signer);
    sotto_message m =
        message_of(&b, SOTTO_AERO_COMPLAINT, 3, SOTTO_TO_BOARD, sotto_bytes_of(body, len));
    for (unsigned i = 0; i < 6; i++) {
        body[1] = (uint8_t)i;
        CHECK_OK(t, sotto_message_sign(&m, signature, &signer, &t->err));
        const unsigned status = send(t, &b, &m);
        CHECK(t, status == 204 || status == 413);
        taken += status == 204;
    }
    CHECK_EQUAL(t, 4, taken); /* 64 MiB */
    /* Each witness has a place for it, and no more than that: one that lies fills no disk. */
    CHECK_STATUS(t, SOTTO_TOO_LARGE, admits(t, &b, &m, 0));
    CHECK_OK(t, admits(t, &b, &m, 1));
    CHECK_OK(t, sotto_db_run(b.a.host->db, twice, NULL, &t->err));
    CHECK_STATUS(t, SOTTO_TOO_LARGE, admits(t, &b, &m, 1));
    CHECK_OK(t, admits(t, &b, &m, 2));
    sotto_signer_clear(&signer);
    aggregation_close(&b.a);
}

/* ---- devices ----------------------------------------------------------------------------------------------------------- */

/* What a device with this policy says to a round. */
static sotto_status takes(sotto_test *t, const ballot *b, uint32_t device, unsigned allowed,
                          unsigned part, bool contributes, bool consents)
{
    static const uint64_t values[LENGTH];
    const sotto_fleet *f = &b->a.fleet;
    const sotto_duties_options options = {
        .journal = "/policy",
        .memory = true,
        .secret = f->devices[device].secret,
        .allowed = allowed,
        .witnesses = (const uint8_t(*)[SOTTO_P256_WIDE])f->epoch.witnesses.verify,
        .witness_count = f->epoch.witnesses.count,
        .terms = f->terms,
        .own = &ballot_trial,
        .server = f->server};
    sotto_duties *d;

    CHECK_OK(t, sotto_duties_open(&d, &options, &t->err));
    CHECK_OK(t, sotto_duties_consent(d, consents, &t->err));
    const sotto_status status =
        sotto_duties_take(d, b->a.posting, device, part, contributes ? values : NULL, LENGTH, NULL);
    sotto_duties_close(d);
    return status;
}

static void every_role_is_named_by_the_policy(sotto_test *t)
{
    enum {
        VERIFIER = SOTTO_DUTY_VERIFIER,
        CONTRIBUTOR = SOTTO_DUTY_CONTRIBUTOR,
        CLIENT = SOTTO_DUTY_CLIENT,
        MEMBER = SOTTO_DUTY_DECRYPTOR
    };
    ballot b;

    ballot_open(t, &b, "");
    const uint32_t other = write_with_bystander(t, &b), member = b.plan->committee[0];
    CHECK_OK(t, takes(t, &b, other, VERIFIER, CLIENT, false, true));
    CHECK_OK(t, takes(t, &b, other, VERIFIER | CONTRIBUTOR, CLIENT, true, true));
    CHECK_OK(t, takes(t, &b, member, SOTTO_DUTY_COMMITTEE, MEMBER, false, true));
    CHECK_STATUS(t, SOTTO_DENIED, takes(t, &b, other, VERIFIER, CLIENT, true, true));
    CHECK_STATUS(t, SOTTO_DENIED, takes(t, &b, other, CONTRIBUTOR, CLIENT, true, true));
    CHECK_STATUS(t, SOTTO_DENIED, takes(t, &b, other, CLIENT | MEMBER, CLIENT, true, true));
    CHECK_STATUS(t, SOTTO_DENIED, takes(t, &b, member, CLIENT | MEMBER, MEMBER, false, true));
    CHECK_STATUS(t, SOTTO_DENIED, takes(t, &b, member, VERIFIER, MEMBER, false, true));
    CHECK_STATUS(t, SOTTO_DENIED,
                 takes(t, &b, other, SOTTO_DUTY_COMMITTEE, MEMBER, false, true)); /* not drawn */
    CHECK_STATUS(t, SOTTO_DENIED, takes(t, &b, other, VERIFIER, CLIENT, false, false));
    aggregation_close(&b.a);
}

/* A server that is busy with one message has no say in what comes after it. */
static void a_record_that_is_not_taken_stops_no_other(sotto_test *t)
{
    ballot b;

    ballot_open(t, &b, "");
    ballot_post(t, &b);
    ballot_join(t, &b, 0xff);
    /* This one has two promises to send, and a commitment to a key where it is a member. */
    const uint32_t late = b.plan->noise[0];
    const unsigned wanted = 2 + (sotto_aero_committee_place(b.plan, late) >= 0);
    sotto_fleet_kill(&b.a.fleet, late);
    while (ballot_look(t, &b, SOTTO_TO_EVERYBODY).of[SOTTO_AERO_CERTIFY] < OPENING)
        aggregation_turn(t, &b.a, 250);
    CHECK(t, aggregation_now(&b.a) < b.round.commit_by);
    for (uint32_t i = 0; i < DEVICES; i++)
        if (i != late)
            sotto_fleet_kill(&b.a.fleet, i);
    CHECK_OK(t, sotto_fleet_revive(&b.a.fleet, late, &t->err));
    b.a.fleet.messages = 0;
    b.a.fleet.messages_with = 503;
    uint64_t next;
    for (unsigned i = 0; i < 2; i++) {
        b.a.fleet.messages = 0;
        b.a.fleet.devices[late].next_ms = 0;
        (void)!sotto_fleet_tick(&b.a.fleet, aggregation_now(&b.a), &next, NULL);
    }
    CHECK_EQUAL(t, wanted, b.a.fleet.messages);
    aggregation_close(&b.a);
}

static void nobody_gives_noise_without_consent(sotto_test *t)
{
    ballot b;

    ballot_open(t, &b, "");
    b.a.fleet.without = SOTTO_DUTY_NOISE;
    for (uint32_t i = 0; i < DEVICES; i++) {
        sotto_fleet_kill(&b.a.fleet, i);
        CHECK_OK(t, sotto_fleet_revive(&b.a.fleet, i, &t->err));
    }
    ballot_post(t, &b);
    ballot_join(t, &b, 0xff);
    /* Nobody is made to: there is too little noise, and nothing is opened. */
    CHECK(t, aggregation_ends(t, &b.a, "burnt"));
    CHECK_EQUAL(t, 0, ballot_look(t, &b, SOTTO_TO_EVERYBODY).of[SOTTO_AERO_ADDED]);
    aggregation_close(&b.a);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(an_encrypted_sum_is_opened_over_http),
        CASE(a_sum_is_opened_on_the_robust_path_over_http),
        CASE(a_restart_after_any_request_changes_nothing),
        CASE(an_operator_that_edits_its_database_is_caught),
        CASE(a_server_that_shows_most_devices_nothing_has_no_sum_opened),
        CASE(devices_read_a_key_without_its_shares),
        CASE(nobody_puts_entries_on_the_board_itself),
        CASE(a_record_is_on_the_board_once),
        CASE(a_record_that_is_known_costs_no_write),
        CASE(one_device_does_not_fill_the_board),
        CASE(every_role_is_named_by_the_policy),
        CASE(a_record_that_is_not_taken_stops_no_other),
        CASE(nobody_gives_noise_without_consent),
    };
    return RUN_TESTS(argc, argv, cases);
}
