/* Ids in URLs: base64url without padding (RFC 4648, 5 and 3.2), each id in one spelling. And how a sotto server finds them. */
#include "dap/dap.h"

#include "crypto/hash.h"

#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void sotto_dap_id_encode(char *out, sotto_bytes id)
{
    uint32_t bits = 0;
    unsigned held = 0;

    for (size_t i = 0; i < id.len; i++) {
        bits = bits << 8 | id.data[i];
        for (held += 8; held >= 6; held -= 6)
            *out++ = alphabet[bits >> (held - 6) & 63];
    }
    if (held > 0)
        *out++ = alphabet[bits << (6 - held) & 63];
    *out = '\0';
}

static int digit_of(uint8_t c)
{
    for (int i = 0; i < 64; i++)
        if ((uint8_t)alphabet[i] == c)
            return i;
    return -1;
}

sotto_status sotto_dap_id_decode(uint8_t *out, size_t size, sotto_bytes text, sotto_err *err)
{
    uint32_t bits = 0;
    unsigned held = 0;
    size_t done = 0;

    if (text.len != (4 * size + 2) / 3)
        return sotto_fail(err, SOTTO_MALFORMED, "id: %zu characters, not %zu", text.len,
                          (4 * size + 2) / 3);
    for (size_t i = 0; i < text.len; i++) {
        const int digit = digit_of(text.data[i]);

        if (digit < 0)
            return sotto_fail(err, SOTTO_MALFORMED, "id: not base64url without padding");
        bits = bits << 6 | (uint32_t)digit;
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[done++] = (uint8_t)(bits >> held);
        }
    }
    if (bits & ((1U << held) - 1))
        return sotto_fail(err, SOTTO_MALFORMED, "id: bits are left over");
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
