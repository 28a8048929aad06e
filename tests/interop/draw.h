/* interop/draw.h - random parameters, measurements and reports, all from one printed seed. */
#ifndef SOTTO_TESTS_INTEROP_DRAW_H
#define SOTTO_TESTS_INTEROP_DRAW_H

#include "interop/exchange.h"

enum { SOTTO_LARGEST_BATCH = 100 };

/* splitmix64: repeatable and enough for tests. What the peer draws for itself is not repeatable. */
typedef struct sotto_draw {
    uint64_t state;
} sotto_draw;

uint64_t sotto_draw_next(sotto_draw *draw);
/* 0 <= result < bound; bound > 0. */
uint64_t sotto_draw_below(sotto_draw *draw, uint64_t bound);
sotto_bytes sotto_draw_bytes(sotto_test *t, sotto_draw *draw, size_t len);

/* Parameters, key and context; a sum over the largest batch does not wrap. */
void sotto_draw_instance(sotto_test *t, sotto_draw *draw, sotto_instance *instance,
                         const sotto_kind *kind);
/* A valid measurement in a report sharded by us or by the peer. */
void sotto_draw_report(sotto_test *t, sotto_draw *draw, const sotto_instance *instance,
                       sotto_peer *peer, sotto_interop_report *report, bool theirs);

#endif
