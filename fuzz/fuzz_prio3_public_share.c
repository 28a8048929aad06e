/* A public share beside an honest report. Input: type, public share. No other than the honest one may be
 * accepted. */
#include "prio3_round.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_round r;

    if (size < 1)
        return 0;
    fuzz_open(&r, data[0]);
    sotto_bytes honest = r.view[0].public_share, given = sotto_bytes_of(data + 1, size - 1);

    r.view[0].public_share = r.view[1].public_share = given;
    fuzz_verify_init(&r);
    for (unsigned a = 0; a < 2; a++)
        fuzz_require(r.state[a].status ==
                     (given.len == honest.len ? SOTTO_AGAIN : SOTTO_MALFORMED));
    sotto_bytes shares[2] = {r.state[0].verifier_share, r.state[1].verifier_share};
    if (given.len == honest.len)
        fuzz_require(fuzz_decide(&r, shares) == sotto_bytes_equal_vartime(given, honest));
    fuzz_close(&r);
    return 0;
}
