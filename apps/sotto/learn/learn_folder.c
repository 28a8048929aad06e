/* sotto learn watch and sotto learn export: what a session's folder says, whether it runs or not. */
#define _POSIX_C_SOURCE 200809L
#include "learn_run.h"
#include "show.h"
#include "support/arguments.h"
#include "verbs.h"

#include "base/arena.h"
#include "base/file.h"
#include "learn/model_file.h"
#include "view/curve.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FILE = 1 << 20, LONGEST_MODEL = 256 << 20 };

typedef struct folder {
    const char *path, *to;
    bool json;
    sotto_arena arena;
    sotto_bytes status_text;
    json_t *status;
} folder;

static sotto_status read_in(folder *f, const char *name, uint64_t most, sotto_bytes *out,
                            sotto_err *err)
{
    char path[512];

    (void)snprintf(path, sizeof path, "%.300s/%s", f->path, name);
    return sotto_file_read(out, path, most, &f->arena, err);
}

static int open_folder(folder *f)
{
    sotto_err err = {0};

    sotto_arena_init(&f->arena, (size_t)1 << 30);
    if (access(f->path, F_OK) != 0) {
        (void)fprintf(stderr, "sotto learn: %s: there is no such folder\n", f->path);
        return EXIT_FAILED;
    }
    if (read_in(f, "status.json", MOST_FILE, &f->status_text, &err) != SOTTO_OK) {
        (void)fprintf(stderr, "sotto learn: %s: no round is closed in it yet: %s\n", f->path,
                      err.reason);
        return EXIT_FAILED;
    }
    f->status = json_loadb((const char *)f->status_text.data, f->status_text.len, 0, NULL);
    if (json_is_object(f->status))
        return EXIT_DONE;
    (void)fprintf(stderr, "sotto learn: %s/status.json is damaged\n", f->path);
    return EXIT_FAILED;
}

static void close_folder(folder *f)
{
    json_decref(f->status);
    sotto_arena_clear(&f->arena);
}

static long long whole(const folder *f, const char *name)
{
    return (long long)json_integer_value(json_object_get(f->status, name));
}

static double real(const folder *f, const char *name)
{
    return json_number_value(json_object_get(f->status, name));
}

static const char *text(const folder *f, const char *name)
{
    const char *value = json_string_value(json_object_get(f->status, name));

    return value ? value : "";
}

/* ---- watch --------------------------------------------------------------------------------------------------- */

typedef struct curve {
    sotto_curve_point points[LEARN_POINTS];
    size_t count;
} curve;

/* A line of the file: a round, its loss and its accuracy. */
static void take_line(const char *line, curve curves[2])
{
    char *end = NULL;
    const double x = strtod(line, &end);

    if (end == line) /* the names of the columns */
        return;
    for (size_t k = 0; k < 2 && *end == ','; k++) {
        const char *from = end + 1;
        const double y = strtod(from, &end);

        if (end > from && curves[k].count < LEARN_POINTS) /* else nobody could tell */
            curves[k].points[curves[k].count++] =
                (sotto_curve_point){.x = x, .low = y, .high = y, .answered = true};
    }
}

static void draw_curves(folder *f)
{
    static curve curves[2];
    const sotto_view view = sotto_show_view(SOTTO_VIEW_TEXT);
    sotto_bytes csv;
    char *line, *rest = NULL, *copy;

    if (read_in(f, "curve.csv", MOST_FILE, &csv, NULL) != SOTTO_OK)
        return;
    copy = sotto_arena_take(&f->arena, csv.len + 1);
    if (!copy)
        return;
    memcpy(copy, csv.data, csv.len);
    for (line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        take_line(line, curves);
    for (size_t k = 0; k < 2; k++) {
        const sotto_curve_plot plot = {.x_name = "round",
                                       .y_name = k ? "accuracy" : "loss",
                                       .title = text(f, "recipe"),
                                       .others = text(f, "model_type"),
                                       .points = curves[k].points,
                                       .count = curves[k].count};

        if (plot.count > 1 && sotto_view_curve(&view, &plot, NULL) == SOTTO_OK)
            printf("\n");
    }
}

static int read_folder(folder *f, const char *verb, int argc, char **argv)
{
    const sotto_argument words[] = {{.name = "DIR", .text = &f->path, .needed = true},
                                    {.name = "--json", .flag = &f->json},
                                    {.name = "--to", .text = &f->to, .needed = true}};
    const bool exports = strcmp(argv[0], "export") == 0;

    return sotto_arguments_read(verb, words, exports ? 3 : 2, argc, argv);
}

static int watch_main(int argc, char **argv)
{
    folder f = {0};
    int code = read_folder(&f, "learn watch", argc, argv);

    if (code != EXIT_DONE)
        return code;
    code = open_folder(&f);
    if (code == EXIT_DONE && f.json) {
        (void)fwrite(f.status_text.data, 1, f.status_text.len, stdout);
    } else if (code == EXIT_DONE) {
        draw_curves(&f);
        printf("%s: %lld of %lld rounds, %lld of them burnt, ", text(&f, "recipe"),
               whole(&f, "rounds"), whole(&f, "rounds_planned"), whole(&f, "burnt"));
        if (json_object_get(f.status, "reports"))
            printf("%lld reports\n", whole(&f, "reports"));
        else
            puts("reports that are not counted in public");
        if (json_is_number(json_object_get(f.status, "loss")))
            printf("loss %.4f, accuracy %.2f%%\n", real(&f, "loss"), 100 * real(&f, "accuracy"));
        printf("model %s\n", text(&f, "model"));
    }
    close_folder(&f);
    return code;
}

const sotto_verb sotto_verb_learn_watch = {
    .name = "watch",
    .summary = "show how far a session is",
    .usage = "usage: sotto learn watch DIR [--json]\n\n"
             "Shows rounds, loss and accuracy of a session's folder, whether it runs or not.\n\n"
             "  --json  print its status as one JSON object, with the receipt's numbers\n",
    .run = watch_main,
};

/* ---- export ---------------------------------------------------------------------------------------------------- */

static sotto_status model_of(const folder *f, sotto_model *out, sotto_err *err)
{
    const sotto_learning like = {.model = text(f, "model_type"), .parameters = 0};
    const sotto_dataset data = {.kind = json_is_true(json_object_get(f->status, "symbols"))
                                            ? SOTTO_DATASET_SYMBOLS
                                            : SOTTO_DATASET_BYTES,
                                .classes = (size_t)whole(f, "classes"),
                                .height = (size_t)whole(f, "height"),
                                .width = (size_t)whole(f, "width")};

    return learn_model_of(out, &like, &data, err);
}

static sotto_status export_model(folder *f, sotto_err *err)
{
    const size_t len = strlen(f->to);
    const bool as_npz = len > 4 && strcmp(f->to + len - 4, ".npz") == 0;
    char name[80];
    sotto_model model;
    sotto_bytes file;
    float *weights;
    sotto_buf npz;

    (void)snprintf(name, sizeof name, "models/%.64s", text(f, "model"));
    SOTTO_TRY(read_in(f, name, LONGEST_MODEL, &file, err));
    if (!as_npz)
        return sotto_file_write(f->to, file, NULL, NULL, err);
    if (learn_own_is(text(f, "model_type")))
        return sotto_fail(err, SOTTO_DENIED,
                          "--to: npz is for models that sotto has; this one is safetensors");
    SOTTO_TRY(model_of(f, &model, err));
    weights = sotto_arena_take_array(&f->arena, model.parameters, sizeof *weights);
    if (!weights)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a model");
    SOTTO_TRY(sotto_safetensors_decode(&model, weights, file, err));
    SOTTO_TRY(sotto_buf_take(&npz, &f->arena, sotto_model_file_size(&model), err));
    SOTTO_TRY(sotto_npz_encode(&model, weights, &npz, err));
    return sotto_file_write(f->to, sotto_buf_bytes(&npz), NULL, NULL, err);
}

static int export_main(int argc, char **argv)
{
    folder f = {0};
    sotto_err err = {0};
    int code = read_folder(&f, "learn export", argc, argv);

    if (code != EXIT_DONE)
        return code;
    code = open_folder(&f);
    if (code == EXIT_DONE && export_model(&f, &err) != SOTTO_OK) {
        (void)fprintf(stderr, "sotto learn export: %s\n", err.reason);
        code = sotto_exit_code(err.status, SOTTO_AT_DATA);
    }
    if (code == EXIT_DONE && f.json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);

        sotto_json_text(&j, "file", f.to);
        sotto_json_text(&j, "model", text(&f, "model"));
        sotto_json_int(&j, "rounds", whole(&f, "rounds"));
        code = sotto_show_end(&j) ? EXIT_DONE : EXIT_FAILED;
    } else if (code == EXIT_DONE) {
        printf("%s: the model after %lld rounds\n", f.to, whole(&f, "rounds"));
    }
    close_folder(&f);
    return code;
}

const sotto_verb sotto_verb_learn_export = {
    .name = "export",
    .summary = "write a session's model to a file",
    .usage = "usage: sotto learn export DIR --to FILE [--json]\n\n"
             "Writes the model after the last closed round: NumPy's npz where FILE ends so, else\n"
             "safetensors, with PyTorch's names and shapes.\n\n"
             "  --to FILE  the file to write\n"
             "  --json     print one JSON object\n",
    .run = export_main,
};
