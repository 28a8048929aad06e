#include "support/test.h"

#include <string.h>

#include "crypto/hkdf.h"

/* Expected values come from a few lines of Python over its hmac module, with inputs of our own. */
typedef struct expectation {
    sotto_hash_id id;
    const char *prk;
    const char *first_bytes;   /* of the output */
    const char *sha256_of_all; /* of the longest output there is */
} expectation;

static const expectation EXPECTED[] = {
    {SOTTO_SHA256, "c5edb12b98c5c5e4fcae2228daaf617d50193cc41776d1f157a16572a3a57aa6",
     "4ba1bb8edc654659621d449634944c5039fae357b44149397ef2d41233b5d24dcb36cb8d5a15eb0dddb271559af8b"
     "17d1a9d",
     "d6bae2b73fd49bdedaa4e1d7b6147e9e8cde03bc7410e1ad474f2a6eb4130cfa"},
    {SOTTO_SHA384,
     "4786438c3dfcace5f9733c4d37f3a5941bd8c312230acf40833669066b8bf909119756a537a42c43d63137f78558e"
     "322",
     "dd3d5fad687532481288672ca17dc98a4d58db54377acda7995179041b77f1cbcbe63d4c87d90fbae544646be9877"
     "d8f8a30",
     "b4adffb561de9da338b663da84f985ea3e6e52c417ed8737bc849a42517e5fd5"},
    {SOTTO_SHA512,
     "e5d20fd09b02cfacbab0cc76ac0a1cfa54ac33770475a0c3220b16a595bb0e43"
     "7aee0823b20ebf5a4c96e7c5d43905fd6acac6e418fbe0781bbc3fdc570d82f0",
     "dff1eddfac6aeefb7ca3286735487fb40c8a8da0db7106ef424223f8c639aff5185d4db9a2012aec2460a5c081102"
     "929b8bf",
     "33d27cf0d6410209f11c144f519bfed6dd2a248130cf5f2e423edc84fc7e347a"},
};
enum { HASHES = sizeof EXPECTED / sizeof EXPECTED[0], MOST = 255 * SOTTO_HASH_MAX_SIZE };

static void extract(uint8_t *prk, sotto_hash_id id)
{
    const sotto_bytes ikm[] = {sotto_bytes_of("sotto ", 6), sotto_bytes_of(NULL, 0),
                               sotto_bytes_of("counts quietly", 14)};
    sotto_hmac_key salt;

    sotto_hmac_key_init(&salt, id, sotto_bytes_of("salt", 4));
    sotto_hkdf_extract(prk, &salt, ikm, 3);
}

static sotto_status expand(uint8_t *out, size_t len, sotto_hash_id id, sotto_err *err)
{
    const sotto_bytes info[] = {sotto_bytes_of("info", 4), sotto_bytes_of("parts", 5)};
    uint8_t prk[SOTTO_HASH_MAX_SIZE];
    sotto_hmac_key key;

    extract(prk, id);
    sotto_hmac_key_init(&key, id, sotto_bytes_of(prk, sotto_hash_size(id)));
    return sotto_hkdf_expand(out, len, &key, info, 2, err);
}

static void extract_matches_another_implementation(sotto_test *t)
{
    uint8_t prk[SOTTO_HASH_MAX_SIZE];

    for (size_t i = 0; i < HASHES; i++) {
        extract(prk, EXPECTED[i].id);
        CHECK_BYTES(t, sotto_test_hex(t, EXPECTED[i].prk).data, prk,
                    sotto_hash_size(EXPECTED[i].id));
    }
}

static void expand_matches_another_implementation_at_every_short_length(sotto_test *t)
{
    uint8_t out[64];

    for (size_t i = 0; i < HASHES; i++)
        for (size_t len = 0; len <= 50; len++) {
            memset(out, 0xa5, sizeof out);
            CHECK_OK(t, expand(out, len, EXPECTED[i].id, &t->err));
            CHECK_BYTES(t, sotto_test_hex(t, EXPECTED[i].first_bytes).data, out, len);
            CHECK_EQUAL(t, 0xa5, out[len]);
        }
}

static void expand_gives_255_blocks_and_refuses_one_byte_more(sotto_test *t)
{
    static uint8_t out[MOST + 1];
    uint8_t digest[32];

    for (size_t i = 0; i < HASHES; i++) {
        const size_t most = 255 * sotto_hash_size(EXPECTED[i].id);

        CHECK_OK(t, expand(out, most, EXPECTED[i].id, &t->err));
        sotto_hash_once(digest, SOTTO_SHA256, sotto_bytes_of(out, most));
        CHECK_BYTES(t, sotto_test_hex(t, EXPECTED[i].sha256_of_all).data, digest, 32);

        memset(out, 0xa5, sizeof out);
        CHECK_STATUS(t, SOTTO_TOO_LARGE, expand(out, most + 1, EXPECTED[i].id, &t->err));
        CHECK_REASON(t, "hkdf");
        CHECK_EQUAL(t, 0xa5, out[0]);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(extract_matches_another_implementation),
        CASE(expand_matches_another_implementation_at_every_short_length),
        CASE(expand_gives_255_blocks_and_refuses_one_byte_more),
    };
    return RUN_TESTS(argc, argv, cases);
}
