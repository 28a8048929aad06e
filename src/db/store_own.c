/* Is this process alone over its database? */
#define _DEFAULT_SOURCE

#include "db/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { PATH_BYTES = 1024 };

/* Not the database's own file: closing a descriptor of that would let go of the locks that SQLite has on it. And flock rather than
 * fcntl, so that two stores of one process are two. */
sotto_status sotto_db_own(sotto_db *db, bool *alone, sotto_err *err)
{
    char path[PATH_BYTES];
    int fd;

    *alone = db->owner_fd >= 0;
    if (*alone || strcmp(db->driver->name, "sqlite") != 0)
        return SOTTO_OK;
    if (db->options.vfs) { /* somebody's own files, which no other process sees */
        *alone = true;
        return SOTTO_OK;
    }
    if ((size_t)snprintf(path, sizeof path, "%s-owner", db->address + strlen("sqlite:")) >=
        sizeof path)
        return sotto_fail(err, SOTTO_TOO_LARGE, "sqlite: a path of %zu bytes", db->address_size);
    fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return sotto_fail(err, SOTTO_IO, "%.80s: %s", path, strerror(errno));
    *alone = flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (*alone)
        db->owner_fd = fd;
    else
        (void)close(fd);
    return SOTTO_OK;
}

void sotto_db_disown(sotto_db *db)
{
    if (db->owner_fd >= 0)
        (void)close(db->owner_fd);
    db->owner_fd = -1;
}
