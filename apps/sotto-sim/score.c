#include "sim.h"

#include "show.h"
#include "support/people_of.h"
#include "view/view.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void sim_score_init(sim_score *score)
{
    *score = (sim_score){0};
    sotto_arena_init(&score->arena, (size_t)512 << 20);
}

void sim_score_clear(sim_score *score)
{
    sotto_arena_clear(&score->arena);
}

static void add_line(sim_line_score *to, const sotto_sim_line *line)
{
    const double off = line->value - line->truth;

    to->figure = line->figure;
    to->bin = line->bin;
    to->runs++;
    to->held += line->truth >= line->low && line->truth <= line->high;
    to->truth += line->truth;
    to->value += line->value;
    to->squares += off * off;
    to->variance += line->deviation * line->deviation;
    to->half += (line->high - line->low) / 2;
    to->low = line->low;
    to->high = line->high;
}

sotto_status sim_score_add(void *context, const sim_job *job, const sotto_sim_outcome *outcome,
                           sotto_arena *arena, sotto_err *err)
{
    sim_score *score = context;

    (void)arena;
    if (!score->lines) {
        score->cohorts = job->trial.cohorts;
        score->per_cohort = outcome->line_count;
        score->lines = sotto_arena_take_array(&score->arena, score->cohorts * score->per_cohort,
                                              sizeof *score->lines);
        if (!score->lines)
            return sotto_fail(err, SOTTO_NO_MEMORY, "the answers of %zu cohorts", score->cohorts);
    }
    sim_line_score *lines = &score->lines[outcome->task->cohort * score->per_cohort];
    for (size_t i = 0; i < outcome->line_count; i++)
        add_line(&lines[i], &outcome->lines[i]);
    score->reports += outcome->collection.reports;
    score->without += outcome->without;
    score->unlisted += sotto_people_unlisted(job->trial.recipe, outcome->truth);
    score->outcomes++;
    score->wrong += outcome->check.wrong;
    return SOTTO_OK;
}

double sim_score_reports(const sim_score *score, const sim_job *job)
{
    return (double)score->reports / (double)(job->options->repeat - score->small);
}

int sim_score_run(sim_score *score, sim_job *job, const char *what, sim_outcome_fn *show,
                  void *context)
{
    const uint64_t repeat = job->options->repeat;
    sotto_err err = {0};

    for (uint64_t i = 0; i < repeat; i++) {
        char name[64] = "";

        (void)snprintf(name, sizeof name, repeat > 1 ? "%.30s, run %" PRIu64 : "%.30s", what,
                       i + 1);
        const sotto_status status = sim_run(job, i, name, show, context, &err);

        err.status = status;
        if (sim_is_small(&err) && score->small + 1 < repeat)
            score->small++, err = (sotto_err){0};
        else if (status != SOTTO_OK)
            return sim_complain(job, &err);
    }
    if (score->small > 0)
        (void)fprintf(stderr,
                      "%" PRIu64 " of %" PRIu64 " runs had fewer reports than the recipe's "
                      "min_cohort, and are left out\n",
                      score->small, repeat);
    return EXIT_DONE;
}

sim_summary sim_score_sum(const sim_score *score)
{
    const size_t count = score->cohorts * score->per_cohort;
    const bool figures = count > 0 && score->lines[0].figure;
    double n = 0, held = 0, squares = 0, variance = 0, half = 0;

    for (size_t i = 0; i < count; i++) {
        const sim_line_score *l = &score->lines[i];

        if ((l->figure != NULL) != figures)
            continue;
        n += (double)l->runs;
        held += (double)l->held;
        squares += l->squares;
        variance += l->variance;
        half += l->half;
    }
    n = fmax(n, 1);
    return (sim_summary){sqrt(squares / n), sqrt(variance / n), half / n, held / n, (uint64_t)n};
}

void sim_summary_members(sotto_json *j, const sim_summary *sum)
{
    sotto_json_real(j, "error", sum->error);
    sotto_json_real(j, "predicted", sum->predicted);
    sotto_json_real(j, "half_width", sum->half);
    sotto_json_real(j, "held", sum->held);
}

sotto_bytes sim_line_name(char *memory, size_t size, const sim_job *job, const sim_line_score *line)
{
    sotto_buf label = sotto_buf_over((uint8_t *)memory, size);

    if (line->figure)
        return sotto_bytes_of(line->figure, strlen(line->figure));
    if (sotto_recipe_label(job->trial.recipe, &label, line->bin, NULL) == SOTTO_OK)
        return sotto_buf_bytes(&label);
    (void)snprintf(memory, size, "bin %" PRIu64, line->bin);
    return sotto_bytes_of(memory, strlen(memory));
}

void sim_score_header(FILE *out, const char *before)
{
    (void)fprintf(out,
                  "%scohort,line,truth,estimate,error,predicted,half_width,held,runs,low,high\n",
                  before);
}

static void say_number(sotto_text *t, double x)
{
    char text[SOTTO_NUMBER_TEXT];

    sotto_number_format(text, x);
    sotto_text_say(t, ",%s", text);
}

void sim_score_write(FILE *out, const char *before, const sim_score *score, const sim_job *job)
{
    char memory[SOTTO_VIEW_LABEL];
    sotto_text t = sotto_show_text(out);

    for (size_t i = 0; i < score->cohorts * score->per_cohort; i++) {
        const sim_line_score *l = &score->lines[i];
        const double n = (double)l->runs;

        if (l->runs == 0)
            continue;
        sotto_text_put(&t, sotto_bytes_of(before, strlen(before)));
        sotto_text_say(&t, "%zu,", i / score->per_cohort);
        sotto_text_csv(&t, sim_line_name(memory, sizeof memory, job, l));
        say_number(&t, l->truth / n);
        say_number(&t, l->value / n);
        say_number(&t, sqrt(l->squares / n));
        say_number(&t, sqrt(l->variance / n));
        say_number(&t, l->half / n);
        say_number(&t, (double)l->held / n);
        sotto_text_say(&t, ",%" PRIu64, l->runs);
        say_number(&t, l->low);
        say_number(&t, l->high);
        sotto_text_say(&t, "\n");
    }
}
