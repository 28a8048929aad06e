/* device/duties/encrypted_terms.h - what a recipe of encrypted sums promises of its rounds, as terms of duties. Here is also what the record of a
 * round of learning says of the round that was posted for it.
 *
 * Callers:  rounds.c.
 */
#ifndef SOTTO_DEVICE_DUTIES_ENCRYPTED_TERMS_H
#define SOTTO_DEVICE_DUTIES_ENCRYPTED_TERMS_H

#include "device/device_internal.h"
#include "device/duties/terms.h"

/* Fills in all but the registry. The case is a recipe of statistics, or the record of a round of learning.
 *   is_one        false: the recipe is of another trust model, and nothing was looked at
 *   SOTTO_DENIED  the round is not as the recipe says, or not of the recipe's session */
SOTTO_MUST_USE sotto_status sotto_encrypted_terms(sotto_duties_terms *out, bool *is_one,
                                                  const sotto_case *c, const sotto_round *round,
                                                  sotto_err *err);
/* Nothing is asked of statistics, which have no record.
 *   SOTTO_DENIED    it is another round than the record says, or one that the recipe does not have
 *   SOTTO_REJECTED  the recipe's owner did not sign the record */
SOTTO_MUST_USE sotto_status sotto_record_terms(const sotto_case *c, const sotto_round *round,
                                               sotto_err *err);

#endif
