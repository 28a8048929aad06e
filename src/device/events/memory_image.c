#include "device/events/memory_image.h"

#include "query/sqlite.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>

enum { IMAGES = 8 }; /* a simulation has one kind of device, or few */

typedef struct image {
    uint8_t layout[SOTTO_MEMORY_LAYOUT];
    sqlite3_int64 size;
    unsigned char *bytes; /* SQLite's; kept until the process ends */
} image;

/* Filled from the first on. */
static _Atomic(image *) blanks[IMAGES];

static const image *find(const uint8_t layout[SOTTO_MEMORY_LAYOUT])
{
    for (size_t i = 0; i < IMAGES; i++) {
        const image *blank = atomic_load(&blanks[i]);

        if (!blank)
            return NULL;
        if (memcmp(blank->layout, layout, SOTTO_MEMORY_LAYOUT) == 0)
            return blank;
    }
    return NULL;
}

/* Two threads may both keep one of the same layout: lookups find the first, and the other does no
 * harm. */
static bool put(image *fresh)
{
    for (size_t i = 0; i < IMAGES; i++) {
        image *none = NULL;

        if (atomic_compare_exchange_strong(&blanks[i], &none, fresh))
            return true;
    }
    return false;
}

void sotto_memory_image_keep(sqlite3 *db, const uint8_t layout[SOTTO_MEMORY_LAYOUT])
{
    if (find(layout) || atomic_load(&blanks[IMAGES - 1]))
        return;
    image *fresh = sqlite3_malloc(sizeof *fresh);
    if (!fresh)
        return;
    memcpy(fresh->layout, layout, sizeof fresh->layout);
    fresh->bytes = sqlite3_serialize(db, "main", &fresh->size, 0);
    if (fresh->bytes && fresh->size <= INT_MAX && put(fresh))
        return;
    sqlite3_free(fresh->bytes);
    sqlite3_free(fresh);
}

/* Written below SQLite, which has not looked at the file yet: sqlite3_deserialize would give this connection a file
 * that no other can reach by its name. */
sotto_status sotto_memory_image_copy(sqlite3 *db, bool *copied,
                                     const uint8_t layout[SOTTO_MEMORY_LAYOUT], sotto_err *err)
{
    const image *from = find(layout);
    sqlite3_file *file = NULL;

    *copied = false;
    if (!from)
        return SOTTO_OK;
    int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code == SQLITE_OK)
        code = file->pMethods->xWrite(file, from->bytes, (int)from->size, 0);
    if (code != SQLITE_OK)
        return sotto_sqlite_fail(err, code, "a store in memory");
    *copied = true;
    return SOTTO_OK;
}

static bool is_idle(sqlite3 *db)
{
    for (sqlite3_stmt *s = sqlite3_next_stmt(db, NULL); s; s = sqlite3_next_stmt(db, s))
        if (sqlite3_stmt_busy(s))
            return false;
    return sqlite3_get_autocommit(db) != 0;
}

/* A connection keeps its pages while the file's change counter is the one it last saw (SQLite's file format, 1.3.7). The
 * next one after all that were seen makes each of them read anew. It is in two places, the second of which says that the
 * header's number of pages is true. */
enum { CHANGES = 24, VALID_FOR = 92, COUNTER = 4 };

static bool read_counter(sqlite3_file *file, uint32_t *changes)
{
    uint8_t bytes[COUNTER];

    if (file->pMethods->xRead(file, bytes, COUNTER, CHANGES) != SQLITE_OK)
        return false;
    *changes =
        (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
    return true;
}

static bool write_counter(sqlite3_file *file, uint32_t changes)
{
    const uint8_t bytes[COUNTER] = {(uint8_t)(changes >> 24), (uint8_t)(changes >> 16),
                                    (uint8_t)(changes >> 8), (uint8_t)changes};

    return file->pMethods->xWrite(file, bytes, COUNTER, CHANGES) == SQLITE_OK &&
           file->pMethods->xWrite(file, bytes, COUNTER, VALID_FOR) == SQLITE_OK;
}

bool sotto_memory_image_restore(sqlite3 *db, const uint8_t layout[SOTTO_MEMORY_LAYOUT])
{
    const image *from = find(layout);
    sqlite3_file *file = NULL;
    uint32_t changes;

    if (!from || !is_idle(db) ||
        sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
        !read_counter(file, &changes))
        return false;
    int code = file->pMethods->xWrite(file, from->bytes, (int)from->size, 0);
    if (code == SQLITE_OK)
        code = file->pMethods->xTruncate(file, from->size);
    return code == SQLITE_OK && write_counter(file, changes + 1);
}
