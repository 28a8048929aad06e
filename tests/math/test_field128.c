#define SOTTO_FIELD 128
#include "field_cases.h"

static void set_wide(BIGNUM *out, sotto_u128 x)
{
    set(out, sotto_f128_narrow(x));
}

static const uint64_t limbs[] = {0,
                                 1,
                                 2,
                                 27,
                                 28,
                                 0xffffffff,
                                 UINT64_C(1) << 63,
                                 SOTTO_F128_P_HIGH - 1,
                                 SOTTO_F128_P_HIGH,
                                 SOTTO_F128_P_HIGH + 1,
                                 UINT64_MAX - 1,
                                 UINT64_MAX};
enum { LIMBS = sizeof limbs / sizeof limbs[0] };

static sotto_u128 pick_wide(oracle *o, int i)
{
    if (i < LIMBS * LIMBS)
        return sotto_u128_of(limbs[i / LIMBS], limbs[i % LIMBS]);
    uint64_t high = sotto_sim_random_u64(&o->random);
    return sotto_u128_of(high, sotto_sim_random_u64(&o->random));
}

/* redc takes any low half; its high half is below p, as that of a product of two elements is. */
static void redc_divides_by_the_weight(sotto_test *t)
{
    oracle o = open_field(t);

    for (int i = 0; i < LIMBS * LIMBS + 500; i++) {
        for (int j = 0; j < LIMBS * LIMBS + 50; j++) {
            sotto_u128 high = pick_wide(&o, i), low = pick_wide(&o, j);

            set_wide(o.a, high);
            (void)BN_sqr(o.b, o.p, o.ctx);
            (void)BN_lshift(o.a, o.a, 128);
            set_wide(o.x, low);
            (void)BN_add(o.a, o.a, o.x);
            if (BN_cmp(o.a, o.b) >= 0)
                continue;
            (void)BN_mod_mul(o.x, o.a, o.r_inv, o.p, o.ctx);
            check_is_x(t, &o, sotto_f128_redc(high, low));
        }
    }
    oracle_close(&o);
}

static void fold_takes_every_excess_it_promises(sotto_test *t)
{
    static const uint64_t excesses[] = {
        0, 1, 2, 28, 0xffffffff, (UINT64_C(1) << 57) + 1, (UINT64_C(1) << 58) - 1};
    oracle o = open_field(t);

    for (size_t e = 0; e < sizeof excesses / sizeof excesses[0]; e++) {
        for (int i = 0; i < LIMBS * LIMBS + 1000; i++) {
            sotto_u128 x = pick_wide(&o, i);
            uint64_t excess = excesses[e];

            (void)BN_set_word(o.a, excess);
            (void)BN_lshift(o.a, o.a, 128);
            set_wide(o.x, x);
            (void)BN_add(o.x, o.x, o.a);
            (void)BN_nnmod(o.x, o.x, o.p, o.ctx);
            check_is_x(t, &o, sotto_f128_fold(excess, x));
        }
    }
    oracle_close(&o);
}

static void a_wide_product_is_exact_for_any_two_numbers(sotto_test *t)
{
    oracle o = open_field(t);

    for (int i = 0; i < LIMBS * LIMBS + 200; i++) {
        for (int j = 0; j < LIMBS * LIMBS; j++) {
            sotto_u128 a = pick_wide(&o, i), b = pick_wide(&o, j), high, low;
            uint8_t wanted[32], got[32];

            set_wide(o.a, a);
            set_wide(o.b, b);
            (void)BN_mul(o.x, o.a, o.b, o.ctx);
            CHECK(t, BN_bn2lebinpad(o.x, wanted, sizeof wanted) == sizeof wanted);
            sotto_f128_mul_wide(&high, &low, sotto_f128_narrow(a), sotto_f128_narrow(b));
            sotto_f128_store(got, sotto_f128_narrow(low));
            sotto_f128_store(got + 16, sotto_f128_narrow(high));
            CHECK_BYTES(t, wanted, got, sizeof got);
        }
    }
    oracle_close(&o);
}

/* Products whose highest column ends just below 2^128, so that what the lower ones carry wraps it: chance
 * would need 2^47 sums for one such. */
static void a_sum_of_products_carries_out_of_its_highest_column(sotto_test *t)
{
    static const sotto_f128 large = {UINT64_MAX, SOTTO_F128_P_HIGH - 1};
    oracle o = open_field(t);

    for (unsigned pairs = 1; pairs <= 4; pairs++) {
        for (uint64_t k = 0; k < 300; k++) {
            sotto_f128 x = {k, k << 32}, y = {UINT64_MAX, UINT64_C(1) << 32};
            sotto_f128_acc acc = {0};

            (void)BN_zero(o.x);
            for (unsigned i = 0; i <= pairs; i++) {
                sotto_f128 a = i ? large : x, b = i ? large : y;

                sotto_f128_acc_mul(&acc, a, b);
                set(o.a, a);
                set(o.b, b);
                (void)BN_mul(o.a, o.a, o.b, o.ctx);
                (void)BN_add(o.x, o.x, o.a);
            }
            (void)BN_mod_mul(o.x, o.x, o.r_inv, o.p, o.ctx);
            check_is_x(t, &o, sotto_f128_acc_reduce(&acc));
        }
    }
    oracle_close(&o);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        FIELD_CASES,
        CASE(redc_divides_by_the_weight),
        CASE(fold_takes_every_excess_it_promises),
        CASE(a_wide_product_is_exact_for_any_two_numbers),
        CASE(a_sum_of_products_carries_out_of_its_highest_column),
    };
    return RUN_TESTS(argc, argv, cases);
}
