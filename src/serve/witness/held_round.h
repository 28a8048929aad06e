/* serve/witness/held_round.h - what a witness knows of rounds whose records it holds: their terms, who is registered, and how much is held.
 *
 * Callers:  held.c.
 * Memory:   what is read is in the arena given.
 * Threads:  inside transactions of the store.
 * Secrets:  none.
 *
 * A posting has megabytes, and anybody may send a record. So the posting is taken apart once: a record costs the round's terms and a few
 * keys, and what a device has handed in is counted as it comes.
 */
#ifndef SOTTO_SERVE_WITNESS_HELD_ROUND_H
#define SOTTO_SERVE_WITNESS_HELD_ROUND_H

#include "aggregate/posting.h"
#include "db/store.h"

/* Beside the tables of SOTTO_HELD_SCHEMA. terms: the round as its posting has it; NULL: a device has to bring the posting again.
 * room: bytes of records that are held. */
#define SOTTO_HELD_ROUND_SCHEMA                                                                    \
    "CREATE TABLE held_board (round {bytes} PRIMARY KEY, ends {int} NOT NULL, terms {bytes},"      \
    " room {int} NOT NULL);"                                                                       \
    "INSERT INTO held_board (round, ends, terms, room) SELECT r.round, r.ends, NULL,"              \
    " (SELECT CAST(COALESCE(sum(length(h.record)), 0) AS BIGINT) FROM held AS h"                   \
    " WHERE h.round = r.round AND h.posted = 0) FROM held_round AS r;"                             \
    "DROP TABLE held_round;"                                                                       \
    "CREATE TABLE held_keys (round {bytes} NOT NULL, chunk {int} NOT NULL, keys {bytes} NOT NULL," \
    " PRIMARY KEY (round, chunk));"                                                                \
    "CREATE TABLE held_sender (round {bytes} NOT NULL, sender {int} NOT NULL, records {int} NOT"   \
    " NULL, bytes {int} NOT NULL, PRIMARY KEY (round, sender));"                                   \
    "INSERT INTO held_sender (round, sender, records, bytes) SELECT round, sender, count(*),"      \
    " CAST(sum(size) AS BIGINT) FROM held GROUP BY round, sender;"                                 \
    "DROP INDEX held_by_sender;"                                                                   \
    "DROP INDEX held_by_posted;"                                                                   \
    "CREATE INDEX held_missing ON held (round, posted, leaf);"

/* ---- postings ----------------------------------------------------------------------------------------------- */

/* Before a posting is decoded. *is_board: a head of this board was cosigned here; *is_known: it was brought before. */
SOTTO_MUST_USE sotto_status sotto_held_round_look(sotto_tx *tx, const uint8_t *server,
                                                  const uint8_t id[SOTTO_ROUND_ID], bool *is_board,
                                                  bool *is_known, sotto_err *err);
/* Keeps what records are judged by, and forgets rounds that were over long before `now_ms`. */
SOTTO_MUST_USE sotto_status sotto_held_round_keep(sotto_tx *tx, const sotto_posting *posting,
                                                  const sotto_round *round,
                                                  const uint8_t id[SOTTO_ROUND_ID], int64_t now_ms,
                                                  sotto_err *err);

/* ---- records ------------------------------------------------------------------------------------------------ */

/* What a record of this sender is judged by. terms: empty where the posting was not brought; key: NULL where nobody is registered there. */
typedef struct sotto_held_terms {
    sotto_bytes terms;
    const uint8_t *key;
} sotto_held_terms;
SOTTO_MUST_USE sotto_status sotto_held_round_terms(sotto_tx *tx, const uint8_t id[SOTTO_ROUND_ID],
                                                   uint32_t sender, sotto_held_terms *out,
                                                   sotto_arena *arena, sotto_err *err);

/* What one participant handed in, and bytes of all records that are held in this round. */
typedef struct sotto_held_counts {
    int64_t records, bytes, room;
} sotto_held_counts;
SOTTO_MUST_USE sotto_status sotto_held_round_counts(sotto_tx *tx, const uint8_t id[SOTTO_ROUND_ID],
                                                    uint32_t sender, sotto_held_counts *out,
                                                    sotto_err *err);
/* One more record of so many bytes, of which `body` are held. */
SOTTO_MUST_USE sotto_status sotto_held_round_add(sotto_tx *tx, const uint8_t id[SOTTO_ROUND_ID],
                                                 uint32_t sender, size_t bytes, size_t body,
                                                 sotto_err *err);
/* So many bytes are held no longer. */
SOTTO_MUST_USE sotto_status sotto_held_round_free(sotto_tx *tx, const uint8_t id[SOTTO_ROUND_ID],
                                                  size_t body, sotto_err *err);

#endif
