/* sotto - one program, a table of verbs. */
#include "verbs.h"

#include <stdio.h>
#include <string.h>

static const sotto_verb *const verbs[] = {
    &sotto_verb_demo,
};

enum { VERBS = sizeof verbs / sizeof verbs[0] };

static void print_help(FILE *to)
{
    (void)fprintf(to, "sotto - private federated analytics\n\nusage: sotto VERB [options]\n\n");
    for (size_t i = 0; i < VERBS; i++)
        (void)fprintf(to, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
    (void)fprintf(to, "\n`sotto VERB --help` says more.\n");
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < VERBS; i++) {
        if (strcmp(argv[1], verbs[i]->name) != 0)
            continue;
        if (!asks_for_help(argc - 1, argv + 1))
            return verbs[i]->run(argc - 1, argv + 1);
        printf("%s", verbs[i]->usage);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return EXIT_DONE;
    }
    (void)fprintf(stderr, "sotto: no verb '%s'; `sotto --help` lists them\n", argv[1]);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    int code = run(argc, argv);

    /* An answer that could not be written was not given. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        (void)fprintf(stderr, "sotto: the output could not be written\n");
        return EXIT_FAILED;
    }
    return code;
}
