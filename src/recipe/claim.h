/* recipe/claim.h - what a recipe may claim: every number is recomputed, none is taken from the
 * recipe. */
#ifndef SOTTO_RECIPE_CLAIM_H
#define SOTTO_RECIPE_CLAIM_H

#include "account/claims.h"
#include "recipe/content.h"
#include "sotto/lint.h"

/* Epsilon of an answer in which this many reports are honest, at log_delta, rounded up, and the theorem it is by: that of
 * whoever adds the noise. SOTTO_BY_CROWD without split trust has none but the local one.
 *   SOTTO_DENIED  nobody is honest, or so little noise has no epsilon at this delta */
SOTTO_MUST_USE sotto_status sotto_recipe_cohort_epsilon(double *out, const char **theorem,
                                                        const sotto_recipe *recipe,
                                                        const sotto_report_content *content,
                                                        uint64_t honest, double log_delta,
                                                        sotto_err *err);
/* The recipe's delta for the above, rounded down. */
double sotto_recipe_log_delta(const sotto_recipe *recipe);

/* The smallest cohort whose epsilon at the recipe's delta is at most the recipe's; 0: none up to 10^9. */
SOTTO_MUST_USE sotto_status sotto_recipe_smallest_cohort(uint64_t *out, const sotto_recipe *recipe,
                                                         const sotto_report_content *content,
                                                         sotto_decimal honest, sotto_err *err);
/* The smallest sigma of whole thousandths, or above 60,000 of whole numbers, with the same; 0: none up to 10^6, or by
 * SOTTO_BY_CROWD. */
SOTTO_MUST_USE sotto_status sotto_recipe_smallest_sigma(double *out, const sotto_recipe *recipe,
                                                        uint64_t honest, sotto_err *err);
/* Says it where a mistake is that the recipe claims too little. */
SOTTO_MUST_USE sotto_status sotto_recipe_say_sigma(sotto_mistakes *mistakes,
                                                   const sotto_recipe_claim *claim,
                                                   const sotto_recipe *recipe, sotto_err *err);

/* The proof that a report carries by the method that the trust model names, and the sizes that follow.
 *   SOTTO_DENIED  it names no method of two servers */
SOTTO_MUST_USE sotto_status sotto_recipe_vdaf(sotto_vdaf_config *config, sotto_vdaf_sizes *sizes,
                                              sotto_trust trust,
                                              const sotto_report_content *content, sotto_err *err);
/* Bytes of a DAP report with both shares sealed to X25519 keys and no extensions.
 *   admitted  with the extensions of a token of type 2 (dap/admission.h) */
size_t sotto_recipe_report_bytes(const sotto_vdaf_sizes *sizes, bool admitted);
/* What a report that passes its proof can do in place of another: how far it moves a sum, in the answer's units, and how
 * many sums it moves. Both bound what happens, not what happens on average. */
double sotto_recipe_liar(const sotto_report_content *content);
uint64_t sotto_recipe_liar_sums(const sotto_report_content *content);
/* Chance that an honest report has more bits set than its proof allows. */
double sotto_recipe_miss(const sotto_randomizer *r);

/* Of a cohort, where no policy says otherwise: half. */
#define SOTTO_HONEST_UNSAID ((sotto_decimal){500000000000})

/* One report of it, by its probabilities. */
SOTTO_MUST_USE sotto_status sotto_recipe_law(sotto_report_law *out, const sotto_randomizer *r,
                                             sotto_err *err);

/* Adds what taking part at random gains, or why nothing is claimed for it. The recipe must hide who takes part by a relay, tokens
 * and a log, and a population must be stated.
 *   population  devices that might take part in one task, as operators state it; 0: not stated */
SOTTO_MUST_USE sotto_status sotto_recipe_claim_sampling(sotto_recipe_claim *out,
                                                        const sotto_recipe *recipe,
                                                        uint64_t population, sotto_err *err);

/* Everything else at once. */
SOTTO_MUST_USE sotto_status sotto_recipe_claim_compute(sotto_recipe_claim *out,
                                                       const sotto_recipe *recipe,
                                                       sotto_decimal honest, sotto_err *err);

/* sotto_recipe_lint without the query, which a device compiles over its own streams. */
SOTTO_MUST_USE sotto_status sotto_recipe_lint_terms(sotto_recipe_claim *claim,
                                                    const sotto_recipe *recipe,
                                                    const sotto_policy *policy,
                                                    sotto_mistakes *mistakes, sotto_err *err);

/* The finest precision, in seconds, of a report's time where a relay is to hide who made it. Requests to a gateway tell the
 * minute, too (device/oblivious.c). */
enum { SOTTO_HIDDEN_PRECISION = 60 };

#endif
