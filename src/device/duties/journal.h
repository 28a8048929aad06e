/* device/duties/journal.h - the file behind duties: one step is one transaction.
 *
 * Callers:  duties.c.
 * Memory:   what is read is in the arena given.
 */
#ifndef SOTTO_DEVICE_DUTIES_JOURNAL_H
#define SOTTO_DEVICE_DUTIES_JOURNAL_H

#include "aggregate/effects.h"
#include "aggregate/round.h"
#include "query/sqlite.h"
#include "sotto/device.h"
#include "tlog/merkle.h"

typedef struct sotto_journal {
    sqlite3 *db;
    sotto_device_host host;
    uint64_t generation;
    bool uncut;      /* something erased is still in the WAL, since somebody read */
    uint64_t raised; /* what the host's counter is known to say */
} sotto_journal;

SOTTO_MUST_USE sotto_status sotto_journal_open(sotto_journal *j,
                                               const sotto_sqlite_options *options,
                                               const sotto_device_host *host, sotto_err *err);
void sotto_journal_close(sotto_journal *j);

/* Every change is between these two. Commit syncs, and then raises the host's counter. */
SOTTO_MUST_USE sotto_status sotto_journal_begin(sotto_journal *j, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_journal_commit(sotto_journal *j, sotto_err *err);

/* Before a byte leaves: raises the host's counter, unless that was done. A failure after a commit left it behind. */
SOTTO_MUST_USE sotto_status sotto_journal_testify(sotto_journal *j, sotto_err *err);

/* Cuts the WAL where a reader delayed that, and erases what expired. */
SOTTO_MUST_USE sotto_status sotto_journal_tidy(sotto_journal *j, uint64_t now_ms, sotto_err *err);

SOTTO_MUST_USE sotto_status sotto_journal_consent(sotto_journal *j, bool *given, sotto_err *err);
/* A no erases everything but vows. */
SOTTO_MUST_USE sotto_status sotto_journal_set_consent(sotto_journal *j, bool given, sotto_err *err);

/* SOTTO_DENIED: there is another one. */
SOTTO_MUST_USE sotto_status sotto_journal_put_share(sotto_journal *j, const uint8_t session[32],
                                                    uint64_t epoch, const uint8_t share[32],
                                                    sotto_err *err);
/* SOTTO_MISSING: none, or it was erased. */
SOTTO_MUST_USE sotto_status sotto_journal_share(sotto_journal *j, const uint8_t session[32],
                                                uint64_t epoch, uint8_t share[32], sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_journal_erase_share(sotto_journal *j, const uint8_t session[32],
                                                      uint64_t epoch, sotto_err *err);

/* journal_carried.c: what the last round of this session left for the next one; empty: nothing. */
SOTTO_MUST_USE sotto_status sotto_journal_carried(sotto_journal *j, const uint8_t session[32],
                                                  sotto_bytes *out, sotto_arena *arena,
                                                  sotto_err *err);
/* This round is over: what rounds before it left is erased, if it is still there. */
SOTTO_MUST_USE sotto_status sotto_journal_erase_carried(sotto_journal *j, const sotto_round *round,
                                                        sotto_err *err);
/* The same where no next round came within 30 days. */
#define SOTTO_JOURNAL_CARRIED_MS ((uint64_t)30 * 24 * 3600 * 1000)
SOTTO_MUST_USE sotto_status sotto_journal_expire_carried(sotto_journal *j, uint64_t now_ms,
                                                         sotto_err *err);

/* A vow that belongs to no duty. SOTTO_DENIED: one stands that says something else. */
SOTTO_MUST_USE sotto_status sotto_journal_vow(sotto_journal *j, const uint8_t session[32],
                                              const sotto_vow *vow, sotto_err *err);

typedef struct sotto_journal_duty {
    int64_t n;
    uint32_t index;
    unsigned part;
    sotto_bytes posting, state, vector; /* empty: none */
    uint64_t since;                     /* first message of the inbox that was not seen */
    bool done;              /* the machine has nothing left to do; messages may still wait */
    uint64_t board;         /* first entry of the board that was not seen */
    uint64_t wake;          /* when the machine wants to be ticked; 0: at once */
    bool offered;           /* this step took the vector: it goes */
    sotto_merkle_tree tree; /* over the entries that were seen; of no size where nobody cosigns */
} sotto_journal_duty;

/* SOTTO_STALE: this part was taken in this round before. */
SOTTO_MUST_USE sotto_status sotto_journal_add(sotto_journal *j, const sotto_journal_duty *duty,
                                              const uint8_t round[SOTTO_ROUND_ID], sotto_err *err);
/* Whether this part was taken in this round, and may be over. */
SOTTO_MUST_USE sotto_status sotto_journal_holds(sotto_journal *j,
                                                const uint8_t round[SOTTO_ROUND_ID], unsigned part,
                                                bool *held, sotto_err *err);
/* The first duty behind `after`; found: false at the end. */
SOTTO_MUST_USE sotto_status sotto_journal_next(sotto_journal *j, sotto_journal_duty *duty,
                                               int64_t after, bool *found, sotto_arena *arena,
                                               sotto_err *err);
/* What a step left behind; the vector goes once the machine took it. */
SOTTO_MUST_USE sotto_status sotto_journal_step(sotto_journal *j, const sotto_journal_duty *duty,
                                               const sotto_round *round,
                                               const sotto_effects *effects, sotto_bytes state,
                                               sotto_arena *arena, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_journal_kept(sotto_journal *j, int64_t n, sotto_message **kept,
                                               size_t *count, sotto_arena *arena, sotto_err *err);
/* The first message of a duty that waits behind the row `after`, with its length before it and its vector behind it. */
SOTTO_MUST_USE sotto_status sotto_journal_waiting(sotto_journal *j, int64_t n, int64_t after,
                                                  int64_t *row, sotto_bytes *body, bool *found,
                                                  sotto_arena *arena, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_journal_sent(sotto_journal *j, int64_t row, sotto_err *err);
/* journal_handed.c: whether one of several has a message; and that it has. *all_have: the message is gone, since all of them have it. */
typedef struct sotto_journal_holder {
    uint8_t key[32]; /* a witness's own, wherever a policy lists it; zeros: the server's */
} sotto_journal_holder;
SOTTO_MUST_USE sotto_status sotto_journal_handed(sotto_journal *j, int64_t row,
                                                 const sotto_journal_holder *who, bool *has,
                                                 sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_journal_hand(sotto_journal *j, int64_t row,
                                               const sotto_journal_holder *who,
                                               const sotto_journal_holder *all, size_t count,
                                               bool *all_have, sotto_err *err);
/* The duty is over: all of it but its vows is erased. */
SOTTO_MUST_USE sotto_status sotto_journal_end(sotto_journal *j, int64_t n, sotto_err *err);

#endif
