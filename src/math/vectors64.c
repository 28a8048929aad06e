#define SOTTO_FIELD 64
#include "math/vectors_template.h"

void sotto_f64_vectors_add(uint8_t *total, size_t len, const uint8_t *const *others, size_t count)
{
    vectors_add(total, len, others, count);
}
