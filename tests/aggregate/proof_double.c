/* Proof double: in the place of aggregate/aero/proof_prove.c and proof_verify.c, for tests that play many rounds. A program that links this
 * file has no proofs. A "proof" is a hash of the whole statement, which the double gives out only where the statement is true: it looks at
 * the witness. So what a test sees accepted and rejected is what the proof's soundness would have it see. */
#include "aggregate/aero/proof_rows.h"

#include <string.h>

static const char PURPOSE[] = "proof double: proves nothing";

static sotto_status double_of(uint8_t out[32], const sotto_aero_statement *s, sotto_arena *scratch,
                              sotto_err *err)
{
    uint8_t state[HASH];
    sotto_hash hash;

    SOTTO_TRY(sotto_aero_statement_check(s, err));
    SOTTO_TRY(sotto_aero_bind(state, s, scratch, err));
    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(PURPOSE, sizeof PURPOSE));
    sotto_hash_update(&hash, sotto_bytes_of(state, sizeof state));
    sotto_hash_final(&hash, out);
    return SOTTO_OK;
}

static bool in_range(const sotto_aero_statement *s, const sotto_aero_witness *w, const int64_t *m,
                     uint64_t *squares)
{
    int64_t most = INT64_C(1) << (s->bits - 1);
    bool right = m[0] == (int64_t)s->round;

    for (size_t k = 0; k < SOTTO_AERO_N; k++) {
        right &= w->r[k] >= -1 && w->r[k] <= 1 && w->e1[k] >= -16 && w->e1[k] <= 15 &&
                 w->e2[k] >= -16 && w->e2[k] <= 15 && m[k] >= -most && m[k] < most;
        *squares += k ? (uint64_t)(m[k] * m[k]) : 0;
    }
    return right;
}

static sotto_status is_true(bool *right, const sotto_aero_statement *s,
                            const sotto_aero_witness *witnesses, const int64_t *m,
                            sotto_arena *scratch, sotto_err *err)
{
    sotto_aero_public *key = sotto_arena_take(scratch, sizeof *key);
    sotto_aero_cipher *c = sotto_arena_take(scratch, sizeof *c);
    uint64_t squares = 0;

    *right = true;
    if (!key || !c)
        return sotto_fail(err, SOTTO_NO_MEMORY, "proof double: no memory");
    sotto_aero_public_of(s->aero, key, s->a, s->b);
    for (size_t i = 0; i < s->count; i++) {
        const int64_t *mine = m + i * SOTTO_AERO_N;

        *right &= in_range(s, &witnesses[i], mine, &squares);
        *right &= sotto_aero_encrypt(s->aero, c, key, &witnesses[i], mine, NULL) == SOTTO_OK &&
                  memcmp(c, &s->ciphers[i], sizeof *c) == 0;
    }
    *right &= squares <= s->norm2;
    return SOTTO_OK;
}

sotto_status sotto_aero_prove(sotto_buf *out, const sotto_aero_statement *s,
                              const sotto_aero_witness *witnesses, const int64_t *m,
                              sotto_entropy *entropy, sotto_arena *scratch, sotto_err *err)
{
    uint8_t proof[32];
    bool right = false;

    (void)entropy;
    SOTTO_TRY(double_of(proof, s, scratch, err));
    SOTTO_TRY(is_true(&right, s, witnesses, m, scratch, err));
    proof[0] ^= right ? 0 : 1;
    sotto_writer w = sotto_writer_on(out);
    sotto_write_bytes(&w, sotto_bytes_of(proof, sizeof proof));
    return sotto_writer_finish(&w, "proof double", err);
}

sotto_status sotto_aero_verify_vartime(const sotto_aero_statement *s, sotto_bytes proof,
                                       sotto_arena *scratch, sotto_err *err)
{
    uint8_t wanted[32];

    SOTTO_TRY(double_of(wanted, s, scratch, err));
    if (!sotto_bytes_equal_vartime(proof, sotto_bytes_of(wanted, sizeof wanted)))
        return sotto_fail(err, SOTTO_REJECTED, "proof double: not so");
    return SOTTO_OK;
}
