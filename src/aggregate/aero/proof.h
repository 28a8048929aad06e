/* aggregate/aero/proof.h - proofs that a group of ciphertexts is well formed, without a trusted set-up.
 *
 * For each ciphertext there are r in {-1, 0, 1}, e1 and e2 from -16 to 15, and m of `bits` bits. With them c1 = a r + e1 and
 * c2 = b r + e2 + delta m hold modulo both primes, and m begins with the number of the round. The squares of all other entries of the
 * group's messages add up to at most norm2.
 *
 * The proof is an interactive oracle proof after Ames, Hazay, Ishai and Venkitasubramaniam 2017 (Ligero), made non-interactive with SHA-256.
 * Witnesses are bits in rows of 8,192; a row is the polynomial through them on a subgroup H, plus a random multiple of the polynomial that
 * vanishes on H. Its values on nine cosets of H are committed to by columns. Checks are random combinations, and openings of `queries` columns.
 *
 * Callers:  contributors and noise members prove; the aggregator and verifiers verify.
 * Memory:   tables and scratch are in arenas: below 48 MiB for a group of 37.
 * Secrets:  the witness. The prover's time depends on the statement's sizes and on what the proof says anyway.
 */
#ifndef SOTTO_AGGREGATE_AERO_PROOF_H
#define SOTTO_AGGREGATE_AERO_PROOF_H

#include "aggregate/aero/encrypt.h"

enum {
    SOTTO_AERO_GROUP = 37,           /* ciphertexts of a group, at most */
    SOTTO_AERO_PROOF_MOST_BITS = 20, /* of a message                    */
    SOTTO_AERO_PROOF_H = 8192,
    SOTTO_AERO_PROOF_COSETS = 9,
    SOTTO_AERO_PROOF_COLUMNS = SOTTO_AERO_PROOF_H * SOTTO_AERO_PROOF_COSETS,
    SOTTO_AERO_PROOF_PROVER = 48 << 20,
    SOTTO_AERO_PROOF_VERIFIER = 24 << 20,
};

typedef struct sotto_aero_profile {
    const char *name;
    unsigned queries;  /* columns that are opened                                     */
    unsigned grind;    /* bits of work before they are known                          */
    unsigned near;     /* combinations that test whether rows are polynomials at all  */
    unsigned repeated; /* combinations that test constraints                          */
} sotto_aero_profile;

extern const sotto_aero_profile sotto_aero_profile_standard; /* 118 queries, 20 bits of work */
extern const sotto_aero_profile sotto_aero_profile_high;     /* 189 queries                  */

/* A false statement's proof is accepted with probability 2^-bits at most for each try, where finding a query costs 2^grind tries: */
typedef struct sotto_aero_soundness {
    double queries; /* by luck with the columns, work included */
    double algebra; /* by luck with the combinations           */
    double bits;    /* both together                           */
} sotto_aero_soundness;

sotto_aero_soundness sotto_aero_profile_soundness(const sotto_aero_profile *profile);

typedef struct sotto_aero_statement {
    const sotto_aero *aero;
    const sotto_aero_profile *profile;
    const sotto_aero_poly *a, *b; /* the public key in coefficients */
    const sotto_aero_cipher *ciphers;
    size_t count;
    unsigned bits;  /* m is from -2^(bits-1) to 2^(bits-1) - 1 */
    uint64_t norm2; /* below 2^48 */
    /* Whose, and for what. All of it is bound into the proof. */
    uint8_t session[32], device[32], commitment[32];
    uint64_t epoch, round;
    uint8_t role;
    uint32_t group;
} sotto_aero_statement;

/* What the length of a proof follows from: all of it is within its range. */
typedef struct sotto_aero_proof_size_of {
    const sotto_aero_set *set;
    const sotto_aero_profile *profile;
    size_t count; /* ciphertexts */
    unsigned bits;
} sotto_aero_proof_size_of;
size_t sotto_aero_proof_bytes(const sotto_aero_proof_size_of *of);
/* SOTTO_DENIED  a size is out of its range */
SOTTO_MUST_USE sotto_status sotto_aero_proof_size(size_t *size,
                                                  const sotto_aero_statement *statement,
                                                  sotto_err *err);

/* Appends a proof. m has count rows of 4096 entries. The arena is for scratch, and needs SOTTO_AERO_PROOF_PROVER bytes. What is not so
 * is proved all the same. Such a proof is rejected, and must not be published: it may say something of the witness. */
SOTTO_MUST_USE sotto_status sotto_aero_prove(sotto_buf *out, const sotto_aero_statement *statement,
                                             const sotto_aero_witness *witnesses, const int64_t *m,
                                             sotto_entropy *entropy, sotto_arena *scratch,
                                             sotto_err *err);

/* SOTTO_MALFORMED  the bytes are no proof    SOTTO_REJECTED  they do not prove this statement */
SOTTO_MUST_USE sotto_status sotto_aero_verify_vartime(const sotto_aero_statement *statement,
                                                      sotto_bytes proof, sotto_arena *scratch,
                                                      sotto_err *err);

#endif
