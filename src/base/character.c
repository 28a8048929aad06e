/* Overlong forms, surrogates and what lies beyond U+10ffff are no UTF-8. */
#include "base/character.h"

/* How many bytes follow this first one; -1: it can't be a first one. */
static int following(uint8_t first)
{
    if (first < 0x80)
        return 0;
    if (first >= 0xc2 && first <= 0xdf)
        return 1;
    if (first >= 0xe0 && first <= 0xef)
        return 2;
    return first >= 0xf0 && first <= 0xf4 ? 3 : -1;
}

uint32_t sotto_character_next(sotto_bytes text, size_t *at)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    uint8_t first = text.data[(*at)++];
    int more = following(first);

    if (more <= 0)
        return more == 0 ? first : SOTTO_CHARACTER_BAD;
    if (text.len - *at < (size_t)more)
        return SOTTO_CHARACTER_BAD;
    uint32_t c = first & (0x3fU >> more);
    for (int i = 0; i < more; i++) {
        uint8_t next = text.data[*at + (size_t)i];

        if ((next & 0xc0) != 0x80)
            return SOTTO_CHARACTER_BAD;
        c = c << 6 | (next & 0x3fU);
    }
    if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return SOTTO_CHARACTER_BAD;
    *at += (size_t)more;
    return c;
}
