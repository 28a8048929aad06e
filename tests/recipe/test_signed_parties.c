/* Signed parties files: one spelling, signatures over all of it, and the policy's word on who may sign. */
#include "recipe/signed_parties.h"

#include "base/hex.h"
#include "support/recipes.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 8192 };

static sotto_signer signer_of(sotto_test *t, uint8_t seed)
{
    const uint8_t bytes[SOTTO_SIGN_SEED] = {seed};
    sotto_signer signer;

    CHECK_OK(t, sotto_signer_init(&signer, bytes, &t->err));
    return signer;
}

static sotto_signed_parties file_of(const char *json, uint64_t serial)
{
    return (sotto_signed_parties){.serial = serial, .parties = sotto_bytes_of(json, strlen(json))};
}

static void sign(sotto_test *t, sotto_signed_parties *file, uint8_t seed)
{
    sotto_signer signer = signer_of(t, seed);

    CHECK_OK(t, sotto_signed_parties_sign(file, &signer, &t->err));
    sotto_signer_clear(&signer);
}

static sotto_bytes encode(sotto_test *t, const sotto_signed_parties *file)
{
    sotto_buf out = sotto_test_buf(t, TEXT);

    CHECK_OK(t, sotto_signed_parties_encode(&out, file, &t->err));
    return sotto_buf_bytes(&out);
}

/* The example's policy with the keys of these seeds, of which `wanted` must sign; 0: it does not say. */
static sotto_bytes policy_text(sotto_test *t, const char *seeds, unsigned wanted)
{
    char *text = sotto_arena_take(&t->arena, TEXT);
    char hex[2 * SOTTO_SIGN_PUBLIC + 1], number[48] = "";

    CHECK(t, text != NULL);
    if (wanted > 0)
        (void)snprintf(number, sizeof number, "\"parties_signatures\": %u, ", wanted);
    (void)snprintf(text, TEXT, "%s\"parties_keys\": {", number);
    for (size_t i = 0; seeds[i]; i++) {
        sotto_signer signer = signer_of(t, (uint8_t)seeds[i]);

        sotto_hex_encode(hex, sotto_bytes_of(signer.public_key, SOTTO_SIGN_PUBLIC));
        (void)snprintf(text + strlen(text), TEXT - strlen(text), "%s\"k%zu\": \"%s\"",
                       i > 0 ? ", " : "", i, hex);
        sotto_signer_clear(&signer);
    }
    (void)snprintf(text + strlen(text), TEXT - strlen(text), "}, \"min_cohort\"");
    return sotto_test_replace(t, sotto_policy_example(), "\"min_cohort\"", text);
}

static sotto_status read_policy(sotto_test *t, const sotto_policy **policy, sotto_bytes text)
{
    static sotto_mistakes mistakes;

    memset(&mistakes, 0, sizeof mistakes);
    return sotto_policy_read(policy, text, &t->arena, &mistakes, &t->err);
}

static const sotto_policy *policy_of(sotto_test *t, const char *seeds, unsigned wanted)
{
    const sotto_policy *policy = NULL;

    CHECK_OK(t, read_policy(t, &policy, policy_text(t, seeds, wanted)));
    return policy;
}

static void what_was_signed_is_read_back(sotto_test *t)
{
    sotto_signed_parties file = file_of("{}\n", INT64_MAX), read;
    sotto_bytes bytes;

    for (uint8_t i = 1; i <= SOTTO_PARTIES_SIGNERS; i++)
        sign(t, &file, i);
    sign(t, &file, 1); /* no second one of the same key */
    CHECK_EQUAL(t, SOTTO_PARTIES_SIGNERS, file.count);
    bytes = encode(t, &file);
    CHECK(t, sotto_signed_parties_is(bytes));
    CHECK_OK(t, sotto_signed_parties_decode(&read, bytes, &t->err));
    CHECK_EQUAL(t, file.serial, read.serial);
    CHECK_EQUAL(t, file.count, read.count);
    CHECK_BYTES(t, file.by, read.by, sizeof file.by);
    CHECK(t, sotto_bytes_equal_vartime(file.parties, read.parties));
    CHECK_OK(t, sotto_signed_parties_check(&read, policy_of(t, "\1\2\3\4\5\6\7\10", 0), &t->err));
}

static void one_signature_more_than_there_can_be_is_refused(sotto_test *t)
{
    sotto_signed_parties file = file_of("{}", 1);
    sotto_signer signer = signer_of(t, 99);

    for (uint8_t i = 1; i <= SOTTO_PARTIES_SIGNERS; i++)
        sign(t, &file, i);
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_signed_parties_sign(&file, &signer, &t->err));
    sotto_signer_clear(&signer);
}

static bool holds(sotto_test *t, const sotto_policy *policy, sotto_bytes bytes)
{
    sotto_signed_parties file;

    (void)t;
    return sotto_signed_parties_decode(&file, bytes, NULL) == SOTTO_OK &&
           sotto_signed_parties_check(&file, policy, NULL) == SOTTO_OK;
}

/* Nothing of it can be changed: not its serial, nor its key, its signature or its text. */
static void no_byte_can_be_changed(sotto_test *t)
{
    const sotto_policy *policy = policy_of(t, "\1", 0);
    sotto_signed_parties file = file_of("{\"a\": 1}", 1234567);
    sotto_buf copy = sotto_test_buf(t, TEXT);
    sotto_bytes bytes;

    sign(t, &file, 1);
    bytes = encode(t, &file);
    CHECK(t, holds(t, policy, bytes));
    memcpy(copy.data, bytes.data, bytes.len);
    for (size_t i = 0; i < bytes.len; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            copy.data[i] ^= (uint8_t)(1U << bit);
            CHECK(t, !holds(t, policy, sotto_bytes_of(copy.data, bytes.len)));
            copy.data[i] ^= (uint8_t)(1U << bit);
        }
    for (size_t len = 0; len < bytes.len; len++)
        CHECK(t, !holds(t, policy, sotto_bytes_of(bytes.data, len)));
    copy.data[bytes.len] = ' ';
    CHECK(t, !holds(t, policy, sotto_bytes_of(copy.data, bytes.len + 1)));
}

static void a_wrong_signature_is_rejected(sotto_test *t)
{
    sotto_signed_parties file = file_of("{}", 7);

    sign(t, &file, 1);
    sign(t, &file, 2);
    file.by[1].signature[5] ^= 1;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_signed_parties_check(&file, policy_of(t, "\1\2", 1), &t->err));
    /* One that nobody asked for is not looked at. */
    CHECK_OK(t, sotto_signed_parties_check(&file, policy_of(t, "\1", 0), &t->err));
}

static void as_many_sign_as_the_policy_wants(sotto_test *t)
{
    static const struct {
        const char *named, *signers;
        unsigned wanted;
        bool enough;
    } cases[] = {
        {"\1", "\1", 0, true},        {"\1", "\2", 0, false},    {"\1", "\2\1", 0, true},
        {"\1\2", "\1", 0, false},     {"\1\2", "\1", 2, false},  {"\1\2", "\1", 1, true},
        {"\1\2", "\2", 1, true},      {"\1\2", "\1\2", 0, true}, {"\1\2\3", "\1\3", 2, true},
        {"\1\2\3", "\1\4", 2, false}, {"", "\1", 0, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sotto_signed_parties file = file_of("{}", 7);

        for (const char *s = cases[i].signers; *s; s++)
            sign(t, &file, (uint8_t)*s);
        CHECK_STATUS(t, cases[i].enough ? SOTTO_OK : SOTTO_DENIED,
                     sotto_signed_parties_check(
                         &file, policy_of(t, cases[i].named, cases[i].wanted), &t->err));
    }
}

static void a_policy_names_keys_that_can_sign(sotto_test *t)
{
    const sotto_policy *policy;

    CHECK_STATUS(t, SOTTO_MALFORMED, read_policy(t, &policy, policy_text(t, "\1\2", 3)));
    CHECK_STATUS(t, SOTTO_MALFORMED, read_policy(t, &policy, policy_text(t, "\1\1", 1)));
    CHECK_REASON(t, "the same key");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_policy(t, &policy,
                             sotto_test_replace(t, sotto_policy_example(), "\"min_cohort\"",
                                                "\"parties_keys\": {\"a\": \"00112233445566778899"
                                                "aabbccddeeff\"}, \"min_cohort\"")));
    CHECK_REASON(t, "16 bytes");
    CHECK_EQUAL(t, 0, policy_of(t, "", 0)->parties_signatures);
}

#define D64  "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define LINE D64 " " D64 D64 "\n"

static void there_is_one_spelling(sotto_test *t)
{
    static const char *const bad[] = {
        "",
        "{}",
        "sotto-parties-1",
        "sotto-parties-1 ",
        "sotto-parties-1 1",
        "sotto-parties-1 1\n",
        "sotto-parties-1 1\n\n{}",
        "sotto-parties-1 0\n" LINE "\n{}",
        "sotto-parties-1 01\n" LINE "\n{}",
        "sotto-parties-1 -1\n" LINE "\n{}",
        "sotto-parties-1 \n" LINE "\n{}",
        "sotto-parties-1 1 \n" LINE "\n{}",
        "sotto-parties-1 9223372036854775808\n" LINE "\n{}",
        "sotto-parties-1 99999999999999999999\n" LINE "\n{}",
        "sotto-parties-1 1\r\n" LINE "\n{}",
        "sotto-parties-2 1\n" LINE "\n{}",
        "Sotto-parties-1 1\n" LINE "\n{}",
        "sotto-parties-1 1\n" LINE,
        "sotto-parties-1 1\n" LINE "{}",
        "sotto-parties-1 1\n" LINE LINE "\n{}", /* the same key twice */
        "sotto-parties-1 1\n" D64 "  " D64 D64 "\n\n{}",
        "sotto-parties-1 1\n" D64 " " D64 D64 "\r\n\n{}",
        "sotto-parties-1 1\n" D64 " " D64 "\n\n{}",
        "sotto-parties-1 1\nA" LINE "\n{}",
    };
    sotto_signed_parties file;
    const char good[] = "sotto-parties-1 1\n" LINE "\n{}";

    CHECK_OK(t, sotto_signed_parties_decode(&file, sotto_bytes_of(good, strlen(good)), &t->err));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_STATUS(
            t, SOTTO_MALFORMED,
            sotto_signed_parties_decode(&file, sotto_bytes_of(bad[i], strlen(bad[i])), &t->err));
}

static void a_file_that_is_too_long_is_not_read(sotto_test *t)
{
    static char long_file[SOTTO_SIGNED_PARTIES_MAX + 1];
    const char head[] = "sotto-parties-1 1\n" LINE "\n{}";
    sotto_signed_parties file;

    memset(long_file, ' ', sizeof long_file);
    memcpy(long_file, head, strlen(head));
    CHECK_OK(t, sotto_signed_parties_decode(
                    &file, sotto_bytes_of(long_file, SOTTO_SIGNED_PARTIES_MAX), &t->err));
    CHECK_STATUS(
        t, SOTTO_TOO_LARGE,
        sotto_signed_parties_decode(&file, sotto_bytes_of(long_file, sizeof long_file), &t->err));
}

static void the_same_servers_have_names_roles_and_urls(sotto_test *t)
{
    const sotto_parties *plain = sotto_test_parties(t, NULL, NULL);

    CHECK(t, sotto_parties_same_servers(plain, sotto_test_parties(t, "2027-07-01", "2027-08-01")));
    CHECK(t, !sotto_parties_same_servers(
                 plain, sotto_test_parties(t, "key:leader-2026a", "key:leader-2026b")));
    CHECK(t,
          !sotto_parties_same_servers(plain, sotto_test_parties(t, "https://leader", "https://l")));
    CHECK(t, !sotto_parties_same_servers(
                 plain, sotto_test_parties(t, "\"role\": \"leader\"", "\"role\": \"helper\"")));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(what_was_signed_is_read_back),
        CASE(one_signature_more_than_there_can_be_is_refused),
        CASE(no_byte_can_be_changed),
        CASE(a_wrong_signature_is_rejected),
        CASE(as_many_sign_as_the_policy_wants),
        CASE(a_policy_names_keys_that_can_sign),
        CASE(there_is_one_spelling),
        CASE(a_file_that_is_too_long_is_not_read),
        CASE(the_same_servers_have_names_roles_and_urls),
    };

    return RUN_TESTS(argc, argv, cases);
}
