/* seal/token/sigma.h - proofs of linear relations over P-256, made non-interactive with SHAKE128.
 *
 * draft-irtf-cfrg-sigma-protocols-01 and draft-irtf-cfrg-fiat-shamir-01, ciphersuite sigma-proofs_Shake128_P256, in the form
 * challenge and responses: what ARC's proofs are made of. Both drafts still move; the bytes are those of ARC's vectors.
 *
 * Callers:  arc_client.c, arc_server.c.
 * Memory:   a statement holds points of the crypto library until it is ended.
 * Secrets:  witness and nonces of a proof. Time does not depend on them.
 *
 * A statement says "I know scalars such that each image is the sum of scalars times elements". Element 0 is always the
 * group's generator. Whoever builds one sets every element, by its bytes or by computing point[i] and sealing it.
 */
#ifndef SOTTO_SEAL_TOKEN_SIGMA_H
#define SOTTO_SEAL_TOKEN_SIGMA_H

#include "crypto/group.h"

enum {
    SOTTO_SIGMA_TERMS = 3,
    SOTTO_SIGMA_EQUATIONS = 36,
    SOTTO_SIGMA_ELEMENTS = 26,
    SOTTO_SIGMA_SCALARS = 53
};

typedef struct sotto_sigma_equation {
    uint8_t image, terms;
    uint8_t scalar[SOTTO_SIGMA_TERMS], element[SOTTO_SIGMA_TERMS];
} sotto_sigma_equation;

typedef struct sotto_sigma {
    sotto_group *group;
    const char *session;
    sotto_bytes bound; /* what else the proof is bound to, behind the session; borrowed */
    size_t equations, elements, scalars;
    bool bad; /* an element is not a valid point, or is the identity */
    sotto_sigma_equation equation[SOTTO_SIGMA_EQUATIONS];
    sotto_point *point[SOTTO_SIGMA_ELEMENTS];
    uint8_t wire[SOTTO_SIGMA_ELEMENTS][SOTTO_P256_POINT];
} sotto_sigma;

/* The first equations are copied; more can be added. End it always. */
void sotto_sigma_begin(sotto_sigma *s, sotto_group *group, const char *session, size_t scalars,
                       size_t elements, const sotto_sigma_equation *equation, size_t equations);
void sotto_sigma_end(sotto_sigma *s);
void sotto_sigma_add(sotto_sigma *s, const sotto_sigma_equation *equation);
/* Element i from its bytes. */
void sotto_sigma_read(sotto_sigma *s, size_t i, const uint8_t *bytes);
/* Element i was computed in point[i]: its bytes from it. */
void sotto_sigma_seal(sotto_sigma *s, size_t i);

/* challenge | responses, of (1 + scalars) * 32 bytes. nonces: as many fresh random scalars as there are scalars.
 *   SOTTO_NO_MEMORY  the crypto library failed; out is wiped */
SOTTO_MUST_USE sotto_status sotto_sigma_prove(sotto_sigma *s, uint8_t *out,
                                              const sotto_scalar *witness,
                                              const sotto_scalar *nonces, sotto_err *err);
/* proof has (1 + scalars) * 32 bytes.
 *   SOTTO_REJECTED  it does not hold, or an element is no point; what names the proof in the reason */
SOTTO_MUST_USE sotto_status sotto_sigma_verify(sotto_sigma *s, const uint8_t *proof,
                                               const char *what, sotto_err *err);

#endif
