#define _POSIX_C_SOURCE 200809L
#include "base/file.h"

#include "base/arena.h"
#include "base/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- writing ----------------------------------------------------------------------------------------------- */

static sotto_status can_not_write(const char *path, sotto_err *err)
{
    return sotto_fail(err, SOTTO_IO, "can't write %.100s: %s", path, strerror(errno));
}

bool sotto_file_put(int fd, sotto_bytes bytes)
{
    while (bytes.len > 0) {
        const ssize_t done = write(fd, bytes.data, bytes.len);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        bytes = sotto_bytes_of(bytes.data + done, bytes.len - (size_t)done);
    }
    return true;
}

static bool sync_content(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool good = fd >= 0 && fsync(fd) == 0;

    if (fd >= 0)
        (void)close(fd);
    return good;
}

bool sotto_file_sync(const char *path)
{
    return sync_content(path) && sotto_directory_sync(path);
}

sotto_status sotto_file_settle(const char *from, const char *path, sotto_err *err)
{
    if (!sync_content(from) || rename(from, path) != 0 || !sotto_directory_sync(path))
        return can_not_write(path, err);
    return SOTTO_OK;
}

sotto_status sotto_file_write(const char *path, sotto_bytes bytes, sotto_file_moment *at,
                              void *context, sotto_err *err)
{
    char beside[4096];
    const sotto_bytes half = sotto_bytes_of(bytes.data, bytes.len / 2);
    const sotto_bytes rest = sotto_bytes_of(bytes.data + half.len, bytes.len - half.len);
    bool written;
    int fd;

    if (strlen(path) + sizeof SOTTO_FILE_UNFINISHED > sizeof beside)
        return sotto_fail(err, SOTTO_TOO_LARGE, "a path has at most 4,000 bytes");
    (void)snprintf(beside, sizeof beside, "%s" SOTTO_FILE_UNFINISHED, path);
    if (at)
        at(context, 0);
    fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return can_not_write(path, err);
    written = sotto_file_put(fd, half);
    if (at)
        at(context, 1); /* half of it is there */
    written = written && sotto_file_put(fd, rest) && fsync(fd) == 0;
    written = close(fd) == 0 && written;
    if (at)
        at(context, 2);
    if (!written || rename(beside, path) != 0) {
        const sotto_status status = can_not_write(path, err);

        (void)unlink(beside);
        return status;
    }
    if (at)
        at(context, 3);
    if (!sotto_directory_sync(path))
        return can_not_write(path, err);
    if (at)
        at(context, 4);
    return SOTTO_OK;
}

/* ---- reading ----------------------------------------------------------------------------------------------- */

static sotto_status can_not_open(const char *path, sotto_err *err)
{
    return errno == ENOENT
               ? sotto_fail(err, SOTTO_MISSING, "%.100s: there is no such file", path)
               : sotto_fail(err, SOTTO_IO, "can't read %.100s: %s", path, strerror(errno));
}

sotto_status sotto_file_read(sotto_bytes *out, const char *path, uint64_t most, sotto_arena *arena,
                             sotto_err *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    sotto_status status = SOTTO_OK;
    struct stat facts;

    if (fd < 0)
        return can_not_open(path, err);
    if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        status = sotto_fail(err, SOTTO_IO, "%.100s: not a file", path);
    } else if ((uint64_t)facts.st_size > most) {
        status = sotto_fail(err, SOTTO_TOO_LARGE, "%.100s: more than %llu bytes", path,
                            (unsigned long long)most);
    } else {
        const size_t size = (size_t)facts.st_size;
        uint8_t *data = sotto_arena_take(arena, size + 1);
        sotto_buf buf = sotto_buf_over(data, data ? size : 0);

        if (!data)
            status = sotto_fail(err, SOTTO_NO_MEMORY, "%.100s: no memory for it", path);
        else if (sotto_file_append_open(&buf, fd, NULL) == SOTTO_IO || buf.len < size)
            status = sotto_fail(err, SOTTO_IO, "can't read %.100s whole", path);
        *out = sotto_buf_bytes(&buf);
    }
    (void)close(fd);
    return status;
}

sotto_status sotto_file_append_open(sotto_buf *out, int fd, sotto_err *err)
{
    ssize_t got = 1;
    uint8_t more;

    while (got != 0) {
        const bool full = out->len == out->cap;

        got = full ? read(fd, &more, 1) : read(fd, out->data + out->len, out->cap - out->len);
        if (got < 0 && errno != EINTR)
            return sotto_fail(err, SOTTO_IO, "%s", strerror(errno));
        if (got > 0 && full)
            return sotto_fail(err, SOTTO_TOO_LARGE, "more than %zu bytes", out->cap);
        out->len += got > 0 ? (size_t)got : 0;
    }
    return SOTTO_OK;
}

sotto_status sotto_file_append(sotto_buf *out, const char *path, sotto_err *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    sotto_status status;

    if (fd < 0)
        return sotto_fail(err, errno == ENOENT ? SOTTO_MISSING : SOTTO_IO, "%s", strerror(errno));
    status = sotto_file_append_open(out, fd, err);
    (void)close(fd);
    return status;
}

sotto_status sotto_file_text(sotto_bytes *out, const char *path, size_t most, sotto_arena *arena,
                             sotto_err *err)
{
    sotto_err why = {0};
    sotto_status status;
    sotto_buf file;

    SOTTO_TRY(sotto_buf_take(&file, arena, most + 1, err));
    status = sotto_file_append(&file, path, &why);
    *out = sotto_buf_bytes(&file);
    return status == SOTTO_OK || status == SOTTO_TOO_LARGE
               ? SOTTO_OK
               : sotto_fail(err, status, "%s", why.reason);
}
