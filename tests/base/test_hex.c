#include "base/hex.h"
#include "support/test.h"

#include <string.h>

static void every_byte_comes_back(sotto_test *t)
{
    uint8_t all[256], back[256];
    char text[2 * sizeof all + 1];

    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (uint8_t)i;
    sotto_hex_encode(text, sotto_bytes_of(all, sizeof all));
    CHECK_EQUAL(t, 2 * sizeof all, strlen(text));
    CHECK_EQUAL(t, 0, strncmp(text, "000102", 6));
    CHECK(t, strstr(text, "090a0b0c0d0e0f10") && strstr(text, "9fa0") && strstr(text, "feff"));
    CHECK(t, sotto_hex_decode(back, sizeof back, sotto_bytes_of(text, strlen(text))));
    CHECK_BYTES(t, all, back, sizeof all);
    sotto_hex_encode(text, sotto_bytes_of(NULL, 0));
    CHECK_EQUAL(t, 0, strlen(text));
    CHECK(t, sotto_hex_decode(back, 0, sotto_bytes_of(NULL, 0)));
}

/* In either place of a byte; capitals too, so that a text has one spelling. */
static void what_is_no_digit_is_refused(sotto_test *t)
{
    uint8_t byte;

    for (int c = 0; c < 256; c++) {
        const bool wanted = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        const uint8_t first[] = {(uint8_t)c, '0'}, second[] = {'f', (uint8_t)c};

        CHECK_EQUAL(t, wanted, sotto_hex_decode(&byte, 1, sotto_bytes_of(first, 2)));
        CHECK_EQUAL(t, wanted, sotto_hex_decode(&byte, 1, sotto_bytes_of(second, 2)));
    }
}

static void the_length_is_the_callers(sotto_test *t)
{
    uint8_t bytes[2] = {7, 7};

    CHECK(t, !sotto_hex_decode(bytes, 1, sotto_bytes_of("0", 1)));
    CHECK(t, !sotto_hex_decode(bytes, 1, sotto_bytes_of("000", 3)));
    CHECK(t, !sotto_hex_decode(bytes, 1, sotto_bytes_of("0000", 4)));
    CHECK(t, !sotto_hex_decode(bytes, 2, sotto_bytes_of("00", 2)));
    CHECK_EQUAL(t, 7, bytes[1]);
}

static void one_digit_may_be_a_capital(sotto_test *t)
{
    static const char digits[] = "0123456789abcdefABCDEF";

    for (int c = 0; c < 256; c++) {
        const char *found = c ? strchr(digits, c) : NULL;
        int at = found ? (int)(found - digits) : -1;

        CHECK_EQUAL(t, at > 15 ? at - 6 : at, sotto_hex_digit_vartime((uint8_t)c));
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_byte_comes_back),
        CASE(what_is_no_digit_is_refused),
        CASE(the_length_is_the_callers),
        CASE(one_digit_may_be_a_capital),
    };

    return RUN_TESTS(argc, argv, cases);
}
