/* The pairing file: all of it for servers, the collector's part for a collector, nothing that was changed. */
#include "support/test.h"

#include "serve/tasks/pairing.h"

#include <stdio.h>
#include <string.h>

enum { FILE_SIZE = 4096 };

/* X25519 with HKDF-SHA256 and AES-128-GCM; any 32 bytes are a public key. */
static const uint8_t config[41] = {9, 0, 32, 0, 1, 0, 1, 0, 32, 1, 2, 3};

static sotto_paired parties_of(const char *leader, const char *helper, const char *collector)
{
    static const char urls[2][32] = {"https://leader.example/dap/", "https://helper.example/"};

    return (sotto_paired){leader, helper, collector, sotto_bytes_of(urls[0], strlen(urls[0])),
                          sotto_bytes_of(urls[1], strlen(urls[1]))};
}

static sotto_pairing fresh(sotto_test *t)
{
    sotto_paired parties = parties_of("key:leader", "key:helper", "key:collector");
    sotto_pairing p;

    CHECK_OK(t, sotto_pairing_new(&p, &parties, sotto_bytes_of(config, sizeof config), &t->err));
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
    CHECK_BYTES(t, p.leader_url, its.leader_url, sizeof p.leader_url);
    CHECK_BYTES(t, p.helper_url, its.helper_url, sizeof p.helper_url);
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
    sotto_paired none = parties_of("", "h", "c"), longest = parties_of(name, "h", "c");

    memset(name, 'x', sizeof name);
    name[SOTTO_PARTY_NAME] = 0;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_pairing_new(&p, &none, key, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_pairing_new(&p, &longest, key, &t->err));
}

static void two_parties_have_two_names(sotto_test *t)
{
    static const char *const names[][3] = {{"x", "x", "c"}, {"x", "h", "x"}, {"l", "x", "x"}};
    sotto_bytes key = sotto_bytes_of(config, sizeof config);
    uint8_t bytes[FILE_SIZE];
    sotto_buf out = sotto_buf_over(bytes, sizeof bytes);
    sotto_pairing p;

    for (size_t i = 0; i < 3; i++) {
        sotto_paired parties = parties_of(names[i][0], names[i][1], names[i][2]);

        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_pairing_new(&p, &parties, key, NULL));
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_pairing_foreign(&p, &parties, "one", "two", NULL));
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
    sotto_paired parties = parties_of("l", "h", "c");
    sotto_pairing p;

    memcpy(other, config, sizeof config);
    for (size_t len = 0; len < sizeof config; len++)
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_pairing_new(&p, &parties, sotto_bytes_of(other, len), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_pairing_new(&p, &parties, sotto_bytes_of(other, sizeof other), &t->err));
    other[6] = 99; /* an AEAD that nobody has */
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_pairing_new(&p, &parties, sotto_bytes_of(other, sizeof config), &t->err));
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

/* What is not in the file that was written in `out` but for one of its lines. */
static sotto_status decode_without(sotto_test *t, sotto_buf *out, const char *key)
{
    sotto_pairing got;
    char *at, *end;

    CHECK(t, out->len < out->cap);
    out->data[out->len] = 0;
    at = strstr((char *)out->data, key);
    end = at ? strchr(at, '\n') : NULL;
    CHECK(t, end != NULL);
    if (!end)
        return SOTTO_OK;
    memset(at, ' ', (size_t)(end - at));
    return sotto_pairing_decode(&got, sotto_buf_bytes(out), &t->err);
}

/* As they were written before pairings had it: whoever upgrades is told what to do. */
static void files_of_earlier_versions_are_refused(sotto_test *t)
{
    static const char *const keys[] = {"\"collector_key\"", "\"leader_url\"", "\"helper_url\""};
    sotto_pairing p = fresh(t);
    uint8_t bytes[FILE_SIZE];

    for (size_t i = 0; i < 2 * sizeof keys / sizeof keys[0]; i++) {
        sotto_buf out = sotto_buf_over(bytes, sizeof bytes);

        t->err.reason[0] = 0;
        CHECK_OK(t, i % 2 ? sotto_pairing_encode_for_collector(&out, &p, &t->err)
                          : sotto_pairing_encode(&out, &p, &t->err));
        CHECK_STATUS(t, SOTTO_MALFORMED, decode_without(t, &out, keys[i / 2]));
        CHECK(t, strstr(t->err.reason, "pair again, under other names") != NULL);
    }
}

static void the_fingerprint_covers_each_url(sotto_test *t)
{
    uint8_t bytes[FILE_SIZE];

    for (unsigned i = 0; i < 2; i++) {
        sotto_pairing p = fresh(t), got;
        sotto_buf out = sotto_buf_over(bytes, sizeof bytes);
        char *url = i ? p.helper_url : p.leader_url;

        url[strlen(url) - 2] ^= 1;
        CHECK_OK(t, sotto_pairing_encode(&out, &p, &t->err));
        CHECK_STATUS(t, SOTTO_REJECTED, sotto_pairing_decode(&got, sotto_buf_bytes(&out), &t->err));
    }
}

/* As the leader's URL and as the helper's, for a new pairing and in a file. */
static sotto_status pair_with(sotto_test *t, const char *url, bool helper)
{
    sotto_paired parties = parties_of("l", "h", "c");
    sotto_bytes *which = helper ? &parties.helper_url : &parties.leader_url;
    sotto_pairing p;
    sotto_status status, foreign;

    *which = sotto_bytes_of(url, strlen(url));
    status = sotto_pairing_new(&p, &parties, sotto_bytes_of(config, sizeof config), NULL);
    foreign = sotto_pairing_foreign(&p, &parties, "one", "two", NULL);
    CHECK_EQUAL(t, status, foreign);
    return status;
}

static sotto_status decode_with(sotto_test *t, const char *url, bool helper)
{
    sotto_pairing p = fresh(t), got;
    uint8_t bytes[2 * FILE_SIZE];
    sotto_buf out = sotto_buf_over(bytes, sizeof bytes);
    char *which = helper ? p.helper_url : p.leader_url;

    (void)snprintf(which, SOTTO_PARTY_URL, "%s", url);
    CHECK_OK(t,
             sotto_pairing_encode_for_collector(&out, &p, &t->err)); /* compares no fingerprint */
    return sotto_pairing_decode(&got, sotto_buf_bytes(&out), NULL);
}

static void what_is_no_url_to_send_a_token_to_is_refused(sotto_test *t)
{
    static const char *const bad[] = {"helper.example",
                                      "//helper.example/",
                                      "ftp://helper.example/",
                                      "http:/helper.example/",
                                      "https:///helper.example/",
                                      "https://",
                                      "https:///",
                                      "HTTPS://helper.example/",
                                      "https://user@helper.example/",
                                      "https://a:b@helper.example/",
                                      "https://@helper.example/",
                                      "https://helper.example/?a=b",
                                      "https://helper.example/#a",
                                      "https://helper.example/a b",
                                      "https://h\xc3\xa9lper.example/",
                                      "https://helper.example/\"",
                                      "https://helper.example\\@b/",
                                      "https://helper.example\r\n/",
                                      "https://helper.example:port/",
                                      "https://helper.example:99999/",
                                      " https://helper.example/"};
    static const char *const good[] = {"https://helper.example", "http://127.0.0.1:8788/",
                                       "http://[::1]:8788/dap/", "https://helper.example:8443/a/b/",
                                       "http://helper/" /* the sender's plain_http decides */};
    char longest[SOTTO_PARTY_URL + 1] = "https://helper.example/";

    memset(longest + strlen(longest), 'x', sizeof longest - 1 - strlen(longest));
    longest[sizeof longest - 1] = 0;
    for (unsigned helper = 0; helper < 2; helper++) {
        CHECK_STATUS(t, SOTTO_MALFORMED, pair_with(t, "", helper));
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            CHECK_STATUS(t, SOTTO_MALFORMED, pair_with(t, bad[i], helper));
            CHECK_STATUS(t, SOTTO_MALFORMED, decode_with(t, bad[i], helper));
        }
        for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
            CHECK_OK(t, pair_with(t, good[i], helper));
            CHECK_OK(t, decode_with(t, good[i], helper));
        }
        CHECK_STATUS(t, SOTTO_MALFORMED, pair_with(t, longest, helper));
        longest[sizeof longest - 2] = 0;
        CHECK_OK(t, pair_with(t, longest, helper));
        CHECK_OK(t, decode_with(t, longest, helper));
        longest[sizeof longest - 2] = 'x';
    }
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
        CASE(files_of_earlier_versions_are_refused),
        CASE(a_pairing_is_for_one_key),
        CASE(the_fingerprint_covers_the_collectors_key),
        CASE(the_fingerprint_covers_each_url),
        CASE(what_is_no_url_to_send_a_token_to_is_refused),
    };

    return RUN_TESTS(argc, argv, cases);
}
