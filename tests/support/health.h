/* support/health.h - what a server's health says, at once or before long. */
#ifndef SOTTO_TESTS_SUPPORT_HEALTH_H
#define SOTTO_TESTS_SUPPORT_HEALTH_H

#include "serve/host/health.h"
#include "support/test.h"

#include <string.h>

static inline bool sotto_test_health_says(sotto_host *host, const char *text)
{
    char said[4096];
    sotto_buf out = sotto_buf_over(said, sizeof said - 1);

    (void)sotto_health_describe(host, &out);
    said[out.len] = 0;
    return strstr(said, text) != NULL;
}

/* Waits until it says so, or until it does not. */
static inline void sotto_test_health_await(sotto_test *t, sotto_host *host, const char *text,
                                           bool says)
{
    uint64_t until = 0;

    while (sotto_test_health_says(host, text) != says && sotto_test_waits(&until, 20))
        ;
    CHECK(t, sotto_test_health_says(host, text) == says);
}

#endif
