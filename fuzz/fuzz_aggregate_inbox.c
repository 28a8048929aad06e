/* An inbox comes from a server: its messages ascend, lie one after the other inside it, and end. */
#include "target.h"

#include "aggregate/inbox.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sotto_inbox inbox = {.left = sotto_bytes_of(data, size)};
    const uint8_t *at = data;
    uint64_t number, least = 0;
    sotto_bytes message;

    while (sotto_inbox_next(&inbox, &number, &message)) {
        if (number < least || inbox.since != number + 1 || message.data != at + 12 ||
            message.len > (size_t)(data + size - message.data))
            abort();
        least = number + 1;
        at = message.data + message.len;
    }
    return 0;
}
