/* serve/attester/attester_lists.h - which keys the public lists were seen to have, and for whom a list was fetched in vain.
 *
 * Callers:  attester_service.c.
 * Memory:   a fixed amount; of each the oldest is forgotten.
 * Threads:  any.
 */
#ifndef SOTTO_SERVE_ATTESTER_ATTESTER_LISTS_H
#define SOTTO_SERVE_ATTESTER_ATTESTER_LISTS_H

#include "serve/attester/attester_counts.h"

/* Who issues: an issuer of tokens of type 2; leader and helper of their own credentials of ARC. */
typedef enum sotto_attester_source {
    SOTTO_ATTESTER_ISSUER,
    SOTTO_ATTESTER_LEADER,
    SOTTO_ATTESTER_HELPER,
    SOTTO_ATTESTER_SOURCES
} sotto_attester_source;

static inline bool sotto_attester_is_arc(sotto_attester_source from)
{
    return from != SOTTO_ATTESTER_ISSUER;
}

typedef struct sotto_attester_listed {
    sotto_attester_key key;
    sotto_attester_source from;
} sotto_attester_listed;

typedef struct sotto_attester_lists sotto_attester_lists;

SOTTO_MUST_USE sotto_status sotto_attester_lists_new(sotto_attester_lists **out, sotto_err *err);
/* NULL is fine. */
void sotto_attester_lists_free(sotto_attester_lists *lists);

/* Whether a list of the same kind was seen to have the key of this id; then fills when it closes, and whose it is. */
bool sotto_attester_is_listed(sotto_attester_lists *lists, sotto_attester_listed *key);
void sotto_attester_remember(sotto_attester_lists *lists, const sotto_attester_listed *key);

/* Whether a list may be fetched for this device: once in a while, unless it had what was asked for. */
bool sotto_attester_may_fetch(sotto_attester_lists *lists, const uint8_t device[SOTTO_ATTESTER_ID]);
void sotto_attester_forget_miss(sotto_attester_lists *lists,
                                const uint8_t device[SOTTO_ATTESTER_ID]);

#endif
