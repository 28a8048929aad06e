/* The recipe verbs of learning recipes, and records of rounds. */
#include "learn_run.h"
#include "recipe.h"

#include "account/numeric/shown.h"
#include "base/hex.h"
#include "dap/dap.h"
#include "recipe/learning_encrypted.h"
#include "recipe/learning_slots.h"
#include "recipe/statistic.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct learning_job {
    sotto_recipe_job *job;
    const sotto_learning *learning;
    sotto_learning_claim claim;
} learning_job;

bool sotto_recipe_job_learns(const sotto_recipe_job *job)
{
    return sotto_round_record_is(job->text) || sotto_learning_is(job->text);
}

static int load(learning_job *k, sotto_bytes text)
{
    sotto_recipe_job *job = k->job;
    sotto_err err = {0};

    if (sotto_learning_read(&k->learning, text, &job->arena, &job->mistakes, &err) != SOTTO_OK)
        return sotto_recipe_job_complain(job, job->files[0], &err);
    const int code = sotto_recipe_job_read_others(job);
    if (code != EXIT_DONE)
        return code;
    const sotto_status status =
        sotto_learning_judge(&job->verdict, &k->claim, k->learning, job->policy_read,
                             job->streams_read, &job->mistakes, &err);
    job->judged = true;
    return status == SOTTO_OK ? EXIT_DONE : sotto_recipe_job_complain(job, job->files[0], &err);
}

/* ---- what is printed --------------------------------------------------------------------------------------- */

static void fits_members(sotto_json *j, const sotto_learning_claim *c)
{
    sotto_json_array(j, "fits");
    for (size_t i = 0; i < c->fit_count; i++) {
        sotto_json_object(j, NULL);
        sotto_json_text(j, "what", c->fits[i].what);
        sotto_json_real(j, "left", c->fits[i].left);
        sotto_json_real(j, "right", c->fits[i].right);
        sotto_json_end(j);
    }
    sotto_json_end(j);
}

/* Of a recipe whose devices draw one round. */
static void slots_members(sotto_json *j, const learning_job *k)
{
    sotto_slots_claim slots;

    sotto_slots_claim_of(&slots, k->learning, &k->claim, k->learning->rounds);
    sotto_json_object(j, "slots");
    sotto_json_text(j, "policy", sotto_round_policy_name(sotto_learning_policy(k->learning)));
    if (slots.why) {
        sotto_json_null(j, "epsilon");
        sotto_json_text(j, "why", slots.why);
    } else {
        sotto_json_real(j, "epsilon", slots.epsilon);
        sotto_json_text(j, "theorem", slots.theorem);
        sotto_json_text(j, "honest", slots.honest);
    }
    sotto_json_end(j);
}

static void print_json(const learning_job *k)
{
    const sotto_learning_claim *c = &k->claim;
    const sotto_learning *l = k->learning;
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);

    sotto_json_bool(&j, "ok", true);
    sotto_json_text(&j, "by", sotto_noise_source_name(l->head.by));
    sotto_json_uint(&j, "parameters", l->parameters);
    sotto_json_uint(&j, "rounds", l->rounds);
    sotto_json_uint(&j, "participations", l->participations);
    sotto_json_uint(&j, "honest", c->honest);
    sotto_json_real(&j, "sensitivity", c->sensitivity);
    sotto_json_real(&j, "sigma", c->sigma);
    sotto_json_real(&j, "device_sigma", c->device_sigma);
    sotto_json_real(&j, "rho", c->rho);
    sotto_json_real(&j, "epsilon", c->epsilon);
    sotto_json_real(&j, "delta", c->delta);
    sotto_json_text(&j, "theorem", c->theorem);
    sotto_json_text(&j, "unsampled_why", c->unsampled_why);
    if (l->restart > 0) {
        sotto_json_uint(&j, "restart", l->restart);
        sotto_json_uint(&j, "tree_price", (uint64_t)c->price.each);
    }
    if (l->buffers > 0) {
        sotto_json_uint(&j, "buffers", l->buffers);
        sotto_json_real(&j, "price", c->price.each);
        sotto_json_real(&j, "price_all", c->price.all);
    }
    if (isfinite(c->sampled_epsilon)) {
        sotto_json_real(&j, "sampled_epsilon", c->sampled_epsilon);
        sotto_json_real(&j, "sampled_share", c->sampled_share);
        sotto_json_bool(&j, "charged_by_session", c->session);
    }
    if (sotto_learning_once(l))
        slots_members(&j, k);
    sotto_json_real(&j, "bound_factor", sotto_learning_reach_in_clips(l, c));
    sotto_json_real(&j, "bound_factor_needed", c->factor_needed);
    if (c->factor_unprojected > 0) {
        sotto_json_uint(&j, "projected", l->projected);
        sotto_json_real(&j, "bound_factor_unprojected", c->factor_unprojected);
        sotto_json_real(&j, "lift", sotto_learning_lift(l));
    }
    sotto_json_uint(&j, "bound", c->bound);
    sotto_json_real(&j, "expected_reports", c->expected_reports);
    sotto_json_uint(&j, "report_bytes", c->report_bytes);
    fits_members(&j, c);
    sotto_recipe_mistakes_members(&j, &k->job->mistakes);
    sotto_recipe_verdict_members(&j, &k->job->verdict);
    (void)sotto_show_end(&j);
}

static void print_sampling(const sotto_learning_claim *c, const sotto_learning *l)
{
    if (!isfinite(c->sampled_epsilon)) {
        printf("  taking part     %s\n", c->unsampled_why);
        return;
    }
    printf("  taking part     epsilon %.4g of all rounds, to all who don't see who takes part\n"
           "                  samples of known size (Wang, Balle and Kasiviswanathan 2019, theorem "
           "9), each at most %.3g of the honest\n"
           "                  the relay (%s) must not work together with the gateway (%s) or the "
           "leader (%s)\n",
           sotto_bound_shown(c->sampled_epsilon, 4), sotto_bound_shown(c->sampled_share, 3),
           l->head.anonymity.relay, l->head.anonymity.gateway, l->head.leader);
    printf("  charged         %s\n",
           c->session ? "the smaller epsilon, by devices that verified relay, tokens and log"
                      : "the larger epsilon, unless the policy has \"sampling\": \"when-hidden\"");
}

static void print_slots(const learning_job *k)
{
    sotto_slots_claim slots;

    sotto_slots_claim_of(&slots, k->learning, &k->claim, k->learning->rounds);
    printf("  drawing a round once, in secret; %s\n                  ",
           sotto_round_policy_words(sotto_learning_policy(k->learning)));
    if (slots.why)
        printf("a gain is %s\n", slots.why);
    else
        printf("epsilon %.4g of all rounds if nobody sees who takes part, or how many\n"
               "                  %s\n",
               sotto_bound_shown(slots.epsilon, 4), slots.theorem);
}

static void print_claim(const learning_job *k)
{
    const sotto_learning_claim *c = &k->claim;
    const sotto_learning *l = k->learning;

    if (k->job->json) {
        print_json(k);
        return;
    }
    sotto_recipe_print_mistakes(k->job, k->job->files[0]);
    printf("%s: ok. It may claim:\n", k->job->files[0]);
    printf("  all rounds      epsilon %.4g at delta %.3g, for %" PRIu64
           " participations of a device\n"
           "                  %s\n",
           sotto_bound_shown(c->epsilon, 4), sotto_bound_shown(c->delta, 3), l->participations,
           c->theorem);
    printf("  one round       %.4g of zero-concentrated DP, released or not\n",
           sotto_bound_shown(c->rho, 4));
    if (sotto_learning_once(l))
        print_slots(k);
    else
        print_sampling(c, l);
    printf("  noise           by %s: sigma %.6g steps of the grid on every entry of a sum\n",
           sotto_noise_source_name(l->head.by), c->sigma);
    if (l->restart > 0)
        printf("                  correlated over rounds, by trees of %" PRIu64
               " rounds: a participation costs up to %.0f times what it would with fresh "
               "noise\n",
               l->restart, c->price.each);
    if (l->buffers > 0)
        printf("                  correlated over rounds, by %zu buffers: a participation costs up "
               "to %.4g times what it would with fresh noise, and all together %.4g times\n",
               l->buffers, sotto_bound_shown(c->price.each, 4), sotto_bound_shown(c->price.all, 4));
    if (sotto_learning_is_encrypted(l))
        printf("  proved          no update is longer than %.6g clips (%" PRIu64 " steps)\n",
               sotto_learning_reach_in_clips(l, c), c->bound);
    else if (sotto_learning_one_server(l))
        printf(
            "  proved          nothing: a device can send anything, and its clip is a promise\n");
    else
        printf("  proved          no report is longer than %g clips (%" PRIu64
               " steps); honest ones need %.3f\n",
               l->bound_factor, c->bound, ceil(1000 * c->factor_needed) / 1000);
    if (c->factor_unprojected > 0)
        printf("                  without the projection of %" PRIu64 " parameters to %" PRIu64
               " they would need %.3f\n",
               l->parameters, l->projected, ceil(1000 * c->factor_unprojected) / 1000);
    for (size_t i = 0; i < c->fit_count; i++)
        printf("  %-15s %s: %.6g <= %.6g\n", i == 0 ? "numbers fit" : "", c->fits[i].what,
               c->fits[i].left, c->fits[i].right);
    /* Devices that took part are missing in later rounds. */
    const bool fewer =
        !sotto_learning_once(l) && (l->participations < l->rounds || l->separation > 1);
    printf("  expected        %s%.0f reports in each of %" PRIu64 " rounds, %zu bytes each\n",
           fewer ? "at most " : "", c->expected_reports, l->rounds, c->report_bytes);
    sotto_recipe_print_verdict(&k->job->verdict);
}

int sotto_recipe_learning_lint(sotto_recipe_job *job)
{
    learning_job k = {.job = job};
    const int code = load(&k, job->text);

    if (code == EXIT_DONE)
        print_claim(&k);
    return code;
}

int sotto_recipe_learning_explain(sotto_recipe_job *job)
{
    static uint8_t memory[1 << 16];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    learning_job k = {.job = job};
    sotto_err err = {0};
    const int code = load(&k, job->text);

    if (code == EXIT_DONE && job->json)
        print_claim(&k);
    if (code != EXIT_DONE || job->json)
        return code;
    if (sotto_learning_explain(&out, k.learning, &k.claim, &err) != SOTTO_OK ||
        (job->policy_read &&
         sotto_policy_explain(&out, job->policy_read, &job->verdict, &err) != SOTTO_OK)) {
        (void)fprintf(stderr, "sotto recipe explain: %s\n", err.reason);
        return EXIT_FAILED;
    }
    (void)fwrite(out.data, 1, out.len, stdout);
    return EXIT_DONE;
}

/* ---- rounds -------------------------------------------------------------------------------------------------- */

static void print_task(const sotto_recipe_job *job, const sotto_task *task, uint64_t round)
{
    char id[SOTTO_DAP_ID_TEXT_MAX], hash[2 * SOTTO_RECIPE_HASH_SIZE + 1];

    sotto_dap_id_encode(id, sotto_bytes_of(task->id, sizeof task->id));
    sotto_hex_encode(hash, sotto_bytes_of(task->recipe_hash, sizeof task->recipe_hash));
    if (job->json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);

        sotto_json_text(&j, "task_id", id);
        sotto_json_text(&j, "recipe_hash", hash);
        sotto_json_uint(&j, "round", round);
        sotto_json_uint(&j, "opens", task->opens);
        sotto_json_uint(&j, "closes", task->closes);
        sotto_json_uint(&j, "length", task->vdaf.length);
        sotto_json_uint(&j, "bound", task->vdaf.max);
        sotto_json_uint(&j, "report_bytes", task->report_bytes);
        (void)sotto_show_end(&j);
        return;
    }
    printf("task_id        %s\nrecipe_hash    %s\nround          %" PRIu64 ", from %" PRIu64
           " to %" PRIu64 " (seconds since 1970)\n",
           id, hash, round, task->opens, task->closes);
    printf("vdaf           PINE, length %" PRIu64 ", bound on the norm %" PRIu64
           "\nreport         %zu bytes, noise by %s\n",
           task->vdaf.length, task->vdaf.max, task->report_bytes,
           sotto_noise_source_name(task->by));
}

int sotto_recipe_learning_compile(sotto_recipe_job *job)
{
    learning_job k = {.job = job};
    sotto_round_record record;
    sotto_task task;
    sotto_err err = {0};

    if (!sotto_round_record_is(job->text)) {
        (void)fprintf(stderr,
                      "sotto recipe compile: a learning recipe has a task for each round: name a "
                      "record, as `sotto recipe round` prints it\n");
        return EXIT_USAGE;
    }
    if (sotto_round_record_decode(&record, job->text, &err) != SOTTO_OK)
        return sotto_recipe_job_complain(job, job->files[0], &err);
    const int code = load(&k, record.recipe);
    if (code != EXIT_DONE)
        return code;
    if (sotto_round_task_compile(&task, k.learning, &record, job->parties, &job->arena, &err) !=
        SOTTO_OK) {
        (void)fprintf(stderr, "sotto recipe compile: %s: %s\n", sotto_status_name(err.status),
                      err.reason);
        return sotto_exit_code(err.status, SOTTO_AT_FILE);
    }
    print_task(job, &task, record.round);
    return EXIT_DONE;
}

static sotto_status sign(sotto_round_record *record, const sotto_learning *l, const char *path,
                         sotto_err *err)
{
    sotto_signer_file owner = {0};
    sotto_status status = learn_owner_read(&owner, path, l, err);

    if (status == SOTTO_OK)
        status = sotto_round_record_sign(record, &owner.signer.signer, err);
    sotto_signer_file_clear(&owner);
    return status;
}

/* Without --model, round 0 has the model that the recipe begins with. */
static int write_record(sotto_recipe_job *job, const sotto_learning *l, uint64_t round,
                        const char *model, const char *owner)
{
    sotto_round_record record = {.round = round, .recipe = job->text};
    const size_t room = job->text.len + 512;
    uint8_t *memory = sotto_arena_take(&job->arena, room);
    sotto_buf out = sotto_buf_over(memory, memory ? room : 0);
    sotto_err err = {0};

    memcpy(record.model, l->init, sizeof record.model);
    if (model && !sotto_hex_decode(record.model, sizeof record.model,
                                   sotto_bytes_of(model, strlen(model)))) {
        (void)fprintf(stderr, "sotto recipe round: --model takes 64 lower-case digits: SHA-256\n");
        return EXIT_USAGE;
    }
    if (round >= l->rounds || (round > 0 && !model)) {
        (void)fprintf(stderr, "sotto recipe round: %s\n",
                      round >= l->rounds ? "the recipe has fewer rounds"
                                         : "rounds after 0 take --model");
        return EXIT_USAGE;
    }
    if (!owner != !l->owned) {
        (void)fprintf(stderr, "sotto recipe round: %s\n",
                      owner ? "the recipe has no rounds.key: leave --owner out"
                            : "the recipe has rounds.key: --owner names its secret half");
        return EXIT_USAGE;
    }
    if ((owner && sign(&record, l, owner, &err) != SOTTO_OK) ||
        sotto_round_record_encode(&out, &record, &err) != SOTTO_OK) {
        (void)fprintf(stderr, "sotto recipe round: %s\n", err.reason);
        return sotto_exit_code(err.status, SOTTO_AT_FILE);
    }
    if (job->json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_uint(&j, "round", record.round);
        sotto_json_hex(&j, "model", sotto_bytes_of(record.model, sizeof record.model));
        sotto_json_bool(&j, "signed", record.is_signed);
        sotto_json_bytes(&j, "record", sotto_buf_bytes(&out));
        return sotto_show_end(&j) ? EXIT_DONE : EXIT_FAILED;
    }
    (void)fwrite(out.data, 1, out.len, stdout);
    return EXIT_DONE;
}

int sotto_recipe_round(int argc, char **argv)
{
    static sotto_recipe_job job;
    learning_job k = {.job = &job};
    const char *model = NULL, *owner = NULL;
    uint64_t round = 0;
    const sotto_argument words[] = {{.name = "--round", .whole = &round, .most = 1e9},
                                    {.name = "--model", .text = &model},
                                    {.name = "--owner", .text = &owner}};
    int code = sotto_recipe_job_parse(&job, argc, argv, 1, words, sizeof words / sizeof words[0]);

    if (code == EXIT_DONE)
        code = sotto_recipe_job_text(&job);
    if (code == EXIT_DONE)
        code = load(&k, job.text);
    if (code == EXIT_DONE)
        code = write_record(&job, k.learning, round, model, owner);
    sotto_recipe_job_end(&job);
    return code;
}
