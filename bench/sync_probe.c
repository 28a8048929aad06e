#define _POSIX_C_SOURCE 200809L
#include "sync_probe.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 32 << 10, FILE_BYTES = 64 << 20, EVERY_MS = 10, MOST = 32768 };

struct sotto_sync_probe {
    char path[300];
    int fd;
    pthread_t thread;
    _Atomic int stop;
    size_t count;
    double ms[MOST];
    uint8_t bytes[BYTES];
};

static double now_ms(void)
{
    return (double)sotto_clock_monotonic(&sotto_clock_system) / 1e6;
}

static void *run(void *context)
{
    const struct timespec pause = {0, EVERY_MS * 1000000L};
    sotto_sync_probe *p = context;
    off_t at = 0;

    while (!atomic_load(&p->stop) && p->count < MOST) {
        double start;

        if (pwrite(p->fd, p->bytes, BYTES, at) != BYTES)
            break;
        at = (at + BYTES) % FILE_BYTES;
        start = now_ms();
        if (fdatasync(p->fd) != 0)
            break;
        p->ms[p->count++] = now_ms() - start;
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

sotto_sync_probe *sotto_sync_probe_start(const char *directory)
{
    sotto_sync_probe *p = sotto_alloc(sizeof *p);

    if (!p)
        return NULL;
    (void)snprintf(p->path, sizeof p->path, "%.250s/sync-probe", directory);
    p->fd = open(p->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (p->fd >= 0 && pthread_create(&p->thread, NULL, run, p) == 0)
        return p;
    if (p->fd >= 0)
        (void)close(p->fd);
    sotto_release(p, sizeof *p);
    return NULL;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void sotto_sync_probe_stop(sotto_sync_probe *p, double *p50, double *p99)
{
    atomic_store(&p->stop, 1);
    (void)pthread_join(p->thread, NULL);
    qsort(p->ms, p->count, sizeof p->ms[0], by_value);
    *p50 = p->count > 0 ? p->ms[p->count / 2] : 0;
    *p99 = p->count > 0 ? p->ms[p->count * 99 / 100] : 0;
    (void)close(p->fd);
    (void)unlink(p->path);
    sotto_release(p, sizeof *p);
}
