/* sotto sim sweep - one recipe over values of its parameters: how error and intervals change with them. */
#define _POSIX_C_SOURCE 200809L
#include "sim.h"

#include "base/arena.h"
#include "base/writer.h"
#include "recipe/splice.h"
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
    bool headed, ran;
} sweep;

/* ---- a parameter ------------------------------------------------------------------------------------------------ */

enum { DEEPEST = 16 };

static sotto_bytes kept(sim_job *job, const char *text)
{
    const size_t len = text ? strlen(text) : 0;
    uint8_t *copy = text ? sotto_arena_take(&job->arena, len + 1) : NULL;

    if (copy)
        memcpy(copy, text, len);
    return sotto_bytes_of(copy, copy ? len : 0);
}

static sotto_bytes quoted(sim_job *job, const char *text)
{
    json_t *string = json_string(text);
    char *dumped = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    const sotto_bytes out = kept(job, dumped);

    free(dumped);
    json_decref(string);
    return out;
}

/* The value as JSON, with the digits that were typed; a text that is none becomes a string. */
static sotto_bytes value_of(sim_job *job, const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    const sotto_bytes out = value ? kept(job, text) : quoted(job, text);

    json_decref(value);
    return out;
}

/* "key": value, behind the brace that opens this object. */
static sotto_bytes member_of(sim_job *job, const char *key, sotto_bytes value, sotto_bytes object)
{
    size_t at = 1;
    sotto_buf out;

    while (at < object.len && strchr(" \t\r\n", object.data[at]))
        at++;
    const bool empty = at < object.len && object.data[at] == '}';
    const sotto_bytes name = quoted(job, key);
    if (sotto_buf_take(&out, &job->arena, name.len + value.len + 8, NULL) != SOTTO_OK)
        return (sotto_bytes){0};
    sotto_writer w = sotto_writer_on(&out);
    sotto_write_bytes(&w, name);
    sotto_write_format(&w, ": ");
    sotto_write_bytes(&w, value);
    sotto_write_format(&w, "%s", empty ? "" : ", ");
    return sotto_buf_bytes(&out);
}

/* Sets a key such as privacy.epsilon; its last part may be new. All other bytes stay, and so does every line: a mistake is told where the file
 * has it. */
static bool set(sim_job *job, const char *path, const char *text)
{
    const sotto_bytes value = value_of(job, text);
    sotto_place places[DEEPEST] = {{0}};
    char copy[96], *part = copy, *dot;
    size_t last = 0;
    sotto_splice splice;
    sotto_span span = {0};

    (void)snprintf(copy, sizeof copy, "%s", path);
    for (; (dot = strchr(part, '.')) != NULL && last + 1 < DEEPEST; part = dot + 1, last++) {
        *dot = 0;
        places[last] = (sotto_place){last > 0 ? &places[last - 1] : NULL, part, 0};
    }
    places[last] = (sotto_place){last > 0 ? &places[last - 1] : NULL, part, 0};
    if (sotto_place_find(&places[last], job->recipe_text, &span))
        splice = (sotto_splice){span.value, span.end, value};
    else if (!sotto_place_find(places[last].up, job->recipe_text, &span) ||
             job->recipe_text.data[span.value] != '{')
        return false;
    else
        splice = (sotto_splice){
            span.value + 1, span.value + 1,
            member_of(job, part, value,
                      sotto_bytes_of(job->recipe_text.data + span.value, span.end - span.value))};
    return splice.comes.len > 0 && sotto_splice_text(&job->recipe_text, job->recipe_text, &splice,
                                                     1, &job->arena, NULL) == SOTTO_OK;
}

/* "privacy.sigma=9 devices=1000": the point at hand. */
static void name_point(char *out, size_t size, const sweep *s)
{
    size_t used = 0;

    for (size_t i = 0; i < s->options->varied_count && used < size; i++) {
        const sim_varied *v = &s->options->varied[i];
        const int len = snprintf(out + used, size - used, "%s%s=%s", i > 0 ? " " : "", v->path,
                                 v->values[s->at[i]]);

        used += len > 0 ? (size_t)len : 0;
    }
}

/* The recipe's text with this point's values. One that is no JSON stays as it is, and is refused as such. */
static bool edit(sim_job *job, const sweep *s)
{
    json_t *recipe = json_loadb((const char *)job->recipe_text.data, job->recipe_text.len,
                                JSON_REJECT_DUPLICATES, NULL);
    bool done = true;

    for (size_t i = 0; recipe && done && i < s->options->varied_count; i++) {
        const sim_varied *v = &s->options->varied[i];
        const char *value = v->values[s->at[i]];

        if (strcmp(v->path, "devices") == 0)
            job->devices = strtoull(value, NULL, 10);
        else
            done = set(job, v->path, value);
        if (!done)
            (void)fprintf(stderr, "sotto sim sweep: %s: the recipe has no such key\n", v->path);
    }
    if (recipe)
        name_point(job->edited, sizeof job->edited, s);
    json_decref(recipe);
    return done;
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
    char name[SIM_POINT];

    if (s->options->json) {
        point_json(s, sum, code);
        return;
    }
    name_point(name, sizeof name, s);
    printf("%s", name);
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

    job.warned = s->ran;
    s->ran = true;
    sim_score_init(&score);
    if (code == EXIT_DONE && !edit(&job, s))
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
    if (sotto_show_save(s->options->files.svg, SOTTO_VIEW_SVG, draw, &plot))
        return EXIT_DONE;
    (void)fprintf(stderr, "sotto sim: %s: %s\n", s->options->files.svg, strerror(errno));
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
    if (options->files.svg && code != EXIT_USAGE && code != EXIT_FAILED &&
        save_svg(&s) != EXIT_DONE)
        worst = EXIT_FAILED;
    return worst;
}
