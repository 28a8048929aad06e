#include "sotto/collect.h"
#include "support/test.h"

#include <string.h>

static sotto_bytes file_of(sotto_test *t, const sotto_collector_key *key)
{
    sotto_buf out = sotto_test_buf(t, SOTTO_COLLECTOR_KEY_MAX);

    CHECK_OK(t, sotto_collector_key_encode(&out, key, &t->err));
    return sotto_buf_bytes(&out);
}

static void a_key_survives_its_file(sotto_test *t)
{
    sotto_collector_key key, back;

    CHECK_OK(t, sotto_collector_key_new(&key, 200, &t->err));
    CHECK_OK(t, sotto_collector_key_decode(&back, file_of(t, &key), &t->err));
    CHECK_EQUAL(t, 200, back.id);
    CHECK_EQUAL(t, key.key.private_key_len, back.key.private_key_len);
    CHECK_BYTES(t, key.key.private_key, back.key.private_key, key.key.private_key_len);
    CHECK_BYTES(t, key.key.public_key, back.key.public_key, key.key.public_key_len);
}

static void two_keys_differ(sotto_test *t)
{
    sotto_collector_key a, b;

    CHECK_OK(t, sotto_collector_key_new(&a, 1, &t->err));
    CHECK_OK(t, sotto_collector_key_new(&b, 1, &t->err));
    CHECK(t, memcmp(a.key.private_key, b.key.private_key, a.key.private_key_len) != 0);
}

/* The file of one key with the other's public half. */
static void halves_of_two_keys_are_refused(sotto_test *t)
{
    sotto_collector_key a, b, out;
    sotto_bytes of_a, of_b;
    char *mixed, *at;

    CHECK_OK(t, sotto_collector_key_new(&a, 1, &t->err));
    CHECK_OK(t, sotto_collector_key_new(&b, 1, &t->err));
    of_a = file_of(t, &a);
    of_b = file_of(t, &b);
    mixed = sotto_arena_take(&t->arena, of_a.len + 1);
    memcpy(mixed, of_a.data, of_a.len);
    at = strstr(mixed, "private_key");
    CHECK(t, at != NULL);
    memcpy(at, of_b.data + (at - mixed), of_a.len - (size_t)(at - mixed));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_collector_key_decode(&out, sotto_bytes_of(mixed, of_a.len), &t->err));
    for (size_t i = 0; i < sizeof out; i++)
        CHECK_EQUAL(t, 0, ((const uint8_t *)&out)[i]);
}

static void what_is_no_key_file_is_refused(sotto_test *t)
{
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"sotto-collector-key\":1}",
        "{\"sotto-collector-key\":2,\"config\":\"00\",\"private_key\":\"00\"}",
        "{\"sotto-collector-key\":1,\"config\":\"0\",\"private_key\":\"00\"}",
        "{\"sotto-collector-key\":1,\"config\":\"zz\",\"private_key\":\"00\"}",
        "{\"sotto-collector-key\":1,\"config\":7,\"private_key\":\"00\"}",
        "{\"sotto-collector-key\":1,\"config\":\"00\",\"config\":\"00\",\"private_key\":\"00\"}",
    };
    sotto_collector_key out;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        CHECK_STATUS(
            t, SOTTO_MALFORMED,
            sotto_collector_key_decode(&out, sotto_bytes_of(texts[i], strlen(texts[i])), &t->err));
    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_collector_key_decode(
                     &out,
                     sotto_bytes_of(sotto_arena_take(&t->arena, SOTTO_COLLECTOR_KEY_MAX + 1),
                                    SOTTO_COLLECTOR_KEY_MAX + 1),
                     &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_key_survives_its_file),
        CASE(two_keys_differ),
        CASE(halves_of_two_keys_are_refused),
        CASE(what_is_no_key_file_is_refused),
    };

    return RUN_TESTS(argc, argv, cases);
}
