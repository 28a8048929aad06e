/* An input share in place of an honest one. Input: type, aggregator, input share. Whatever is accepted is a
 * measurement of the type. */
#include "prio3_round.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_round r;

    if (size < 2)
        return 0;
    fuzz_open(&r, data[0]);
    unsigned who = data[1] & 1;
    sotto_bytes given = sotto_bytes_of(data + 2, size - 2);
    size_t wanted = who ? r.vdaf.sizes.helper_share : r.vdaf.sizes.leader_share;

    bool honest = sotto_bytes_equal_vartime(given, r.view[who].input_share);

    r.view[who].input_share = given;
    fuzz_verify_init(&r);
    fuzz_require(r.state[1 - who].status == SOTTO_AGAIN);
    if (given.len != wanted)
        fuzz_require(r.state[who].status == SOTTO_MALFORMED);
    sotto_bytes shares[2] = {r.state[0].verifier_share, r.state[1].verifier_share};
    bool accepted = r.state[who].status == SOTTO_AGAIN && fuzz_decide(&r, shares);
    fuzz_require(accepted || !honest);
    if (accepted)
        fuzz_require_valid(&r);
    fuzz_close(&r);
    return 0;
}
