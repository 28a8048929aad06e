/* sotto-sim - the simulator, a program of its own: sotto itself links no randomness that can be repeated. */
#include "figures.h"
#include "learn.h"
#include "sim.h"

#include "base/alloc.h"
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
    int (*run_own)(int argc, char **argv); /* or this: it reads its arguments itself */
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
     "  --answer FILE        the answer alone, as `sotto collect --json` prints it\n"
     "  --table FILE         the same as `sotto collect --csv` writes it\n"
     "  --html FILE          the same as a page\n"
     "  --json               for programs\n",
     sim_verb_run, NULL},
    {"sweep", "the same over values of parameters, as CSV and SVG",
     "usage: sotto sim sweep --recipe FILE --policy FILE --csv FILE --vary KEY=V,V,... "
     "[options]\n\n"
     "Simulates once, or --repeat times, for each value, and says how error and intervals "
     "change.\n\n"
     "  --vary KEY=V,V,...   a key of the recipe, such as privacy.sigma, or devices; up to three "
     "times\n" USUAL "  --out FILE           CSV of all lines of all answers\n"
     "  --svg FILE           the error as a curve over the values of one --vary\n"
     "  --json               for programs: a line a point\n",
     sim_verb_sweep, NULL},
    {"compare", "several recipes on the same rows, side by side",
     "usage: sotto sim compare --recipe FILE --recipe FILE ... --policy FILE --csv FILE "
     "[options]\n\n"
     "Simulates each recipe on the same rows, and prints epsilon, error and interval of "
     "each.\n\n" USUAL "  --out FILE           CSV of all lines of all answers\n"
     "  --json               for programs: a line a recipe\n",
     sim_verb_compare, NULL},
    {"figures", "the papers' figures: curves by closed forms, and simulated points",
     "usage: sotto sim figures [options]\n\n"
     "Writes each figure as CSV and as SVG, and says how far simulated points are from their "
     "curves.\n"
     "Exits with 1 if one is farther than 5 %.\n\n"
     "  --out DIR            where files are written; here unless stated\n"
     "  --only NAMES         talwar-1, talwar-2, talwar-3, talwar-5, talwar-6, talwar-7, "
     "talwar-8,\n"
     "                       mcmillan-1 and balle-2, with commas between; all unless stated\n"
     "  --points K           simulated on each curve; 5 unless stated, and 0 for none\n"
     "  --devices N          of the figures of errors; 1000000 unless stated\n"
     "  --seed S             for all randomness; 1 unless stated\n"
     "  --json               for programs: a line a panel\n",
     NULL, sim_verb_figures},
    {"learn", "train a model on simulated devices: curves, and what it cost",
     "usage: sotto sim learn --data FILE [options]\n\n"
     "Devices take part by their own coin, train the model on their rows, and send updates as "
     "integers.\n"
     "The same seed gives the same model at any number of threads, and over ranks of MPI:\n"
     "  mpirun -n 2 sotto sim learn --data FILE\n"
     "Nothing leaves.\n\n"
     "  --data FILE          rows of many users, as `sotto learn data` writes them\n"
     "  --model NAME         logistic, mlp, lenet, cnn or gru; lenet unless stated\n"
     "  --algorithm NAME     fedavg, fedsgd or dp-ftrl; fedavg unless stated\n"
     "  --rounds N           100 unless stated; not with a schedule of slots\n"
     "  --cohort N           devices expected in a round, which sums are divided by; 50 unless "
     "stated\n"
     "  --min-cohort N       a round with fewer devices burns; 1 unless stated\n"
     "  --schedule NAME      poisson, or at most once a device: fix, avg, sldw, donation; poisson "
     "unless\n"
     "                       stated\n"
     "  --slots M            that a device draws from; rounds follow from it\n"
     "  --check-in P         chance of a device to check in at all, with fix; 3 a slot unless "
     "stated\n"
     "  --per-step B         slots of a step, where one device of a slot is used; 1 unless stated\n"
     "  --epochs N           of local training; 1 unless stated\n"
     "  --batch N            rows of a local step; 20 unless stated, and 0 for all\n"
     "  --rate R             of local training; 0.1 unless stated\n"
     "  --clip C             longest update; 1 unless stated\n"
     "  --noise Z            deviation of the noise on a sum, in longest updates; 0 unless stated\n"
     "  --epsilon E          in place of --noise: the least noise that keeps it\n"
     "  --delta D            of the claim; 1e-6 unless stated\n"
     "  --randomizer NAME    gaussian: noise on a sum; one-bit: a report is a randomized sign; "
     "gaussian\n"
     "                       unless stated\n"
     "  --local-epsilon E    of one-bit; or --epsilon, and the largest that keeps it is found\n"
     "  --restart N          rounds of a tree of dp-ftrl; 16 unless stated\n"
     "  --correlation C      of the noise of dp-ftrl: tree, or blt for a few buffers; tree unless "
     "stated\n"
     "  --separation N       rounds from one of a device to its next, with blt; as the cohort has "
     "it "
     "unless\n"
     "                       stated\n"
     "  --participations N   most rounds of a device, with blt\n"
     "  --weights W          equal, capped or count; equal unless stated\n"
     "  --cap N              rows from which on a device counts fully, with capped; 100 unless "
     "stated\n"
     "  --project N          projects each update to N numbers by a matrix of signs, another one "
     "in "
     "each round,\n"
     "                       and lifts sums by its transpose; not with dp-ftrl\n"
     "  --scale S            integers in one unit of an update; 16384 in a clip unless stated\n"
     "  --server NAME        sgd, momentum, adam or yogi; sgd unless stated\n"
     "  --server-rate R      1 unless stated\n"
     "  --decay D            of the server's rate in each round; 1 unless stated\n"
     "  --momentum M         of the server's steps but sgd's; 0.9 unless stated\n"
     "  --step-size LAW      theorem-3.5 with fix, theorem-4.2 or theorem-4.2-smooth with avg: for "
     "fedsgd\n"
     "                       of logistic, in place of --server-rate; the clip is the Lipschitz "
     "bound\n"
     "  --diameter R         of the ball that models stay in, with --step-size\n"
     "  --smooth B           of the loss, with theorem-4.2-smooth, whose result is the mean of "
     "models\n"
     "  --plain              updates are added up as they are: the default\n"
     "  --shares             each update is split, proved by PINE, verified, and added in shares\n"
     "  --evaluate N         rounds between points of the curves; 10 unless stated\n"
     "  --checkpoint FILE    kept after each round; where it is there, the run goes on from it\n"
     "  --export FILE        the model, as .npz or as safetensors\n"
     "  --out FILE           CSV of the curves, with epsilon\n"
     "  --svg FILE           accuracy as a curve\n"
     "  --seed S             for all randomness; 1 unless stated\n"
     "  --threads N          of each rank; as many as there are processors unless stated, or one "
     "with\n"
     "                       several ranks\n"
     "  --json               for programs\n"
     "  --quiet              no progress, no curve\n",
     NULL, sim_verb_learn},
};

enum { KEPT_BLOCKS = 16 << 20 }; /* bytes of memory that is kept for the next device */
enum { VERBS = sizeof verbs / sizeof verbs[0] };

static void print_help(FILE *out)
{
    (void)fprintf(out, "sotto sim - try a recipe on made-up devices\n\nusage: sotto sim VERB "
                       "[options]\n\n");
    for (size_t i = 0; i < VERBS; i++)
        (void)fprintf(out, "  %-10s %s\n", verbs[i].name, verbs[i].summary);
    (void)fprintf(
        out, "\n`sotto sim VERB --help` says more. Exits with 3 if the recipe or the policy has "
             "mistakes,\nwith 4 if it can't be simulated, with 5 if there are fewer reports "
             "than min_cohort.\n");
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
    if (v->run_own)
        return v->run_own(argc, argv);
    const int code = sim_options_read(&options, argc, argv);
    if (code != EXIT_DONE)
        return code;
    /* One lock for every allocation of SQLite would take as long as the devices themselves; and each device would have its arenas made
     * and zeroed anew. */
    sotto_alloc_keep_blocks(KEPT_BLOCKS);
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
