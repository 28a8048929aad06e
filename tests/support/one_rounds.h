/* tests/support/one_rounds.h - rounds of one server, as a device hears of them. */
#ifndef SOTTO_TESTS_ONE_ROUNDS_H
#define SOTTO_TESTS_ONE_ROUNDS_H

#include "sotto/rounds.h"
#include "support/epoch.h"
#include "support/test.h"

/* Posts the round, and has the device take it. */
sotto_status sotto_test_take_round(sotto_test *t, sotto_rounds *rounds, sotto_epoch *epoch,
                                   const sotto_epoch_round *round, unsigned *parts,
                                   sotto_explanation *why);
/* What the device says of a round when somebody asks. */
sotto_why sotto_test_round_why(sotto_test *t, sotto_device *device, const char *name);

#endif
