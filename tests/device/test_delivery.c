/* What a leader's answer to an upload means. */
#include "dap/dap.h"
#include "device/answer/delivery.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

enum { ENTRY = SOTTO_REPORT_ID_SIZE + 1 };

static const char list_type[] = "application/ppm-dap;message=upload-errors";

static sotto_delivery to_typed(unsigned status, const char *type, const void *body, size_t len)
{
    sotto_exchange_answer answer = {.status = status,
                                    .body = {(uint8_t *)(uintptr_t)body, len, len}};

    (void)snprintf(answer.media_type, sizeof answer.media_type, "%s", type);
    return sotto_delivery_of(sotto_bytes_of("0123456789abcdef", SOTTO_REPORT_ID_SIZE), &answer);
}

static sotto_delivery to(unsigned status, const void *body, size_t len)
{
    return to_typed(status, len > 0 ? list_type : "", body, len);
}

static void put(uint8_t *entry, const char *id, uint8_t cause)
{
    memcpy(entry, id, SOTTO_REPORT_ID_SIZE);
    entry[SOTTO_REPORT_ID_SIZE] = cause;
}

static void an_empty_answer_acknowledges(sotto_test *t)
{
    CHECK(t, to(200, "", 0) == SOTTO_DELIVERY_ACCEPTED);
    CHECK(t, to(201, NULL, 0) == SOTTO_DELIVERY_ACCEPTED);
    CHECK(t, to(204, NULL, 0) == SOTTO_DELIVERY_ACCEPTED);
}

static void a_report_that_is_listed_was_not_taken(sotto_test *t)
{
    static const sotto_delivery expected[SOTTO_REPORT_ERRORS + 1] = {
        [0] = SOTTO_DELIVERY_LATER,
        [SOTTO_REPORT_BATCH_COLLECTED] = SOTTO_DELIVERY_REFUSED,
        [SOTTO_REPORT_REPLAYED] = SOTTO_DELIVERY_ACCEPTED, /* the leader has it */
        [SOTTO_REPORT_DROPPED] = SOTTO_DELIVERY_REFUSED,
        [SOTTO_REPORT_HPKE_UNKNOWN_CONFIG_ID] = SOTTO_DELIVERY_OUTDATED,
        [SOTTO_REPORT_HPKE_DECRYPT_ERROR] = SOTTO_DELIVERY_REFUSED,
        [SOTTO_REPORT_VDAF_VERIFY_ERROR] = SOTTO_DELIVERY_REFUSED,
        [SOTTO_REPORT_TASK_EXPIRED] = SOTTO_DELIVERY_REFUSED,
        [SOTTO_REPORT_INVALID_MESSAGE] = SOTTO_DELIVERY_REFUSED,
        [SOTTO_REPORT_TOO_EARLY] = SOTTO_DELIVERY_LATER,
        [SOTTO_REPORT_TASK_NOT_STARTED] = SOTTO_DELIVERY_LATER,
        [SOTTO_REPORT_OUTDATED_CONFIG] = SOTTO_DELIVERY_OUTDATED,
        [SOTTO_REPORT_TOKEN_INVALID] = SOTTO_DELIVERY_REFUSED,
        [SOTTO_REPORT_TOKEN_SPENT] = SOTTO_DELIVERY_REFUSED,
        [SOTTO_REPORT_ERRORS] = SOTTO_DELIVERY_LATER, /* of a newer registry */
    };
    uint8_t answer[2 * ENTRY];

    for (unsigned cause = 0; cause <= 255; cause++) {
        sotto_delivery meant = expected[cause < SOTTO_REPORT_ERRORS ? cause : SOTTO_REPORT_ERRORS];

        put(answer, "0123456789abcdef", (uint8_t)cause);
        CHECK_EQUAL(t, meant, to(200, answer, ENTRY));
        memmove(answer + ENTRY, answer, ENTRY);
        put(answer, "another report's", SOTTO_REPORT_INVALID_MESSAGE);
        CHECK_EQUAL(t, meant, to(200, answer, sizeof answer));
    }
}

static void what_another_report_is_told_is_not_ours(sotto_test *t)
{
    uint8_t answer[ENTRY];

    put(answer, "0123456789abcdeF", SOTTO_REPORT_OUTDATED_CONFIG);
    CHECK(t, to(200, answer, ENTRY) == SOTTO_DELIVERY_ACCEPTED);
}

/* A portal's page, or an answer that was cut: the report goes again, and the leader counts it once. */
static void an_answer_that_is_no_list_acknowledges_nothing(sotto_test *t)
{
    static const char page[] = "<html>Welcome to the hotel's network</html> Please log in now"
                               "       ";
    uint8_t answer[ENTRY];

    put(answer, "0123456789abcdef", SOTTO_REPORT_INVALID_MESSAGE);
    for (size_t len = 1; len < ENTRY; len++)
        CHECK(t, to(200, answer, len) == SOTTO_DELIVERY_LATER);
    for (size_t len = 1; len < sizeof page; len++)
        CHECK(t, to(200, page, len) == SOTTO_DELIVERY_LATER);
    CHECK(t, sizeof page > 3 * (size_t)ENTRY);
}

static void a_status_says_what_its_answer_does_not(sotto_test *t)
{
    static const unsigned never[] = {400, 410, 413, 422};
    static const unsigned later[] = {0,   100, 199, 300, 302, 304, 401, 403, 404, 407,
                                     408, 415, 425, 429, 500, 502, 503, 504, 511, 999};
    uint8_t answer[ENTRY];

    put(answer, "0123456789abcdef", SOTTO_REPORT_REPLAYED);
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
        CHECK_EQUAL(t, SOTTO_DELIVERY_REFUSED, to(never[i], answer, i % 2 ? ENTRY : 0));
    for (size_t i = 0; i < sizeof later / sizeof later[0]; i++)
        CHECK_EQUAL(t, SOTTO_DELIVERY_LATER, to(later[i], answer, i % 2 ? ENTRY : 0));
}

/* Whatever is in the body: a list of another report, or nothing. */
static void an_answer_of_another_type_acknowledges_nothing(sotto_test *t)
{
    static const char *const others[] = {"text/html",
                                         "application/ppm-dap;message=upload-req",
                                         "application/ppm-dap",
                                         "application/problem+json",
                                         "application/octet-stream",
                                         "?"};
    static const char *const same[] = {"application/ppm-dap;message=upload-errors",
                                       "Application/PPM-DAP; message=\"upload-errors\""};
    uint8_t answer[ENTRY];

    put(answer, "another report's", SOTTO_REPORT_INVALID_MESSAGE);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        CHECK(t, to_typed(200, others[i], answer, ENTRY) == SOTTO_DELIVERY_LATER);
        CHECK(t, to_typed(200, others[i], NULL, 0) == SOTTO_DELIVERY_LATER);
    }
    CHECK(t, to_typed(200, "", answer, ENTRY) == SOTTO_DELIVERY_LATER);
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        CHECK(t, to_typed(200, same[i], answer, ENTRY) == SOTTO_DELIVERY_ACCEPTED);
        CHECK(t, to_typed(200, same[i], NULL, 0) == SOTTO_DELIVERY_ACCEPTED);
    }
    /* A refusal by its status needs no type. */
    CHECK(t, to_typed(400, "application/problem+json", "{}", 2) == SOTTO_DELIVERY_REFUSED);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(an_empty_answer_acknowledges),
        CASE(a_report_that_is_listed_was_not_taken),
        CASE(what_another_report_is_told_is_not_ours),
        CASE(an_answer_that_is_no_list_acknowledges_nothing),
        CASE(a_status_says_what_its_answer_does_not),
        CASE(an_answer_of_another_type_acknowledges_nothing),
    };
    return RUN_TESTS(argc, argv, cases);
}
