#include "base/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
static const char last_two[2][2] = {{'-', '_'}, {'+', '/'}};

static char letter_of(sotto_base64 kind, uint32_t digit)
{
    return digit < 62 ? alphabet[digit] : last_two[kind][digit - 62];
}

void sotto_base64_encode(char *out, sotto_base64 kind, sotto_bytes bytes)
{
    uint32_t bits = 0;
    unsigned held = 0;

    for (size_t i = 0; i < bytes.len; i++) {
        bits = bits << 8 | bytes.data[i];
        for (held += 8; held >= 6; held -= 6)
            *out++ = letter_of(kind, bits >> (held - 6) & 63);
    }
    if (held > 0)
        *out++ = letter_of(kind, bits << (6 - held) & 63);
    for (size_t i = bytes.len; kind == SOTTO_BASE64_STANDARD && i % 3 != 0; i++)
        *out++ = '=';
    *out = '\0';
}

static int digit_of(sotto_base64 kind, uint8_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == (uint8_t)last_two[kind][0] ? 62 : c == (uint8_t)last_two[kind][1] ? 63 : -1;
}

static size_t digits_of(sotto_base64 kind, sotto_bytes text)
{
    size_t len = text.len;

    if (kind == SOTTO_BASE64_STANDARD)
        for (int i = 0; i < 2 && len > 0 && text.data[len - 1] == '='; i++)
            len--;
    return len;
}

size_t sotto_base64_decoded(sotto_base64 kind, sotto_bytes text)
{
    const size_t digits = digits_of(kind, text);

    return digits / 4 * 3 + digits % 4 * 6 / 8;
}

bool sotto_base64_decode(uint8_t *out, size_t len, sotto_base64 kind, sotto_bytes text)
{
    const size_t digits = digits_of(kind, text);
    uint32_t bits = 0;
    unsigned held = 0;

    if (digits != (4 * len + 2) / 3 ||
        text.len != (kind == SOTTO_BASE64_STANDARD ? SOTTO_BASE64_SIZE(len) : digits))
        return false;
    for (size_t i = 0; i < digits; i++) {
        const int digit = digit_of(kind, text.data[i]);

        if (digit < 0)
            return false;
        bits = bits << 6 | (uint32_t)digit;
        held += 6;
        if (held >= 8) {
            held -= 8;
            if (out)
                *out++ = (uint8_t)(bits >> held);
        }
    }
    return (bits & ((1U << held) - 1)) == 0; /* else there would be two spellings */
}
