/* support/prio3.h - a small Prio3 deployment in one process: clients, aggregators, and what an attacker
 * may change between them.
 *
 * Memory:   everything lives in the test's arena. Shares are writable, so that tests can tamper.
 */
#ifndef SOTTO_TESTS_SUPPORT_PRIO3_H
#define SOTTO_TESTS_SUPPORT_PRIO3_H

#include "sim/random.h"
#include "sotto/vdaf.h"
#include "support/test.h"

enum { SOTTO_TEST_MAX_SHARES = 5 };

/* One small configuration of each type, of two shares, chosen so that the last chunk is short. */
extern const sotto_prio3_config sotto_test_configs[];
extern const size_t sotto_test_config_count;

typedef struct sotto_test_prio3 {
    sotto_prio3 vdaf;
    sotto_sim_random random;
    sotto_prio3_verifier verifier; /* of the leader; see sotto_test_verifier */
} sotto_test_prio3;

sotto_test_prio3 sotto_test_prio3_of(sotto_test *t, const sotto_prio3_config *config,
                                     uint64_t seed);

/* A configuration of this type with random small parameters. */
sotto_prio3_config sotto_test_random_config(sotto_sim_random *random, sotto_prio3_type type,
                                            unsigned shares);

/* A random measurement that the type allows. */
sotto_measurement sotto_test_measurement(sotto_test *t, sotto_test_prio3 *p);

typedef struct sotto_test_report {
    sotto_measurement measurement;
    uint8_t nonce[SOTTO_PRIO3_NONCE_SIZE];
    uint8_t *rand;
    sotto_buf public_share;
    sotto_buf shares[SOTTO_TEST_MAX_SHARES];
} sotto_test_report;

/* Of a random measurement, or of the one given, with fresh randomness. */
sotto_test_report sotto_test_report_random(sotto_test *t, sotto_test_prio3 *p);
sotto_test_report sotto_test_report_of(sotto_test *t, sotto_test_prio3 *p,
                                       sotto_measurement measurement);
/* Shards again after the test has changed report->rand or report->nonce. */
void sotto_test_report_shard(sotto_test *t, sotto_test_prio3 *p, sotto_test_report *report);

/* As one aggregator receives it. */
sotto_prio3_report sotto_test_view(const sotto_test_report *report, unsigned aggregator);
sotto_prio3_verifier sotto_test_verifier(const sotto_test_prio3 *p, unsigned aggregator);

/* All aggregators on one batch. A test may change `shares` or `messages` between the steps. */
typedef struct sotto_test_round {
    size_t count;
    sotto_prio3_verification *states[SOTTO_TEST_MAX_SHARES];
    sotto_bytes *shares; /* copies of the verifier shares, by report and aggregator */
    sotto_prio3_verdict *verdicts;
    sotto_bytes *messages;
} sotto_test_round;

sotto_test_round sotto_test_round_init(sotto_test *t, const sotto_test_prio3 *p,
                                       const sotto_test_report *reports, size_t count);
void sotto_test_round_decide(sotto_test *t, const sotto_test_prio3 *p, sotto_test_round *round);
/* A report that a verdict refuses is refused by all. */
void sotto_test_round_finish(sotto_test *t, const sotto_test_prio3 *p, sotto_test_round *round);
/* The three above. */
sotto_test_round sotto_test_round_run(sotto_test *t, const sotto_test_prio3 *p,
                                      const sotto_test_report *reports, size_t count);

/* SOTTO_OK if every aggregator accepts report i, else the first refusal. */
sotto_status sotto_test_round_status(const sotto_test_prio3 *p, const sotto_test_round *round,
                                     size_t i);
/* Accumulates at each aggregator what all accepted; unshards. Returns how many that were. */
uint64_t sotto_test_round_sum(sotto_test *t, const sotto_test_prio3 *p,
                              const sotto_test_round *round, sotto_uint128 *result);
/* The sum of the accepted measurements, in the clear. */
void sotto_test_plain_sum(sotto_test *t, const sotto_test_prio3 *p, const sotto_test_round *round,
                          const sotto_test_report *reports, sotto_uint128 *result);

/* Adds 1 to the element at `index`, wrapping at the modulus: still canonical, never the same. */
void sotto_test_bump_element(const sotto_test_prio3 *p, uint8_t *elements, size_t index);
/* Overwrites the element at `index` with the modulus, the smallest encoding that is not canonical. */
void sotto_test_spoil_element(const sotto_test_prio3 *p, uint8_t *elements, size_t index);

/* Memory of the test's arena; fails the test if there is none. */
void *sotto_test_take(sotto_test *t, size_t size);
/* The bytes that one verification left: its share and its seed, for comparing runs. */
void sotto_test_same_verification(sotto_test *t, const sotto_test_prio3 *p,
                                  const sotto_prio3_verification *a,
                                  const sotto_prio3_verification *b);

#endif
