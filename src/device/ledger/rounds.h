/* device/ledger/rounds.h - what taking part in rounds of learning costs, and how often a device may.
 *
 * Callers:  device_round.c, before it trains and when it pays; sotto_device_rho.
 * Memory:   as device/ledger/ledger.h.
 *
 * A recipe's rounds are one mechanism, of at most `participations` updates from a device, whatever the device has seen by then.
 * Its epsilon and delta are charged whole, to the analysis and each field, in the transaction that keeps the first update. So they
 * compose with every other report as if they were one. The charge is made again in each period of the policy's budgets in
 * which the device takes part. A further update in a period adds nothing to epsilon, and is a report of its own. A field that a
 * later policy finds sensitive is charged the whole with the next update.
 *
 * Where the policy counts on hidden samples, device/ledger/session.h charges the recipe before any coin, and an update costs nothing.
 *
 * Beside it, the zCDP of each update is added up for the recipe, the analysis and each field. These sums are never renewed.
 */
#ifndef SOTTO_DEVICE_ROUNDS_H
#define SOTTO_DEVICE_ROUNDS_H

#include "device/ledger/ledger.h"
#include "sotto/learn.h"

enum {
    SOTTO_ROUND_RECIPE = 120, /* bytes of a recipe's name: a round's has up to seven more */
    SOTTO_CHECK_ROUNDS = 4    /* of a refusal: participations or separation               */
};

/* One update. */
typedef struct sotto_round_charge {
    const uint8_t *hash; /* SHA-256 of the recipe: SOTTO_ASKED_DIGEST bytes             */
    const char *recipe;  /* its own name, without the round                             */
    uint64_t round;
    uint64_t participations, separation;
    int64_t opens;     /* of the recipe                                                 */
    sotto_decimal rho; /* of one update, rounded up                                     */
    /* Of all participations together, with so many honest reports in a cohort. */
    double epsilon;
    uint64_t honest;
    bool
        session; /* charged by session.h: charge and epsilon are of all rounds, taken part in or not     */
    bool
        turnless; /* judged before it is known whether it has a turn: neither number above is asked for    */
} sotto_round_charge;

/* Would this be admitted? Writes nothing. `charge` is of all participations together; its recipe is the round's name.
 *   SOTTO_DENIED  a budget says no, or the recipe's own numbers do: refusal says which
 *   SOTTO_STALE   this round was answered already
 */
SOTTO_MUST_USE sotto_status sotto_ledger_check_round(sotto_ledger *ledger,
                                                     const sotto_charge *charge,
                                                     const sotto_round_charge *round, int64_t now,
                                                     sotto_refusal *refusal, sotto_err *err);

/* As sotto_ledger_spend. */
SOTTO_MUST_USE sotto_status sotto_ledger_spend_round(sotto_ledger *ledger,
                                                     const sotto_charge *charge,
                                                     const sotto_round_charge *round,
                                                     const sotto_report *report, int64_t now,
                                                     sotto_refusal *refusal, sotto_err *err);

/* As sotto_device_rho. */
SOTTO_MUST_USE sotto_status sotto_ledger_rho(sotto_ledger *ledger, sotto_rho_line_fn *show,
                                             void *context, sotto_err *err);

#endif
