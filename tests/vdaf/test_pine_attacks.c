/* PINE against clients that lie. A forger (support/pine.h) proves what is not so; each check has a lie that it alone stops. */
#include "support/pine.h"

#include "math/field64.h"
#include "vdaf/pine/ops.h"

#include <string.h>

enum { D = 16, BOUND = 100 };

static sotto_test_pine instance(sotto_test *t, const sotto_pine_ops *field, uint64_t seed)
{
    return sotto_test_pine_of(t,
                              (sotto_pine_config){.field = field,
                                                  .wire = SOTTO_PINE_DRAFT20,
                                                  .algorithm = 0xffff2001,
                                                  .dimension = D,
                                                  .norm_bound = BOUND},
                              seed);
}

static const int64_t honest[D] = {3, -4, 12, 0, 0, 1, -1, 5};

static void what_the_forger_makes_honestly_is_accepted(sotto_test *t)
{
    const sotto_test_lie none = {.norm = 9 + 16 + 144 + 1 + 1 + 25};
    sotto_test_pine p = instance(t, &sotto_pine_ops64, 1);
    sotto_test_pine_report r = sotto_test_pine_report_of(t, &p);

    sotto_test_pine_forge(t, &p, &r, honest, &none);
    CHECK_OK(t, sotto_test_pine_verify(t, &p, &r));
}

static void a_vector_longer_than_it_claims_is_rejected(sotto_test *t)
{
    const int64_t vector[D] = {100, 1}; /* one above the bound */
    const sotto_test_lie lie = {.norm = 10000};
    sotto_test_pine p = instance(t, &sotto_pine_ops64, 2);
    sotto_test_pine_report r = sotto_test_pine_report_of(t, &p);

    sotto_test_pine_forge(t, &p, &r, vector, &lie);
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_test_pine_verify(t, &p, &r));
    CHECK(t, strstr(t->err.reason, "norm") != NULL);
}

/* ---- wraparound ------------------------------------------------------------------------------------ */

static uint64_t root_of(sotto_u128 x)
{
    uint64_t root = 0;

    for (unsigned bit = 64; bit-- > 0;) {
        sotto_u128 next = root | (uint64_t)1 << bit;

        if (next * next <= x)
            root = (uint64_t)next;
    }
    return root;
}

/* Entries whose squares add up to the modulus of Field64 and `more`: modulo it, a squared norm of `more`. */
static void wrap_around(int64_t *vector, uint64_t more)
{
    sotto_u128 left = (sotto_u128)SOTTO_F64_P + more;

    memset(vector, 0, D * sizeof *vector);
    for (size_t i = 0; left > 0 && i < D; i++) {
        vector[i] = (int64_t)root_of(left);
        left -= (sotto_u128)(uint64_t)vector[i] * (uint64_t)vector[i];
    }
}

/* Its largest entry is 2^32, forty million times the bound. */
static void a_vector_that_wraps_around_is_rejected(sotto_test *t)
{
    int64_t vector[D];

    wrap_around(vector, 50);
    CHECK(t, vector[0] > (int64_t)BOUND * 40000000);
    for (unsigned all = 0; all < 2; all++) {
        const sotto_test_lie lie = {.norm = 50, .all_succeed = all};
        sotto_test_pine p = instance(t, &sotto_pine_ops64, 3 + all);
        sotto_test_pine_report r = sotto_test_pine_report_of(t, &p);

        sotto_test_pine_forge(t, &p, &r, vector, &lie);
        CHECK_STATUS(t, SOTTO_REJECTED, sotto_test_pine_verify(t, &p, &r));
        CHECK(t, strstr(t->err.reason, "dot products") != NULL);
    }
}

/* ---- bits ------------------------------------------------------------------------------------------ */

static void put(const sotto_pine *pine, uint8_t *meas, size_t at, int64_t value)
{
    pine->config.field->encode(meas + at * pine->config.field->element_size, &value, 1);
}

/* 2 and -1 where 0 and 1 spell the same number. */
static void spell_norm_oddly(const sotto_pine *pine, uint8_t *meas)
{
    put(pine, meas, D, 2);
    put(pine, meas, D + 1, -1);
    put(pine, meas, D + 2, 0);
}

static void elements_that_are_no_bits_are_rejected(sotto_test *t)
{
    const int64_t nothing[D] = {0};
    const sotto_test_lie lie = {.norm = 0, .edit = spell_norm_oddly};
    sotto_test_pine p = instance(t, &sotto_pine_ops128, 5);
    sotto_test_pine_report r = sotto_test_pine_report_of(t, &p);

    sotto_test_pine_forge(t, &p, &r, nothing, &lie);
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_test_pine_verify(t, &p, &r));
}

/* What is left to the bound, one too much. */
static void overstate_what_is_left(const sotto_pine *pine, uint8_t *meas)
{
    uint64_t left = (uint64_t)BOUND * BOUND + 1;

    pine->config.field->spell(meas + (D + pine->norm_bits) * pine->config.field->element_size, left,
                              0, pine->norm_bits);
}

static void a_norm_whose_range_does_not_add_up_is_rejected(sotto_test *t)
{
    const int64_t nothing[D] = {0};
    const sotto_test_lie lie = {.norm = 0, .edit = overstate_what_is_left};
    sotto_test_pine p = instance(t, &sotto_pine_ops64, 6);
    sotto_test_pine_report r = sotto_test_pine_report_of(t, &p);

    sotto_test_pine_forge(t, &p, &r, nothing, &lie);
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_test_pine_verify(t, &p, &r));
}

static void take_a_success_back(const sotto_pine *pine, uint8_t *meas)
{
    put(pine, meas, pine->head_len + pine->wrap_bits, 0);
}

static void count_a_success_twice(const sotto_pine *pine, uint8_t *meas)
{
    put(pine, meas, pine->head_len + pine->wrap_bits, 0);
    put(pine, meas, pine->head_len + 2 * pine->wrap_bits + 1, 2);
}

static void too_few_successes_are_rejected(sotto_test *t)
{
    void (*const edits[])(const sotto_pine *, uint8_t *) = {take_a_success_back,
                                                            count_a_success_twice};

    for (size_t i = 0; i < 2; i++) {
        const sotto_test_lie lie = {
            .norm = 9 + 16 + 144 + 1 + 1 + 25, .edit = edits[i], .edit_dots = true};
        sotto_test_pine p = instance(t, &sotto_pine_ops64, 7);
        sotto_test_pine_report r = sotto_test_pine_report_of(t, &p);

        sotto_test_pine_forge(t, &p, &r, honest, &lie);
        CHECK_STATUS(t, SOTTO_REJECTED, sotto_test_pine_verify(t, &p, &r));
    }
}

/* ---- tampering ----------------------------------------------------------------------------------------- */

/* Whatever byte of an honest report is changed, the report is not accepted as it was: it is rejected or malformed. */
static void every_byte_of_a_report_counts(sotto_test *t)
{
    sotto_test_pine p = instance(t, &sotto_pine_ops64, 8);
    sotto_test_pine_report r = sotto_test_pine_report_of(t, &p);
    const struct {
        uint8_t *bytes;
        size_t len, step;
    } parts[] = {{r.shares.public_share, p.pine.sizes.public_share, 1},
                 {r.shares.helper_share, p.pine.sizes.helper_share, 1},
                 {r.nonce, sizeof r.nonce, 1},
                 {r.shares.leader_share, p.pine.sizes.leader_share, 37}};

    CHECK_OK(t, sotto_test_pine_shard(t, &p, &r, honest));
    CHECK_OK(t, sotto_test_pine_verify(t, &p, &r));
    for (size_t part = 0; part < sizeof parts / sizeof parts[0]; part++)
        for (size_t i = 0; i < parts[part].len; i += parts[part].step) {
            parts[part].bytes[i] ^= 1;
            t->err = (sotto_err){0};
            sotto_status status = sotto_test_pine_verify(t, &p, &r);
            CHECK(t, status == SOTTO_REJECTED || status == SOTTO_MALFORMED);
            parts[part].bytes[i] ^= 1;
        }
    CHECK_OK(t, sotto_test_pine_verify(t, &p, &r));
}

static void a_report_of_another_task_is_rejected(sotto_test *t)
{
    sotto_test_pine p = instance(t, &sotto_pine_ops64, 9);
    sotto_test_pine_report r = sotto_test_pine_report_of(t, &p);

    CHECK_OK(t, sotto_test_pine_shard(t, &p, &r, honest));
    p.context = sotto_bytes_of("next round", 10);
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_test_pine_verify(t, &p, &r));
}

/* A client that chooses the helper's part of the joint randomness, for dot products or for the main proof. */
static void parts_that_were_not_derived_are_rejected(sotto_test *t)
{
    sotto_test_pine p = instance(t, &sotto_pine_ops64, 10);
    size_t seed = p.pine.sizes.seed;

    for (unsigned which = 0; which < 2; which++) {
        sotto_test_pine_report r = sotto_test_pine_report_of(t, &p);
        uint8_t message[2 * SOTTO_PINE_MAX_SEED];

        CHECK_OK(t, sotto_test_pine_shard(t, &p, &r, honest));
        CHECK_OK(t, sotto_test_pine_verify(t, &p, &r));
        memcpy(message, r.state[0].seeds, 2 * seed);
        message[which * seed] ^= 1;
        CHECK_STATUS(t, SOTTO_REJECTED,
                     sotto_pine_verify_next(&p.pine, &r.state[1], sotto_bytes_of(message, 2 * seed),
                                            &t->err));
    }
}

static void an_element_above_the_modulus_is_malformed(sotto_test *t)
{
    sotto_test_pine p = instance(t, &sotto_pine_ops64, 11);
    sotto_test_pine_report r = sotto_test_pine_report_of(t, &p);

    CHECK_OK(t, sotto_test_pine_shard(t, &p, &r, honest));
    memset(r.shares.leader_share, 0xff, 8);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_test_pine_verify(t, &p, &r));
}

static void a_verifier_above_the_modulus_is_malformed(sotto_test *t)
{
    sotto_test_pine p = instance(t, &sotto_pine_ops64, 12);
    sotto_test_pine_report r = sotto_test_pine_report_of(t, &p);
    size_t len = p.pine.sizes.verifier_share;
    uint8_t message[2 * SOTTO_PINE_MAX_SEED];

    CHECK_OK(t, sotto_test_pine_shard(t, &p, &r, honest));
    CHECK_OK(t, sotto_test_pine_verify(t, &p, &r));
    for (unsigned who = 0; who < 2; who++) {
        uint8_t kept[8];

        memcpy(kept, r.verifier[who], 8);
        memset(r.verifier[who], 0xff, 8);
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_pine_verifier_shares_to_message(
                         &p.pine, message, p.context, sotto_bytes_of(r.verifier[0], len),
                         sotto_bytes_of(r.verifier[1], len), &t->err));
        memcpy(r.verifier[who], kept, 8);
    }
}

static void lengths_are_checked(sotto_test *t)
{
    sotto_test_pine p = instance(t, &sotto_pine_ops64, 13);
    const sotto_pine_sizes *sizes = &p.pine.sizes;
    sotto_test_pine_report r = sotto_test_pine_report_of(t, &p);
    uint8_t message[2 * SOTTO_PINE_MAX_SEED];

    CHECK_OK(t, sotto_test_pine_shard(t, &p, &r, honest));
    CHECK_OK(t, sotto_test_pine_verify(t, &p, &r));
    for (unsigned a = 0; a < 2; a++)
        for (unsigned which = 0; which < 2; which++) {
            size_t share = a ? sizes->helper_share : sizes->leader_share;
            sotto_pine_input input = {
                .aggregator = a,
                .nonce = r.nonce,
                .public_share =
                    sotto_bytes_of(r.shares.public_share, sizes->public_share - (which ? 1 : 0)),
                .input_share = sotto_bytes_of(a ? r.shares.helper_share : r.shares.leader_share,
                                              share - (which ? 0 : 1))};

            CHECK_STATUS(t, SOTTO_MALFORMED,
                         sotto_pine_verify_init(&p.pine, &r.state[a], r.out[a], r.verifier[a],
                                                p.verify_key, p.context, &input, &t->arena,
                                                &t->err));
        }
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_pine_verifier_shares_to_message(
                     &p.pine, message, p.context,
                     sotto_bytes_of(r.verifier[0], sizes->verifier_share - 1),
                     sotto_bytes_of(r.verifier[1], sizes->verifier_share), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_pine_verify_next(&p.pine, &r.state[0],
                                        sotto_bytes_of(message, sizes->verifier_message - 1),
                                        &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(what_the_forger_makes_honestly_is_accepted),
        CASE(a_vector_longer_than_it_claims_is_rejected),
        CASE(a_vector_that_wraps_around_is_rejected),
        CASE(elements_that_are_no_bits_are_rejected),
        CASE(a_norm_whose_range_does_not_add_up_is_rejected),
        CASE(too_few_successes_are_rejected),
        CASE(every_byte_of_a_report_counts),
        CASE(a_report_of_another_task_is_rejected),
        CASE(parts_that_were_not_derived_are_rejected),
        CASE(an_element_above_the_modulus_is_malformed),
        CASE(a_verifier_above_the_modulus_is_malformed),
        CASE(lengths_are_checked),
    };
    return RUN_TESTS(argc, argv, cases);
}
