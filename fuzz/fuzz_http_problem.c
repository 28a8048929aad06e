/* A peer's problem document: its type is a text that fits, and one that we write down is read alike. */
#include <stdlib.h>
#include <string.h>

#include "target.h"
#include "transport/http_problem.h"

enum { TYPE = 128, DOCUMENT = 2048 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t memory[DOCUMENT];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    char type[TYPE], again[TYPE];

    if (sotto_http_problem_type(type, sizeof type, sotto_bytes_of(data, size), NULL) != SOTTO_OK)
        return 0;
    if (!memchr(type, 0, sizeof type) ||
        sotto_http_problem_encode(
            &out, &(sotto_http_problem){.status = 400, .type = type, .detail = type}, NULL) !=
            SOTTO_OK ||
        sotto_http_problem_type(again, sizeof again, sotto_buf_bytes(&out), NULL) != SOTTO_OK ||
        strcmp(type, again) != 0)
        abort();
    return 0;
}
