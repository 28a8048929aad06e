/* A round record comes from a server: what decodes encodes to the same bytes, and checking it ends in a status. */
#include "target.h"

#include "aggregate/bbglr/bbglr.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t memory[SOTTO_ROUND_MOST_BYTES], id[SOTTO_ROUND_ID];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_round round;

    if (sotto_round_decode(&round, sotto_bytes_of(data, size), NULL) != SOTTO_OK)
        return 0;
    if (sotto_round_encode(&out, &round, NULL) != SOTTO_OK ||
        !sotto_bytes_equal_vartime(sotto_buf_bytes(&out), sotto_bytes_of(data, size)) ||
        sotto_round_id(&round, id, NULL) != SOTTO_OK)
        abort();
    sotto_status status = sotto_round_check(&round, NULL);
    if (status != SOTTO_OK && status != SOTTO_DENIED)
        abort();
    status = sotto_bbglr_check_round(&round, NULL);
    if (status != SOTTO_OK && status != SOTTO_DENIED && status != SOTTO_MALFORMED)
        abort();
    return 0;
}
