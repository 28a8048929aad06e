#include "serve/attester/attested_request.h"

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
