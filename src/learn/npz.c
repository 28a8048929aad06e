/* A ZIP archive of stored files (PKWARE's APPNOTE 6.3.3), each in NumPy's format 1.0. */
#include "learn/model_file.h"

#include <stdio.h>
#include <string.h>

typedef struct entry {
    char name[32];
    size_t at, size;
    uint32_t checksum;
} entry;

static void little(sotto_writer *w, uint64_t value, unsigned bytes)
{
    uint8_t out[8];

    for (unsigned i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> 8 * i);
    sotto_write_bytes(w, sotto_bytes_of(out, bytes));
}

/* CRC-32 as ZIP has it, bit by bit reflected. */
static uint32_t checksum_of(sotto_bytes bytes)
{
    uint32_t crc = UINT32_MAX, table[256];

    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? UINT32_C(0xedb88320) : 0);
    }
    for (size_t i = 0; i < bytes.len; i++)
        crc = crc >> 8 ^ table[(crc ^ bytes.data[i]) & 255];
    return ~crc;
}

/* Magic, version, and a dictionary that ends at a multiple of 64 bytes with a line feed. */
static void npy_header(sotto_writer *w, const sotto_tensor *t)
{
    static const uint8_t magic[8] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    char text[160];
    size_t len =
        (size_t)snprintf(text, sizeof text, "{'descr': '<f4', 'fortran_order': False, 'shape': (");

    for (unsigned d = 0; d < t->dimensions; d++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%zu%s", t->shape[d],
                                d + 1 < t->dimensions ? ", "
                                : t->dimensions == 1  ? ","
                                                      : "");
    len += (size_t)snprintf(text + len, sizeof text - len, "), }");
    while ((sizeof magic + 2 + len + 1) % 64 != 0)
        text[len++] = ' ';
    text[len++] = '\n';
    sotto_write_bytes(w, sotto_bytes_of(magic, sizeof magic));
    little(w, len, 2);
    sotto_write_bytes(w, sotto_bytes_of(text, len));
}

/* What the local header and the directory say alike, from the flags on. */
static void common(sotto_writer *w, const entry *e)
{
    little(w, 0, 2);      /* flags             */
    little(w, 0, 2);      /* stored            */
    little(w, 0, 2);      /* time, and a date: */
    little(w, 0x0021, 2); /* 1 January 1980    */
    little(w, e->checksum, 4);
    little(w, e->size, 4);
    little(w, e->size, 4);
    little(w, strlen(e->name), 2);
    little(w, 0, 2); /* no extra field */
}

static sotto_status put_tensor(sotto_buf *out, size_t start, const sotto_tensor *t,
                               const float *weights, entry *e, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);
    uint8_t fixed[8] = {0};

    (void)snprintf(e->name, sizeof e->name, "%s.npy", t->name);
    e->at = out->len - start;
    little(&w, 0x04034b50, 4);
    little(&w, 20, 2);
    common(&w, e);
    sotto_write_bytes(&w, sotto_bytes_of(e->name, strlen(e->name)));
    SOTTO_TRY(sotto_writer_finish(&w, "npz", err));
    const size_t body = out->len;
    w = sotto_writer_on(out);
    npy_header(&w, t);
    for (size_t i = 0; i < t->count; i++) {
        uint32_t bits;

        memcpy(&bits, &weights[t->offset + i], sizeof bits);
        little(&w, bits, 4);
    }
    SOTTO_TRY(sotto_writer_finish(&w, "npz", err));
    e->size = out->len - body;
    e->checksum = checksum_of(sotto_bytes_of(out->data + body, e->size));
    /* Now that they are known: checksum, and size twice, 14 bytes into the header. */
    for (unsigned i = 0; i < 4; i++) {
        fixed[i] = (uint8_t)(e->checksum >> 8 * i);
        fixed[4 + i] = (uint8_t)(e->size >> 8 * i);
    }
    memcpy(out->data + start + e->at + 14, fixed, 8);
    memcpy(out->data + start + e->at + 22, fixed + 4, 4);
    return SOTTO_OK;
}

sotto_status sotto_npz_encode(const sotto_model *model, const float *weights, sotto_buf *out,
                              sotto_err *err)
{
    entry entries[SOTTO_MODEL_TENSORS] = {0};
    const size_t start = out->len;

    for (size_t i = 0; i < model->tensor_count; i++)
        SOTTO_TRY(put_tensor(out, start, &model->tensors[i], weights, &entries[i], err));
    const size_t directory = out->len - start;
    sotto_writer w = sotto_writer_on(out);
    for (size_t i = 0; i < model->tensor_count; i++) {
        little(&w, 0x02014b50, 4);
        little(&w, 20, 2);
        little(&w, 20, 2);
        common(&w, &entries[i]);
        little(&w, 0, 2); /* no comment           */
        little(&w, 0, 2); /* disk                 */
        little(&w, 0, 2); /* internal attributes  */
        little(&w, 0, 4); /* external ones        */
        little(&w, entries[i].at, 4);
        sotto_write_bytes(&w, sotto_bytes_of(entries[i].name, strlen(entries[i].name)));
    }
    SOTTO_TRY(sotto_writer_finish(&w, "npz", err));
    const size_t size = out->len - start - directory;
    w = sotto_writer_on(out);
    little(&w, 0x06054b50, 4);
    little(&w, 0, 4);
    little(&w, model->tensor_count, 2);
    little(&w, model->tensor_count, 2);
    little(&w, size, 4);
    little(&w, directory, 4);
    little(&w, 0, 2);
    return sotto_writer_finish(&w, "npz", err);
}
