#define _POSIX_C_SOURCE 200809L

#include "db/sqlite_join.h"

#include "base/alloc.h"
#include "base/rule.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A VFS need not move more at once than SQLite's largest page: that of Unix does not. */
enum { HELD = 64 << 10, MOST_VFS = 8, NAME = 80 };

typedef struct joined {
    sqlite3_file file;
    sqlite3_file *real;
    uint8_t *held; /* HELD bytes; NULL until the first write */
    sqlite3_int64 at;
    int len;
    bool direct; /* nothing waits */
} joined;

typedef struct joining_vfs {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    char name[NAME];
} joining_vfs;

static joining_vfs all[MOST_VFS];
static size_t all_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- a WAL ---------------------------------------------------------------------------------------------- */

/* What could not be written is gone: SQLite is told, and takes its transaction back. */
static int put_held(joined *f)
{
    int len = f->len;

    f->len = 0;
    return len == 0 ? SQLITE_OK : f->real->pMethods->xWrite(f->real, f->held, len, f->at);
}

static int join_close(sqlite3_file *file)
{
    joined *f = (joined *)file;

    sotto_release(f->held, HELD);
    f->held = NULL;
    return f->real->pMethods->xClose(f->real);
}

static int join_read(sqlite3_file *file, void *out, int len, sqlite3_int64 at)
{
    joined *f = (joined *)file;
    int code = put_held(f);

    return code == SQLITE_OK ? f->real->pMethods->xRead(f->real, out, len, at) : code;
}

static int join_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    joined *f = (joined *)file;
    int code = SQLITE_OK;

    if (f->len > 0 && (at != f->at + f->len || len > HELD - f->len))
        code = put_held(f);
    if (code != SQLITE_OK)
        return code;
    if (!f->held && !f->direct)
        f->held = sotto_alloc(HELD);
    if (!f->held || len > HELD)
        return f->real->pMethods->xWrite(f->real, bytes, len, at);
    if (f->len == 0)
        f->at = at;
    memcpy(f->held + f->len, bytes, (size_t)len);
    f->len += len;
    return SQLITE_OK;
}

static int join_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    joined *f = (joined *)file;
    int code = put_held(f);

    return code == SQLITE_OK ? f->real->pMethods->xTruncate(f->real, size) : code;
}

static int join_sync(sqlite3_file *file, int flags)
{
    joined *f = (joined *)file;
    int code = put_held(f);

    return code == SQLITE_OK ? f->real->pMethods->xSync(f->real, flags) : code;
}

static int join_size(sqlite3_file *file, sqlite3_int64 *size)
{
    joined *f = (joined *)file;
    int code = put_held(f);

    return code == SQLITE_OK ? f->real->pMethods->xFileSize(f->real, size) : code;
}

static int join_lock(sqlite3_file *file, int level)
{
    joined *f = (joined *)file;

    return f->real->pMethods->xLock(f->real, level);
}

static int join_unlock(sqlite3_file *file, int level)
{
    joined *f = (joined *)file;

    return f->real->pMethods->xUnlock(f->real, level);
}

static int join_reserved(sqlite3_file *file, int *out)
{
    joined *f = (joined *)file;

    return f->real->pMethods->xCheckReservedLock(f->real, out);
}

static int join_control(sqlite3_file *file, int op, void *argument)
{
    joined *f = (joined *)file;

    return f->real->pMethods->xFileControl(f->real, op, argument);
}

static int join_sector(sqlite3_file *file)
{
    joined *f = (joined *)file;

    return f->real->pMethods->xSectorSize(f->real);
}

static int join_traits(sqlite3_file *file)
{
    joined *f = (joined *)file;

    return f->real->pMethods->xDeviceCharacteristics(f->real);
}

/* Version 1: shared memory and mappings are the database file's, never a WAL's. */
static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = join_close,
    .xRead = join_read,
    .xWrite = join_write,
    .xTruncate = join_truncate,
    .xSync = join_sync,
    .xFileSize = join_size,
    .xLock = join_lock,
    .xUnlock = join_unlock,
    .xCheckReservedLock = join_reserved,
    .xFileControl = join_control,
    .xSectorSize = join_sector,
    .xDeviceCharacteristics = join_traits,
};

void sotto_lite_join_forget(sqlite3 *db)
{
    sqlite3_file *file = NULL;

    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK ||
        !file || file->pMethods != &methods)
        return;
    ((joined *)file)->len = 0;
}

/* ---- the VFS -------------------------------------------------------------------------------------------- */

/* A file that is no WAL stands where its own VFS would have it. */
static int join_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *got)
{
    sqlite3_vfs *real = ((joining_vfs *)vfs)->real;
    joined *f = (joined *)file;
    int code, traits;

    if (!(flags & SQLITE_OPEN_WAL))
        return real->xOpen(real, name, file, flags, got);
    memset(f, 0, sizeof *f);
    f->real = (sqlite3_file *)(f + 1);
    code = real->xOpen(real, name, f->real, flags, got);
    if (!f->real->pMethods)
        return code;
    f->file.pMethods = &methods;
    /* Where a torn sector may take others along, SQLite fills a commit's last sector up, and syncs it up to there. It writes the rest of
     * that frame behind the sync, and readers may want it at once. */
    traits = f->real->pMethods->xDeviceCharacteristics(f->real);
    if (SOTTO_RULE(no_page_waits_unsynced) && !(traits & SQLITE_IOCAP_POWERSAFE_OVERWRITE))
        f->direct = true;
    return code;
}

/* One that was unregistered may have left its place to another. */
static bool is_over(const joining_vfs *v, const sqlite3_vfs *real)
{
    return v->real == real && v->vfs.pAppData == real->pAppData &&
           v->vfs.xDelete == real->xDelete &&
           v->vfs.szOsFile == (int)sizeof(joined) + real->szOsFile;
}

static joining_vfs *over(sqlite3_vfs *real)
{
    joining_vfs *v = NULL;

    for (size_t i = 0; !v && i < all_count; i++)
        if (is_over(&all[i], real))
            v = &all[i];
    if (v || all_count == MOST_VFS)
        return v;
    v = &all[all_count];
    v->real = real;
    v->vfs = *real;
    v->vfs.szOsFile = (int)sizeof(joined) + real->szOsFile;
    v->vfs.pNext = NULL;
    v->vfs.zName = v->name;
    v->vfs.xOpen = join_open;
    (void)snprintf(v->name, sizeof v->name, "sotto-joined-%zu-%.40s", all_count, real->zName);
    if (sqlite3_vfs_register(&v->vfs, 0) != SQLITE_OK)
        return NULL;
    all_count++;
    return v;
}

const char *sotto_lite_joined(const char *vfs)
{
    sqlite3_vfs *real = sqlite3_vfs_find(vfs);
    joining_vfs *v;

    if (!real)
        return vfs;
    (void)pthread_mutex_lock(&lock);
    v = over(real);
    (void)pthread_mutex_unlock(&lock);
    return v ? v->name : vfs;
}
