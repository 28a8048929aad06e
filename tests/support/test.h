/* support/test.h - a test is a function whose name is a sentence; this runs them through cmocka.
 *
 *     static void reader_refuses_trailing_bytes(sotto_test *t)
 *     {
 *         CHECK_STATUS(t, SOTTO_MALFORMED, ...);
 *     }
 *     int main(int argc, char **argv)
 *     {
 *         static const sotto_test_case cases[] = {CASE(reader_refuses_trailing_bytes)};
 *         return RUN_TESTS(argc, argv, cases);
 *     }
 *
 * An argument runs only the tests whose name matches it; * and ? are wildcards.
 */
#ifndef SOTTO_TESTS_SUPPORT_TEST_H
#define SOTTO_TESTS_SUPPORT_TEST_H

#include "sotto/base.h"

typedef struct sotto_test {
    sotto_err err;     /* cleared before every CHECK_OK and CHECK_STATUS */
    sotto_arena arena; /* cleared after the test                         */
} sotto_test;

typedef struct sotto_test_case {
    const char *name;
    void (*run)(sotto_test *t);
} sotto_test_case;

/* clang-format off */
#define CASE(function) {#function, function}
/* clang-format on */
#define RUN_TESTS(argc, argv, cases)                                                               \
    sotto_test_main(argc, argv, __FILE__, cases, sizeof(cases) / sizeof((cases)[0]))

/* Draws of a statistical test, and a bound on what they show. The plain build judges the law by all of them. A sanitizer judges
 * memory: a tenth goes through the same code, and has to meet the wider bound that is named second. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SOTTO_TEST_DRAWS(n)          ((n) / 10)
#define SOTTO_TEST_BOUND(all, tenth) (tenth)
#define SOTTO_TEST_PATIENCE_MS       180000
#else
#define SOTTO_TEST_DRAWS(n)          (n)
#define SOTTO_TEST_BOUND(all, tenth) (all)
#define SOTTO_TEST_PATIENCE_MS       60000
#endif

enum { SOTTO_TEST_SKIPPED = 77 }; /* what ctest counts as skipped */

/* What a test program is where no test of it can run. */
int sotto_test_none(const char *why);

/* SOTTO_TEST_SKIPPED: a test was skipped and none failed. */
int sotto_test_main(int argc, char **argv, const char *file, const sotto_test_case *cases,
                    size_t count);

/* Runs `end` when the program ends, also after a test has failed. False: it can't. */
bool sotto_test_at_end(void (*end)(void));

/* Ends a test that can't run here. Say so before anything was opened: nothing of the test's is closed. */
#define SKIP(t, why) sotto_test_skip(t, why, __FILE__, __LINE__)
/* Ends a test that has nothing to say about the database that this run is over. The program is not counted as skipped for it,
 * unless that is so of all its tests. */
#define NOT_FOR_THIS_DATABASE(t, why) sotto_test_leave_out(t, why, __FILE__, __LINE__)
#define CHECK(t, condition)           sotto_test_check(t, (condition), #condition, __FILE__, __LINE__)
#define CHECK_STATUS(t, wanted, call)                                                              \
    do {                                                                                           \
        (t)->err = (sotto_err){0};                                                                 \
        sotto_status got_ = (call);                                                                \
        sotto_test_status(t, wanted, got_, #call, __FILE__, __LINE__);                             \
    } while (0)
#define CHECK_OK(t, call) CHECK_STATUS(t, SOTTO_OK, call)
#define CHECK_EQUAL(t, wanted, got)                                                                \
    sotto_test_equal(t, (uint64_t)(wanted), (uint64_t)(got), #got, __FILE__, __LINE__)
#define CHECK_BYTES(t, wanted, got, len)                                                           \
    sotto_test_bytes(t, wanted, got, len, #got, __FILE__, __LINE__)
#define CHECK_NEAR(t, wanted, got, tolerance)                                                      \
    sotto_test_near(t, wanted, got, tolerance, #got, __FILE__, __LINE__)
/* The reason of the last CHECK_STATUS contains this text. */
#define CHECK_REASON(t, text) sotto_test_reason(t, text, __FILE__, __LINE__)

void sotto_test_skip(sotto_test *t, const char *why, const char *file, int line);
void sotto_test_leave_out(sotto_test *t, const char *why, const char *file, int line);
void sotto_test_check(sotto_test *t, bool holds, const char *what, const char *file, int line);
void sotto_test_status(sotto_test *t, sotto_status wanted, sotto_status got, const char *what,
                       const char *file, int line);
void sotto_test_equal(sotto_test *t, uint64_t wanted, uint64_t got, const char *what,
                      const char *file, int line);
void sotto_test_bytes(sotto_test *t, const void *wanted, const void *got, size_t len,
                      const char *what, const char *file, int line);
void sotto_test_near(sotto_test *t, double wanted, double got, double tolerance, const char *what,
                     const char *file, int line);
void sotto_test_reason(sotto_test *t, const char *text, const char *file, int line);

void sotto_test_pause_ms(unsigned ms);
/* For tests whose rounds are hours of the real clock: an hour that ends within two minutes is waited for. */
void sotto_test_await_hour(void);

/* For what other threads and processes are about to do:
 *     for (uint64_t until = 0; !is_there() && sotto_test_waits(&until, 20);)
 *         ;
 * Pauses for ms. False once SOTTO_TEST_PATIENCE_MS have passed, so that a busy machine fails no test; where a rule is off,
 * once ten seconds have, since the test is to fail. */
bool sotto_test_waits(uint64_t *until, unsigned ms);
/* Whether this is a program of rules with one of them off. */
bool sotto_test_rule_is_off(void);

/* Whether these bytes stand anywhere among those. */
bool sotto_test_holds(sotto_bytes all, sotto_bytes wanted);

/* An empty buffer from the test's arena; fails the test if there is no memory. */
sotto_buf sotto_test_buf(sotto_test *t, size_t size);

/* Decodes hex into memory of the test's arena; fails the test if it isn't hex. */
sotto_bytes sotto_test_hex(sotto_test *t, const char *hex);

#endif
