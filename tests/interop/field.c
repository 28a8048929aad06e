#include "interop/field.h"

#include <stdbool.h>

/* 2^64 - 2^32 + 1 and 2^128 - 7 * 2^66 + 1 */
static const sotto_uint128 field64_prime = {UINT64_C(0xffffffff00000001), 0};
static const sotto_uint128 field128_prime = {1, UINT64_C(0xffffffffffffffe4)};

sotto_uint128 sotto_element_read(const uint8_t *wire, size_t element_size)
{
    sotto_uint128 value = {0, 0};

    for (size_t i = 0; i < 8; i++) {
        value.low |= (uint64_t)wire[i] << (8 * i);
        if (element_size == 16)
            value.high |= (uint64_t)wire[8 + i] << (8 * i);
    }
    return value;
}

void sotto_element_write(uint8_t *wire, size_t element_size, sotto_uint128 value)
{
    for (size_t i = 0; i < 8; i++) {
        wire[i] = (uint8_t)(value.low >> (8 * i));
        if (element_size == 16)
            wire[8 + i] = (uint8_t)(value.high >> (8 * i));
    }
}

static bool less(sotto_uint128 a, sotto_uint128 b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

sotto_uint128 sotto_uint128_add(sotto_uint128 a, sotto_uint128 b)
{
    sotto_uint128 sum = {a.low + b.low, a.high + b.high};

    sum.high += sum.low < a.low;
    return sum;
}

static sotto_uint128 subtract(sotto_uint128 a, sotto_uint128 b)
{
    sotto_uint128 difference = {a.low - b.low, a.high - b.high};

    difference.high -= a.low < b.low;
    return difference;
}

/* A sum that passed 2^128 is smaller than what was added to it. */
static sotto_uint128 add_mod(sotto_uint128 a, sotto_uint128 b, sotto_uint128 prime)
{
    sotto_uint128 sum = sotto_uint128_add(a, b);

    return less(sum, a) || !less(sum, prime) ? subtract(sum, prime) : sum;
}

void sotto_elements_add(uint8_t *sum, const uint8_t *other, size_t count, size_t element_size)
{
    sotto_uint128 prime = element_size == 8 ? field64_prime : field128_prime;

    for (size_t at = 0; at < count * element_size; at += element_size)
        sotto_element_write(sum + at, element_size,
                            add_mod(sotto_element_read(sum + at, element_size),
                                    sotto_element_read(other + at, element_size), prime));
}

sotto_uint128 sotto_uint128_read(const char **text)
{
    sotto_uint128 value = {0, 0};

    for (; **text >= '0' && **text <= '9'; (*text)++) {
        sotto_uint128 twice = sotto_uint128_add(value, value);
        sotto_uint128 eight =
            sotto_uint128_add(sotto_uint128_add(twice, twice), sotto_uint128_add(twice, twice));
        sotto_uint128 digit = {(uint64_t)(**text - '0'), 0};

        value = sotto_uint128_add(sotto_uint128_add(eight, twice), digit);
    }
    if (**text == ',')
        (*text)++;
    return value;
}
