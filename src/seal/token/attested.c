#include "seal/token/attested.h"

#include <string.h>

void sotto_attested_text(uint8_t out[SOTTO_ATTESTED_TEXT], const uint8_t key_id[SOTTO_TOKEN_KEY_ID],
                         const uint8_t request[SOTTO_TYPE2_REQUEST])
{
    enum { LABEL = sizeof SOTTO_ATTESTED_LABEL - 1 };

    memcpy(out, SOTTO_ATTESTED_LABEL, LABEL);
    memcpy(out + LABEL, key_id, SOTTO_TOKEN_KEY_ID);
    memcpy(out + LABEL + SOTTO_TOKEN_KEY_ID, request, SOTTO_TYPE2_REQUEST);
}
