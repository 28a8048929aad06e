/* sotto sim sweep - one recipe over values of its parameters: how error and intervals change with them. */
#define _POSIX_C_SOURCE 200809L
#include "sim.h"

#include "show.h"
#include "view/curve.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = SIM_VALUES * SIM_VALUES };

typedef struct sweep {
    const sim_options *options;
    FILE *out;
    size_t at[SIM_VARIED]; /* which value of each parameter */
    sotto_curve_point points[SIM_VALUES];
    size_t point_count;
    bool headed;
} sweep;

/* ---- a parameter ------------------------------------------------------------------------------------------------ */

/* Sets a key such as privacy.epsilon; its last part may be new. */
static bool set(json_t *recipe, const char *path, const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL), *in = recipe;
    char copy[96], *part = copy, *dot;

    if (!value)
        value = json_string(text);
    (void)snprintf(copy, sizeof copy, "%s", path);
    while (in && (dot = strchr(part, '.')) != NULL) {
        *dot = 0;
        in = json_object_get(in, part);
        part = dot + 1;
    }
    return json_is_object(in) ? json_object_set_new(in, part, value) == 0
                              : (json_decref(value), false);
}

/* The recipe's text with this point's values. */
static bool edit(sim_job *job, const sweep *s, sotto_bytes original)
{
    json_t *recipe = json_loadb((const char *)original.data, original.len, 0, NULL);
    bool done = recipe != NULL;

    for (size_t i = 0; done && i < s->options->varied_count; i++) {
        const sim_varied *v = &s->options->varied[i];
        const char *value = v->values[s->at[i]];

        if (strcmp(v->path, "devices") == 0)
            job->devices = strtoull(value, NULL, 10);
        else
            done = set(recipe, v->path, value);
        if (!done)
            (void)fprintf(stderr, "sotto sim sweep: %s: the recipe has no such key\n", v->path);
    }
    char *text = done ? json_dumps(recipe, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(recipe);
    const size_t len = text ? strlen(text) : 0;
    uint8_t *copy = text ? sotto_arena_take(&job->arena, len + 1) : NULL;
    if (copy)
        memcpy(copy, text, len);
    free(text);
    job->recipe_text = sotto_bytes_of(copy, len);
    return copy != NULL;
}

/* ---- one point ---------------------------------------------------------------------------------------------------- */

static void write_point(sweep *s, const sim_job *job, const sim_score *score)
{
    char before[3 * 64 + 4] = "", header[3 * 96 + 4] = "";

    for (size_t i = 0; i < s->options->varied_count; i++) {
        const sim_varied *v = &s->options->varied[i];
        size_t used = strlen(before);

        (void)snprintf(before + used, sizeof before - used, "%s,", v->values[s->at[i]]);
        used = strlen(header);
        (void)snprintf(header + used, sizeof header - used, "%s,", v->path);
    }
    if (!s->headed)
        sim_score_header(s->out, header);
    s->headed = true;
    sim_score_write(s->out, before, score, job);
}

static void add_point(sweep *s, const sim_summary *sum, bool answered)
{
    const sim_varied *v = &s->options->varied[0];
    char *end = NULL;
    const double x = strtod(v->values[s->at[0]], &end);

    if (s->options->varied_count == 1)
        s->points[s->point_count++] = (sotto_curve_point){
            end && *end == 0 ? x : (double)s->at[0] + 1, sum->error, sum->error, answered};
}

static void point_json(const sweep *s, const sim_summary *sum, int code)
{
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

    for (size_t i = 0; i < s->options->varied_count; i++)
        sotto_json_text(&j, s->options->varied[i].path, s->options->varied[i].values[s->at[i]]);
    if (code == EXIT_DONE)
        sim_summary_members(&j, sum);
    else
        sotto_json_int(&j, "exit_code", code);
    (void)sotto_show_end(&j);
}

static void print_point(const sweep *s, const sim_summary *sum, int code)
{
    if (s->options->json) {
        point_json(s, sum, code);
        return;
    }
    for (size_t i = 0; i < s->options->varied_count; i++)
        printf("%s%s=%s", i ? " " : "", s->options->varied[i].path,
               s->options->varied[i].values[s->at[i]]);
    if (code == EXIT_DONE)
        printf(": error %.4g, predicted %.4g, half-width %.4g, %.1f%% held\n", sum->error,
               sum->predicted, sum->half, 100 * sum->held);
    else
        printf(": no answer (exit code %d)\n", code);
}

/* A point that is refused is said, and the others go on. */
static int run_point(sweep *s, const char *what)
{
    sim_summary sum = {0};
    sim_score score;
    sim_job job;
    int code = sim_job_load(&job, s->options, s->options->recipes[0]);

    sim_score_init(&score);
    if (code == EXIT_DONE && !edit(&job, s, job.recipe_text))
        code = EXIT_USAGE;
    if (code == EXIT_DONE)
        code = sim_job_open(&job);
    if (code == EXIT_DONE)
        code = sim_score_run(&score, &job, what, sim_score_add, &score);
    if (code == EXIT_DONE) {
        sum = sim_score_sum(&score);
        if (s->out)
            write_point(s, &job, &score);
    }
    add_point(s, &sum, code == EXIT_DONE);
    print_point(s, &sum, code);
    sim_job_close(&job);
    sim_score_clear(&score);
    sim_job_end(&job);
    return code;
}

/* ---- all of them -------------------------------------------------------------------------------------------------- */

static bool next(sweep *s)
{
    for (size_t i = s->options->varied_count; i-- > 0; s->at[i] = 0)
        if (++s->at[i] < s->options->varied[i].count)
            return true;
    return false;
}

static sotto_status draw(const sotto_view *view, const void *thing, sotto_err *err)
{
    return sotto_view_curve(view, thing, err);
}

static int save_svg(const sweep *s)
{
    double low = INFINITY, high = 0;

    for (size_t i = 0; i < s->point_count; i++) {
        low = fmin(low, s->points[i].x);
        high = fmax(high, s->points[i].x);
    }
    const sotto_curve_plot plot = {.x_name = s->options->varied[0].path,
                                   .y_name = "error",
                                   .title = "root mean square error of an answer",
                                   .others = s->options->recipes[0],
                                   .log_x = low > 0 && high / low >= 20,
                                   .points = s->points,
                                   .count = s->point_count};
    if (sotto_show_save(s->options->svg, SOTTO_VIEW_SVG, draw, &plot))
        return EXIT_DONE;
    (void)fprintf(stderr, "sotto sim: %s: %s\n", s->options->svg, strerror(errno));
    return EXIT_FAILED;
}

int sim_verb_sweep(const sim_options *options)
{
    sweep s = {.options = options};
    int code, worst = EXIT_DONE;

    if (options->out && !(s.out = fopen(options->out, "w"))) {
        (void)fprintf(stderr, "sotto sim: %s: %s\n", options->out, strerror(errno));
        return EXIT_FAILED;
    }
    do {
        code = run_point(&s, options->varied[0].values[s.at[0]]);
        worst = worst == EXIT_DONE ? code : worst;
    } while (code != EXIT_USAGE && code != EXIT_FAILED && next(&s));
    if (s.out && fclose(s.out) != 0 && worst == EXIT_DONE)
        worst = EXIT_FAILED;
    if (options->svg && code != EXIT_USAGE && code != EXIT_FAILED && save_svg(&s) != EXIT_DONE)
        worst = EXIT_FAILED;
    return worst;
}
