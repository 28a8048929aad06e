/* What devices post to an attester. What decodes is put together again to the same bytes. The text that its evidence must be
 * good for has both the key's id and the request. */
#include "target.h"

#include <stdlib.h>
#include <string.h>

#include "serve/attester/attested_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t key_id[SOTTO_TOKEN_KEY_ID] = {7};
    uint8_t text[SOTTO_ATTESTED_TEXT];
    sotto_attested_request request;
    size_t evidence;

    if (sotto_attested_request_decode(&request, sotto_bytes_of(data, size), NULL) != SOTTO_OK)
        return 0;
    evidence = request.evidence.len;
    if (size != 2 + evidence + request.len || request.evidence.data != data + 2 ||
        ((size_t)data[0] << 8 | data[1]) != evidence ||
        memcmp(request.asked, data + 2 + evidence, request.len) != 0)
        abort();
    const sotto_bytes signed_text =
        sotto_attested_text(text, key_id, sotto_bytes_of(request.asked, request.len));
    if (memcmp(text + signed_text.len - request.len, request.asked, request.len) != 0)
        abort();
    return 0;
}
