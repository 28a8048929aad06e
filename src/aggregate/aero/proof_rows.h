/* aggregate/aero/proof_rows.h - what prover and verifier share: rows, combinations, transcript, tables. */
#ifndef SOTTO_AGGREGATE_AERO_PROOF_ROWS_H
#define SOTTO_AGGREGATE_AERO_PROOF_ROWS_H

#include "aggregate/aero/proof.h"
#include "crypto/hash.h"
#include "crypto/keystream.h"

enum {
    H = SOTTO_AERO_PROOF_H,
    H_LOG = 13,
    COSETS = SOTTO_AERO_PROOF_COSETS,
    COLUMNS = SOTTO_AERO_PROOF_COLUMNS,
    BLIND = 192,            /* random coefficients of a row: at least as many as queries          */
    ROW = H + BLIND,        /* coefficients of a row                                              */
    SUM = H + ROW,          /* of the combination for linear constraints: degree H - 1 + ROW - 1  */
    QUOTIENT = ROW + BLIND, /* of the combination for quadratic ones, over x^H - 1                */
    HASH = 32,
    SALT = 16,
    U_BITS = 14,
    ERROR_BITS = 5,
    SLACK = 48,
    MOST_NEAR = 3,
    MOST_REPEATED = 3,
};

/* What a row holds, for two ciphertexts: one in the slots below 4096, one in those above. */
typedef enum row_kind {
    KIND_R,
    KIND_E1,
    KIND_E2,
    KIND_M,
    KIND_U1,
    KIND_U2,
    KIND_SQUARE,
    KIND_SLACK
} row_kind;

/* By what a row's values are weighted in the linear combination. */
typedef enum weight_base {
    BASE_RHO,
    BASE_V,
    BASE_FIRST,
    BASE_OTHERS,
    BASE_SLACK,
    BASES
} weight_base;

typedef struct row {
    row_kind kind;
    unsigned bit;
    size_t pair;
} row;

typedef struct proof_shape {
    size_t pairs, rows, column;     /* column: bytes of an opened one */
    unsigned first[KIND_SLACK + 1]; /* row of a pair where a kind begins, and their number */
} proof_shape;

proof_shape sotto_aero_shape_of(const sotto_aero_proof_size_of *of);
proof_shape sotto_aero_shape(const sotto_aero_statement *s);
row sotto_aero_row(const proof_shape *shape, size_t index);

/* Random numbers of one repetition. */
typedef struct combination {
    sotto_f64 rho[SOTTO_AERO_N];
    sotto_f64 beta[SOTTO_AERO_GROUP + 1], theta[SOTTO_AERO_GROUP + 1]; /* 0 for who is not there */
    sotto_f64 of[4];  /* of the four equations of a ciphertext; the first is 1 */
    sotto_f64 phi;    /* of the norm                                           */
    sotto_f64 *gamma; /* of each row's quadratic constraint                    */
} combination;

typedef struct challenges {
    sotto_f64 *near; /* of each row, for each combination */
    combination *of[MOST_REPEATED];
} challenges;

/* The weight of cipher's half of a row in one repetition, for each base it has: almost all are 0. */
void sotto_aero_weights_of(sotto_f64 weights[BASES], const sotto_aero_statement *s,
                           const combination *c, row r, size_t cipher);
/* What all weighted values add up to. */
sotto_f64 sotto_aero_target(const sotto_aero_statement *s, const combination *c);
/* The values of a base in the slots below 4096; those above are 0. */
sotto_status sotto_aero_base_values(sotto_f64 *values, const sotto_aero_statement *s,
                                    const combination *c, weight_base b, sotto_arena *arena,
                                    sotto_err *err);

/* ---- transforms on H and its cosets ----------------------------------------------------------------- */

typedef struct cosets {
    sotto_f64 *roots;           /* of order H                                    */
    sotto_f64 *shift[COSETS];   /* powers of the coset's shift, bits reversed     */
    sotto_f64 constant[COSETS]; /* x^H on it                                     */
} cosets;

sotto_status sotto_aero_cosets(cosets *c, unsigned count, sotto_arena *arena, sotto_err *err);
/* Values on H to coefficients in bit-reversed order. */
void sotto_aero_interpolate(const cosets *c, sotto_f64 *v);
/* The first H coefficients of a polynomial with `more` further ones, bits reversed, to values on a coset. */
void sotto_aero_on_coset(const cosets *c, unsigned coset, sotto_f64 *out, const sotto_f64 *low,
                         const sotto_f64 *high, size_t more);
size_t sotto_aero_reversed(size_t k);
sotto_f64 sotto_aero_point(size_t column);

/* ---- transcript --------------------------------------------------------------------------------------- */

sotto_status sotto_aero_bind(uint8_t state[HASH], const sotto_aero_statement *s, sotto_arena *arena,
                             sotto_err *err);
/* state = H(state, what) */
void sotto_aero_absorb(uint8_t state[HASH], sotto_bytes what);
sotto_status sotto_aero_challenges(challenges *c, const sotto_aero_statement *s,
                                   const proof_shape *shape, const uint8_t state[HASH],
                                   sotto_arena *arena, sotto_err *err);
/* The seed of the queries; false: the nonce was not worked for. */
bool sotto_aero_worked(uint8_t seed[HASH], const sotto_aero_statement *s, const uint8_t state[HASH],
                       uint64_t nonce);
sotto_status sotto_aero_queries(uint32_t *queries, unsigned count, const uint8_t seed[HASH],
                                sotto_err *err);
sotto_status sotto_aero_uniform(sotto_f64 *out, size_t count, sotto_keystream *stream,
                                sotto_err *err);
void sotto_aero_node(uint8_t out[HASH], const uint8_t left[HASH], const uint8_t right[HASH]);
void sotto_aero_root(uint8_t out[HASH], const uint8_t tops[COSETS * HASH]);

/* Fills in a tree: COLUMNS leaves are there, then come half as many nodes, and so on, nine at the end. */
void sotto_aero_tree(uint8_t *nodes);

sotto_status sotto_aero_statement_check(const sotto_aero_statement *s, sotto_err *err);

#endif
