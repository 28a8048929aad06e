/* What the recipe verbs print: for people, or one JSON object. */
#include "recipe.h"

#include "dap/dap.h"
#include "show.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void mistakes_members(sotto_json *j, const sotto_mistakes *list)
{
    sotto_json_array(j, "mistakes");
    for (size_t i = 0; i < list->count; i++) {
        const sotto_mistake *m = &list->items[i];

        sotto_json_object(j, NULL);
        sotto_json_text(j, "severity", m->severity == SOTTO_MISTAKE ? "error" : "warning");
        sotto_json_uint(j, "line", m->line);
        sotto_json_uint(j, "column", m->column);
        sotto_json_text(j, "path", m->path);
        sotto_json_text(j, "what", m->what);
        sotto_json_text(j, "accepted", m->accepted);
        sotto_json_end(j);
    }
    sotto_json_end(j);
    sotto_json_uint(j, "errors", list->errors);
}

void sotto_recipe_print_mistakes(const sotto_recipe_job *job, const char *file)
{
    const sotto_mistakes *list = &job->mistakes;

    if (job->json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);

        sotto_json_bool(&j, "ok", false);
        sotto_json_text(&j, "file", file);
        mistakes_members(&j, list);
        (void)sotto_show_end(&j);
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        const sotto_mistake *m = &list->items[i];

        printf("%s:%u:%u: %s: %s%s%s\n", file, m->line, m->column,
               m->severity == SOTTO_MISTAKE ? "error" : "warning", m->path, *m->path ? ": " : "",
               m->what);
        if (*m->accepted)
            printf("    accepted: %s\n", m->accepted);
    }
    if (list->dropped)
        printf("and %zu more\n", list->dropped);
}

static void claim_members(sotto_json *j, const sotto_recipe_claim *c)
{
    sotto_json_text(j, "randomizer", c->randomizer);
    sotto_json_real(j, "epsilon_local", c->epsilon_local);
    sotto_json_real(j, "replacement_local", c->replacement_local);
    sotto_json_bool(j, "none_told", c->none_told);
    sotto_json_real(j, "epsilon", c->epsilon_cohort);
    sotto_json_real(j, "delta", c->delta);
    sotto_json_text(j, "theorem", c->theorem);
    sotto_json_uint(j, "honest", c->honest);
    sotto_json_real(j, "epsilon_sampled", c->epsilon_sampled);
    sotto_json_text(j, "sampled_by", c->sampled_by ? c->sampled_by : "");
    sotto_json_real(j, "noise_sigma", c->noise_sigma);
    sotto_json_real(j, "epsilon_noise", c->epsilon_noise);
    sotto_json_text(j, "noise_by", c->noise_by ? c->noise_by : "");
    sotto_json_real(j, "sensitivity", c->sensitivity);
    sotto_json_uint(j, "expected_reports", (uint64_t)nearbyint(c->expected_reports));
    sotto_json_uint(j, "bins", c->bins);
    sotto_json_uint(j, "weight", c->weight);
    sotto_json_real(j, "miss", c->miss);
    sotto_json_uint(j, "report_bytes", c->report_bytes);
    sotto_json_uint(j, "tasks", c->tasks);
}

static void print_claim_json(const sotto_recipe_job *job)
{
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);

    sotto_json_bool(&j, "ok", true);
    mistakes_members(&j, &job->mistakes);
    sotto_json_object(&j, "claim");
    claim_members(&j, &job->claim);
    (void)sotto_show_end(&j);
}

void sotto_recipe_print_claim(const sotto_recipe_job *job)
{
    const sotto_recipe_claim *c = &job->claim;

    if (job->json) {
        print_claim_json(job);
        return;
    }
    sotto_recipe_print_mistakes(job, job->files[0]);
    printf("%s: ok. It may claim:\n", job->files[0]);
    printf("  one report      epsilon %.6g  (%s); %.6g if a value becomes another%s\n",
           c->epsilon_local, c->randomizer, c->replacement_local, c->none_told ? "" : " or none");
    if (c->none_told)
        printf(
            "                  that a device has no value is told by its silence: no epsilon here "
            "bounds it\n");
    printf("  the answer      epsilon %.6g  delta %.3g  with %" PRIu64 " honest reports\n",
           c->epsilon_cohort, c->delta, c->honest);
    printf("                  by %s\n", c->theorem);
    if (c->sampled_by)
        printf("  taking part     epsilon %.6g  if nobody sees who does: %s\n", c->epsilon_sampled,
               c->sampled_by);
    if (c->noise_by)
        printf("  servers' noise  epsilon %.6g  of the honest one's alone, whoever answers: %s\n"
               "                  not charged less for it\n",
               c->epsilon_noise, c->noise_by);
    else if (c->noise_sigma > 0)
        printf("  servers' noise  sigma %g each; nothing is claimed for it\n", c->noise_sigma);
    printf("  expected        %.0f reports, in %" PRIu64 " %s\n", c->expected_reports, c->tasks,
           c->tasks == 1 ? "task" : "tasks");
    printf("  a report        %" PRIu64 " bins, %zu bytes; at most %" PRIu64
           " bits set (an honest one fails with chance %.1g)\n",
           c->bins, c->report_bytes, c->weight, c->miss);
    printf("  sensitivity     %.6g (L2) of the sums to a report in place of another; to plan the "
           "servers' noise: --sensitivity %.0f\n",
           c->sensitivity, ceil(c->sensitivity * (1 - 1e-12)));
}

/* ---- tasks ------------------------------------------------------------------------------------------ */

/* Every label, in the order of the bins: as elements of an array, or where j is NULL, as lines. */
static int print_labels(const sotto_recipe_job *job, sotto_json *j)
{
    static uint8_t memory[1 << 17];
    sotto_text t = sotto_show_text(stdout);

    for (uint64_t bin = 0; bin < job->claim.bins; bin++) {
        sotto_buf label = sotto_buf_over(memory, sizeof memory);
        sotto_err err = {0};

        if (sotto_recipe_label(job->recipe, &label, bin, &err) != SOTTO_OK) {
            (void)fprintf(stderr, "sotto recipe %s: %s\n", job->verb, err.reason);
            return EXIT_FAILED;
        }
        if (j) {
            sotto_json_bytes(j, NULL, sotto_buf_bytes(&label));
            continue;
        }
        sotto_text_say(&t, "%8" PRIu64 "  ", bin);
        (void)sotto_text_plain(&t, sotto_buf_bytes(&label));
        sotto_text_say(&t, "\n");
    }
    return EXIT_DONE;
}

static int print_task_json(const sotto_recipe_job *job, const sotto_task *task, const char *id)
{
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);

    sotto_json_text(&j, "task_id", id);
    sotto_json_hex(&j, "recipe_hash", sotto_bytes_of(task->recipe_hash, sizeof task->recipe_hash));
    sotto_json_hex(&j, "configuration", task->configuration);
    sotto_json_object(&j, "vdaf");
    sotto_json_int(&j, "type", (int)task->vdaf.type);
    sotto_json_uint(&j, "length", task->vdaf.length);
    sotto_json_uint(&j, "chunk_length", task->vdaf.chunk_length);
    sotto_json_uint(&j, "max", task->vdaf.max);
    sotto_json_end(&j);
    sotto_json_object(&j, "randomizer");
    sotto_json_text(&j, "kind", task->randomizer);
    sotto_json_real(&j, "epsilon", task->epsilon_local);
    sotto_json_real(&j, "p", task->p);
    sotto_json_real(&j, "q", task->q);
    sotto_json_uint(&j, "weight", task->weight);
    sotto_json_real(&j, "miss", task->miss);
    sotto_json_end(&j);
    sotto_json_uint(&j, "report_bytes", task->report_bytes);
    sotto_json_array(&j, "labels");
    int code = print_labels(job, &j);
    return sotto_show_end(&j) ? code : EXIT_FAILED;
}

static void print_hex(const char *name, sotto_bytes bytes)
{
    printf("%-14s ", name);
    for (size_t i = 0; i < bytes.len; i++)
        printf("%02x", bytes.data[i]);
    printf("\n");
}

int sotto_recipe_print_task(const sotto_recipe_job *job, const sotto_task *task)
{
    char id[SOTTO_DAP_ID_TEXT_MAX]; /* base64url, as in every path, list and log */

    sotto_dap_id_encode(id, sotto_bytes_of(task->id, sizeof task->id));
    if (job->json)
        return print_task_json(job, task, id);
    printf("task_id        %s\n", id);
    print_hex("recipe_hash", sotto_bytes_of(task->recipe_hash, sizeof task->recipe_hash));
    print_hex("configuration", task->configuration);
    printf("vdaf           type %d, length %" PRIu64 ", chunk length %" PRIu64 ", most %" PRIu64
           "\n",
           (int)task->vdaf.type, task->vdaf.length, task->vdaf.chunk_length, task->vdaf.max);
    printf("randomizer     %s, epsilon %.9g, p %.9g, q %.9g, weight at most %" PRIu64
           " (an honest report has more with chance %.1g)\nreport         %zu bytes\nbins\n",
           task->randomizer, task->epsilon_local, task->p, task->q, task->weight, task->miss,
           task->report_bytes);
    return print_labels(job, NULL);
}
