/* sotto sim compare - several recipes on the same rows, side by side. */
#include "sim.h"

#include "account/numeric/shown.h"
#include "show.h"

#include <errno.h>
#include <string.h>

static void print_json(const char *recipe, const sim_job *job, const sim_score *score,
                       const sim_summary *sum)
{
    const sotto_recipe_claim *c = &job->trial.claim;
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

    sotto_json_text(&j, "file", recipe);
    sotto_json_text(&j, "recipe", job->trial.recipe->name);
    sotto_json_real(&j, "epsilon", c->epsilon_cohort);
    sim_summary_members(&j, sum);
    sotto_json_real(&j, "reports", sim_score_reports(score, job));
    sotto_json_uint(&j, "report_bytes", c->report_bytes);
    (void)sotto_show_end(&j);
}

static void print_refused(const char *recipe, int code, bool json)
{
    if (json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_text(&j, "file", recipe);
        sotto_json_int(&j, "exit_code", code);
        (void)sotto_show_end(&j);
        return;
    }
    printf("%-28.28s no answer (exit code %d)\n", recipe, code);
}

static void print_row(const char *recipe, const sim_job *job, const sim_score *score,
                      const sim_summary *sum)
{
    const sotto_recipe_claim *c = &job->trial.claim;

    printf("%-28.28s %9.4g %9.4g %9.4g %9.4g %6.1f%% %9.0f %8zu\n", recipe,
           sotto_bound_shown(c->epsilon_cohort, 4), sum->error, sum->predicted, sum->half,
           100 * sum->held, sim_score_reports(score, job), c->report_bytes);
}

static int run_one(const sim_options *options, const char *recipe, FILE *out, bool first)
{
    sim_score score;
    sim_job job;
    int code = sim_job_load(&job, options, recipe);

    job.warned = !first;
    sim_score_init(&score);
    if (code == EXIT_DONE)
        code = sim_job_open(&job);
    if (code == EXIT_DONE)
        code = sim_score_run(&score, &job, recipe, sim_score_add, &score);
    if (code == EXIT_DONE) {
        const sim_summary sum = sim_score_sum(&score);
        char before[160];

        (options->json ? print_json : print_row)(recipe, &job, &score, &sum);
        (void)snprintf(before, sizeof before, "%.150s,", job.trial.recipe->name);
        if (out)
            sim_score_write(out, before, &score, &job);
    } else {
        print_refused(recipe, code, options->json);
    }
    sim_job_close(&job);
    sim_score_clear(&score);
    sim_job_end(&job);
    return code;
}

int sim_verb_compare(const sim_options *options)
{
    FILE *out = options->out ? fopen(options->out, "w") : NULL;
    int worst = EXIT_DONE;

    if (options->out && !out) {
        (void)fprintf(stderr, "sotto sim: %s: %s\n", options->out, strerror(errno));
        return EXIT_FAILED;
    }
    if (out)
        sim_score_header(out, "recipe,");
    if (!options->json)
        printf("%-28s %9s %9s %9s %9s %7s %9s %8s\n", "recipe", "epsilon", "error", "predicted",
               "interval", "held", "reports", "bytes");
    for (size_t i = 0; i < options->recipe_count; i++) {
        const int code = run_one(options, options->recipes[i], out, i == 0);

        worst = worst == EXIT_DONE ? code : worst;
    }
    if (!options->json)
        printf(
            "\nerror: root mean square over all counts, or over all figures; interval: half of its "
            "width\n");
    if (out && fclose(out) != 0 && worst == EXIT_DONE)
        worst = EXIT_FAILED;
    return worst;
}
