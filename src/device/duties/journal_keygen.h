/* device/duties/journal_keygen.h - key generations in the journal: a post is stored before it leaves, one for each step, ever.
 *
 * Callers:  keygen_duty.c.
 * Memory:   what is read is in the arena given.
 * Secrets:  the seed, from which everything that this device deals is drawn; erased with the end.
 */
#ifndef SOTTO_DEVICE_DUTIES_JOURNAL_KEYGEN_H
#define SOTTO_DEVICE_DUTIES_JOURNAL_KEYGEN_H

#include "aggregate/keygen/keygen.h"
#include "device/duties/journal.h"

typedef struct sotto_journal_keygen {
    int64_t n;
    uint8_t id[SOTTO_KEYGEN_ID];
    uint32_t index;
    sotto_bytes call;
    uint8_t seed[SOTTO_KEYGEN_SEED];
    uint64_t since; /* first post of the board that was not seen */
    unsigned step;  /* that the server said was open */
} sotto_journal_keygen;

/* A post of the board, as it came. */
typedef struct sotto_journal_post {
    unsigned step;
    uint32_t place;
    sotto_bytes wire;
} sotto_journal_post;

/* With its vows, in one transaction. SOTTO_STALE: it was joined before. SOTTO_DENIED: a vow stands. */
SOTTO_MUST_USE sotto_status sotto_journal_keygen_add(sotto_journal *j,
                                                     const sotto_journal_keygen *keygen,
                                                     const uint8_t session[32],
                                                     const sotto_vow *vows, size_t count,
                                                     sotto_err *err);
/* The first one behind `after`; found: false at the end. */
SOTTO_MUST_USE sotto_status sotto_journal_keygen_next(sotto_journal *j, sotto_journal_keygen *out,
                                                      int64_t after, bool *found,
                                                      sotto_arena *arena, sotto_err *err);
/* Posts of the board that were checked, with the new `since` and `step`. The first of a place in a step stays: a server that
 * shows a post again, or another one, takes no room. */
SOTTO_MUST_USE sotto_status sotto_journal_keygen_see(sotto_journal *j,
                                                     const sotto_journal_keygen *keygen,
                                                     const sotto_journal_post *posts, size_t count,
                                                     sotto_err *err);
/* Everything seen and said so far, on a board. */
SOTTO_MUST_USE sotto_status sotto_journal_keygen_board(sotto_journal *j, int64_t n,
                                                       sotto_keygen_board *board,
                                                       sotto_arena *arena, sotto_err *err);
/* SOTTO_DENIED: something else was said in this step. */
SOTTO_MUST_USE sotto_status sotto_journal_keygen_say(sotto_journal *j, int64_t n, unsigned step,
                                                     sotto_bytes wire, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_journal_keygen_said(sotto_journal *j, int64_t n, unsigned step,
                                                      bool *said, sotto_err *err);
/* The first post that was not acknowledged yet. */
SOTTO_MUST_USE sotto_status sotto_journal_keygen_waiting(sotto_journal *j, int64_t n,
                                                         unsigned *step, sotto_bytes *wire,
                                                         bool *found, sotto_arena *arena,
                                                         sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_journal_keygen_sent(sotto_journal *j, int64_t n, unsigned step,
                                                      sotto_err *err);
/* All of it but its vows is erased. */
SOTTO_MUST_USE sotto_status sotto_journal_keygen_end(sotto_journal *j, int64_t n, sotto_err *err);

#endif
