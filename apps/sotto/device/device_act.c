/* What the device verbs do: consent, recipes, ticks, and forgetting. */
#define _POSIX_C_SOURCE 200809L
#include "device.h"

#include "base/directory.h"
#include "base/file.h"
#include "seal/ohttp/ohttp.h"
#include "tlog/bundle.h"
#include "tlog/feed.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the person ------------------------------------------------------------------------------------------- */

int sotto_device_run_consent(sotto_device_job *job)
{
    const char *word = job->word_count ? job->words[0] : NULL;
    bool given = word && strcmp(word, "yes") == 0;
    sotto_status status;

    if (word && !given && strcmp(word, "no") != 0) {
        (void)fprintf(stderr, "sotto device consent: yes or no?\n");
        return EXIT_USAGE;
    }
    status = word ? sotto_device_consent(job->device, given, &job->err)
                  : sotto_device_consented(job->device, &given, &job->err);
    if (status != SOTTO_OK)
        return sotto_device_complain(job);
    if (job->json) {
        sotto_json j = sotto_device_object();

        sotto_json_bool(&j, "ok", true);
        sotto_json_bool(&j, "consent", given);
        sotto_device_print_object(&j);
    } else if (given)
        printf("yes: this device takes part in what its policy allows, until somebody says no.\n");
    else
        printf("no: this device takes part in nothing%s\n",
               word ? ". Reports that waited are erased; what was spent stays spent." : ".");
    return EXIT_DONE;
}

int sotto_device_run_forget(sotto_device_job *job)
{
    const char *stream = job->word_count ? job->words[0] : NULL;

    if (sotto_device_forget(job->device, stream, &job->err) != SOTTO_OK)
        return sotto_device_complain(job);
    if (job->json) {
        sotto_json j = sotto_device_object();

        sotto_json_bool(&j, "ok", true);
        sotto_json_text(&j, "stream", stream);
        sotto_json_bool(&j, "ledger_kept", true);
        sotto_device_print_object(&j);
    } else
        printf(
            "%s%s%s erased.\n"
            "The ledger stays: what was told can't be taken back, and if forgetting gave budgets\n"
            "back, it could be used to make this device answer again and again.\n",
            stream ? "The events of " : "All events, and all reports that waited,",
            stream ? stream : "", " are");
    return EXIT_DONE;
}

int sotto_device_run_reset(sotto_device_job *job)
{
    if (!job->yes) {
        (void)fprintf(stderr, "sotto device reset: every budget will count as spent; say --yes\n");
        return EXIT_USAGE;
    }
    if (sotto_device_reset(job->device, &job->err) != SOTTO_OK)
        return sotto_device_complain(job);
    if (job->json) {
        sotto_json j = sotto_device_object();

        sotto_json_bool(&j, "ok", true);
        sotto_json_bool(&j, "all_spent", true);
        sotto_json_bool(&j, "consent", false);
        sotto_device_print_object(&j);
    } else
        printf(
            "A new ledger was started. Every budget counts as fully spent, and consent has to be\n"
            "given again. What could be read of the record is kept: `sotto device record`.\n");
    return EXIT_DONE;
}

/* ---- recipes ---------------------------------------------------------------------------------------------- */

/* Of a recipe, or of one in a bundle. */
static const char *name_of(sotto_device_job *job, sotto_bytes recipe)
{
    sotto_bundle bundle;

    if (sotto_bundle_is(recipe) && sotto_bundle_decode(&bundle, recipe, NULL) == SOTTO_OK)
        recipe = bundle.object;
    json_t *root = json_loadb((const char *)recipe.data, recipe.len, 0, NULL);
    const char *name = json_string_value(json_object_get(root, "recipe"));

    name = name ? sotto_device_keep(job, name) : NULL;
    json_decref(root);
    return name;
}

static int offer_feed(sotto_device_job *job, sotto_bytes feed)
{
    uint64_t taken = 0;

    if (sotto_device_feed(job->device, feed, &taken, &job->err) != SOTTO_OK)
        return sotto_device_complain(job);
    if (job->json) {
        sotto_json j = sotto_device_object();

        sotto_json_bool(&j, "ok", true);
        sotto_json_uint(&j, "taken", taken);
        sotto_device_print_object(&j);
    } else
        printf("%s: %" PRIu64 " taken. `sotto device why RECIPE` says why another was not.\n",
               job->words[0], taken);
    return EXIT_DONE;
}

/* A device draws once for a recipe's name, and answers once, whichever version it knows then. */
static void print_offered(sotto_device_job *job, const char *name)
{
    sotto_explanation why = {0};

    if (sotto_device_why(job->device, &why, name, NULL) == SOTTO_OK &&
        (why.why == SOTTO_WHY_ANSWERED || why.why == SOTTO_WHY_NOT_SAMPLED ||
         why.why == SOTTO_WHY_GIVEN_UP))
        printf("%s: kept, and not answered again under this name. %s\n", name, why.sentence);
    else
        printf("%s: kept. A tick decides whether it is answered.\n", name);
}

int sotto_device_run_offer(sotto_device_job *job)
{
    sotto_explanation why = {0};
    sotto_bytes recipe;
    sotto_feed feed;

    if (sotto_device_read_file(job, &recipe, job->words[0]) != SOTTO_OK)
        return sotto_device_complain(job);
    if (sotto_feed_decode(&feed, recipe, NULL) == SOTTO_OK)
        return offer_feed(job, recipe);
    const char *name = name_of(job, recipe);
    sotto_status status = sotto_device_offer(job->device, recipe, &job->err);
    if (status == SOTTO_DENIED && name &&
        sotto_device_why(job->device, &why, name, NULL) == SOTTO_OK && why.check)
        (void)fprintf(stderr, "refused by check %d of 3; `sotto device why %s` says more\n",
                      why.check, name);
    if (status == SOTTO_MALFORMED)
        (void)fprintf(stderr, "`sotto recipe lint %s` lists every mistake\n", job->words[0]);
    if (status != SOTTO_OK)
        return sotto_device_complain(job);
    if (job->json) {
        sotto_json j = sotto_device_object();

        sotto_json_bool(&j, "ok", true);
        sotto_json_text(&j, "recipe", name);
        sotto_device_print_object(&j);
    } else
        print_offered(job, name ? name : job->words[0]);
    return EXIT_DONE;
}

int sotto_device_say_taken(const sotto_device_job *job, const char *what)
{
    if (job->json) {
        sotto_json j = sotto_device_object();

        sotto_json_bool(&j, "ok", true);
        sotto_device_print_object(&j);
    } else
        printf("%s: %s\n", job->words[0], what);
    return EXIT_DONE;
}

int sotto_device_run_parties(sotto_device_job *job)
{
    sotto_bytes file;

    if (sotto_device_read_file(job, &file, job->words[0]) != SOTTO_OK ||
        sotto_device_replace_parties(job->device, file, &job->err) != SOTTO_OK)
        return sotto_device_complain(job);
    return sotto_device_say_taken(
        job, "taken, in place of the parties file that the application brought.");
}

/* ---- ticks ------------------------------------------------------------------------------------------------ */

static bool write_body(const char *path, sotto_exchange *exchange)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    uint8_t piece[16384];
    uint64_t offset = 0;
    size_t len = 1;
    bool safe = file >= 0;

    while (safe && len > 0) {
        safe = exchange->read(exchange, offset, piece, sizeof piece, &len) == SOTTO_OK &&
               sotto_file_put(file, sotto_bytes_of(piece, len));
        offset += len;
    }
    safe = safe && fsync(file) == 0;
    return file >= 0 && close(file) == 0 && safe && sotto_directory_sync(path);
}

/* Answers as a leader that takes every report, once it is safe in a file named after the report's id, which DAP puts
 * first. */
sotto_status sotto_device_write_upload(void *context, sotto_exchange *exchange)
{
    sotto_device_job *job = context;

    if (job->models && strcmp(exchange->method, "GET") == 0)
        return sotto_device_answer_model(job, exchange);
    if (!exchange->recipe) /* a token's request: nobody here could answer it */
        return SOTTO_IO;
    const sotto_exchange_head accepted = {.size = sizeof accepted, .status = 200};
    char path[4096], id[2 * SOTTO_REPORT_ID_SIZE + 1];
    uint8_t first[SOTTO_REPORT_ID_SIZE] = {0};
    size_t read;

    SOTTO_TRY(exchange->read(exchange, 0, first, sizeof first, &read));
    for (size_t i = 0; i < sizeof first; i++)
        (void)snprintf(id + 2 * i, 3, "%02x", first[i]);
    int len = snprintf(path, sizeof path, "%s/%s.report", job->out, id);
    if (len < 0 || (size_t)len >= sizeof path || !write_body(path, exchange)) {
        (void)fprintf(stderr, "sotto device tick: can't write %s\n", path);
        return SOTTO_IO;
    }
    if (job->json) {
        sotto_json j = sotto_device_object();

        sotto_json_text(&j, "recipe", exchange->recipe);
        sotto_json_text(&j, "file", path);
        sotto_json_text(&j, "url", exchange->url);
        sotto_json_uint(&j, "bytes", exchange->body_length);
        sotto_device_print_object(&j);
    } else {
        printf("%s: %" PRIu64 " bytes in %s\n  to be posted to %s\n", exchange->recipe,
               exchange->body_length, path, exchange->url);
    }
    job->relayed =
        exchange->media_type && strcmp(exchange->media_type, SOTTO_OHTTP_REQUEST_TYPE) == 0;
    return exchange->begin(exchange, &accepted);
}

static void print_tick(const sotto_device_job *job, const sotto_tick *tick, bool given)
{
    if (job->json) {
        sotto_json j = sotto_device_object();

        sotto_json_bool(&j, "ok", true);
        sotto_json_uint(&j, "made", tick->made);
        sotto_json_uint(&j, "waiting", tick->waiting);
        sotto_json_bool(&j, "eligible", job->idle && job->charging && job->network);
        sotto_json_bool(&j, "consent", given);
        sotto_device_print_object(&j);
        return;
    }
    if (!given)
        printf("Nobody has said yes: only events that are too old were erased.\n");
    else if (!(job->idle && job->charging && job->network))
        printf("Not a good time without%s%s%s: only events that are too old were erased.\n",
               job->idle ? "" : " --idle", job->charging ? "" : " --charging",
               job->network ? "" : " --network");
    else
        printf("Reports made: %" PRIu64 "; waiting: %" PRIu64
               "%s. `sotto device recipes` says where each recipe stands.\n",
               tick->made, tick->waiting,
               tick->waiting == 0 ? ""
               : !job->out        ? ", since no --out names a directory for them"
               : job->relayed     ? ", since with a relay only the gateway's answer counts"
                                  : "");
}

int sotto_device_run_tick(sotto_device_job *job)
{
    struct sotto_child_trainer *child = NULL;
    sotto_tick tick;
    bool given;

    if ((job->models && !job->out) || (job->trainer && !job->models)) {
        (void)fprintf(stderr, "sotto device tick: %s goes with %s\n",
                      job->models ? "--models" : "--trainer", job->models ? "--out" : "--models");
        return EXIT_USAGE;
    }
    if (job->dry_run && job->out) {
        (void)fprintf(stderr, "sotto device tick: --out or --dry-run?\n");
        return EXIT_USAGE;
    }
    if (job->dry_run)
        return sotto_device_run_recipes(job);
    /* Before anything is spent on a report that then has nowhere to go. */
    if (job->out && access(job->out, W_OK | X_OK) != 0) {
        (void)fprintf(stderr, "sotto device tick: %s: no directory to write to; make it first\n",
                      job->out);
        return EXIT_USAGE;
    }
    const bool done = sotto_device_begin_training(job, &child) == SOTTO_OK &&
                      sotto_device_tick(job->device, &tick,
                                        (sotto_conditions){job->idle, job->charging, job->network},
                                        &job->err) == SOTTO_OK &&
                      sotto_device_consented(job->device, &given, &job->err) == SOTTO_OK;
    sotto_device_end_training(child);
    if (!done)
        return sotto_device_complain(job);
    print_tick(job, &tick, given);
    return EXIT_DONE;
}
