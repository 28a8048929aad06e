/* support/recipe_maker.h - random recipes with a policy and streams, for the test that lint and devices agree.
 *
 * About half of them are acceptable; the others were spoiled in one place or two, each in a way that lint and a device
 * must both notice.
 */
#ifndef SOTTO_TESTS_SUPPORT_RECIPE_MAKER_H
#define SOTTO_TESTS_SUPPORT_RECIPE_MAKER_H

#include "sim/random.h"

typedef struct sotto_test_triple {
    char recipe[12288], policy[12288], streams[12288];
    const char *spoiled[2]; /* how; NULL: not */
} sotto_test_triple;

void sotto_test_make_triple(sotto_test_triple *out, sotto_sim_random *random);

#endif
