/* sotto analysis drill - the next question: about one bin, one quantile, or as a recipe of your own has it. */
#include "analysis.h"

#include "base/arena.h"
#include "recipe/refine.h"
#include "study/drill.h"
#include "view/text.h"

#include <inttypes.h>
#include <string.h>

enum { LABEL = 4096 };

/* A bin of listed values has nothing to divide. The finer question is then about another column of the same devices. */
static int nothing_finer(const analysis_job *job, const sotto_recipe *last, uint64_t bin,
                         const char *why)
{
    static uint8_t memory[LABEL];
    sotto_buf where = sotto_buf_over(memory, sizeof memory);
    const int code = analysis_misused(job->o, job->o->by ? "--by" : "--bin", why);
    sotto_text t = sotto_show_text(stderr);

    if (sotto_study_where(&where, last, bin, NULL) != SOTTO_OK)
        return code;
    if (!job->o->by && sotto_study_asks_by(last))
        sotto_text_say(&t, "sotto analysis drill: --by COLUMN --values A,B,... asks for another "
                           "column of the same rows\n");
    sotto_text_say(&t, "sotto analysis drill: --recipe FILE asks a recipe of your own; one that "
                       "asks for another column has in its query: WHERE ");
    (void)sotto_text_plain(&t, sotto_buf_bytes(&where));
    sotto_text_say(&t, "\n");
    return code;
}

static int next_of_bin(analysis_job *job, const sotto_recipe *last, sotto_bytes *text)
{
    const analysis_options *o = job->o;
    char name[SOTTO_REFINE_NAME + 16];
    sotto_study_next next = {.name = name};
    uint64_t bin, parts = 10;
    sotto_err err = {0};

    if (o->parts && !analysis_number(o, &parts, "--parts", o->parts, 2, 1000))
        return EXIT_USAGE;
    if (last->statistic != SOTTO_STATISTIC_HISTOGRAM)
        return analysis_misused(o, "--bin",
                                last->statistic == SOTTO_STATISTIC_QUANTILES
                                    ? "the last step asks for quantiles: --quantile T goes on"
                                    : "the last step has no bins: --recipe FILE goes on");
    err.status = sotto_study_bin_called(&bin, last, sotto_bytes_of(o->bin, strlen(o->bin)), &err);
    if (err.status != SOTTO_OK)
        return analysis_misused(o, "--bin",
                                err.status == SOTTO_DENIED
                                    ? err.reason
                                    : "the last step has no bin with this label; `sotto analysis "
                                      "result` prints the labels");
    (void)snprintf(name, sizeof name, "%.50s.%u", job->steps[1]->name, job->folder.steps + 1);
    analysis_schedule(job, last, &next.opens, &next.closes);
    if (next.closes == 0) {
        next.opens = last->closes;
        next.closes = 2 * last->closes - last->opens;
    }
    err.status =
        o->by ? sotto_study_drill_by(text, last, bin, o->by, o->values, &next, &job->arena, &err)
              : sotto_study_drill(text, last, bin, (unsigned)parts, &next, &job->arena, &err);
    if (err.status == SOTTO_DENIED) /* no budget is short */
        return nothing_finer(job, last, bin, err.reason);
    if (err.status == SOTTO_MALFORMED)
        return analysis_misused(o, o->by ? "--by" : "--bin", err.reason);
    return err.status == SOTTO_OK ? EXIT_DONE : analysis_failed(job, &err);
}

static int next_of_quantile(analysis_job *job, const sotto_recipe *last,
                            const sotto_study_answer *answer, sotto_bytes *text)
{
    const char *quantile = job->o->quantile;
    char name[64];
    sotto_refine_question question = {0};
    sotto_refined refined = {0};
    int64_t opens, closes;
    sotto_err err = {0};
    bool found = false;

    if (last->statistic != SOTTO_STATISTIC_QUANTILES)
        return analysis_misused(job->o, "--quantile",
                                last->statistic != SOTTO_STATISTIC_HISTOGRAM
                                    ? "the last step has no quantiles: --recipe FILE goes on"
                                : sotto_study_divides(last)
                                    ? "the last step is a histogram: --bin LABEL goes on"
                                    : "the last step is a histogram of listed values, which have "
                                      "no smaller parts: --recipe FILE goes on");
    (void)snprintf(name, sizeof name, "quantile %.40s", quantile);
    for (size_t i = 0; i < answer->figure_count; i++)
        if (strcmp(answer->figures[i].name, name) == 0) {
            question.low = answer->figures[i].low;
            question.high = answer->figures[i].high;
            found = true;
        }
    if (!found)
        return analysis_misused(job->o, "--quantile",
                                "the answer has 0.05, 0.25, 0.5, 0.75 and 0.95");
    err.status = sotto_recipe_refine(&refined, last, &question, &job->arena, &err);
    analysis_schedule(job, last, &opens, &closes);
    *text = refined.text;
    if (err.status == SOTTO_OK && closes != 0)
        err.status = sotto_study_reschedule(text, refined.text, opens, closes, &job->arena, &err);
    if (err.status == SOTTO_DENIED)
        return analysis_misused(job->o, "--quantile", err.reason);
    if (err.status != SOTTO_OK)
        return analysis_failed(job, &err);
    if (!job->o->json)
        printf("quantile %s is from %g to %g: %" PRIu64 " bins from %g to %g, in steps of %g\n",
               quantile, question.low, question.high, refined.bins, refined.min, refined.max,
               refined.step);
    return EXIT_DONE;
}

const char *analysis_drill_options(const sotto_recipe *last)
{
    if (last->statistic == SOTTO_STATISTIC_QUANTILES)
        return "--quantile T";
    if (sotto_study_asks_by(last))
        return "--bin LABEL --by COLUMN --values A,B,...";
    return last->statistic == SOTTO_STATISTIC_HISTOGRAM && sotto_study_divides(last)
               ? "--bin LABEL"
               : "--recipe FILE";
}

static int next_text(analysis_job *job, sotto_bytes *text)
{
    const analysis_options *o = job->o;
    const unsigned step = job->folder.steps;
    sotto_study_answer answer;

    if (json_object_get(job->settings, "search"))
        return analysis_misused(o, "FOLDER", "this is a search: `sotto analysis discover`");
    if ((o->recipe != NULL) + (o->bin != NULL) + (o->quantile != NULL) != 1)
        return analysis_misused(
            o, "", "into what? --bin LABEL (with or without --by), --quantile T or --recipe FILE");
    if (!o->by != !o->values || (o->by && (!o->bin || o->parts)))
        return analysis_misused(o, o->by ? "--by" : "--values",
                                "--bin LABEL --by COLUMN --values A,B,... go together, without "
                                "--parts");
    if (sotto_folder_state(&job->folder, step) != SOTTO_STEP_ANSWERED) {
        (void)fprintf(stderr,
                      "sotto analysis drill: step %u has no answer yet; `sotto analysis result %s` "
                      "asks for it\n",
                      step, job->folder.path);
        return EXIT_SMALL;
    }
    if (o->recipe)
        return analysis_read(job, o->recipe, text);
    if (o->bin)
        return next_of_bin(job, job->steps[step], text);
    const int code = analysis_answer(job, step, &answer, &job->arena);
    return code == EXIT_DONE ? next_of_quantile(job, job->steps[step], &answer, text) : code;
}

/* Devices answer a recipe of one name once. */
static bool is_new_name(const analysis_job *job, sotto_bytes text)
{
    json_t *json = json_loadb((const char *)text.data, text.len, 0, NULL);
    const char *name = json_string_value(json_object_get(json, "recipe"));
    bool is_new = true;

    for (unsigned i = 1; name && i <= job->folder.steps; i++)
        is_new = is_new && strcmp(job->steps[i]->name, name) != 0;
    json_decref(json);
    return is_new;
}

int analysis_drill(int argc, char **argv)
{
    static analysis_options options;
    static analysis_job job;
    sotto_bytes text = {0};
    int code = analysis_options_read(&options, argc, argv);

    if (code != EXIT_DONE)
        return code;
    code = analysis_open(&job, &options);
    if (code == EXIT_DONE && analysis_is_stopped(&job)) {
        (void)fprintf(stderr, "sotto analysis drill: the analysis was stopped\n");
        code = EXIT_FAILED;
    }
    if (code == EXIT_DONE)
        code = next_text(&job, &text);
    if (code == EXIT_DONE && !is_new_name(&job, text))
        code = analysis_misused(&options, "--recipe",
                                "a step has its name already, and devices answer a name once");
    if (code == EXIT_DONE)
        code = analysis_publish(&job, text, true);
    if (code == EXIT_DONE)
        code = analysis_say_next(&job);
    analysis_close(&job);
    return code;
}
