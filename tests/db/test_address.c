/* A PostgreSQL server that can't be reached: libpq's own sentence says why, and no password is in it. No server is needed. */
#include "support/database.h"

#include <string.h>

static void open_fails(sotto_test *t, const char *address)
{
    const sotto_db_options options = {.address = address, .patience_ms = 1};
    sotto_db *db = NULL;

    t->err = (sotto_err){0};
    CHECK(t, sotto_db_open(&db, &options, &t->err) != SOTTO_OK);
    CHECK(t, strncmp(t->err.reason, "postgres: ", 10) == 0);
}

static void what_libpq_says_is_repeated(sotto_test *t)
{
    open_fails(t, "host=/nowhere/at/all port=5433 user=sotto dbname=sotto");
    CHECK_REASON(t, "socket \"/nowhere/at/all/.s.PGSQL.5433\" failed: No such file or directory");
    open_fails(t, "postgres://sotto@127.0.0.1:1/sotto");
    CHECK_REASON(t, "port 1 failed: Connection refused");
    open_fails(t, "host=host.invalid user=sotto");
    CHECK_REASON(t, "host.invalid");
    open_fails(t, "host=127.0.0.1 sslmode=never");
    CHECK_REASON(t, "sslmode value: \"never\"");
}

static void a_long_path_does_not_hide_the_cause(sotto_test *t)
{
    open_fails(t, "host=/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb/"
                  "cccccccc port=5432");
    CHECK_REASON(t, "No such file or directory");
}

static void hides(sotto_test *t, const char *address, const char *secret)
{
    open_fails(t, address);
    CHECK(t, !strstr(t->err.reason, secret));
}

static void a_password_is_never_repeated(sotto_test *t)
{
    hides(t, "host=/nowhere user=sotto password=hunter2", "hunter2");
    hides(t, "postgres://sotto:hunter2@127.0.0.1:1/sotto", "hunter2");
    hides(t, "postgres://sotto@127.0.0.1:1/sotto?password=hunter2", "hunter2");
    hides(t, "host=/nowhere/hunter2 user=sotto password=hunter2", "hunter2");
}

/* libpq finds the pieces of such passwords in other fields, and names them. */
static void a_password_in_the_wrong_field_is_not_repeated(sotto_test *t)
{
    hides(t, "postgres://sotto:hunter2/x@127.0.0.1:1/sotto", "hunter2");
    hides(t, "postgres://sotto:x@hunter2@127.0.0.1:1/sotto", "hunter2");
}

static void an_address_that_can_not_be_read_is_not_repeated(sotto_test *t)
{
    static const char *const wrong[] = {"host=/nowhere password=my hunter2 user=sotto",
                                        "host=/nowhere hunter2=x",
                                        "postgres://sotto:hunter2%zz@127.0.0.1:1/sotto",
                                        "postgres://sotto@127.0.0.1:1/sotto?hunter2=x"};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        hides(t, wrong[i], "hunter2");
        CHECK_EQUAL(t, SOTTO_MALFORMED, t->err.status);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(what_libpq_says_is_repeated),
        CASE(a_long_path_does_not_hide_the_cause),
        CASE(a_password_is_never_repeated),
        CASE(a_password_in_the_wrong_field_is_not_repeated),
        CASE(an_address_that_can_not_be_read_is_not_repeated),
    };
    return RUN_TESTS(argc, argv, cases);
}
