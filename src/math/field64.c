#include "math/field64.h"

/* 7^4294967295, of order 2^32 (draft-irtf-cfrg-vdaf-20, section 6.1.4). */
static const sotto_f64 generator = {UINT64_C(0x185629dcda58878c)};

sotto_f64 sotto_f64_pow(sotto_f64 a, uint64_t exponent)
{
    sotto_f64 result = sotto_f64_one();

    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = sotto_f64_mul(result, a);
        a = sotto_f64_mul(a, a);
    }
    return result;
}

sotto_f64 sotto_f64_inv(sotto_f64 a)
{
    return sotto_f64_pow(a, SOTTO_F64_P - 2);
}

sotto_f64 sotto_f64_root(unsigned log)
{
    sotto_f64 root = generator;

    for (unsigned i = log; i < SOTTO_F64_ROOT_LOG; i++)
        root = sotto_f64_mul(root, root);
    return root;
}
