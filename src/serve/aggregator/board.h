/* serve/aggregator/board.h - the board of a round: records that everybody reads, in one order.
 *
 * Callers:  running.c puts what participants and the machine say on it; a route hands it out.
 * Memory:   entries of a step are in its arena.
 * Threads:  a board belongs to its round's lock; what is read comes from the database.
 *
 * A record becomes an entry in the step that takes it, with the next number, and the server's machine reads it in that step. So the
 * board and what the machine made of it are stored together. Entries stay when the round is over: a complaint is evidence. What is
 * for members alone then goes, and its hash stays.
 */
#ifndef SOTTO_SERVE_AGGREGATOR_BOARD_H
#define SOTTO_SERVE_AGGREGATOR_BOARD_H

#include "aggregate/posting.h"
#include "db/store.h"

#define SOTTO_BOARD_STORE_SCHEMA                                                                   \
    "CREATE TABLE board (round {bytes} NOT NULL, n {int} NOT NULL, sender {int} NOT NULL,"         \
    " digest {bytes} NOT NULL, wire {bytes} NOT NULL, excerpt {bytes}, PRIMARY KEY (round, n));"   \
    "CREATE INDEX board_by_digest ON board (round, digest);"                                       \
    "CREATE INDEX board_by_sender ON board (round, sender);"

#define SOTTO_BOARD_SENDER_SCHEMA                                                                  \
    "CREATE TABLE board_sender (round {bytes} NOT NULL, sender {int} NOT NULL, records {int} NOT"  \
    " NULL, bytes {int} NOT NULL, PRIMARY KEY (round, sender));"                                   \
    "INSERT INTO board_sender (round, sender, records, bytes) SELECT round, sender, count(*),"     \
    " CAST(sum(length(wire)) AS BIGINT) FROM board GROUP BY round, sender;"                        \
    "DROP INDEX board_by_sender;"

/* What one participant may put on a board. */
enum { SOTTO_BOARD_MOST_RECORDS = 1100 };
#define SOTTO_BOARD_MOST_BYTES ((uint64_t)64 << 20)

typedef struct sotto_board_entry {
    struct sotto_board_entry *next;
    uint32_t from;
    uint8_t digest[32];        /* of the record: its leaf in the board's tree (excerpt.h) */
    sotto_bytes wire, excerpt; /* messages that bring it; no excerpt: all of it is for everybody */
} sotto_board_entry;

typedef struct sotto_board {
    const sotto_kind *kind; /* that brings entries; NULL: the method has no board */
    int64_t count;          /* of entries */
    sotto_board_entry *first, **last;
} sotto_board;

void sotto_board_init(sotto_board *board, const sotto_method *method);
/* A step begins: what was put on it is stored, or forgotten. */
void sotto_board_begin(sotto_board *board);

/* Puts a record on the board, and has the machine read it. */
SOTTO_MUST_USE sotto_status sotto_board_put(sotto_board *board, const sotto_posted_round *posted,
                                            const sotto_message *record, sotto_machine *machine,
                                            sotto_effects *effects, sotto_err *err);
/* The same of everything that the machine wants there: it is taken out of the effects. */
SOTTO_MUST_USE sotto_status sotto_board_put_all(sotto_board *board,
                                                const sotto_posted_round *posted,
                                                sotto_machine *machine, sotto_effects *effects,
                                                sotto_err *err);
/* Whether a participant may put this record there.
 *   witnesses         how many have a place for this participant beside the board's; 0: no witness demands it
 *   known             it is there already: its sender missed the answer
 *   SOTTO_TOO_LARGE   it has said enough */
SOTTO_MUST_USE sotto_status sotto_board_admit(const sotto_board *board, sotto_db *db,
                                              const uint8_t id[SOTTO_ROUND_ID], uint32_t from,
                                              sotto_bytes record, unsigned witnesses, bool *known,
                                              sotto_err *err);

/* ---- in the database ------------------------------------------------------------------------------------ */

SOTTO_MUST_USE sotto_status sotto_board_store(sotto_tx *tx, const uint8_t id[SOTTO_ROUND_ID],
                                              const sotto_board *board, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_board_store_count(sotto_tx *tx, const uint8_t id[SOTTO_ROUND_ID],
                                                    int64_t *count, sotto_err *err);
/* The round is over. */
SOTTO_MUST_USE sotto_status sotto_board_store_end(sotto_tx *tx, const uint8_t id[SOTTO_ROUND_ID],
                                                  sotto_err *err);

typedef struct sotto_board_said {
    bool has; /* this very record */
    uint64_t records, bytes;
} sotto_board_said;
SOTTO_MUST_USE sotto_status sotto_board_store_said(sotto_db *db, const uint8_t id[SOTTO_ROUND_ID],
                                                   uint32_t from, const uint8_t digest[32],
                                                   sotto_board_said *out, sotto_err *err);

/* Leaves of the board's tree from number `since` on, 32 bytes each. */
SOTTO_MUST_USE sotto_status sotto_board_store_leaves(sotto_db *db, const uint8_t id[SOTTO_ROUND_ID],
                                                     uint64_t since, const uint8_t **leaves,
                                                     size_t *count, sotto_arena *arena,
                                                     sotto_err *err);

/* The message that brings a record, as this reader is shown it: the one that was given, where that is all of it. */
SOTTO_MUST_USE sotto_status sotto_board_cut(sotto_bytes *out, const sotto_posted_round *posted,
                                            uint32_t reader, sotto_bytes wire, sotto_arena *arena,
                                            sotto_err *err);
/* Whether an excerpt that the board keeps shows this reader what is for it, and no less: nothing of the body, most often. */
bool sotto_board_is_for(const sotto_posted_round *posted, uint32_t reader, sotto_bytes excerpt);
/* Entries from number `since` on, as messages of an inbox (aggregate/inbox.h); most: as sotto_round_store_inbox.
 *   reader  registry index of a member, SOTTO_TO_EVERYBODY for all others, SOTTO_TO_BOARD for records as they are
 *   posted  of a member's round; NULL: it is over, and what was for members alone is gone */
SOTTO_MUST_USE sotto_status sotto_board_store_read(sotto_db *db, const uint8_t id[SOTTO_ROUND_ID],
                                                   uint64_t since, uint32_t reader,
                                                   const sotto_posted_round *posted, size_t most,
                                                   sotto_bytes *out, sotto_arena *arena,
                                                   sotto_err *err);

#endif
