/* What the recipe verbs print: for people, or one JSON object. */
#include "recipe.h"
#include "recipe/model.h"
#include "recipe/price.h"
#include "recipe/statistic.h"

#include "account/claims_count.h"
#include "account/numeric/shown.h"
#include "account/trust.h"
#include "dap/dap.h"
#include "show.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void sotto_recipe_mistakes_members(sotto_json *j, const sotto_mistakes *list)
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

void sotto_recipe_verdict_members(sotto_json *j, const sotto_recipe_verdict *v)
{
    sotto_json_object(j, "device");
    sotto_json_text(j, "decision", v->accepts ? "accept" : "refuse");
    sotto_json_text(j, "why", v->why);
    sotto_json_bool(j, "policy_known", v->policy_known);
    sotto_json_bool(j, "streams_known", v->streams_known);
    sotto_json_array(j, "reads");
    for (size_t i = 0; i < v->read_count; i++)
        sotto_json_text(j, NULL, v->reads[i]);
    sotto_json_end(j);
    sotto_json_end(j);
}

void sotto_recipe_print_verdict(const sotto_recipe_verdict *v)
{
    if (!v->accepts) {
        printf("  a new device    refuses it, whatever its policy: %s\n", v->why);
        return;
    }
    printf("  a new device    %s", !v->policy_known ? "answers it if its policy allows"
                                   : !v->streams_known
                                       ? "accepts it if its streams have these fields"
                                       : "accepts it");
    if (v->read_count == 0)
        printf(": the query reads no event");
    for (size_t i = 0; i < v->read_count; i++)
        printf("%s%s", i ? ", " : ": the query reads ", v->reads[i]);
    printf("\n");
    if (v->query_open)
        printf("                  the query can't be followed to its end without --streams FILE\n");
}

void sotto_recipe_print_mistakes(const sotto_recipe_job *job, const char *file)
{
    const sotto_mistakes *list = &job->mistakes;

    if (job->json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);

        sotto_json_bool(&j, "ok", false);
        sotto_json_text(&j, "file", file);
        sotto_recipe_mistakes_members(&j, list);
        if (job->judged)
            sotto_recipe_verdict_members(&j, &job->verdict);
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
        if (strcmp(m->what, "it is empty") == 0)
            printf("    `sotto recipe new` prints one to start from; --policy, --parties and "
                   "--streams the others\n");
    }
    if (list->dropped)
        printf("and %zu more\n", list->dropped);
    if (job->judged && job->policy && list->errors)
        printf("%s: a new device with this policy refuses it: %s\n", file, job->verdict.why);
}

static void claim_members(sotto_json *j, const sotto_recipe_claim *c)
{
    sotto_json_text(j, "statistic", sotto_statistic_name(c->statistic));
    sotto_json_text(j, "by", sotto_noise_source_name(c->by));
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
    sotto_json_text(j, "unsampled_why", c->unsampled_why ? c->unsampled_why : "");
    sotto_json_real(j, "epsilon_seen", c->seen_by ? c->replacement_local : 0);
    sotto_json_text(j, "seen_by", c->seen_by ? c->seen_by : "");
    sotto_json_real(j, "noise_sigma", c->noise_sigma);
    sotto_json_real(j, "device_variance", c->device_variance);
    sotto_json_real(j, "sensitivity", c->sensitivity);
    sotto_json_real(j, "liar", c->liar);
    sotto_json_uint(j, "liar_sums", c->liar_sums);
    sotto_json_uint(j, "expected_reports", (uint64_t)nearbyint(c->expected_reports));
    sotto_json_uint(j, "bins", c->bins);
    sotto_json_uint(j, "weight", c->weight);
    sotto_json_real(j, "miss", c->miss);
    sotto_json_uint(j, "report_bytes", c->report_bytes);
    sotto_json_uint(j, "tasks", c->tasks);
}

/* What is infinite has no number in JSON: 0 dummies needed are none that would do. */
static void forecast_members(sotto_json *j, const sotto_forecast *f)
{
    sotto_json_real(j, "devices", f->devices);
    sotto_json_real(j, "reports_in_a_release", f->expected);
    sotto_json_real(j, "reach", f->reach);
    sotto_json_uint(j, "slots", f->slots);
    sotto_json_real(j, "empty_slots", f->empty);
    sotto_json_real(j, "dummies", f->dummies);
    if (f->dummies > 0 && isfinite(f->epsilon_count))
        sotto_json_real(j, "epsilon_count", f->epsilon_count);
    if (isfinite(f->dummies_needed)) {
        sotto_json_real(j, "dummies_needed", f->dummies_needed);
        sotto_json_real(j, "rate_needed", f->rate_needed);
    }
}

/* ---- the best randomizer --------------------------------------------------------------------------- */

static bool find_best(sotto_best_randomizer *best, const sotto_recipe_job *job)
{
    return job->claim.by == SOTTO_BY_CROWD && job->accuracy.reports > 0 &&
           sotto_price_best_randomizer(best, job->recipe, job->policy_read, &job->verdict,
                                       job->accuracy.reports);
}

static void best_members(sotto_json *j, const sotto_recipe_job *job)
{
    sotto_best_randomizer best;

    if (!find_best(&best, job))
        return;
    sotto_json_object(j, "best_randomizer");
    sotto_json_text(j, "randomizer", best.name);
    sotto_json_real(j, "epsilon_local", best.epsilon_local);
    sotto_json_real(j, "half_width", best.accuracy.half_width);
    sotto_json_end(j);
}

static void print_best(const sotto_recipe_job *job)
{
    const bool rank = job->claim.statistic == SOTTO_STATISTIC_QUANTILES;
    sotto_best_randomizer best;

    if (find_best(&best, job))
        printf("  best for this   %s with epsilon_local %.6g, at the same epsilon and cohort: "
               "+-%.4g%s\n",
               best.name, best.epsilon_local, best.accuracy.half_width * (rank ? 100 : 1),
               rank ? "%" : "");
}

static void print_claim_json(const sotto_recipe_job *job)
{
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);

    sotto_json_bool(&j, "ok", true);
    sotto_recipe_mistakes_members(&j, &job->mistakes);
    sotto_recipe_verdict_members(&j, &job->verdict);
    sotto_json_object(&j, "claim");
    claim_members(&j, &job->claim);
    sotto_json_real(&j, "charged", sotto_decimal_up(job->recipe->epsilon));
    sotto_json_end(&j);
    sotto_recipe_encrypted_members(&j, job->recipe);
    sotto_json_object(&j, "forecast");
    forecast_members(&j, &job->forecast);
    sotto_json_end(&j);
    sotto_recipe_accuracy_members(&j, &job->accuracy, job->recipe);
    best_members(&j, job);
    (void)sotto_show_end(&j);
}

static void print_forecast(const sotto_forecast *f)
{
    if (f->reach >= 1e-6)
        printf("  min_cohort      is reached with a chance of %.6g or more\n",
               floor(f->reach * 1e6) / 1e6);
    else if (f->devices > 0)
        printf("  min_cohort      is hardly ever reached\n");
    if (f->slots > 0)
        printf("  empty slots     %.4g of %" PRIu64
               " expected (Balle et al. 2020, Proposition 3.4)\n",
               f->empty, f->slots);
    if (f->dummies == 0 && isfinite(f->dummies_needed))
        printf("  dummies         none, so the number of reports tells who takes part; about %.0f, "
               "a rate "
               "of %.6g,\n                  would hide it up to epsilon %.6g\n",
               ceil(f->dummies_needed), sotto_bound_shown(f->rate_needed, 6),
               sotto_bound_shown(f->epsilon_wanted, 6));
    if (f->dummies == 0)
        return;
    if (isfinite(f->epsilon_count))
        printf("  dummies         about %.0f honest ones hide in the number of reports who takes "
               "part:\n"
               "                  epsilon %.6g at the same delta, by the %s,\n"
               "                  to those who can't see who sends, for an answer about %s;\n"
               "                  a shorter time has fewer dummies\n",
               f->dummies, sotto_bound_shown(f->epsilon_count, 6), sotto_count_theorem,
               f->donations ? "a whole slot" : "the whole schedule");
    else
        printf("  dummies         about %.0f honest ones are too few to hide in the number of "
               "reports who takes part\n",
               f->dummies);
    if (isfinite(f->dummies_needed))
        printf("                  epsilon %.6g takes about %.0f, a rate of %.6g\n",
               sotto_bound_shown(f->epsilon_wanted, 6), ceil(f->dummies_needed),
               sotto_bound_shown(f->rate_needed, 6));
}

static void print_report(const sotto_recipe_claim *c)
{
    if (c->by == SOTTO_BY_CROWD)
        printf("  one report      epsilon %.6g  (%s); %.6g (replace one value by another%s)\n",
               sotto_bound_shown(c->epsilon_local, 6), c->randomizer,
               sotto_bound_shown(c->replacement_local, 6), c->none_told ? "" : ", or remove it");
    else if (c->by == SOTTO_BY_SHARES)
        printf("  one report      no local protection: its part of the noise has sigma %.3g, too "
               "little by itself\n",
               sqrt(c->device_variance));
    else
        printf("  one report      no local protection, and no noise\n");
    if (c->none_told)
        printf(
            "                  a device without a value stays silent, which shows: no epsilon here "
            "bounds it\n");
}

static void print_answer(const sotto_recipe_job *job, const sotto_recipe_claim *c)
{
    const bool tokens = job->recipe->anonymity.tokens != SOTTO_TOKENS_NONE;

    printf("  the answer      epsilon %.6g  delta %.3g  ", sotto_bound_shown(c->epsilon_cohort, 6),
           sotto_bound_shown(c->delta, 3));
    if (c->by == SOTTO_BY_SERVERS)
        printf("with the noise of one honest server, sigma %.10g\n", c->noise_sigma);
    else if (c->by == SOTTO_BY_COMMITTEE)
        printf("with the noise of the honest members that answer, sigma %.10g\n", c->noise_sigma);
    else
        printf("with %" PRIu64 " honest reports%s\n", c->honest,
               job->recipe->adjacency != SOTTO_ADJACENCY_REPLACEMENT
                   ? "; of whether somebody had a value, not of which"
                   : "");
    printf("                  basis: %s\n"
           "  charged         epsilon %.6g from the ledger of each device that answers, as the "
           "recipe states;\n"
           "                  the answer reveals no more than the epsilon above\n",
           c->theorem, sotto_decimal_up(job->recipe->epsilon));
    if (c->by == SOTTO_BY_SERVERS || c->by == SOTTO_BY_COMMITTEE)
        return; /* others' noise stays */
    if (c->by == SOTTO_BY_CROWD)
        printf("  at worst        epsilon %.6g  an analyst",
               sotto_bound_shown(fmax(c->epsilon_local, c->replacement_local), 6));
    else
        printf("  at worst        no protection: an analyst");
    printf(" who brings %" PRIu64 " reports of his own to a batch, and subtracts\n"
           "                  them, faces one device's report; %svolume checks and the honest\n"
           "                  share limit this%s\n",
           job->recipe->min_cohort - (job->recipe->min_cohort > 0), tokens ? "tokens, " : "",
           !tokens ? ""
           : job->recipe->anonymity.issuer
               ? ". Issuer and attester, each alone, can make tokens as they like"
               : ". The attester and either server, each alone, can make credentials as they like");
}

static void print_taking_part(const sotto_recipe_claim *c)
{
    if (c->sampled_by)
        printf(
            "  taking part     epsilon %.6g  since nobody sees who does, if as many devices might\n"
            "                  answer as the recipe says: %s\n"
            "                  trust: %s\n",
            sotto_bound_shown(c->epsilon_sampled, 6), c->sampled_by,
            sotto_trust_words_of(SOTTO_TRUST_SPLIT)->assumes[1]);
    else
        printf("  taking part     %s\n", c->unsampled_why);
    if (c->seen_by)
        printf("  taking part     epsilon %.6g  where it is seen who does: %s\n",
               sotto_bound_shown(c->replacement_local, 6), c->seen_by);
}

static void print_size(const sotto_recipe_claim *c)
{
    const bool bits = c->by == SOTTO_BY_CROWD;

    if (bits)
        printf("  a report        %" PRIu64 " bins, %zu bytes; at most %" PRIu64
               " %s set (an honest one fails with chance %.1g)\n",
               c->bins, c->report_bytes, c->weight, c->weight == 1 ? "bit" : "bits", c->miss);
    else if (c->report_bytes > 0)
        printf("  a report        %zu bytes\n", c->report_bytes);
    printf("  a liar          moves %" PRIu64
           " of the sums, each by up to %.10g (%s), by a report in place of another\n",
           c->liar_sums, sotto_bound_shown(c->liar, bits ? 6 : 10),
           c->statistic == SOTTO_STATISTIC_SUM || c->statistic == SOTTO_STATISTIC_MEAN ? "steps"
                                                                                       : "counts");
    printf("  sensitivity     %.6g (L2) of the sums to a report in place of another\n",
           sotto_bound_shown(c->sensitivity, 6));
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
    print_report(c);
    print_answer(job, c);
    sotto_recipe_print_encrypted(job->recipe);
    print_taking_part(c);
    printf("  expected        %.0f reports, in %" PRIu64 " %s\n", c->expected_reports, c->tasks,
           c->tasks == 1 ? "task" : "tasks");
    print_forecast(&job->forecast);
    sotto_recipe_print_accuracy(&job->accuracy, job->recipe);
    print_best(job);
    print_size(c);
    sotto_recipe_print_verdict(&job->verdict);
}

/* ---- tasks ------------------------------------------------------------------------------------------ */

/* Every label, in the order of the bins: as elements of an array, or where j is NULL, as lines. */
static int print_labels(const sotto_recipe_job *job, sotto_json *j)
{
    static uint8_t memory[1 << 17];
    sotto_text t = sotto_show_text(stdout);

    const bool bins = job->claim.statistic == SOTTO_STATISTIC_HISTOGRAM ||
                      job->claim.statistic == SOTTO_STATISTIC_QUANTILES;

    for (uint64_t bin = 0; bins && bin < job->claim.bins; bin++) {
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
    if (task->by != SOTTO_BY_CROWD)
        printf("statistic      %s, noise by %s\nreport         %zu bytes\n",
               sotto_statistic_name(task->statistic), sotto_noise_source_name(task->by),
               task->report_bytes);
    else
        printf("randomizer     %s, epsilon %.9g, p %.9g, q %.9g, weight at most %" PRIu64
               " (an honest report has more with chance %.1g)\nreport         %zu bytes\n",
               task->randomizer, task->epsilon_local, task->p, task->q, task->weight, task->miss,
               task->report_bytes);
    printf("bins\n");
    return print_labels(job, NULL);
}
