#define SOTTO_FIELD 128
#include "math/kernels128.h"
#include "math/vectors_template.h"

void sotto_f128_vectors_add_portable(uint8_t *total, size_t len, const uint8_t *const *others,
                                     size_t count)
{
    vectors_add(total, len, others, count);
}

void sotto_f128_vectors_add(uint8_t *total, size_t len, const uint8_t *const *others, size_t count)
{
    sotto_f128_best()->vectors_add(total, len, others, count);
}
