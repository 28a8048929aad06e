/* support/pine.h - a PINE report from client to verdict, honest or forged.
 *
 * The forger is support/pine_forger.h.
 */
#ifndef SOTTO_TESTS_SUPPORT_PINE_H
#define SOTTO_TESTS_SUPPORT_PINE_H

#include "sim/random.h"
#include "support/pine_forger.h"
#include "support/prio3.h"
#include "vdaf/pine/pine.h"

typedef struct sotto_test_pine {
    sotto_pine pine;
    sotto_bytes context;
    sotto_sim_random random;
    uint8_t verify_key[SOTTO_PINE_MAX_SEED];
} sotto_test_pine;

typedef struct sotto_test_pine_report {
    uint8_t nonce[SOTTO_PINE_NONCE];
    uint8_t *rand;
    sotto_pine_report shares;
    uint8_t *out[2];
    uint8_t *verifier[2];
    sotto_pine_state state[2];
} sotto_test_pine_report;

/* `checks` of 0 means: 100 of 100, alpha 8.7, and chunks that fit the dimension. */
sotto_test_pine sotto_test_pine_of(sotto_test *t, sotto_pine_config config, uint64_t seed);
/* Room for a report, with fresh randomness. */
sotto_test_pine_report sotto_test_pine_report_of(sotto_test *t, sotto_test_pine *p);
sotto_status sotto_test_pine_shard(sotto_test *t, sotto_test_pine *p, sotto_test_pine_report *r,
                                   const int64_t *vector);

void sotto_test_pine_forge(sotto_test *t, sotto_test_pine *p, sotto_test_pine_report *r,
                           const int64_t *vector, const sotto_test_lie *lie);

/* Both aggregators' steps, to the end: SOTTO_OK, or the first status that is not. */
sotto_status sotto_test_pine_verify(sotto_test *t, sotto_test_pine *p, sotto_test_pine_report *r);

#endif
