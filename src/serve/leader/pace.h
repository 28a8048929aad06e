/* serve/leader/pace.h - how soon something may begin again: at once after a pause, else a few milliseconds after it last began.
 *
 * Callers:  intake.c, whose commits share syncs by it; tests, which change the milliseconds.
 * Threads:  any; `due` is called on a thread of the pace's own.
 */
#ifndef SOTTO_SERVE_LEADER_PACE_H
#define SOTTO_SERVE_LEADER_PACE_H

#include "sotto/base.h"

typedef struct sotto_pace sotto_pace;

SOTTO_MUST_USE sotto_status sotto_pace_open(sotto_pace **out, uint64_t milliseconds,
                                            void (*due)(void *context), void *context,
                                            sotto_err *err);
/* No other thread may be inside a call or make one. NULL is fine. */
void sotto_pace_close(sotto_pace *pace);

/* True: it begins now. False: `due` is called when it may. */
bool sotto_pace_begin(sotto_pace *pace, bool at_once);
/* From now on; who waits is told anew. 0: nobody waits any more. */
void sotto_pace_set(sotto_pace *pace, uint64_t milliseconds);

#endif
