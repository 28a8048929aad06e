/* tests/aggregate/plain/plain.h - the simplest way to add up: everybody sends its vector to the server as it is.
 *
 * It protects nobody and is for tests only: whatever the suite demands of machines, this shows without cryptography.
 */
#ifndef SOTTO_TESTS_AGGREGATE_PLAIN_H
#define SOTTO_TESTS_AGGREGATE_PLAIN_H

#include "aggregate/method.h"

enum { SOTTO_METHOD_PLAIN = 0xff00, PLAIN_VECTOR = 1 };

extern const sotto_method sotto_method_plain;

#endif
