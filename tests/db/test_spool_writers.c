/* The spool's two threads: what one of them does while the other works, and what becomes of a sync that fails. */
#define _GNU_SOURCE /* syscall, O_DIRECT */
#include "spool_put.h"
#include "support/database.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LONG = 512 << 10 }; /* what goes past the page cache */

/* ---- in the place of the C library's ---------------------------------------------------------------------------- */

/* Two threads that meet: while `holds`, a sync (or a direct write) waits until a write (or a sync) of the other came. */
static struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool sync_holds, direct_holds, sync_fails;
    bool held, wrote, synced, missed;
} meeting = {.lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};

static void hold_until(bool *holds, const bool *came)
{
    struct timespec end;

    (void)clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 20;
    (void)pthread_mutex_lock(&meeting.lock);
    if (*holds) {
        *holds = false; /* the first alone */
        meeting.held = true;
        (void)pthread_cond_broadcast(&meeting.change);
        while (!*came && !meeting.missed)
            meeting.missed =
                pthread_cond_timedwait(&meeting.change, &meeting.lock, &end) == ETIMEDOUT;
    }
    (void)pthread_mutex_unlock(&meeting.lock);
}

static void come(bool *what)
{
    (void)pthread_mutex_lock(&meeting.lock);
    *what = *what || meeting.held;
    (void)pthread_cond_broadcast(&meeting.change);
    (void)pthread_mutex_unlock(&meeting.lock);
}

static void wait_until_held(void)
{
    (void)pthread_mutex_lock(&meeting.lock);
    while (!meeting.held)
        (void)pthread_cond_wait(&meeting.change, &meeting.lock);
    (void)pthread_mutex_unlock(&meeting.lock);
}

static void meet(bool sync_holds, bool direct_holds, bool sync_fails)
{
    (void)pthread_mutex_lock(&meeting.lock);
    meeting.sync_holds = sync_holds;
    meeting.direct_holds = direct_holds;
    meeting.sync_fails = sync_fails;
    meeting.held = meeting.wrote = meeting.synced = meeting.missed = false;
    (void)pthread_mutex_unlock(&meeting.lock);
}

/* Whether the first sync while somebody is held is to fail. */
static bool fails_now(void)
{
    bool fails;

    (void)pthread_mutex_lock(&meeting.lock);
    fails = meeting.sync_fails && meeting.held;
    meeting.sync_fails = meeting.sync_fails && !fails;
    (void)pthread_mutex_unlock(&meeting.lock);
    return fails;
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
    come(&meeting.wrote);
    if (fcntl(fd, F_GETFL) & O_DIRECT)
        hold_until(&meeting.direct_holds, &meeting.synced);
    return syscall(SYS_pwrite64, fd, data, len, at);
}

/* SQLite's VFS syncs with this one, if it finds it. */
__attribute__((visibility("default"))) int fdatasync(int fd)
{
    bool fails = fails_now();

    hold_until(&meeting.sync_holds, &meeting.wrote);
    come(&meeting.synced);
    if (fails) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

/* ---- the tests --------------------------------------------------------------------------------------------------- */

static sotto_spool *open_spool(sotto_test *t)
{
    sotto_spool *spool = NULL;
    char address[300];

    (void)snprintf(address, sizeof address, "sqlite:%s", sotto_test_temp(t, "store.db"));
    CHECK_OK(t, sotto_spool_open(&spool, address, NULL, &t->err));
    return spool;
}

/* Only these can be watched: SQLite writes by a call of its own. */
static bool writes_directly(sotto_test *t)
{
    int fd = open(sotto_test_temp(t, "probe"), O_WRONLY | O_CREAT | O_DIRECT, 0600);

    if (fd >= 0)
        (void)close(fd);
    if (fd < 0)
        SKIP(t, "this file system has no direct writes");
    return fd >= 0;
}

static void fill(uint8_t bytes[LONG], unsigned seed)
{
    for (size_t i = 0; i < LONG; i++)
        bytes[i] = (uint8_t)((i * 41 >> 4) + seed);
}

/* The first job is held, and the second one comes meanwhile. */
static void put_both(sotto_spool *spool, sotto_spool_piece pieces[2], sotto_status status[2])
{
    waiter w[2];
    sotto_spool_job jobs[2];

    for (size_t i = 0; i < 2; i++) {
        w[i] = (waiter){UNDONE};
        jobs[i] =
            (sotto_spool_job){.pieces = &pieces[i], .count = 1, .done = on_done, .context = &w[i]};
        if (i > 0)
            wait_until_held();
        sotto_spool_post(spool, &jobs[i]);
    }
    for (size_t i = 0; i < 2; i++)
        status[i] = wait_for(&w[i]);
}

/* Or the disk had nothing to write while it syncs. */
static void a_body_is_written_while_another_is_synced(sotto_test *t)
{
    static uint8_t one[LONG], other[LONG];
    sotto_spool_piece pieces[2] = {{.bytes = sotto_bytes_of(one, LONG)},
                                   {.bytes = sotto_bytes_of(other, LONG)}};
    sotto_status status[2];
    sotto_spool *spool;

    if (!writes_directly(t))
        return;
    fill(one, 1);
    fill(other, 2);
    spool = open_spool(t);
    meet(true, false, false);
    put_both(spool, pieces, status);
    CHECK(t, !meeting.missed);
    CHECK_OK(t, status[0]);
    CHECK_OK(t, status[1]);
    check_bytes(t, spool, &pieces[0]);
    check_bytes(t, spool, &pieces[1]);
    sotto_spool_close(spool);
}

/* The system says once that pages were lost. The sync that hears it is not always that of whoever wrote them. */
static void a_sync_that_failed_fails_all_that_was_written_before(sotto_test *t)
{
    static uint8_t one[LONG], other[LONG];
    sotto_spool_piece pieces[2] = {{.bytes = sotto_bytes_of(one, LONG)},
                                   {.bytes = sotto_bytes_of(other, LONG)}};
    sotto_status status[2];
    sotto_spool *spool;

    if (!writes_directly(t))
        return;
    fill(one, 1);
    fill(other, 2);
    spool = open_spool(t);
    meet(false, true, true);
    put_both(spool, pieces, status);
    CHECK(t, !meeting.missed);
    CHECK_STATUS(t, SOTTO_IO, status[0]);
    CHECK_STATUS(t, SOTTO_IO, status[1]);
    CHECK_EQUAL(t, 0, pieces[0].place.len);
    CHECK_EQUAL(t, 0, pieces[1].place.len);
    meet(true, false, false);
    put_both(spool, pieces, status); /* and nothing later */
    CHECK_OK(t, status[0]);
    CHECK_OK(t, status[1]);
    check_bytes(t, spool, &pieces[0]);
    sotto_spool_close(spool);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_body_is_written_while_another_is_synced),
        CASE(a_sync_that_failed_fails_all_that_was_written_before),
    };

    return RUN_TESTS(argc, argv, cases);
}
