#include "aggregate/shared/rows.h"

#include "aggregate/message.h"

void sotto_rows_read(sotto_reader *in, sotto_rows *rows, size_t size, unsigned width)
{
    if (size == 0)
        return;
    rows->size = size;
    rows->count = (size_t)sotto_read_uint(in, width);
    if (rows->count > SOTTO_MESSAGE_MOST_BODY / size)
        in->short_read = true;
    rows->at = in->short_read ? NULL : sotto_read_bytes(in, rows->count * size).data;
    if (in->short_read)
        rows->count = 0;
}

void sotto_rows_write(sotto_writer *w, const sotto_rows *rows, size_t size, unsigned width)
{
    if (size == 0)
        return;
    sotto_write_uint(w, rows->count, width);
    sotto_write_bytes(w, sotto_bytes_of(rows->at, rows->count * size));
}

size_t sotto_rows_wire(const sotto_rows *rows, size_t size, unsigned width)
{
    return size ? width + rows->count * size : 0;
}

const uint8_t *sotto_rows_find(const sotto_rows *rows, uint32_t index)
{
    size_t low = 0, high = rows->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (sotto_row_index(sotto_rows_at(rows, middle)) < index)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == rows->count || sotto_row_index(sotto_rows_at(rows, low)) != index)
        return NULL;
    return sotto_rows_at(rows, low);
}

const uint8_t *sotto_rows_find_next(const sotto_rows *rows, uint32_t index, size_t *near)
{
    const uint8_t *row = NULL;

    if (*near < rows->count && sotto_row_index(sotto_rows_at(rows, *near)) == index)
        row = sotto_rows_at(rows, *near);
    else
        row = sotto_rows_find(rows, index);
    if (row)
        *near = (size_t)(row - rows->at) / rows->size + 1;
    return row;
}

uint32_t sotto_bits_count(const uint8_t *bits, size_t bytes)
{
    uint32_t count = 0;

    for (size_t i = 0; i < bytes; i++)
        for (unsigned b = bits[i]; b; b &= b - 1)
            count++;
    return count;
}

sotto_bytes sotto_head_read(sotto_reader *in, size_t size, uint64_t registered)
{
    return sotto_read_bytes(in, size == SOTTO_A_BIT_EACH ? (size_t)(registered + 7) / 8 : size);
}

bool sotto_head_is_clean(sotto_bytes head, size_t size, uint64_t registered)
{
    return size != SOTTO_A_BIT_EACH || registered % 8 == 0 ||
           head.data[registered / 8] >> registered % 8 == 0;
}
