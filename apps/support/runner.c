#include "support/runner.h"

#include "support/walk.h"

#include <getopt.h>
#include <stdio.h>

enum { FILES_CEILING = 1 << 28 };

int sotto_runner_parse(sotto_runner *runner, int argc, char **argv)
{
    static const struct option longs[] = {
        {"json", no_argument, NULL, 'j'},           {"verbose", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},           {"version", no_argument, NULL, 'V'},
        {"generate", required_argument, NULL, 'g'}, {0},
    };

    for (int c; (c = getopt_long(argc, argv, "vh", longs, NULL)) != -1;) {
        if (c == 'j') {
            runner->json = true;
        } else if (c == 'v') {
            runner->verbose = true;
        } else if (c == 'g' && runner->generates) {
            runner->generate = optarg;
        } else if (c == 'V') {
            printf("%s " SOTTO_VERSION "\n", runner->name);
            return SOTTO_RUNNER_AGREED;
        } else {
            (void)fputs(runner->usage, c == 'h' ? stdout : stderr);
            return c == 'h' ? SOTTO_RUNNER_AGREED : SOTTO_RUNNER_USAGE;
        }
    }
    if ((optind < argc) != (runner->generate != NULL))
        return -1;
    (void)fputs(runner->usage, stderr);
    return SOTTO_RUNNER_USAGE;
}

static sotto_status walk_all(sotto_walk *walk, int argc, char **argv, sotto_err *err)
{
    for (int i = optind; i < argc; i++)
        SOTTO_TRY(sotto_walk_add(walk, argv[i], err));
    sotto_walk_sort(walk);
    return SOTTO_OK;
}

bool sotto_runner_files(const sotto_runner *runner, void *self, int argc, char **argv)
{
    sotto_arena files, arena;
    sotto_walk walk = {.suffix = runner->suffix, .arena = &files};
    sotto_err err = {0};

    sotto_arena_init(&files, FILES_CEILING);
    sotto_arena_init(&arena, runner->ceiling);
    sotto_status status = walk_all(&walk, argc, argv, &err);

    if (status != SOTTO_OK)
        (void)fprintf(stderr, "%s: %s\n", runner->name, err.reason);
    for (size_t i = 0; status == SOTTO_OK && i < walk.count; i++) {
        runner->run_file(self, walk.paths[i], &arena);
        sotto_arena_clear(&arena);
    }
    sotto_arena_clear(&files);
    return status == SOTTO_OK;
}
