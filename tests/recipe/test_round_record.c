/* Records of rounds: how they are written, who signs them, and the tasks that they make. */
#include "base/hex.h"
#include "recipe/learning.h"
#include "support/judged.h"

#include <stdio.h>
#include <string.h>

static void a_record_has_one_spelling(sotto_test *t)
{
    static const char digest[] = "9f00000000000000000000000000000000000000000000000000000000000001";
    static const char *const wrong[] = {
        "",
        "sotto-round-2\nround 3\nmodel %s\n\n{}",
        "sotto-round-1\nround 03\nmodel %s\n\n{}",
        "sotto-round-1\nround 3 \nmodel %s\n\n{}",
        "sotto-round-1\nround \nmodel %s\n\n{}",
        "sotto-round-1\nround 1000000\nmodel %s\n\n{}",
        "sotto-round-1\nmodel %s\nround 3\n\n{}",
        "sotto-round-1\nround 3\nmodel 0%s\n\n{}",
        "sotto-round-1\nround 3\nmodel %s\n{}",
        "sotto-round-1\nround 3\nmodel %s\n\n",
        "sotto-round-1\nround 3\nmodel %s",
        "sotto-round-1\nround 3\nmodel %s\nsignature 00\n\n{}",
        "sotto-round-1\nround 3\nmodel %s\nsigned 00\n\n{}",
    };
    sotto_round_record record;
    sotto_buf out = sotto_test_buf(t, 512);
    char text[512];

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        (void)snprintf(text, sizeof text, wrong[i], digest);
        CHECK_STATUS(
            t, SOTTO_MALFORMED,
            sotto_round_record_decode(&record, sotto_bytes_of(text, strlen(text)), &t->err));
    }
    (void)snprintf(text, sizeof text, "sotto-round-1\nround 3\nmodel %s\n\n{}", digest);
    sotto_err_clear(&t->err);
    CHECK_OK(t, sotto_round_record_decode(&record, sotto_bytes_of(text, strlen(text)), &t->err));
    CHECK(t, record.round == 3 && record.model[0] == 0x9f && record.recipe.len == 2);
    CHECK_OK(t, sotto_round_record_encode(&out, &record, &t->err));
    CHECK_EQUAL(t, strlen(text), out.len);
    CHECK_BYTES(t, text, out.data, out.len);
}

/* ---- who names the models ------------------------------------------------------------------------------------ */

static sotto_status try_record(sotto_test *t, const sotto_learning *learning,
                               const sotto_round_record *record)
{
    sotto_task task;

    sotto_err_clear(&t->err);
    return sotto_round_task_compile(&task, learning, record, sotto_test_parties(t, "{", "{"),
                                    &t->arena, &t->err);
}

static void a_record_is_signed_by_the_owner_of_its_recipe(sotto_test *t)
{
    uint8_t seed[SOTTO_SIGN_SEED] = {1};
    sotto_round_record record = {.round = 1}, again;
    sotto_buf out = sotto_test_buf(t, 8192);
    const sotto_learning *plain, *owned;
    sotto_signer owner, other;
    char key[128], digits[2 * SOTTO_SIGN_PUBLIC + 1];

    CHECK_OK(t, sotto_signer_init(&owner, seed, &t->err));
    seed[0] = 2;
    CHECK_OK(t, sotto_signer_init(&other, seed, &t->err));
    sotto_hex_encode(digits, sotto_bytes_of(owner.public_key, sizeof owner.public_key));
    (void)snprintf(key, sizeof key, "\"rounds\": {\"key\": \"%s\", ", digits);
    plain = sotto_test_judge(t, sotto_test_digits(t, NULL, NULL), NULL)->learning;
    owned = sotto_test_judge(t, sotto_test_digits(t, "\"rounds\": {", key), NULL)->learning;
    CHECK(t, owned->owned && !plain->owned);

    record.recipe = owned->head.text;
    CHECK_STATUS(t, SOTTO_REJECTED, try_record(t, owned, &record));
    CHECK_OK(t, sotto_round_record_sign(&record, &other, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED, try_record(t, owned, &record));
    CHECK_OK(t, sotto_round_record_sign(&record, &owner, &t->err));
    CHECK_OK(t, try_record(t, owned, &record));
    /* It reads as it was written, and is good for nothing else. */
    CHECK_OK(t, sotto_round_record_encode(&out, &record, &t->err));
    CHECK_OK(t, sotto_round_record_decode(&again, sotto_buf_bytes(&out), &t->err));
    CHECK_OK(t, try_record(t, owned, &again));
    again.round = 2;
    CHECK_STATUS(t, SOTTO_REJECTED, try_record(t, owned, &again));
    again = record;
    again.model[0] ^= 1;
    CHECK_STATUS(t, SOTTO_REJECTED, try_record(t, owned, &again));
    again = record;
    again.signature[40] ^= 1;
    CHECK_STATUS(t, SOTTO_REJECTED, try_record(t, owned, &again));
    CHECK_STATUS(t, SOTTO_REJECTED, try_record(t, plain, &record)); /* one spelling */
    sotto_signer_clear(&owner);
    sotto_signer_clear(&other);
}

static void compile(sotto_test *t, sotto_status wanted, sotto_task *task, uint64_t round,
                    uint8_t model, const sotto_learning *learning)
{
    sotto_round_record record = {.round = round};

    record.model[0] = model;
    record.model[31] = 1;
    CHECK_STATUS(t, wanted,
                 sotto_round_task_compile(task, learning, &record, sotto_test_parties(t, "{", "{"),
                                          &t->arena, &t->err));
    sotto_err_clear(&t->err);
}

static void a_task_is_bound_to_its_round_and_model(sotto_test *t)
{
    sotto_learning l =
        *sotto_test_judge(t, sotto_test_digits(t, "\"by\": \"shares\"", "\"by\": \"servers\""),
                          NULL)
             ->learning;
    sotto_task first, same, next, other;

    compile(t, SOTTO_OK, &first, 0, 0x9f, &l);
    compile(t, SOTTO_OK, &same, 0, 0x9f, &l);
    compile(t, SOTTO_OK, &next, 1, 0x9f, &l);
    compile(t, SOTTO_OK, &other, 1, 0x11, &l);
    CHECK_BYTES(t, first.id, same.id, sizeof first.id);
    CHECK(t, memcmp(first.id, next.id, sizeof first.id) != 0);
    CHECK(t, memcmp(next.id, other.id, sizeof first.id) != 0);
    CHECK_EQUAL(t, first.closes, next.opens);
    CHECK_EQUAL(t, 3600, next.closes - next.opens);
    CHECK_EQUAL(t, 48846, first.sizes.outputs);
    CHECK_NEAR(t, 131072, first.noise_sigma, 0);
    compile(t, SOTTO_DENIED, &other, 0, 0x11, &l); /* not the model that the recipe begins with */
    compile(t, SOTTO_DENIED, &other, 150, 0x9f, &l);
    l.scale = (uint64_t)1 << 30;
    compile(t, SOTTO_DENIED, &other, 1, 0x9f, &l);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_record_has_one_spelling),
        CASE(a_record_is_signed_by_the_owner_of_its_recipe),
        CASE(a_task_is_bound_to_its_round_and_model),
    };
    return RUN_TESTS(argc, argv, cases);
}
