/* bench/aero_stub.h - proofs of encrypted sums, of which a benchmark may have most replaced by stubs.
 *
 * sotto-bench links this in the place of aggregate/aero/proof_prove.c and proof_verify.c, which are compiled under other names. A stub
 * is a hash of the statement. It proves nothing, and whatever is measured with it is named so.
 */
#ifndef SOTTO_BENCH_AERO_STUB_H
#define SOTTO_BENCH_AERO_STUB_H

#include "aggregate/aero/proof.h"

/* Of so many devices one proves, by its key. 1: all; 0: none. */
void sotto_bench_prove_one_in(unsigned devices);
/* Proofs that were made and checked since then, without stubs. */
typedef struct sotto_bench_proofs {
    unsigned proved, verified;
} sotto_bench_proofs;
sotto_bench_proofs sotto_bench_proofs_made(void);

/* The two functions, as they are shipped. */
sotto_status sotto_bench_real_prove(sotto_buf *out, const sotto_aero_statement *statement,
                                    const sotto_aero_witness *witnesses, const int64_t *m,
                                    sotto_entropy *entropy, sotto_arena *scratch, sotto_err *err);
sotto_status sotto_bench_real_verify(const sotto_aero_statement *statement, sotto_bytes proof,
                                     sotto_arena *scratch, sotto_err *err);

#endif
