#include "support/test.h"

#include <string.h>

#include "base/log.h"

typedef struct heard {
    char line[128];
    int calls;
} heard;

static void listen_to(void *context, const sotto_log_event *event)
{
    heard *h = context;
    sotto_buf out = sotto_buf_over(h->line, sizeof h->line - 1);

    h->calls++;
    if (sotto_log_format(&out, event, NULL) == SOTTO_OK)
        h->line[out.len] = 0;
}

static void log_reaches_the_sink_with_its_fields(sotto_test *t)
{
    heard h = {{0}, 0};
    sotto_log_sink sink = {listen_to, &h, SOTTO_LOG_DEBUG};

    sotto_log(&sink, SOTTO_LOG_WARNING, "batch.closed", sotto_log_text("task", "a-1"),
              sotto_log_uint("reports", UINT64_MAX), sotto_log_int("skew", INT64_MIN));
    CHECK_EQUAL(t, 1, h.calls);
    CHECK(t, strcmp(h.line, "warning batch.closed task=a-1 reports=18446744073709551615 "
                            "skew=-9223372036854775808") == 0);
}

static void log_below_the_lowest_level_is_not_heard(sotto_test *t)
{
    heard h = {{0}, 0};
    sotto_log_sink sink = {listen_to, &h, SOTTO_LOG_WARNING};

    sotto_log(&sink, SOTTO_LOG_DEBUG, "quiet", sotto_log_uint("n", 1));
    sotto_log(&sink, SOTTO_LOG_INFO, "quiet", sotto_log_uint("n", 1));
    CHECK_EQUAL(t, 0, h.calls);
    sotto_log(&sink, SOTTO_LOG_WARNING, "loud", sotto_log_uint("n", 1));
    sotto_log(&sink, SOTTO_LOG_ERROR, "loud", sotto_log_uint("n", 1));
    CHECK_EQUAL(t, 2, h.calls);
}

static void log_without_a_sink_goes_nowhere(sotto_test *t)
{
    sotto_log_sink deaf = {NULL, NULL, SOTTO_LOG_DEBUG};

    (void)t;
    sotto_log(NULL, SOTTO_LOG_ERROR, "unheard", sotto_log_uint("n", 1));
    sotto_log(&deaf, SOTTO_LOG_ERROR, "unheard", sotto_log_uint("n", 1));
}

static void log_text_cannot_forge_a_field_or_a_line(sotto_test *t)
{
    heard h = {{0}, 0};
    sotto_log_sink sink = {listen_to, &h, SOTTO_LOG_DEBUG};

    sotto_log(&sink, SOTTO_LOG_INFO, "seen", sotto_log_text("from", "a b=\"c\"\n\\\x80"),
              sotto_log_text("none", ""), sotto_log_text("null", NULL));
    CHECK(t, strcmp(h.line, "info seen from=\"a b=\\\"c\\\"\\x0a\\\\\\x80\" none=\"\" null=\"\"") ==
                 0);
}

static void log_line_that_does_not_fit_leaves_the_buffer_alone(sotto_test *t)
{
    sotto_log_field field = sotto_log_text("key", "value");
    sotto_log_event event = {SOTTO_LOG_INFO, "name", &field, 1};
    char memory[32];
    size_t whole = strlen("info name key=value");

    for (size_t cap = 0; cap < whole; cap++) {
        sotto_buf out = sotto_buf_over(memory, cap);
        CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_log_format(&out, &event, &t->err));
        CHECK_EQUAL(t, 0, out.len);
    }
    sotto_buf out = sotto_buf_over(memory, whole);
    CHECK_OK(t, sotto_log_format(&out, &event, &t->err));
    CHECK_BYTES(t, "info name key=value", memory, whole);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(log_reaches_the_sink_with_its_fields),
        CASE(log_below_the_lowest_level_is_not_heard),
        CASE(log_without_a_sink_goes_nowhere),
        CASE(log_text_cannot_forge_a_field_or_a_line),
        CASE(log_line_that_does_not_fit_leaves_the_buffer_alone),
    };
    return RUN_TESTS(argc, argv, cases);
}
