/* A round's terms. What decodes encodes to the same bytes. */
#include "target.h"

#include "aggregate/aero/terms.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t memory[SOTTO_AERO_TERMS_HANDED];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_bytes wire = sotto_bytes_of(data, size);
    sotto_aero_terms terms;
    const sotto_round round = {.ring = SOTTO_RING_Z64,
                               .length = 3,
                               .number = 1,
                               .most = 10,
                               .largest = 6,
                               .registered = 6,
                               .noise = {.den = 1, .shares = 2},
                               .parameters = wire};

    if (sotto_aero_terms_decode(&terms, wire, NULL) != SOTTO_OK)
        return 0;
    if (sotto_aero_terms_encode(&out, &terms, NULL) != SOTTO_OK ||
        !sotto_bytes_equal_vartime(sotto_buf_bytes(&out), wire))
        abort();
    return sotto_aero_check_round(&round, NULL) == SOTTO_BUG;
}
