#include "support/test.h"

static void reader_yields_nothing_after_a_short_read(sotto_test *t)
{
    const uint8_t wire[] = {0, 0, 0, 9, 1, 2};
    sotto_reader in = sotto_reader_over(sotto_bytes_of(wire, sizeof wire));

    CHECK_EQUAL(t, 0, sotto_read_opaque32(&in).len);
    CHECK_EQUAL(t, 0, sotto_read_uint(&in, 1)); /* a byte is left, but the reader stays shut */
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_reader_finish(&in, "message", &t->err));
    CHECK_REASON(t, "message: too short");
}

static void reader_refuses_trailing_bytes(sotto_test *t)
{
    const uint8_t wire[] = {1, 2, 3};
    sotto_reader in = sotto_reader_over(sotto_bytes_of(wire, sizeof wire));

    CHECK_EQUAL(t, 0x0102, sotto_read_uint(&in, 2));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_reader_finish(&in, "message", &t->err));
    CHECK_REASON(t, "1 trailing");
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(reader_yields_nothing_after_a_short_read),
        CASE(reader_refuses_trailing_bytes),
    };
    return RUN_TESTS(argc, argv, cases);
}
