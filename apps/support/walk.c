#define _POSIX_C_SOURCE 200809L

#include "walk.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEEPEST = 64 };

static bool is_wanted(const sotto_walk *walk, const char *path)
{
    size_t len = strlen(path);
    size_t suffix = strlen(walk->suffix);

    return len > suffix && strcmp(path + len - suffix, walk->suffix) == 0;
}

static sotto_status grow(sotto_walk *walk, sotto_err *err)
{
    size_t cap = walk->cap > 0 ? 2 * walk->cap : 256;
    char **paths = sotto_arena_take_array(walk->arena, cap, sizeof *paths);

    if (paths == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "too many files");
    if (walk->count > 0)
        memcpy(paths, walk->paths, walk->count * sizeof *paths);
    walk->paths = paths;
    walk->cap = cap;
    return SOTTO_OK;
}

static sotto_status add_file(sotto_walk *walk, const char *path, sotto_err *err)
{
    size_t size = strlen(path) + 1;
    char *copy = sotto_arena_take(walk->arena, size);

    if (copy == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "too many files");
    memcpy(copy, path, size);
    if (walk->count == walk->cap)
        SOTTO_TRY(grow(walk, err));
    walk->paths[walk->count++] = copy;
    return SOTTO_OK;
}

/* In the arena; NULL if that is full. */
static char *join(sotto_walk *walk, const char *folder, const char *name)
{
    size_t len = strlen(folder);
    size_t size = len + strlen(name) + 2;
    char *path = sotto_arena_take(walk->arena, size);

    if (path != NULL)
        snprintf(path, size, "%s%s%s", folder, len > 0 && folder[len - 1] == '/' ? "" : "/", name);
    return path;
}

static sotto_status walk_folder(sotto_walk *walk, const char *folder, unsigned depth,
                                sotto_err *err);

static sotto_status walk_entry(sotto_walk *walk, const char *folder, const char *name,
                               unsigned depth, sotto_err *err)
{
    struct stat info;

    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return SOTTO_OK;
    char *path = join(walk, folder, name);
    if (path == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "too many files");
    if (lstat(path, &info) != 0)
        return sotto_fail(err, SOTTO_IO, "%.100s: %s", path, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return walk_folder(walk, path, depth + 1, err);
    return is_wanted(walk, name) ? add_file(walk, path, err) : SOTTO_OK;
}

static sotto_status walk_folder(sotto_walk *walk, const char *folder, unsigned depth,
                                sotto_err *err)
{
    DIR *entries;
    sotto_status status = SOTTO_OK;

    if (depth > DEEPEST)
        return sotto_fail(err, SOTTO_TOO_LARGE, "%.100s: nested too deeply", folder);
    entries = opendir(folder);
    if (entries == NULL)
        return sotto_fail(err, SOTTO_IO, "%.100s: %s", folder, strerror(errno));
    for (struct dirent *e = readdir(entries); e != NULL && status == SOTTO_OK; e = readdir(entries))
        status = walk_entry(walk, folder, e->d_name, depth, err);
    closedir(entries);
    return status;
}

sotto_status sotto_walk_add(sotto_walk *walk, const char *path, sotto_err *err)
{
    struct stat info;

    if (stat(path, &info) != 0)
        return sotto_fail(err, SOTTO_MISSING, "%.100s: %s", path, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return walk_folder(walk, path, 0, err);
    if (is_wanted(walk, path))
        return add_file(walk, path, err);
    return sotto_fail(err, SOTTO_MISSING, "%.100s: neither a folder nor a %s file", path,
                      walk->suffix);
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void sotto_walk_sort(sotto_walk *walk)
{
    if (walk->count > 1)
        qsort(walk->paths, walk->count, sizeof *walk->paths, compare_paths);
}
