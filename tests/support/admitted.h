/* support/admitted.h - a leader and a helper with a task that asks for tokens of type 2, and devices that have them.
 *
 * Memory:   an issuer's keys until it is closed; everything else lives in the test's arena or the service.
 */
#ifndef SOTTO_TESTS_SUPPORT_ADMITTED_H
#define SOTTO_TESTS_SUPPORT_ADMITTED_H

#include "support/service.h"
#include "support/tokens.h"

/* Two collections, one behind the other, each with its key. */
typedef struct sotto_test_admitted {
    sotto_test_service s; /* its task is the one with tokens */
    sotto_test_issuer issuers[2];
    sotto_admitting_key keys[2];
    uint8_t seeds; /* that were used */
    /* How the next report is admitted; each takes effect where it is set. */
    unsigned window;    /* whose key and challenge: 0 at first        */
    unsigned signer;    /* the issuer that signs; as `window` at first */
    const char *issuer; /* named in the challenge                     */
    uint8_t other_key;  /* the key id in the challenge differs by this */
    sotto_bytes token;  /* a token that is there already, with its seed */
    uint8_t seed[SOTTO_ONCE_SEED];
} sotto_test_admitted;

/* split: the second collection begins with this bucket, counted from the task's first. */
void sotto_test_admitted_open(sotto_test *t, sotto_test_admitted *a, uint64_t split,
                              const sotto_test_service_options *options);
void sotto_test_admitted_close(sotto_test_admitted *a);

/* A configuration as s->task's, with tokens, and the keys for it; the caller adds it. */
sotto_bare_task sotto_test_admitted_task(sotto_test *t, sotto_test_admitted *a, uint64_t split);

/* Draws a token for the current window that the reports after this call all have. */
void sotto_test_keep_token(sotto_test *t, sotto_test_admitted *a);

/* The error with which the leader answers an upload of this one report; 0: it took it. */
uint8_t sotto_test_upload_error(sotto_test *t, sotto_test_service *s, sotto_bytes report);
/* The error with which the helper answers a job of this one report. */
uint8_t sotto_test_job_error(sotto_test *t, sotto_test_service *s, sotto_bytes report);

#endif
