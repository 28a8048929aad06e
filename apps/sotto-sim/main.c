/* sotto-sim - the simulator, a program of its own: sotto itself links no randomness that can be repeated. */
#include "sim.h"

#include "sotto/device.h"

#include <string.h>

#define USUAL                                                                                      \
    "  --recipe FILE        what is asked\n"                                                       \
    "  --policy FILE        what devices allow\n"                                                  \
    "  --csv FILE           rows; the first line names the columns, as the query names its "       \
    "fields.\n"                                                                                    \
    "                       A column event_time has seconds since 1970\n"                          \
    "  --device-column C    rows with the same value of this column are one device; else each "    \
    "row is one\n"                                                                                 \
    "  --devices N          each device of the file stands for as many as make N, as evenly as "   \
    "it goes\n"                                                                                    \
    "  --fast               no store, ledger or cryptography for each device; answers of the "     \
    "same law\n"                                                                                   \
    "  --seed S             for all randomness; 1 unless stated. The same seed gives the same "    \
    "answer\n"                                                                                     \
    "  --repeat K           so many runs, each with other randomness\n"                            \
    "  --streams FILE       types of the columns (docs/recipe.md, Streams); else the first rows "  \
    "tell\n"                                                                                       \
    "  --skip-bad-rows      leaves out rows that can't be read, and counts them\n"                 \
    "  --threads N          as many as there are processors, unless stated\n"                      \
    "  --confidence C       of each interval; 0.95 unless stated\n"                                \
    "  --quiet              no progress\n"

typedef struct verb {
    const char *name;
    const char *summary;
    const char *usage;
    int (*run)(const sim_options *options);
} verb;

static const verb verbs[] = {
    {"run", "ask a recipe of the rows of a CSV file: the answer, and the truth beside it",
     "usage: sotto sim run --recipe FILE --policy FILE --csv FILE [options]\n\n"
     "Rows of a CSV file become events on simulated devices. These answer as real ones do, both "
     "servers\n"
     "add up, and the collector opens the sums, all in this process. Nothing is spent, and nothing "
     "leaves.\n\n" USUAL
     "  --out FILE           CSV of truth, estimate and error of each line of the answer\n"
     "  --svg FILE           bars with their intervals\n"
     "  --json               for programs\n",
     sim_verb_run},
    {"sweep", "the same over values of parameters, as CSV and SVG",
     "usage: sotto sim sweep --recipe FILE --policy FILE --csv FILE --vary KEY=V,V,... "
     "[options]\n\n"
     "Simulates once, or --repeat times, for each value, and says how error and intervals "
     "change.\n\n"
     "  --vary KEY=V,V,...   a key of the recipe, such as privacy.sigma, or devices; up to three "
     "times\n" USUAL "  --out FILE           CSV of all lines of all answers\n"
     "  --svg FILE           the error as a curve over the values of one --vary\n",
     sim_verb_sweep},
    {"compare", "several recipes on the same rows, side by side",
     "usage: sotto sim compare --recipe FILE --recipe FILE ... --policy FILE --csv FILE "
     "[options]\n\n"
     "Simulates each recipe on the same rows, and prints epsilon, error and interval of "
     "each.\n\n" USUAL "  --out FILE           CSV of all lines of all answers\n",
     sim_verb_compare},
};

enum { VERBS = sizeof verbs / sizeof verbs[0] };

static void print_help(FILE *out)
{
    (void)fprintf(out, "sotto sim - try a recipe on made-up devices\n\nusage: sotto sim VERB "
                       "[options]\n\n");
    for (size_t i = 0; i < VERBS; i++)
        (void)fprintf(out, "  %-10s %s\n", verbs[i].name, verbs[i].summary);
    (void)fprintf(out, "\n`sotto sim VERB --help` says more.\n");
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
}

static int run(const verb *v, int argc, char **argv)
{
    sim_options options;
    sotto_err err = {0};

    for (int i = 1; i < argc; i++)
        if (is_help(argv[i])) {
            printf("%s", v->usage);
            return EXIT_DONE;
        }
    const int code = sim_options_read(&options, argc, argv);
    if (code != EXIT_DONE)
        return code;
    /* One lock for every allocation of SQLite would take as long as the devices themselves. */
    if (sotto_device_count_memory(&err) != SOTTO_OK) {
        (void)fprintf(stderr, "sotto sim: %s\n", err.reason);
        return EXIT_FAILED;
    }
    return v->run(&options);
}

int main(int argc, char **argv)
{
    int code = EXIT_USAGE;

    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (is_help(argv[1])) {
        print_help(stdout);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < VERBS; i++)
        if (strcmp(verbs[i].name, argv[1]) == 0) {
            code = run(&verbs[i], argc - 1, argv + 1);
            if (fflush(stdout) == 0 && !ferror(stdout))
                return code;
            (void)fprintf(stderr, "sotto sim: the output could not be written\n");
            return EXIT_FAILED;
        }
    (void)fprintf(stderr, "sotto sim: no verb '%s'; `sotto sim --help` lists them\n", argv[1]);
    return code;
}
