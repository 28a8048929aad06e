/* A leaf as the server shows it. Input: number of groups, sample. What decodes encodes to the same bytes. */
#include "target.h"

#include "aggregate/aero/leaf.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static sotto_aero_plan plan;
    static uint8_t memory[1 << 18];
    static sotto_aero_sample sample;
    sotto_buf out = sotto_buf_over(memory, sizeof memory);

    if (size < 1 || size > sizeof memory)
        return 0;
    plan.groups = data[0];
    sotto_bytes wire = sotto_bytes_of(data + 1, size - 1);
    if (plan.groups > SOTTO_AERO_MOST_GROUPS ||
        sotto_aero_sample_decode(&sample, plan.groups, wire, NULL) != SOTTO_OK)
        return 0;
    if (sotto_aero_sample_size(&plan, &sample) < wire.len ||
        sotto_aero_sample_encode(&out, &plan, &sample, NULL) != SOTTO_OK ||
        !sotto_bytes_equal_vartime(sotto_buf_bytes(&out), wire))
        abort();
    return 0;
}
