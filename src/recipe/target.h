/* recipe/target.h - whether a recipe's target is known to be large.
 *
 * Callers:  lint, and so the device; explain.
 * Memory:   nothing is kept; an entry borrows the recipe's bytes.
 *
 * Whoever may ask some devices alone can ask one alone. So a policy may want a release in a public log first, whose every device met
 * the target (Talwar et al. 2024, 5.5). The log proves that everybody sees the same count. That it is true, its auditors judge by the receipt.
 */
#ifndef SOTTO_RECIPE_TARGET_H
#define SOTTO_RECIPE_TARGET_H

#include "recipe/model.h"
#include "tlog/entry.h"

enum {
    SOTTO_RELEASE_AGE = 400 * 86400
}; /* seconds from its end to the opening of a recipe that rests on it */

/* What the release says that the recipe names; nothing is verified. False: it names none, or its bytes do not parse. */
bool sotto_recipe_release(sotto_tlog_entry *out, const sotto_recipe *recipe);

/* Whether the policy lets its devices answer this recipe, which has a target. SOTTO_DENIED: no, and err says why. */
SOTTO_MUST_USE sotto_status sotto_recipe_target_check(const sotto_recipe *recipe,
                                                      const sotto_policy *policy, sotto_err *err);

#endif
