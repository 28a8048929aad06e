/* seal/token/arc_statement.h - what ARC's three proofs say, for both sides. */
#ifndef SOTTO_SEAL_TOKEN_ARC_STATEMENT_H
#define SOTTO_SEAL_TOKEN_ARC_STATEMENT_H

#include "seal/token/arc.h"
#include "seal/token/sigma.h"

/* Places of elements. G and H come first in all statements. */
enum { ARC_G, ARC_H };
enum { ARC_M1_ENC = 2, ARC_M2_ENC, ARC_REQUEST_ELEMENTS };
enum {
    ARC_U = 4,
    ARC_ENC_U_PRIME,
    ARC_X0,
    ARC_X1,
    ARC_X2,
    ARC_X0_AUX,
    ARC_X1_AUX,
    ARC_X2_AUX,
    ARC_H_AUX,
    ARC_RESPONSE_ELEMENTS
};
enum {
    ARC_P_U = 2,
    ARC_P_U_PRIME,
    ARC_P_M1,
    ARC_P_V,
    ARC_P_X1,
    ARC_P_TAG,
    ARC_P_T,
    ARC_P_NONCE,
    ARC_P_BITS
};

void sotto_arc_request_statement(sotto_sigma *s, sotto_group *g);
void sotto_arc_response_statement(sotto_sigma *s, sotto_group *g);
void sotto_arc_presentation_statement(sotto_sigma *s, sotto_group *g, uint32_t limit);

/* How many bits the nonce is committed to with: 0 for a limit of 1. */
size_t sotto_arc_bits(uint32_t limit);
/* ComputeBases: the bits' values, largest first. */
void sotto_arc_bases(uint32_t bases[SOTTO_ARC_BITS], uint32_t limit);
/* Where the commitment to bit i stands: with one bit it is the commitment to the nonce. */
size_t sotto_arc_bit_place(size_t bits, size_t i);

/* T = HashToGroup(context, "Tag"). */
void sotto_arc_tag_base(sotto_group *g, sotto_point *out, sotto_bytes context);
/* m2 = HashToScalar(context, "requestContext"). */
void sotto_arc_m2(sotto_group *g, sotto_scalar *out, sotto_bytes context);

#endif
