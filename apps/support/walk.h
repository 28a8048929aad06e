/* support/walk.h - the files of one kind below a folder, in a stable order. */
#ifndef SOTTO_APPS_WALK_H
#define SOTTO_APPS_WALK_H

#include "sotto/base.h"

typedef struct sotto_walk {
    const char *suffix; /* how the wanted files' names end: ".json" */
    char **paths;       /* in the arena; sorted */
    size_t count;
    size_t cap;
    sotto_arena *arena;
} sotto_walk;

/* Adds every such file below `path`, or `path` itself if it is such a file. SOTTO_MISSING: there is no such
 * folder; SOTTO_IO: it cannot be read. Links to folders are not followed, so that no loop can be walked. */
SOTTO_MUST_USE sotto_status sotto_walk_add(sotto_walk *walk, const char *path, sotto_err *err);

/* Sorts what was added. */
void sotto_walk_sort(sotto_walk *walk);

#endif
