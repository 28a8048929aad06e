/* support/runner.h - what programs that run every file below some folders have in common: the command line, the walk
 * and the exit codes.
 *
 * Callers:  sotto-golden and sotto-vectors.
 */
#ifndef SOTTO_APPS_RUNNER_H
#define SOTTO_APPS_RUNNER_H

#include "sotto/base.h"

enum {
    SOTTO_RUNNER_AGREED = 0,
    SOTTO_RUNNER_DIFFERED = 1,
    SOTTO_RUNNER_USAGE = 2,
};

typedef struct sotto_runner {
    const char *name;   /* of the program */
    const char *usage;  /* the whole text */
    const char *suffix; /* of the files it runs: ".json" */
    bool generates;     /* knows --generate DIR          */
    /* One file; what it takes from the arena is gone after it. */
    void (*run_file)(void *self, const char *path, sotto_arena *arena);
    size_t ceiling; /* of that arena */

    /* From the command line. */
    bool json, verbose;
    const char *generate; /* a folder to write to instead; NULL without */
} sotto_runner;

/* -1 to go on, or the exit code. */
int sotto_runner_parse(sotto_runner *runner, int argc, char **argv);

/* Runs every file below the folders that were named, in a stable order. False, and a sentence on stderr, if one cannot be
 * walked. */
bool sotto_runner_files(const sotto_runner *runner, void *self, int argc, char **argv);

static inline int sotto_runner_code(size_t passed, size_t failed)
{
    return failed == 0 && passed > 0 ? SOTTO_RUNNER_AGREED : SOTTO_RUNNER_DIFFERED;
}

#endif
