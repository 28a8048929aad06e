#define _POSIX_C_SOURCE 200809L

#include "query/vfs.h"

#include "base/alloc.h"
#include "base/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool host_keeps_files(const sotto_storage *storage)
{
    return storage && storage->rename;
}

/* By path, since closing a descriptor would drop the locks that SQLite holds on the same file. */
static bool take_rights_away(const char *path)
{
    struct stat info;

    if (lstat(path, &info) != 0)
        return errno == ENOENT;
    if (!S_ISREG(info.st_mode))
        return false;
    return (info.st_mode & 077) == 0 || chmod(path, 0600) == 0;
}

sotto_status sotto_vfs_make_private(const sotto_storage *storage, const char *path, sotto_err *err)
{
    static const char *const beside[] = {"", "-wal", "-shm", "-journal"};

    if (host_keeps_files(storage))
        return SOTTO_OK;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) {
        (void)close(fd);
        (void)sotto_directory_sync(path); /* one that can't be read, but searched, has no sync */
        return SOTTO_OK;
    }
    if (errno != EEXIST)
        return sotto_fail(err, SOTTO_IO, "%.80s: can't be created: %s", path, strerror(errno));
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        char name[SOTTO_VFS_PATH];

        (void)snprintf(name, sizeof name, "%s%s", path, beside[i]);
        if (!take_rights_away(name))
            return sotto_fail(err, SOTTO_IO, "%.80s%s: can't be made private", path, beside[i]);
    }
    return SOTTO_OK;
}

static sqlite3_vfs *find(const sotto_storage *storage)
{
    return sqlite3_vfs_find(storage ? storage->vfs : NULL);
}

sotto_status sotto_vfs_exists(const sotto_storage *storage, const char *path, bool *exists,
                              sotto_err *err)
{
    sqlite3_vfs *vfs = find(storage);
    int found = 0;

    *exists = false;
    if (!vfs)
        return sotto_fail(err, SOTTO_MISSING, "no such VFS is registered");
    if (vfs->xAccess(vfs, path, SQLITE_ACCESS_EXISTS, &found) != SQLITE_OK)
        return sotto_fail(err, SOTTO_IO, "%.80s: can't be looked for", path);
    *exists = found != 0;
    return SOTTO_OK;
}

sotto_status sotto_vfs_rename(const sotto_storage *storage, const char *from, const char *to,
                              sotto_err *err)
{
    if (host_keeps_files(storage))
        return storage->rename(storage->context, from, to) == SOTTO_OK
                   ? SOTTO_OK
                   : sotto_fail(err, SOTTO_IO, "%.80s: can't be renamed", from);
    if (rename(from, to) != 0)
        return sotto_fail(err, SOTTO_IO, "%.80s: can't be renamed: %s", from, strerror(errno));
    (void)sotto_directory_sync(to); /* as above */
    return SOTTO_OK;
}

static int overwrite(sqlite3_file *file)
{
    const uint8_t zeros[4096] = {
        0}; /* static it would take a page of every installed device library */
    sqlite3_int64 size = 0;
    int code = file->pMethods->xFileSize(file, &size);

    for (sqlite3_int64 at = 0; code == SQLITE_OK && at < size; at += (int)sizeof zeros) {
        sqlite3_int64 left = size - at;
        int len = left < (int)sizeof zeros ? (int)left : (int)sizeof zeros;

        code = file->pMethods->xWrite(file, zeros, len, at);
    }
    return code == SQLITE_OK ? file->pMethods->xSync(file, SQLITE_SYNC_FULL) : code;
}

static int overwrite_path(sqlite3_vfs *vfs, const char *path)
{
    size_t size = (size_t)vfs->szOsFile;
    sqlite3_file *file = sotto_alloc(size);
    /* A VFS may look behind the name for parameters, which this form has room for. */
    const char *name = sqlite3_create_filename(path, "", "", 0, NULL);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MAIN_DB;
    int code = file && name ? vfs->xOpen(vfs, name, file, flags, NULL) : SQLITE_NOMEM;

    if (code == SQLITE_OK)
        code = overwrite(file);
    if (file && file->pMethods)
        (void)file->pMethods->xClose(file);
    sqlite3_free_filename((char *)(uintptr_t)name);
    sotto_release(file, size);
    return code;
}

sotto_status sotto_vfs_erase(const sotto_storage *storage, const char *path, sotto_err *err)
{
    sqlite3_vfs *vfs = find(storage);
    bool exists;

    SOTTO_TRY(sotto_vfs_exists(storage, path, &exists, err));
    /* SQLite takes an empty file for none, and yet it has a name. */
    int code = exists ? overwrite_path(vfs, path) : SQLITE_OK;
    if (code == SQLITE_OK)
        code = vfs->xDelete(vfs, path, 1);
    if (code == SQLITE_IOERR_DELETE_NOENT)
        return SOTTO_OK;
    if (code != SQLITE_OK)
        return sotto_fail(err, SOTTO_IO, "%.80s: can't be erased: %s", path, sqlite3_errstr(code));
    return SOTTO_OK;
}
