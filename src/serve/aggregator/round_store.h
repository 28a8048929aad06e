/* serve/aggregator/round_store.h - rounds in the aggregator's database: what a step of a machine leaves behind, in one transaction.
 *
 * Callers:  running.c, on compute threads; the routes, for what is read.
 * Memory:   what is loaded is in the arena given.
 * Threads:  any. Replicas over one database are told apart by a round's version: whoever comes second stores nothing.
 * Secrets:  the masked sum, the saved state and the released sum are sealed with the datastore keys.
 */
#ifndef SOTTO_SERVE_AGGREGATOR_ROUND_STORE_H
#define SOTTO_SERVE_AGGREGATOR_ROUND_STORE_H

#include "db/sealed.h"
#include "serve/aggregator/board.h"

/* A number of a round is used once in a session and epoch: other labels for a burnt round would open other masks. */
#define SOTTO_ROUND_STORE_SCHEMA                                                                   \
    "CREATE TABLE round (id {bytes} PRIMARY KEY, session {bytes} NOT NULL, epoch {int} NOT NULL,"  \
    " number {int} NOT NULL, posting {bytes} NOT NULL, version {int} NOT NULL,"                    \
    " outcome {int} NOT NULL, contributions {int} NOT NULL, state {bytes}, tally {bytes},"         \
    " reason {bytes}, reported {bytes}, blamed {bytes}, sum {bytes},"                              \
    " UNIQUE (session, epoch, number));"                                                           \
    "CREATE TABLE kept (round {bytes} NOT NULL, n {int} NOT NULL, digest {bytes} NOT NULL,"        \
    " wire {bytes} NOT NULL, PRIMARY KEY (round, n));"                                             \
    "CREATE INDEX kept_by_digest ON kept (round, digest);"                                         \
    "CREATE TABLE outgoing (round {bytes} NOT NULL, n {int} NOT NULL, receiver {int} NOT NULL,"    \
    " wire {bytes} NOT NULL, PRIMARY KEY (round, n));"                                             \
    "CREATE TABLE vow (session {bytes} NOT NULL, epoch {int} NOT NULL, number {int} NOT NULL,"     \
    " kind {int} NOT NULL, subject {int} NOT NULL, digest {bytes} NOT NULL,"                       \
    " PRIMARY KEY (session, epoch, number, kind, subject));"

typedef enum sotto_round_outcome {
    SOTTO_ROUND_RUNS = 0,
    SOTTO_ROUND_RELEASED,
    SOTTO_ROUND_BURNT
} sotto_round_outcome;

/*   most          rounds that may run at once, on all replicas together
 *   SOTTO_STALE   this round was posted before
 *   SOTTO_AGAIN   so many run
 *   SOTTO_DENIED  another round has its number */
SOTTO_MUST_USE sotto_status sotto_round_store_add(sotto_db *db, const sotto_posted_round *posted,
                                                  sotto_bytes wire, uint64_t most, sotto_err *err);

/* Ids of rounds that run, in their order, `count` at most, behind `after`; NULL: from the first. */
SOTTO_MUST_USE sotto_status sotto_round_store_list(sotto_db *db, const uint8_t *after,
                                                   uint8_t (*ids)[SOTTO_ROUND_ID], size_t *count,
                                                   sotto_err *err);
/* SOTTO_MISSING: there is no such round. */
SOTTO_MUST_USE sotto_status sotto_round_store_posting(sotto_db *db, const uint8_t id[32],
                                                      sotto_bytes *wire, sotto_arena *arena,
                                                      sotto_err *err);

/* How it ended, if it did. SOTTO_MISSING as above. */
SOTTO_MUST_USE sotto_status sotto_round_store_outcome(sotto_db *db, const uint8_t id[32],
                                                      sotto_round_outcome *out, sotto_err *err);

/* A round's machine as it was stored last. */
typedef struct sotto_stored_round {
    int64_t version;
    sotto_round_outcome outcome;
    uint64_t contributions;
    sotto_bytes state, tally; /* empty: nothing was stored yet */
    sotto_message *kept;
    size_t kept_count;
    int64_t sent;  /* messages so far */
    int64_t board; /* entries so far */
} sotto_stored_round;

SOTTO_MUST_USE sotto_status sotto_round_store_load(sotto_db *db, const sotto_column_keys *keys,
                                                   const uint8_t id[32], sotto_stored_round *out,
                                                   sotto_arena *arena, sotto_err *err);

/* One step: all of it or nothing. */
typedef struct sotto_stored_step {
    const sotto_round *round;
    const uint8_t *id;
    int64_t version;          /* that the step began from */
    int64_t kept, sent;       /* messages before it */
    sotto_bytes state, tally; /* in the clear; tally empty: it is as it was stored */
    uint64_t contributions;
    const sotto_effects *effects;
    const sotto_board *board; /* with what the step put on it */
} sotto_stored_step;
/*   SOTTO_STALE   another replica has stored a step meanwhile
 *   SOTTO_DENIED  a vow stands that says something else */
SOTTO_MUST_USE sotto_status sotto_round_store_step(sotto_db *db, const sotto_column_keys *keys,
                                                   const sotto_stored_step *step,
                                                   sotto_arena *scratch, sotto_err *err);

typedef struct sotto_round_end {
    const uint8_t *id;
    int64_t version;
    sotto_round_outcome outcome;
    uint64_t contributions;
    const char *reason;
    sotto_bytes reported; /* a bit for each registered client */
    sotto_bytes blamed;   /* four bytes for each index */
    sotto_bytes sum;      /* empty: none */
} sotto_round_end;
/* The round is over: its messages, its state and its masked sum are erased. SOTTO_STALE as above. */
SOTTO_MUST_USE sotto_status sotto_round_store_end(sotto_db *db, const sotto_column_keys *keys,
                                                  const sotto_round_end *end, sotto_arena *scratch,
                                                  sotto_err *err);

/* For routes. SOTTO_MISSING: there is no such round. */
typedef struct sotto_round_view {
    sotto_round_outcome outcome;
    uint64_t contributions, registered;
    sotto_bytes reason, reported, blamed, sum;
} sotto_round_view;
SOTTO_MUST_USE sotto_status sotto_round_store_view(sotto_db *db, const sotto_column_keys *keys,
                                                   const uint8_t id[32], sotto_round_view *out,
                                                   sotto_arena *arena, sotto_err *err);

/* The messages to `receiver` from number `since` on, each with its number (8 bytes) and its length (4). What passes `most` bytes is left for
 * the next call, but for the first. */
SOTTO_MUST_USE sotto_status sotto_round_store_inbox(sotto_db *db, const uint8_t id[32],
                                                    uint32_t receiver, uint64_t since, size_t most,
                                                    sotto_bytes *out, sotto_arena *arena,
                                                    sotto_err *err);
/* Whether this very message was kept: its sender may have missed the answer. */
SOTTO_MUST_USE sotto_status sotto_round_store_has(sotto_db *db, const uint8_t id[32],
                                                  sotto_bytes wire, bool *has, sotto_err *err);

#endif
