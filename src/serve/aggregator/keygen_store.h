/* serve/aggregator/keygen_store.h - boards of key generations in the aggregator's database (aggregate/keygen/keygen.h).
 *
 * Callers:  aggregator_keygen.c, on compute threads.
 * Memory:   what is loaded is in the arena given.
 * Threads:  any, and any replica: the row of a key generation is locked while a post is added.
 */
#ifndef SOTTO_SERVE_AGGREGATOR_KEYGEN_STORE_H
#define SOTTO_SERVE_AGGREGATOR_KEYGEN_STORE_H

#include "aggregate/keygen/keygen.h"
#include "db/store.h"

/* One for an epoch: its members sign one record. */
#define SOTTO_KEYGEN_STORE_SCHEMA                                                                  \
    "CREATE TABLE keygen (id {bytes} PRIMARY KEY, session {bytes} NOT NULL, epoch {int} NOT NULL," \
    " wire {bytes} NOT NULL, step {int} NOT NULL, since {int} NOT NULL,"                           \
    " UNIQUE (session, epoch));"                                                                   \
    "CREATE TABLE keygen_post (keygen {bytes} NOT NULL, n {int} NOT NULL, step {int} NOT NULL,"    \
    " place {int} NOT NULL, wire {bytes} NOT NULL, PRIMARY KEY (keygen, n),"                       \
    " UNIQUE (keygen, step, place));"

/*   SOTTO_DENIED  another one is of this epoch. The same one again is fine. */
SOTTO_MUST_USE sotto_status sotto_keygen_store_add(sotto_db *db, const sotto_keygen *call,
                                                   sotto_bytes wire, uint64_t now_ms,
                                                   sotto_err *err);
/* SOTTO_MISSING: there is no such key generation. */
SOTTO_MUST_USE sotto_status sotto_keygen_store_call(sotto_db *db, const uint8_t id[SOTTO_KEYGEN_ID],
                                                    sotto_bytes *wire, sotto_arena *arena,
                                                    sotto_err *err);

/* A post that was checked. The last one that a step waits for opens the next step. So does the time.
 *   SOTTO_STALE  its step is over, or there is another one of this sender
 *   SOTTO_AGAIN  its step is not open yet */
SOTTO_MUST_USE sotto_status sotto_keygen_store_put(sotto_db *db, const sotto_keygen *call,
                                                   const sotto_keygen_post *post, sotto_bytes wire,
                                                   uint64_t now_ms, sotto_err *err);

/* The open step (1 byte), how many posts there are (4), and the posts from number `since` on, each with its number (8 bytes) and its
 * length (4). What passes `most` bytes is left for the next call, but for the first. */
SOTTO_MUST_USE sotto_status sotto_keygen_store_board(sotto_db *db, const sotto_keygen *call,
                                                     uint64_t since, size_t most, uint64_t now_ms,
                                                     sotto_bytes *out, sotto_arena *arena,
                                                     sotto_err *err);

#endif
