#include "dap/rejections.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

static sotto_status decode(sotto_test *t, sotto_rejections *out, const char *text)
{
    return sotto_dap_rejections_decode(out, sotto_bytes_of(text, strlen(text)), &t->err);
}

static void counts_come_back_as_they_were_written(sotto_test *t)
{
    uint8_t memory[SOTTO_DAP_REJECTIONS_MAX];
    sotto_rejections first = {.count = 2, .items = {{"report_replayed", 3}, {"abandoned", 0}}},
                     back;

    for (unsigned rate = SOTTO_RATE_UNTOLD; rate <= SOTTO_RATE_RELEASED; rate++) {
        sotto_buf out = sotto_buf_over(memory, sizeof memory);

        first.rate = (sotto_rate_checking)rate;
        CHECK_OK(t, sotto_dap_rejections_encode(&out, &first, &t->err));
        CHECK_OK(t, sotto_dap_rejections_decode(&back, sotto_buf_bytes(&out), &t->err));
        CHECK(t, back.known);
        CHECK_EQUAL(t, rate, back.rate);
        CHECK_EQUAL(t, 2, back.count);
        CHECK_EQUAL(t, 3, back.items[0].reports);
        CHECK(t, strcmp("report_replayed", back.items[0].cause) == 0);
    }
}

/* Causes are printed as they come, on a terminal among others. */
static void a_cause_is_a_word(sotto_test *t)
{
    static const char *const bad[] = {
        "",    "\\u0000", "\\u001b[2J", "Report",
        "a b", "a-b",     "\\u00e4",    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    sotto_rejections out;
    char text[128];

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        (void)snprintf(text, sizeof text, "{\"rejections\":{\"%s\":1}}", bad[i]);
        CHECK_STATUS(t, SOTTO_MALFORMED, decode(t, &out, text));
        CHECK(t, !out.known && out.count == 0);
    }
}

static void a_population_goes_there_and_back(sotto_test *t)
{
    sotto_rejections in = {.rate = SOTTO_RATE_PASSED, .population = 123456789}, out;
    uint8_t room[256];
    sotto_buf buf = sotto_buf_over(room, sizeof room);

    CHECK_OK(t, sotto_dap_rejections_encode(&buf, &in, &t->err));
    CHECK_OK(t, sotto_dap_rejections_decode(&out, sotto_buf_bytes(&buf), &t->err));
    CHECK(t, out.population == 123456789 && out.rate == SOTTO_RATE_PASSED);
    CHECK_OK(t, decode(t, &out, "{\"rejections\":{}}"));
    CHECK_EQUAL(t, 0, out.population);
}

static void a_count_is_a_whole_number(sotto_test *t)
{
    static const char *const bad[] = {"-1", "1.5", "\"1\"", "null", "{}", "99999999999999999999"};
    sotto_rejections out;
    char text[128];

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        (void)snprintf(text, sizeof text, "{\"rejections\":{\"a\":%s}}", bad[i]);
        CHECK_STATUS(t, SOTTO_MALFORMED, decode(t, &out, text));
    }
}

static void other_documents_are_refused(sotto_test *t)
{
    static const char *const bad[] = {
        "",
        "[]",
        "{}",
        "{\"rejections\":[]}",
        "{\"other\":{}}",
        "{\"rejections\":{},\"rate_checked\":1}",
        "{\"rejections\":{},\"rate_checked\":null}",
        "{\"rejections\":{},\"rate_checked\":true,\"rate_released\":1}",
        "{\"rejections\":{},\"population\":0}",
        "{\"rejections\":{},\"population\":\"7\"}",
        "{\"rejections\":{},\"rate_checked\":false,\"rate_released\":true}",
        "{\"rejections\":{},\"rate_released\":true}",
        "{\"rejections\":{},\"other\":1,\"other\":1}",
        "{\"rate_checked\":true}",
        "{\"rejections\":{}}x",
        "{\"rejections\":{\"a\":1,\"a\":1}}"};
    sotto_rejections out;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_STATUS(t, SOTTO_MALFORMED, decode(t, &out, bad[i]));
}

static void whether_the_rate_was_checked_may_be_told(sotto_test *t)
{
    sotto_rejections out;

    CHECK_OK(t, decode(t, &out, "{\"rejections\":{}}"));
    CHECK(t, out.known && out.rate == SOTTO_RATE_UNTOLD);
    CHECK_OK(t, decode(t, &out, "{\"rejections\":{},\"rate_checked\":true}"));
    CHECK(t, out.known && out.rate == SOTTO_RATE_CHECKED);
    CHECK_OK(t, decode(t, &out, "{\"rejections\":{\"a\":1},\"rate_checked\":false}"));
    CHECK(t, out.known && out.rate == SOTTO_RATE_OFF && out.count == 1);
}

static void what_came_of_the_check_may_be_told(sotto_test *t)
{
    sotto_rejections out;

    CHECK_OK(t,
             decode(t, &out, "{\"rejections\":{},\"rate_checked\":true,\"rate_released\":false}"));
    CHECK(t, out.known && out.rate == SOTTO_RATE_PASSED);
    CHECK_OK(t,
             decode(t, &out, "{\"rejections\":{},\"rate_released\":true,\"rate_checked\":true}"));
    CHECK(t, out.known && out.rate == SOTTO_RATE_RELEASED);
    CHECK_OK(t,
             decode(t, &out, "{\"rejections\":{},\"rate_checked\":false,\"rate_released\":false}"));
    CHECK(t, out.known && out.rate == SOTTO_RATE_OFF);
}

/* Of what came of it, no more than that: how many came, and how many devices there are, is the operator's. */
static void no_numbers_of_the_check_are_told(sotto_test *t)
{
    static const char wanted[] = "{\"rejections\":{},\"rate_checked\":true,\"rate_released\":true}";
    uint8_t memory[SOTTO_DAP_REJECTIONS_MAX];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_rejections first = {.rate = SOTTO_RATE_RELEASED};

    CHECK_OK(t, sotto_dap_rejections_encode(&out, &first, &t->err));
    CHECK_EQUAL(t, strlen(wanted), out.len);
    CHECK_BYTES(t, wanted, memory, out.len);
}

/* A newer server may tell more; its counts are shown all the same. */
static void what_is_not_known_is_passed_over(sotto_test *t)
{
    sotto_rejections out;

    CHECK_OK(t, decode(t, &out,
                       "{\"since\":[1,{}],\"rejections\":{\"a\":1},\"rate_checked\":false,"
                       "\"more\":{\"rejections\":7}}"));
    CHECK(t, out.known && out.rate == SOTTO_RATE_OFF);
    CHECK_EQUAL(t, 1, out.count);
    CHECK_EQUAL(t, 1, out.items[0].reports);
}

/* No report is lost from the counts: those of the causes that have no place of their own stand together. */
static void more_causes_than_are_kept_are_counted_together(sotto_test *t)
{
    static const char *const firsts[] = {"a", "other"};

    for (size_t f = 0; f < 2; f++) {
        char text[SOTTO_DAP_REJECTIONS_MAX];
        sotto_rejections out;
        uint64_t all = 0, other = 0;
        int len = snprintf(text, sizeof text, "{\"rejections\":{\"%s\":1", firsts[f]);

        for (int i = 1; i < SOTTO_REJECTION_CAUSES; i++)
            len += snprintf(text + len, sizeof text - (size_t)len, ",\"a%d\":1", i);
        (void)snprintf(text + len, sizeof text - (size_t)len, "}}");
        CHECK_OK(t, decode(t, &out, text));
        CHECK(t, strcmp("a31", out.items[SOTTO_REJECTION_CAUSES - 1].cause) == 0);
        (void)snprintf(text + len, sizeof text - (size_t)len, ",\"b\":10,\"c\":100}}");
        CHECK_OK(t, decode(t, &out, text));
        CHECK_EQUAL(t, SOTTO_REJECTION_CAUSES, out.count);
        for (size_t i = 0; i < out.count; i++) {
            all += out.items[i].reports;
            other += strcmp("other", out.items[i].cause) == 0 ? out.items[i].reports : 0;
        }
        CHECK_EQUAL(t, 110 + SOTTO_REJECTION_CAUSES, all);
        CHECK_EQUAL(t, 111, other);
    }
}

static void shares_have_names_of_their_own(sotto_test *t)
{
    uint8_t a[SOTTO_RESOURCE_ID_SIZE], b[SOTTO_RESOURCE_ID_SIZE], again[SOTTO_RESOURCE_ID_SIZE];

    sotto_dap_rejections_id(a, sotto_bytes_of("one", 3));
    sotto_dap_rejections_id(b, sotto_bytes_of("two", 3));
    sotto_dap_rejections_id(again, sotto_bytes_of("one", 3));
    CHECK(t, memcmp(a, b, sizeof a) != 0);
    CHECK_BYTES(t, a, again, sizeof a);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(counts_come_back_as_they_were_written),
        CASE(a_cause_is_a_word),
        CASE(a_population_goes_there_and_back),
        CASE(a_count_is_a_whole_number),
        CASE(other_documents_are_refused),
        CASE(whether_the_rate_was_checked_may_be_told),
        CASE(what_came_of_the_check_may_be_told),
        CASE(no_numbers_of_the_check_are_told),
        CASE(what_is_not_known_is_passed_over),
        CASE(more_causes_than_are_kept_are_counted_together),
        CASE(shares_have_names_of_their_own),
    };

    return RUN_TESTS(argc, argv, cases);
}
