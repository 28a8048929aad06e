/* base/base64.h - base64 (RFC 4648), each byte string in one spelling.
 *
 * Callers:  dap/ for ids in URLs, tlog/ for notes and proofs.
 * Memory:   outputs are the caller's.
 * Secrets:  none: time depends on the text.
 */
#ifndef SOTTO_BASE_BASE64_H
#define SOTTO_BASE_BASE64_H

#include "sotto/base.h"

typedef enum sotto_base64 {
    SOTTO_BASE64_URL,     /* section 5, without padding */
    SOTTO_BASE64_STANDARD /* section 4, with padding    */
} sotto_base64;

/* Characters of len bytes with padding; without it there may be two less. */
#define SOTTO_BASE64_SIZE(len) (((len) + 2) / 3 * 4)

/* Writes the characters and a zero; out has room for SOTTO_BASE64_SIZE + 1. */
void sotto_base64_encode(char *out, sotto_base64 kind, sotto_bytes bytes);
/* How many bytes the text stands for, by its length and padding alone. */
size_t sotto_base64_decoded(sotto_base64 kind, sotto_bytes text);
/* False, with out undefined, unless text is the one spelling of len bytes. out may be NULL. */
bool sotto_base64_decode(uint8_t *out, size_t len, sotto_base64 kind, sotto_bytes text);

#endif
