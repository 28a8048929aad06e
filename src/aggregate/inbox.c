#include "aggregate/inbox.h"

enum { FRAME = 8 + 4 };

bool sotto_inbox_next(sotto_inbox *b, uint64_t *number, sotto_bytes *message)
{
    sotto_reader in = sotto_reader_over(b->left);

    *number = sotto_read_uint(&in, 8);
    *message = sotto_read_opaque32(&in);
    if (!message->data || *number < b->since || *number == UINT64_MAX)
        return false;
    b->since = *number + 1;
    b->left =
        sotto_bytes_of(b->left.data + FRAME + message->len, b->left.len - FRAME - message->len);
    return true;
}
