/* All rows of a device together, however the file has them: by a hash of the device's name into parts that fit into memory, and
 * sorted there. */
#define _POSIX_C_SOURCE 200809L
#include "support/people_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of the file for each part, and the most that rows of one may take. */
enum { PART = 24 << 20, MOST_PART = 512 << 20, MOST_PARTS = 256, UNKNOWN_PARTS = 64 };

typedef struct sotto_group_row {
    uint64_t hash;
    size_t at;
    const uint8_t *row;
} group_row;

/* FNV-1a: no secret, and the same for each run. */
static uint64_t hash_of(sotto_bytes name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < name.len; i++)
        hash = (hash ^ name.data[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

/* A file that has no name, in TMPDIR. */
static FILE *open_part(void)
{
    const char *where = getenv("TMPDIR");
    char path[256];

    (void)snprintf(path, sizeof path, "%.200s/sotto-rows-XXXXXX",
                   where && where[0] ? where : "/tmp");
    const int fd = mkstemp(path);
    if (fd < 0)
        return NULL;
    (void)unlink(path);
    FILE *file = fdopen(fd, "w+b");
    if (!file)
        (void)close(fd);
    return file;
}

static sotto_status open_parts(sotto_groups *g, uint64_t size, sotto_err *err)
{
    const uint64_t wanted = size == 0 ? UNKNOWN_PARTS : size / PART + 1;

    g->parts = wanted > MOST_PARTS ? MOST_PARTS : (size_t)wanted;
    if (g->parts == 1)
        return SOTTO_OK;
    g->files = calloc(g->parts, sizeof *g->files);
    if (!g->files)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the rows of a file");
    for (size_t i = 0; i < g->parts; i++)
        if (!(g->files[i].file = open_part()))
            return sotto_fail(err, SOTTO_IO,
                              "no file for rows in TMPDIR: %s; set TMPDIR to a directory with room",
                              strerror(errno));
    return SOTTO_OK;
}

static sotto_status spill(sotto_groups *g, sotto_packed *row, sotto_err *err)
{
    FILE *to = g->files[hash_of(sotto_people_name(row->data)) % g->parts].file;

    if (fwrite(row->data, 1, row->len, to) != row->len)
        return sotto_fail(err, SOTTO_IO,
                          "rows can't be written: %s; set TMPDIR to a directory with room",
                          strerror(errno));
    row->len = 0;
    return SOTTO_OK;
}

/* ---- a part in memory --------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const group_row *x = a, *y = b;
    const sotto_bytes m = sotto_people_name(x->row), n = sotto_people_name(y->row);

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    if (m.len != n.len)
        return m.len < n.len ? -1 : 1;
    const int order = memcmp(m.data, n.data, m.len);
    return order ? order : x->at < y->at ? -1 : 1;
}

static sotto_status sort_part(sotto_groups *g, sotto_err *err)
{
    size_t count = 0;

    for (size_t at = 0; at < g->rows.len; at += sotto_people_row_size(g->rows.data + at))
        count++;
    free(g->index);
    g->index = malloc((count + 1) * sizeof *g->index);
    if (!g->index)
        return sotto_fail(err, SOTTO_NO_MEMORY, "%zu rows", count);
    g->count = g->at = 0;
    for (size_t at = 0; at < g->rows.len; at += sotto_people_row_size(g->rows.data + at)) {
        const uint8_t *row = g->rows.data + at;

        g->index[g->count++] = (group_row){hash_of(sotto_people_name(row)), at, row};
    }
    if (g->count > 0)
        qsort(g->index, g->count, sizeof *g->index, compare);
    return SOTTO_OK;
}

static sotto_status load_part(sotto_groups *g, sotto_err *err)
{
    uint8_t some[1 << 16];
    FILE *from = g->files[g->part].file;
    size_t got;

    g->rows.len = 0;
    if (fflush(from) != 0 || fseek(from, 0, SEEK_SET) != 0)
        return sotto_fail(err, SOTTO_IO, "rows in TMPDIR: %s", strerror(errno));
    while ((got = fread(some, 1, sizeof some, from)) > 0) {
        if (g->rows.len > MOST_PART)
            return sotto_fail(err, SOTTO_TOO_LARGE,
                              "too many rows have few devices; is --device-column right?");
        SOTTO_TRY(sotto_packed_put(&g->rows, some, got, err));
    }
    if (ferror(from))
        return sotto_fail(err, SOTTO_IO, "rows in TMPDIR can't be read");
    return sort_part(g, err);
}

sotto_status sotto_groups_fill(sotto_people *people, sotto_err *err)
{
    sotto_groups *g = &people->groups;
    sotto_status status = open_parts(g, sotto_csv_stream_size(people->csv), err);

    while (status == SOTTO_OK) {
        status = sotto_people_read(people, g->files ? &people->row : &g->rows, err);
        if (status == SOTTO_OK && g->files)
            status = spill(g, &people->row, err);
    }
    if (status != SOTTO_MISSING)
        return status;
    return g->files ? load_part(g, err) : sort_part(g, err);
}

static bool is_same(const group_row *a, const group_row *b)
{
    const sotto_bytes m = sotto_people_name(a->row), n = sotto_people_name(b->row);

    return a->hash == b->hash && m.len == n.len && memcmp(m.data, n.data, m.len) == 0;
}

sotto_status sotto_groups_next(sotto_groups *g, sotto_packed *out, sotto_err *err)
{
    out->len = 0;
    while (g->at == g->count) {
        if (++g->part >= g->parts)
            return SOTTO_MISSING;
        SOTTO_TRY(load_part(g, err));
    }
    const size_t first = g->at;
    do {
        const uint8_t *row = g->index[g->at++].row;

        if (g->at - first > SOTTO_PEOPLE_ROWS) {
            char shown[SOTTO_CSV_SHOWN];

            return sotto_fail(err, SOTTO_TOO_LARGE,
                              "device '%s' has more than 100,000 rows; is --device-column right?",
                              sotto_csv_shown(shown, sotto_people_name(row)));
        }
        SOTTO_TRY(sotto_packed_put(out, row, sotto_people_row_size(row), err));
    } while (g->at < g->count && is_same(&g->index[first], &g->index[g->at]));
    return SOTTO_OK;
}

void sotto_groups_rewind(sotto_groups *g)
{
    g->at = g->files ? g->count : 0; /* load_part begins the first one */
    g->part = g->files ? SIZE_MAX : 0;
}

void sotto_groups_clear(sotto_groups *g)
{
    for (size_t i = 0; g->files && i < g->parts; i++)
        if (g->files[i].file)
            (void)fclose(g->files[i].file);
    free(g->files);
    free(g->index);
    sotto_packed_clear(&g->rows);
}
