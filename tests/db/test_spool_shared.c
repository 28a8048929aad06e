/* Spools of several processes in one directory. */
#define _GNU_SOURCE
#include "db/spool_shared.h"
#include "spool_put.h"
#include "support/database.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST = 11, SECOND = 22 };

static sotto_spool_place put(sotto_test *t, sotto_spool *spool, const char *text)
{
    waiter w = {UNDONE};
    sotto_spool_piece piece = {.bytes = sotto_bytes_of(text, strlen(text))};
    sotto_spool_job job = {.pieces = &piece, .count = 1, .done = on_done, .context = &w};

    sotto_spool_post(spool, &job);
    CHECK_STATUS(t, SOTTO_OK, wait_for(&w));
    return piece.place;
}

static void check_text(sotto_test *t, sotto_spool *spool, const sotto_spool_place *place,
                       const char *text)
{
    uint8_t memory[64];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);

    CHECK_OK(t, sotto_spool_get(spool, &out, place, &t->err));
    CHECK_EQUAL(t, strlen(text), out.len);
    CHECK(t, memcmp(memory, text, out.len) == 0);
}

static const char *directory_of(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "bodies");

    CHECK_EQUAL(t, 0, mkdir(path, 0700));
    return path;
}

static sotto_spool *open_in(sotto_test *t, const char *directory, uint64_t file)
{
    sotto_spool *spool = NULL;

    CHECK_OK(t, sotto_spool_open_in(&spool, directory, file, &t->err));
    return spool;
}

static bool is_there(sotto_test *t, const char *directory, uint64_t file)
{
    char path[SOTTO_SPOOL_PATH];

    CHECK_OK(t, sotto_spool_shared_path(path, directory, file, &t->err));
    return access(path, F_OK) == 0;
}

static void each_reads_what_others_wrote(sotto_test *t)
{
    const char *directory = directory_of(t);
    sotto_spool *first = open_in(t, directory, FIRST), *second = open_in(t, directory, SECOND);
    sotto_spool_place one = put(t, first, "one"), two = put(t, second, "two"), back;
    uint8_t wire[SOTTO_SPOOL_SHARED_PLACE_SIZE];
    char path[SOTTO_SPOOL_PATH];
    struct stat file;

    CHECK_EQUAL(t, SOTTO_SPOOL_SHARED_PLACE_SIZE, sotto_spool_place_write(wire, &one));
    CHECK_OK(t, sotto_spool_place_read(&back, sotto_bytes_of(wire, sizeof wire), &t->err));
    CHECK_EQUAL(t, FIRST, back.file);
    check_text(t, first, &back, "one");
    check_text(t, second, &back, "one");
    check_text(t, first, &two, "two");
    CHECK_OK(t, sotto_spool_shared_path(path, directory, FIRST, &t->err));
    CHECK_EQUAL(t, 0, stat(path, &file));
    CHECK_EQUAL(t, 0600, file.st_mode & 0777);
    sotto_spool_close(first);
    check_text(t, second, &one, "one"); /* its process is gone */
    sotto_spool_close(second);
}

static void what_is_not_there_is_said(sotto_test *t)
{
    const char *directory = directory_of(t);
    sotto_spool *first = open_in(t, directory, FIRST), *second = open_in(t, directory, SECOND);
    sotto_spool_place place = put(t, first, "one");
    uint8_t memory[64];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_spool *none;

    place.block++;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_spool_get(second, &out, &place, &t->err));
    place.file = 33;
    CHECK_STATUS(t, SOTTO_IO, sotto_spool_get(second, &out, &place, &t->err));
    CHECK_STATUS(t, SOTTO_IO,
                 sotto_spool_open_in(&none, sotto_test_temp(t, "nowhere"), FIRST, &t->err));
    sotto_spool_close(first);
    sotto_spool_close(second);
}

/* Its blocks have the same numbers as ours. */
static void a_place_of_anothers_file_frees_none_of_ours(sotto_test *t)
{
    const char *directory = directory_of(t);
    sotto_spool *first = open_in(t, directory, FIRST), *second = open_in(t, directory, SECOND);
    sotto_spool_place theirs = put(t, first, "theirs"), ours = put(t, second, "ours");

    CHECK_EQUAL(t, theirs.block, ours.block);
    sotto_spool_give_back(second, &theirs);
    (void)put(t, second, "more");
    check_text(t, second, &ours, "ours");
    sotto_spool_give_back(second, &ours);
    sotto_spool_close(first);
    sotto_spool_close(second);
}

/* Rows may name what it holds. */
static void a_file_that_is_there_is_not_begun_anew(sotto_test *t)
{
    const char *directory = directory_of(t);
    sotto_spool *spool = open_in(t, directory, FIRST), *second = open_in(t, directory, SECOND);
    sotto_spool_place place = put(t, spool, "one");

    sotto_spool_close(spool);
    CHECK_STATUS(t, SOTTO_IO, sotto_spool_open_in(&spool, directory, FIRST, &t->err));
    check_text(t, second, &place, "one");
    sotto_spool_close(second);
}

static void a_file_that_holds_nothing_goes_with_its_process(sotto_test *t)
{
    const char *directory = directory_of(t);
    sotto_spool *spool = open_in(t, directory, FIRST);
    sotto_spool_place place = put(t, spool, "one");

    sotto_spool_give_back(spool, &place);
    CHECK(t, is_there(t, directory, FIRST));
    sotto_spool_close(spool);
    CHECK(t, !is_there(t, directory, FIRST));
}

/* ---- sweeping ------------------------------------------------------------------------------------------------------ */

static bool named(void *context, uint64_t file)
{
    (void)file;
    return *(bool *)context;
}

static void make_old(sotto_test *t, const char *directory, uint64_t file)
{
    const struct timespec long_ago[2] = {{1000000000, 0}, {1000000000, 0}};
    char path[SOTTO_SPOOL_PATH];

    CHECK_OK(t, sotto_spool_shared_path(path, directory, file, &t->err));
    CHECK_EQUAL(t, 0, utimensat(AT_FDCWD, path, long_ago, 0));
}

static void leave(sotto_test *t, const char *directory, uint64_t file, bool old)
{
    sotto_spool *spool = open_in(t, directory, file);

    (void)put(t, spool, "left");
    sotto_spool_close(spool);
    if (old)
        make_old(t, directory, file);
}

static void what_nobody_needs_is_swept(sotto_test *t)
{
    const char *directory = directory_of(t);
    char other[SOTTO_SPOOL_PATH];
    bool needed = false;
    int fd;

    (void)snprintf(other, sizeof other, "%.400s/bodies-of-somebody", directory);
    fd = open(other, O_CREAT | O_WRONLY, 0600);
    CHECK(t, fd >= 0 && close(fd) == 0);
    leave(t, directory, FIRST, true);
    leave(t, directory, SECOND, true);
    CHECK_EQUAL(t, 1, sotto_spool_shared_sweep(directory, SECOND, named, &needed));
    CHECK(t, !is_there(t, directory, FIRST));
    CHECK(t, is_there(t, directory, SECOND)); /* our own */
    CHECK_EQUAL(t, 0, access(other, F_OK));
}

static void what_a_row_names_is_not_swept(sotto_test *t)
{
    const char *directory = directory_of(t);
    bool needed = true;

    leave(t, directory, FIRST, true);
    CHECK_EQUAL(t, 0, sotto_spool_shared_sweep(directory, SECOND, named, &needed));
    CHECK(t, is_there(t, directory, FIRST));
}

/* The last transaction of a process that was killed may still be under way. */
static void what_was_just_written_is_not_swept(sotto_test *t)
{
    const char *directory = directory_of(t);
    bool needed = false;

    leave(t, directory, FIRST, false);
    CHECK_EQUAL(t, 0, sotto_spool_shared_sweep(directory, SECOND, named, &needed));
    CHECK(t, is_there(t, directory, FIRST));
}

static void the_file_of_a_process_that_lives_is_not_swept(sotto_test *t)
{
    const char *directory = directory_of(t);
    sotto_spool *spool = open_in(t, directory, FIRST);
    bool needed = false;

    make_old(t, directory, FIRST);
    CHECK_EQUAL(t, 0, sotto_spool_shared_sweep(directory, SECOND, named, &needed));
    CHECK(t, is_there(t, directory, FIRST));
    sotto_spool_close(spool);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(each_reads_what_others_wrote),
        CASE(what_is_not_there_is_said),
        CASE(a_place_of_anothers_file_frees_none_of_ours),
        CASE(a_file_that_is_there_is_not_begun_anew),
        CASE(a_file_that_holds_nothing_goes_with_its_process),
        CASE(what_nobody_needs_is_swept),
        CASE(what_a_row_names_is_not_swept),
        CASE(what_was_just_written_is_not_swept),
        CASE(the_file_of_a_process_that_lives_is_not_swept),
    };

    return RUN_TESTS(argc, argv, cases);
}
