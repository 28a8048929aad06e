#include "aggregate/inbox.h"

#include <string.h>

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

void sotto_inbox_text(uint8_t out[SOTTO_INBOX_TEXT], const uint8_t round[SOTTO_ROUND_ID],
                      uint32_t index)
{
    static const char label[13] = "sotto-inbox-1";

    memcpy(out, label, sizeof label);
    memcpy(out + sizeof label, round, SOTTO_ROUND_ID);
    for (unsigned i = 0; i < 4; i++)
        out[sizeof label + SOTTO_ROUND_ID + i] = (uint8_t)(index >> (24 - 8 * i));
}
