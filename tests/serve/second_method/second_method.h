/* tests/serve/second_method/second_method.h - a way to add up that the product does not have, to see what one takes: sums in the
 * clear. The leader gets the vector, the helper zeros; it protects nobody and is for tests only.
 *
 *     leader to helper   how many ones the report has, in eight bytes
 *     helper to leader   the same, if the task allows so many
 */
#ifndef SOTTO_TESTS_SECOND_METHOD_H
#define SOTTO_TESTS_SECOND_METHOD_H

#include "aggregate/method.h"

enum { CLEAR_TYPE = 0x7fff0001, CLEAR_BINS = 64 };

extern const sotto_vdaf_client_ops sotto_clear_client;
extern const sotto_method sotto_method_clear;

/* What devices of this process have sharded, to compare sums with; and whether the next one asks for more than it may. */
typedef struct clear_truth {
    uint64_t sums[CLEAR_BINS];
    uint64_t reports;
    bool lie;
} clear_truth;
extern clear_truth sotto_clear_truth;

#endif
