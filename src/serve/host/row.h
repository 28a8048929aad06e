/* serve/host/row.h - a row's number in eight bytes: what leases call it, and what its sealed columns are bound to. */
#ifndef SOTTO_SERVE_HOST_ROW_H
#define SOTTO_SERVE_HOST_ROW_H

#include "sotto/base.h"

static inline void sotto_row_name(uint8_t out[8], int64_t n)
{
    for (size_t i = 0; i < 8; i++)
        out[i] = (uint8_t)((uint64_t)n >> (56 - 8 * i));
}

/* The other way round; shorter names are smaller numbers. */
static inline int64_t sotto_row_of(const uint8_t *name, size_t len)
{
    uint64_t n = 0;

    for (size_t i = 0; i < len && i < 8; i++)
        n = n << 8 | name[i];
    return (int64_t)n;
}

#endif
