/* aggregate/inbox.h - messages as a server hands them out: each with its number (8 bytes) and its length (4).
 *
 * Callers:  devices, for what a round has for them, and for the board of a key generation.
 * Memory:   messages are borrowed from the answer.
 */
#ifndef SOTTO_AGGREGATE_INBOX_H
#define SOTTO_AGGREGATE_INBOX_H

#include "sotto/base.h"

typedef struct sotto_inbox {
    sotto_bytes left;
    uint64_t since; /* the first number that was not seen; what comes before it is out of order */
} sotto_inbox;

/* The next message. False: there is none, or it is cut or out of order. What came before it counts. */
SOTTO_MUST_USE bool sotto_inbox_next(sotto_inbox *inbox, uint64_t *number, sotto_bytes *message);

#endif
