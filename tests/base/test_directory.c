#include "base/directory.h"
#include "support/directory.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void a_directory_is_found_by_the_path_of_its_file(sotto_test *t)
{
    CHECK(t, sotto_directory_sync("any"));
    CHECK(t, sotto_directory_sync("./any"));
    CHECK(t, sotto_directory_sync("./"));
    CHECK(t, !sotto_directory_sync("./no such directory/any"));
}

static void a_path_that_is_too_long_is_not_cut(sotto_test *t)
{
    enum { LONG = 5000 };
    char *path = sotto_arena_take(&t->arena, LONG + 1);

    memset(path, '/', LONG); /* a part of which would be the root */
    path[LONG] = 0;
    CHECK(t, !sotto_directory_sync(path));
}

static void a_new_directory_is_synced_into_its_parent(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "new");
    char within[4096];

    CHECK(t, sotto_directory_make(path, 0700));
    CHECK(t, sotto_directory_make(path, 0700)); /* it is there */
    CHECK(t, snprintf(within, sizeof within, "%s/a/b/", path) > 0);
    CHECK(t, !sotto_directory_make(within, 0700));
    CHECK(t, snprintf(within, sizeof within, "%s/a///", path) > 0);
    CHECK(t, sotto_directory_make(within, 0700));
    CHECK_EQUAL(t, 0, rmdir(within));
    CHECK_EQUAL(t, 0, rmdir(path));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_directory_is_found_by_the_path_of_its_file),
        CASE(a_path_that_is_too_long_is_not_cut),
        CASE(a_new_directory_is_synced_into_its_parent),
    };

    return RUN_TESTS(argc, argv, cases);
}
