/* An aggregate share as the collector receives it. Input: type, aggregate share. What decodes encodes to
 * the same bytes. */
#include "prio3_round.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t zeros[FUZZ_MAX_OUTPUTS * 16];
    sotto_uint128 result[FUZZ_MAX_OUTPUTS];
    uint8_t memory[FUZZ_MAX_OUTPUTS * 16];
    sotto_buf again = sotto_buf_over(memory, sizeof memory);
    sotto_prio3_agg agg;
    fuzz_round r;

    if (size < 1)
        return 0;
    fuzz_open(&r, data[0]);
    sotto_bytes given = sotto_bytes_of(data + 1, size - 1);
    sotto_bytes shares[2] = {given, sotto_bytes_of(zeros, r.vdaf.sizes.out_share)};

    fuzz_require(sotto_prio3_agg_init(&r.vdaf, &agg, &r.arena, NULL) == SOTTO_OK);
    sotto_status status = sotto_prio3_agg_decode(&r.vdaf, &agg, given, 1, NULL);
    fuzz_require(status == SOTTO_OK || status == SOTTO_MALFORMED);
    fuzz_require(status == sotto_prio3_unshard(&r.vdaf, result, shares, 1, NULL));
    if (status == SOTTO_OK) {
        fuzz_require(sotto_prio3_agg_encode(&r.vdaf, &again, &agg, NULL) == SOTTO_OK);
        fuzz_require(sotto_bytes_equal_vartime(sotto_buf_bytes(&again), given));
        /* The other share is zero, so the sum is the share itself. */
        for (size_t i = 0; i < r.vdaf.sizes.outputs; i++)
            fuzz_require(memcmp(&result[i].low, given.data + i * r.vdaf.circuit->element_size, 8) ==
                         0);
    }
    fuzz_close(&r);
    return 0;
}
