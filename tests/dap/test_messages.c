/* Every message in its own bytes: what holds for all of them alike. */
#include "support/dap.h"

#include "base/alloc.h"

#include <string.h>

enum { ROUNDS = 200, ROOM = 8192 };

typedef struct attempt {
    uint8_t memory[ROOM];
    sotto_buf out;
} attempt;

static sotto_status decode(attempt *a, const sotto_dap_form *form, sotto_bytes wire,
                           sotto_dap_profile profile, sotto_err *err)
{
    a->out = sotto_buf_over(a->memory, sizeof a->memory);
    return form->again(&a->out, wire, profile, err);
}

typedef void (*form_test)(sotto_test *t, const sotto_dap_form *form, sotto_dap_profile profile,
                          sotto_sim_random *random);

static void for_all_messages(sotto_test *t, form_test test)
{
    sotto_sim_random random;

    sotto_sim_random_init(&random, 20261116);
    for (size_t i = 0; i < sotto_dap_form_count; i++)
        for (int profile = SOTTO_DAP_DRAFT18; profile <= SOTTO_DAP_JANUS; profile++)
            if (sotto_dap_forms[i].message) {
                test(t, &sotto_dap_forms[i], (sotto_dap_profile)profile, &random);
                sotto_arena_reset(&t->arena);
            }
}

static void survive(sotto_test *t, const sotto_dap_form *form, sotto_dap_profile profile,
                    sotto_sim_random *random)
{
    attempt a;

    for (int round = 0; round < ROUNDS; round++) {
        const sotto_bytes wire = sotto_test_dap_message(t, random, form->name, profile);

        CHECK_OK(t, decode(&a, form, wire, profile, &t->err));
        CHECK_EQUAL(t, wire.len, a.out.len);
        CHECK_BYTES(t, wire.data, a.memory, wire.len);
        sotto_arena_reset(&t->arena);
    }
}

static void every_message_survives_the_wire(sotto_test *t)
{
    for_all_messages(t, survive);
}

/* An open list may end after any of its items, and then is its own encoding; no other prefix decodes. */
static void cut_short(sotto_test *t, const sotto_dap_form *form, sotto_dap_profile profile,
                      sotto_sim_random *random)
{
    const sotto_bytes wire = sotto_test_dap_message(t, random, form->name, profile);
    size_t shorter = 0;
    attempt a;

    for (size_t len = 0; len < wire.len; len++) {
        /* In a block of its own size, so that a sanitizer sees a read past the end. */
        uint8_t *copy = sotto_alloc(len ? len : 1);
        sotto_status status;

        CHECK(t, copy != NULL);
        memcpy(copy, wire.data, len);
        status = decode(&a, form, sotto_bytes_of(copy, len), profile, &t->err);
        t->err = (sotto_err){0};
        if (status == SOTTO_OK) {
            CHECK_EQUAL(t, len, a.out.len);
            CHECK_BYTES(t, copy, a.memory, len);
            shorter++;
        } else {
            CHECK_EQUAL(t, SOTTO_MALFORMED, status);
        }
        sotto_release(copy, len ? len : 1);
    }
    CHECK(t, shorter <= (form->open ? 3 : 0)); /* the lists made here have at most 3 items */
}

static void truncated_messages_are_malformed(sotto_test *t)
{
    for (int round = 0; round < 20; round++)
        for_all_messages(t, cut_short);
}

static void trail(sotto_test *t, const sotto_dap_form *form, sotto_dap_profile profile,
                  sotto_sim_random *random)
{
    const sotto_bytes wire = sotto_test_dap_message(t, random, form->name, profile);
    uint8_t *longer = sotto_arena_take(&t->arena, wire.len + 1);
    attempt a;

    CHECK(t, longer != NULL);
    memcpy(longer, wire.data, wire.len);
    for (unsigned byte = 0; byte < 256; byte++) {
        longer[wire.len] = (uint8_t)byte;
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     decode(&a, form, sotto_bytes_of(longer, wire.len + 1), profile, &t->err));
    }
}

static void trailing_bytes_are_malformed(sotto_test *t)
{
    for_all_messages(t, trail);
}

static void overflow(sotto_test *t, const sotto_dap_form *form, sotto_dap_profile profile,
                     sotto_sim_random *random)
{
    const sotto_bytes wire = sotto_test_dap_message(t, random, form->name, profile);
    uint8_t memory[ROOM];

    for (size_t cap = 0; cap < wire.len; cap++) {
        sotto_buf out = sotto_buf_over(memory, cap);

        CHECK_STATUS(t, SOTTO_TOO_LARGE, form->again(&out, wire, profile, &t->err));
        CHECK(t, out.len <= cap);
    }
}

static void a_message_that_does_not_fit_is_too_large(sotto_test *t)
{
    for_all_messages(t, overflow);
}

/* Whatever byte changes, decoding ends in one of the statuses it promises, and what decodes is what was
 * there: no two encodings of one message. */
static void damage(sotto_test *t, const sotto_dap_form *form, sotto_dap_profile profile,
                   sotto_sim_random *random)
{
    const sotto_bytes wire = sotto_test_dap_message(t, random, form->name, profile);
    uint8_t *copy = sotto_arena_take(&t->arena, wire.len + 1);
    const bool renames = profile == SOTTO_DAP_JANUS && strcmp(form->name, "UploadErrors") == 0;
    attempt a;

    CHECK(t, copy != NULL);
    for (size_t i = 0; i < wire.len; i++) {
        sotto_status status;

        memcpy(copy, wire.data, wire.len);
        copy[i] = (uint8_t)sotto_sim_random_u64(random);
        status = decode(&a, form, sotto_bytes_of(copy, wire.len), profile, NULL);
        CHECK(t, status == SOTTO_OK || status == SOTTO_MALFORMED || status == SOTTO_MISSING);
        if (status == SOTTO_OK && !renames) {
            CHECK_EQUAL(t, wire.len, a.out.len);
            CHECK_BYTES(t, copy, a.memory, wire.len);
        }
    }
}

static void a_message_has_one_encoding(sotto_test *t)
{
    for (int round = 0; round < 20; round++)
        for_all_messages(t, damage);
}

/* Decoders have no arena to take from; this sees that they find no other way. */
static void no_length_takes_memory(sotto_test *t)
{
    static const struct {
        const char *name, *wire;
    } claims[] = {
        {"UploadRequest", "000102030405060708090a0b0c0d0e0f00000000000000010000ffffffff"},
        {"AggregationJobInitReq", "00ffffffff"},
        {"AggregationJobContinueReq", "0001000102030405060708090a0b0c0d0e0fffffffff"},
        {"AggregationJobResp", "000102030405060708090a0b0c0d0e0f00ffffffff"},
        {"AggregateShare", "01ffff"},
        {"CollectionJobReq", "020000ffffffff"},
        {"PlaintextInputShare", "0000ffffffff"},
        {"TaskConfiguration", "ff"},
    };
    attempt a;

    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        const sotto_bytes wire = sotto_test_hex(t, claims[i].wire);

        sotto_alloc_fail_after(0);
        const sotto_status status =
            decode(&a, sotto_dap_form_named(claims[i].name), wire, SOTTO_DAP_DRAFT18, NULL);
        sotto_alloc_fail_after(-1);
        CHECK_EQUAL(t, SOTTO_MALFORMED, status);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_message_survives_the_wire), CASE(truncated_messages_are_malformed),
        CASE(trailing_bytes_are_malformed),    CASE(a_message_that_does_not_fit_is_too_large),
        CASE(a_message_has_one_encoding),      CASE(no_length_takes_memory),
    };

    return RUN_TESTS(argc, argv, cases);
}
