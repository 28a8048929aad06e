#define _GNU_SOURCE
#include "bench_device_meter.h"

#include "bench.h"

#include <errno.h>
#include <malloc.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Where the libraries' calls find it. */
#define SEEN __attribute__((visibility("default")))

/* ---- time ------------------------------------------------------------------------------------------------- */

static double clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double sotto_meter_wall_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

double sotto_meter_cpu_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* ---- syncs ------------------------------------------------------------------------------------------------ */

static sotto_meter_syncs syncs;

static int timed_sync(long call, int file)
{
    double wall = sotto_meter_wall_ns(), cpu = sotto_meter_cpu_ns();
    int result = (int)syscall(call, file);
    int kept = errno;

    syncs.count++;
    syncs.wall_ns += sotto_meter_wall_ns() - wall;
    syncs.cpu_ns += sotto_meter_cpu_ns() - cpu;
    errno = kept;
    return result;
}

SEEN int fsync(int file)
{
    return timed_sync(SYS_fsync, file);
}

SEEN int fdatasync(int file)
{
    return timed_sync(SYS_fdatasync, file);
}

sotto_meter_syncs sotto_meter_synced(void)
{
    return syncs;
}

/* ---- heap ------------------------------------------------------------------------------------------------- */

/* One thread allocates in a benchmark; what others might do is not counted exactly, and not needed to be. */
static size_t in_use, peak;
static bool counting = true;

size_t sotto_meter_heap(void)
{
    return in_use;
}

void sotto_meter_heap_restart(void)
{
    peak = in_use;
}

size_t sotto_meter_heap_peak(void)
{
    return peak;
}

void sotto_meter_heap_stop(void)
{
    counting = false;
}

#if !defined(SOTTO_BENCH_SANITIZED)

/* The allocator's own names, for whoever stands in front of it. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static size_t size_of(void *memory)
{
    return counting && memory ? malloc_usable_size(memory) : 0;
}

static void *count(void *memory)
{
    in_use += size_of(memory);
    peak = in_use > peak ? in_use : peak;
    return memory;
}

SEEN void *malloc(size_t size)
{
    return count(__libc_malloc(size));
}

SEEN void *calloc(size_t number, size_t size)
{
    return count(__libc_calloc(number, size));
}

SEEN void *realloc(void *memory, size_t size)
{
    size_t before = size_of(memory);
    void *moved = __libc_realloc(memory, size);

    if (moved || size == 0)
        in_use -= before;
    return count(moved);
}

SEEN void *memalign(size_t alignment, size_t size)
{
    return count(__libc_memalign(alignment, size));
}

SEEN void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

SEEN int posix_memalign(void **out, size_t alignment, size_t size)
{
    *out = memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}

SEEN void free(void *memory)
{
    in_use -= size_of(memory);
    __libc_free(memory);
}

#endif

void sotto_meter_keep_cache_apart(void)
{
    enum { PAGE = 4096, PAGES = 2048, EXTRA = 512 };
    static _Alignas(8) uint8_t cache[PAGES * (PAGE + EXTRA)];
    int header = 0;

    sotto_bench_expect(sqlite3_config(SQLITE_CONFIG_PCACHE_HDRSZ, &header) == SQLITE_OK &&
                           header <= EXTRA,
                       "SQLite's page header");
    sotto_bench_expect(sqlite3_config(SQLITE_CONFIG_PAGECACHE, cache, PAGE + EXTRA, PAGES) ==
                           SQLITE_OK,
                       "a page cache of our own");
}
