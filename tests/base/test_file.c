#define _POSIX_C_SOURCE 200809L
#include "base/file.h"
#include "support/directory.h"
#include "support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sotto_bytes text(const char *words)
{
    return sotto_bytes_of(words, strlen(words));
}

static bool holds(sotto_test *t, const char *path, const char *words)
{
    sotto_bytes got;

    return sotto_file_read(&got, path, 100, &t->arena, &t->err) == SOTTO_OK &&
           sotto_bytes_equal(got, text(words));
}

static const char *beside(sotto_test *t, const char *path)
{
    const size_t size = strlen(path) + sizeof SOTTO_FILE_UNFINISHED;
    char *name = sotto_arena_take(&t->arena, size);

    CHECK(t, name != NULL);
    (void)snprintf(name, size, "%s" SOTTO_FILE_UNFINISHED, path);
    return name;
}

typedef struct watch {
    sotto_test *t;
    const char *path;
    unsigned seen;
} watch;

/* What a crash at this moment would leave. */
static void look(void *context, unsigned step)
{
    watch *w = context;

    CHECK_EQUAL(w->t, w->seen, step);
    CHECK(w->t, holds(w->t, w->path, step < 3 ? "old" : "new one"));
    w->seen++;
}

static void a_name_stands_for_the_old_file_or_the_new_one(sotto_test *t)
{
    watch w = {.t = t, .path = sotto_test_temp(t, "file")};

    CHECK_OK(t, sotto_file_write(w.path, text("old"), NULL, NULL, &t->err));
    CHECK_OK(t, sotto_file_write(w.path, text("new one"), look, &w, &t->err));
    CHECK_EQUAL(t, SOTTO_FILE_STEPS, w.seen);
    CHECK(t, holds(t, w.path, "new one"));
    CHECK(t, access(beside(t, w.path), F_OK) != 0);
    (void)unlink(w.path);
}

static void a_write_that_fails_leaves_the_old_file_alone(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "file"), *in_the_way = beside(t, path);

    CHECK_OK(t, sotto_file_write(path, text("old"), NULL, NULL, &t->err));
    CHECK_EQUAL(t, 0, mkdir(in_the_way, 0700));
    CHECK_STATUS(t, SOTTO_IO, sotto_file_write(path, text("new"), NULL, NULL, &t->err));
    CHECK(t, strstr(t->err.reason, "can't write") != NULL);
    CHECK(t, holds(t, path, "old"));
    CHECK_EQUAL(t, 0, rmdir(in_the_way));
    CHECK_STATUS(t, SOTTO_IO,
                 sotto_file_write("./no such directory/any", text("x"), NULL, NULL, NULL));
    (void)unlink(path);
}

/* A directory can't be replaced by a file: rename(2) fails after all was written. */
static void what_was_written_beside_goes_when_the_name_is_taken(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "file");

    CHECK_EQUAL(t, 0, mkdir(path, 0700));
    CHECK_STATUS(t, SOTTO_IO, sotto_file_write(path, text("x"), NULL, NULL, NULL));
    CHECK(t, access(beside(t, path), F_OK) != 0);
    CHECK_EQUAL(t, 0, rmdir(path));
}

static void a_file_that_another_wrote_is_settled(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "file"), *from = beside(t, path);

    CHECK_STATUS(t, SOTTO_IO, sotto_file_settle(from, path, &t->err));
    CHECK(t, !sotto_file_sync(from));
    CHECK_OK(t, sotto_file_write(from, text("theirs"), NULL, NULL, &t->err));
    CHECK(t, sotto_file_sync(from));
    CHECK_OK(t, sotto_file_settle(from, path, &t->err));
    CHECK(t, holds(t, path, "theirs"));
    CHECK(t, access(from, F_OK) != 0);
    (void)unlink(path);
}

static void a_file_is_read_whole_or_not_at_all(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "file");
    char memory[8];
    sotto_buf out = sotto_buf_over(memory, 6);
    sotto_bytes got;

    CHECK_STATUS(t, SOTTO_MISSING, sotto_file_read(&got, path, 6, &t->arena, NULL));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_file_append(&out, path, NULL));
    CHECK_STATUS(t, SOTTO_IO, sotto_file_read(&got, "/", 6, &t->arena, NULL));
    CHECK_STATUS(t, SOTTO_IO, sotto_file_append(&out, "/", NULL));
    CHECK_OK(t, sotto_file_write(path, text("abcdef"), NULL, NULL, &t->err));
    CHECK_OK(t, sotto_file_read(&got, path, 6, &t->arena, &t->err));
    CHECK(t, sotto_bytes_equal(got, text("abcdef")));
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_file_read(&got, path, 5, &t->arena, NULL));
    CHECK_OK(t, sotto_file_append(&out, path, &t->err));
    CHECK(t, sotto_bytes_equal(sotto_buf_bytes(&out), text("abcdef")));
    out = sotto_buf_over(memory, 5);
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_file_append(&out, path, &t->err));
    CHECK(t, out.len == 5 && strcmp(t->err.reason, "more than 5 bytes") == 0);
    CHECK_OK(t, sotto_file_text(&got, path, 5, &t->arena, &t->err)); /* its reader sees six */
    CHECK_EQUAL(t, 6, got.len);
    CHECK_OK(t, sotto_file_text(&got, path, 4, &t->arena, &t->err));
    CHECK_EQUAL(t, 5, got.len);
    (void)unlink(path);
    CHECK_STATUS(t, SOTTO_MISSING, sotto_file_text(&got, path, 5, &t->arena, NULL));
}

static void a_pipe_is_read_to_its_end(sotto_test *t)
{
    char memory[8];
    sotto_buf out = sotto_buf_over(memory, 8);
    int ends[2];

    CHECK_EQUAL(t, 0, pipe(ends));
    CHECK(t, sotto_file_put(ends[1], text("pi")));
    CHECK(t, sotto_file_put(ends[1], text("pe")));
    CHECK_EQUAL(t, 0, close(ends[1]));
    CHECK_OK(t, sotto_file_append_open(&out, ends[0], &t->err));
    CHECK(t, sotto_bytes_equal(sotto_buf_bytes(&out), text("pipe")));
    CHECK_EQUAL(t, 0, close(ends[0]));
    CHECK(t, !sotto_file_put(ends[0], text("x")));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_name_stands_for_the_old_file_or_the_new_one),
        CASE(a_write_that_fails_leaves_the_old_file_alone),
        CASE(what_was_written_beside_goes_when_the_name_is_taken),
        CASE(a_file_that_another_wrote_is_settled),
        CASE(a_file_is_read_whole_or_not_at_all),
        CASE(a_pipe_is_read_to_its_end),
    };

    return RUN_TESTS(argc, argv, cases);
}
