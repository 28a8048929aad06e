/* vdaf/encoded_template.h - vectors in wire encoding, compiled once for each field.
 *
 * flp_template.h and pine/elements_template.h include this.
 */
#include "base/declassify.h"
#include "math/field.h"

static fe get(const uint8_t *vector, size_t index)
{
    return FIELD(load)(vector + index * FE_SIZE);
}

static void put(uint8_t *vector, size_t index, fe value)
{
    FIELD(store)(vector + index * FE_SIZE, value);
}

/* In the large fields an element is above the modulus only if the upper half of its top word is all ones, which is so for one
 * in 2^32. Looking at that alone nearly always settles it, and compilers look at several at once. */
static uint64_t canonical(const uint8_t *elements, size_t count)
{
    uint64_t all = 1;

#if SOTTO_FIELD >= 64
    uint64_t ones = 0;
    for (size_t i = 0; i < count; i++)
        ones |= (FIELD(top)(elements + i * FE_SIZE) >> 32) + 1;
    uint64_t suspect = ones >> 32;
    SOTTO_DECLASSIFY(&suspect, sizeof suspect);
    if (!suspect)
        return 1;
#endif
    for (size_t i = 0; i < count; i++)
        all &= FIELD(is_canonical)(elements + i * FE_SIZE);
    return all;
}

static size_t sieve_vartime(uint8_t *elements, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (FIELD(is_canonical)(elements + i * FE_SIZE))
            put(elements, kept++, get(elements, i));
    return kept;
}
