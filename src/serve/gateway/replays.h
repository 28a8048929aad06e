/* serve/gateway/replays.h - which encapsulated requests were opened lately: each is opened once.
 *
 * Callers:  decapsulate.c.
 * Memory:   16 bytes a request and as much again, up to a limit; two generations, of which the older goes as a whole.
 * Threads:  any.
 *
 * A request says when it was made, and one that is dated outside of the window is refused. So a request can be replayed for
 * two windows after it was opened, and is remembered for as long. Both the wall clock and the monotonic clock must agree
 * that the time is over, so a wall clock that jumps can't shorten it.
 */
#ifndef SOTTO_SERVE_GATEWAY_REPLAYS_H
#define SOTTO_SERVE_GATEWAY_REPLAYS_H

#include "sotto/base.h"

typedef struct sotto_replays sotto_replays;

typedef struct sotto_replays_time {
    int64_t wall;   /* seconds since 1970; may jump                */
    int64_t passed; /* seconds since some start; never goes back   */
} sotto_replays_time;

/*   most    requests remembered at once
 *   window  seconds */
SOTTO_MUST_USE sotto_status sotto_replays_new(sotto_replays **out, uint64_t most, int64_t window,
                                              sotto_err *err);
/* NULL is fine. */
void sotto_replays_free(sotto_replays *replays);

/* Remembers a request by its enc, which HPKE binds to all of it.
 *   SOTTO_STALE      it is remembered already
 *   SOTTO_NO_MEMORY  there is no room for another: nothing may be opened now
 */
SOTTO_MUST_USE sotto_status sotto_replays_note(sotto_replays *replays, sotto_bytes enc,
                                               sotto_replays_time now, sotto_err *err);
uint64_t sotto_replays_count(sotto_replays *replays);

#endif
