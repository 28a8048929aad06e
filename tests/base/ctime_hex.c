#include "base/hex.h"
#include "support/ctime.h"
#include "support/test.h"

static void a_key_is_written_and_read_without_a_branch_on_it(sotto_test *t)
{
    uint8_t key[64] = {1, 0x9a, 0xf0}, back[64];
    char text[2 * sizeof key + 1];
    bool good;

    sotto_ctime_secret(key, sizeof key);
    sotto_hex_encode(text, sotto_bytes_of(key, sizeof key));
    good = sotto_hex_decode(back, sizeof back, sotto_bytes_of(text, sizeof text - 1));
    sotto_ctime_public(&good, sizeof good); /* that it is a key at all may be known */
    sotto_ctime_public(key, sizeof key);
    sotto_ctime_public(back, sizeof back);
    CHECK(t, good);
    CHECK_BYTES(t, key, back, sizeof key);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(a_key_is_written_and_read_without_a_branch_on_it)};

    return RUN_TESTS(argc, argv, cases);
}
