#include "device/memory_image.h"

#include "device/sqlite.h"

#include <stdatomic.h>
#include <string.h>

typedef struct image {
    sqlite3_int64 size;
    unsigned char *bytes; /* SQLite's; kept until the process ends */
} image;

static _Atomic(image *) blank;

void sotto_memory_image_keep(sqlite3 *db)
{
    image *none = NULL, *fresh;

    if (atomic_load(&blank))
        return;
    fresh = sqlite3_malloc(sizeof *fresh);
    if (!fresh)
        return;
    fresh->bytes = sqlite3_serialize(db, "main", &fresh->size, 0);
    if (fresh->bytes && atomic_compare_exchange_strong(&blank, &none, fresh))
        return;
    sqlite3_free(fresh->bytes);
    sqlite3_free(fresh);
}

sotto_status sotto_memory_image_copy(sqlite3 *db, bool *copied, sotto_err *err)
{
    const image *from = atomic_load(&blank);

    *copied = false;
    if (!from)
        return SOTTO_OK;
    unsigned char *bytes = sqlite3_malloc64((sqlite3_uint64)from->size);
    if (!bytes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a ledger in memory");
    memcpy(bytes, from->bytes, (size_t)from->size);
    /* SQLite frees the bytes, whatever it says. */
    int code = sqlite3_deserialize(db, "main", bytes, from->size, from->size,
                                   SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
    if (code != SQLITE_OK)
        return sotto_sqlite_fail(err, code, "a ledger in memory");
    *copied = true;
    return sotto_sqlite_run(db, "PRAGMA secure_delete=ON", "a ledger in memory", err);
}
