/* A polynomial on the wire, or a sum of them. Input: which set and of how many, then bytes that are repeated up to a polynomial's size, or,
 * after an odd first byte, taken as they are. What decodes encodes to the same bytes. */
#include "target.h"

#include "aggregate/aero/encrypt.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t leaves[] = {1, 3, 11280, UINT32_C(1) << 24};
    static uint8_t wire[80000], again[80000];
    static sotto_aero schemes[3];
    static sotto_arena arena;
    static sotto_aero_poly v;

    if (size < 2 || size > sizeof wire)
        return 0;
    if (!schemes[0].log_t) {
        sotto_arena_init(&arena, 3 * (size_t)SOTTO_AERO_MEMORY);
        for (size_t i = 0; i < 3; i++)
            if (sotto_aero_init(&schemes[i], &sotto_aero_sets[i], 20, &arena, NULL) != SOTTO_OK)
                abort();
    }
    const sotto_aero *aero = &schemes[data[0] / 2 % 3];
    const uint32_t n = leaves[data[0] / 6 % 4];
    size_t len = data[0] % 2 ? size - 1 : sotto_aero_sum_size(aero, n);

    for (size_t i = 0; i < len; i++)
        wire[i] = data[1 + i % (size - 1)];
    if (sotto_aero_sum_decode(aero, &v, n, sotto_bytes_of(wire, len), NULL) != SOTTO_OK)
        return 0;
    sotto_buf out = sotto_buf_over(again, sizeof again);
    if (sotto_aero_sum_encode(aero, &out, &v, n, NULL) != SOTTO_OK || out.len != len ||
        memcmp(wire, again, len) != 0)
        abort();
    return 0;
}
