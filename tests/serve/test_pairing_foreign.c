/* Pairings with tokens that others chose. */
#include "support/test.h"

#include "serve/tasks/pairing.h"

#include <string.h>

enum { ROOM = 4096 };

/* X25519 with HKDF-SHA256 and AES-128-GCM; any 32 bytes are a public key. */
static const uint8_t config[41] = {9, 0, 32, 0, 1, 0, 1, 0, 32, 1, 2, 3};

static const sotto_paired parties = {"l",
                                     "h",
                                     "c",
                                     {(const uint8_t *)"https://l.example/", 18},
                                     {(const uint8_t *)"https://h.example/", 18}};

static sotto_status there_and_back(sotto_test *t, sotto_pairing *out, const sotto_pairing *pairing)
{
    uint8_t *memory = sotto_arena_take(&t->arena, ROOM);
    sotto_buf json = sotto_buf_over(memory, ROOM);

    CHECK(t, memory != NULL);
    CHECK_OK(t, sotto_pairing_encode(&json, pairing, &t->err));
    return sotto_pairing_decode(out, sotto_buf_bytes(&json), NULL);
}

static void tokens_of_others_are_kept_as_they_are(sotto_test *t)
{
    sotto_pairing pairing, read;

    CHECK_OK(t, sotto_pairing_foreign(&pairing, &parties, "short", "a.b~c+d/e==", &t->err));
    CHECK_OK(t, there_and_back(t, &read, &pairing));
    CHECK(t, strcmp(read.leader_token, "short") == 0);
    CHECK(t, strcmp(read.collector_token, "a.b~c+d/e==") == 0);
    CHECK(t, read.foreign);
    CHECK_EQUAL(t, 0, read.collector_key[0]);
    CHECK(t, strcmp(read.fingerprint, pairing.fingerprint) == 0);
    CHECK(t, sotto_pairing_url_is(read.leader_url, parties.leader_url));
    CHECK(t, sotto_pairing_url_is(read.helper_url, parties.helper_url));
}

/* Its tokens are as good at the helper as ours. */
static void a_foreign_fingerprint_covers_each_url(sotto_test *t)
{
    sotto_pairing read;

    for (unsigned i = 0; i < 2; i++) {
        sotto_pairing pairing;

        CHECK_OK(t, sotto_pairing_foreign(&pairing, &parties, "short", "other", &t->err));
        (i ? pairing.helper_url : pairing.leader_url)[8] ^= 1;
        CHECK_STATUS(t, SOTTO_REJECTED, there_and_back(t, &read, &pairing));
    }
}

static void our_own_tokens_have_their_full_length(sotto_test *t)
{
    sotto_pairing pairing, read;

    CHECK_OK(t,
             sotto_pairing_new(&pairing, &parties, sotto_bytes_of(config, sizeof config), &t->err));
    CHECK_OK(t, there_and_back(t, &read, &pairing));
    CHECK(t, !read.foreign);
    pairing.leader_token[20] = 0;
    CHECK_STATUS(t, SOTTO_MALFORMED, there_and_back(t, &read, &pairing));
}

static void a_token_that_could_break_a_header_is_refused(sotto_test *t)
{
    static const char *const bad[] = {"", "two words", "line\r\nbreak", "caf\xc3\xa9", "quote\""};
    char long_one[SOTTO_TOKEN_MAX + 1];
    sotto_pairing pairing;

    memset(long_one, 'a', sizeof long_one - 1);
    long_one[sizeof long_one - 1] = 0;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_pairing_foreign(&pairing, &parties, bad[i], "fine", NULL));
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_pairing_foreign(&pairing, &parties, "fine", bad[i], NULL));
    }
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_pairing_foreign(&pairing, &parties, long_one, "fine", NULL));
    CHECK_OK(t, sotto_pairing_foreign(&pairing, &parties, long_one + 1, "fine", &t->err));
}

static void a_helper_needs_no_token_of_the_collector(sotto_test *t)
{
    sotto_pairing pairing, read;

    CHECK_OK(t, sotto_pairing_foreign(&pairing, &parties, "short", NULL, &t->err));
    CHECK_OK(t, there_and_back(t, &read, &pairing));
    CHECK_EQUAL(t, SOTTO_TOKEN_TEXT - 1, strlen(read.collector_token));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(tokens_of_others_are_kept_as_they_are),
        CASE(a_foreign_fingerprint_covers_each_url),
        CASE(our_own_tokens_have_their_full_length),
        CASE(a_token_that_could_break_a_header_is_refused),
        CASE(a_helper_needs_no_token_of_the_collector),
    };

    return RUN_TESTS(argc, argv, cases);
}
