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

/* Two threads may both keep one of the same layout: the first is found, and the other does no harm. */
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
