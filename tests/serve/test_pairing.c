/* The pairing file: all of it for servers, the collector's part for a collector, nothing that was changed. */
#include "support/test.h"

#include "serve/pairing.h"

#include <stdio.h>
#include <string.h>

enum { FILE_SIZE = 4096 };

/* X25519 with HKDF-SHA256 and AES-128-GCM; any 32 bytes are a public key. */
static const uint8_t config[41] = {9, 0, 32, 0, 1, 0, 1, 0, 32, 1, 2, 3};

static sotto_pairing fresh(sotto_test *t)
{
    sotto_pairing p;

    CHECK_OK(t, sotto_pairing_new(&p, "key:leader", "key:helper", "key:collector",
                                  sotto_bytes_of(config, sizeof config), &t->err));
    return p;
}

static void a_file_gives_back_what_was_written(sotto_test *t)
{
    sotto_pairing p = fresh(t), again;
    uint8_t bytes[FILE_SIZE];
    sotto_buf out = sotto_buf_over(bytes, sizeof bytes);

    CHECK_OK(t, sotto_pairing_encode(&out, &p, &t->err));
    CHECK_OK(t, sotto_pairing_decode(&again, sotto_buf_bytes(&out), &t->err));
    CHECK_BYTES(t, &p, &again, sizeof p);
}

static void a_collector_gets_neither_the_seed_nor_the_leaders_token(sotto_test *t)
{
    sotto_pairing p = fresh(t), its;
    uint8_t bytes[FILE_SIZE], none[32] = {0};
    char seed[9];
    sotto_buf out = sotto_buf_over(bytes, sizeof bytes - 1);

    CHECK_OK(t, sotto_pairing_encode_for_collector(&out, &p, &t->err));
    bytes[out.len] = 0;
    (void)snprintf(seed, sizeof seed, "%02x%02x%02x%02x", p.verify_seed[0], p.verify_seed[1],
                   p.verify_seed[2], p.verify_seed[3]);
    CHECK(t, !strstr((char *)bytes, seed));
    CHECK(t, !strstr((char *)bytes, p.leader_token));
    CHECK_OK(t, sotto_pairing_decode(&its, sotto_buf_bytes(&out), &t->err));
    CHECK_BYTES(t, none, its.verify_seed, sizeof none);
    CHECK_EQUAL(t, 0, its.leader_token[0]);
    CHECK_BYTES(t, p.collector_token, its.collector_token, sizeof p.collector_token);
    CHECK_BYTES(t, p.rejection_token, its.rejection_token, sizeof p.rejection_token);
    CHECK_BYTES(t, p.fingerprint, its.fingerprint, sizeof p.fingerprint);
    CHECK_BYTES(t, p.collector_key, its.collector_key, sizeof p.collector_key);
}

static void two_pairings_share_nothing(sotto_test *t)
{
    sotto_pairing a = fresh(t), b = fresh(t);

    CHECK(t, strcmp(a.fingerprint, b.fingerprint) != 0);
    CHECK(t, strcmp(a.leader_token, b.leader_token) != 0);
    CHECK(t, strcmp(a.leader_token, a.collector_token) != 0);
    CHECK(t, memcmp(a.verify_seed, b.verify_seed, sizeof a.verify_seed) != 0);
}

/* Every byte changed, in turn: refused, or a space that means nothing. */
static void a_changed_file_is_refused(sotto_test *t)
{
    sotto_pairing p = fresh(t), got;
    uint8_t bytes[FILE_SIZE];
    sotto_buf out = sotto_buf_over(bytes, sizeof bytes);

    CHECK_OK(t, sotto_pairing_encode(&out, &p, &t->err));
    for (size_t i = 0; i < out.len; i++) {
        uint8_t before = bytes[i];

        bytes[i] ^= 1;
        if (sotto_pairing_decode(&got, sotto_buf_bytes(&out), NULL) == SOTTO_OK)
            CHECK_BYTES(t, &p, &got, sizeof p);
        bytes[i] = before;
    }
    for (size_t len = 0; len < out.len; len++)
        CHECK(t, sotto_pairing_decode(&got, sotto_bytes_of(bytes, len), NULL) != SOTTO_OK);
}

static void names_have_a_length(sotto_test *t)
{
    sotto_pairing p;
    char name[SOTTO_PARTY_NAME + 1];
    sotto_bytes key = sotto_bytes_of(config, sizeof config);

    memset(name, 'x', sizeof name);
    name[SOTTO_PARTY_NAME] = 0;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_pairing_new(&p, "", "h", "c", key, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_pairing_new(&p, name, "h", "c", key, &t->err));
}

static void two_parties_have_two_names(sotto_test *t)
{
    static const char *const names[][3] = {{"x", "x", "c"}, {"x", "h", "x"}, {"l", "x", "x"}};
    sotto_bytes key = sotto_bytes_of(config, sizeof config);
    uint8_t bytes[FILE_SIZE];
    sotto_buf out = sotto_buf_over(bytes, sizeof bytes);
    sotto_pairing p;

    for (size_t i = 0; i < 3; i++) {
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_pairing_new(&p, names[i][0], names[i][1], names[i][2], key, NULL));
        CHECK_STATUS(
            t, SOTTO_MALFORMED,
            sotto_pairing_foreign(&p, names[i][0], names[i][1], names[i][2], "one", "two", NULL));
    }
    /* Nor is a collector's file taken, whose fingerprint says nothing of its names. */
    p = fresh(t);
    memcpy(p.helper, p.leader, sizeof p.helper);
    CHECK_OK(t, sotto_pairing_encode_for_collector(&out, &p, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_pairing_decode(&p, sotto_buf_bytes(&out), NULL));
}

static void what_is_no_key_of_ours_is_refused(sotto_test *t)
{
    uint8_t other[SOTTO_COLLECTOR_CONFIG + 1] = {0};
    sotto_pairing p;

    memcpy(other, config, sizeof config);
    for (size_t len = 0; len < sizeof config; len++)
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_pairing_new(&p, "l", "h", "c", sotto_bytes_of(other, len), &t->err));
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_pairing_new(&p, "l", "h", "c", sotto_bytes_of(other, sizeof other), &t->err));
    other[6] = 99; /* an AEAD that nobody has */
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_pairing_new(&p, "l", "h", "c", sotto_bytes_of(other, sizeof config), &t->err));
}

/* By whole configuration: under another id or algorithm the same key is another. */
static void a_pairing_is_for_one_key(sotto_test *t)
{
    sotto_pairing p = fresh(t);
    uint8_t other[sizeof config];
    sotto_hpke_config read;

    CHECK_OK(t, sotto_hpke_config_decode(&read, sotto_bytes_of(config, sizeof config), &t->err));
    CHECK(t, sotto_pairing_is_for(&p, &read));
    for (size_t i = 0; i < sizeof other; i++) {
        memcpy(other, config, sizeof other);
        other[i] ^= i == 6 ? 2 : 1;
        if (sotto_hpke_config_decode(&read, sotto_bytes_of(other, sizeof other), NULL) == SOTTO_OK)
            CHECK(t, !sotto_pairing_is_for(&p, &read));
    }
}

static void the_fingerprint_covers_the_collectors_key(sotto_test *t)
{
    sotto_pairing p = fresh(t), got;
    uint8_t bytes[FILE_SIZE];
    sotto_buf out = sotto_buf_over(bytes, sizeof bytes);

    p.collector_key[strlen(p.collector_key) - 1] ^= 1;
    CHECK_OK(t, sotto_pairing_encode(&out, &p, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_pairing_decode(&got, sotto_buf_bytes(&out), &t->err));
}

/* As it was stored before pairings had the key: whoever upgrades is told what to do. */
static void a_file_without_the_collectors_key_is_refused(sotto_test *t)
{
    sotto_pairing p = fresh(t), got;
    uint8_t bytes[FILE_SIZE];
    sotto_buf out = sotto_buf_over(bytes, sizeof bytes);
    char *at, *end;

    CHECK_OK(t, sotto_pairing_encode(&out, &p, &t->err));
    CHECK(t, out.len < sizeof bytes);
    bytes[out.len] = 0;
    at = strstr((char *)bytes, "\"collector_key\"");
    end = at ? strchr(at, '\n') : NULL;
    CHECK(t, end != NULL);
    if (!end)
        return;
    memset(at, ' ', (size_t)(end - at));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_pairing_decode(&got, sotto_buf_bytes(&out), &t->err));
    CHECK(t, strstr(t->err.reason, "pair anew") != NULL);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_file_gives_back_what_was_written),
        CASE(a_collector_gets_neither_the_seed_nor_the_leaders_token),
        CASE(two_pairings_share_nothing),
        CASE(a_changed_file_is_refused),
        CASE(names_have_a_length),
        CASE(two_parties_have_two_names),
        CASE(what_is_no_key_of_ours_is_refused),
        CASE(a_file_without_the_collectors_key_is_refused),
        CASE(a_pairing_is_for_one_key),
        CASE(the_fingerprint_covers_the_collectors_key),
    };

    return RUN_TESTS(argc, argv, cases);
}
