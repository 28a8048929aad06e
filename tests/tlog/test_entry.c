/* Entries of sotto's logs: each type has its fields, in one spelling. */
#include "tlog/entry.h"

#include "support/test.h"

#include <string.h>

static const uint8_t key_bytes[] = {1, 2, 3};
/* locale en, os 7 */
static const uint8_t cohort_bytes[] = {6,   'l', 'o', 'c', 'a', 'l', 'e', 0,  2,
                                       'e', 'n', 2,   'o', 's', 0,   1,   '7'};

static sotto_tlog_entry entry_of(sotto_entry_type type)
{
    sotto_tlog_entry e = {.type = type};
    const sotto_bytes url = sotto_bytes_of("https://a.example/r", 19);
    const sotto_bytes name = sotto_bytes_of("libsotto-device 1.0", 19);

    memset(e.digest, 0xd1, sizeof e.digest);
    switch (type) {
    case SOTTO_ENTRY_PARTIES:
    case SOTTO_ENTRY_ISSUER_KEYS:
        e.serial = 7;
        e.url = url;
        break;
    case SOTTO_ENTRY_RECIPE:
        e.url = url;
        break;
    case SOTTO_ENTRY_ISSUER_KEY:
        e.start = 5;
        e.end = 9;
        e.kind = 2;
        e.key = sotto_bytes_of(key_bytes, sizeof key_bytes);
        break;
    case SOTTO_ENTRY_LIBRARY:
        e.url = url;
        e.name = name;
        break;
    case SOTTO_ENTRY_POLICY:
        e.name = name;
        break;
    default:
        e.start = e.end = 9;
        e.count = 40000;
        memset(e.receipt, 0xce, sizeof e.receipt);
        e.cohort = sotto_bytes_of(cohort_bytes, sizeof cohort_bytes);
    }
    return e;
}

static void each_type_is_read_back(sotto_test *t)
{
    static const size_t sizes[] = {0, 55, 63, 57, 54, 75, 109, 63};

    for (sotto_entry_type type = SOTTO_ENTRY_RECIPE; type < SOTTO_ENTRY_TYPES; type++) {
        const sotto_tlog_entry e = entry_of(type);
        sotto_buf out = sotto_test_buf(t, 256), again = sotto_test_buf(t, 256);
        sotto_tlog_entry read;

        CHECK_OK(t, sotto_tlog_entry_encode(&out, &e, &t->err));
        CHECK_EQUAL(t, sizes[type], out.len);
        CHECK_OK(t, sotto_tlog_entry_decode(&read, sotto_buf_bytes(&out), &t->err));
        CHECK_EQUAL(t, type, read.type);
        CHECK_EQUAL(t, e.serial, read.serial);
        CHECK_EQUAL(t, e.count, read.count);
        CHECK_EQUAL(t, e.end, read.end);
        CHECK_EQUAL(t, e.kind, read.kind);
        CHECK_OK(t, sotto_tlog_entry_encode(&again, &read, &t->err));
        CHECK_BYTES(t, out.data, again.data, out.len);
        CHECK(t, sotto_entry_type_name(type) != NULL);
        /* Cut off anywhere, or longer, it is malformed. */
        for (size_t len = 0; len < out.len; len++)
            CHECK_STATUS(t, SOTTO_MALFORMED,
                         sotto_tlog_entry_decode(&read, sotto_bytes_of(out.data, len), &t->err));
        out.data[out.len++] = 0;
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_tlog_entry_decode(&read, sotto_buf_bytes(&out), &t->err));
    }
}

static void other_versions_and_types_are_refused(sotto_test *t)
{
    uint8_t wire[64] = {1, SOTTO_ENTRY_TYPES};
    sotto_tlog_entry read;

    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_tlog_entry_decode(&read, sotto_bytes_of(wire, sizeof wire), &t->err));
    CHECK_REASON(t, "log entry: of no type that is known");
    wire[1] = 0;
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_tlog_entry_decode(&read, sotto_bytes_of(wire, sizeof wire), &t->err));
    wire[0] = 2, wire[1] = 1;
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_tlog_entry_decode(&read, sotto_bytes_of(wire, sizeof wire), &t->err));
}

static void a_window_ends_after_its_start(sotto_test *t)
{
    sotto_tlog_entry e = entry_of(SOTTO_ENTRY_RELEASE), read;
    sotto_buf out = sotto_test_buf(t, 256);

    CHECK_OK(t, sotto_tlog_entry_encode(&out, &e, &t->err));
    out.data[2 + 32 + 7] = 10; /* the start is 10, the end 9 */
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_tlog_entry_decode(&read, sotto_buf_bytes(&out), &t->err));
    CHECK_REASON(t, "log entry: too long, or a window without a start");
    e.start = 10;
    CHECK_STATUS(t, SOTTO_BUG, sotto_tlog_entry_encode(&out, &e, &t->err));
}

static void a_cohort_is_a_list_of_fields_and_values(sotto_test *t)
{
    static const struct {
        size_t at;
        uint8_t byte;
    } bad[] = {{0, 0}, {0, 16}, {8, 3}, {8, 1}, {11, 0}, {15, 2}};
    sotto_tlog_entry e = entry_of(SOTTO_ENTRY_RELEASE), read;
    sotto_buf out = sotto_test_buf(t, 256);
    sotto_bytes rest = e.cohort, field, value;

    CHECK(t, sotto_entry_cohort_next(&field, &value, &rest));
    CHECK(t, field.len == 6 && value.len == 2 && memcmp(value.data, "en", 2) == 0);
    CHECK(t, sotto_entry_cohort_next(&field, &value, &rest));
    CHECK(t, field.len == 2 && value.len == 1 && value.data[0] == '7');
    CHECK(t, !sotto_entry_cohort_next(&field, &value, &rest));
    CHECK_OK(t, sotto_tlog_entry_encode(&out, &e, &t->err));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint8_t *byte = out.data + out.len - sizeof cohort_bytes + bad[i].at;
        const uint8_t kept = *byte;

        *byte = bad[i].byte;
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_tlog_entry_decode(&read, sotto_buf_bytes(&out), &t->err));
        *byte = kept;
    }
    CHECK_OK(t, sotto_tlog_entry_decode(&read, sotto_buf_bytes(&out), &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(each_type_is_read_back),
        CASE(other_versions_and_types_are_refused),
        CASE(a_window_ends_after_its_start),
        CASE(a_cohort_is_a_list_of_fields_and_values),
    };

    return RUN_TESTS(argc, argv, cases);
}
