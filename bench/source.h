/* bench/source.h - the requests of one run: reports made before they are sent, or while.
 *
 * Callers:  sotto-bench's pipeline group.
 * Memory:   the maker, and what is made beforehand, are the source's until it is cleared.
 */
#ifndef SOTTO_BENCH_SOURCE_H
#define SOTTO_BENCH_SOURCE_H

#include "between.h"
#include "traffic.h"

typedef struct sotto_source {
    sotto_maker *maker;
    uint64_t bucket, made, total; /* reports */
    size_t a_request;
    sotto_bytes *bodies; /* NULL: made while they are sent */
    sotto_buf memory;
    sotto_between *between; /* what a request is sealed for; NULL: it goes to the leader */
} sotto_source;

/* Makes all of them now. */
SOTTO_MUST_USE sotto_status sotto_source_premake(sotto_source *s, sotto_err *err);
void sotto_source_clear(sotto_source *s);
/* As sotto_traffic_options.next wants it. */
bool sotto_source_next(void *source, sotto_traffic_body *out);

#endif
