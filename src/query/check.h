/* query/check.h - what a device would say to a query, without a device: the query is compiled over empty tables.
 *
 * Callers:  recipe/judge.c.
 * Memory:   nothing is kept.
 * Threads:  each call has a database of its own, in memory.
 */
#ifndef SOTTO_QUERY_CHECK_H
#define SOTTO_QUERY_CHECK_H

#include "query/verifier.h"

/* What is asked. */
typedef struct sotto_query_question {
    const sotto_query_policy *policy; /* NULL: every field may be read */
    bool by_time;                     /* without a policy: events are chosen by their time */
    const sotto_stream *streams;      /* NULL: see sotto_query_check   */
    size_t stream_count;
    /* Without streams: fields that streams of these names have for certain, such as those with a budget. */
    const sotto_field_name *likely;
    size_t likely_count;
    sotto_bytes sql;
    const char *const *columns; /* that the answer must have, each once */
    size_t column_count;
} sotto_query_question;

typedef struct sotto_query_finding {
    sotto_access accessed[SOTTO_QUERY_MAX_ACCESSED];
    size_t accessed_count;
    size_t missing; /* of SOTTO_MISSING: which of the columns */
    bool open;      /* without streams: an ambiguous column kept the rest from being checked */
} sotto_query_finding;

/* Compiles the query as a device with these streams does. Without streams it is compiled over streams that have every
 * table and column that it names: what is refused then, every device refuses.
 *   SOTTO_MALFORMED, SOTTO_DENIED, SOTTO_TOO_LARGE  as sotto_compile; also for streams that are not valid
 *   SOTTO_MISSING                                   a column that the answer must have is not there, or twice
 */
SOTTO_MUST_USE sotto_status sotto_query_check(sotto_query_finding *out,
                                              const sotto_query_question *question, sotto_err *err);

#endif
