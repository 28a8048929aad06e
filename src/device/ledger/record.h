/* device/ledger/record.h - "what left my device": a local record that is only ever added to.
 *
 * Callers:  the ledger and the outbox write what they do, in the same transactions; the report path adds
 *           recipes seen and reasons for silence; `sotto device receipts` and `why` read.
 * Memory:   an entry handed to a callback lives until it returns.
 * Secrets:  all of it. It never leaves the device.
 *
 * No entry is changed, and an entry that was changed from outside closes the ledger at its next opening. Budgets bound
 * how many entries there are about reports, and none of those is removed. Whoever publishes recipes can cause the others
 * without end, so about SOTTO_RECORD_KEPT of them are kept. The oldest go first, but never the newest of its kind about a
 * recipe that is known. A reset begins another file with all entries that can still be read.
 *
 * The table `decisions` is not bounded: it keeps one short row for each name of a recipe or analysis that was ever drawn for.
 * A draw that was forgotten would be drawn again when the recipe comes back, and whoever publishes a recipe often enough
 * would get a yes from every device.
 */
#ifndef SOTTO_DEVICE_RECORD_H
#define SOTTO_DEVICE_RECORD_H

#include "account/numeric/decimal.h"
#include "device/ledger/outbox.h"

enum {
    SOTTO_RECORD_NOTE = 256,  /* bytes of a note that is read back                              */
    SOTTO_RECORD_KEPT = 4096, /* entries that a recipe was seen, drawn for or passed over ...    */
    SOTTO_RECORD_SLACK = 64   /* ... and these more, before the oldest go                        */
};

/* What does not apply is 0, empty or NULL. */
typedef struct sotto_record_entry {
    uint64_t number; /* 1, 2, 3 ...: given by the record */
    int64_t at;
    sotto_record_kind kind;
    const char *recipe;
    const char *analysis;
    const char *fields; /* "keyboard.age keyboard.ngram"; of LOG and FORK the log's origin */
    const char *note;
    uint64_t round; /* of LOG when its tree was cosigned */
    uint8_t report[SOTTO_REPORT_ID_SIZE];
    sotto_bytes randomised; /* of PARTIES the file, of LOG and FORK signed trees: no secrets */
    sotto_decimal epsilon, delta, local;
    uint64_t bytes;           /* of LOG when its feed is fetched next */
    const sotto_asked *asked; /* of SEEN, SPENT and DUMMY; NULL: an earlier version wrote it */
} sotto_record_entry;

/* For what happens outside the ledger: SEEN and SILENT. The ledger writes the others itself. */
SOTTO_MUST_USE sotto_status sotto_record_append(sotto_ledger *ledger,
                                                const sotto_record_entry *entry, sotto_err *err);

/* What became of a recipe's report, by the last entry about it. */
typedef struct sotto_outcome {
    sotto_record_kind
        kind; /* SPENT, DUMMY, LEFT, RESEALED, ACKNOWLEDGED or GIVEN_UP; 0: nothing was made */
    bool dummy;
    char note[SOTTO_RECORD_NOTE];
} sotto_outcome;
SOTTO_MUST_USE sotto_status sotto_record_outcome(sotto_ledger *ledger, sotto_outcome *out,
                                                 const char *recipe, sotto_err *err);
/* Whether a report or a dummy was made in any round from 1 on, of any recipe of the analysis. */
SOTTO_MUST_USE sotto_status sotto_record_answered(sotto_ledger *ledger, bool *answered,
                                                  const char *analysis, sotto_err *err);
/* When the last report of the analysis was made, or silence was paid for; *at is -1 if never. */
SOTTO_MUST_USE sotto_status sotto_record_last_answer(sotto_ledger *ledger, int64_t *at,
                                                     const char *analysis, sotto_err *err);
/* When a report last left, was acknowledged or given up, of whichever recipe; *at is -1 if never. */
SOTTO_MUST_USE sotto_status sotto_record_last_report(sotto_ledger *ledger, int64_t *at,
                                                     sotto_err *err);
/* The last entry of this kind about a recipe since the last reset: its round and note. */
SOTTO_MUST_USE sotto_status sotto_record_last(sotto_ledger *ledger, bool *found, uint64_t *round,
                                              char note[SOTTO_RECORD_NOTE], sotto_record_kind kind,
                                              const char *recipe, sotto_err *err);

/* Entries with a number above `after`, oldest first, of one recipe or with NULL of all. A status other than
 * SOTTO_OK from the callback ends it. */
typedef sotto_status sotto_record_fn(void *context, const sotto_record_entry *entry,
                                     sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_record_show(sotto_ledger *ledger, const char *recipe,
                                              uint64_t after, sotto_record_fn *show, void *context,
                                              sotto_err *err);

#endif
