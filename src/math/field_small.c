#include "math/field_small.h"

/* Of order 2^20 in both fields; the second is 7^1048555. */
static const sotto_f32 generator32 = {3925978153};
static const sotto_f40 generator40 = {395974995317};

/* clang-format off */
#define SMALL_FIELD(F, P, generator)                 \
    F F##_inv(F a)                                   \
    {                                                \
        F result = F##_one();                        \
        for (uint64_t e = (P) - 2; e; e >>= 1) {     \
            if (e & 1)                               \
                result = F##_mul(result, a);         \
            a = F##_mul(a, a);                       \
        }                                            \
        return result;                               \
    }                                                \
    F F##_root(unsigned log)                         \
    {                                                \
        F root = generator;                          \
        for (unsigned i = log; i < SOTTO_SMALL_ROOT_LOG; i++) \
            root = F##_mul(root, root);              \
        return root;                                 \
    }

SMALL_FIELD(sotto_f32, SOTTO_F32_P, generator32)
SMALL_FIELD(sotto_f40, SOTTO_F40_P, generator40)
/* clang-format on */
