/* What a trainer sends: a greeting, or an update that is refused, or finite and in the model's places. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/trainer_frames.h"
#include "target.h"

enum { COUNT = 6 };

/* `a` of 2 by 2 and `b` of 2. */
static sotto_bytes model(void)
{
    static const char header[] =
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]},"
        "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[16,24]}}";
    static uint8_t file[8 + sizeof header - 1 + 4 * COUNT];

    file[0] = (uint8_t)(sizeof header - 1);
    memcpy(file + 8, header, sizeof header - 1);
    return sotto_bytes_of(file, sizeof file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    float update[COUNT] = {0};
    sotto_frame_kind kind;
    size_t len;

    if (size < SOTTO_FRAME_HEAD ||
        sotto_frame_head_decode(&kind, &len, data, sotto_trainer_update_most(COUNT), NULL) !=
            SOTTO_OK)
        return 0;
    const sotto_bytes body = sotto_bytes_of(data + SOTTO_FRAME_HEAD, size - SOTTO_FRAME_HEAD);
    if (len > sotto_trainer_update_most(COUNT))
        abort();
    if (kind == SOTTO_FRAME_HELLO) {
        (void)!sotto_trainer_hello_check(body, "own", NULL);
        return 0;
    }
    if (sotto_trainer_update_decode(update, COUNT, body, model(), NULL) != SOTTO_OK)
        return 0;
    for (size_t i = 0; i < COUNT; i++)
        if (!isfinite(update[i]))
            abort();
    return 0;
}
