#include "crypto/keystream.h"

#include "support/test.h"

#include <string.h>

static void the_first_block_is_aes_256_of_zero(sotto_test *t)
{
    static const uint8_t zero[32];
    uint8_t out[16];
    sotto_keystream stream;

    CHECK_OK(t, sotto_keystream_init(&stream, &t->err));
    CHECK_OK(t, sotto_keystream_seed(&stream, zero, &t->err));
    CHECK_OK(t, sotto_keystream_next(&stream, out, sizeof out, &t->err));
    CHECK_BYTES(t, sotto_test_hex(t, "dc95c078a2408989ad48a21492842087").data, out, sizeof out);
    sotto_keystream_clear(&stream);
}

/* FIPS 197, C.1: the key is the seed's first half, and the text is the nonce and the number of a block. */
static void a_long_stream_is_aes_128_of_nonce_and_number(sotto_test *t)
{
    const uint8_t *seed =
        sotto_test_hex(t, "000102030405060708090a0b0c0d0e0f0011223344556677ffffffffffffffff").data;
    uint8_t out[16];
    sotto_keystream stream;

    CHECK_OK(t, sotto_keystream_init_long(&stream, &t->err));
    CHECK_OK(t, sotto_keystream_seek(&stream, seed, UINT64_C(0x8899aabbccddeeff), &t->err));
    CHECK_OK(t, sotto_keystream_next(&stream, out, sizeof out, &t->err));
    CHECK_BYTES(t, sotto_test_hex(t, "69c4e0d86a7b0430d8cdb78070b4c55a").data, out, sizeof out);
    sotto_keystream_clear(&stream);
}

static void pieces_are_the_whole(sotto_test *t)
{
    enum { SIZE = 70001 };
    static uint8_t whole[SIZE], pieces[SIZE];
    const uint8_t seed[32] = {5};
    size_t step = 1;
    sotto_keystream stream;

    CHECK_OK(t, sotto_keystream_init(&stream, &t->err));
    CHECK_OK(t, sotto_keystream_seed(&stream, seed, &t->err));
    CHECK_OK(t, sotto_keystream_next(&stream, whole, SIZE, &t->err));
    CHECK_OK(t, sotto_keystream_seed(&stream, seed, &t->err));
    for (size_t at = 0; at < SIZE; at += step, step = step * 3 % 20011) {
        if (step > SIZE - at)
            step = SIZE - at;
        CHECK_OK(t, sotto_keystream_next(&stream, pieces + at, step, &t->err));
    }
    CHECK_BYTES(t, whole, pieces, SIZE);
    sotto_keystream_clear(&stream);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_first_block_is_aes_256_of_zero),
        CASE(a_long_stream_is_aes_128_of_nonce_and_number),
        CASE(pieces_are_the_whole),
    };
    return RUN_TESTS(argc, argv, cases);
}
