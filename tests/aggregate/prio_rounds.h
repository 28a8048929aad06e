/* tests/aggregate/prio_rounds.h - rounds of Prio3 on a network with faults, beside those of machines (rounds.h).
 *
 * Two servers verify and add up by the method's batches and tallies. After a crash they know what they had stored.
 */
#ifndef SOTTO_TESTS_AGGREGATE_PRIO_ROUNDS_H
#define SOTTO_TESTS_AGGREGATE_PRIO_ROUNDS_H

#include "support/test.h"

/* Sums are exact, with a report whose proof does not hold. */
void prio_sums(sotto_test *t);
void prio_least(sotto_test *t);
/* Each server in each of its steps: the step is lost, or what it says. */
void prio_crashes(sotto_test *t);
/* SOTTO_CHAOS_ROUNDS: so many schedules. */
void prio_storm(sotto_test *t);
void prio_duplicates(sotto_test *t);

#endif
