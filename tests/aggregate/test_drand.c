/* A round of drand: what is read, and what is accepted. */
#include "aggregate/shared/drand.h"

#include "base/arena.h"
#include "base/hex.h"
#include "crypto/hash.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 1024 };

/* Made up: a signature of 96 equal bytes, and its hash. */
static sotto_bytes text_of(sotto_test *t, const char *round, uint8_t byte, const char *more)
{
    char *out = sotto_arena_take(&t->arena, TEXT), signature[2 * SOTTO_DRAND_SIGNATURE + 1],
         hex[65];
    uint8_t bytes[SOTTO_DRAND_SIGNATURE], hash[32];

    CHECK(t, out != NULL);
    memset(bytes, byte, sizeof bytes);
    sotto_hash_once(hash, SOTTO_SHA256, sotto_bytes_of(bytes, sizeof bytes));
    sotto_hex_encode(signature, sotto_bytes_of(bytes, sizeof bytes));
    sotto_hex_encode(hex, sotto_bytes_of(hash, sizeof hash));
    (void)snprintf(out, TEXT, "{\"round\": %s, \"randomness\": \"%s\", \"signature\": \"%s\"%s}\n",
                   round, hex, signature, more);
    return sotto_bytes_of(out, strlen(out));
}

typedef struct judge {
    unsigned asked;
    sotto_status answer;
} judge;

static sotto_status verify(void *context, const sotto_drand *round, sotto_err *err)
{
    judge *j = context;

    (void)round;
    (void)err;
    j->asked++;
    return j->answer;
}

static const sotto_beacon_input input = {.session = {1}, .registry = {2}, .epoch = 3};

static sotto_status value(sotto_test *t, uint8_t out[32], sotto_bytes json, judge *j)
{
    sotto_err_clear(&t->err);
    return sotto_drand_value(out, &input, 367, json, verify, j, &t->err);
}

static void a_round_is_read(sotto_test *t)
{
    sotto_drand d;

    CHECK_OK(t, sotto_drand_decode(&d, text_of(t, "367", 7, ""), &t->err));
    CHECK(t,
          d.round == 367 && d.signature_len == 96 && d.signature[95] == 7 && d.previous_len == 0);
    CHECK_OK(
        t, sotto_drand_decode(&d, text_of(t, "1", 7, ", \"time\": 12, \"note\": \"x\""), &t->err));
    char more[140] = ", \"previous_signature\": \"";
    memset(more + strlen(more), 'a', 96);
    (void)snprintf(more + strlen(more), 3, "\"");
    CHECK_OK(t, sotto_drand_decode(&d, text_of(t, "367", 7, more), &t->err));
    CHECK(t, d.previous_len == 48 && d.previous[47] == 0xaa);
}

static void other_texts_are_malformed(sotto_test *t)
{
    static const char *const rounds[] = {
        "0", "-1", "01", "1.5", "1e3", "9007199254740992", "\"367\"", "", "12345678901234567890"};
    static const char *const more[] = {", \"round\": 367",
                                       ", \"signature\": \"00\"",
                                       ",",
                                       ", \"x\": [1]",
                                       ", \"x\": \"\\u0041\"",
                                       "} {",
                                       ", \"previous_signature\": 5"};
    const sotto_bytes good = text_of(t, "367", 7, "");
    sotto_drand d;

    for (size_t i = 0; i < sizeof rounds / sizeof rounds[0]; i++)
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_drand_decode(&d, text_of(t, rounds[i], 7, ""), &t->err));
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_drand_decode(&d, text_of(t, "367", 7, more[i]), &t->err));
    for (size_t len = 0; len + 1 < good.len; len++)
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_drand_decode(&d, sotto_bytes_of(good.data, len), &t->err));
}

/* The hash alone proves nothing: anybody makes up a signature. */
static void nothing_is_accepted_without_a_verifier(sotto_test *t)
{
    const sotto_bytes json = text_of(t, "367", 7, "");
    uint8_t out[32];
    judge yes = {0}, no = {.answer = SOTTO_REJECTED};

    CHECK_STATUS(t, SOTTO_DENIED, sotto_drand_value(out, &input, 367, json, NULL, NULL, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED, value(t, out, json, &no));
    CHECK_STATUS(t, SOTTO_OK, value(t, out, json, &yes));
    CHECK(t, yes.asked == 1 && no.asked == 1);
}

static void only_the_agreed_round_counts(sotto_test *t)
{
    judge yes = {0};
    uint8_t out[32];

    CHECK_STATUS(t, SOTTO_STALE, value(t, out, text_of(t, "366", 7, ""), &yes));
    CHECK_STATUS(t, SOTTO_STALE, value(t, out, text_of(t, "368", 7, ""), &yes));
}

static void randomness_is_the_hash_of_its_signature(sotto_test *t)
{
    const sotto_bytes json = text_of(t, "367", 7, "");
    char *text = sotto_arena_take(&t->arena, json.len + 1);
    judge yes = {0};
    uint8_t out[32];

    CHECK(t, text != NULL);
    memcpy(text, json.data, json.len + 1);
    char *at = strstr(text, "\"randomness\": \"") + 15;
    *at = *at == '0' ? '1' : '0';
    CHECK_STATUS(t, SOTTO_REJECTED, value(t, out, sotto_bytes_of(text, json.len), &yes));
}

static void a_value_is_of_its_epoch(sotto_test *t)
{
    const sotto_bytes json = text_of(t, "367", 7, "");
    sotto_beacon_input others[] = {input, input, input};
    uint8_t first[32], out[32];
    judge yes = {0};

    others[0].session[31] = 1;
    others[1].registry[31] = 1;
    others[2].epoch++;
    CHECK_STATUS(t, SOTTO_OK, value(t, first, json, &yes));
    for (size_t i = 0; i < 3; i++) {
        CHECK_OK(t, sotto_drand_value(out, &others[i], 367, json, verify, &yes, &t->err));
        CHECK(t, memcmp(first, out, sizeof out) != 0);
    }
    CHECK_STATUS(t, SOTTO_OK, value(t, out, text_of(t, "367", 8, ""), &yes));
    CHECK(t, memcmp(first, out, sizeof out) != 0);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_round_is_read),
        CASE(other_texts_are_malformed),
        CASE(nothing_is_accepted_without_a_verifier),
        CASE(only_the_agreed_round_counts),
        CASE(randomness_is_the_hash_of_its_signature),
        CASE(a_value_is_of_its_epoch),
    };

    return RUN_TESTS(argc, argv, cases);
}
