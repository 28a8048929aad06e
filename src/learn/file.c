#define _POSIX_C_SOURCE 200809L
#include "learn/file.h"

#include "base/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sotto_status complain(const char *path, sotto_err *err)
{
    return sotto_fail(err, SOTTO_IO, "%.100s: %s", path, strerror(errno));
}

static bool write_all(int fd, sotto_bytes bytes)
{
    while (bytes.len > 0) {
        const ssize_t done = write(fd, bytes.data, bytes.len);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        bytes.data += done;
        bytes.len -= (size_t)done;
    }
    return true;
}

sotto_status sotto_file_write(const char *path, sotto_bytes bytes, sotto_file_moment *at,
                              void *context, sotto_err *err)
{
    char beside[4096];
    const sotto_bytes half = sotto_bytes_of(bytes.data, bytes.len / 2);
    const sotto_bytes rest = sotto_bytes_of(bytes.data + half.len, bytes.len - half.len);
    bool written;
    int fd;

    if (strlen(path) + 5 > sizeof beside)
        return sotto_fail(err, SOTTO_TOO_LARGE, "a path has at most 4,000 bytes");
    (void)snprintf(beside, sizeof beside, "%s.new", path);
    if (at)
        at(context, 0);
    fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return complain(beside, err);
    written = write_all(fd, half);
    if (at)
        at(context, 1); /* half of it is there */
    written = written && write_all(fd, rest) && fsync(fd) == 0;
    written = close(fd) == 0 && written;
    if (at)
        at(context, 2);
    if (!written) {
        const sotto_status status = complain(beside, err);

        (void)unlink(beside);
        return status;
    }
    if (rename(beside, path) != 0)
        return complain(path, err);
    if (at)
        at(context, 3);
    if (!sotto_directory_sync(path))
        return complain(path, err);
    if (at)
        at(context, 4);
    return SOTTO_OK;
}

sotto_status sotto_file_read(sotto_bytes *out, const char *path, uint64_t most, sotto_arena *arena,
                             sotto_err *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    sotto_status status = SOTTO_OK;
    struct stat facts;
    size_t len = 0;

    if (fd < 0 && errno == ENOENT)
        return sotto_fail(err, SOTTO_MISSING, "%.100s: there is no such file", path);
    if (fd < 0)
        return complain(path, err);
    if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        status = sotto_fail(err, SOTTO_IO, "%.100s: not a file", path);
    } else if ((uint64_t)facts.st_size > most) {
        status = sotto_fail(err, SOTTO_TOO_LARGE, "%.100s: more than %llu bytes", path,
                            (unsigned long long)most);
    } else {
        const size_t size = (size_t)facts.st_size;
        uint8_t *data = sotto_arena_take(arena, size + 1);
        ssize_t done = 1;

        while (data && len < size && done > 0) {
            done = read(fd, data + len, size - len);
            len += done > 0 ? (size_t)done : 0;
        }
        if (!data)
            status = sotto_fail(err, SOTTO_NO_MEMORY, "%.100s: no memory for it", path);
        else if (len < size)
            status = complain(path, err);
        *out = sotto_bytes_of(data, len);
    }
    (void)close(fd);
    return status;
}
