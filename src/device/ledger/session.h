/* device/ledger/session.h - what all rounds of a learning recipe cost together, where nobody sees who takes part in which.
 *
 * Callers:  rounds.c; device_session.c, before it tosses a coin.
 * Memory:   as device/ledger/ledger.h.
 *
 * A theorem for secret samples averages over the coins. So its charge must not depend on them. A ledger that is charged only when a coin
 * says yes keeps other budgets where it says no. Whether the device answers others would then tell of its coins. A session is
 * charged before the first coin of the recipe is tossed, whole, to the analysis and each field, with all reports that the recipe may ask
 * for. In each period of the policy's budgets in which the device meets a round it is charged again, whatever the coin says. A field
 * that a later policy finds sensitive is charged before the next coin. So is everything where a later policy makes the session dearer.
 *
 * The zCDP of updates is kept beside it, as in rounds.h. Where a later policy does not count on hidden samples, all participations
 * are charged by zCDP with the next update, beside what the session cost.
 */
#ifndef SOTTO_DEVICE_SESSION_H
#define SOTTO_DEVICE_SESSION_H

#include "device/ledger/rounds.h"

/* Whether the recipe may be charged as a session. Either it was before, and never by zCDP since. Or no coin was tossed for any of its
 * rounds, whatever its version was. */
SOTTO_MUST_USE sotto_status sotto_session_may(sotto_ledger *ledger, bool *may,
                                              const sotto_round_charge *round, sotto_err *err);
/* Whether it ever was charged as one. */
SOTTO_MUST_USE sotto_status sotto_session_known(sotto_ledger *ledger, bool *known,
                                                const sotto_round_charge *round, sotto_err *err);
/* Whether analysis and every field have paid for it, in this period and at least as much. */
SOTTO_MUST_USE sotto_status sotto_session_paid(sotto_ledger *ledger, bool *paid,
                                               const sotto_charge *charge,
                                               const sotto_round_charge *round, int64_t now,
                                               sotto_err *err);

/* Would it be admitted? Writes nothing. What was paid is admitted while the limits hold it.
 *   SOTTO_DENIED  a budget says no: refusal says which */
SOTTO_MUST_USE sotto_status sotto_session_check(sotto_ledger *ledger, const sotto_charge *charge,
                                                const sotto_round_charge *round, int64_t now,
                                                sotto_refusal *refusal, sotto_err *err);
/* Charges whoever has not paid, in one durable transaction. Nothing is written where all have.
 *   SOTTO_DENIED  also: there is no consent */
SOTTO_MUST_USE sotto_status sotto_session_spend(sotto_ledger *ledger, const sotto_charge *charge,
                                                const sotto_round_charge *round, int64_t now,
                                                sotto_refusal *refusal, sotto_err *err);

#endif
