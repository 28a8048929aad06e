#include "tlog/lines.h"

#include "base/base64.h"

#include <string.h>

enum { HASH_TEXT = SOTTO_BASE64_SIZE(SOTTO_MERKLE_HASH) };

bool sotto_tlog_line(sotto_bytes *line, sotto_bytes *rest)
{
    const uint8_t *end = rest->len > 0 ? memchr(rest->data, '\n', rest->len) : NULL;

    if (!end)
        return false;
    *line = sotto_bytes_of(rest->data, (size_t)(end - rest->data));
    *rest = sotto_bytes_of(end + 1, rest->len - line->len - 1);
    return true;
}

bool sotto_tlog_word_line(sotto_bytes *value, sotto_bytes *rest, const char *word)
{
    const size_t len = strlen(word);
    const sotto_bytes before = *rest;
    sotto_bytes line;

    if (sotto_tlog_line(&line, rest) && line.len > len && memcmp(line.data, word, len) == 0 &&
        line.data[len] == ' ') {
        *value = sotto_bytes_of(line.data + len + 1, line.len - len - 1);
        return true;
    }
    *rest = before;
    return false;
}

bool sotto_tlog_decimal(uint64_t *out, sotto_bytes text)
{
    enum { DIGITS = 19 }; /* of 2^63 - 1 */
    uint64_t x = 0;

    if (text.len == 0 || text.len > DIGITS || (text.data[0] == '0' && text.len > 1))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        x = 10 * x + (uint64_t)(text.data[i] - '0');
    }
    *out = x;
    return x <= INT64_MAX;
}

bool sotto_tlog_hash(sotto_merkle_hash *out, sotto_bytes base64)
{
    return sotto_base64_decode(out->bytes, SOTTO_MERKLE_HASH, SOTTO_BASE64_STANDARD, base64);
}

bool sotto_tlog_hashes(sotto_merkle_proof *out, sotto_bytes *rest)
{
    sotto_bytes line;

    out->count = 0;
    while (sotto_tlog_line(&line, rest)) {
        if (line.len == 0)
            return true;
        if (out->count == SOTTO_MERKLE_PROOF || !sotto_tlog_hash(&out->hashes[out->count], line))
            return false;
        out->count++;
    }
    return false;
}

void sotto_tlog_write_hash(sotto_writer *w, const sotto_merkle_hash *hash)
{
    char text[HASH_TEXT + 1];

    sotto_base64_encode(text, SOTTO_BASE64_STANDARD,
                        sotto_bytes_of(hash->bytes, sizeof hash->bytes));
    text[HASH_TEXT] = '\n';
    sotto_write_bytes(w, sotto_bytes_of(text, sizeof text));
}

void sotto_tlog_write_hashes(sotto_writer *w, const sotto_merkle_proof *proof)
{
    for (size_t i = 0; i < proof->count; i++)
        sotto_tlog_write_hash(w, &proof->hashes[i]);
}
