/* support/dap.h - random DAP messages, one for every form that travels. */
#ifndef SOTTO_TESTS_SUPPORT_DAP_H
#define SOTTO_TESTS_SUPPORT_DAP_H

#include "support/test.h"

#include "sim/random.h"
#include "sotto-vectors/dap_forms.h"

/* Up to 40 random bytes, at least `least`, from the test's arena. */
sotto_bytes sotto_test_dap_bytes(sotto_test *t, sotto_sim_random *random, size_t least);
/* An extension list without its length, in order: up to 3. */
sotto_bytes sotto_test_dap_extensions(sotto_test *t, sotto_sim_random *random);
sotto_dap_report sotto_test_dap_report(sotto_test *t, sotto_sim_random *random);

/* Encodes a random message of this form (DAP's name); fails the test if the form is none that travels. */
sotto_bytes sotto_test_dap_message(sotto_test *t, sotto_sim_random *random, const char *name,
                                   sotto_dap_profile profile);

#endif
