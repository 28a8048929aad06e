#define _POSIX_C_SOURCE 200809L
#include "base/secret_file.h"

#include "base/directory.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static sotto_status can_not_read(sotto_err *err)
{
    return sotto_fail(err, errno == ENOENT ? SOTTO_MISSING : SOTTO_IO, "can't be read: %s",
                      strerror(errno));
}

sotto_status sotto_secret_file_judge(const struct stat *facts, uid_t me,
                                     sotto_secret_readers readers, sotto_err *err)
{
    bool given = readers == SOTTO_SECRET_GIVEN && (facts->st_uid == 0 || facts->st_uid != me);
    mode_t never = S_IRWXO | (given ? S_IWGRP | S_IXGRP : S_IRWXG);
    bool is_one =
        S_ISREG(facts->st_mode) || (S_ISFIFO(facts->st_mode) && readers == SOTTO_SECRET_OWN);

    if (!is_one)
        return sotto_fail(err, SOTTO_IO,
                          S_ISDIR(facts->st_mode) ? "is a directory" : "is not a file");
    if (facts->st_mode & never)
        return sotto_fail(err, SOTTO_DENIED, "holds secrets, and others may read it: chmod %s",
                          given ? "640 or 600" : "600");
    return SOTTO_OK;
}

sotto_status sotto_secret_file_check(const char *path, sotto_secret_readers readers, sotto_err *err)
{
    struct stat facts;

    if (stat(path, &facts) != 0)
        return can_not_read(err);
    return sotto_secret_file_judge(&facts, geteuid(), readers, err);
}

/* Under sudo, standard input is another user's pipe, which was given to us, and which we can't open anew. Where no pipe will
 * do, a FIFO is refused, not waited for. */
static int open_secret(const char *path, sotto_secret_readers readers)
{
    bool own = readers == SOTTO_SECRET_OWN;

    if (own && strcmp(path, "/dev/stdin") == 0)
        return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    return open(path, O_RDONLY | O_CLOEXEC | (own ? 0 : O_NONBLOCK));
}

sotto_status sotto_secret_file_read(sotto_buf *out, const char *path, sotto_secret_readers readers,
                                    sotto_err *err)
{
    int fd = open_secret(path, readers);
    struct stat facts;
    sotto_status status;
    ssize_t got = 1;

    if (fd < 0)
        return can_not_read(err);
    status = fstat(fd, &facts) == 0 ? sotto_secret_file_judge(&facts, geteuid(), readers, err)
                                    : can_not_read(err);
    while (status == SOTTO_OK && got > 0) {
        if (out->len == out->cap) {
            status = sotto_fail(err, SOTTO_TOO_LARGE, "is too long to be one");
            break;
        }
        got = read(fd, out->data + out->len, out->cap - out->len);
        if (got < 0)
            status = can_not_read(err);
        else
            out->len += (size_t)got;
    }
    (void)close(fd);
    return status;
}

sotto_status sotto_secret_file_write(const char *path, sotto_bytes bytes, sotto_err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    bool good;

    if (fd < 0 && errno == EEXIST)
        return sotto_fail(err, SOTTO_STALE, "exists already and is not replaced");
    if (fd < 0)
        return sotto_fail(err, SOTTO_IO, "can't be written: %s", strerror(errno));
    good = sotto_file_put(fd, bytes) && fsync(fd) == 0;
    good = close(fd) == 0 && good && sotto_directory_sync(path);
    if (good)
        return SOTTO_OK;
    (void)sotto_fail(err, SOTTO_IO, "can't be written: %s", strerror(errno));
    (void)unlink(path);
    return SOTTO_IO;
}
