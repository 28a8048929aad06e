/* support/arc_admitted.h - a leader and a helper with a task that asks for ARC, and devices with a credential of each.
 *
 * Memory:   in the test's arena, or the service's.
 */
#ifndef SOTTO_TESTS_SUPPORT_ARC_ADMITTED_H
#define SOTTO_TESTS_SUPPORT_ARC_ADMITTED_H

#include "serve/tasks/arc_keys.h"
#include "support/admitted.h"
#include "support/service.h"

#define SOTTO_TEST_ARC_ATTESTER "the attester's token of tests"

typedef struct sotto_test_arc {
    sotto_test_service s; /* its task is the one with ARC */
    sotto_arc_key keys[2];
    uint8_t seeds; /* that were used */
    /* How the next report is admitted. */
    bool
        keep; /* with the credentials that are there already; else each report is another device's */
    sotto_arc_holding held[2];
    sotto_arc_collection collection;
    int64_t epoch;   /* added to the epoch that a credential is asked for */
    uint8_t request; /* 1: the requests below are signed by these keys instead */
    sotto_arc_key other;
} sotto_test_arc;

void sotto_test_arc_open(sotto_test *t, sotto_test_arc *a,
                         const sotto_test_service_options *options);
void sotto_test_arc_close(sotto_test_arc *a);
/* A configuration as s->task's, with ARC; the caller adds it. */
sotto_bare_task sotto_test_arc_task(sotto_test *t, sotto_test_arc *a);

/* A credential under this key, for the epoch with `shift` added to its end. */
sotto_arc_holding sotto_test_arc_credential(sotto_test *t, const sotto_arc_key *key, int64_t shift);
/* The reports after this call are all of one device. */
void sotto_test_arc_keep(sotto_test *t, sotto_test_arc *a);
/* A key that no server has. */
sotto_arc_key sotto_test_arc_key(sotto_test *t, uint64_t opens, uint64_t closes);

#endif
