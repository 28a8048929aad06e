#include "serve/attester/attested_request.h"

#include <string.h>

sotto_status sotto_attested_request_decode(sotto_attested_request *out, sotto_bytes wire,
                                           sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    sotto_token_request asked;

    out->evidence = sotto_read_opaque16(&in); /* borrowed: lives as long as wire */
    sotto_read_fixed(&in, out->asked, sizeof out->asked);
    SOTTO_TRY(sotto_reader_finish(&in, "attested token request", err));
    return sotto_token_request_decode(&asked, sotto_bytes_of(out->asked, sizeof out->asked), err);
}

void sotto_attested_text(uint8_t out[SOTTO_ATTESTED_TEXT], const uint8_t key_id[SOTTO_TOKEN_KEY_ID],
                         const uint8_t asked[SOTTO_TYPE2_REQUEST])
{
    const size_t label = sizeof SOTTO_ATTESTED_LABEL - 1;

    memcpy(out, SOTTO_ATTESTED_LABEL, label);
    memcpy(out + label, key_id, SOTTO_TOKEN_KEY_ID);
    memcpy(out + label + SOTTO_TOKEN_KEY_ID, asked, SOTTO_TYPE2_REQUEST);
}
