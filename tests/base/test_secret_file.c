#define _GNU_SOURCE
#include "base/secret_file.h"
#include "support/directory.h"
#include "support/test.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROOT = 0, ME = 1000, ANOTHER = 1001 };

static sotto_status judge(mode_t mode, uid_t owner, uid_t me, sotto_secret_readers readers)
{
    struct stat facts = {.st_mode = S_IFREG | mode, .st_uid = owner};

    return sotto_secret_file_judge(&facts, me, readers, NULL);
}

static void a_secret_of_ones_own_is_for_its_owner_alone(sotto_test *t)
{
    static const mode_t shown[] = {0644, 0640, 0620, 0610, 0604, 0602, 0601, 0666};

    CHECK_OK(t, judge(0600, ME, ME, SOTTO_SECRET_OWN));
    CHECK_OK(t, judge(0400, ME, ME, SOTTO_SECRET_OWN));
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        CHECK_STATUS(t, SOTTO_DENIED, judge(shown[i], ME, ME, SOTTO_SECRET_OWN));
        CHECK_STATUS(t, SOTTO_DENIED, judge(shown[i], ROOT, ROOT, SOTTO_SECRET_OWN));
        CHECK_STATUS(t, SOTTO_DENIED, judge(shown[i], ME, ME, SOTTO_SECRET_GIVEN));
    }
}

/* root:sotto 0640, or what systemd makes of a credential: root's, 0400, with an ACL. */
static void a_secret_may_be_given_to_a_group_to_read(sotto_test *t)
{
    static const mode_t shown[] = {0660, 0650, 0644, 0641, 0604};

    CHECK_OK(t, judge(0640, ROOT, ME, SOTTO_SECRET_GIVEN));
    CHECK_OK(t, judge(0440, ROOT, ME, SOTTO_SECRET_GIVEN));
    CHECK_OK(t, judge(0640, ROOT, ROOT, SOTTO_SECRET_GIVEN));
    CHECK_OK(t, judge(0640, ANOTHER, ME, SOTTO_SECRET_GIVEN));
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        CHECK_STATUS(t, SOTTO_DENIED, judge(shown[i], ROOT, ME, SOTTO_SECRET_GIVEN));
}

static void only_files_are_read_and_whole(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "secret");
    char memory[8];
    sotto_buf out = sotto_buf_over(memory, 7);
    FILE *file;

    CHECK_STATUS(t, SOTTO_MISSING, sotto_secret_file_read(&out, path, SOTTO_SECRET_OWN, NULL));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_secret_file_check(path, SOTTO_SECRET_OWN, NULL));
    CHECK_STATUS(t, SOTTO_IO, sotto_secret_file_read(&out, "/", SOTTO_SECRET_OWN, &t->err));
    CHECK(t, strstr(t->err.reason, "is a directory") != NULL);
    CHECK_STATUS(t, SOTTO_IO, sotto_secret_file_check("/dev/null", SOTTO_SECRET_OWN, NULL));
    file = fopen(path, "w");
    CHECK(t, file && fputs("secret", file) >= 0 && fclose(file) == 0);
    CHECK_EQUAL(t, 0, chmod(path, 0604));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_secret_file_read(&out, path, SOTTO_SECRET_OWN, &t->err));
    CHECK_EQUAL(t, 0, out.len);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_secret_file_check(path, SOTTO_SECRET_OWN, NULL));
    CHECK_EQUAL(t, 0, chmod(path, 0600));
    CHECK_OK(t, sotto_secret_file_check(path, SOTTO_SECRET_OWN, NULL));
    CHECK_OK(t, sotto_secret_file_read(&out, path, SOTTO_SECRET_OWN, NULL));
    CHECK(t, out.len == 6 && memcmp(memory, "secret", 6) == 0);
    out = sotto_buf_over(memory, 6); /* whether there is more is not known */
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_secret_file_read(&out, path, SOTTO_SECRET_OWN, NULL));
    (void)unlink(path);
}

static void a_new_secret_is_for_its_owner_alone_and_never_replaced(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "made");
    const sotto_bytes secret = sotto_bytes_of("secret", 6);
    mode_t before = umask(0);
    char memory[8];
    sotto_buf out = sotto_buf_over(memory, 7);
    struct stat facts;

    CHECK_OK(t, sotto_secret_file_write(path, secret, &t->err));
    (void)umask(before);
    CHECK(t, stat(path, &facts) == 0 && (facts.st_mode & 0777) == 0600);
    CHECK_STATUS(t, SOTTO_STALE,
                 sotto_secret_file_write(path, sotto_bytes_of("other", 5), &t->err));
    CHECK_OK(t, sotto_secret_file_read(&out, path, SOTTO_SECRET_OWN, &t->err));
    CHECK(t, sotto_bytes_equal(sotto_buf_bytes(&out), secret));
    CHECK_EQUAL(t, 0, unlink(path));
    CHECK_EQUAL(t, 0, symlink("elsewhere", path)); /* would be made where others chose */
    CHECK_STATUS(t, SOTTO_STALE, sotto_secret_file_write(path, secret, NULL));
    CHECK_EQUAL(t, 0, unlink(path));
    CHECK_STATUS(t, SOTTO_IO, sotto_secret_file_write("./no such directory/any", secret, NULL));
}

/* Writes into a pipe as another process would. */
static void *write_secret(void *path)
{
    FILE *pipe = fopen(path, "w");

    if (pipe) {
        (void)fputs("secret", pipe);
        (void)fclose(pipe);
    }
    return NULL;
}

static sotto_status read_fifo(sotto_test *t, const char *path, sotto_buf *out)
{
    pthread_t writer;
    sotto_status status;

    CHECK(t, pthread_create(&writer, NULL, write_secret, (void *)(uintptr_t)path) == 0);
    status = sotto_secret_file_read(out, path, SOTTO_SECRET_OWN, NULL);
    CHECK(t, pthread_join(writer, NULL) == 0);
    return status;
}

static void a_pipe_that_others_can_not_read_is_as_good_as_a_file(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "fifo");
    char memory[8];
    sotto_buf out = sotto_buf_over(memory, 7);

    CHECK(t, signal(SIGPIPE, SIG_IGN) != SIG_ERR); /* what is refused is not read */
    CHECK_EQUAL(t, 0, mkfifo(path, 0600));
    CHECK_OK(t, read_fifo(t, path, &out));
    CHECK(t, out.len == 6 && memcmp(memory, "secret", 6) == 0);
    CHECK_STATUS(t, SOTTO_IO, sotto_secret_file_read(&out, path, SOTTO_SECRET_GIVEN, NULL));
    CHECK_STATUS(t, SOTTO_IO, sotto_secret_file_check(path, SOTTO_SECRET_GIVEN, NULL));
    CHECK_EQUAL(t, 0, chmod(path, 0640));
    out.len = 0;
    CHECK_STATUS(t, SOTTO_DENIED, read_fifo(t, path, &out));
    CHECK_EQUAL(t, 0, out.len);
    (void)unlink(path);
}

static void standard_input_may_be_a_pipe(sotto_test *t)
{
    char memory[8];
    sotto_buf out = sotto_buf_over(memory, 7);
    int ends[2] = {-1, -1}, kept = dup(STDIN_FILENO);

    CHECK(t, kept >= 0 && pipe(ends) == 0);
    CHECK(t, write(ends[1], "secret", 6) == 6 && close(ends[1]) == 0);
    CHECK(t, dup2(ends[0], STDIN_FILENO) == STDIN_FILENO && close(ends[0]) == 0);
    CHECK_OK(t, sotto_secret_file_read(&out, "/dev/stdin", SOTTO_SECRET_OWN, &t->err));
    CHECK(t, out.len == 6 && memcmp(memory, "secret", 6) == 0);
    CHECK(t, dup2(kept, STDIN_FILENO) == STDIN_FILENO && close(kept) == 0);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_secret_of_ones_own_is_for_its_owner_alone),
        CASE(a_secret_may_be_given_to_a_group_to_read),
        CASE(only_files_are_read_and_whole),
        CASE(a_new_secret_is_for_its_owner_alone_and_never_replaced),
        CASE(a_pipe_that_others_can_not_read_is_as_good_as_a_file),
        CASE(standard_input_may_be_a_pipe),
    };

    return RUN_TESTS(argc, argv, cases);
}
