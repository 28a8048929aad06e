/* math/field_cases.h - what both fields must do, against OpenSSL's big integers; test_field64.c and
 * test_field128.c include this with SOTTO_FIELD defined.
 *
 * Values near the ends of limbs and of the field meet each other in every pair; then come random ones.
 */
#include "math/field.h"
#include "sim/random.h"
#include "support/test.h"

#include <openssl/bn.h>

enum { RANDOM_PAIRS = 4000, MAX_EDGES = 160, BITS = 8 * FE_SIZE };

#if SOTTO_FIELD == 64
enum { LARGEST_ROOT_LOG = SOTTO_F64_ROOT_LOG };
#else
enum { LARGEST_ROOT_LOG = SOTTO_F128_ROOT_LOG };
#endif

typedef struct oracle {
    BN_CTX *ctx;
    BIGNUM *p, *r, *r_inv, *a, *b, *x; /* r: the factor that a weight carries */
    sotto_sim_random random;
    fe edges[MAX_EDGES];
    size_t edge_count;
} oracle;

static fe element_of(sotto_test *t, const BIGNUM *x)
{
    uint8_t bytes[FE_SIZE];

    CHECK(t, BN_bn2lebinpad(x, bytes, sizeof bytes) == FE_SIZE);
    return FIELD(load)(bytes);
}

static void set(BIGNUM *out, fe a)
{
    uint8_t bytes[FE_SIZE];

    FIELD(store)(bytes, a);
    (void)BN_lebin2bn(bytes, sizeof bytes, out);
}

/* Adds 2^k + d modulo p, and its negative. */
static void add_edges(sotto_test *t, oracle *o, int k, int d)
{
    (void)BN_zero(o->x);
    (void)BN_set_bit(o->x, k);
    if (d < 0)
        (void)BN_sub_word(o->x, (BN_ULONG)-d);
    else
        (void)BN_add_word(o->x, (BN_ULONG)d);
    (void)BN_nnmod(o->x, o->x, o->p, o->ctx);
    CHECK(t, o->edge_count + 2 <= MAX_EDGES);
    o->edges[o->edge_count++] = element_of(t, o->x);
    (void)BN_mod_sub(o->x, o->p, o->x, o->p, o->ctx);
    o->edges[o->edge_count++] = element_of(t, o->x);
}

static oracle oracle_open(sotto_test *t, const char *modulus_hex, int weight_bits)
{
    static const int bits[] = {0, 1, 31, 32, 33, 62, 63, 64, 65, 95, 96, 97, 126, 127, 128};
    oracle o = {.ctx = BN_CTX_new(), .a = BN_new(), .b = BN_new(), .x = BN_new(), .r = BN_new()};

    CHECK(t, BN_hex2bn(&o.p, modulus_hex) > 0);
    (void)BN_set_bit(o.r, weight_bits);
    (void)BN_nnmod(o.r, o.r, o.p, o.ctx);
    o.r_inv = BN_mod_inverse(NULL, o.r, o.p, o.ctx);
    sotto_sim_random_init(&o.random, 20);
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++)
        for (int d = -2; d <= 2; d++)
            if (bits[i] <= BITS)
                add_edges(t, &o, bits[i], d);
    (void)BN_rshift1(o.x, o.p);
    o.edges[o.edge_count++] = element_of(t, o.x);
    return o;
}

static void oracle_close(oracle *o)
{
    BN_free(o->a);
    BN_free(o->b);
    BN_free(o->x);
    BN_free(o->p);
    BN_free(o->r);
    BN_free(o->r_inv);
    BN_CTX_free(o->ctx);
}

static oracle open_field(sotto_test *t)
{
#if SOTTO_FIELD == 64
    return oracle_open(t, "ffffffff00000001", 0);
#else
    return oracle_open(t, "ffffffffffffffe40000000000000001", 128);
#endif
}

static fe random_element(oracle *o)
{
    uint8_t bytes[FE_SIZE];

    do
        sotto_sim_random_bytes(&o->random, bytes, sizeof bytes);
    while (!FIELD(is_canonical)(bytes));
    return FIELD(load)(bytes);
}

/* `got` is what o->x holds, and canonical. */
static void check_is_x(sotto_test *t, const oracle *o, fe got)
{
    fe wanted = element_of(t, o->x);

    CHECK_BYTES(t, &wanted, &got, sizeof got);
}

typedef void pair_check(sotto_test *t, oracle *o, fe a, fe b);

static void for_all_pairs(sotto_test *t, pair_check *check)
{
    oracle o = open_field(t);

    for (size_t i = 0; i < o.edge_count; i++) {
        for (size_t j = 0; j < o.edge_count; j++)
            check(t, &o, o.edges[i], o.edges[j]);
        check(t, &o, o.edges[i], random_element(&o));
        check(t, &o, random_element(&o), o.edges[i]);
    }
    for (int i = 0; i < RANDOM_PAIRS; i++) {
        fe a = random_element(&o), b = random_element(&o);
        check(t, &o, a, b);
    }
    oracle_close(&o);
}

static void check_sums(sotto_test *t, oracle *o, fe a, fe b)
{
    set(o->a, a);
    set(o->b, b);
    (void)BN_mod_add(o->x, o->a, o->b, o->p, o->ctx);
    check_is_x(t, o, FIELD(add)(a, b));
    (void)BN_mod_sub(o->x, o->a, o->b, o->p, o->ctx);
    check_is_x(t, o, FIELD(sub)(a, b));
    (void)BN_zero(o->x);
    (void)BN_mod_sub(o->x, o->x, o->a, o->p, o->ctx);
    check_is_x(t, o, FIELD(neg)(a));
    CHECK(t, FIELD(equal)(a, b) == (BN_cmp(o->a, o->b) == 0 ? ~(uint64_t)0 : 0));
}

static void add_sub_neg_and_equal_agree_with_big_integers(sotto_test *t)
{
    for_all_pairs(t, check_sums);
}

static void check_products(sotto_test *t, oracle *o, fe a, fe b)
{
    set(o->a, a);
    set(o->b, b);
    (void)BN_mod_mul(o->x, o->a, o->b, o->p, o->ctx);
    check_is_x(t, o, FIELD(mul)(a, FIELD(to_weight)(b)));
    (void)BN_mod_mul(o->x, o->x, o->r_inv, o->p, o->ctx);
    check_is_x(t, o, FIELD(mul)(a, b));
    (void)BN_mod_mul(o->x, o->b, o->r, o->p, o->ctx);
    check_is_x(t, o, FIELD(to_weight)(b));
}

static void a_product_with_a_weight_agrees_with_big_integers(sotto_test *t)
{
    for_all_pairs(t, check_products);
}

static void one_and_its_weight_leave_a_factor_alone(sotto_test *t)
{
    oracle o = open_field(t);
    fe one = FIELD(one)(), weight = FIELD(one_weight)(), made = FIELD(to_weight)(one);

    CHECK_BYTES(t, &made, &weight, sizeof one);
    for (size_t i = 0; i < o.edge_count; i++) {
        fe a = o.edges[i], product = FIELD(mul)(a, weight);

        CHECK_BYTES(t, &a, &product, sizeof a);
    }
    oracle_close(&o);
}

static void a_mask_keeps_all_or_nothing(sotto_test *t)
{
    oracle o = open_field(t);
    fe zero = FIELD(zero)();

    for (size_t i = 0; i < o.edge_count; i++) {
        fe kept = FIELD(mask)(o.edges[i], ~(uint64_t)0), dropped = FIELD(mask)(o.edges[i], 0);

        CHECK_BYTES(t, &o.edges[i], &kept, sizeof kept);
        CHECK_BYTES(t, &zero, &dropped, sizeof dropped);
    }
    oracle_close(&o);
}

/* Sums of `count` terms picked from edges, from random elements, or all as large as can be. */
static void check_long_sums(sotto_test *t, oracle *o, size_t count, int kind)
{
    fe_acc acc = {0};
    fe_sum sum = {0};
    BIGNUM *products = BN_new(), *plain = BN_new();

    for (size_t i = 0; i < count; i++) {
        uint64_t pick = sotto_sim_random_u64(&o->random);
        fe a = o->edges[pick % o->edge_count], b = o->edges[(pick >> 32) % o->edge_count];

        if (kind == 1)
            a = random_element(o), b = random_element(o);
        else if (kind == 2)
            a = b = FIELD(neg)(FIELD(one)());
        FIELD(acc_mul)(&acc, a, b);
        FIELD(sum_add)(&sum, a);
        set(o->a, a);
        set(o->b, b);
        (void)BN_mul(o->x, o->a, o->b, o->ctx);
        (void)BN_add(products, products, o->x);
        (void)BN_add(plain, plain, o->a);
    }
    (void)BN_mod_mul(o->x, products, o->r_inv, o->p, o->ctx);
    check_is_x(t, o, FIELD(acc_reduce)(&acc));
    (void)BN_nnmod(o->x, plain, o->p, o->ctx);
    check_is_x(t, o, FIELD(sum_reduce)(&sum));
    BN_free(products);
    BN_free(plain);
}

static void sums_reduced_once_agree_with_big_integers(sotto_test *t)
{
    oracle o = open_field(t);

    for (int kind = 0; kind < 3; kind++) {
        for (size_t count = 0; count <= 130; count++)
            check_long_sums(t, &o, count, kind);
        check_long_sums(t, &o, 60000, kind);
    }
    oracle_close(&o);
}

static void powers_agree_with_big_integers(sotto_test *t)
{
    static const uint64_t exponents[] = {0, 1, 2, 3, 0xffffffff, UINT64_C(1) << 63, UINT64_MAX};
    oracle o = open_field(t);

    for (int i = 0; i < 300; i++) {
        fe a = (size_t)i < o.edge_count ? o.edges[i] : random_element(&o);
        uint64_t e = i % 8 < 7 ? exponents[i % 8] : sotto_sim_random_u64(&o.random);

        set(o.a, a);
        (void)BN_set_word(o.b, e);
        (void)BN_mod_exp(o.x, o.a, o.b, o.p, o.ctx);
        check_is_x(t, &o, FIELD(mul)(FIELD(one)(), FIELD(pow)(FIELD(to_weight)(a), e)));
    }
    oracle_close(&o);
}

static void inverses_agree_with_big_integers(sotto_test *t)
{
    oracle o = open_field(t);

    for (int i = 0; i < 300; i++) {
        fe a = (size_t)i < o.edge_count ? o.edges[i] : random_element(&o);

        if (FIELD(equal)(a, FIELD(zero)()))
            continue;
        set(o.a, a);
        CHECK(t, BN_mod_inverse(o.x, o.a, o.p, o.ctx) != NULL);
        check_is_x(t, &o, FIELD(mul)(FIELD(one)(), FIELD(inv)(FIELD(to_weight)(a))));
    }
    oracle_close(&o);
}

static void each_root_of_unity_has_exactly_its_order(sotto_test *t)
{
    fe one = FIELD(one_weight)(), minus_one = FIELD(neg)(one);

    for (unsigned log = 0; log <= LARGEST_ROOT_LOG; log++) {
        fe root = FIELD(root)(log), x = root;

        for (unsigned i = 1; i < log; i++)
            x = FIELD(mul)(x, x);
        /* w^(n/2) = -1 says both: w^n = 1 and no smaller power of two does. */
        CHECK_BYTES(t, log ? &minus_one : &one, &x, sizeof x);
        if (log) {
            fe smaller = FIELD(root)(log - 1), square = FIELD(mul)(root, root);
            CHECK_BYTES(t, &smaller, &square, sizeof square);
        }
    }
}

/* The draft names the generator: 7 to the power (p - 1) / 2^largest. */
static void the_largest_root_is_the_power_of_seven_that_the_draft_names(sotto_test *t)
{
    oracle o = open_field(t);

    (void)BN_sub(o.b, o.p, BN_value_one());
    (void)BN_rshift(o.b, o.b, LARGEST_ROOT_LOG);
    (void)BN_set_word(o.a, 7);
    (void)BN_mod_exp(o.x, o.a, o.b, o.p, o.ctx);
    check_is_x(t, &o, FIELD(mul)(FIELD(one)(), FIELD(root)(LARGEST_ROOT_LOG)));
    oracle_close(&o);
}

static void an_encoding_is_canonical_exactly_below_the_modulus(sotto_test *t)
{
    oracle o = open_field(t);
    uint8_t bytes[FE_SIZE];

    for (int d = -70; d <= 70; d++) {
        (void)BN_copy(o.x, o.p);
        (void)(d < 0 ? BN_sub_word(o.x, (BN_ULONG)-d) : BN_add_word(o.x, (BN_ULONG)d));
        CHECK(t, BN_bn2lebinpad(o.x, bytes, sizeof bytes) == FE_SIZE);
        CHECK_EQUAL(t, d < 0, FIELD(is_canonical)(bytes));
    }
    for (int i = 0; i < 2000; i++) {
        /* High bytes of all ones make both answers likely. */
        sotto_sim_random_bytes(&o.random, bytes, sizeof bytes);
        for (int k = 0; k < i % (FE_SIZE + 1); k++)
            bytes[FE_SIZE - 1 - k] = 0xff;
        (void)BN_lebin2bn(bytes, sizeof bytes, o.x);
        CHECK_EQUAL(t, BN_cmp(o.x, o.p) < 0, FIELD(is_canonical)(bytes));
    }
    for (size_t i = 0; i < o.edge_count; i++) {
        FIELD(store)(bytes, o.edges[i]);
        CHECK_EQUAL(t, 1, FIELD(is_canonical)(bytes));
    }
    oracle_close(&o);
}

static void integers_enter_the_field_reduced(sotto_test *t)
{
    oracle o = open_field(t);

    for (int k = 0; k <= 64; k++) {
        for (int d = -3; d <= 3; d++) {
            uint64_t x = (k < 64 ? (uint64_t)1 << k : 0) + (uint64_t)(int64_t)d;

            (void)BN_set_word(o.x, x);
            (void)BN_nnmod(o.x, o.x, o.p, o.ctx);
            check_is_x(t, &o, FIELD(from)(x));
        }
    }
    oracle_close(&o);
}

#define FIELD_CASES                                                                                \
    CASE(add_sub_neg_and_equal_agree_with_big_integers),                                           \
        CASE(a_product_with_a_weight_agrees_with_big_integers),                                    \
        CASE(one_and_its_weight_leave_a_factor_alone), CASE(a_mask_keeps_all_or_nothing),          \
        CASE(sums_reduced_once_agree_with_big_integers), CASE(powers_agree_with_big_integers),     \
        CASE(inverses_agree_with_big_integers), CASE(each_root_of_unity_has_exactly_its_order),    \
        CASE(the_largest_root_is_the_power_of_seven_that_the_draft_names),                         \
        CASE(an_encoding_is_canonical_exactly_below_the_modulus),                                  \
        CASE(integers_enter_the_field_reduced)
