#define _XOPEN_SOURCE 700

#include "db/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_TRIES = 40, LOCK_MS = 50 };

/* One that ends may still hold it for a moment. */
static sotto_status lock(int fd, const char *path, sotto_err *err)
{
    const struct timespec pause = {0, LOCK_MS * 1000000L};
    int why = 0;

    for (unsigned i = 0; i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return SOTTO_OK;
        why = errno;
        if (why != EWOULDBLOCK && why != EINTR)
            break;
        (void)nanosleep(&pause, NULL);
    }
    if (why == EWOULDBLOCK)
        return sotto_fail(err, SOTTO_STALE, "%.100s is in use by another sotto server", path);
    return sotto_fail(err, SOTTO_IO, "%.80s-lock: %s", path, strerror(why));
}

sotto_status sotto_db_claim_take(sotto_db_claim *claim, const char *address, sotto_err *err)
{
    static const char scheme[] = "sqlite:", suffix[] = "-lock";
    char path[PATH_MAX], name[PATH_MAX + sizeof suffix];
    sotto_status status;
    int fd;

    claim->fd = 0;
    if (strncmp(address, scheme, sizeof scheme - 1) != 0)
        return SOTTO_OK;
    /* Beside the file itself: two links to it are one database. */
    if (!realpath(address + sizeof scheme - 1, path))
        return sotto_fail(err, SOTTO_IO, "%.80s: %s", address + sizeof scheme - 1, strerror(errno));
    (void)snprintf(name, sizeof name, "%s%s", path, suffix);
    fd = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return sotto_fail(err, SOTTO_IO, "%.80s: %s", name, strerror(errno));
    status = lock(fd, path, err);
    if (status == SOTTO_OK)
        claim->fd = fd + 1;
    else
        (void)close(fd);
    return status;
}

void sotto_db_claim_release(sotto_db_claim *claim)
{
    if (claim->fd > 0)
        (void)close(claim->fd - 1);
    claim->fd = 0;
}
