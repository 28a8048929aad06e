/* Anybody may ask a witness: what decodes encodes to the same bytes, and nothing is cosigned that the log did not sign. */
#include <stdlib.h>
#include <string.h>

#include "target.h"
#include "tlog/witness.h"

static const char vkey[] =
    "example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t memory[SOTTO_WITNESS_BODY];
    const sotto_bytes body = sotto_bytes_of(data, size);
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    const sotto_checkpoint last = {.size = 0};
    sotto_witness_request request;
    sotto_note_key key;

    if (size > sizeof memory ||
        sotto_note_key_decode(&key, sotto_bytes_of(vkey, sizeof vkey - 1), NULL) != SOTTO_OK ||
        sotto_witness_request_decode(&request, body, NULL) != SOTTO_OK)
        return 0;
    if (sotto_witness_request_encode(&out, &request, NULL) != SOTTO_OK ||
        !sotto_bytes_equal_vartime(body, sotto_buf_bytes(&out)))
        abort();
    if (sotto_witness_judge(&request, &key, &last, NULL).http == 200 &&
        request.checkpoint.size > 10)
        abort(); /* it never signed a larger one */
    return 0;
}
