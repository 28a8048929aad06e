/* device/duties/payment.h - an answer that the ledger pays for, and that leaves by another way than the outbox: a masked vector, from the
 * journal of duties.
 *
 * Callers:  rounds.c, which pays by sotto_ledger_spend for a report without a destination.
 * Memory:   as device/ledger/ledger.h.
 */
#ifndef SOTTO_DEVICE_DUTIES_PAYMENT_H
#define SOTTO_DEVICE_DUTIES_PAYMENT_H

#include "device/ledger/ledger.h"

/* Before each time that bytes of it leave: says so in the record, once, and makes it durable, with every witness.
 *   SOTTO_DENIED  it was not paid for, or was given up; there is no consent; or the person said anything since it was paid for */
SOTTO_MUST_USE sotto_status sotto_payment_leave(sotto_ledger *ledger, const char *name, int64_t now,
                                                sotto_err *err);
/* Taken by the other side, or given up: the first of them counts. */
SOTTO_MUST_USE sotto_status sotto_payment_end(sotto_ledger *ledger, const char *name, bool taken,
                                              const char *why, int64_t now, sotto_err *err);

#endif
