#include "rounds.h"

#include "crypto/ed25519.h"
#include "crypto/hash.h"
#include "plain/plain.h"

#include <string.h>

static sotto_message example(const round_case *c)
{
    sotto_message m = {.epoch = c->round.epoch,
                       .round = c->round.number,
                       .kind = PLAIN_VECTOR,
                       .from = 1,
                       .to = SOTTO_TO_SERVER,
                       .bulk_len = 12};

    memcpy(m.session, c->round.session, sizeof m.session);
    return m;
}

static void what_is_encoded_is_decoded(sotto_test *t)
{
    uint8_t wire[512], again[512], signature[SOTTO_SIGNATURE] = {9}, body[50] = {3};
    sotto_buf out = sotto_buf_over(wire, sizeof wire), twice = sotto_buf_over(again, sizeof again);
    sotto_message m = {.session = {1},
                       .epoch = 2,
                       .round = 3,
                       .kind = 4,
                       .from = 5,
                       .to = 6,
                       .bulk = {7},
                       .bulk_len = 8,
                       .body = {body, sizeof body},
                       .signature = {signature, sizeof signature}};
    sotto_message read;

    CHECK_OK(t, sotto_message_encode(&out, &m, &t->err));
    CHECK_EQUAL(t, sotto_message_size(&m), out.len);
    CHECK_OK(t, sotto_message_decode(&read, sotto_buf_bytes(&out), &t->err));
    CHECK_OK(t, sotto_message_encode(&twice, &read, &t->err));
    CHECK_BYTES(t, wire, again, out.len);
    for (size_t i = 0; i < out.len; i++)
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_message_decode(&read, sotto_bytes_of(wire, i), &t->err));
    wire[out.len] = 0;
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_message_decode(&read, sotto_bytes_of(wire, out.len + 1), &t->err));
    m.signature.len = 63;
    out.len = 0;
    CHECK_OK(t, sotto_message_encode(&out, &m, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_message_decode(&read, sotto_buf_bytes(&out), &t->err));
    out.len = 0;
    out.cap = 100;
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_message_encode(&out, &m, &t->err));
    CHECK_EQUAL(t, 0, out.len);
}

static void every_field_is_signed(sotto_test *t)
{
    uint8_t wire[256], signature[SOTTO_SIGNATURE], body[5] = {1};
    sotto_buf out = sotto_buf_over(wire, sizeof wire);
    sotto_message m, read;
    round_case c;

    round_case_init(t, &c, &METHOD_ROWS[0], 3, SOTTO_RING_Z32, 3, 1);
    m = example(&c);
    m.body = sotto_bytes_of(body, sizeof body);
    CHECK_OK(t, sotto_message_sign(&m, signature, &c.cast.clients[1], &t->err));
    CHECK_OK(t, sotto_message_check(&m, c.cast.registry.keys[1], &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_message_check(&m, c.cast.registry.keys[0], &t->err));
    CHECK_OK(t, sotto_message_encode(&out, &m, &t->err));
    for (size_t bit = 0; bit < 8 * out.len; bit++) {
        wire[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (sotto_message_decode(&read, sotto_buf_bytes(&out), NULL) == SOTTO_OK)
            CHECK_STATUS(t, SOTTO_REJECTED,
                         sotto_message_check(&read, c.cast.registry.keys[1], &t->err));
        wire[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    round_case_clear(&c);
}

static sotto_status judge(sotto_test *t, const round_case *c, sotto_message *m,
                          const sotto_signer *signer)
{
    uint8_t signature[SOTTO_SIGNATURE];

    CHECK_OK(t, sotto_message_sign(m, signature, signer, &t->err));
    t->err = (sotto_err){0};
    return sotto_message_judge(m, &c->round, &sotto_method_plain, &t->err);
}

static void a_message_is_of_its_round(sotto_test *t)
{
    sotto_message m;
    round_case c;

    round_case_init(t, &c, &METHOD_ROWS[0], 3, SOTTO_RING_Z32, 3, 1);
    m = example(&c);
    CHECK(t, judge(t, &c, &m, &c.cast.clients[1]) == SOTTO_OK);
    m.session[31] ^= 1;
    CHECK(t, judge(t, &c, &m, &c.cast.clients[1]) == SOTTO_STALE);
    m = example(&c);
    m.epoch++;
    CHECK(t, judge(t, &c, &m, &c.cast.clients[1]) == SOTTO_STALE);
    m = example(&c);
    m.round--;
    CHECK(t, judge(t, &c, &m, &c.cast.clients[1]) == SOTTO_STALE);
    round_case_clear(&c);
}

static void a_message_comes_from_whom_it_can(sotto_test *t)
{
    sotto_message m;
    round_case c;

    round_case_init(t, &c, &METHOD_ROWS[0], 3, SOTTO_RING_Z32, 3, 1);
    m = example(&c);
    m.from = SOTTO_TO_SERVER;
    CHECK(t, judge(t, &c, &m, &c.cast.server) == SOTTO_REJECTED);
    m = example(&c);
    m.to = 2;
    CHECK(t, judge(t, &c, &m, &c.cast.clients[1]) == SOTTO_REJECTED);
    m = example(&c);
    m.from = 3;
    CHECK(t, judge(t, &c, &m, &c.cast.clients[1]) == SOTTO_REJECTED);
    round_case_clear(&c);
}

static void a_message_is_signed_by_its_sender(sotto_test *t)
{
    sotto_message m;
    round_case c;

    round_case_init(t, &c, &METHOD_ROWS[0], 3, SOTTO_RING_Z32, 3, 1);
    m = example(&c);
    CHECK(t, judge(t, &c, &m, &c.cast.clients[2]) == SOTTO_REJECTED);
    m = example(&c);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_message_judge(&m, &c.round, &sotto_method_plain, &t->err));
    round_case_clear(&c);
}

enum { CLIENTS = 12, WRONG = 5 };

/* One from each client. The first ones are wrong, each in its own way. */
static void write_many(sotto_test *t, const round_case *c, sotto_message *all,
                       uint8_t (*signatures)[SOTTO_SIGNATURE])
{
    for (uint32_t i = 0; i < CLIENTS; i++) {
        all[i] = example(c);
        all[i].from = i;
        all[i].round += i == 0;
        all[i].kind = i == 1 ? 99 : all[i].kind;
        CHECK_OK(t, sotto_message_sign(&all[i], signatures[i], &c->cast.clients[i == 2 ? 3 : i],
                                       &t->err));
    }
    signatures[3][40] ^= 1;
    all[4].signature.len = 0;
}

/* With lanes or without them, among others or alone. */
static void messages_are_judged_together_as_alone(sotto_test *t)
{
    static const char *const sets[] = {"ifma", "avx2", "none"};
    uint8_t signatures[CLIENTS][SOTTO_SIGNATURE];
    sotto_message all[CLIENTS];
    round_case c;

    round_case_init(t, &c, &METHOD_ROWS[0], CLIENTS, SOTTO_RING_Z32, 3, 1);
    for (size_t set = 0; set < 3; set++) {
        if (!sotto_ed25519_use(sets[set]))
            continue;
        write_many(t, &c, all, signatures);
        for (size_t i = 0; i < CLIENTS; i++) {
            const sotto_status alone =
                sotto_message_judge(&all[i], &c.round, &sotto_method_plain, NULL);

            CHECK_EQUAL(t, i >= WRONG, alone == SOTTO_OK);
        }
        sotto_message apart[CLIENTS];
        memcpy(apart, all, sizeof all);
        sotto_messages_vouch(all, CLIENTS, &c.round, &sotto_method_plain);
        size_t vouched = 0;
        for (size_t i = 0; i < CLIENTS; i++) {
            CHECK(t, all[i].holds_for == NULL || i >= WRONG);
            vouched += all[i].holds_for != NULL;
            /* What was digested to look at a signature is not digested again. */
            uint8_t wanted[32], found[32];
            sotto_body_digest(wanted, all[i].body);
            sotto_message_digest(&all[i], found);
            CHECK_BYTES(t, wanted, found, sizeof found);
            CHECK(t, !all[i].holds_for || memcmp(wanted, all[i].digest, sizeof wanted) == 0);
            CHECK_EQUAL(t, sotto_message_judge(&apart[i], &c.round, &sotto_method_plain, NULL),
                        sotto_message_judge(&all[i], &c.round, &sotto_method_plain, NULL));
        }
        /* Too few for lanes are left over. */
        CHECK(t, set == 2 ? vouched == 0 : vouched > CLIENTS - WRONG - 3);
    }
    CHECK(t, sotto_ed25519_use(NULL));
    round_case_clear(&c);
}

/* What was found right for a key is no word about another one. */
static void a_registry_with_other_keys_judges_anew(sotto_test *t)
{
    uint8_t signatures[CLIENTS][SOTTO_SIGNATURE], keys[CLIENTS][SOTTO_SIGN_PUBLIC];
    sotto_message all[CLIENTS];
    sotto_registry registry;
    round_case c;

    round_case_init(t, &c, &METHOD_ROWS[0], CLIENTS, SOTTO_RING_Z32, 3, 1);
    write_many(t, &c, all, signatures);
    sotto_messages_vouch(all, CLIENTS, &c.round, &sotto_method_plain);
    registry = c.cast.registry;
    memcpy(keys, registry.keys, sizeof keys);
    keys[WRONG][0] ^= 1;
    registry.keys = (const uint8_t(*)[SOTTO_SIGN_PUBLIC])keys;
    c.round.keys = &registry;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_message_judge(&all[WRONG], &c.round, &sotto_method_plain, &t->err));
    CHECK_OK(t, sotto_message_judge(&all[WRONG + 1], &c.round, &sotto_method_plain, &t->err));
    round_case_clear(&c);
}

static void one_wrong_signature_is_found_among_many(sotto_test *t)
{
    uint8_t signatures[CLIENTS][SOTTO_SIGNATURE];
    sotto_message all[CLIENTS];
    sotto_message_claim claims[CLIENTS];
    round_case c;

    round_case_init(t, &c, &METHOD_ROWS[0], CLIENTS, SOTTO_RING_Z32, 3, 1);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        all[i] = example(&c);
        CHECK_OK(t, sotto_message_sign(&all[i], signatures[i], &c.cast.clients[i], &t->err));
        claims[i] = (sotto_message_claim){.message = &all[i], .key = c.cast.registry.keys[i]};
    }
    CHECK_OK(t, sotto_messages_check(claims, CLIENTS, &t->err));
    for (uint32_t i = 0; i < CLIENTS; i++) {
        signatures[i][3] ^= 1;
        CHECK_STATUS(t, SOTTO_REJECTED, sotto_messages_check(claims, CLIENTS, &t->err));
        signatures[i][3] ^= 1;
    }
    round_case_clear(&c);
}

static void a_message_has_its_kinds_form(sotto_test *t)
{
    sotto_message m;
    round_case c;

    round_case_init(t, &c, &METHOD_ROWS[0], 3, SOTTO_RING_Z32, 3, 1);
    m = example(&c);
    m.kind = 99;
    CHECK(t, judge(t, &c, &m, &c.cast.clients[1]) == SOTTO_MALFORMED);
    m = example(&c);
    m.bulk_len = 16;
    CHECK(t, judge(t, &c, &m, &c.cast.clients[1]) == SOTTO_MALFORMED);
    m = example(&c);
    m.bulk[3] = 1;
    CHECK(t, judge(t, &c, &m, &c.cast.clients[1]) == SOTTO_MALFORMED);
    m = example(&c);
    m.body = sotto_bytes_of("x", 1);
    CHECK(t, judge(t, &c, &m, &c.cast.clients[1]) == SOTTO_MALFORMED);
    round_case_clear(&c);
}

static void a_round_names_its_registry(sotto_test *t)
{
    round_case c;

    round_case_init(t, &c, &METHOD_ROWS[0], 3, SOTTO_RING_Z32, 3, 1);
    CHECK_OK(t, sotto_method_admit(&sotto_method_plain, &c.round, &t->err));
    c.round.registry[0] ^= 1;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_method_admit(&sotto_method_plain, &c.round, &t->err));
    c.round.keys = NULL;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_method_admit(&sotto_method_plain, &c.round, &t->err));
    round_case_clear(&c);
}

static void effects_are_copies_in_order(sotto_test *t)
{
    uint8_t body[2] = {1, 2};
    sotto_message m = {.kind = 1, .body = {body, sizeof body}};
    sotto_vow vow = {.kind = 5};
    sotto_effects effects;

    sotto_effects_init(&effects, &t->arena);
    CHECK(t, effects.wake == UINT64_MAX);
    CHECK_OK(t, sotto_effects_send(&effects, &m, NULL, &t->err));
    body[0] = 9;
    m.kind = 2;
    CHECK_OK(t, sotto_effects_send(&effects, &m, NULL, &t->err));
    CHECK_OK(t, sotto_effects_keep(&effects, &m, &t->err));
    CHECK_OK(t, sotto_effects_vow(&effects, &vow, &t->err));
    sotto_effects_wake(&effects, 50);
    sotto_effects_wake(&effects, 70);
    sotto_effects_done(&effects, SOTTO_DENIED, "first");
    sotto_effects_done(&effects, SOTTO_OK, "second");
    CHECK_EQUAL(t, 1, effects.sent->message.body.data[0]);
    CHECK_EQUAL(t, 9, effects.sent->next->message.body.data[0]);
    CHECK(t, !effects.sent->next->next && effects.kept && !effects.kept->next);
    CHECK_EQUAL(t, 5, effects.vows->vow.kind);
    CHECK_EQUAL(t, 50, effects.wake);
    CHECK(t, effects.outcome == SOTTO_DENIED && strcmp(effects.reason, "first") == 0);
}

static void one_step_may_not_want_without_end(sotto_test *t)
{
    static uint8_t body[4096];
    sotto_message m = {.body = {body, sizeof body}};
    sotto_effects effects;
    sotto_arena small;
    unsigned sent = 0;

    sotto_arena_init(&small, 65536);
    sotto_effects_init(&effects, &small);
    while (sotto_effects_send(&effects, &m, NULL, NULL) == SOTTO_OK)
        sent++;
    CHECK(t, sent > 4 && sent < 16);
    sotto_arena_clear(&small);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(what_is_encoded_is_decoded),
        CASE(every_field_is_signed),
        CASE(a_message_is_of_its_round),
        CASE(a_message_comes_from_whom_it_can),
        CASE(messages_are_judged_together_as_alone),
        CASE(a_registry_with_other_keys_judges_anew),
        CASE(one_wrong_signature_is_found_among_many),
        CASE(a_message_is_signed_by_its_sender),
        CASE(a_message_has_its_kinds_form),
        CASE(a_round_names_its_registry),
        CASE(effects_are_copies_in_order),
        CASE(one_step_may_not_want_without_end),
    };
    return RUN_TESTS(argc, argv, cases);
}
