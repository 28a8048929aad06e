/* Writes characters as UTF-8 (RFC 3629); base/character.h reads them. */
#include "view/text.h"

void sotto_text_character(sotto_text *t, uint32_t c)
{
    uint8_t out[4];
    size_t len = 1;

    out[0] = (uint8_t)c;
    if (c >= 0x10000) {
        out[0] = (uint8_t)(0xf0 | c >> 18);
        len = 4;
    } else if (c >= 0x800) {
        out[0] = (uint8_t)(0xe0 | c >> 12);
        len = 3;
    } else if (c >= 0x80) {
        out[0] = (uint8_t)(0xc0 | c >> 6);
        len = 2;
    }
    for (size_t i = 1; i < len; i++)
        out[i] = (uint8_t)(0x80 | (c >> 6 * (len - 1 - i) & 0x3f));
    sotto_text_put(t, sotto_bytes_of(out, len));
}
