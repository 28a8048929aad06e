/* sotto sim - starts the program sotto-sim, which lies beside this one: here no randomness is linked that can be repeated. */
#define _POSIX_C_SOURCE 200809L
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "sotto-sim"

/* Beside the file that this process runs; false: that can't be told. */
static bool beside(char *out, size_t size)
{
    const ssize_t len = readlink("/proc/self/exe", out, size - 1);
    char *end;

    if (len <= 0)
        return false;
    out[len] = 0;
    end = strrchr(out, '/');
    if (!end || (size_t)(end + 1 - out) + sizeof PROGRAM > size)
        return false;
    memcpy(end + 1, PROGRAM, sizeof PROGRAM);
    return true;
}

static int sim_main(int argc, char **argv)
{
    char path[4096];

    (void)argc;
    (void)fflush(stdout);
    if (beside(path, sizeof path))
        (void)execv(path, argv);
    if (errno == ENOENT)
        (void)execvp(PROGRAM, argv);
    (void)fprintf(stderr,
                  "sotto sim: the program " PROGRAM " can't be started: %s; build or install it "
                  "beside sotto\n",
                  strerror(errno));
    return EXIT_FAILED;
}

const sotto_verb sotto_verb_sim = {
    .name = "sim",
    .summary = "try a recipe on made-up devices: own rows to an answer with error bars",
    .run = sim_main,
};
