/* The head of a peer's answer: what is read of it lies within it, and says in one way how long its body is. */
#include "target.h"

#include <stdbool.h>
#include <stdlib.h>

#include "transport/http_parse.h"
#include "transport/http_reply.h"

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t end = sotto_http_head_end(sotto_bytes_of(data, size), 0);
    sotto_http_reply_head head;

    if (end == 0 || !sotto_http_reply_parse(&head, sotto_bytes_of(data, end)))
        return 0;
    require(head.status >= 100 && head.status <= 999);
    require(!head.chunked || (!head.sized && head.length == 0));
    require(head.length <= UINT64_C(999999999999999999));
    require(head.retry_after.len == 0 ||
            (head.retry_after.data >= data &&
             head.retry_after.data + head.retry_after.len <= data + end));
    require(sotto_http_is_field_value(head.retry_after));
    return 0;
}
