/* sotto-golden/golden.h - one row of reference numbers: what is asked, what we answer, how it is judged.
 *
 * A format is a header line and a function that answers a row. The function sees the row's input columns
 * through sotto_golden_number and its kin; it never reads `value`, so an answer can't lean on it.
 */
#ifndef SOTTO_GOLDEN_GOLDEN_H
#define SOTTO_GOLDEN_GOLDEN_H

#include "account/numeric/bound.h"
#include "support/csv.h"

typedef struct sotto_golden_row {
    const sotto_csv *csv;
    const sotto_csv_row *fields;
} sotto_golden_row;

typedef enum sotto_golden_nature {
    SOTTO_GOLDEN_CLAIM,   /* eps, delta, sigma, RDP: erring upwards is safe */
    SOTTO_GOLDEN_COUNT,   /* neither side is safe: judged as a formula      */
    SOTTO_GOLDEN_DECISION /* judged by its words                          */
} sotto_golden_nature;

typedef struct sotto_golden_answer {
    sotto_golden_nature nature;
    bool refused;      /* a precondition failed; the reason says which */
    sotto_bound value; /* a decision: 1 is allow, 0 deny               */
    bool tiny;         /* value is its logarithm: it is below what a double holds */
    const char *decision;
    char reason[160]; /* of a refusal or a decision                     */
} sotto_golden_answer;

typedef struct sotto_golden_format {
    const char *name;
    const char *header;
    /* SOTTO_MISSING, naming it: no such quantity is known here. SOTTO_MALFORMED: the row is. */
    sotto_status (*answer)(sotto_golden_answer *out, const sotto_golden_row *row, sotto_err *err);
} sotto_golden_format;

/* One file each. */
extern const sotto_golden_format sotto_golden_allocation, sotto_golden_budget, sotto_golden_checkin,
    sotto_golden_composition, sotto_golden_discrete, sotto_golden_gaussian, sotto_golden_histogram,
    sotto_golden_seeds, sotto_golden_sgm_eps, sotto_golden_sgm_rdp, sotto_golden_shuffle,
    sotto_golden_symohe;

/* ---- reading a row ---------------------------------------------------------------------------- */

/* "" if there is no such column: a format that was recognised has all of its own. */
const char *sotto_golden_text(const sotto_golden_row *row, const char *column);
bool sotto_golden_is(const sotto_golden_row *row, const char *column, const char *text);
SOTTO_MUST_USE sotto_status sotto_golden_number(double *out, const sotto_golden_row *row,
                                                const char *column, sotto_err *err);
/* A whole number from 0 to 10^18. */
SOTTO_MUST_USE sotto_status sotto_golden_count(uint64_t *out, const sotto_golden_row *row,
                                               const char *column, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_golden_count_of(uint64_t *out, const char *text, const char *what,
                                                  sotto_err *err);

/* ---- answering -------------------------------------------------------------------------------- */

/* What an accounting function returned, as an answer: its refusals become refusals, while a lack of memory or a
 * bug stays an error. */
SOTTO_MUST_USE sotto_status sotto_golden_take(sotto_golden_answer *out, sotto_bound value,
                                              sotto_status status, sotto_err *err);

/* The same for a function that returned a logarithm. */
SOTTO_MUST_USE sotto_status sotto_golden_take_log(sotto_golden_answer *out, sotto_bound logarithm,
                                                  sotto_status status, sotto_err *err);

/* e^x of a logarithm, outward. */
sotto_bound sotto_golden_exp(sotto_bound logarithm);

/* The column `delta` as a logarithm. SOTTO_MALFORMED: it is no number; *range is not SOTTO_OK: it is none that can
 * be a delta, which is a refusal. */
SOTTO_MUST_USE sotto_status sotto_golden_log_delta(double *out, sotto_status *range,
                                                   const sotto_golden_row *row, const char *column,
                                                   sotto_err *err);

/* SOTTO_MISSING, naming what the row asks for. */
SOTTO_MUST_USE sotto_status sotto_golden_unknown(const char *what, const char *name,
                                                 sotto_err *err);

/* ---- judging ---------------------------------------------------------------------------------- */

typedef enum sotto_golden_verdict {
    SOTTO_GOLDEN_PASSED,
    SOTTO_GOLDEN_FAILED,
    SOTTO_GOLDEN_SKIPPED
} sotto_golden_verdict;

/* By the row's kind, value and rel_tol; `why` says what was wrong. */
sotto_golden_verdict sotto_golden_judge(const sotto_golden_answer *answer,
                                        const sotto_golden_row *row, sotto_err *why);

#endif
