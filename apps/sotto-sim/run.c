/* sotto sim run - one recipe, one file of rows: the answer, and the truth beside it. */
#include "sim.h"

#include "show.h"
#include "support/people_of.h"
#include "view/view.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 24, LABEL_COLUMNS = 40 };

/* ---- one run ---------------------------------------------------------------------------------------------------- */

typedef struct showing {
    sim_score *score;
    bool saved; /* files are of the first cohort */
} showing;

/* The view has no truth for figures. */
static void print_figures(const sotto_sim_outcome *o)
{
    for (size_t i = 0; i < o->line_count; i++) {
        const sotto_sim_line *l = &o->lines[i];

        if (l->figure)
            printf("  %-14s truth %.6g: %s\n", l->figure, l->truth,
                   l->truth >= l->low && l->truth <= l->high ? "within its interval"
                                                             : "missed by its interval");
    }
}

static sotto_status show_run(void *context, const sim_job *job, const sotto_sim_outcome *o,
                             sotto_arena *arena, sotto_err *err)
{
    showing *s = context;
    const sim_options *options = job->options;
    sotto_view view = sotto_show_view(SOTTO_VIEW_TEXT);
    const bool bins = o->result.count > 0;
    sotto_answer_view answer = {
        .recipe = job->trial.recipe, .result = &o->result, .receipt = &o->receipt};
    const sotto_answer_view collected = answer; /* what `sotto collect` writes has no truth in it */

    answer.check = bins ? &o->check : NULL;
    answer.truth = bins ? o->truth : NULL;
    view.most = SHOWN;
    if (options->repeat == 1 && !options->json) {
        printf("%" PRIu64 " devices simulated, seed %" PRIu64 "%s: %" PRIu64 " reported, %" PRIu64
               " were silent\n",
               job->simulated, options->seed, options->fast ? ", --fast" : "",
               o->collection.reports, o->silent);
        sotto_people_say_outside(job->trial.recipe, o->truth, o->without);
        printf("\n");
        SOTTO_TRY(sotto_view_answer(&view, &answer, arena, err));
        print_figures(o);
    }
    if (!s->saved)
        SOTTO_TRY(sotto_show_files(&options->files, &collected, 0, err));
    s->saved = true;
    return sim_score_add(s->score, job, o, arena, err);
}

/* ---- several runs ------------------------------------------------------------------------------------------------ */

typedef struct sorted_line {
    const sim_line_score *line;
} sorted_line;

static int by_truth(const void *a, const void *b)
{
    const sim_line_score *x = ((const sorted_line *)a)->line, *y = ((const sorted_line *)b)->line;
    const double m = x->truth / fmax((double)x->runs, 1), n = y->truth / fmax((double)y->runs, 1);

    if ((x->figure != NULL) != (y->figure != NULL))
        return x->figure ? -1 : 1;
    return x->figure ? (x > y) - (x < y) : m != n ? (m < n ? 1 : -1) : (x > y) - (x < y);
}

static void print_line(sotto_text *t, const sim_job *job, const sim_line_score *l)
{
    char memory[SOTTO_VIEW_LABEL];
    const double n = (double)l->runs;

    sotto_text_say(t, "  ");
    const size_t used = sotto_text_plain(t, sim_line_name(memory, sizeof memory, job, l));
    sotto_text_say(t, "%*s %12.6g %12.6g %10.4g %10.4g %6.1f%%\n",
                   used < LABEL_COLUMNS ? (int)(LABEL_COLUMNS - used) : 0, "", l->truth / n,
                   l->value / n, sqrt(l->squares / n), sqrt(l->variance / n),
                   100 * (double)l->held / n);
}

static int print_score(const sim_score *score, const sim_job *job)
{
    const size_t count = score->cohorts * score->per_cohort;
    const sim_summary sum = sim_score_sum(score);
    sorted_line *sorted =
        sotto_arena_take_array((sotto_arena *)(uintptr_t)&score->arena, count + 1, sizeof *sorted);
    sotto_text t = sotto_show_text(stdout);

    if (!sorted)
        return EXIT_FAILED;
    for (size_t i = 0; i < count; i++)
        sorted[i].line = &score->lines[i];
    qsort(sorted, count, sizeof *sorted, by_truth);
    printf("%" PRIu64 " runs of %" PRIu64 " devices, seed %" PRIu64 "%s: %.0f reports a run\n\n",
           job->options->repeat, job->simulated, job->options->seed,
           job->options->fast ? ", --fast" : "", sim_score_reports(score, job));
    sotto_text_say(&t, "  %-*s %12s %12s %10s %10s %7s\n", LABEL_COLUMNS, "", "truth", "estimate",
                   "error", "predicted", "held");
    for (size_t i = 0; i < count && i < SHOWN; i++)
        print_line(&t, job, sorted[i].line);
    if (count > SHOWN)
        sotto_text_say(&t, "  and %zu more; --out FILE has all of them\n", count - SHOWN);
    printf("\nerror %.4g (root mean square), predicted %.4g; %.1f%% of %" PRIu64
           " intervals hold the truth\n",
           sum.error, sum.predicted, 100 * sum.held, sum.intervals);
    return EXIT_DONE;
}

/* ---- for programs ------------------------------------------------------------------------------------------------ */

static int print_json(const sim_score *score, const sim_job *job)
{
    const sim_summary sum = sim_score_sum(score);
    char memory[SOTTO_VIEW_LABEL];
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_INDENTED);

    sotto_json_text(&j, "recipe", job->trial.recipe->name);
    sotto_json_uint(&j, "devices", job->simulated);
    sotto_json_uint(&j, "seed", job->options->seed);
    sotto_json_uint(&j, "runs", job->options->repeat);
    sotto_json_uint(&j, "runs_too_small", score->small);
    sotto_json_bool(&j, "fast", job->options->fast);
    sotto_json_uint(&j, "reports", score->reports);
    sotto_json_uint(&j, "rows_left_out", sotto_people_skipped(job->people));
    sotto_json_uint(&j, "reports_of_no_value", score->without);
    sotto_json_uint(&j, "reports_of_oov", score->unlisted);
    sotto_json_real(&j, "error", sum.error);
    sotto_json_real(&j, "predicted", sum.predicted);
    sotto_json_real(&j, "held", sum.held);
    sotto_json_uint(&j, "wrong", score->wrong);
    sotto_json_array(&j, "lines");
    for (size_t i = 0; i < score->cohorts * score->per_cohort; i++) {
        const sim_line_score *l = &score->lines[i];
        const double n = (double)l->runs;

        sotto_json_object(&j, NULL);
        sotto_json_uint(&j, "cohort", i / score->per_cohort);
        sotto_json_bytes(&j, "line", sim_line_name(memory, sizeof memory, job, l));
        sotto_json_real(&j, "truth", l->truth / n);
        sotto_json_real(&j, "estimate", l->value / n);
        sotto_json_real(&j, "error", sqrt(l->squares / n));
        sotto_json_real(&j, "predicted", sqrt(l->variance / n));
        sotto_json_real(&j, "half_width", l->half / n);
        sotto_json_real(&j, "held", (double)l->held / n);
        sotto_json_real(&j, "low", l->low);
        sotto_json_real(&j, "high", l->high);
        sotto_json_end(&j);
    }
    sotto_json_end(&j);
    return sotto_show_end(&j) ? EXIT_DONE : EXIT_FAILED;
}

static int save(const sim_score *score, const sim_job *job)
{
    const char *path = job->options->out;
    FILE *out = path ? fopen(path, "w") : NULL;

    if (!path)
        return EXIT_DONE;
    if (out) {
        sim_score_header(out, "");
        sim_score_write(out, "", score, job);
    }
    if (out && fclose(out) == 0)
        return EXIT_DONE;
    (void)fprintf(stderr, "sotto sim: %s: %s\n", path, strerror(errno));
    return EXIT_FAILED;
}

/* ------------------------------------------------------------------------------------------------------------------ */

static int run_all(sim_job *job, sim_score *score)
{
    showing s = {.score = score};
    int code = sim_score_run(score, job, "devices", show_run, &s);

    if (code != EXIT_DONE)
        return code;
    sotto_people_say_skipped(job->people);
    code = save(score, job);
    if (code == EXIT_DONE && job->options->json)
        code = print_json(score, job);
    else if (code == EXIT_DONE && job->options->repeat > 1)
        code = print_score(score, job);
    return code;
}

int sim_verb_run(const sim_options *options)
{
    sim_job job;
    sim_score score;
    int code = sim_job_load(&job, options, options->recipes[0]);

    sim_score_init(&score);
    if (code == EXIT_DONE)
        code = sim_job_open(&job);
    if (code == EXIT_DONE)
        code = run_all(&job, &score);
    sim_job_close(&job);
    sim_score_clear(&score);
    sim_job_end(&job);
    return code;
}
