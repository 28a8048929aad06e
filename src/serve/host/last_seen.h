/* serve/host/last_seen.h - what one thread saw last, for whoever asks.
 *
 * Callers:  a service's health: one thread reads the database, others show what it read.
 * Memory:   a copy of `size` bytes; zeros before anything was seen.
 * Threads:  one writes, any may look.
 */
#ifndef SOTTO_SERVE_HOST_LAST_SEEN_H
#define SOTTO_SERVE_HOST_LAST_SEEN_H

#include "sotto/base.h"

#include <stddef.h>

typedef struct sotto_last_seen sotto_last_seen;

SOTTO_MUST_USE sotto_status sotto_last_seen_new(sotto_last_seen **seen, size_t size,
                                                sotto_err *err);
/* NULL is fine. */
void sotto_last_seen_free(sotto_last_seen *seen);

void sotto_last_seen_put(sotto_last_seen *seen, const void *view);
/* Returns how often something was put. */
unsigned sotto_last_seen_look(sotto_last_seen *seen, void *view);

#endif
