/* interop/field.h - adding up encoded shares in the test's own way.
 *
 * Slow and apart from src/math on purpose: it judges what both sides say.
 */
#ifndef SOTTO_TESTS_INTEROP_FIELD_H
#define SOTTO_TESTS_INTEROP_FIELD_H

#include "sotto/vdaf.h"

/* Little endian, as fields are on the wire; element_size is 8 (Field64) or 16 (Field128). */
sotto_uint128 sotto_element_read(const uint8_t *wire, size_t element_size);
void sotto_element_write(uint8_t *wire, size_t element_size, sotto_uint128 value);
/* sum[i] += other[i] mod p, for elements below p. */
void sotto_elements_add(uint8_t *sum, const uint8_t *other, size_t count, size_t element_size);

sotto_uint128 sotto_uint128_add(sotto_uint128 a, sotto_uint128 b); /* mod 2^128 */
/* Reads a decimal number and moves past it and a comma. */
sotto_uint128 sotto_uint128_read(const char **text);

#endif
