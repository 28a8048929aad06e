/* Parameters are checked before any work is done. */
#include "support/prio3.h"

#include "vdaf/circuit.h"

#include <string.h>

/* Refused with this text, and without a byte taken from the arena. */
static void check_refused(sotto_test *t, sotto_prio3_config config, const char *reason)
{
    sotto_prio3 vdaf;
    sotto_arena arena;

    sotto_arena_init(&arena, SIZE_MAX / 2);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_prio3_init(&vdaf, &arena, &config, &t->err));
    CHECK_REASON(t, reason);
    CHECK_EQUAL(t, 0, arena.peak);
}

static void check_taken(sotto_test *t, sotto_prio3_config config)
{
    sotto_prio3 vdaf;

    CHECK_OK(t, sotto_prio3_init(&vdaf, &t->arena, &config, &t->err));
    sotto_arena_reset(&t->arena);
}

static void unknown_types_are_refused(sotto_test *t)
{
    for (int type = -300; type < 300; type++) {
        bool known = (type >= 1 && type <= 5) || type == 7 || type == -1;

        if (!known)
            check_refused(t, (sotto_prio3_config){.type = (sotto_prio3_type)type, .shares = 2},
                          "type:");
    }
    check_refused(t, (sotto_prio3_config){.type = (sotto_prio3_type)INT32_MIN, .shares = 2},
                  "type:");
    check_refused(t, (sotto_prio3_config){.type = (sotto_prio3_type)INT32_MAX, .shares = 2},
                  "type:");
}

static void there_are_2_to_255_shares(sotto_test *t)
{
    static const unsigned wrong[] = {0, 1, 256, 257, 65536 + 2, ~0u};

    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_prio3_config config = sotto_test_configs[c];

        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
            config.shares = wrong[i];
            check_refused(t, config, "shares:");
        }
        for (config.shares = 2; config.shares <= 255; config.shares++)
            check_taken(t, config);
    }
}

static void a_field_of_64_bits_with_joint_randomness_needs_three_proofs(sotto_test *t)
{
    sotto_prio3_config config = {.type = SOTTO_PRIO3_SUM_VEC_WITH_MULTIPROOF,
                                 .shares = 2,
                                 .length = 3,
                                 .chunk_length = 2,
                                 .max = 3};

    for (config.proofs = 0; config.proofs < 3; config.proofs++)
        check_refused(t, config, "proofs: Field64");
    check_taken(t, config);
    config.proofs = 255;
    check_taken(t, config);
    config.proofs = 256;
    check_refused(t, config, "proofs:");
    config.proofs = ~0u;
    check_refused(t, config, "proofs:");
}

/* The rule belongs to the circuit, not only to the public types. */
static void the_rule_of_three_proofs_holds_for_any_circuit(sotto_test *t)
{
    sotto_circuit description = {.algorithm = 1,
                                 .field = 64,
                                 .shares = 2,
                                 .proofs = 1,
                                 .shape = SOTTO_SHAPE_CHUNKS,
                                 .degree = 2,
                                 .entries = 4,
                                 .bits = 1,
                                 .max = 1,
                                 .chunk_length = 2};
    sotto_prio3 vdaf;

    for (description.proofs = 0; description.proofs < 3; description.proofs++)
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_prio3_init_circuit(&vdaf, &t->arena, &description, &t->err));
    CHECK_OK(t, sotto_prio3_init_circuit(&vdaf, &t->arena, &description, &t->err));
    description.field = 128;
    description.proofs = 1;
    CHECK_OK(t, sotto_prio3_init_circuit(&vdaf, &t->arena, &description, &t->err));
    /* Without joint randomness one proof will do. */
    description.field = 64;
    description.shape = SOTTO_SHAPE_EACH;
    CHECK_OK(t, sotto_prio3_init_circuit(&vdaf, &t->arena, &description, &t->err));
}

static void types_with_one_proof_have_one(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_prio3_config config = sotto_test_configs[c];

        if (config.type == SOTTO_PRIO3_SUM_VEC_WITH_MULTIPROOF)
            continue;
        config.proofs = 1;
        check_taken(t, config);
        config.proofs = 2;
        check_refused(t, config, "proofs:");
    }
}

/* A parameter is present exactly where the type has it. */
static void each_parameter_belongs_to_its_types(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_prio3_config good = sotto_test_configs[c], config;

        config = good;
        config.length = good.length ? 0 : 1;
        check_refused(t, config, "length:");
        config = good;
        config.chunk_length = good.chunk_length ? 0 : 1;
        check_refused(t, config, "chunk_length:");
        config = good;
        config.max = good.max ? 0 : 1;
        check_refused(t, config, "max:");
    }
}

static void absurd_lengths_are_refused(sotto_test *t)
{
    static const uint64_t absurd[] = {((uint64_t)1 << 26) + 1, (uint64_t)1 << 32, (uint64_t)1 << 58,
                                      (uint64_t)1 << 60,       (uint64_t)1 << 63, UINT64_MAX};

    for (size_t c = 0; c < sotto_test_config_count; c++) {
        for (size_t i = 0; i < sizeof absurd / sizeof absurd[0]; i++) {
            sotto_prio3_config config = sotto_test_configs[c];

            if (!config.length)
                continue;
            config.length = absurd[i];
            check_refused(t, config, "length:");
            config = sotto_test_configs[c];
            config.chunk_length = absurd[i];
            check_refused(t, config, "chunk_length:");
        }
    }
    check_refused(t,
                  (sotto_prio3_config){.type = SOTTO_PRIO3_HISTOGRAM,
                                       .shares = 2,
                                       .length = 9,
                                       .chunk_length = ((uint64_t)1 << 22) + 1},
                  "chunk_length:");
    check_taken(t, (sotto_prio3_config){.type = SOTTO_PRIO3_HISTOGRAM,
                                        .shares = 2,
                                        .length = 9,
                                        .chunk_length = (uint64_t)1 << 22});
    /* Entries times bits count, not entries alone. */
    check_refused(t,
                  (sotto_prio3_config){.type = SOTTO_PRIO3_SUM_VEC,
                                       .shares = 2,
                                       .length = ((uint64_t)1 << 25) + 1,
                                       .chunk_length = 1 << 13,
                                       .max = 3},
                  "length:");
    check_refused(t,
                  (sotto_prio3_config){.type = SOTTO_PRIO3_MULTIHOT_COUNT_VEC,
                                       .shares = 2,
                                       .length = (uint64_t)1 << 26,
                                       .chunk_length = 1 << 13,
                                       .max = 3},
                  "length:");
}

static void integers_must_fit_the_field(sotto_test *t)
{
    sotto_prio3_config sum = {.type = SOTTO_PRIO3_SUM, .shares = 2, .max = INT64_MAX};
    sotto_prio3_config vector = {.type = SOTTO_PRIO3_SUM_VEC_WITH_MULTIPROOF,
                                 .shares = 2,
                                 .proofs = 3,
                                 .length = 2,
                                 .chunk_length = 2,
                                 .max = INT64_MAX};

    check_taken(t, sum);
    check_taken(t, vector);
    sum.max = vector.max = (uint64_t)1 << 63;
    check_refused(t, sum, "max: 64 bits do not fit Field64");
    check_refused(t, vector, "max: 64 bits do not fit Field64");
    sum.max = vector.max = UINT64_MAX;
    check_refused(t, sum, "max:");
    check_refused(t, vector, "max:");
    vector.type = SOTTO_PRIO3_SUM_VEC; /* Field128 has room */
    vector.proofs = 0;
    check_taken(t, vector);
}

static void a_weight_is_at_most_the_number_of_entries(sotto_test *t)
{
    sotto_prio3_config config = {.type = SOTTO_PRIO3_MULTIHOT_COUNT_VEC,
                                 .shares = 2,
                                 .length = 5,
                                 .chunk_length = 2,
                                 .max = 5};

    check_taken(t, config);
    config.max = 6;
    check_refused(t, config, "max: a weight");
    config.max = UINT64_MAX;
    check_refused(t, config, "max: a weight");
}

static void an_arena_without_room_is_said_to_be_one(sotto_test *t)
{
    sotto_prio3 vdaf;
    sotto_arena arena;

    sotto_arena_init(&arena, 0);
    CHECK_STATUS(t, SOTTO_NO_MEMORY,
                 sotto_prio3_init(&vdaf, &arena, &sotto_test_configs[3], &t->err));
    sotto_arena_init(&arena, 512); /* the description fits, the tables do not */
    CHECK_STATUS(t, SOTTO_NO_MEMORY,
                 sotto_prio3_init(&vdaf, &arena, &sotto_test_configs[3], &t->err));
    sotto_arena_clear(&arena);
}

/* ---- the best chunk length ------------------------------------------------------------------------- */

static uint64_t proof_elements(uint64_t elements, uint64_t chunk)
{
    uint64_t calls = (elements + chunk - 1) / chunk, p = 1;

    while (p < 1 + calls)
        p *= 2;
    return 2 * chunk + 2 * (p - 1) + 1;
}

static void the_best_chunk_gives_the_smallest_proof(sotto_test *t)
{
    for (uint64_t length = 1; length <= 3000; length += length < 400 ? 1 : 37) {
        for (unsigned bits = 1; bits <= 7; bits += 3) {
            uint64_t elements = length * bits, least = UINT64_MAX;
            uint64_t best = sotto_prio3_best_chunk_length(length, bits);

            for (uint64_t chunk = 1; chunk <= elements; chunk++)
                if (proof_elements(elements, chunk) < least)
                    least = proof_elements(elements, chunk);
            CHECK(t, best >= 1 && best <= elements);
            CHECK_EQUAL(t, least, proof_elements(elements, best));
        }
    }
}

static void the_best_chunk_is_one_that_init_takes(sotto_test *t)
{
    static const uint64_t lengths[] = {
        0, 1, 100000, (uint64_t)1 << 26, ((uint64_t)1 << 26) + 1, UINT64_MAX};

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        for (unsigned bits = 0; bits <= 64; bits++) {
            uint64_t chunk = sotto_prio3_best_chunk_length(lengths[i], bits);

            CHECK(t, chunk >= 1 && chunk <= (uint64_t)1 << 22);
        }
    }
}

/* ---- sizes ----------------------------------------------------------------------------------------- */

static void sizes_are_those_of_the_draft(sotto_test *t)
{
    sotto_prio3_config config = {
        .type = SOTTO_PRIO3_HISTOGRAM, .shares = 3, .length = 11, .chunk_length = 3};
    sotto_prio3 vdaf;

    CHECK_OK(t, sotto_prio3_init(&vdaf, &t->arena, &config, &t->err));
    /* 4 calls, so 8 nodes: 6 seeds and 15 gadget values; blinds since there is joint randomness. */
    CHECK_EQUAL(t, 3 * 64, vdaf.sizes.rand);
    CHECK_EQUAL(t, 3 * 32, vdaf.sizes.public_share);
    CHECK_EQUAL(t, 16 * (11 + 6 + 15) + 32, vdaf.sizes.leader_share);
    CHECK_EQUAL(t, 64, vdaf.sizes.helper_share);
    CHECK_EQUAL(t, 16 * (6 + 2) + 32, vdaf.sizes.verifier_share);
    CHECK_EQUAL(t, 32, vdaf.sizes.verifier_message);
    CHECK_EQUAL(t, 16 * 11, vdaf.sizes.out_share);
    CHECK_EQUAL(t, 11, vdaf.sizes.outputs);
}

static void sizes_are_told_without_an_arena(sotto_test *t)
{
    const sotto_prio3_config config = {
        .type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 100, .chunk_length = 10};
    sotto_prio3 whole, alone;

    CHECK_OK(t, sotto_prio3_init(&whole, &t->arena, &config, &t->err));
    CHECK_OK(t, sotto_prio3_init(&alone, NULL, &config, &t->err));
    CHECK(t, memcmp(&whole.sizes, &alone.sizes, sizeof whole.sizes) == 0);
    CHECK(t, whole.circuit && !alone.circuit);
}

static void shares_that_no_message_could_carry_are_refused(sotto_test *t)
{
    sotto_prio3_config proofs = {.type = SOTTO_PRIO3_SUM_VEC_WITH_MULTIPROOF,
                                 .shares = 2,
                                 .proofs = 255,
                                 .length = 1 << 20,
                                 .chunk_length = 1,
                                 .max = 1};
    sotto_prio3 vdaf;

    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_prio3_init(&vdaf, &t->arena, &proofs, &t->err));
    CHECK_REASON(t, "longer than 2 GiB");
    proofs.length = 1, proofs.chunk_length = 1 << 22;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_prio3_init(&vdaf, &t->arena, &proofs, &t->err));
    CHECK_EQUAL(t, 1, sotto_prio3_best_chunk_length(((uint64_t)1 << 58) + 1, 64)); /* no wrap */
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(shares_that_no_message_could_carry_are_refused),
        CASE(sizes_are_told_without_an_arena),
        CASE(unknown_types_are_refused),
        CASE(there_are_2_to_255_shares),
        CASE(a_field_of_64_bits_with_joint_randomness_needs_three_proofs),
        CASE(the_rule_of_three_proofs_holds_for_any_circuit),
        CASE(types_with_one_proof_have_one),
        CASE(each_parameter_belongs_to_its_types),
        CASE(absurd_lengths_are_refused),
        CASE(integers_must_fit_the_field),
        CASE(a_weight_is_at_most_the_number_of_entries),
        CASE(an_arena_without_room_is_said_to_be_one),
        CASE(the_best_chunk_gives_the_smallest_proof),
        CASE(the_best_chunk_is_one_that_init_takes),
        CASE(sizes_are_those_of_the_draft),
    };
    return RUN_TESTS(argc, argv, cases);
}
