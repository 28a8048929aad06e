#include "seal/token/arc_statement.h"

#include <string.h>

enum { POINT = SOTTO_ARC_POINT, SCALAR = SOTTO_ARC_SCALAR };

/* ---- keys ------------------------------------------------------------------------------------------------------- */

sotto_status sotto_arc_private_decode(sotto_group *g, sotto_arc_private *key,
                                      const uint8_t bytes[SOTTO_ARC_PRIVATE], sotto_err *err)
{
    if (sotto_scalar_decode(g, &key->x0, bytes) &&
        sotto_scalar_decode(g, &key->x1, bytes + SCALAR) &&
        sotto_scalar_decode(g, &key->x2, bytes + 2 * SCALAR) &&
        sotto_scalar_decode(g, &key->blinding, bytes + 3 * SCALAR))
        return SOTTO_OK;
    sotto_wipe(key, sizeof *key);
    return sotto_fail(err, SOTTO_MALFORMED, "ARC: not four scalars of P-256");
}

sotto_status sotto_arc_public(sotto_group *g, uint8_t out[SOTTO_ARC_PUBLIC],
                              const sotto_arc_private *key, sotto_err *err)
{
    sotto_sigma s; /* for its generators and places */
    bool points;

    sotto_arc_response_statement(&s, g);
    sotto_point_multiply(g, s.point[ARC_X0], &key->x0, NULL);
    sotto_point_multiply_add(g, s.point[ARC_X0], &key->blinding, s.point[ARC_H]);
    sotto_point_multiply(g, s.point[ARC_X1], &key->x1, s.point[ARC_H]);
    sotto_point_multiply(g, s.point[ARC_X2], &key->x2, s.point[ARC_H]);
    points = true;
    for (size_t i = 0; i < 3; i++)
        points = sotto_point_encode(g, out + i * POINT, s.point[ARC_X0 + i]) && points;
    sotto_sigma_end(&s);
    SOTTO_TRY(sotto_group_finish(g, err));
    return points ? SOTTO_OK : sotto_fail(err, SOTTO_MALFORMED, "ARC: a private key of zero");
}

/* ---- issuance --------------------------------------------------------------------------------------------------- */

static sotto_status check_request(sotto_group *g, const uint8_t request[SOTTO_ARC_REQUEST],
                                  sotto_err *err)
{
    sotto_sigma s;

    sotto_arc_request_statement(&s, g);
    for (size_t i = 0; i < 2; i++)
        sotto_sigma_read(&s, ARC_M1_ENC + i, request + i * POINT);
    sotto_status status = sotto_sigma_verify(&s, request + 2 * POINT, "ARC request", err);
    sotto_sigma_end(&s);
    return status;
}

/* All that a response holds, but the proof. */
static void compute_response(sotto_sigma *s, const sotto_arc_private *key, const sotto_scalar *b)
{
    sotto_group *g = s->group;
    sotto_point *mac = s->point[ARC_ENC_U_PRIME];

    sotto_point_multiply(g, s->point[ARC_U], b, NULL);
    sotto_point_multiply(g, mac, &key->x1, s->point[ARC_M1_ENC]);
    sotto_point_multiply_add(g, mac, &key->x2, s->point[ARC_M2_ENC]);
    sotto_point_add(g, mac, mac, s->point[ARC_X0]);
    sotto_point_multiply(g, mac, b, mac);
    sotto_point_multiply(g, s->point[ARC_H_AUX], b, s->point[ARC_H]);
    sotto_point_multiply(g, s->point[ARC_X0_AUX], &key->blinding, s->point[ARC_H_AUX]);
    sotto_point_multiply(g, s->point[ARC_X1_AUX], b, s->point[ARC_X1]);
    sotto_point_multiply(g, s->point[ARC_X2_AUX], b, s->point[ARC_X2]);
}

sotto_status sotto_arc_issue(sotto_group *g, uint8_t response[SOTTO_ARC_RESPONSE],
                             const sotto_arc_private *key,
                             const uint8_t public_key[SOTTO_ARC_PUBLIC],
                             const uint8_t request[SOTTO_ARC_REQUEST],
                             const sotto_scalar random[SOTTO_ARC_RESPONSE_RANDOM], sotto_err *err)
{
    static const uint8_t sent[] = {ARC_U,      ARC_ENC_U_PRIME, ARC_X0_AUX,
                                   ARC_X1_AUX, ARC_X2_AUX,      ARC_H_AUX};
    sotto_scalar witness[7] = {key->x0, key->x1, key->x2, key->blinding, random[0]};
    sotto_sigma s;

    SOTTO_TRY(check_request(g, request, err));
    sotto_scalar_multiply(g, &witness[5], &random[0], &key->x1);
    sotto_scalar_multiply(g, &witness[6], &random[0], &key->x2);
    sotto_arc_response_statement(&s, g);
    for (size_t i = 0; i < 2; i++)
        sotto_sigma_read(&s, ARC_M1_ENC + i, request + i * POINT);
    for (size_t i = 0; i < 3; i++)
        sotto_sigma_read(&s, ARC_X0 + i, public_key + i * POINT);
    compute_response(&s, key, &random[0]);
    for (size_t i = 0; i < sizeof sent; i++) {
        sotto_sigma_seal(&s, sent[i]);
        memcpy(response + i * POINT, s.wire[sent[i]], POINT);
    }
    sotto_status status =
        sotto_sigma_prove(&s, response + sizeof sent * POINT, witness, random + 1, err);
    sotto_sigma_end(&s);
    sotto_wipe(witness, sizeof witness);
    return status;
}

/* ---- verification ------------------------------------------------------------------------------------------------ */

sotto_status sotto_arc_verifier_init(sotto_arc_verifier *v, const sotto_arc_private *key,
                                     const uint8_t public_key[SOTTO_ARC_PUBLIC],
                                     sotto_bytes request_context, sotto_bytes presentation_context,
                                     uint32_t limit, sotto_err *err)
{
    sotto_point *base;

    memset(v, 0, sizeof *v);
    if (sotto_arc_presentation_size(limit) == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "ARC: a limit is from 1 to 65536");
    SOTTO_TRY(sotto_group_init(&v->group, &sotto_p256, err));
    v->limit = limit;
    v->x1 = key->x1;
    memcpy(v->x1_public, public_key + POINT, POINT);
    sotto_arc_m2(&v->group, &v->x02, request_context);
    sotto_scalar_multiply(&v->group, &v->x02, &v->x02, &key->x2);
    sotto_scalar_add(&v->group, &v->x02, &v->x02, &key->x0);
    base = sotto_point_new(&v->group);
    sotto_arc_tag_base(&v->group, base, presentation_context);
    v->group.failed |= !sotto_point_encode(&v->group, v->tag_base, base);
    sotto_point_free(base);
    return sotto_group_finish(&v->group, err);
}

void sotto_arc_verifier_clear(sotto_arc_verifier *v)
{
    sotto_group_clear(&v->group);
    sotto_wipe(v, sizeof *v);
}

/* Whether the commitments to bits add up to the one to the nonce. */
static bool bits_add_up(sotto_sigma *s, uint32_t limit, size_t bits)
{
    uint32_t bases[SOTTO_ARC_BITS];
    sotto_scalar base;
    bool equal;

    if (bits == 0)
        return true;
    sotto_point *sum = sotto_point_new(s->group);
    sotto_arc_bases(bases, limit);
    for (size_t i = 0; i < bits; i++) {
        sotto_scalar_set(s->group, &base, bases[i]);
        sotto_point_multiply_add(s->group, sum, &base, s->point[sotto_arc_bit_place(bits, i)]);
    }
    equal = sotto_point_equal_vartime(s->group, sum, s->point[ARC_P_NONCE]);
    sotto_point_free(sum);
    return equal;
}

/* V = (x0 + x2 m2) U + x1 m1Commit - UPrimeCommit: only the issuer can compute it. */
static void compute_v(sotto_sigma *s, const sotto_arc_verifier *v)
{
    sotto_point *point = s->point[ARC_P_V];

    sotto_point_multiply(s->group, point, &v->x02, s->point[ARC_P_U]);
    sotto_point_multiply_add(s->group, point, &v->x1, s->point[ARC_P_M1]);
    sotto_point_subtract(s->group, point, point, s->point[ARC_P_U_PRIME]);
    sotto_sigma_seal(s, ARC_P_V);
}

sotto_status sotto_arc_verify(sotto_arc_verifier *v, uint8_t tag[SOTTO_ARC_POINT],
                              sotto_bytes presentation, sotto_err *err)
{
    return sotto_arc_verify_bound(v, tag, presentation, (sotto_bytes){0}, err);
}

sotto_status sotto_arc_verify_bound(sotto_arc_verifier *v, uint8_t tag[SOTTO_ARC_POINT],
                                    sotto_bytes presentation, sotto_bytes bound, sotto_err *err)
{
    static const uint8_t sent[] = {ARC_P_U, ARC_P_U_PRIME, ARC_P_M1, ARC_P_TAG, ARC_P_NONCE};
    const size_t bits = sotto_arc_bits(v->limit);
    const uint8_t *at = presentation.data;
    sotto_status status;
    sotto_sigma s;

    if (presentation.len != sotto_arc_presentation_size(v->limit))
        return sotto_fail(err, SOTTO_MALFORMED, "ARC presentation: %zu bytes instead of %zu",
                          presentation.len, sotto_arc_presentation_size(v->limit));
    sotto_arc_presentation_statement(&s, &v->group, v->limit);
    s.bound = bound;
    for (size_t i = 0; i < 4 + (size_t)(bits > 0); i++, at += POINT)
        sotto_sigma_read(&s, sent[i], at);
    for (size_t i = 0; i < bits; i++, at += POINT)
        if (bits > 1)
            sotto_sigma_read(&s, sotto_arc_bit_place(bits, i), at);
        else if (memcmp(at, s.wire[ARC_P_NONCE], POINT) != 0)
            s.bad = true; /* the one bit is the nonce */
    sotto_sigma_read(&s, ARC_P_X1, v->x1_public);
    sotto_sigma_read(&s, ARC_P_T, v->tag_base);
    if (!s.bad)
        compute_v(&s, v);
    s.bad = s.bad || (bits > 1 && !bits_add_up(&s, v->limit, bits));
    status = sotto_sigma_verify(&s, at, "ARC presentation", err);
    if (status == SOTTO_OK)
        memcpy(tag, s.wire[ARC_P_TAG], POINT);
    sotto_sigma_end(&s);
    return status;
}
