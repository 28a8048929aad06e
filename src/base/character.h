/* base/character.h - UTF-8, one character at a time (RFC 3629).
 *
 * Callers:  view/ for what it prints, tlog/ for signed notes.
 */
#ifndef SOTTO_BASE_CHARACTER_H
#define SOTTO_BASE_CHARACTER_H

#include "sotto/base.h"

enum { SOTTO_CHARACTER_BAD = 0xfffd };

/* The next character of UTF-8 text, *at moved behind it. A byte that is no UTF-8 is SOTTO_CHARACTER_BAD, and *at moves by one;
 * U+FFFD itself has three bytes. *at < text.len. */
uint32_t sotto_character_next(sotto_bytes text, size_t *at);

#endif
