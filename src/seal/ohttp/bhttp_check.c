/* What may stand in a message that came from a stranger: nothing that another HTTP would read as two lines. */
#include "seal/ohttp/bhttp.h"

#include <string.h>

bool sotto_bhttp_name_is_clean(sotto_bytes name)
{
    /* tchar (RFC 9110, 5.6.2) without capitals. A colon begins a pseudo-field, and is in none of them. */
    static const char marks[] = "!#$%&'*+-.^_`|~";

    for (size_t i = 0; i < name.len; i++) {
        const uint8_t c = name.data[i];
        const bool letter = c >= 'a' && c <= 'z', digit = c >= '0' && c <= '9';

        if (!letter && !digit && (c == 0 || !strchr(marks, c)))
            return false;
    }
    return name.len > 0;
}

bool sotto_bhttp_value_is_clean(sotto_bytes value)
{
    for (size_t i = 0; i < value.len; i++) {
        const uint8_t c = value.data[i];
        const bool edge = i == 0 || i + 1 == value.len;

        if (c == 0 || c == '\r' || c == '\n' || (edge && (c == ' ' || c == '\t')))
            return false;
    }
    return true;
}

bool sotto_bhttp_control_is_clean(sotto_bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] <= ' ' || text.data[i] >= 0x7f)
            return false;
    return true;
}
