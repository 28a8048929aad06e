#include "serve/attester/attested_request.h"

#include <string.h>

sotto_status sotto_attested_request_decode(sotto_attested_request *out, sotto_bytes wire,
                                           sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    sotto_token_request asked;

    out->evidence = sotto_read_opaque16(&in); /* borrowed: lives as long as wire */
    const sotto_bytes rest = sotto_read_bytes(&in, sotto_reader_left(&in));
    SOTTO_TRY(sotto_reader_finish(&in, "attested token request", err));
    if (sotto_token_request_decode(&asked, rest, NULL) != SOTTO_OK ||
        (asked.type != SOTTO_TOKEN_BLIND_RSA && asked.type != SOTTO_TOKEN_ARC))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "attested token request: another type, or not of its length");
    out->type = asked.type;
    out->len = rest.len;
    memcpy(out->asked, rest.data, rest.len);
    return SOTTO_OK;
}
