/* A round of drand comes from a server: what is read has a round, and signatures of a known size. */
#include "target.h"

#include "aggregate/shared/drand.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sotto_drand d;

    if (sotto_drand_decode(&d, sotto_bytes_of(data, size), NULL) != SOTTO_OK)
        return 0;
    if (d.round == 0 || d.round >> 53 || (d.signature_len != 48 && d.signature_len != 96) ||
        (d.previous_len != 0 && d.previous_len != 48 && d.previous_len != 96))
        abort();
    return 0;
}
