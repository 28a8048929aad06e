#include "support/test.h"

static void reader_yields_what_was_written_in_order(sotto_test *t)
{
    sotto_bytes wire = sotto_test_hex(t, "01"
                                         "0203"
                                         "0405060708090a0b"
                                         "aabbcc"
                                         "02dead"
                                         "0001be"
                                         "00000000");
    sotto_reader in = sotto_reader_over(wire);
    uint8_t fixed[3];

    CHECK_EQUAL(t, 1, sotto_read_uint(&in, 1));
    CHECK_EQUAL(t, 0x0203, sotto_read_uint(&in, 2));
    CHECK_EQUAL(t, 0x0405060708090a0b, sotto_read_uint(&in, 8));
    sotto_read_fixed(&in, fixed, sizeof fixed);
    CHECK_BYTES(t, "\xaa\xbb\xcc", fixed, 3);
    CHECK_EQUAL(t, 10, sotto_reader_left(&in));

    sotto_bytes two = sotto_read_opaque8(&in);
    CHECK_EQUAL(t, 2, two.len);
    CHECK_BYTES(t, "\xde\xad", two.data, 2);
    sotto_bytes one = sotto_read_opaque16(&in);
    CHECK_EQUAL(t, 1, one.len);
    CHECK_EQUAL(t, 0xbe, one.data[0]);
    CHECK_EQUAL(t, 0, sotto_read_opaque32(&in).len);
    CHECK_OK(t, sotto_reader_finish(&in, "message", &t->err));
}

static void reader_yields_nothing_after_a_short_read(sotto_test *t)
{
    const uint8_t wire[] = {0, 0, 0, 9, 1, 2};
    sotto_reader in = sotto_reader_over(sotto_bytes_of(wire, sizeof wire));

    CHECK_EQUAL(t, 0, sotto_read_opaque32(&in).len);
    CHECK_EQUAL(t, 0, sotto_read_uint(&in, 1)); /* a byte is left, but the reader stays shut */
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_reader_finish(&in, "message", &t->err));
    CHECK_REASON(t, "message: too short");
}

static void reader_fills_fixed_bytes_with_zeros_after_a_short_read(sotto_test *t)
{
    sotto_reader in = sotto_reader_over(sotto_bytes_of("ab", 2));
    uint8_t out[4] = {1, 2, 3, 4};

    sotto_read_fixed(&in, out, sizeof out);
    CHECK_BYTES(t, "\0\0\0\0", out, 4);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_reader_finish(&in, "id", &t->err));
}

static void reader_survives_a_length_near_the_end_of_memory(sotto_test *t)
{
    sotto_reader in = sotto_reader_over(sotto_bytes_of("ab", 2));

    CHECK_EQUAL(t, 0, sotto_read_bytes(&in, SIZE_MAX).len);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_reader_finish(&in, "blob", &t->err));
}

static void reader_refuses_every_cut_of_a_message(sotto_test *t)
{
    const uint8_t wire[] = {7, 0, 2, 'h', 'i', 0, 0, 0, 1, 'x'};

    for (size_t len = 0; len <= sizeof wire; len++) {
        sotto_reader in = sotto_reader_over(sotto_bytes_of(wire, len));

        (void)sotto_read_uint(&in, 1);
        (void)sotto_read_opaque16(&in);
        (void)sotto_read_opaque32(&in);
        CHECK_STATUS(t, len == sizeof wire ? SOTTO_OK : SOTTO_MALFORMED,
                     sotto_reader_finish(&in, "message", &t->err));
    }
}

static void reader_takes_empty_input_without_an_address(sotto_test *t)
{
    sotto_reader in = sotto_reader_over(sotto_bytes_of(NULL, 0));

    CHECK_EQUAL(t, 0, sotto_reader_left(&in));
    CHECK_OK(t, sotto_reader_finish(&in, "nothing", &t->err));
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
        CASE(reader_yields_what_was_written_in_order),
        CASE(reader_yields_nothing_after_a_short_read),
        CASE(reader_fills_fixed_bytes_with_zeros_after_a_short_read),
        CASE(reader_survives_a_length_near_the_end_of_memory),
        CASE(reader_refuses_every_cut_of_a_message),
        CASE(reader_takes_empty_input_without_an_address),
        CASE(reader_refuses_trailing_bytes),
    };
    return RUN_TESTS(argc, argv, cases);
}
