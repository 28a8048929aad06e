/* device/duties/encrypted_terms.h - what a recipe of encrypted sums promises of its rounds, as terms of duties.
 *
 * Callers:  rounds.c.
 */
#ifndef SOTTO_DEVICE_DUTIES_ENCRYPTED_TERMS_H
#define SOTTO_DEVICE_DUTIES_ENCRYPTED_TERMS_H

#include "device/duties/terms.h"
#include "sotto/recipe.h"

/* Fills in all but the registry.
 *   is_one        false: the recipe is of another trust model, and nothing was looked at
 *   SOTTO_DENIED  the round is not as the recipe says, or not of the recipe's session */
SOTTO_MUST_USE sotto_status sotto_encrypted_terms(sotto_duties_terms *out, bool *is_one,
                                                  const sotto_recipe *recipe,
                                                  const sotto_round *round, sotto_err *err);

#endif
