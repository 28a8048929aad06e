/* support/query_maker.h - random queries by a grammar, for tests of what a query can tell.
 *
 * Over two streams, k(age, ngram, score, hidden..., mark) and health(pulse, hidden). Most of the queries are legal; some name
 * what no policy of these tests allows.
 */
#ifndef SOTTO_TESTS_SUPPORT_QUERY_MAKER_H
#define SOTTO_TESTS_SUPPORT_QUERY_MAKER_H

#include "sim/random.h"

enum { SOTTO_TEST_QUERY = 4096 };

/* Writes one query and its NUL. */
void sotto_test_make_query(char out[SOTTO_TEST_QUERY], sotto_sim_random *random);

#endif
