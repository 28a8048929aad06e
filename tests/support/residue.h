/* support/residue.h - what a finished call leaves on its stack.
 *
 * A function runs on a stack that the test owns; when it has returned, the test may look at every byte of it.
 * Not under sanitizers: they move locals elsewhere.
 */
#ifndef SOTTO_TESTS_SUPPORT_RESIDUE_H
#define SOTTO_TESTS_SUPPORT_RESIDUE_H

#include "support/test.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SOTTO_TEST_STACK_MOVES 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SOTTO_TEST_STACK_MOVES 1
#endif

/* Runs it to its end. Checks in `run` would jump off its stack: let it note what it sees. */
void sotto_test_on_own_stack(sotto_test *t, void (*run)(void *arg), void *arg);

/* Whether these bytes stand anywhere on the stack, as it was left or, from within `run`, as it is. */
bool sotto_test_stack_holds(const void *bytes, size_t len);

/* From within `run`: how deep below this address the stack was written to so far. 0 for any other stack. */
size_t sotto_test_stack_below(const void *address);

#endif
