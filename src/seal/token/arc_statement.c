#include "seal/token/arc_statement.h"

#include <string.h>

/* HashToGroup(G, "generatorH"): a constant, which a test computes anew. */
static const uint8_t generator_h[SOTTO_ARC_POINT] = {
    0x02, 0x2d, 0x47, 0xce, 0x5f, 0x78, 0x09, 0x2b, 0x3e, 0x2b, 0x05,
    0x72, 0x28, 0xf4, 0x76, 0x92, 0xd5, 0x4f, 0xb6, 0xb5, 0x54, 0xb1,
    0xc1, 0xb1, 0xd5, 0xc9, 0x3e, 0xe3, 0x83, 0xb7, 0x84, 0x83, 0xdb};

#define LITERAL(text) sotto_bytes_of(text, sizeof(text) - 1)

void sotto_arc_tag_base(sotto_group *g, sotto_point *out, sotto_bytes context)
{
    sotto_point_hash_vartime(g, out, LITERAL("HashToGroup-ARCV1-P256Tag"), &context, 1);
}

void sotto_arc_m2(sotto_group *g, sotto_scalar *out, sotto_bytes context)
{
    sotto_scalar_hash_vartime(g, out, LITERAL("HashToScalar-ARCV1-P256requestContext"), &context,
                              1);
}

/* ---- issuance (sections 5.1 and 5.2 of the draft) ---------------------------------------------------------------- */

void sotto_arc_request_statement(sotto_sigma *s, sotto_group *g)
{
    /* m1, m2, r1, r2 */
    static const sotto_sigma_equation equations[] = {
        {ARC_M1_ENC, 2, {0, 2}, {ARC_G, ARC_H}},
        {ARC_M2_ENC, 2, {1, 3}, {ARC_G, ARC_H}},
    };

    sotto_sigma_begin(s, g, "ARCV1-P256CredentialRequest", 4, ARC_REQUEST_ELEMENTS, equations, 2);
    sotto_sigma_read(s, ARC_H, generator_h);
}

void sotto_arc_response_statement(sotto_sigma *s, sotto_group *g)
{
    enum { X0, X1, X2, BLINDING, B, T1, T2, SCALARS };
    static const sotto_sigma_equation equations[] = {
        {ARC_X0, 2, {X0, BLINDING}, {ARC_G, ARC_H}},
        {ARC_X1, 1, {X1}, {ARC_H}},
        {ARC_X2, 1, {X2}, {ARC_H}},
        {ARC_H_AUX, 1, {B}, {ARC_H}},
        {ARC_X0_AUX, 1, {BLINDING}, {ARC_H_AUX}},
        {ARC_X1_AUX, 1, {T1}, {ARC_H}},
        {ARC_X1_AUX, 1, {B}, {ARC_X1}},
        {ARC_X2_AUX, 1, {B}, {ARC_X2}},
        {ARC_X2_AUX, 1, {T2}, {ARC_H}},
        {ARC_U, 1, {B}, {ARC_G}},
        {ARC_ENC_U_PRIME, 3, {B, T1, T2}, {ARC_X0, ARC_M1_ENC, ARC_M2_ENC}},
    };

    sotto_sigma_begin(s, g, "ARCV1-P256CredentialResponse", SCALARS, ARC_RESPONSE_ELEMENTS,
                      equations, sizeof equations / sizeof equations[0]);
    sotto_sigma_read(s, ARC_H, generator_h);
}

/* ---- presentations (5.3 and 5.4) --------------------------------------------------------------------------------- */

size_t sotto_arc_bits(uint32_t limit)
{
    size_t bits = 0;

    while (bits < SOTTO_ARC_BITS && (uint32_t)1 << bits < limit)
        bits++;
    return bits;
}

void sotto_arc_bases(uint32_t bases[SOTTO_ARC_BITS], uint32_t limit)
{
    const size_t bits = sotto_arc_bits(limit);
    uint32_t rest = limit - 1;
    size_t at = 0;

    for (size_t i = 0; i + 1 < bits; i++)
        rest -= (uint32_t)1 << i;
    /* Powers of two but the last, and what they leave, sorted downwards. */
    for (size_t i = bits; i-- > 1;) {
        if (at == bits - 1 - i && rest >= (uint32_t)1 << (i - 1))
            bases[at++] = rest;
        bases[at++] = (uint32_t)1 << (i - 1);
    }
    if (at < bits)
        bases[at] = rest;
}

size_t sotto_arc_bit_place(size_t bits, size_t i)
{
    return bits == 1 ? ARC_P_NONCE : ARC_P_BITS + i;
}

void sotto_arc_presentation_statement(sotto_sigma *s, sotto_group *g, uint32_t limit)
{
    enum { M1, Z, MINUS_R, NONCE, BLINDING, BITS };
    static const sotto_sigma_equation equations[] = {
        {ARC_P_M1, 2, {M1, Z}, {ARC_P_U, ARC_H}},
        {ARC_P_V, 2, {Z, MINUS_R}, {ARC_P_X1, ARC_G}},
        {ARC_P_NONCE, 2, {NONCE, BLINDING}, {ARC_G, ARC_H}},
        {ARC_P_T, 2, {M1, NONCE}, {ARC_P_TAG, ARC_P_TAG}},
    };
    static const sotto_sigma_equation once[] = {
        {ARC_P_M1, 2, {M1, Z}, {ARC_P_U, ARC_H}},
        {ARC_P_V, 2, {Z, MINUS_R}, {ARC_P_X1, ARC_G}},
        {ARC_P_T, 1, {M1}, {ARC_P_TAG}},
    };
    const size_t bits = sotto_arc_bits(limit);

    if (bits == 0)
        sotto_sigma_begin(s, g, "ARCV1-P256CredentialPresentation", NONCE, ARC_P_NONCE, once, 3);
    else
        sotto_sigma_begin(s, g, "ARCV1-P256CredentialPresentation", BITS + 3 * bits,
                          ARC_P_BITS + (bits == 1 ? 0 : bits), equations, 4);
    sotto_sigma_read(s, ARC_H, generator_h);
    for (size_t i = 0; i < bits; i++) {
        const uint8_t place = (uint8_t)sotto_arc_bit_place(bits, i);
        const uint8_t bit = (uint8_t)(BITS + i), blind = (uint8_t)(bit + bits);
        const uint8_t rest = (uint8_t)(blind + bits);

        sotto_sigma_add(s, &(sotto_sigma_equation){place, 2, {bit, blind}, {ARC_G, ARC_H}});
        sotto_sigma_add(s, &(sotto_sigma_equation){place, 2, {bit, rest}, {place, ARC_H}});
    }
}
