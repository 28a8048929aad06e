/* recipe/learning_encrypted.h - learning recipes with `"trust": "aero"`: updates are encrypted and proved, and a committee adds the noise.
 *
 * Callers:  claim, lint and explanation of learning recipes; devices with rounds (device/duties); `sotto learn run`; receipts.
 * Memory:   plain values.
 * Secrets:  none.
 *
 * Rounds of encrypted sums begin with 1, since slot 0 of every ciphertext has the round. Records begin with 0.
 */
#ifndef SOTTO_RECIPE_LEARNING_ENCRYPTED_H
#define SOTTO_RECIPE_LEARNING_ENCRYPTED_H

#include "recipe/encrypted.h"
#include "recipe/learning.h"

/* Whether its updates are added up encrypted: then sotto_learning_one_server holds, too. */
bool sotto_learning_is_encrypted(const sotto_learning *learning);
/* The number of a record's round on the server. */
static inline uint64_t sotto_learning_number(const sotto_learning *learning, uint64_t round)
{
    return round + (sotto_learning_is_encrypted(learning) ? 1 : 0);
}
/* As sotto_encrypted_plan, of all participations together. Rounds are made of it with sotto_encrypted_round, whose recipe is the head with
 * the hash of the round's record; the session is that of the head. */
SOTTO_MUST_USE sotto_status sotto_learning_encrypted_plan(sotto_encrypted *out,
                                                          const sotto_learning *learning,
                                                          sotto_err *err);
/* What the plan says of it: epsilon stays infinite where there is none. */
void sotto_learning_claim_encrypted(sotto_learning_claim *out, const sotto_learning *learning);

#endif
