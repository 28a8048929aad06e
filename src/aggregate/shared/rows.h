/* aggregate/shared/rows.h - what bodies of messages consist of: lists of rows that begin with an index, and bitmaps of clients.
 *
 * Memory:   rows that were read borrow the wire bytes.
 */
#ifndef SOTTO_AGGREGATE_SHARED_ROWS_H
#define SOTTO_AGGREGATE_SHARED_ROWS_H

#include "sotto/base.h"

typedef struct sotto_rows {
    const uint8_t *at; /* borrowed */
    size_t count, size;
} sotto_rows;

static inline const uint8_t *sotto_rows_at(const sotto_rows *rows, size_t i)
{
    return rows->at + i * rows->size;
}

/* The index that a row begins with. */
static inline uint32_t sotto_row_index(const uint8_t *row)
{
    return (uint32_t)row[0] << 24 | (uint32_t)row[1] << 16 | (uint32_t)row[2] << 8 | row[3];
}

static inline void sotto_row_put_index(uint8_t *row, uint32_t index)
{
    row[0] = (uint8_t)(index >> 24);
    row[1] = (uint8_t)(index >> 16);
    row[2] = (uint8_t)(index >> 8);
    row[3] = (uint8_t)index;
}

/* A list on the wire: how many rows in `width` bytes, then the rows of `size` bytes. A size of 0: the body has no such list. */
void sotto_rows_read(sotto_reader *in, sotto_rows *rows, size_t size, unsigned width);
void sotto_rows_write(sotto_writer *w, const sotto_rows *rows, size_t size, unsigned width);
size_t sotto_rows_wire(const sotto_rows *rows, size_t size, unsigned width);
/* The row that begins with this index; NULL: none. The rows ascend. */
const uint8_t *sotto_rows_find(const sotto_rows *rows, uint32_t index);
/* The same where rows are looked for in their order: near is the place behind the last one that was found, 0 at first. */
const uint8_t *sotto_rows_find_next(const sotto_rows *rows, uint32_t index, size_t *near);

static inline bool sotto_bits_has(const uint8_t *bits, uint32_t index)
{
    return (bits[index / 8] >> (index % 8)) & 1;
}

static inline void sotto_bits_set(uint8_t *bits, uint32_t index)
{
    bits[index / 8] = (uint8_t)(bits[index / 8] | 1u << index % 8);
}

uint32_t sotto_bits_count(const uint8_t *bits, size_t bytes);

/* In place of a head's size in a table of bodies: a bit for each registered client. */
#define SOTTO_A_BIT_EACH SIZE_MAX
/* Reads the head of a body. */
sotto_bytes sotto_head_read(sotto_reader *in, size_t size, uint64_t registered);
/* False: it has bits for clients that there are none of. For a head that was read whole. */
bool sotto_head_is_clean(sotto_bytes head, size_t size, uint64_t registered);

#endif
