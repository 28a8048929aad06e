/* bench/door.h - one port in front of several servers: connections are spread over them, and harmed if asked.
 *
 * Callers:  sotto-bench's pipeline group (spreading), the fault runs (harm).
 * Memory:   a door is ours.
 * Threads:  one of its own.
 */
#ifndef SOTTO_BENCH_DOOR_H
#define SOTTO_BENCH_DOOR_H

#include "sotto/base.h"

typedef struct sotto_door sotto_door;

/* Listens on a port of its own choice. */
SOTTO_MUST_USE sotto_status sotto_door_open(sotto_door **out, uint16_t *port, sotto_err *err);
uint16_t sotto_door_port(const sotto_door *door);
/* NULL is fine. */
void sotto_door_close(sotto_door *door);
/* One more server behind it, before the first connection comes. */
void sotto_door_add(sotto_door *door, uint16_t port);

/* Probabilities, each rolled once for every piece of up to 64 KiB that comes by. */
typedef struct sotto_door_harm {
    double cut;        /* the connection ends here, in both directions            */
    double delay;      /* this piece, and what follows it, waits ...              */
    unsigned delay_ms; /* ... up to so long                                      */
    double
        duplicate; /* rolled for each request: it comes again later, on a connection of its own, in another order */
    /* May be NULL: told of each such request, on the door's own thread. */
    void (*on_duplicate)(void *context, sotto_bytes request);
    void *context;
} sotto_door_harm;
void sotto_door_set_harm(sotto_door *door, const sotto_door_harm *harm);

typedef struct sotto_door_counts {
    uint64_t connections, cuts, delays, duplicates;
} sotto_door_counts;
void sotto_door_count(sotto_door *door, sotto_door_counts *out);

#endif
