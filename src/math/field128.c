#include "math/field128.h"

/* 7^4611686018427387897 as a weight, of order 2^66 (draft-irtf-cfrg-vdaf-20, section 6.1.4). */
static const sotto_f128 generator = {UINT64_C(0xf0111fb98c6b9875), UINT64_C(0x50f8f7f554db309c)};

static sotto_f128 pow_wide(sotto_f128 weight, sotto_u128 exponent)
{
    sotto_f128 result = sotto_f128_one_weight();

    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = sotto_f128_mul(result, weight);
        weight = sotto_f128_mul(weight, weight);
    }
    return result;
}

sotto_f128 sotto_f128_pow(sotto_f128 weight, uint64_t exponent)
{
    return pow_wide(weight, exponent);
}

sotto_f128 sotto_f128_inv(sotto_f128 weight)
{
    return pow_wide(weight, sotto_f128_p() - 2);
}

sotto_f128 sotto_f128_root(unsigned log)
{
    sotto_f128 root = generator;

    for (unsigned i = log; i < SOTTO_F128_ROOT_LOG; i++)
        root = sotto_f128_mul(root, root);
    return root;
}
