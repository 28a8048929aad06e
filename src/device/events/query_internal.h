/* device/events/query_internal.h - between query.c and the compiled queries that simulated devices share (query_kept.c). */
#ifndef SOTTO_DEVICE_QUERY_INTERNAL_H
#define SOTTO_DEVICE_QUERY_INTERNAL_H

#include "device/events/query.h"
#include "device/events/store_internal.h"

struct sotto_query {
    sqlite3 *db;
    sotto_store *store;      /* takes the connection back */
    sqlite3_stmt *statement; /* over the store */
    sqlite3 *copy; /* of what it reads, in an order that tells nothing else; NULL: not made */
    sqlite3_stmt *ordered;     /* over the copy */
    sqlite3_stmt *count, *one; /* the query in brackets, over either; NULL: not compiled */
    uint64_t passed;           /* rows that `one` passes over */
    sotto_verifier verifier;
    sotto_query_limits limits;
    const sotto_clock *clock;
    uint64_t started; /* ns                      */
    uint64_t steps;   /* taken so far, about     */
    unsigned passes;  /* what this one may take, in limits */
    int64_t held;     /* of memory, at the start */
    const char *over; /* which limit was passed  */
    bool failed;      /* to compile, or as it ran */
    bool stays;       /* compiled when it is finished, for the next of this store */
};

/* Queries of stores in memory that stay compiled for the next device. Installed libraries have none: there a compiled query holds
 * memory that reports need. */
typedef struct sotto_kept_queries {
    /* One that was kept and would be compiled from the same text under the same policy; NULL: there is none. */
    sotto_query *(*take)(sotto_store *store, const sotto_query_policy *policy, sotto_bytes sql);
    /* Takes it over. False: it is closed as any other. */
    bool (*keep)(sotto_query *query);
    /* Closes what is kept for this store. */
    void (*drop)(sotto_store *store);
} sotto_kept_queries;

/* NULL: this library has none. */
extern const sotto_kept_queries *const sotto_linked_queries;

#endif
