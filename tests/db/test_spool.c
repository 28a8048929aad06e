/* Bytes in a spool: where they are put, that they are synced, and whose they are. */
#define _GNU_SOURCE /* syscall, O_DIRECT */
#include "db/spool_blocks.h"
#include "spool_put.h"
#include "support/database.h"
#include "support/powerloss_vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BLOCK = SOTTO_SPOOL_BLOCK };

static uint64_t unsynced_now(void)
{
    return sotto_powerloss_unsynced("");
}

static sotto_status put(sotto_spool *spool, sotto_spool_piece *pieces, size_t count,
                        uint64_t *unsynced)
{
    waiter w = {UNDONE};
    sotto_spool_job job = {.pieces = pieces, .count = count, .done = on_done, .context = &w};

    w.look = unsynced_now;
    sotto_spool_post(spool, &job);
    (void)wait_for(&w);
    if (unsynced)
        *unsynced = w.seen;
    return w.status;
}

static sotto_status open_it(sotto_spool **spool, const char *path, const char *vfs, sotto_err *err)
{
    char address[300];

    (void)snprintf(address, sizeof address, "sqlite:%s", path);
    return sotto_spool_open(spool, address, vfs, err);
}

static void what_was_put_can_be_read(sotto_test *t)
{
    static uint8_t large[40 * BLOCK + 17];
    sotto_spool_piece pieces[3] = {{.bytes = sotto_bytes_of("one", 3)},
                                   {.bytes = sotto_bytes_of(large, sizeof large)},
                                   {.bytes = sotto_bytes_of("", 0)}};
    const char *path = sotto_test_temp(t, "store.db");
    sotto_spool *spool;
    struct stat file;
    char name[300];

    for (size_t i = 0; i < sizeof large; i++)
        large[i] = (uint8_t)(i * 31 >> 3);
    CHECK_OK(t, open_it(&spool, path, NULL, &t->err));
    CHECK_OK(t, put(spool, pieces, 3, NULL));
    check_bytes(t, spool, &pieces[0]);
    check_bytes(t, spool, &pieces[1]);
    CHECK_EQUAL(t, 0, pieces[2].place.len);
    CHECK_EQUAL(t, 1, sotto_spool_syncs(spool));
    sotto_spool_close(spool);
    CHECK_OK(t, open_it(&spool, path, NULL, &t->err));
    check_bytes(t, spool, &pieces[1]);
    sotto_spool_close(spool);
    (void)snprintf(name, sizeof name, "%s-bodies", path);
    CHECK_EQUAL(t, 0, stat(name, &file));
    CHECK_EQUAL(t, 0600, file.st_mode & 0777);
}

/* In the place of the C library's, so that what is synced can be counted. */
static unsigned directory_syncs;

int fsync(int fd)
{
    struct stat file;

    if (fstat(fd, &file) == 0 && S_ISDIR(file.st_mode))
        directory_syncs++;
    return (int)syscall(SYS_fsync, fd);
}

/* Whoever made it may have been killed before it could sync the directory. */
static void its_name_is_on_disk_before_anything_is_put(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "store.db");
    sotto_spool *spool;

    for (unsigned i = 1; i <= 2; i++) {
        directory_syncs = 0;
        CHECK_OK(t, open_it(&spool, path, NULL, &t->err));
        CHECK_EQUAL(t, 1, directory_syncs);
        sotto_spool_close(spool);
    }
}

static void other_databases_need_none(sotto_test *t)
{
    sotto_spool *spool;

    CHECK_OK(t, sotto_spool_open(&spool, "postgresql://nowhere/", NULL, &t->err));
    CHECK(t, spool == NULL);
    sotto_spool_close(spool);
}

/* A body in many parts is one body: none, short ones, and some that end on either side of what is written at once. */
static void parts_are_written_as_one(sotto_test *t)
{
    static uint8_t all[52 * BLOCK];
    static const size_t lengths[] = {0,          1,     BLOCK - 2, 16 * BLOCK, 3,
                                     15 * BLOCK, BLOCK, 0,         16 * BLOCK, 77};
    enum { PARTS = sizeof lengths / sizeof lengths[0] };
    sotto_bytes parts[PARTS];
    sotto_spool_piece pieces[2] = {{.more = parts, .more_count = PARTS},
                                   {.bytes = sotto_bytes_of("next", 4)}};
    sotto_spool *spool;
    size_t at = 0;

    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (uint8_t)(i * 37 >> 2);
    for (size_t first = 0; first < 2; first++) { /* with and without a first part */
        at = first * 5000;
        pieces[0].bytes = sotto_bytes_of(all, at);
        for (size_t i = 0; i < PARTS; i++) {
            parts[i] = sotto_bytes_of(all + at, lengths[i]);
            at += lengths[i];
        }
        CHECK_OK(
            t, open_it(&spool, sotto_test_temp(t, first ? "first.db" : "store.db"), NULL, &t->err));
        CHECK_OK(t, put(spool, pieces, 2, NULL));
        check_bytes(
            t, spool,
            &(sotto_spool_piece){.bytes = sotto_bytes_of(all, at), .place = pieces[0].place});
        check_bytes(t, spool, &pieces[1]);
        sotto_spool_close(spool);
    }
}

static void what_was_put_is_synced(sotto_test *t)
{
    sotto_spool_piece piece = {.bytes = sotto_bytes_of("bytes", 5)};
    sotto_spool *spool;
    uint64_t unsynced = 9;

    sotto_powerloss_start();
    CHECK_OK(t,
             open_it(&spool, sotto_test_temp(t, "store.db"), sotto_powerloss_storage.vfs, &t->err));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(t, put(spool, &piece, 1, &unsynced));
        CHECK_EQUAL(t, 0, unsynced);
    }
    sotto_spool_close(spool);
}

/* Whatever was told to be there is there after the power has gone at any step. */
static void what_was_told_outlives_the_power(sotto_test *t)
{
    enum { PIECES = 3 };
    const char *path = sotto_test_temp(t, "store.db");
    char name[300];

    (void)snprintf(name, sizeof name, "%s-bodies", path);
    for (int64_t at = 0; at < 12; at++) {
        sotto_spool_piece pieces[PIECES];
        bool told[PIECES] = {0};
        sotto_spool *spool = NULL;

        (void)unlink(name);
        sotto_powerloss_start();
        sotto_powerloss_at(at);
        if (open_it(&spool, path, sotto_powerloss_storage.vfs, NULL) == SOTTO_OK)
            for (size_t i = 0; i < PIECES; i++) {
                pieces[i] = (sotto_spool_piece){.bytes = sotto_bytes_of("what is told", 8 + i)};
                told[i] = put(spool, &pieces[i], 1, NULL) == SOTTO_OK;
            }
        sotto_spool_close(spool);
        sotto_powerloss_restore((uint64_t)at);
        CHECK_OK(t, open_it(&spool, path, sotto_powerloss_storage.vfs, &t->err));
        for (size_t i = 0; i < PIECES; i++)
            if (told[i])
                check_bytes(t, spool, &pieces[i]);
        sotto_spool_close(spool);
    }
}

static void a_full_disk_fails_the_job_and_keeps_no_place(sotto_test *t)
{
    sotto_spool_piece pieces[2] = {{.bytes = sotto_bytes_of("a", 1)},
                                   {.bytes = sotto_bytes_of("b", 1)}};
    sotto_spool *spool;

    sotto_powerloss_start();
    CHECK_OK(t,
             open_it(&spool, sotto_test_temp(t, "store.db"), sotto_powerloss_storage.vfs, &t->err));
    sotto_powerloss_fail_at((int64_t)sotto_powerloss_steps() + 1, true, true);
    CHECK_STATUS(t, SOTTO_IO, put(spool, pieces, 2, NULL));
    CHECK_EQUAL(t, 0, pieces[0].place.len);
    sotto_powerloss_fail_at(-1, false, false);
    CHECK_OK(t, put(spool, pieces, 2, NULL));
    CHECK_EQUAL(t, 0, pieces[0].place.block);
    CHECK_EQUAL(t, 1, pieces[1].place.block);
    check_bytes(t, spool, &pieces[0]);
    check_bytes(t, spool, &pieces[1]);
    sotto_spool_close(spool);
}

static void one_at_a_time_has_it(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "store.db");
    sotto_spool *spool, *second = NULL;

    CHECK_OK(t, open_it(&spool, path, NULL, &t->err));
    CHECK_STATUS(t, SOTTO_STALE, open_it(&second, path, NULL, &t->err));
    sotto_spool_close(second);
    sotto_spool_close(spool);
    CHECK_OK(t, open_it(&spool, path, NULL, &t->err));
    sotto_spool_close(spool);
}

static void what_rows_name_is_not_given_away(sotto_test *t)
{
    const sotto_spool_place named = {1, BLOCK + 1, 0};
    sotto_spool_piece pieces[2] = {{.bytes = sotto_bytes_of("a", 1)},
                                   {.bytes = sotto_bytes_of("b", 1)}};
    uint8_t wire[SOTTO_SPOOL_SHARED_PLACE_SIZE];
    sotto_spool_place back;
    sotto_spool *spool;

    CHECK_EQUAL(t, SOTTO_SPOOL_PLACE_SIZE, sotto_spool_place_write(wire, &named));
    CHECK_OK(t,
             sotto_spool_place_read(&back, sotto_bytes_of(wire, SOTTO_SPOOL_PLACE_SIZE), &t->err));
    CHECK_EQUAL(t, named.block, back.block);
    CHECK_EQUAL(t, named.len, back.len);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_spool_place_read(&back, sotto_bytes_of(wire, 15), &t->err));
    memset(wire, 0xff, sizeof wire);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_spool_place_read(&back, sotto_bytes_of(wire, sizeof wire), &t->err));
    CHECK_OK(t, open_it(&spool, sotto_test_temp(t, "store.db"), NULL, &t->err));
    CHECK_OK(t, sotto_spool_claim(spool, &named, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_spool_claim(spool, &named, &t->err));
    CHECK_OK(t, put(spool, pieces, 2, NULL));
    CHECK_EQUAL(t, 0, pieces[0].place.block);
    CHECK_EQUAL(t, 3, pieces[1].place.block);
    sotto_spool_close(spool);
}

/* Against a plain list of who has which block. */
static void places_never_overlap_and_are_used_again(sotto_test *t)
{
    enum { LIVE = 64, ROUNDS = 20000, MOST = 4096 };
    static uint8_t owner[MOST];
    uint64_t first[LIVE] = {0}, count[LIVE] = {0}, dice = 1, highest = 0;
    sotto_spool_blocks blocks = {0};

    memset(owner, 0, sizeof owner);
    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t i;

        dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407u;
        i = (size_t)(dice >> 40) % LIVE;
        sotto_spool_blocks_give_back(&blocks, first[i], count[i]);
        for (uint64_t k = 0; k < count[i]; k++)
            owner[first[i] + k] = 0;
        count[i] = 1 + (dice >> 20) % 20;
        CHECK(t, sotto_spool_blocks_take(&blocks, &first[i], count[i]));
        CHECK(t, first[i] + count[i] <= MOST);
        for (uint64_t k = 0; k < count[i]; k++) {
            CHECK(t, !owner[first[i] + k]);
            owner[first[i] + k] = 1;
        }
        highest = first[i] + count[i] > highest ? first[i] + count[i] : highest;
    }
    CHECK(t, highest < 3 * LIVE * 20);
    for (size_t i = 0; i < LIVE; i++)
        sotto_spool_blocks_give_back(&blocks, first[i], count[i]);
    CHECK_EQUAL(t, 0, blocks.used);
    CHECK(t, sotto_spool_blocks_take(&blocks, &first[0], 3));
    CHECK_EQUAL(t, 0, first[0]);
    sotto_spool_blocks_clear(&blocks);
}

/* ---- past the page cache -------------------------------------------------------------------------------------- */

/* In the place of the C library's: what is written directly, and what comes of it. */
static unsigned direct_writes, unsynced_directly;
static int direct_errno;

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
    if (fcntl(fd, F_GETFL) & O_DIRECT) {
        direct_writes++;
        unsynced_directly++;
        if (direct_errno) {
            errno = direct_errno;
            return -1;
        }
    }
    return syscall(SYS_pwrite64, fd, data, len, at);
}

/* SQLite's VFS syncs with this one, if it finds it. */
__attribute__((visibility("default"))) int fdatasync(int fd)
{
    unsynced_directly = 0;
    return (int)syscall(SYS_fdatasync, fd);
}

/* Descriptors of spools, in the order in which they are closed: 'd' for one of direct writes, 'v' for SQLite's VFS. */
static char closed[16];

static bool is_spool(int fd)
{
    static const char tail[] = "-bodies";
    char link[64], path[4096];

    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t len = readlink(link, path, sizeof path);
    return len >= (ssize_t)sizeof tail &&
           memcmp(path + len - (sizeof tail - 1), tail, sizeof tail - 1) == 0;
}

__attribute__((visibility("default"))) int close(int fd)
{
    if (is_spool(fd) && strlen(closed) + 1 < sizeof closed)
        closed[strlen(closed)] = fcntl(fd, F_GETFL) & O_DIRECT ? 'd' : 'v';
    return (int)syscall(SYS_close, fd);
}

enum { LONG = 512 << 10, DIRECT = 2 << 20 };

static sotto_spool_piece long_piece(unsigned seed, size_t len)
{
    static uint8_t memory[3 * DIRECT];

    for (size_t i = 0; i < len; i++)
        memory[i] = (uint8_t)((i * 41 >> 4) + seed);
    return (sotto_spool_piece){.bytes = sotto_bytes_of(memory, len)};
}

static bool has_direct_writes(sotto_test *t)
{
    int fd = open(sotto_test_temp(t, "probe"), O_WRONLY | O_CREAT | O_DIRECT, 0600);

    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

/* Each into places that others had before it, short or long: what the page cache holds of those is not what is read. */
static void long_bodies_go_to_the_disk_directly(sotto_test *t)
{
    static const size_t lengths[] = {LONG,       LONG - 1,       LONG + 1,  DIRECT - 1, DIRECT,
                                     DIRECT + 1, 2 * DIRECT + 7, 3 * BLOCK, 2 * DIRECT};
    sotto_spool *spool;

    CHECK_OK(t, open_it(&spool, sotto_test_temp(t, "store.db"), NULL, &t->err));
    for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        sotto_spool_piece piece = long_piece(i, lengths[i]);

        direct_writes = 0;
        unsynced_directly = 0;
        CHECK_OK(t, put(spool, &piece, 1, NULL));
        CHECK(t, (direct_writes > 0) == (lengths[i] >= LONG) || !has_direct_writes(t));
        CHECK_EQUAL(t, 0, unsynced_directly);
        CHECK_EQUAL(t, 0, piece.place.block);
        check_bytes(t, spool, &piece);
        sotto_spool_give_back(spool, &piece.place);
    }
    sotto_spool_close(spool);
}

static void a_disk_that_fails_directly_fails_the_job(sotto_test *t)
{
    sotto_spool_piece piece = long_piece(1, LONG);
    sotto_spool *spool;

    if (!has_direct_writes(t)) {
        SKIP(t, "this file system has no direct writes");
        return;
    }
    CHECK_OK(t, open_it(&spool, sotto_test_temp(t, "store.db"), NULL, &t->err));
    direct_errno = ENOSPC;
    CHECK_STATUS(t, SOTTO_IO, put(spool, &piece, 1, NULL));
    CHECK_EQUAL(t, 0, piece.place.len);
    direct_errno = 0;
    CHECK_OK(t, put(spool, &piece, 1, NULL));
    CHECK_EQUAL(t, 0, piece.place.block);
    check_bytes(t, spool, &piece);
    sotto_spool_close(spool);
}

/* Some file systems refuse only when they are written to. */
static void where_direct_writes_are_refused_the_cache_is_used(sotto_test *t)
{
    sotto_spool_piece pieces[2] = {long_piece(1, DIRECT + 9), long_piece(1, LONG)};
    sotto_spool *spool;

    CHECK_OK(t, open_it(&spool, sotto_test_temp(t, "store.db"), NULL, &t->err));
    direct_errno = EINVAL;
    direct_writes = 0;
    CHECK_OK(t, put(spool, pieces, 2, NULL));
    CHECK(t, direct_writes <= 1); /* it is not asked again */
    direct_errno = 0;
    check_bytes(t, spool, &pieces[0]);
    check_bytes(t, spool, &pieces[1]);
    sotto_spool_close(spool);
}

/* While the VFS holds its lock, no other spool of this process has one that the descriptor's end would take away. */
static void the_direct_descriptor_is_closed_first(sotto_test *t)
{
    sotto_spool *spool;

    if (!has_direct_writes(t)) {
        SKIP(t, "this file system has no direct writes");
        return;
    }
    CHECK_OK(t, open_it(&spool, sotto_test_temp(t, "store.db"), NULL, &t->err));
    memset(closed, 0, sizeof closed);
    sotto_spool_close(spool);
    CHECK(t, strcmp(closed, "dv") == 0);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(what_was_put_can_be_read),
        CASE(its_name_is_on_disk_before_anything_is_put),
        CASE(other_databases_need_none),
        CASE(parts_are_written_as_one),
        CASE(what_was_put_is_synced),
        CASE(what_was_told_outlives_the_power),
        CASE(a_full_disk_fails_the_job_and_keeps_no_place),
        CASE(one_at_a_time_has_it),
        CASE(what_rows_name_is_not_given_away),
        CASE(places_never_overlap_and_are_used_again),
        CASE(long_bodies_go_to_the_disk_directly),
        CASE(a_disk_that_fails_directly_fails_the_job),
        CASE(where_direct_writes_are_refused_the_cache_is_used),
        CASE(the_direct_descriptor_is_closed_first),
    };

    return RUN_TESTS(argc, argv, cases);
}
