/* An event file that is damaged, or not ours, or was taken away. */
#include "device/events/store_internal.h"
#include "support/events.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void overwrite_at(sotto_test *t, const char *path, long at, int byte, size_t len)
{
    FILE *file = fopen(path, "r+b");

    CHECK(t, file && fseek(file, at, SEEK_SET) == 0);
    for (size_t i = 0; i < len; i++)
        CHECK(t, fputc(byte, file) == byte);
    CHECK(t, fclose(file) == 0);
}

static void a_damaged_file_is_set_aside_and_reported(sotto_test *t)
{
    static const long places[] = {0, 50, 105, 4096 + 0, 3 * 4096 + 3};

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *path = sotto_test_temp(t, "events.db");
        sotto_store *store = sotto_test_store(t, path);

        sotto_test_fill(t, store, "witness");
        sotto_store_close(store);
        overwrite_at(t, path, places[i], 0xee, 20);
        store = sotto_test_store(t, path);
        CHECK(t, sotto_store_set_aside(store) != NULL);
        CHECK(t, strcmp(sotto_store_set_aside(store), sotto_test_beside(t, path, ".corrupt")) == 0);
        CHECK(t, sotto_test_file_holds(t, sotto_store_set_aside(store), "witness"));
        CHECK_EQUAL(t, 0, sotto_test_count(t, store, "keyboard_ngrams"));
        sotto_test_fill(t, store, "s");
        sotto_store_close(store);
        store = sotto_test_store(t, path); /* reported once */
        CHECK(t, sotto_store_set_aside(store) == NULL);
        CHECK_EQUAL(t, 6, sotto_test_count(t, store, "keyboard_ngrams"));
        sotto_store_close(store);
    }
}

static void somebody_elses_file_is_left_alone(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    const sotto_sqlite_options ledger = {
        .path = path, .application = SOTTO_SQLITE_LEDGER, .version = 1};
    const sotto_store_options options = {.path = path};
    sotto_store *store;
    sqlite3 *db;

    CHECK_OK(t, sotto_sqlite_open(&db, &ledger, &t->err));
    sotto_sqlite_close(db);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_store_open(&store, &options, &t->err));
    CHECK_OK(t, sotto_sqlite_open(&db, &ledger, &t->err));
    sotto_sqlite_close(db);
    CHECK(t, access(sotto_test_beside(t, path, ".corrupt"), F_OK) != 0);
}

static const char *set_one_aside(sotto_test *t, sotto_store **store)
{
    const char *path = sotto_test_temp(t, "events.db");

    *store = sotto_test_store(t, path);
    sotto_test_fill(t, *store, "witness");
    sotto_store_close(*store);
    overwrite_at(t, path, 0, 0xee, 20);
    *store = sotto_test_store(t, path);
    CHECK(t, sotto_test_file_holds(t, sotto_test_beside(t, path, ".corrupt"), "witness"));
    return path;
}

static void what_was_set_aside_expires_and_is_forgotten(sotto_test *t)
{
    sotto_store *store;
    const char *path = set_one_aside(t, &store);

    CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW + 5, &t->err));
    CHECK(t, access(sotto_test_beside(t, path, ".corrupt"), F_OK) == 0);
    CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW + SOTTO_TEST_MAX_AGE + 1, &t->err));
    CHECK(t, access(sotto_test_beside(t, path, ".corrupt"), F_OK) != 0);
    sotto_store_close(store);

    for (int i = 0; i < 2; i++) { /* all streams, or one of those that it may hold */
        path = set_one_aside(t, &store);
        CHECK_OK(t, sotto_store_forget(store, i ? "health" : NULL, &t->err));
        CHECK(t, access(sotto_test_beside(t, path, ".corrupt"), F_OK) != 0);
        sotto_store_close(store);
    }
}

/* ---- set aside by another process ------------------------------------------------------------------------- */

/* A store whose file is damaged while it is open, and the one that sets it aside. */
static const char *open_both(sotto_test *t, sotto_store **store, sotto_store **other)
{
    const char *path = sotto_test_temp(t, "events.db");

    *store = sotto_test_store(t, path);
    sotto_test_fill(t, *store, "s");
    sotto_store_close(*store); /* no page of the WAL hides the damage */
    *store = sotto_test_store(t, path);
    overwrite_at(t, path, 4096, 0xee, 20);
    *other = sotto_test_store(t, path);
    CHECK(t, sotto_store_set_aside(*other) != NULL);
    return path;
}

static void a_donation_goes_to_the_file_that_has_the_name(sotto_test *t)
{
    sotto_store *store, *other;
    const char *path = open_both(t, &store, &other);

    CHECK_OK(t, sotto_test_type(other, 20, SOTTO_TEST_NOW, 1, "a", "s", &t->err));
    CHECK_OK(t, sotto_test_type(store, 21, SOTTO_TEST_NOW, 1, "a", "s", &t->err));
    CHECK_EQUAL(t, 2, sotto_test_count(t, other, "keyboard_ngrams"));
    CHECK_EQUAL(t, 2, sotto_test_count(t, store, "keyboard_ngrams"));
    CHECK(t, sotto_store_set_aside(store) == NULL); /* the other one has told its host */
    sotto_store_close(store);
    CHECK_OK(t, sotto_test_type(other, 22, SOTTO_TEST_NOW, 1, "a", "s", &t->err));
    sotto_store_close(other);
    store = sotto_test_store(t, path);
    CHECK_EQUAL(t, 3, sotto_test_count(t, store, "keyboard_ngrams"));
    sotto_store_close(store);
}

static sotto_status count_row(void *context, const sotto_value *values, size_t columns,
                              sotto_err *err)
{
    (void)values, (void)columns, (void)err;
    ++*(uint64_t *)context;
    return SOTTO_OK;
}

static void every_call_looks_at_the_file_that_has_the_name(sotto_test *t)
{
    for (int i = 0; i < 3; i++) {
        int64_t old = SOTTO_TEST_NOW - 2 * SOTTO_TEST_MAX_AGE;
        sotto_store *store, *other;
        uint64_t seen = 0;

        (void)open_both(t, &store, &other);
        CHECK_OK(t, sotto_test_type(other, 1, old, 1, "a", "s", &t->err));
        if (i == 0)
            CHECK_OK(t, sotto_store_show(store, "keyboard_ngrams", 9, count_row, &seen, &t->err));
        else if (i == 1)
            CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW, &t->err));
        else
            CHECK_OK(t, sotto_store_forget(store, NULL, &t->err));
        CHECK_EQUAL(t, i == 0 ? 1 : 0, seen);
        CHECK_EQUAL(t, i == 0 ? 1 : 0, sotto_test_count(t, other, "keyboard_ngrams"));
        sotto_store_close(store);
        sotto_store_close(other);
    }
}

typedef struct other_process {
    sotto_test *t;
    const char *path;
    int waits; /* commits */
} other_process;

/* Sets the file aside in the middle of a commit, and donates to a fresh one. */
static int act_at_a_commit(void *context)
{
    other_process *other = context;

    if (other->waits-- != 0)
        return 0;
    overwrite_at(other->t, other->path, 0, 0xee, 20);
    sotto_store *fresh = sotto_test_store(other->t, other->path);
    CHECK(other->t, sotto_store_set_aside(fresh) != NULL);
    CHECK_OK(other->t, sotto_test_type(fresh, 20, SOTTO_TEST_NOW, 1, "a", "s", &other->t->err));
    sotto_store_close(fresh);
    return 0;
}

static void a_file_set_aside_before_the_commit_is_not_the_last_word(sotto_test *t)
{
    for (int i = 0; i < 2; i++) {
        other_process other = {.t = t, .path = sotto_test_temp(t, "events.db")};
        sotto_store *store = sotto_test_store(t, other.path);

        sotto_store_close(store);
        store = sotto_test_store(t, other.path);
        (void)sqlite3_commit_hook(store->db, act_at_a_commit, &other);
        if (i == 0)
            CHECK_OK(t, sotto_test_type(store, 21, SOTTO_TEST_NOW, 1, "a", "s", &t->err));
        else
            CHECK_OK(t, sotto_store_forget(store, NULL, &t->err));
        CHECK(t, other.waits < 0);
        CHECK_EQUAL(t, i == 0 ? 2 : 0, sotto_test_count(t, store, "keyboard_ngrams"));
        sotto_store_close(store);
        store = sotto_test_store(t, other.path);
        CHECK_EQUAL(t, i == 0 ? 2 : 0, sotto_test_count(t, store, "keyboard_ngrams"));
        sotto_store_close(store);
    }
}

/* Leaving, the one whose file was set aside must not take the other one's WAL along. */
static void whoever_leaves_a_file_set_aside_takes_nothing_along(sotto_test *t)
{
    sotto_store *store, *other;
    const char *path = open_both(t, &store, &other), *copy = sotto_test_temp(t, "events.db");

    sotto_test_fill(t, other, "s");
    sotto_store_close(store);
    CHECK(t, access(sotto_test_beside(t, path, "-wal"), F_OK) == 0);
    /* As after a power loss: what is in the files, and no good-bye. */
    CHECK(t, rename(path, copy) == 0);
    CHECK(t, rename(sotto_test_beside(t, path, "-wal"), sotto_test_beside(t, copy, "-wal")) == 0);
    store = sotto_test_store(t, copy);
    CHECK_EQUAL(t, 6, sotto_test_count(t, store, "health"));
    sotto_store_close(store);
    sotto_store_close(other);
}

static void a_file_that_is_gone_is_begun_anew(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "events.db");
    sotto_store *store = sotto_test_store(t, path);

    CHECK(t, unlink(path) == 0);
    CHECK_OK(t, sotto_test_type(store, 1, SOTTO_TEST_NOW, 1, "a", "s", &t->err));
    sotto_store_close(store);
    store = sotto_test_store(t, path);
    CHECK_EQUAL(t, 1, sotto_test_count(t, store, "keyboard_ngrams"));
    sotto_store_close(store);
}

/* What is in the way may be taken away again: nothing is lost by trying. */
static void a_file_that_is_not_ours_in_its_place_is_an_error_until_it_goes(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "events.db");
    const sotto_sqlite_options ledger = {
        .path = path, .application = SOTTO_SQLITE_LEDGER, .version = 1};
    sotto_store *store = sotto_test_store(t, path);
    sqlite3 *db;

    CHECK(t, rename(path, sotto_test_beside(t, path, ".away")) == 0);
    CHECK(t, unlink(sotto_test_beside(t, path, "-wal")) == 0);
    CHECK(t, unlink(sotto_test_beside(t, path, "-shm")) == 0);
    CHECK_OK(t, sotto_sqlite_open(&db, &ledger, &t->err));
    sotto_sqlite_close(db);
    for (int i = 0; i < 2; i++)
        CHECK_STATUS(t, SOTTO_DENIED,
                     sotto_test_type(store, 1, SOTTO_TEST_NOW, 1, "a", "s", &t->err));
    CHECK(t, unlink(path) == 0);
    CHECK_OK(t, sotto_test_type(store, 1, SOTTO_TEST_NOW, 1, "a", "s", &t->err));
    CHECK_EQUAL(t, 1, sotto_test_count(t, store, "keyboard_ngrams"));
    sotto_store_close(store);
}

/* ---- a file system that gives every file a new number at each look ------------------------------------------- */

static sqlite3_vfs *usual;
static sqlite3_io_methods restless;
static int (*usual_control)(sqlite3_file *, int, void *);

static int say_moved(sqlite3_file *file, int what, void *argument)
{
    if (what != SQLITE_FCNTL_HAS_MOVED)
        return usual_control(file, what, argument);
    *(int *)argument = 1;
    return SQLITE_OK;
}

static int open_restless(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags,
                         int *out)
{
    int code = usual->xOpen(vfs, path, file, flags, out);

    if (code != SQLITE_OK || !(flags & SQLITE_OPEN_MAIN_DB))
        return code;
    if (!usual_control) {
        restless = *file->pMethods;
        usual_control = restless.xFileControl;
        restless.xFileControl = say_moved;
    }
    file->pMethods = &restless;
    return code;
}

static void a_file_that_always_looks_replaced_is_an_error_and_no_loop(sotto_test *t)
{
    static const sotto_storage storage = {.vfs = "restless"};
    static sqlite3_vfs vfs;
    const sotto_store_options options = {.storage = &storage,
                                         .path = sotto_test_temp(t, "events.db"),
                                         .streams = sotto_test_streams,
                                         .stream_count = SOTTO_TEST_STREAMS,
                                         .now = SOTTO_TEST_NOW};
    sotto_store *store;

    usual = sqlite3_vfs_find(NULL);
    vfs = *usual;
    vfs.zName = storage.vfs;
    vfs.xOpen = open_restless;
    CHECK(t, sqlite3_vfs_register(&vfs, 0) == SQLITE_OK);
    CHECK_OK(t, sotto_store_open(&store, &options, &t->err));
    CHECK_STATUS(t, SOTTO_IO, sotto_test_type(store, 1, SOTTO_TEST_NOW, 1, "a", "s", &t->err));
    CHECK_STATUS(t, SOTTO_IO, sotto_store_forget(store, NULL, &t->err));
    sotto_store_close(store);
    CHECK(t, sqlite3_vfs_unregister(&vfs) == SQLITE_OK);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_damaged_file_is_set_aside_and_reported),
        CASE(somebody_elses_file_is_left_alone),
        CASE(what_was_set_aside_expires_and_is_forgotten),
        CASE(a_donation_goes_to_the_file_that_has_the_name),
        CASE(every_call_looks_at_the_file_that_has_the_name),
        CASE(a_file_set_aside_before_the_commit_is_not_the_last_word),
        CASE(whoever_leaves_a_file_set_aside_takes_nothing_along),
        CASE(a_file_that_is_gone_is_begun_anew),
        CASE(a_file_that_is_not_ours_in_its_place_is_an_error_until_it_goes),
        CASE(a_file_that_always_looks_replaced_is_an_error_and_no_loop),
    };
    return RUN_TESTS(argc, argv, cases);
}
