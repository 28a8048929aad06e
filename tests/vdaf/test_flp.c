/* The proof system by itself: both fields, through its table of functions. */
#include "support/prio3.h"

#include "math/kernels128.h"
#include "math/poly.h"
#include "vdaf/flp.h"

#include <string.h>

static void random_elements(const sotto_circuit *c, sotto_sim_random *random, uint8_t *out,
                            size_t count)
{
    for (size_t i = 0; i < count; i++)
        do
            sotto_sim_random_bytes(random, out + i * c->element_size, c->element_size);
        while (!c->flp->canonical(out + i * c->element_size, 1));
}

static const sotto_circuit *circuit_of(sotto_test *t, const sotto_circuit *description)
{
    sotto_prio3 vdaf = {0};

    CHECK_OK(t, sotto_prio3_init_circuit(&vdaf, &t->arena, description, &t->err));
    return vdaf.circuit;
}

/* ---- the short cut for one-hot vectors ------------------------------------------------------------- */

static void check_one_hot(sotto_test *t, unsigned field, uint64_t length, uint64_t chunk)
{
    sotto_circuit description = {.algorithm = 4,
                                 .field = field,
                                 .shares = 2,
                                 .proofs = 3,
                                 .shape = SOTTO_SHAPE_CHUNKS,
                                 .linear = SOTTO_LINEAR_ONE,
                                 .degree = 2,
                                 .entries = length,
                                 .bits = 1,
                                 .max = 1,
                                 .one_hot = true,
                                 .chunk_length = chunk};
    const sotto_circuit *hot = circuit_of(t, &description);
    sotto_sim_random random;

    description.one_hot = false;
    const sotto_circuit *plain = circuit_of(t, &description);
    size_t size = hot->element_size;
    uint8_t *meas = sotto_test_take(t, hot->meas_len * size);
    uint8_t *prove_rand = sotto_test_take(t, hot->prove_rand_len * size);
    uint8_t *joint_rand = sotto_test_take(t, hot->joint_rand_len * size);
    uint8_t *short_cut = sotto_test_take(t, hot->proof_len * size);
    uint8_t *long_way = sotto_test_take(t, hot->proof_len * size);
    void *scratch = sotto_test_take(t, hot->flp->prove_scratch(hot));

    sotto_sim_random_init(&random, field * length + chunk);
    for (uint64_t index = 0; index < length; index++) {
        sotto_measurement m = {&index, 1};

        CHECK(t, hot->flp->encode(hot, meas, m));
        random_elements(hot, &random, prove_rand, hot->prove_rand_len);
        random_elements(hot, &random, joint_rand, hot->joint_rand_len);
        hot->flp->prove(hot, short_cut, meas, m, prove_rand, joint_rand, scratch);
        plain->flp->prove(plain, long_way, meas, m, prove_rand, joint_rand, scratch);
        CHECK_BYTES(t, long_way, short_cut, hot->proof_len * size);
    }
    sotto_arena_reset(&t->arena);
}

static void the_prover_for_one_hot_vectors_gives_the_general_provers_proof(sotto_test *t)
{
    for (unsigned field = 64; field <= 128; field += 64) {
        for (uint64_t length = 1; length <= 20; length++)
            for (uint64_t chunk = 1; chunk <= length + 2; chunk++)
                check_one_hot(t, field, length, chunk);
        check_one_hot(t, field, 63 * 7, 7);
        check_one_hot(t, field, 64 * 3 + 1, 3);
    }
}

/* ---- the test point -------------------------------------------------------------------------------- */

/* The k-th power of a root of order 2^log, plain. */
static void put_root(const sotto_circuit *c, uint8_t *at, unsigned log, size_t k)
{
    if (c->field == 64)
        sotto_f64_store(at, sotto_f64_pow(sotto_f64_root(log), k));
    else
        sotto_f128_store(at,
                         sotto_f128_mul(sotto_f128_one(), sotto_f128_pow(sotto_f128_root(log), k)));
}

static uint8_t *take_elements(sotto_test *t, const sotto_circuit *c, sotto_sim_random *random,
                              size_t count)
{
    uint8_t *elements = sotto_test_take(t, count * c->element_size);

    random_elements(c, random, elements, count);
    return elements;
}

/* A query needs no proof that holds. */
static sotto_flp_query any_query(sotto_test *t, const sotto_circuit *c, sotto_sim_random *random)
{
    return (sotto_flp_query){
        .verifier = sotto_test_take(t, c->verifier_len * c->element_size),
        .meas = take_elements(t, c, random, c->meas_len),
        .proof = take_elements(t, c, random, c->proof_len),
        .query_rand = take_elements(t, c, random, c->query_rand_len),
        .joint_rand = take_elements(t, c, random, c->joint_rand_len),
    };
}

static bool usable(const sotto_circuit *c, sotto_flp_query *query, void *scratch)
{
    sotto_flp_checks_of(c)->queries(c, query, 1, scratch);
    return query->usable;
}

static void a_test_point_that_is_a_root_of_unity_is_unusable(sotto_test *t)
{
    for (size_t i = 0; i < sotto_test_config_count; i++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[i], i);
        const sotto_circuit *c = p.vdaf.circuit;
        size_t size = c->element_size, roots = (size_t)1 << c->wire_log;
        sotto_flp_query query = any_query(t, c, &p.random);
        uint8_t *query_rand = take_elements(t, c, &p.random, c->query_rand_len);
        uint8_t *point = query_rand + (c->query_rand_len - 1) * size;
        void *scratch = sotto_test_take(t, sotto_flp_checks_of(c)->query_scratch(c));

        query.query_rand = query_rand;
        CHECK(t, usable(c, &query, scratch));
        for (size_t k = 0; k < roots; k++) {
            put_root(c, point, c->wire_log, k);
            CHECK(t, !usable(c, &query, scratch));
            /* Those between the nodes, and zero, are points like any other. */
            put_root(c, point, c->wire_log + 1, 2 * k + 1);
            CHECK(t, usable(c, &query, scratch));
        }
        memset(point, 0, size);
        CHECK(t, usable(c, &query, scratch));
    }
}

/* ---- many queries at once ---------------------------------------------------------------------------- */

/* Zeros, largest elements and roots of unity where carries and refusals are. */
static void make_queries(sotto_test *t, const sotto_circuit *c, sotto_sim_random *random,
                         sotto_flp_query *queries)
{
    for (size_t i = 0; i < SOTTO_FLP_QUERIES; i++) {
        queries[i] = any_query(t, c, random);
        uint8_t *largest = sotto_test_take(t, c->proof_len * c->element_size + c->meas_len * 16),
                *point = take_elements(t, c, random, c->query_rand_len);

        for (size_t k = 0; k < c->proof_len + c->meas_len; k++)
            sotto_f128_store(largest + k * c->element_size,
                             sotto_f128_neg(sotto_f128_from(2 + k % 2)));
        if (i == 1)
            queries[i].proof = largest;
        if (i == 2)
            queries[i].meas = queries[i].proof = largest;
        if (i == 3)
            queries[i].joint_rand = queries[i].query_rand = largest;
        if (i == 4 || i == 5) {
            put_root(c, point + (c->query_rand_len - 1) * c->element_size, c->wire_log, i);
            queries[i].query_rand = point;
        }
        if (i == 6) {
            memset(largest, 0, c->meas_len * c->element_size);
            queries[i].meas = queries[i].joint_rand = largest;
        }
    }
}

/* Reports that are queried together get the bytes that each gets alone, whatever the machine computes with. */
static void check_together(sotto_test *t, const sotto_circuit *c, uint64_t seed)
{
    static const char *const kernels[] = {"portable", "avx2", "ifma"};
    size_t bytes = c->verifier_len * c->element_size;
    sotto_flp_query queries[SOTTO_FLP_QUERIES];
    uint8_t *alone[SOTTO_FLP_QUERIES];
    bool good[SOTTO_FLP_QUERIES];
    sotto_sim_random random;

    sotto_sim_random_init(&random, seed);
    make_queries(t, c, &random, queries);
    CHECK(t, sotto_f128_use("portable"));
    void *scratch = sotto_test_take(t, sotto_flp_checks_of(c)->query_scratch(c));
    for (size_t i = 0; i < SOTTO_FLP_QUERIES; i++) {
        good[i] = usable(c, &queries[i], scratch);
        CHECK_EQUAL(t, i != 4 && i != 5, good[i]);
        alone[i] = sotto_test_take(t, bytes);
        memcpy(alone[i], queries[i].verifier, bytes);
    }
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        if (!sotto_f128_use(kernels[k]))
            continue;
        scratch = sotto_test_take(t, sotto_flp_checks_of(c)->query_scratch(c));
        for (size_t count = 1; count <= SOTTO_FLP_QUERIES; count++) {
            for (size_t i = 0; i < SOTTO_FLP_QUERIES; i++)
                memset(queries[i].verifier, 0, bytes);
            sotto_flp_checks_of(c)->queries(c, queries, count, scratch);
            for (size_t i = 0; i < count; i++) {
                CHECK_BYTES(t, alone[i], queries[i].verifier, bytes);
                CHECK_EQUAL(t, good[i], queries[i].usable);
            }
        }
    }
    CHECK(t, sotto_f128_use(NULL));
    sotto_arena_reset(&t->arena);
}

static void queries_made_together_give_what_each_gives_alone(sotto_test *t)
{
    static const struct {
        uint64_t length, chunk;
    } sizes[] = {{1, 1},  {2, 5},   {4, 4},   {7, 3},     {100, 10},  {101, 10},  {63, 1},
                 {64, 1}, {126, 2}, {127, 2}, {1000, 32}, {2048, 33}, {2049, 33}, {130, 1}};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (unsigned linear = SOTTO_LINEAR_NONE; linear <= SOTTO_LINEAR_ONE; linear++)
            check_together(t,
                           circuit_of(t, &(sotto_circuit){.algorithm = 4,
                                                          .field = 128,
                                                          .shares = 2 + (unsigned)i % 3,
                                                          .proofs = 1,
                                                          .shape = SOTTO_SHAPE_CHUNKS,
                                                          .linear = (sotto_linear_check)linear,
                                                          .degree = 2,
                                                          .entries = sizes[i].length,
                                                          .bits = 1,
                                                          .max = 1,
                                                          .chunk_length = sizes[i].chunk}),
                           i);
}

/* ---- vectors --------------------------------------------------------------------------------------- */

static void the_sieve_keeps_what_is_below_the_modulus_in_order(sotto_test *t)
{
    for (size_t i = 1; i < 4; i += 2) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[i], i);
        const sotto_circuit *c = p.vdaf.circuit;
        enum { COUNT = 8 };
        uint8_t all[COUNT * 16], kept[COUNT * 16];

        for (unsigned mask = 0; mask < 1u << COUNT; mask++) {
            size_t wanted = 0;

            random_elements(c, &p.random, all, COUNT);
            for (size_t k = 0; k < COUNT; k++) {
                if (mask >> k & 1)
                    sotto_test_spoil_element(&p, all, k);
                else
                    memcpy(kept + wanted++ * c->element_size, all + k * c->element_size,
                           c->element_size);
            }
            CHECK_EQUAL(t, mask == 0, c->flp->canonical(all, COUNT));
            CHECK_EQUAL(t, wanted, c->flp->sieve_vartime(all, COUNT));
            CHECK_BYTES(t, kept, all, wanted * c->element_size);
        }
    }
}

/* Weights are powers of two but for the last, so that exactly 0 to max can be spelled. */
static void the_weights_of_bits_add_up_to_the_maximum(sotto_test *t)
{
    for (uint64_t max = 1; max <= 300; max++) {
        unsigned bits = 0;
        uint64_t sum = 0;

        while (max >> bits)
            bits++;
        for (unsigned b = 0; b < bits; b++) {
            uint64_t weight = sotto_circuit_weight(b, bits, max);

            CHECK(t, b + 1 == bits || weight == (uint64_t)1 << b);
            CHECK(t, weight <= sum + 1); /* else a number in between could not be spelled */
            sum += weight;
        }
        CHECK_EQUAL(t, max, sum);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_prover_for_one_hot_vectors_gives_the_general_provers_proof),
        CASE(a_test_point_that_is_a_root_of_unity_is_unusable),
        CASE(queries_made_together_give_what_each_gives_alone),
        CASE(the_sieve_keeps_what_is_below_the_modulus_in_order),
        CASE(the_weights_of_bits_add_up_to_the_maximum),
    };
    return RUN_TESTS(argc, argv, cases);
}
