/* Base64: RFC 4648's own vectors, both alphabets, one spelling. */
#include "base/base64.h"

#include "support/test.h"

#include <string.h>

static sotto_bytes bytes_of(const char *text)
{
    return sotto_bytes_of(text, strlen(text));
}

static void the_rfc_s_vectors_hold(sotto_test *t)
{
    static const char *const wanted[] = {"",         "Zg==",     "Zm8=",    "Zm9v",
                                         "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};

    for (size_t len = 0; len <= 6; len++) {
        char text[16];
        uint8_t back[8];

        sotto_base64_encode(text, SOTTO_BASE64_STANDARD, sotto_bytes_of("foobar", len));
        CHECK(t, strcmp(text, wanted[len]) == 0);
        CHECK_EQUAL(t, len, sotto_base64_decoded(SOTTO_BASE64_STANDARD, bytes_of(text)));
        CHECK(t, sotto_base64_decode(back, len, SOTTO_BASE64_STANDARD, bytes_of(text)));
        CHECK_BYTES(t, "foobar", back, len);
        CHECK(t, sotto_base64_decode(NULL, len, SOTTO_BASE64_STANDARD, bytes_of(text)));
        sotto_base64_encode(text, SOTTO_BASE64_URL, sotto_bytes_of("foobar", len));
        CHECK_EQUAL(t, strcspn(wanted[len], "="), strlen(text));
        CHECK(t, sotto_base64_decode(back, len, SOTTO_BASE64_URL, bytes_of(text)));
    }
}

static void each_kind_has_its_alphabet(sotto_test *t)
{
    static const uint8_t bytes[] = {0xfb, 0xff, 0xbf};
    uint8_t back[3];
    char text[8];

    sotto_base64_encode(text, SOTTO_BASE64_STANDARD, sotto_bytes_of(bytes, 3));
    CHECK(t, strcmp(text, "+/+/") == 0);
    CHECK(t, !sotto_base64_decode(back, 3, SOTTO_BASE64_URL, bytes_of(text)));
    sotto_base64_encode(text, SOTTO_BASE64_URL, sotto_bytes_of(bytes, 3));
    CHECK(t, strcmp(text, "-_-_") == 0);
    CHECK(t, !sotto_base64_decode(back, 3, SOTTO_BASE64_STANDARD, bytes_of(text)));
}

static void other_spellings_are_refused(sotto_test *t)
{
    static const char *const bad[] = {"Zg",   "Zg=",  "Zg===",  "Zh==",  "Zg=A",
                                      "Z===", "====", "Zg==\n", " Zg==", "Zm9v"};
    uint8_t back[8];

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(t, !sotto_base64_decode(back, 1, SOTTO_BASE64_STANDARD, bytes_of(bad[i])));
    CHECK(t, !sotto_base64_decode(back, 1, SOTTO_BASE64_URL, bytes_of("Zg==")));
    CHECK(t, !sotto_base64_decode(back, 1, SOTTO_BASE64_URL, bytes_of("Zh")));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_rfc_s_vectors_hold),
        CASE(each_kind_has_its_alphabet),
        CASE(other_spellings_are_refused),
    };

    return RUN_TESTS(argc, argv, cases);
}
