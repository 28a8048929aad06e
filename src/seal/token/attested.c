#include "seal/token/attested.h"

#include <string.h>

sotto_bytes sotto_attested_text(uint8_t out[SOTTO_ATTESTED_TEXT],
                                const uint8_t key_id[SOTTO_TOKEN_KEY_ID], sotto_bytes request)
{
    enum { LABEL = sizeof SOTTO_ATTESTED_LABEL - 1 };

    memcpy(out, SOTTO_ATTESTED_LABEL, LABEL);
    memcpy(out + LABEL, key_id, SOTTO_TOKEN_KEY_ID);
    memcpy(out + LABEL + SOTTO_TOKEN_KEY_ID, request.data, request.len);
    return sotto_bytes_of(out, LABEL + SOTTO_TOKEN_KEY_ID + request.len);
}
