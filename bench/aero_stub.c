#include "aero_stub.h"

#include "aggregate/aero/proof_rows.h"

#include <string.h>

static unsigned one_in = 1;
static sotto_bench_proofs made;

void sotto_bench_prove_one_in(unsigned devices)
{
    one_in = devices;
    made = (sotto_bench_proofs){0};
}

sotto_bench_proofs sotto_bench_proofs_made(void)
{
    return made;
}

static bool is_stubbed(const sotto_aero_statement *s)
{
    return one_in == 0 || sotto_load64(s->device) % one_in != 0;
}

static sotto_status stub_of(uint8_t out[32], const sotto_aero_statement *s, sotto_arena *scratch,
                            sotto_err *err)
{
    static const char purpose[] = "stub: proves nothing";
    uint8_t state[HASH];
    sotto_hash hash;

    SOTTO_TRY(sotto_aero_bind(state, s, scratch, err));
    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(purpose, sizeof purpose));
    sotto_hash_update(&hash, sotto_bytes_of(state, sizeof state));
    sotto_hash_final(&hash, out);
    return SOTTO_OK;
}

sotto_status sotto_aero_prove(sotto_buf *out, const sotto_aero_statement *s,
                              const sotto_aero_witness *witnesses, const int64_t *m,
                              sotto_entropy *entropy, sotto_arena *scratch, sotto_err *err)
{
    uint8_t stub[32];

    if (!is_stubbed(s)) {
        made.proved++;
        return sotto_bench_real_prove(out, s, witnesses, m, entropy, scratch, err);
    }
    SOTTO_TRY(stub_of(stub, s, scratch, err));
    sotto_writer w = sotto_writer_on(out);
    sotto_write_bytes(&w, sotto_bytes_of(stub, sizeof stub));
    return sotto_writer_finish(&w, "stub", err);
}

sotto_status sotto_aero_verify_vartime(const sotto_aero_statement *s, sotto_bytes proof,
                                       sotto_arena *scratch, sotto_err *err)
{
    uint8_t stub[32];

    if (!is_stubbed(s)) {
        made.verified++;
        return sotto_bench_real_verify(s, proof, scratch, err);
    }
    SOTTO_TRY(stub_of(stub, s, scratch, err));
    if (!sotto_bytes_equal_vartime(proof, sotto_bytes_of(stub, sizeof stub)))
        return sotto_fail(err, SOTTO_REJECTED, "stub: of another statement");
    return SOTTO_OK;
}
