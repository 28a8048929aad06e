/* A model that a device fetched is refused, or has as many finite numbers as the recipe says. */
#include <math.h>
#include <stdlib.h>

#include "device/round.h"
#include "target.h"

enum { COUNT = 6 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    float weights[COUNT];

    if (sotto_model_weights_read(weights, COUNT, sotto_bytes_of(data, size), NULL) != SOTTO_OK)
        return 0;
    for (size_t i = 0; i < COUNT; i++)
        if (!isfinite(weights[i]))
            abort();
    return 0;
}
