/* sotto - one program, a table of verbs. */
#include "verbs.h"

#include <stdio.h>
#include <string.h>

static const sotto_verb *const verbs[] = {
    &sotto_verb_admin,   &sotto_verb_analysis,
    &sotto_verb_budget,  &sotto_verb_collect,
    &sotto_verb_demo,    &sotto_verb_device,
    &sotto_verb_interop, &sotto_verb_learn,
    &sotto_verb_log,     &sotto_verb_parties,
    &sotto_verb_recipe,  &sotto_verb_serve,
    &sotto_verb_sim,     NULL,
};

static const sotto_verb program = {
    .name = "sotto",
    .summary = "private federated analytics",
    .parts = verbs,
};

static const sotto_verb *part_of(const sotto_verb *verb, size_t i)
{
    return verb->part ? verb->part(i) : verb->parts[i];
}

static void print_help(FILE *to, const sotto_verb *verb, const char *path)
{
    (void)fprintf(to, "%s - %s\n\nusage: %s VERB [options]\n\n", path, verb->summary, path);
    for (size_t i = 0; part_of(verb, i) != NULL; i++)
        (void)fprintf(to, "  %-10s %s\n", part_of(verb, i)->name, part_of(verb, i)->summary);
    (void)fprintf(to, "\n`%s VERB --help` says more%s.\n", path,
                  verb == &program ? "; `sotto --version`, which one this is" : "");
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (is_help(argv[i]))
            return true;
    return false;
}

static int run_leaf(const sotto_verb *verb, int argc, char **argv)
{
    bool helps_itself = verb->usage == NULL && verb->print_usage == NULL;

    if (verb->run != NULL && (helps_itself || !asks_for_help(argc, argv)))
        return verb->run(argc, argv);
    if (verb->print_usage != NULL)
        verb->print_usage();
    else
        printf("%s", verb->usage);
    return EXIT_DONE;
}

static const sotto_verb *find(const sotto_verb *verb, const char *name)
{
    const sotto_verb *part;

    for (size_t i = 0; (part = part_of(verb, i)) != NULL; i++)
        if (strcmp(part->name, name) == 0)
            return part;
    return NULL;
}

/* Walks down the table, one word at a time; argv[0] is the verb itself, path all words up to it. */
static int run(int argc, char **argv)
{
    const sotto_verb *verb = &program;
    char path[80] = "sotto";

    while (verb->parts != NULL || verb->part != NULL) {
        if (argc < 2) {
            print_help(stderr, verb, path);
            return EXIT_USAGE;
        }
        if (verb == &program && strcmp(argv[1], "--version") == 0) {
            printf("sotto " SOTTO_VERSION "\n");
            return EXIT_DONE;
        }
        if (is_help(argv[1]) || strcmp(argv[1], "help") == 0) {
            print_help(stdout, verb, path);
            return EXIT_DONE;
        }
        verb = find(verb, argv[1]);
        if (verb == NULL) {
            (void)fprintf(stderr, "%s: no verb '%s'; `%s --help` lists them\n", path, argv[1],
                          path);
            return EXIT_USAGE;
        }
        size_t used = strlen(path);
        (void)snprintf(path + used, sizeof path - used, " %s", verb->name);
        argc--;
        argv++;
    }
    return run_leaf(verb, argc, argv);
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
