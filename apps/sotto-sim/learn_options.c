#define _POSIX_C_SOURCE 200809L
#include "learn.h"

#include "support/arguments.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool complain(const char *name, const char *what)
{
    (void)sotto_arguments_misused("sim learn", name, what);
    return false;
}

/* The place of a word in a list that ends with NULL, from 1 on; 0: it is not there. */
static unsigned place_of(const char *word, const char *const *words)
{
    for (unsigned i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return i + 1;
    return 0;
}

static bool read_words(learn_options *o)
{
    static const char *const algorithms[] = {"fedavg", "fedsgd", "dp-ftrl", NULL};
    static const char *const weights[] = {"equal", "capped", "count", NULL};
    static const char *const servers[] = {"sgd", "momentum", "adam", "yogi", NULL};
    static const char *const schedules[] = {"fix", "avg", "sldw", "donation", "poisson", NULL};
    static const char *const randomizers[] = {"gaussian", "one-bit", NULL};
    static const char *const correlations[] = {"tree", "blt", NULL};
    static const char *const sizes[] = {"theorem-3.5", "theorem-4.2", "theorem-4.2-smooth", NULL};
    const unsigned schedule = place_of(o->schedule_name, schedules),
                   randomizer = place_of(o->randomizer_name, randomizers);

    o->schedule = (sotto_schedule_law)(schedule <= SOTTO_SCHEDULE_DONATION ? schedule : 0);
    o->one_bit = randomizer == 2;
    o->step_size = (sotto_rate_law)(o->step_size_name ? place_of(o->step_size_name, sizes) : 0);
    if (!schedule)
        return complain("--schedule", "poisson, fix, avg, sldw or donation");
    if (!randomizer)
        return complain("--randomizer", "gaussian or one-bit");
    if (o->step_size_name && !o->step_size)
        return complain("--step-size", "theorem-3.5, theorem-4.2 or theorem-4.2-smooth");
    o->algorithm = (learn_algorithm)place_of(o->algorithm_name, algorithms);
    o->weights = (sotto_update_weights)place_of(o->weights_name, weights);
    o->step.optimizer = (sotto_optimizer)place_of(o->server_name, servers);
    if (!o->algorithm)
        return complain("--algorithm", "fedavg, fedsgd or dp-ftrl");
    if (!place_of(o->correlation_name, correlations))
        return complain("--correlation", "tree or blt");
    o->blt = place_of(o->correlation_name, correlations) == 2;
    if (!o->weights)
        return complain("--weights", "equal, capped or count");
    if (!o->step.optimizer)
        return complain("--server", "sgd, momentum, adam or yogi");
    return true;
}

static bool check_step_size(const learn_options *o)
{
    if (!o->step_size)
        return true;
    if (o->algorithm != LEARN_FEDSGD || strcmp(o->model, "logistic") != 0)
        return complain("--step-size", "its theorems are for gradients of a convex loss: take "
                                       "--algorithm fedsgd and --model logistic");
    if (o->schedule != (o->step_size == SOTTO_RATE_FIX ? SOTTO_SCHEDULE_FIX : SOTTO_SCHEDULE_AVG))
        return complain("--step-size", "theorem-3.5 goes with --schedule fix, 4.2 with avg");
    if (o->step.optimizer != SOTTO_OPTIMIZER_SGD)
        return complain("--step-size", "it goes with --server sgd");
    if (o->diameter <= 0 || (o->step_size == SOTTO_RATE_AVG_SMOOTH && o->smooth <= 0))
        return complain("--step-size", "it needs --diameter, and theorem-4.2-smooth --smooth too");
    if (o->checkpoint && o->step_size == SOTTO_RATE_AVG_SMOOTH)
        return complain("--checkpoint", "it does not keep the mean of all models");
    return true;
}

static bool check_schedule(const learn_options *o)
{
    if (o->local_epsilon > 0 && !o->one_bit)
        return complain("--local-epsilon", "it goes with --randomizer one-bit");
    if (!o->schedule) {
        if (o->one_bit || o->slots || o->check_in > 0)
            return complain("--schedule", "one-bit, slots and check-ins go with fix, avg, sldw or "
                                          "donation");
        return true;
    }
    if (o->rounds)
        return complain("--rounds", "they follow from --slots");
    if (!o->slots)
        return complain("--slots", "a schedule needs it");
    if (o->algorithm == LEARN_FTRL || o->weights != SOTTO_WEIGHTS_EQUAL || o->min_cohort > 1)
        return complain("--schedule", "it goes with --weights equal, and without dp-ftrl and "
                                      "--min-cohort");
    if (o->check_in > 0 && o->schedule != SOTTO_SCHEDULE_FIX)
        return complain("--check-in", "it goes with --schedule fix: elsewhere everybody checks in");
    if (o->per_step > 1 && o->schedule != SOTTO_SCHEDULE_FIX && !o->one_bit)
        return complain("--per-step", "a slot with all its devices is a step");
    if (o->one_bit && (o->noise > 0 || o->shares))
        return complain("--randomizer", "one-bit goes without --noise and --shares");
    if (o->one_bit && o->local_epsilon <= 0 && o->epsilon <= 0)
        return complain("--randomizer", "one-bit goes with --local-epsilon or --epsilon");
    return true;
}

static bool check(learn_options *o)
{
    if (!o->data)
        return complain("--data", "it is needed; `sotto learn data` writes such a file");
    if (!read_words(o))
        return false;
    if (o->plain && o->shares)
        return complain("--plain", "it goes without --shares");
    if (o->shares && o->weights == SOTTO_WEIGHTS_COUNT)
        return complain("--shares", "no norm is proved with --weights count");
    if (o->algorithm == LEARN_FTRL && o->noise <= 0 && o->epsilon <= 0)
        return complain("--noise", "dp-ftrl needs it");
    if ((o->blt && o->algorithm != LEARN_FTRL) || ((o->separation || o->participations) && !o->blt))
        return complain("--correlation", "blt goes with dp-ftrl, and --separation and "
                                         "--participations with blt");
    if (o->blt && o->rounds > SOTTO_BLT_ROUNDS)
        return complain("--rounds", "at most 16384 with --correlation blt");
    if (o->epsilon > 0 && (o->noise > 0 || o->local_epsilon > 0 || o->min_cohort > 1))
        return complain("--epsilon", "it goes without --noise, --local-epsilon and --min-cohort");
    if (o->project > 0 && (o->algorithm == LEARN_FTRL || o->one_bit || o->step_size))
        return complain("--project", "it goes without dp-ftrl, whose noise would not cancel over "
                                     "matrices, one-bit and --step-size");
    if (!check_schedule(o) || !check_step_size(o))
        return false;
    if (!o->schedule && !o->rounds)
        o->rounds = 100;
    if (o->step_size)
        o->rate = 1; /* an update is a gradient, and its clip the Lipschitz bound */
    if (o->algorithm == LEARN_FEDSGD) { /* one step along the gradient of all rows */
        o->epochs = 1;
        o->batch = 0;
    }
    return true;
}

static void set_defaults(learn_options *o, const sotto_ranks *ranks)
{
    /* A launcher gives each rank a core of its own. */
    const long cores = ranks->count > 1 ? 1 : sysconf(_SC_NPROCESSORS_ONLN);

    *o = (learn_options){.model = "lenet",
                         .algorithm_name = "fedavg",
                         .weights_name = "equal",
                         .server_name = "sgd",
                         .schedule_name = "poisson",
                         .correlation_name = "tree",
                         .randomizer_name = "gaussian",
                         .per_step = 1,
                         .rounds = 0, /* 100, or by the schedule */
                         .cohort = 50,
                         .min_cohort = 1,
                         .epochs = 1,
                         .batch = 20,
                         .rate = 0.1,
                         .clip = 1,
                         .delta = 1e-6,
                         .scale = 0, /* chosen by the clip */
                         .cap = 100,
                         .restart = 16,
                         .evaluate = 10,
                         .seed = 1};
    o->step = (sotto_step_config){SOTTO_OPTIMIZER_SGD, 1, 1, 0.9, 0.99, 1e-3};
    o->threads = cores < 1 ? 1 : cores > 16 ? 16 : (uint64_t)cores;
}

int learn_options_read(learn_options *o, const sotto_ranks *ranks, int argc, char **argv)
{
    const double million = 1000000;
    const sotto_argument options[] = {
        {.name = "--data", .text = &o->data},
        {.name = "--model", .text = &o->model},
        {.name = "--algorithm", .text = &o->algorithm_name},
        {.name = "--weights", .text = &o->weights_name},
        {.name = "--server", .text = &o->server_name},
        {.name = "--correlation", .text = &o->correlation_name},
        {.name = "--separation", .whole = &o->separation, .least = 1, .most = million},
        {.name = "--participations", .whole = &o->participations, .least = 1, .most = million},
        {.name = "--schedule", .text = &o->schedule_name},
        {.name = "--randomizer", .text = &o->randomizer_name},
        {.name = "--step-size", .text = &o->step_size_name},
        {.name = "--slots", .whole = &o->slots, .least = 1, .most = million},
        {.name = "--per-step", .whole = &o->per_step, .least = 1, .most = million},
        {.name = "--check-in", .real = &o->check_in, .least = 1e-9, .most = 1},
        {.name = "--epsilon", .real = &o->epsilon, .least = 1e-6, .most = 100},
        {.name = "--local-epsilon", .real = &o->local_epsilon, .least = 0.01, .most = 12},
        {.name = "--diameter", .real = &o->diameter, .least = 1e-6, .most = million},
        {.name = "--smooth", .real = &o->smooth, .least = 1e-9, .most = 1e9},
        {.name = "--out", .text = &o->out},
        {.name = "--svg", .text = &o->svg},
        {.name = "--checkpoint", .text = &o->checkpoint},
        {.name = "--export", .text = &o->export_to},
        {.name = "--rounds", .whole = &o->rounds, .least = 1, .most = million},
        {.name = "--cohort", .whole = &o->cohort, .least = 1, .most = 100 * million},
        {.name = "--min-cohort", .whole = &o->min_cohort, .least = 1, .most = 100 * million},
        {.name = "--epochs", .whole = &o->epochs, .least = 1, .most = 1000},
        {.name = "--batch", .whole = &o->batch, .least = 0, .most = million},
        {.name = "--rate", .real = &o->rate, .least = 1e-9, .most = 1000},
        {.name = "--clip", .real = &o->clip, .least = 1e-6, .most = million},
        {.name = "--noise", .real = &o->noise, .least = 0, .most = 1000},
        {.name = "--delta", .real = &o->delta, .least = 1e-30, .most = 0.5},
        {.name = "--scale", .real = &o->scale, .least = 1e-6, .most = 1e12},
        {.name = "--project", .whole = &o->project, .least = 1, .most = 0x1p24 - 1},
        {.name = "--cap", .whole = &o->cap, .least = 1, .most = million},
        {.name = "--server-rate", .real = &o->step.rate, .least = 1e-9, .most = million},
        {.name = "--decay", .real = &o->step.decay, .least = 1e-3, .most = 1},
        {.name = "--momentum", .real = &o->step.momentum, .least = 0, .most = 0.9999},
        {.name = "--restart", .whole = &o->restart, .least = 1, .most = million},
        {.name = "--evaluate", .whole = &o->evaluate, .least = 1, .most = million},
        {.name = "--seed", .whole = &o->seed, .least = 0, .most = 0x1p63},
        {.name = "--threads", .whole = &o->threads, .least = 1, .most = LEARN_THREADS},
        {.name = "--plain", .flag = &o->plain},
        {.name = "--shares", .flag = &o->shares},
        {.name = "--json", .flag = &o->json},
        {.name = "--quiet", .flag = &o->quiet}};

    set_defaults(o, ranks);
    const int code =
        sotto_arguments_read("sim learn", options, sizeof options / sizeof options[0], argc, argv);

    if (code != EXIT_DONE || !check(o))
        return EXIT_USAGE;
    o->quiet = o->quiet || ranks->rank > 0;
    return EXIT_DONE;
}
