/* aggregate/shared/crew.h - the same work over many items, on several threads.
 *
 * Callers:  mask.c and the flamingo server, where a closed window leaves seconds of work.
 * Threads:  any thread may run a crew. Its members live as long as the call; the caller is one of them.
 *
 * Machines are pure: a process has a crew of one until it says otherwise, as `sotto serve` does. Libraries for devices have crew_alone.c,
 * which is always one.
 */
#ifndef SOTTO_AGGREGATE_SHARED_CREW_H
#define SOTTO_AGGREGATE_SHARED_CREW_H

#include "sotto/base.h"

enum { SOTTO_CREW_MOST = 64 };

/* How many threads work at once from now on; 0: one for each core. Before the first run. */
void sotto_crew_use(unsigned threads);
unsigned sotto_crew_size(void);

/* Items from `first` on, before `end`; never none. Parts of one run have no item in common, and must not share anything else that
 * they write to. */
typedef sotto_status (*sotto_crew_work)(void *context, size_t first, size_t end, sotto_err *err);

/* Every item from 0 to count - 1, in as many parts as there are threads. The first failure, in the order of items. Where a
 * thread can't be made, the caller does its part. */
SOTTO_MUST_USE sotto_status sotto_crew_run(sotto_crew_work work, void *context, size_t count,
                                           sotto_err *err);

#endif
