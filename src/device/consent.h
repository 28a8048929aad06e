/* device/consent.h - what the person said last, as the record has it.
 *
 * Callers:  the device's verbs.
 *
 * Each yes and each no is an entry of the record, so a person can see when they said what, and an entry that was
 * changed behind the ledger's back closes the ledger. A new ledger has none: the answer is then no.
 */
#ifndef SOTTO_DEVICE_CONSENT_H
#define SOTTO_DEVICE_CONSENT_H

#include "device/ledger.h"

SOTTO_MUST_USE sotto_status sotto_consent_get(sotto_ledger *ledger, bool *given, sotto_err *err);
/* Durable when it returns; saying the same again adds no entry. */
SOTTO_MUST_USE sotto_status sotto_consent_set(sotto_ledger *ledger, bool given, int64_t now,
                                              sotto_err *err);

#endif
