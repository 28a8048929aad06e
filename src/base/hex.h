/* base/hex.h - bytes as hexadecimal digits.
 *
 * Callers:  whoever writes a key, a token or an id into a text, or reads one.
 * Memory:   outputs are the caller's.
 * Secrets:  encode and decode take the same time over all bytes.
 */
#ifndef SOTTO_BASE_HEX_H
#define SOTTO_BASE_HEX_H

#include "sotto/base.h"

/* Writes 2 * bytes.len lower-case digits and a zero. */
void sotto_hex_encode(char *out, sotto_bytes bytes);
/* False, with out undefined, unless text is 2 * len lower-case digits: what is written once is spelt in one way. */
bool sotto_hex_decode(uint8_t *out, size_t len, sotto_bytes text);
/* What one digit of either case stands for; -1: not a digit. */
int sotto_hex_digit_vartime(uint8_t c);

#endif
