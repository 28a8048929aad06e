/* A verifier share as a peer sends it. Input: type, aggregator, verifier share. */
#include "prio3_round.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_round r;

    if (size < 2)
        return 0;
    fuzz_open(&r, data[0]);
    fuzz_verify_init(&r);
    unsigned who = data[1] & 1;
    sotto_bytes given = sotto_bytes_of(data + 2, size - 2);
    sotto_bytes shares[2] = {r.state[0].verifier_share, r.state[1].verifier_share};
    bool honest = sotto_bytes_equal_vartime(given, shares[who]);

    shares[who] = given;
    bool accepted = fuzz_decide(&r, shares);
    fuzz_require(accepted || !honest);
    fuzz_require(!accepted || given.len == r.vdaf.sizes.verifier_share);
    fuzz_close(&r);
    return 0;
}
