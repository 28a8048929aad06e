#include "base/directory.h"
#include "support/test.h"

#include <string.h>

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

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_directory_is_found_by_the_path_of_its_file),
        CASE(a_path_that_is_too_long_is_not_cut),
    };

    return RUN_TESTS(argc, argv, cases);
}
