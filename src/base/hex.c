#include "base/hex.h"

static char digit_of(unsigned nibble)
{
    const unsigned letter = (9 - nibble) >> 31; /* 1 above nine */

    return (char)('0' + nibble + letter * ('a' - '0' - 10));
}

void sotto_hex_encode(char *out, sotto_bytes bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        *out++ = digit_of(bytes.data[i] >> 4);
        *out++ = digit_of(bytes.data[i] & 15);
    }
    *out = 0;
}

static unsigned is_within(int c, int first, int last)
{
    return 1 ^ (unsigned)((c - first) | (last - c)) >> 31;
}

bool sotto_hex_decode(uint8_t *out, size_t len, sotto_bytes text)
{
    unsigned good = 1;

    if (text.len % 2 != 0 || text.len / 2 != len)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        const int c = text.data[i];
        const unsigned number = is_within(c, '0', '9'), letter = is_within(c, 'a', 'f');
        const unsigned value = number * (unsigned)(c - '0') + letter * (unsigned)(c - 'a' + 10);

        good &= number | letter;
        out[i / 2] = (uint8_t)(i % 2 ? out[i / 2] | value : value << 4);
    }
    return good == 1;
}

int sotto_hex_digit_vartime(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
