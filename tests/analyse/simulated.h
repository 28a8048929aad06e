/* tests/analyse/simulated.h - batches whose truth is known, drawn from a seed. */
#ifndef SOTTO_TESTS_ANALYSE_SIMULATED_H
#define SOTTO_TESTS_ANALYSE_SIMULATED_H

#include "noise/noise.h"
#include "noise/randomizer.h"
#include "sim/random.h"
#include "sotto/analyse.h"
#include "support/recipes.h"

/* The example's randomizer replaced by this one. */
#define SYMMETRIC "\"type\": \"one-hot\", \"form\": \"symmetric\", \"epsilon_local\": 2.0"
#define CHOICE    "\"type\": \"choice\", \"epsilon_local\": 4.0"
#define SUBSET    "\"type\": \"subset\", \"epsilon_local\": 2.0"

typedef struct sotto_simulated {
    const sotto_recipe *recipe;
    sotto_randomizer randomizer;
    sotto_noise noise; /* of one server */
    size_t entries;    /* of a report */
    uint64_t reports;
    uint64_t *truth;     /* one for each bin, and "no value" behind the last */
    sotto_uint128 *sums; /* one for each entry of a report                   */
} sotto_simulated;

/* What the reports would be: `randomizer` is one of the above or NULL for the example's own. The truth falls off from
 * bin to bin, most bins have nobody, and some people have no value. */
void sotto_simulated_init(sotto_test *t, sotto_simulated *s, const char *randomizer,
                          uint64_t reports);
/* Sums of bits, each drawn by its chance: fast. For randomizers whose bits are independent. */
void sotto_simulated_draw(sotto_simulated *s, sotto_sim_random *random);
/* Sums of whole reports, by the randomizer itself. */
void sotto_simulated_run(sotto_test *t, sotto_simulated *s, sotto_sim_random *random);
/* Has the recipe ask for noise of this sigma by servers, in place of its randomizer; sums get it by sotto_simulated_add_noise,
 * that of both. */
void sotto_simulated_noisy(sotto_test *t, sotto_simulated *s, unsigned sigma);
void sotto_simulated_add_noise(sotto_test *t, sotto_simulated *s, sotto_sim_random *random);
void sotto_simulated_estimate(sotto_test *t, const sotto_simulated *s, sotto_result *result);

#endif
