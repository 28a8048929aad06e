#define _POSIX_C_SOURCE 200809L
#include "support/test.h"

#include "base/arena.h"

#include <fnmatch.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { ENDINGS = 8 };
static void (*endings[ENDINGS])(void);
static size_t ending_count;

static void run_endings(void)
{
    while (ending_count > 0)
        endings[--ending_count]();
}

bool sotto_test_at_end(void (*end)(void))
{
    if (ending_count == ENDINGS || (ending_count == 0 && atexit(run_endings) != 0))
        return false;
    endings[ending_count++] = end;
    return true;
}

static unsigned skipped, left_out;

static void run_one(void **state)
{
    const sotto_test_case *wanted = *state;
    sotto_test t = {0};

    sotto_arena_init(&t.arena, SIZE_MAX / 2);
    wanted->run(&t);
    sotto_arena_clear(&t.arena);
}

/* A name with a typing error must not pass for a test that did. cmocka takes `*` and `?` in it, as fnmatch does. */
static bool any_is(const sotto_test_case *cases, size_t count, const char *wanted)
{
    bool found = false;

    for (size_t i = 0; !found && i < count; i++)
        found = fnmatch(wanted, cases[i].name, 0) == 0;
    return found;
}

int sotto_test_main(int argc, char **argv, const char *file, const sotto_test_case *cases,
                    size_t count)
{
    struct CMUnitTest tests[256] = {0};
    int failed;

    if (count > sizeof tests / sizeof tests[0])
        return 2;
    for (size_t i = 0; i < count; i++)
        tests[i] = (struct CMUnitTest){.name = cases[i].name,
                                       .test_func = run_one,
                                       .initial_state = (void *)(uintptr_t)&cases[i]};
    if (argc > 1 && !any_is(cases, count, argv[1])) {
        (void)fprintf(stderr, "%s: no test is called %s\n", file, argv[1]);
        return 2;
    }
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    failed = _cmocka_run_group_tests(file, tests, count, NULL, NULL);
    if (failed == 0)
        return skipped > 0 || left_out == count ? SOTTO_TEST_SKIPPED : 0;
    /* A test that failed has left what it had open, servers and their threads too. A search for leaks may then wait
     * for ever, and would find nothing that matters. */
    (void)fflush(stdout);
    (void)fflush(stderr);
    run_endings();
    _exit(failed < SOTTO_TEST_SKIPPED ? failed : SOTTO_TEST_SKIPPED - 1);
}

int sotto_test_none(const char *why)
{
    (void)printf("skipped: %s\n", why);
    return SOTTO_TEST_SKIPPED;
}

static void leave(sotto_test *t, const char *what, const char *why, const char *file, int line)
{
    print_message("%s: %s\n", what, why);
    sotto_arena_clear(&t->arena);
    _skip(file, line);
}

void sotto_test_skip(sotto_test *t, const char *why, const char *file, int line)
{
    skipped++;
    leave(t, "skipped", why, file, line);
}

void sotto_test_leave_out(sotto_test *t, const char *why, const char *file, int line)
{
    left_out++;
    leave(t, "left out", why, file, line);
}

static void fail_at(const char *file, int line)
{
    _fail(file, line);
}

void sotto_test_check(sotto_test *t, bool holds, const char *what, const char *file, int line)
{
    (void)t;
    if (holds)
        return;
    print_error("does not hold: %s\n", what);
    fail_at(file, line);
}

void sotto_test_status(sotto_test *t, sotto_status wanted, sotto_status got, const char *what,
                       const char *file, int line)
{
    if (wanted == got)
        return;
    print_error("%s: wanted '%s', got '%s' (%s)\n", what, sotto_status_name(wanted),
                sotto_status_name(got), t->err.reason);
    fail_at(file, line);
}

void sotto_test_equal(sotto_test *t, uint64_t wanted, uint64_t got, const char *what,
                      const char *file, int line)
{
    (void)t;
    if (wanted == got)
        return;
    print_error("%s: wanted %llu, got %llu\n", what, (unsigned long long)wanted,
                (unsigned long long)got);
    fail_at(file, line);
}

void sotto_test_bytes(sotto_test *t, const void *wanted, const void *got, size_t len,
                      const char *what, const char *file, int line)
{
    const uint8_t *w = wanted, *g = got;

    (void)t;
    for (size_t i = 0; i < len; i++) {
        if (w[i] == g[i])
            continue;
        print_error("%s: byte %zu of %zu: wanted %02x, got %02x\n", what, i, len, w[i], g[i]);
        fail_at(file, line);
    }
}

void sotto_test_near(sotto_test *t, double wanted, double got, double tolerance, const char *what,
                     const char *file, int line)
{
    (void)t;
    if (fabs(wanted - got) <= tolerance)
        return;
    print_error("%s: wanted %.17g within %g, got %.17g\n", what, wanted, tolerance, got);
    fail_at(file, line);
}

void sotto_test_reason(sotto_test *t, const char *text, const char *file, int line)
{
    if (strstr(t->err.reason, text))
        return;
    print_error("the reason '%s' does not say '%s'\n", t->err.reason, text);
    fail_at(file, line);
}

void sotto_test_pause_ms(unsigned ms)
{
    struct timespec moment = {ms / 1000, (long)(ms % 1000) * 1000000};

    (void)nanosleep(&moment, NULL);
}

bool sotto_test_rule_is_off(void)
{
    return getenv("SOTTO_RULE_OFF") != NULL;
}

static uint64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void sotto_test_await_hour(void)
{
    while (time(NULL) % 3600 >= 3600 - 120)
        sotto_test_pause_ms(1000);
}

bool sotto_test_waits(uint64_t *until, unsigned ms)
{
    if (*until == 0)
        *until = now_ms() + (sotto_test_rule_is_off() ? 10000 : SOTTO_TEST_PATIENCE_MS);
    sotto_test_pause_ms(ms);
    return now_ms() < *until;
}

bool sotto_test_holds(sotto_bytes all, sotto_bytes wanted)
{
    const uint8_t *at = all.data, *end = all.data + all.len;

    while ((size_t)(end - at) >= wanted.len &&
           (at = memchr(at, wanted.data[0], (size_t)(end - at) - wanted.len + 1)) != NULL) {
        if (memcmp(at, wanted.data, wanted.len) == 0)
            return true;
        at++;
    }
    return false;
}

sotto_buf sotto_test_buf(sotto_test *t, size_t size)
{
    sotto_buf out;

    CHECK_OK(t, sotto_buf_take(&out, &t->arena, size, &t->err));
    return out;
}

sotto_bytes sotto_test_hex(sotto_test *t, const char *hex)
{
    size_t len = strlen(hex) / 2;
    uint8_t *out = sotto_arena_take(&t->arena, len);

    if (!out || hex[2 * len]) {
        print_error("%s: %s\n", out ? "an odd number of digits" : "out of memory", hex);
        fail_at(__FILE__, __LINE__);
        return sotto_bytes_of(NULL, 0);
    }
    for (size_t i = 0; i < len; i++) {
        unsigned byte = 0;
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1) {
            print_error("not hex: %s\n", hex);
            fail_at(__FILE__, __LINE__);
        }
        out[i] = (uint8_t)byte;
    }
    return sotto_bytes_of(out, len);
}
