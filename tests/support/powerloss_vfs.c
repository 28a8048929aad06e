#include "support/powerloss_vfs.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 32 };

/* A write, or a truncation if data is NULL, that no sync has followed. */
typedef struct change {
    struct change *next;
    int64_t at;
    size_t len;
    uint8_t data[];
} change;

typedef struct disk_file {
    char path[SOTTO_VFS_PATH];
    bool durable;  /* its directory entry is on the disk     */
    uint8_t *data; /* as of the last sync                    */
    size_t size;
    change *first; /* since then, oldest first               */
    change **last;
} disk_file;

typedef struct open_file {
    sqlite3_file base;
    sqlite3_file *real;
    disk_file *disk; /* NULL for files that are gone when closed */
    uint64_t boot;   /* a handle from before the power loss stays dead */
} open_file;

static struct {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    disk_file files[MOST_FILES];
    size_t file_count;
    uint64_t steps, syncs, boot;
    int64_t off_at, fail_at;
    bool dead, full, stays, failing;
} disk;

static sotto_status move(void *context, const char *from, const char *to);
const sotto_storage sotto_powerloss_storage = {.vfs = "powerloss", .rename = move};

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

/* ---- what the disk holds ---------------------------------------------------------------------------- */

static void forget_changes(disk_file *file)
{
    while (file->first) {
        change *next = file->first->next;
        free(file->first);
        file->first = next;
    }
    file->last = &file->first;
}

static disk_file *find(const char *path)
{
    for (size_t i = 0; i < disk.file_count; i++) {
        if (strcmp(disk.files[i].path, path) == 0)
            return &disk.files[i];
    }
    return NULL;
}

static void note_change(disk_file *file, const void *data, size_t len, int64_t at)
{
    change *c = must(malloc(sizeof *c + len));

    *c = (change){.at = at, .len = len};
    if (len)
        memcpy(c->data, data, len);
    *file->last = c;
    file->last = &c->next;
}

/* Files that were there before we looked are taken to be on the disk as they are. */
static void load(disk_file *file)
{
    FILE *in = must(fopen(file->path, "rb"));
    long size = 0;

    if (fseek(in, 0, SEEK_END) != 0 || (size = ftell(in)) < 0)
        abort();
    rewind(in);
    file->size = (size_t)size;
    file->data = must(malloc(file->size + 1));
    if (fread(file->data, 1, file->size, in) != file->size || fclose(in) != 0)
        abort();
    file->durable = true;
}

static disk_file *find_or_add(const char *path, bool existed)
{
    disk_file *file = find(path);

    if (file) {
        if (!existed) /* the name is back, its bytes are not */
            note_change(file, NULL, 0, 0);
        return file;
    }
    if (disk.file_count == MOST_FILES)
        abort();
    file = &disk.files[disk.file_count++];
    *file = (disk_file){0};
    file->last = &file->first;
    (void)snprintf(file->path, sizeof file->path, "%s", path);
    if (existed)
        load(file);
    return file;
}

static void apply(disk_file *file, const change *c)
{
    size_t end = (size_t)c->at + c->len;

    if (end > file->size || c->len == 0) {
        file->data = must(realloc(file->data, end ? end : 1));
        if (end > file->size)
            memset(file->data + file->size, 0, end - file->size);
        file->size = end;
    }
    if (c->len)
        memcpy(file->data + c->at, c->data, c->len);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

static void put_back(disk_file *file, uint64_t seed)
{
    uint64_t number = 0;

    for (const change *c = file->first; c; c = c->next) {
        if (seed && mix(seed * 0x9e3779b97f4a7c15U + number++) & 1) {
            apply(file, c);
            file->durable = true;
        }
    }
    forget_changes(file);
    if (!file->durable) {
        (void)remove(file->path);
        return;
    }
    FILE *out = must(fopen(file->path, "wb"));
    if (fwrite(file->data, 1, file->size, out) != file->size || fclose(out) != 0)
        abort();
}

void sotto_powerloss_restore(uint64_t seed)
{
    for (size_t i = 0; i < disk.file_count; i++)
        put_back(&disk.files[i], seed ? seed + i : 0);
    disk.dead = disk.failing = false;
    disk.off_at = disk.fail_at = -1;
    disk.steps = disk.syncs = 0;
    disk.boot++;
}

static sotto_status move(void *context, const char *from, const char *to)
{
    disk_file *file = find(from), *over = find(to);

    (void)context;
    if (disk.dead || !file || rename(from, to) != 0)
        return SOTTO_IO;
    if (over)
        (void)snprintf(over->path, sizeof over->path, "%s~gone", to), over->durable = false;
    (void)snprintf(file->path, sizeof file->path, "%s", to);
    return SOTTO_OK;
}

/* ---- steps ------------------------------------------------------------------------------------------ */

static int step(bool grows)
{
    if (disk.dead)
        return SQLITE_IOERR;
    int64_t number = (int64_t)disk.steps++;
    if (number == disk.off_at) {
        disk.dead = true;
        return SQLITE_IOERR;
    }
    if (number == disk.fail_at)
        disk.failing = disk.stays;
    else if (!disk.failing || !grows)
        return SQLITE_OK;
    return disk.full ? SQLITE_FULL : SQLITE_IOERR;
}

static bool is_dead(const open_file *file)
{
    return disk.dead || file->boot != disk.boot;
}

static int file_close(sqlite3_file *base)
{
    open_file *file = (open_file *)base;
    int code = file->real->pMethods ? file->real->pMethods->xClose(file->real) : SQLITE_OK;

    sqlite3_free(file->real);
    return code;
}

static int file_read(sqlite3_file *base, void *out, int len, sqlite3_int64 at)
{
    open_file *file = (open_file *)base;

    return is_dead(file) ? SQLITE_IOERR : file->real->pMethods->xRead(file->real, out, len, at);
}

static int file_write(sqlite3_file *base, const void *data, int len, sqlite3_int64 at)
{
    open_file *file = (open_file *)base;
    int code = is_dead(file) ? SQLITE_IOERR : step(true);

    if (code == SQLITE_OK)
        code = file->real->pMethods->xWrite(file->real, data, len, at);
    if (code == SQLITE_OK && file->disk)
        note_change(file->disk, data, (size_t)len, at);
    return code;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    open_file *file = (open_file *)base;
    int code = is_dead(file) ? SQLITE_IOERR : step(true);

    if (code == SQLITE_OK)
        code = file->real->pMethods->xTruncate(file->real, size);
    if (code == SQLITE_OK && file->disk)
        note_change(file->disk, NULL, 0, size);
    return code;
}

static int file_sync(sqlite3_file *base, int flags)
{
    open_file *file = (open_file *)base;
    int code = is_dead(file) ? SQLITE_IOERR : step(false);

    (void)flags; /* the real file needs no sync: only what we remember counts */
    if (code != SQLITE_OK || !file->disk)
        return code;
    for (const change *c = file->disk->first; c; c = c->next)
        apply(file->disk, c);
    forget_changes(file->disk);
    file->disk->durable = true;
    disk.syncs++;
    return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
    open_file *file = (open_file *)base;

    return is_dead(file) ? SQLITE_IOERR : file->real->pMethods->xFileSize(file->real, size);
}

static int file_lock(sqlite3_file *base, int level)
{
    open_file *file = (open_file *)base;

    return is_dead(file) ? SQLITE_IOERR : file->real->pMethods->xLock(file->real, level);
}

static int file_unlock(sqlite3_file *base, int level)
{
    open_file *file = (open_file *)base;

    return file->real->pMethods->xUnlock(file->real, level);
}

static int file_check_lock(sqlite3_file *base, int *held)
{
    open_file *file = (open_file *)base;

    return file->real->pMethods->xCheckReservedLock(file->real, held);
}

static int file_control(sqlite3_file *base, int what, void *argument)
{
    open_file *file = (open_file *)base;

    /* Growing the file ahead of its contents would pass by our memory of it. */
    if (what == SQLITE_FCNTL_SIZE_HINT || what == SQLITE_FCNTL_CHUNK_SIZE)
        return SQLITE_NOTFOUND;
    return file->real->pMethods->xFileControl(file->real, what, argument);
}

static int file_sector(sqlite3_file *base)
{
    open_file *file = (open_file *)base;

    return file->real->pMethods->xSectorSize(file->real);
}

static int file_traits(sqlite3_file *base)
{
    open_file *file = (open_file *)base;

    return file->real->pMethods->xDeviceCharacteristics(file->real);
}

static int shm_map(sqlite3_file *base, int page, int size, int extend, void volatile **out)
{
    open_file *file = (open_file *)base;

    return is_dead(file) ? SQLITE_IOERR
                         : file->real->pMethods->xShmMap(file->real, page, size, extend, out);
}

static int shm_lock(sqlite3_file *base, int offset, int n, int flags)
{
    open_file *file = (open_file *)base;

    return file->real->pMethods->xShmLock(file->real, offset, n, flags);
}

static void shm_barrier(sqlite3_file *base)
{
    open_file *file = (open_file *)base;

    file->real->pMethods->xShmBarrier(file->real);
}

static int shm_unmap(sqlite3_file *base, int remove_it)
{
    open_file *file = (open_file *)base;

    return file->real->pMethods->xShmUnmap(file->real, remove_it);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_traits,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
};

/* ---- the VFS ---------------------------------------------------------------------------------------- */

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags, int *out)
{
    open_file *file = (open_file *)base;
    int there = 0;

    (void)vfs;
    *file = (open_file){.boot = disk.boot};
    if (path)
        (void)disk.real->xAccess(disk.real, path, SQLITE_ACCESS_EXISTS, &there);
    int code = there ? (disk.dead ? SQLITE_IOERR : SQLITE_OK) : step(true);
    if (code != SQLITE_OK)
        return code;
    file->real = must(sqlite3_malloc(disk.real->szOsFile));
    memset(file->real, 0, (size_t)disk.real->szOsFile);
    code = disk.real->xOpen(disk.real, path, file->real, flags, out);
    if (code != SQLITE_OK) {
        sqlite3_free(file->real);
        return code;
    }
    if (path && !(flags & SQLITE_OPEN_DELETEONCLOSE))
        file->disk = find_or_add(path, there);
    file->base.pMethods = &methods;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int sync_directory)
{
    disk_file *file = find(path);
    int code = step(false);

    (void)vfs;
    if (code != SQLITE_OK)
        return code;
    code = disk.real->xDelete(disk.real, path, sync_directory);
    /* Without a sync of the directory, the file with its last synced bytes may be back after a loss. */
    if (code == SQLITE_OK && file) {
        forget_changes(file);
        if (sync_directory) {
            file->durable = false;
            file->size = 0;
        }
    }
    return code;
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *out)
{
    (void)vfs;
    return disk.dead ? SQLITE_IOERR : disk.real->xAccess(disk.real, path, flags, out);
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *path, int size, char *out)
{
    (void)vfs;
    return disk.real->xFullPathname(disk.real, path, size, out);
}

void sotto_powerloss_start(void)
{
    if (!disk.real) {
        disk.real = sqlite3_vfs_find(NULL);
        disk.vfs = *disk.real;
        disk.vfs.pNext = NULL;
        disk.vfs.zName = "powerloss";
        disk.vfs.szOsFile = (int)sizeof(open_file);
        disk.vfs.xOpen = vfs_open;
        disk.vfs.xDelete = vfs_delete;
        disk.vfs.xAccess = vfs_access;
        disk.vfs.xFullPathname = vfs_full_path;
        if (sqlite3_vfs_register(&disk.vfs, 0) != SQLITE_OK)
            abort();
    }
    for (size_t i = 0; i < disk.file_count; i++) {
        forget_changes(&disk.files[i]);
        free(disk.files[i].data);
    }
    disk.file_count = 0;
    sotto_powerloss_restore(0);
}

uint64_t sotto_powerloss_steps(void)
{
    return disk.steps;
}

uint64_t sotto_powerloss_syncs(void)
{
    return disk.syncs;
}

uint64_t sotto_powerloss_unsynced(const char *ending)
{
    uint64_t count = 0;

    for (size_t i = 0; i < disk.file_count; i++) {
        size_t len = strlen(disk.files[i].path), end = strlen(ending);

        if (len < end || strcmp(disk.files[i].path + len - end, ending) != 0)
            continue;
        for (const change *c = disk.files[i].first; c; c = c->next)
            count++;
    }
    return count;
}

void sotto_powerloss_at(int64_t step_number)
{
    disk.off_at = step_number;
}

void sotto_powerloss_fail_at(int64_t step_number, bool full, bool stays)
{
    disk.fail_at = step_number;
    disk.full = full;
    disk.stays = stays;
    disk.failing = false;
}
