/* device/ledger/consent.h - what the person said last, as the record has it.
 *
 * Callers:  the device's verbs; the ledger and the outbox, before anything is paid for or leaves.
 *
 * Each yes, each no and each wish to be forgotten is an entry of the record, so a person can see when they said what.
 * An entry that was changed without the ledger closes the ledger. A new ledger has none: the answer is then no.
 * Another process of the same device may add one at any moment, so no caller keeps what it read. Consent is read
 * again inside every transaction that pays, and before every report that leaves.
 */
#ifndef SOTTO_DEVICE_CONSENT_H
#define SOTTO_DEVICE_CONSENT_H

#include "device/ledger/ledger.h"

SOTTO_MUST_USE sotto_status sotto_consent_get(sotto_ledger *ledger, bool *given, sotto_err *err);
/* Durable when it returns SOTTO_OK; saying the same again adds no entry. A no that could not be written still holds
 * in this process. A yes erases what waited under a no. */
SOTTO_MUST_USE sotto_status sotto_consent_set(sotto_ledger *ledger, bool given, int64_t now,
                                              sotto_err *err);
/* Writes a no that could not be written when it was said. */
SOTTO_MUST_USE sotto_status sotto_consent_settle(sotto_ledger *ledger, int64_t now, sotto_err *err);
/* The person had events erased, of this stream or with NULL of all: no answer that was begun before is paid for. */
SOTTO_MUST_USE sotto_status sotto_consent_forget(sotto_ledger *ledger, const char *stream,
                                                 int64_t now, sotto_err *err);

/* Before an answer is begun: from now on sotto_consent_check compares with what the person has said so far. */
SOTTO_MUST_USE sotto_status sotto_consent_hold(sotto_ledger *ledger, bool *given, sotto_err *err);

/* ---- inside a transaction; outside of one it is as of the last sotto_ledger_refresh ---- */

SOTTO_MUST_USE sotto_status sotto_consent_read(sotto_ledger *ledger, bool *given, sotto_err *err);
/* SOTTO_DENIED: there is no consent, or the person said anything since the last hold, even yes again. Without a hold
 * only consent is checked. */
SOTTO_MUST_USE sotto_status sotto_consent_check(sotto_ledger *ledger, sotto_err *err);
/* For what was paid for by the entry of this number. SOTTO_DENIED: the same since then. */
SOTTO_MUST_USE sotto_status sotto_consent_check_since(sotto_ledger *ledger, int64_t paid,
                                                      sotto_err *err);

#endif
