/* Batches between relay and gateway. What reads as a batch is put together again to the same bytes. */
#include "target.h"

#include <stdlib.h>
#include <string.h>

#include "seal/ohttp/ohttp_batch.h"

static void requests(sotto_bytes wire)
{
    static uint8_t memory[1 << 20];
    sotto_buf again = sotto_buf_over(memory, sizeof memory);
    sotto_bytes list[SOTTO_OHTTP_BATCH];
    size_t count;

    if (sotto_ohttp_batch_requests_read(list, &count, wire, NULL) != SOTTO_OK)
        return;
    for (size_t i = 0; i < count; i++)
        if (sotto_ohttp_batch_request_add(&again, list[i], NULL) != SOTTO_OK)
            return; /* longer than there is room for */
    if (again.len != wire.len || memcmp(memory, wire.data, wire.len) != 0)
        abort();
}

/* The first byte says how many are expected. */
static void answers(const uint8_t *data, size_t size)
{
    static uint8_t memory[1 << 20];
    sotto_buf again = sotto_buf_over(memory, sizeof memory);
    sotto_ohttp_batch_answer list[SOTTO_OHTTP_BATCH];

    if (size == 0 || data[0] > SOTTO_OHTTP_BATCH ||
        sotto_ohttp_batch_answers_read(list, data[0], sotto_bytes_of(data + 1, size - 1), NULL) !=
            SOTTO_OK)
        return;
    for (size_t i = 0; i < data[0]; i++)
        if (sotto_ohttp_batch_answer_add(&again, &list[i], NULL) != SOTTO_OK)
            return;
    if (again.len != size - 1 || memcmp(memory, data + 1, size - 1) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    requests(sotto_bytes_of(data, size));
    answers(data, size);
    return 0;
}
