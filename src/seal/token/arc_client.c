#include "seal/token/arc_statement.h"

#include "base/declassify.h"

#include <string.h>

enum { POINT = SOTTO_ARC_POINT, SCALAR = SOTTO_ARC_SCALAR };

/* ---- issuance --------------------------------------------------------------------------------------------------- */

/* Element i = a G + b H. */
static void commit(sotto_sigma *s, size_t i, const sotto_scalar *a, const sotto_scalar *b)
{
    sotto_point_multiply(s->group, s->point[i], a, NULL);
    sotto_point_multiply_add(s->group, s->point[i], b, s->point[ARC_H]);
    sotto_sigma_seal(s, i);
}

sotto_status sotto_arc_request(sotto_group *g, sotto_arc_pending *pending,
                               uint8_t request[SOTTO_ARC_REQUEST], sotto_bytes context,
                               const sotto_scalar random[SOTTO_ARC_REQUEST_RANDOM], sotto_err *err)
{
    sotto_scalar witness[4] = {random[0], {{0}}, random[1], random[2]};
    sotto_sigma s;

    sotto_arc_m2(g, &witness[1], context);
    sotto_arc_request_statement(&s, g);
    commit(&s, ARC_M1_ENC, &witness[0], &witness[2]);
    commit(&s, ARC_M2_ENC, &witness[1], &witness[3]);
    memcpy(request, s.wire[ARC_M1_ENC], sizeof pending->request);
    sotto_status status =
        sotto_sigma_prove(&s, request + sizeof pending->request, witness, random + 3, err);
    sotto_sigma_end(&s);
    *pending = (sotto_arc_pending){.m1 = witness[0], .r1 = witness[2], .r2 = witness[3]};
    memcpy(pending->request, request, sizeof pending->request);
    sotto_wipe(witness, sizeof witness);
    return status;
}

sotto_status sotto_arc_finish(sotto_group *g, sotto_arc_credential *credential,
                              const sotto_arc_pending *pending,
                              const uint8_t public_key[SOTTO_ARC_PUBLIC],
                              const uint8_t response[SOTTO_ARC_RESPONSE], sotto_err *err)
{
    /* In the order of the wire. */
    static const uint8_t sent[] = {ARC_U,      ARC_ENC_U_PRIME, ARC_X0_AUX,
                                   ARC_X1_AUX, ARC_X2_AUX,      ARC_H_AUX};
    sotto_sigma s;

    sotto_arc_response_statement(&s, g);
    for (size_t i = 0; i < 2; i++)
        sotto_sigma_read(&s, ARC_M1_ENC + i, pending->request + i * POINT);
    for (size_t i = 0; i < 3; i++)
        sotto_sigma_read(&s, ARC_X0 + i, public_key + i * POINT);
    for (size_t i = 0; i < sizeof sent; i++)
        sotto_sigma_read(&s, sent[i], response + i * POINT);
    sotto_status status =
        sotto_sigma_verify(&s, response + sizeof sent * POINT, "ARC response", err);
    if (status == SOTTO_OK) {
        sotto_point *mac = s.point[ARC_ENC_U_PRIME], *blinds = s.point[ARC_X0_AUX];

        /* U' = encU' - X0Aux - r1 X1Aux - r2 X2Aux */
        sotto_point_multiply_add(g, blinds, &pending->r1, s.point[ARC_X1_AUX]);
        sotto_point_multiply_add(g, blinds, &pending->r2, s.point[ARC_X2_AUX]);
        sotto_point_subtract(g, mac, mac, blinds);
        credential->m1 = pending->m1;
        memcpy(credential->u, s.wire[ARC_U], POINT);
        memcpy(credential->x1, s.wire[ARC_X1], POINT);
        if (!sotto_point_encode(g, credential->u_prime, mac))
            status = sotto_fail(err, SOTTO_REJECTED, "ARC response: its proof does not hold");
    }
    sotto_sigma_end(&s);
    if (status == SOTTO_OK)
        status = sotto_group_finish(g, err);
    if (status != SOTTO_OK)
        sotto_wipe(credential, sizeof *credential);
    return status;
}

/* ---- presentations ----------------------------------------------------------------------------------------------- */

size_t sotto_arc_presentation_size(uint32_t limit)
{
    const size_t bits = limit <= SOTTO_ARC_LIMIT ? sotto_arc_bits(limit) : 0;

    if (limit == 0 || limit > SOTTO_ARC_LIMIT)
        return 0;
    return limit == 1 ? SOTTO_ARC_ONCE : (5 + bits) * POINT + (6 + 3 * bits) * SCALAR;
}

size_t sotto_arc_presentation_random(uint32_t limit)
{
    const size_t bits = sotto_arc_bits(limit);

    return limit == 1 ? SOTTO_ARC_ONCE_RANDOM : 3 + bits + 5 + 3 * bits;
}

/* The canonical bits of the nonce, without a branch on it, and commitments to them whose weighted sum is the one to the nonce.
 * range: the witness from the bits on. */
static void commit_to_bits(sotto_sigma *s, sotto_scalar *range, uint32_t limit, uint32_t nonce,
                           const sotto_scalar *nonce_blind, const sotto_scalar *random)
{
    const size_t bits = sotto_arc_bits(limit);
    sotto_scalar one, base, part, left = *nonce_blind;
    uint32_t bases[SOTTO_ARC_BITS], rest = nonce;

    sotto_arc_bases(bases, limit);
    sotto_scalar_set(s->group, &one, 1);
    for (size_t i = 0; i < bits; i++) {
        const uint32_t bit = (uint32_t)(((uint64_t)rest - bases[i]) >> 63) ^ 1;
        sotto_scalar *b = &range[i], *blind = &range[bits + i], *last = &range[2 * bits + i];

        rest -= bases[i] & (0 - bit);
        sotto_scalar_set(s->group, b, bit);
        sotto_scalar_set(s->group, &base, bases[i]);
        if (i + 1 < bits) {
            *blind = random[i];
            sotto_scalar_multiply(s->group, &part, &base, blind);
            sotto_scalar_subtract(s->group, &left, &left, &part);
        } else {
            sotto_scalar_invert(s->group, &base, &base);
            sotto_scalar_multiply(s->group, blind, &base, &left);
        }
        sotto_scalar_subtract(s->group, last, &one, b);
        sotto_scalar_multiply(s->group, last, last, blind);
        commit(s, sotto_arc_bit_place(bits, i), b, blind);
    }
    sotto_wipe(&part, sizeof part);
    sotto_wipe(&left, sizeof left);
}

/* All elements but the bits', from the witness m1, z, -r, nonce and its blinding. */
static void compute_elements(sotto_sigma *s, const sotto_arc_credential *credential,
                             sotto_bytes context, const sotto_scalar *a, const sotto_scalar *r,
                             const sotto_scalar *witness, bool once)
{
    sotto_group *g = s->group;
    sotto_scalar inverse;

    sotto_sigma_read(s, ARC_P_U, credential->u);
    sotto_sigma_read(s, ARC_P_U_PRIME, credential->u_prime);
    sotto_sigma_read(s, ARC_P_X1, credential->x1);
    sotto_point_multiply(g, s->point[ARC_P_U], a, s->point[ARC_P_U]);
    sotto_point_multiply(g, s->point[ARC_P_U_PRIME], a, s->point[ARC_P_U_PRIME]);
    sotto_point_multiply_add(g, s->point[ARC_P_U_PRIME], r, NULL);
    sotto_point_multiply(g, s->point[ARC_P_M1], &witness[0], s->point[ARC_P_U]);
    sotto_point_multiply_add(g, s->point[ARC_P_M1], &witness[1], s->point[ARC_H]);
    sotto_point_multiply(g, s->point[ARC_P_V], &witness[1], s->point[ARC_P_X1]);
    sotto_point_multiply_add(g, s->point[ARC_P_V], &witness[2], NULL);
    sotto_arc_tag_base(g, s->point[ARC_P_T], context);
    inverse = witness[0];
    if (!once)
        sotto_scalar_add(g, &inverse, &inverse, &witness[3]);
    sotto_scalar_invert(g, &inverse, &inverse);
    sotto_point_multiply(g, s->point[ARC_P_TAG], &inverse, s->point[ARC_P_T]);
    for (size_t i = ARC_P_U; i <= ARC_P_T; i++)
        if (i != ARC_P_X1)
            sotto_sigma_seal(s, i);
    if (!once)
        commit(s, ARC_P_NONCE, &witness[3], &witness[4]);
    sotto_wipe(&inverse, sizeof inverse);
}

/* The wire: U, U', m1, tag; nonce and bits; the proof. */
static sotto_status write_presentation(sotto_sigma *s, sotto_buf *out, size_t bits,
                                       const sotto_scalar *witness, const sotto_scalar *nonces,
                                       sotto_err *err)
{
    static const uint8_t sent[] = {ARC_P_U, ARC_P_U_PRIME, ARC_P_M1, ARC_P_TAG, ARC_P_NONCE};
    uint8_t *at = out->data + out->len;
    const size_t points = bits > 0 ? 5 + bits : 4;
    const size_t size = points * POINT + (1 + s->scalars) * SCALAR;

    if (out->cap - out->len < size)
        return sotto_fail(err, SOTTO_TOO_LARGE, "ARC presentation: no room for %zu bytes", size);
    for (size_t i = 0; i < 4 + (size_t)(bits > 0); i++, at += POINT)
        memcpy(at, s->wire[sent[i]], POINT);
    for (size_t i = 0; i < bits; i++, at += POINT)
        memcpy(at, s->wire[sotto_arc_bit_place(bits, i)], POINT);
    SOTTO_TRY(sotto_sigma_prove(s, at, witness, nonces, err));
    out->len += size;
    return SOTTO_OK;
}

static sotto_status present(sotto_group *g, sotto_buf *out, const sotto_arc_credential *credential,
                            sotto_bytes context, uint32_t limit, uint32_t nonce, sotto_bytes bound,
                            const sotto_scalar *random, sotto_err *err)
{
    const size_t bits = sotto_arc_bits(limit);
    sotto_scalar witness[SOTTO_SIGMA_SCALARS] = {credential->m1, random[2]}, zero;
    sotto_sigma s;

    if (sotto_arc_presentation_size(limit) == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "ARC: a limit is from 1 to 65536");
    bool used_up = nonce >= limit;
    SOTTO_DECLASSIFY(&used_up, sizeof used_up);
    if (used_up)
        return sotto_fail(err, SOTTO_DENIED, "ARC: the credential is used up in this context");
    sotto_scalar_set(g, &zero, 0);
    sotto_scalar_subtract(g, &witness[2], &zero, &random[1]);
    sotto_arc_presentation_statement(&s, g, limit);
    s.bound = bound;
    if (bits > 0) {
        sotto_scalar_set(g, &witness[3], nonce);
        witness[4] = random[3];
    }
    compute_elements(&s, credential, context, &random[0], &random[1], witness, bits == 0);
    if (bits > 0)
        commit_to_bits(&s, witness + 5, limit, nonce, &witness[4], random + 4);
    sotto_status status = write_presentation(&s, out, bits, witness, random + 3 + bits, err);
    sotto_sigma_end(&s);
    sotto_wipe(witness, sizeof witness);
    return status;
}

sotto_status sotto_arc_present(sotto_group *g, sotto_buf *out,
                               const sotto_arc_credential *credential, sotto_bytes context,
                               uint32_t limit, uint32_t nonce, const sotto_scalar *random,
                               sotto_err *err)
{
    return present(g, out, credential, context, limit, nonce, (sotto_bytes){0}, random, err);
}

sotto_status sotto_arc_present_bound(sotto_group *g, sotto_buf *out,
                                     const sotto_arc_credential *credential, sotto_bytes context,
                                     sotto_bytes bound,
                                     const sotto_scalar random[SOTTO_ARC_ONCE_RANDOM],
                                     sotto_err *err)
{
    return present(g, out, credential, context, 1, 0, bound, random, err);
}
