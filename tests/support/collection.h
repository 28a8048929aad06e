/* support/collection.h - a task, its collector's key, and answers of a leader that test what a collector believes. */
#ifndef SOTTO_TESTS_SUPPORT_COLLECTION_H
#define SOTTO_TESTS_SUPPORT_COLLECTION_H

#include "collect/collect.h"
#include "support/recipes.h"

typedef struct sotto_test_collection {
    sotto_task
        task; /* of the example recipe, with this collector's key; a batch needs 100 reports */
    sotto_collector_key key;
    sotto_collection_query query;
    uint8_t request_memory[128];
    sotto_bytes request; /* the query's bytes */
    uint64_t *sums;      /* what the shares will add up to, possible for 100 reports */
    uint64_t *below;     /* where not 0: the sum is this far below 0     */
    uint64_t reports;
    sotto_dap_interval interval;
    bool apart;   /* the two shares don't belong together     */
    bool swapped; /* each is sealed as if the other had sent it */
    uint8_t key_id;
} sotto_test_collection;

void sotto_test_collection_init(sotto_test *t, sotto_test_collection *c);
/* With what stands in c: a CollectionJobResp, in the test's arena. */
sotto_bytes sotto_test_collection_answer(sotto_test *t, const sotto_test_collection *c);
/* The helper's part of it, as the helper stored it. */
sotto_bytes sotto_test_collection_share(sotto_test *t, sotto_bytes answer);

#endif
