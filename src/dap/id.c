/* Ids in URLs: base64url without padding (RFC 4648, 5 and 3.2), each id in one spelling. And how a sotto server finds them. */
#include "dap/dap.h"

#include "base/base64.h"
#include "crypto/hash.h"

#include <string.h>

void sotto_dap_id_encode(char *out, sotto_bytes id)
{
    sotto_base64_encode(out, SOTTO_BASE64_URL, id);
}

sotto_status sotto_dap_id_decode(uint8_t *out, size_t size, sotto_bytes text, sotto_err *err)
{
    if (text.len != (4 * size + 2) / 3)
        return sotto_fail(err, SOTTO_MALFORMED, "id: %zu characters, not %zu", text.len,
                          (4 * size + 2) / 3);
    if (!sotto_base64_decode(out, size, SOTTO_BASE64_URL, text))
        return sotto_fail(err, SOTTO_MALFORMED, "id: not canonical base64url");
    return SOTTO_OK;
}

void sotto_dap_resource_id(uint8_t out[SOTTO_RESOURCE_ID_SIZE], const char *kind,
                           const uint8_t task_id[SOTTO_TASK_ID_SIZE], sotto_bytes body)
{
    uint8_t digest[32];
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(kind, strlen(kind) + 1));
    sotto_hash_update(&hash, sotto_bytes_of(task_id, SOTTO_TASK_ID_SIZE));
    sotto_hash_update(&hash, body);
    sotto_hash_final(&hash, digest);
    memcpy(out, digest, SOTTO_RESOURCE_ID_SIZE);
}
