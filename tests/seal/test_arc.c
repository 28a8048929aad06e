/* ARC: one credential, many contexts, and everything that must not verify. */
#include "seal/token/arc.h"

#include "seal/token/arc_statement.h"
#include "support/test.h"

#include <string.h>

typedef struct party {
    sotto_group g;
    sotto_arc_private key;
    uint8_t open[SOTTO_ARC_PUBLIC];
    sotto_arc_credential credential;
} party;

static sotto_bytes text(const char *s)
{
    return sotto_bytes_of(s, strlen(s));
}

static void make_key(sotto_test *t, party *p)
{
    sotto_scalar s[4];

    CHECK_OK(t, sotto_group_init(&p->g, &sotto_p256, &t->err));
    CHECK_OK(t, sotto_scalar_random(&p->g, s, 4, &t->err));
    p->key = (sotto_arc_private){s[0], s[1], s[2], s[3]};
    CHECK_OK(t, sotto_arc_public(&p->g, p->open, &p->key, &t->err));
}

static void ask(sotto_test *t, party *p, const char *context, sotto_arc_pending *pending,
                uint8_t request[SOTTO_ARC_REQUEST], uint8_t response[SOTTO_ARC_RESPONSE])
{
    sotto_scalar random[SOTTO_ARC_RESPONSE_RANDOM];

    CHECK_OK(t, sotto_scalar_random(&p->g, random, SOTTO_ARC_REQUEST_RANDOM, &t->err));
    CHECK_OK(t, sotto_arc_request(&p->g, pending, request, text(context), random, &t->err));
    CHECK_OK(t, sotto_scalar_random(&p->g, random, SOTTO_ARC_RESPONSE_RANDOM, &t->err));
    CHECK_OK(t, sotto_arc_issue(&p->g, response, &p->key, p->open, request, random, &t->err));
}

static void open_party(sotto_test *t, party *p, const char *context)
{
    uint8_t request[SOTTO_ARC_REQUEST], response[SOTTO_ARC_RESPONSE];
    sotto_arc_pending pending;

    make_key(t, p);
    ask(t, p, context, &pending, request, response);
    CHECK_OK(t, sotto_arc_finish(&p->g, &p->credential, &pending, p->open, response, &t->err));
}

static sotto_bytes show(sotto_test *t, party *p, const char *context, uint32_t limit,
                        uint32_t nonce)
{
    sotto_scalar random[SOTTO_ARC_RANDOM_MAX];
    sotto_buf out = sotto_test_buf(t, SOTTO_ARC_MAX);

    CHECK_OK(t, sotto_scalar_random(&p->g, random, sotto_arc_presentation_random(limit), &t->err));
    CHECK_OK(t, sotto_arc_present(&p->g, &out, &p->credential, text(context), limit, nonce, random,
                                  &t->err));
    CHECK_EQUAL(t, sotto_arc_presentation_size(limit), out.len);
    return sotto_buf_bytes(&out);
}

static sotto_status check(sotto_test *t, party *p, const char *asked, const char *context,
                          uint32_t limit, sotto_bytes shown, uint8_t tag[SOTTO_ARC_POINT])
{
    sotto_arc_verifier v;
    sotto_status status =
        sotto_arc_verifier_init(&v, &p->key, p->open, text(asked), text(context), limit, &t->err);

    if (status == SOTTO_OK)
        status = sotto_arc_verify(&v, tag, shown, &t->err);
    sotto_arc_verifier_clear(&v);
    return status;
}

static void the_second_generator_is_hashed(sotto_test *t)
{
    uint8_t wire[SOTTO_ARC_POINT];
    sotto_group g;
    sotto_sigma s;

    CHECK_OK(t, sotto_group_init(&g, &sotto_p256, &t->err));
    sotto_arc_request_statement(&s, &g);
    const sotto_bytes generator = sotto_bytes_of(s.wire[ARC_G], SOTTO_ARC_POINT);
    sotto_point_hash_vartime(&g, s.point[2], text("HashToGroup-ARCV1-P256generatorH"), &generator,
                             1);
    CHECK(t, sotto_point_encode(&g, wire, s.point[2]));
    CHECK_BYTES(t, wire, s.wire[ARC_H], sizeof wire);
    sotto_sigma_end(&s);
    sotto_group_clear(&g);
}

static void bases_reach_every_nonce_and_no_more(sotto_test *t)
{
    for (uint32_t limit = 2; limit <= 300; limit++) {
        const size_t bits = sotto_arc_bits(limit);
        uint32_t bases[SOTTO_ARC_BITS], sum = 0;

        sotto_arc_bases(bases, limit);
        for (size_t i = 0; i < bits; i++) {
            CHECK(t, bases[i] > 0 && (i == 0 || bases[i] <= bases[i - 1]));
            sum += bases[i];
        }
        CHECK_EQUAL(t, limit - 1, sum);
    }
}

static void a_credential_is_shown_up_to_its_limit(sotto_test *t)
{
    static const uint32_t limits[] = {1, 2, 3, 5, 8};
    sotto_scalar random[SOTTO_ARC_RANDOM_MAX];
    party p;

    open_party(t, &p, "epoch 7");
    CHECK_OK(t, sotto_scalar_random(&p.g, random, SOTTO_ARC_RANDOM_MAX, &t->err));
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        uint8_t tags[8][SOTTO_ARC_POINT];
        sotto_buf out = sotto_test_buf(t, SOTTO_ARC_MAX);

        for (uint32_t nonce = 0; nonce < limits[i]; nonce++) {
            CHECK_OK(t, check(t, &p, "epoch 7", "round 1", limits[i],
                              show(t, &p, "round 1", limits[i], nonce), tags[nonce]));
            for (uint32_t before = 0; before < nonce; before++)
                CHECK(t, memcmp(tags[before], tags[nonce], SOTTO_ARC_POINT) != 0);
        }
        CHECK_STATUS(t, SOTTO_DENIED,
                     sotto_arc_present(&p.g, &out, &p.credential, text("round 1"), limits[i],
                                       limits[i], random, &t->err));
        CHECK_REASON(t, "ARC: the credential is used up in this context");
    }
    sotto_group_clear(&p.g);
}

static void a_second_try_has_the_same_tag_and_nothing_else(sotto_test *t)
{
    uint8_t first[SOTTO_ARC_POINT], again[SOTTO_ARC_POINT], other[SOTTO_ARC_POINT];
    party p;

    open_party(t, &p, "epoch 7");
    const sotto_bytes a = show(t, &p, "round 1", 1, 0), b = show(t, &p, "round 1", 1, 0);
    CHECK_OK(t, check(t, &p, "epoch 7", "round 1", 1, a, first));
    CHECK_OK(t, check(t, &p, "epoch 7", "round 1", 1, b, again));
    CHECK_BYTES(t, first, again, sizeof first);
    CHECK(t, memcmp(a.data, b.data, 3 * SOTTO_ARC_POINT) != 0);
    CHECK(t, memcmp(a.data + 4 * SOTTO_ARC_POINT, b.data + 4 * SOTTO_ARC_POINT, 32) != 0);
    CHECK_OK(t, check(t, &p, "epoch 7", "round 2", 1, show(t, &p, "round 2", 1, 0), other));
    CHECK(t, memcmp(first, other, sizeof first) != 0);
    sotto_group_clear(&p.g);
}

static void a_presentation_holds_for_its_contexts_limit_and_issuer(sotto_test *t)
{
    uint8_t tag[SOTTO_ARC_POINT];
    party p, q;

    open_party(t, &p, "epoch 7");
    open_party(t, &q, "epoch 7");
    const sotto_bytes once = show(t, &p, "round 1", 1, 0), twice = show(t, &p, "round 1", 3, 1);
    CHECK_STATUS(t, SOTTO_REJECTED, check(t, &p, "epoch 7", "round 2", 1, once, tag));
    CHECK_REASON(t, "ARC presentation: its proof does not hold");
    CHECK_STATUS(t, SOTTO_REJECTED, check(t, &p, "epoch 8", "round 1", 1, once, tag));
    CHECK_STATUS(t, SOTTO_REJECTED, check(t, &q, "epoch 7", "round 1", 1, once, tag));
    CHECK_STATUS(t, SOTTO_MALFORMED, check(t, &p, "epoch 7", "round 1", 2, once, tag));
    CHECK_REASON(t, "ARC presentation: 260 bytes instead of 486");
    CHECK_STATUS(t, SOTTO_REJECTED, check(t, &p, "epoch 7", "round 1", 4, twice, tag));
    CHECK_STATUS(t, SOTTO_MALFORMED, check(t, &p, "epoch 7", "round 1", 0, once, tag));
    CHECK_REASON(t, "ARC: a limit is from 1 to 65536");
    sotto_group_clear(&p.g);
    sotto_group_clear(&q.g);
}

/* Every byte of a presentation matters, whichever its limit. */
static void a_changed_byte_is_rejected(sotto_test *t)
{
    static const uint32_t limits[] = {1, 2, 3};
    uint8_t tag[SOTTO_ARC_POINT], wire[SOTTO_ARC_MAX];
    party p;

    open_party(t, &p, "epoch 7");
    for (size_t i = 0; i < 3; i++) {
        const sotto_bytes shown = show(t, &p, "round 1", limits[i], 0);

        memcpy(wire, shown.data, shown.len);
        for (size_t at = 0; at < shown.len; at += 11) {
            wire[at] ^= 1;
            CHECK_STATUS(t, SOTTO_REJECTED,
                         check(t, &p, "epoch 7", "round 1", limits[i],
                               sotto_bytes_of(wire, shown.len), tag));
            wire[at] ^= 1;
        }
        memset(wire + shown.len - 32, 0xff, 32); /* a response above the order */
        CHECK_STATUS(
            t, SOTTO_REJECTED,
            check(t, &p, "epoch 7", "round 1", limits[i], sotto_bytes_of(wire, shown.len), tag));
    }
    sotto_group_clear(&p.g);
}

static void issuance_proves_both_sides_honest(sotto_test *t)
{
    uint8_t request[SOTTO_ARC_REQUEST], response[SOTTO_ARC_RESPONSE], out[SOTTO_ARC_RESPONSE];
    sotto_scalar random[SOTTO_ARC_RESPONSE_RANDOM];
    sotto_arc_credential credential;
    sotto_arc_pending pending;
    party p, q;

    make_key(t, &p);
    make_key(t, &q);
    ask(t, &p, "epoch 7", &pending, request, response);
    CHECK_OK(t, sotto_scalar_random(&p.g, random, SOTTO_ARC_RESPONSE_RANDOM, &t->err));
    for (size_t at = 0; at < sizeof request; at += 7) {
        request[at] ^= 1;
        CHECK_STATUS(t, SOTTO_REJECTED,
                     sotto_arc_issue(&p.g, out, &p.key, p.open, request, random, &t->err));
        CHECK_REASON(t, "ARC request: its proof does not hold");
        request[at] ^= 1;
    }
    for (size_t at = 0; at < sizeof response; at += 13) {
        response[at] ^= 1;
        CHECK_STATUS(t, SOTTO_REJECTED,
                     sotto_arc_finish(&p.g, &credential, &pending, p.open, response, &t->err));
        CHECK_REASON(t, "ARC response: its proof does not hold");
        response[at] ^= 1;
    }
    /* Another key for one device would tell it from the others. */
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_arc_finish(&p.g, &credential, &pending, q.open, response, &t->err));
    CHECK(t, credential.u[0] == 0 && credential.m1.be[5] == 0);
    sotto_group_clear(&p.g);
    sotto_group_clear(&q.g);
}

/* Without the issuer's MAC: a holder of no credential shows one of its own making. */
static void a_made_up_credential_is_rejected(sotto_test *t)
{
    uint8_t tag[SOTTO_ARC_POINT];
    sotto_scalar other;
    party p;

    open_party(t, &p, "epoch 7");
    CHECK_OK(t, sotto_scalar_random(&p.g, &other, 1, &t->err));
    p.credential.m1 = other;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 check(t, &p, "epoch 7", "round 1", 1, show(t, &p, "round 1", 1, 0), tag));
    sotto_group_clear(&p.g);
}

static void private_keys_are_four_scalars(sotto_test *t)
{
    uint8_t wire[SOTTO_ARC_PRIVATE];
    sotto_arc_private key;
    sotto_group g;

    CHECK_OK(t, sotto_group_init(&g, &sotto_p256, &t->err));
    memset(wire, 1, sizeof wire);
    CHECK_OK(t, sotto_arc_private_decode(&g, &key, wire, &t->err));
    for (size_t i = 0; i < 4; i++) {
        memset(wire + 32 * i, 0xff, 32);
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_arc_private_decode(&g, &key, wire, &t->err));
        CHECK_REASON(t, "ARC: not four scalars of P-256");
        memset(wire + 32 * i, 1, 32);
    }
    memset(wire + 32, 0, 32); /* x1 = 0: X1 would be the identity */
    CHECK_OK(t, sotto_arc_private_decode(&g, &key, wire, &t->err));
    uint8_t open[SOTTO_ARC_PUBLIC];
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_arc_public(&g, open, &key, &t->err));
    CHECK_REASON(t, "ARC: a private key of zero");
    sotto_group_clear(&g);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_second_generator_is_hashed),
        CASE(bases_reach_every_nonce_and_no_more),
        CASE(a_credential_is_shown_up_to_its_limit),
        CASE(a_second_try_has_the_same_tag_and_nothing_else),
        CASE(a_presentation_holds_for_its_contexts_limit_and_issuer),
        CASE(a_changed_byte_is_rejected),
        CASE(issuance_proves_both_sides_honest),
        CASE(a_made_up_credential_is_rejected),
        CASE(private_keys_are_four_scalars),
    };
    return RUN_TESTS(argc, argv, cases);
}
