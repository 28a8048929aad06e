#define _GNU_SOURCE /* O_DIRECT, MADV_HUGEPAGE */

#include "db/spool_direct.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCK = SOTTO_SPOOL_DIRECT_BLOCK };

/* Aligned to its own size, so that it can be one large page: the disk then gets a few long runs of memory, not 512 short ones.
 * NULL: no memory. */
static uint8_t *map_block(void)
{
    uint8_t *all =
        mmap(NULL, 2 * (size_t)BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (all == MAP_FAILED)
        return NULL;
    size_t before = BLOCK - ((uintptr_t)all & (BLOCK - 1));

    (void)munmap(all, before);
    if (before < BLOCK)
        (void)munmap(all + before + BLOCK, BLOCK - before);
#ifdef MADV_HUGEPAGE
    (void)madvise(all + before, BLOCK, MADV_HUGEPAGE); /* it is only slower without */
#endif
    return all + before;
}

void sotto_spool_direct_open(sotto_spool_direct *d, const char *path)
{
    *d = (sotto_spool_direct){.fd = -1};
#ifdef O_DIRECT
    d->fd = open(path, O_WRONLY | O_DIRECT | O_NOFOLLOW | O_CLOEXEC);
    if (d->fd >= 0)
        d->block = map_block();
    d->on = d->block != NULL;
#else
    (void)path, (void)map_block;
#endif
}

void sotto_spool_direct_share(sotto_spool_direct *d, const sotto_spool_direct *of)
{
    *d = (sotto_spool_direct){.fd = of->on ? of->fd : -1, .shares = true};
    if (d->fd >= 0)
        d->block = map_block();
    d->on = d->block != NULL;
}

void sotto_spool_direct_close(sotto_spool_direct *d)
{
    if (d->fd >= 0 && !d->shares)
        (void)close(d->fd);
    if (d->block)
        (void)munmap(d->block, BLOCK);
    *d = (sotto_spool_direct){.fd = -1};
}

sotto_status sotto_spool_direct_write(sotto_spool_direct *d, size_t len, uint64_t at,
                                      sotto_err *err)
{
    for (size_t done = 0; d->on && done < len;) {
        ssize_t wrote = pwrite(d->fd, d->block + done, len - done, (off_t)(at + done));

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0 && errno == EINVAL && done == 0)
            d->on = false;
        else if (wrote <= 0)
            return sotto_fail(err, SOTTO_IO, "spool: %s", wrote < 0 ? strerror(errno) : "full");
        else
            done += (size_t)wrote;
    }
    return d->on ? SOTTO_OK : sotto_fail(err, SOTTO_MISSING, "no direct writes here");
}
