/* sotto/view.h - answers, receipts, accounts and ledgers as text, JSON, CSV, SVG or HTML.
 *
 * Callers:  `sotto collect`, `sotto demo`, `sotto budget`, `sotto device`; an analyst's own program.
 * Memory:   nothing is kept; what is shown is borrowed for the call. An answer sorts its bins in the caller's arena.
 * Threads:  nothing is shared.
 * Secrets:  none: everything here was released, or is a device's own.
 *
 * The library prints nothing: a view hands its text to a function of the caller, piece by piece.
 *
 *                text   JSON        CSV   SVG                                        HTML
 *     answer     yes    indented    yes   bars or marks with error bars              all of it in one page
 *     receipt    yes    indented    -     -                                          -
 *     account    yes    one line    -     -                                          -
 *     ledger     yes    one line    -     -                                          -
 *
 * A view without the format it is asked for is SOTTO_DENIED, and nothing is written.
 *
 * JSON, SVG and HTML are UTF-8 whatever a recipe's labels hold, and characters that turn text around are written as \u202e there and
 * in text. Reals are the shortest decimal that reads back as the same double,
 * in every locale; null stands for what is not known. Members keep their order, and new ones may join them. SVG and HTML hold no
 * script, and ask for no other file. CSV is quoted by RFC 4180, and its lines end with a line feed. A label
 * that a spreadsheet would run as a formula has an apostrophe before it.
 */
#ifndef SOTTO_VIEW_H
#define SOTTO_VIEW_H

#include "sotto/analyse.h"
#include "sotto/base.h"
#include "sotto/device.h"
#include "sotto/privacy.h"
#include "sotto/recipe.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sotto_view_format {
    SOTTO_VIEW_TEXT = 1,
    SOTTO_VIEW_JSON,
    SOTTO_VIEW_CSV,
    SOTTO_VIEW_SVG,
    SOTTO_VIEW_HTML
} sotto_view_format;

/* Takes the next piece of text. Any status but SOTTO_OK ends the view, which returns it. */
typedef sotto_status (*sotto_view_write)(void *context, sotto_bytes text, sotto_err *err);

/* How something is shown, and where. */
typedef struct sotto_view {
    sotto_view_format format;
    sotto_view_write write;
    void *context;
    size_t most;  /* bars of a text, SVG or HTML, of the largest counts; 0: all */
    bool colours; /* of a text: it goes to a terminal that knows ANSI codes and UTF-8 */
} sotto_view;

/* Appends to a buffer, which must outlive the view.
 * Where it is too small, a view is SOTTO_TOO_LARGE, and leaves the buffer as it was. */
SOTTO_API sotto_view sotto_view_into(sotto_buf *out, sotto_view_format format);

/* ---- answers ------------------------------------------------------------------------------------------- */

/* Of devices and an answer that somebody made up for a trial. */
typedef struct sotto_answer_trial {
    uint64_t devices, seconds;
    uint64_t answered;                    /* reports that should count                     */
    uint64_t tampered, replayed, forged;  /* what hostile devices sent                     */
    double epsilon_left, epsilon_allowed; /* of each device's budget for this analysis      */
} sotto_answer_trial;

/* Where the recipe stands on a public log, for HTML: of a proof that was verified. */
typedef struct sotto_answer_log {
    const char *name;  /* of the log, as the recipe and the policy call it */
    uint64_t index;    /* of the entry                                     */
    uint64_t size;     /* of the tree that was signed                      */
    size_t witnesses;  /* that cosigned it, at least                       */
    sotto_bytes proof; /* c2sp.org/tlog-proof                              */
} sotto_answer_log;

/* From sotto_result_estimate and sotto_receipt_of; the rest may be NULL. */
typedef struct sotto_answer_view {
    const sotto_recipe *recipe;
    const sotto_result *result;
    const sotto_receipt *receipt;
    const sotto_result_check *check; /* NULL: nobody knows the truth                  */
    const uint64_t *truth;           /* one for each of the result's bins; NULL likewise */
    const sotto_answer_trial *trial; /* for JSON                                      */
    const sotto_answer_log *log;     /* for HTML                                      */
    const char *by; /* text, CSV and SVG show the bins of this column of several; NULL: all bins  */
} sotto_answer_view;

/* SOTTO_MISSING: the bins have no column of this name. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_view_answer(const sotto_view *view,
                                                        const sotto_answer_view *answer,
                                                        sotto_arena *arena, sotto_err *err);

SOTTO_API SOTTO_MUST_USE sotto_status sotto_view_receipt(const sotto_view *view,
                                                         const sotto_receipt *receipt,
                                                         sotto_err *err);

/* ---- accounts ------------------------------------------------------------------------------------------ */

/* A question to the accountant, and what came of it. */
typedef struct sotto_account_view {
    const sotto_question *question;
    const sotto_answer *answer; /* NULL: it was not answered */
    sotto_status refused;       /* then why, with a reason ... */
    const char *reason;
    const char *hint; /* ... and a way out, or NULL */
    bool asks_delta;  /* the answer is a delta, at this epsilon */
    double epsilon;   /* else it is an epsilon, at the question's delta */
    double seconds;   /* that the answer took */
    size_t number;    /* in a list of questions, from 1; 0: there is none. For JSON */
    bool has_claim;   /* somebody says that epsilon is this ... */
    double claim;
    const sotto_answer *claim_delta; /* ... which is true at this delta; NULL: not known */
} sotto_account_view;

SOTTO_API SOTTO_MUST_USE sotto_status sotto_view_account(const sotto_view *view,
                                                         const sotto_account_view *account,
                                                         sotto_err *err);

/* One line of what a device has spent: call it from sotto_device_ledger. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_view_ledger(const sotto_view *view,
                                                        const sotto_budget_line *line,
                                                        sotto_err *err);

#ifdef __cplusplus
}
#endif

#endif
