#define _XOPEN_SOURCE 700
#include "support/directory.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char directories[256][64];
static size_t directory_count;

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)type, (void)where;
    return remove(path);
}

static void remove_directories(void)
{
    while (directory_count > 0)
        (void)nftw(directories[--directory_count], remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *sotto_test_directory(sotto_test *t)
{
    if (directory_count == 0)
        CHECK(t, sotto_test_at_end(remove_directories));
    CHECK(t, directory_count < sizeof directories / sizeof directories[0]);
    char *made = directories[directory_count];
    const char *base =
        getenv("TMPDIR"); /* in memory, where ctest can have that: tests/memory.cmake */
    int len = snprintf(made, sizeof directories[0], "%s/sotto-test-XXXXXX",
                       base && base[0] ? base : "/tmp");
    CHECK(t, len > 0 && (size_t)len < sizeof directories[0]);
    CHECK(t, mkdtemp(made) != NULL);
    directory_count++;
    return made;
}

const char *sotto_test_temp(sotto_test *t, const char *name)
{
    const char *directory = sotto_test_directory(t);
    size_t size = strlen(directory) + strlen(name) + 2;
    char *path = sotto_arena_take(&t->arena, size);

    CHECK(t, path != NULL);
    (void)snprintf(path, size, "%s/%s", directory, name);
    return path;
}
