#define _GNU_SOURCE /* flock */
#include "db/spool_shared.h"

#include "base/directory.h"
#include "base/rule.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME "bodies-"

enum { DIGITS = 16 };

sotto_status sotto_spool_shared_path(char out[SOTTO_SPOOL_PATH], const char *directory,
                                     uint64_t file, sotto_err *err)
{
    int len = snprintf(out, SOTTO_SPOOL_PATH, "%s/" NAME "%016" PRIx64, directory, file);

    return len > 0 && len < SOTTO_SPOOL_PATH
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_MALFORMED, "the path of a directory for bodies is too long");
}

sotto_status sotto_spool_shared_make(int *fd, const char *path, sotto_err *err)
{
    *fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*fd < 0)
        return sotto_fail(err, SOTTO_IO, "%.80s: %s", path, strerror(errno));
    if (flock(*fd, LOCK_EX | LOCK_NB) != 0)
        return sotto_fail(err, SOTTO_IO, "%.80s can't be locked: %s", path, strerror(errno));
    return sotto_directory_sync(path)
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_IO, "%.80s: its directory is not synced", path);
}

static sotto_status read_at(sotto_buf *out, int fd, const sotto_spool_place *place, sotto_err *err)
{
    for (size_t done = 0; done < place->len;) {
        ssize_t got = pread(fd, out->data + out->len + done, (size_t)place->len - done,
                            (off_t)(place->block * SOTTO_SPOOL_BLOCK + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return sotto_fail(err, SOTTO_IO, "spool: %s", strerror(errno));
        if (got == 0)
            return sotto_fail(err, SOTTO_MALFORMED, "the spool ends before what it should hold");
        done += (size_t)got;
    }
    out->len += place->len;
    return SOTTO_OK;
}

sotto_status sotto_spool_shared_read(sotto_buf *out, const char *directory,
                                     const sotto_spool_place *place, sotto_err *err)
{
    char path[SOTTO_SPOOL_PATH];
    sotto_status status;
    int fd;

    if (out->cap - out->len < place->len)
        return sotto_fail(err, SOTTO_TOO_LARGE, "no room for what is in the spool");
    SOTTO_TRY(sotto_spool_shared_path(path, directory, place->file, err));
    fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return sotto_fail(err, SOTTO_IO, "%.80s: %s", path, strerror(errno));
    status = read_at(out, fd, place, err);
    (void)close(fd);
    return status;
}

/* ---- sweeping ------------------------------------------------------------------------------------------------------ */

static bool file_of(uint64_t *out, const char *name)
{
    const char *digits = name + sizeof NAME - 1;

    if (strncmp(name, NAME, sizeof NAME - 1) != 0 || strlen(digits) != DIGITS ||
        strspn(digits, "0123456789abcdef") != DIGITS)
        return false;
    *out = strtoull(digits, NULL, 16);
    return true;
}

static bool is_old(int fd)
{
    struct stat file;

    return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) &&
           file.st_mtime + SOTTO_SPOOL_SWEEP_AFTER <= time(NULL);
}

/* Its process holds the lock for as long as it lives. */
static bool is_left(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static bool may_go(int fd, uint64_t file, sotto_spool_shared_named *named, void *context)
{
    if (SOTTO_RULE(shared_spool_rests) && !is_old(fd))
        return false;
    if (SOTTO_RULE(shared_spool_has_a_process) && !is_left(fd))
        return false;
    if (SOTTO_RULE(shared_spool_is_named) && named(context, file))
        return false;
    return true;
}

static bool sweep_one(const char *directory, uint64_t file, sotto_spool_shared_named *named,
                      void *context)
{
    char path[SOTTO_SPOOL_PATH];
    bool gone;
    int fd;

    if (sotto_spool_shared_path(path, directory, file, NULL) != SOTTO_OK)
        return false;
    fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    gone = may_go(fd, file, named, context) && unlink(path) == 0;
    (void)close(fd);
    return gone;
}

size_t sotto_spool_shared_sweep(const char *directory, uint64_t own,
                                sotto_spool_shared_named *named, void *context)
{
    DIR *all = opendir(directory);
    struct dirent *entry;
    uint64_t file;
    size_t gone = 0;

    while (all && (entry = readdir(all)))
        if (file_of(&file, entry->d_name) && file != own)
            gone += sweep_one(directory, file, named, context);
    if (all)
        (void)closedir(all);
    return gone;
}
