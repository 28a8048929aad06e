/* What the recipe verbs print: for people, or one JSON object. */
#include "recipe.h"

#include "dap/dap.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Strings of mistakes are printable ASCII; others may be anything. */
static void print_string(const char *text, size_t len)
{
    putchar('"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c < 0x20)
            printf("\\u%04x", c);
        else
            printf(c == '"' || c == '\\' ? "\\%c" : "%c", c);
    }
    putchar('"');
}

static void print_member(const char *name, const char *text)
{
    printf("\"%s\":", name);
    print_string(text, strlen(text));
}

static void print_mistakes_json(const sotto_mistakes *list)
{
    printf("\"mistakes\":[");
    for (size_t i = 0; i < list->count; i++) {
        const sotto_mistake *m = &list->items[i];

        printf("%s{", i ? "," : "");
        print_member("severity", m->severity == SOTTO_MISTAKE ? "error" : "warning");
        printf(",\"line\":%u,\"column\":%u,", m->line, m->column);
        print_member("path", m->path);
        printf(",");
        print_member("what", m->what);
        printf(",");
        print_member("accepted", m->accepted);
        printf("}");
    }
    printf("],\"errors\":%zu", list->errors);
}

void sotto_recipe_print_mistakes(const sotto_recipe_job *job, const char *file)
{
    const sotto_mistakes *list = &job->mistakes;

    if (job->json) {
        printf("{\"ok\":false,");
        print_member("file", file);
        printf(",");
        print_mistakes_json(list);
        printf("}\n");
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

static void print_claim_json(const sotto_recipe_job *job)
{
    const sotto_recipe_claim *c = &job->claim;

    printf("{\"ok\":true,");
    print_mistakes_json(&job->mistakes);
    printf(",\"claim\":{");
    print_member("randomizer", c->randomizer);
    printf(
        ",\"epsilon_local\":%.17g,\"replacement_local\":%.17g,\"none_told\":%s,\"epsilon\":%.17g,"
        "\"delta\":%.17g,",
        c->epsilon_local, c->replacement_local, c->none_told ? "true" : "false", c->epsilon_cohort,
        c->delta);
    print_member("theorem", c->theorem);
    printf(",\"honest\":%" PRIu64 ",\"epsilon_sampled\":%.17g,", c->honest, c->epsilon_sampled);
    print_member("sampled_by", c->sampled_by ? c->sampled_by : "");
    printf(",\"noise_sigma\":%.17g,\"epsilon_noise\":%.17g,", c->noise_sigma, c->epsilon_noise);
    print_member("noise_by", c->noise_by ? c->noise_by : "");
    printf(",\"sensitivity\":%.17g", c->sensitivity);
    printf(",\"expected_reports\":%.0f,\"bins\":%" PRIu64 ",\"weight\":%" PRIu64
           ",\"miss\":%.3g,\"report_bytes\":%zu,\"tasks\":%" PRIu64 "}}\n",
           c->expected_reports, c->bins, c->weight, c->miss, c->report_bytes, c->tasks);
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

static void print_hex(const char *name, sotto_bytes bytes, bool json)
{
    printf(json ? "\"%s\":\"" : "%-14s ", name);
    for (size_t i = 0; i < bytes.len; i++)
        printf("%02x", bytes.data[i]);
    printf(json ? "\"," : "\n");
}

/* base64url, as in every path, list and log. */
static void print_task_id(const uint8_t id[SOTTO_TASK_ID_SIZE], bool json)
{
    char text[SOTTO_DAP_ID_TEXT_MAX];

    sotto_dap_id_encode(text, sotto_bytes_of(id, SOTTO_TASK_ID_SIZE));
    printf(json ? "\"task_id\":\"%s\"," : "task_id        %s\n", text);
}

/* Every label, in the order of the bins. */
static int print_labels(const sotto_recipe_job *job)
{
    static uint8_t memory[1 << 17];

    for (uint64_t bin = 0; bin < job->claim.bins; bin++) {
        sotto_buf label = sotto_buf_over(memory, sizeof memory);
        sotto_err err = {0};

        if (sotto_recipe_label(job->recipe, &label, bin, &err) != SOTTO_OK) {
            (void)fprintf(stderr, "sotto recipe %s: %s\n", job->verb, err.reason);
            return EXIT_FAILED;
        }
        if (job->json)
            printf("%s", bin ? "," : "");
        if (job->json)
            print_string((const char *)label.data, label.len);
        else
            printf("%8" PRIu64 "  %.*s\n", bin, (int)label.len, (const char *)label.data);
    }
    return EXIT_DONE;
}

int sotto_recipe_print_task(const sotto_recipe_job *job, const sotto_task *task)
{
    bool json = job->json;

    printf(json ? "{" : "");
    print_task_id(task->id, json);
    print_hex("recipe_hash", sotto_bytes_of(task->recipe_hash, sizeof task->recipe_hash), json);
    print_hex("configuration", task->configuration, json);
    printf(json ? "\"vdaf\":{\"type\":%d,\"length\":%" PRIu64 ",\"chunk_length\":%" PRIu64
                  ",\"max\":%" PRIu64 "},"
                : "vdaf           type %d, length %" PRIu64 ", chunk length %" PRIu64
                  ", most %" PRIu64 "\n",
           (int)task->vdaf.type, task->vdaf.length, task->vdaf.chunk_length, task->vdaf.max);
    printf(json ? "\"randomizer\":{\"kind\":\"%s\",\"epsilon\":%.17g,\"p\":%.17g,\"q\":%.17g,"
                  "\"weight\":%" PRIu64 ",\"miss\":%.3g},\"report_bytes\":%zu,\"labels\":["
                : "randomizer     %s, epsilon %.9g, p %.9g, q %.9g, weight at most %" PRIu64
                  " (an honest report has more with chance %.1g)\nreport         %zu bytes\n"
                  "bins\n",
           task->randomizer, task->epsilon_local, task->p, task->q, task->weight, task->miss,
           task->report_bytes);
    int code = print_labels(job);
    printf(json ? "]}\n" : "");
    return code;
}
