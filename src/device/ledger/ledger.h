/* device/ledger/ledger.h - what this device has spent, in a file that only ever grows.
 *
 *     sotto_ledger_open     closed if it is damaged, missing after its first run, or older
 *                           than a witness remembers: then nothing leaves until sotto_ledger_reset
 *     sotto_ledger_adopt    the policy's budgets; what was spent stays spent
 *     sotto_ledger_check    before any event is read
 *     sotto_ledger_spend    the spend and the sealed report, in one durable transaction; the outbox
 *                           (device/ledger/outbox.h) hands out nothing else
 *
 * Callers:  the report path; `sotto device ledger`, `why` and `forget`.
 * Memory:   table, recompute's context and witnesses' contexts are borrowed and must outlive the ledger.
 * Threads:  a ledger belongs to one thread at a time; two processes may share the file.
 * Secrets:  the outbox's input shares, and which recipes a device was asked. Reasons hold names and amounts.
 *
 * Every function below returns SOTTO_DENIED, with why, while the ledger is closed; SOTTO_IO where the disk
 * failed, and then nothing has been spent that a later call would not find.
 */
#ifndef SOTTO_DEVICE_LEDGER_H
#define SOTTO_DEVICE_LEDGER_H

#include "device/events/store.h"
#include "device/ledger/outbox.h"
#include "query/budget.h"
#include "query/vfs.h"

enum { SOTTO_LEDGER_WITNESSES = 4 };

/* Something outside the ledger's file that remembers how far it had come: a counter of the platform that
 * can't be turned back, or a mark in the event file. Generations start at 1. */
typedef struct sotto_witness {
    /* The highest generation it was raised to; 0 if never. */
    sotto_status (*read)(void *context, uint64_t *generation, sotto_err *err);
    /* Durable when it returns. A witness that only remembers that there was a ledger may ignore the rest. */
    sotto_status (*raise)(void *context, uint64_t generation, sotto_err *err);
    void *context;
} sotto_witness;

/* A mark in the event file: detects a ledger that went missing, not one that was rolled back. */
sotto_witness sotto_store_witness(sotto_store *store);

typedef struct sotto_ledger_options {
    const sotto_storage *storage; /* NULL: files of the default VFS                        */
    const char *path;             /* NULL: in memory, gone with the ledger (simulation)    */
    const sotto_witness *witnesses;
    size_t witness_count;
    struct sotto_ledger *spare; /* as sotto_store_options has it */
} sotto_ledger_options;

/* Succeeds for a closed ledger too, so that the host can ask why and reset it.
 *   SOTTO_IO, SOTTO_NO_MEMORY  it could not be read now; it may be fine
 */
SOTTO_MUST_USE sotto_status sotto_ledger_open(sotto_ledger **out,
                                              const sotto_ledger_options *options, sotto_err *err);
/* NULL is fine. */
void sotto_ledger_close(sotto_ledger *ledger);

/* As sotto_store_blank. */
SOTTO_MUST_USE bool sotto_ledger_blank(sotto_ledger *ledger);

/* NULL while it is open; else a sentence. */
const char *sotto_ledger_closed(const sotto_ledger *ledger);

/* Starts over with every budget fully spent: without a period forever, with one until the period after this
 * one. Erases the old file, waiting reports included; what can be read of its record is kept, unless it is in
 * memory. Nobody else may have the ledger open: another process that has is closed by it. If it fails or is interrupted
 * the ledger stays closed, and it can be called again.
 *   SOTTO_IO  also: the old record can't be read now, though it may be fine. Called again, it goes on without what
 *             can't be read.
 */
SOTTO_MUST_USE sotto_status sotto_ledger_reset(sotto_ledger *ledger, int64_t now, sotto_err *err);

/* Takes the budgets of a policy. A period that the last policy did not name, or named otherwise, starts now,
 * with all that is spent counted in it.
 *   SOTTO_MALFORMED  the table makes no sense; the last one stays in force
 */
SOTTO_MUST_USE sotto_status sotto_ledger_adopt(sotto_ledger *ledger,
                                               const sotto_budget_table *table,
                                               const sotto_recompute *recompute, int64_t now,
                                               sotto_err *err);

/* Would this be admitted? Writes nothing.
 *   SOTTO_DENIED  a budget says no: refusal (may be NULL) says which and why
 *   SOTTO_STALE   this round of the recipe was answered already
 */
SOTTO_MUST_USE sotto_status sotto_ledger_check(sotto_ledger *ledger, const sotto_charge *charge,
                                               int64_t now, sotto_refusal *refusal, sotto_err *err);

/* Checks again, charges the analysis and every field, writes the record and puts the report into the outbox:
 * all of it durable when it returns SOTTO_OK, or none of it. A report without a destination is put nowhere: it leaves by
 * another way (device/duties/payment.h).
 *   SOTTO_DENIED  also: there is no consent, or not the one that the answer was begun with (device/ledger/consent.h)
 *   SOTTO_STALE   also: the decision was acted on already, by whichever process */
SOTTO_MUST_USE sotto_status sotto_ledger_spend(sotto_ledger *ledger, const sotto_charge *charge,
                                               const sotto_report *report, int64_t now,
                                               sotto_refusal *refusal, sotto_err *err);

/* Silence of a device without a value reveals something too. It is charged like a report, but no report is
 * made. */
SOTTO_MUST_USE sotto_status sotto_ledger_spend_on_silence(sotto_ledger *ledger,
                                                          const sotto_charge *charge, int64_t now,
                                                          sotto_refusal *refusal, sotto_err *err);

/* What is spent in the current period. */
SOTTO_MUST_USE sotto_status sotto_ledger_spent_by_analysis(sotto_ledger *ledger, sotto_spent *out,
                                                           const char *analysis, int64_t now,
                                                           sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_ledger_spent_on_field(sotto_ledger *ledger, sotto_spent *out,
                                                        const sotto_access *field, int64_t now,
                                                        sotto_err *err);

/* ---- decisions: drawn once ------------------------------------------------------------------------ */

typedef enum sotto_choice {
    SOTTO_CHOICE_SILENT = 1, /* not sampled */
    SOTTO_CHOICE_TAKE_PART,
    SOTTO_CHOICE_DUMMY
} sotto_choice;

/* By which law was drawn, and from which slots. */
typedef struct sotto_window {
    uint64_t law; /* a sotto_participation_type; 0: not known, as before version 2 */
    double rate;
    double dummies;         /* the rate of dummies among those that do not take part */
    uint64_t slots, length; /* how many, of how many seconds each; 0: there are none */
    int64_t start;          /* of the first */
} sotto_window;

typedef struct sotto_decision {
    sotto_choice choice;
    uint64_t slot; /* of a check-in or a donation; below 2^63 */
    int64_t at;    /* when it was drawn */
    sotto_window window;
} sotto_decision;

/* Fills choice, slot and window from secret randomness. */
typedef sotto_status sotto_draw_fn(void *context, sotto_decision *out, sotto_err *err);

/* The decision that was drawn before, if there is one. */
SOTTO_MUST_USE sotto_status sotto_ledger_decided(sotto_ledger *ledger, sotto_decision *out,
                                                 bool *found, sotto_decision_scope scope,
                                                 const char *name, sotto_err *err);

/* The decision that was drawn before, or else a new one, durable before it is told.
 *   SOTTO_DENIED  also: a new one, and there is no consent, or not the one that the answer was begun with */
SOTTO_MUST_USE sotto_status sotto_ledger_decide(sotto_ledger *ledger, sotto_decision *out,
                                                sotto_decision_scope scope, const char *name,
                                                sotto_draw_fn *draw, void *context, int64_t now,
                                                sotto_err *err);

#endif
