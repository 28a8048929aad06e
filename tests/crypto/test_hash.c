#include "support/test.h"

#include <string.h>

#include "crypto/hash_many.h"

/* Expected values come from Python's hashlib and hmac, over inputs of our own. */
typedef struct expectation {
    sotto_hash_id id;
    const char *short_message;
    const char *long_message;
    const char *hmac;
    const char *hmac_of_long_key;
} expectation;

static const expectation EXPECTED[] = {
    {SOTTO_SHA256, "e5530e2794739bd5c8f4bed3c8e5c0e3917f317ded4fc5d72e775c0cfdf52f7d",
     "a8af099bf2e878609558dbf69d8f88f4a31040a8cf84b549a0cfa912f12ffc3f",
     "17329714bdfdbc876d7ad8cf0d27caba06c71fc69f74572490f6bd321f2ad2ce",
     "6d7a5e40700fb3d325f3fb84d3519d418650889c0d1c319e726a1f98e9e4cf6b"},
    {SOTTO_SHA384,
     "0ea30f962e4002aab9203dcd8883e14cb7effa3adff3834e927f61199bd7e2c3a602b179ea4bd9b0a83ef73a8f678"
     "60e",
     "cfe84a17cb1c1c9d4e7d1b1f5e7aee4ba0fa7ccaafe00c80b20b94ef4250ecae24321940e3e66510732fe32f386e4"
     "cc7",
     "8288391fd6dec5fa177ec310637d614de18c17314208a58dc1aa11a01c812ffaf7828e91d7858cf47b3ec4c40e914"
     "5a6",
     "b1c0c61e2eb8fa40da1dfbbe2b6eab5d30373ce581cc189f52da4dde03b93c069085c4cf8430685b5d081f3c805bf"
     "787"},
    {SOTTO_SHA512,
     "208e098837a72f4286306dd2c43f744d3730066ec6f1d7c37f6ae2da5bc7d6d8"
     "bb707a5cebedd45b3e07a786ba84d460326c45a41d1f99b008bfce7d67b882d5",
     "6cd2eda9bf9c0597129029b0054b81e433f6b8b7b499a75eb705efd74bac1941"
     "49835b1d1a14c48be696e4d588456d512a22eae7aa1b57be2b56eae7d35e08cb",
     "9c7d8c3d6c1c412705a88a0d5454b9bd549a366bb5965b3addc4baf94ad5fb00"
     "5943308682039fbc44ab0ab42653453218c43211b285df63c683de652c0a3778",
     "c08e72a9fc1b8345225e716041c1c425b580d14b99aebf44fb51fcada43ad6c3"
     "8800c0a3932195d421b2da50008d9728ae0421bc02c43f31a0ffee371072f0d9"},
};
enum { HASHES = sizeof EXPECTED / sizeof EXPECTED[0] };

static sotto_bytes message(void)
{
    return sotto_bytes_of("sotto counts quietly", 20);
}

static void check_digest(sotto_test *t, const char *hex, const uint8_t *got, sotto_hash_id id)
{
    const sotto_bytes wanted = sotto_test_hex(t, hex);

    CHECK_EQUAL(t, wanted.len, sotto_hash_size(id));
    CHECK_BYTES(t, wanted.data, got, wanted.len);
}

static void hashes_match_another_implementation(sotto_test *t)
{
    uint8_t long_message[1000], out[SOTTO_HASH_MAX_SIZE];

    for (size_t i = 0; i < sizeof long_message; i++)
        long_message[i] = (uint8_t)i;
    for (size_t i = 0; i < HASHES; i++) {
        sotto_hash_once(out, EXPECTED[i].id, message());
        check_digest(t, EXPECTED[i].short_message, out, EXPECTED[i].id);
        sotto_hash_once(out, EXPECTED[i].id, sotto_bytes_of(long_message, sizeof long_message));
        check_digest(t, EXPECTED[i].long_message, out, EXPECTED[i].id);
    }
}

static void a_message_in_pieces_hashes_like_the_whole(sotto_test *t)
{
    uint8_t whole[SOTTO_HASH_MAX_SIZE], pieces[SOTTO_HASH_MAX_SIZE];
    sotto_hash hash;

    for (size_t i = 0; i < HASHES; i++)
        for (size_t cut = 0; cut <= message().len; cut++) {
            sotto_hash_once(whole, EXPECTED[i].id, message());
            sotto_hash_init(&hash, EXPECTED[i].id);
            sotto_hash_update(&hash, sotto_bytes_of(message().data, cut));
            sotto_hash_update(&hash, sotto_bytes_of(NULL, 0));
            sotto_hash_update(&hash, sotto_bytes_of(message().data + cut, message().len - cut));
            sotto_hash_final(&hash, pieces);
            CHECK_BYTES(t, whole, pieces, sotto_hash_size(EXPECTED[i].id));
        }
}

static void hmac_matches_another_implementation(sotto_test *t)
{
    const uint8_t long_key[200] = {0}; /* longer than a block: hashed first */
    uint8_t out[SOTTO_HASH_MAX_SIZE];

    for (size_t i = 0; i < HASHES; i++) {
        sotto_hmac_once(out, EXPECTED[i].id, sotto_bytes_of("key", 3), message());
        check_digest(t, EXPECTED[i].hmac, out, EXPECTED[i].id);
        sotto_hmac_once(out, EXPECTED[i].id, sotto_bytes_of(long_key, sizeof long_key), message());
        check_digest(t, EXPECTED[i].hmac_of_long_key, out, EXPECTED[i].id);
    }
}

static void a_prepared_hmac_key_serves_many_messages(sotto_test *t)
{
    uint8_t out[SOTTO_HASH_MAX_SIZE];
    sotto_hmac_key key;
    sotto_hash hash;

    sotto_hmac_key_init(&key, SOTTO_SHA256, sotto_bytes_of("key", 3));
    for (int again = 0; again < 3; again++) {
        sotto_hmac_begin(&key, &hash);
        sotto_hash_update(&hash, message());
        sotto_hmac_end(&key, out, &hash);
        check_digest(t, EXPECTED[0].hmac, out, SOTTO_SHA256);
    }
}

static void a_finished_state_is_wiped(sotto_test *t)
{
    const sotto_hash blank = {0};
    uint8_t out[SOTTO_HASH_MAX_SIZE];
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA512);
    sotto_hash_update(&hash, message());
    sotto_hash_final(&hash, out);
    CHECK(t, memcmp(&hash.state, &blank.state, sizeof hash.state) == 0);
}

/* Of all lengths around those of blocks, beside others. */
static void many_texts_hash_as_each_alone(sotto_test *t)
{
    enum { MOST = 9, LONGEST = 300 };
    static const char *const sets[] = {"sha", "none"};
    static uint8_t text[LONGEST + MOST];
    uint8_t found[MOST + 1][32], wanted[32];
    sotto_bytes texts[MOST];

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)(i * 7 + i / 50);
    for (size_t set = 0; set < 2; set++)
        for (size_t len = 0; sotto_sha256_use(sets[set]) && len <= LONGEST; len++) {
            const size_t count = len % (MOST + 1);

            for (size_t i = 0; i < count; i++)
                texts[i] = sotto_bytes_of(text + i, i % 3 == 2 ? LONGEST - len : len);
            memset(found, 0, sizeof found);
            sotto_sha256_many(found, texts, count);
            for (size_t i = 0; i < count; i++) {
                sotto_hash_once(wanted, SOTTO_SHA256, texts[i]);
                CHECK_BYTES(t, wanted, found[i], sizeof wanted);
            }
            CHECK(t, found[count][0] == 0 && found[count][31] == 0);
        }
    CHECK(t, sotto_sha256_use(NULL));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(hashes_match_another_implementation), CASE(a_message_in_pieces_hashes_like_the_whole),
        CASE(hmac_matches_another_implementation), CASE(a_prepared_hmac_key_serves_many_messages),
        CASE(a_finished_state_is_wiped),           CASE(many_texts_hash_as_each_alone),
    };
    return RUN_TESTS(argc, argv, cases);
}
