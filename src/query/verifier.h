/* query/verifier.h - which queries this device answers, and what each of them reads.
 *
 * Callers:  query/compile.c; tests attach it to connections of their own.
 * Memory:   the policy and the streams are borrowed and must outlive the verifier.
 *
 * The verifier trusts nothing that a recipe says of itself. A short reading of the text refuses what SQLite would not
 * report (columns joined by name, indexes) and bounds what the text can grow into. SQLite's authorizer then reports
 * every column, function and action while the statement is compiled, and again each time it is recompiled. Whatever
 * is not known to be allowed is denied. No authorizer sees the order of rows; the verifier says whether it may
 * matter, and query/copy.h replaces it.
 */
#ifndef SOTTO_QUERY_VERIFIER_H
#define SOTTO_QUERY_VERIFIER_H

#include "sotto/events.h"

#include <sqlite3.h>

/* That a row exists is information too: count(*) and FROM without a column read this field. */
#define SOTTO_FIELD_ROWS "*"

enum { SOTTO_QUERY_MAX_ACCESSED = 64 };

typedef struct sotto_field_name {
    const char *stream;
    const char *field; /* a field, SOTTO_STORE_TIME or SOTTO_FIELD_ROWS */
} sotto_field_name;

/* A zero means the default, which is written beside it. */
typedef struct sotto_query_limits {
    uint32_t sql_bytes;   /* 16,384: of the query's text                                   */
    uint32_t selects;     /* 4: SELECT and VALUES in it                                    */
    uint32_t words;       /* 128: names and keywords in it                                 */
    uint32_t columns;     /* 32: of the answer                                             */
    uint32_t rows;        /* 100,000: of the answer                                        */
    uint32_t value_bytes; /* 16,384: of one value or row at any time                       */
    uint64_t steps;       /* 5,000,000: of SQLite's machine                                */
    uint64_t nanoseconds; /* one second                                                    */
    uint64_t memory;      /* 8 MiB: by how much SQLite's heap may grow beyond its cache of the event
                             file, whoever in this process asks for it. Needs a SQLite that counts,
                             as it does by default */
} sotto_query_limits;

/* A query is allowed if it is listed, byte for byte, or if it reads listed fields only. */
typedef struct sotto_query_policy {
    const sotto_field_name *fields;
    size_t field_count;
    const sotto_bytes *queries;
    size_t query_count;
    const sotto_field_name *non_sensitive; /* of those read, the ones that no budget is kept for */
    size_t non_sensitive_count;
    /* Only events from `since` on are seen, in seconds since 1970: that reads the time of every stream that is read. */
    bool by_time;
    int64_t since;
    sotto_query_limits limits;
} sotto_query_policy;

/* One field that a query reads: found by compiling it, never declared by the recipe. */
typedef struct sotto_access {
    char stream[SOTTO_STORE_MAX_NAME + 1];
    char field[SOTTO_STORE_MAX_NAME + 1];
    bool sensitive;
} sotto_access;

typedef struct sotto_verifier {
    const sotto_query_policy *policy;
    const sotto_stream *streams;
    size_t stream_count;
    bool listed;   /* the text is one of the policy's queries                */
    bool sealed;   /* the ledger has seen the list: nothing may be added now */
    bool counting; /* rows of streams that it reads may be counted, for us to choose one */
    bool
        order_matters; /* its rows, as a set with repetitions, may depend on the order in which it reads events */
    sotto_err why; /* of the first denial                                    */
    sotto_access accessed[SOTTO_QUERY_MAX_ACCESSED];
    size_t accessed_count;
} sotto_verifier;

void sotto_verifier_init(sotto_verifier *verifier, const sotto_query_policy *policy,
                         const sotto_stream *streams, size_t stream_count);

/* Limits with their defaults filled in. */
sotto_query_limits sotto_query_limits_of(const sotto_query_policy *policy);

/* Reads the text before SQLite does, and remembers whether the policy lists it.
 *   SOTTO_MALFORMED  bytes that no query of ours has outside quotes
 *   SOTTO_TOO_LARGE  longer or more convoluted than the policy allows
 *   SOTTO_DENIED     a join by name, a named index, a parameter
 */
SOTTO_MUST_USE sotto_status sotto_verifier_read_text(sotto_verifier *verifier, sotto_bytes sql,
                                                     sotto_err *err);

/* The authorizer: sqlite3_set_authorizer(db, sotto_verifier_decide, verifier). Answers SQLITE_OK or
 * SQLITE_DENY, never SQLITE_IGNORE, which would read a forbidden column as NULL. */
int sotto_verifier_decide(void *verifier, int action, const char *first, const char *second,
                          const char *database, const char *inner);

/* Where the policy is by time: reads the time of each stream that the statement was found to read.
 *   SOTTO_DENIED  one that the policy does not allow */
SOTTO_MUST_USE sotto_status sotto_verifier_read_times(sotto_verifier *verifier, sotto_err *err);

/* What SQLite left of the text: SOTTO_DENIED unless it is blank. */
SOTTO_MUST_USE sotto_status sotto_verifier_check_tail(sotto_bytes tail, sotto_err *err);

/* A compiled statement: one, not an EXPLAIN, writing nothing. `tail` is what SQLite left of the text. */
SOTTO_MUST_USE sotto_status sotto_verifier_check_statement(const sotto_verifier *verifier,
                                                           sqlite3_stmt *statement,
                                                           sotto_bytes tail, sotto_err *err);

#endif
