/* What `sotto collect` reads: recipe, parties, pairing and key, and whether they belong together. */
#define _POSIX_C_SOURCE 200809L
#include "cohort.h"
#include "collect.h"

#include "base/secret_file.h"
#include "recipe/calendar.h"
#include "recipe/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SECRET_MAX = 16384 };

static int complain(const sotto_collect_job *job, const char *file, const sotto_err *err)
{
    (void)fprintf(stderr, "%s: %s: %s\n", job->verb ? job->verb : "sotto collect", file,
                  err->reason);
    return sotto_exit_code(err->status, SOTTO_AT_FILE);
}

/* ---- each of them ---------------------------------------------------------------------------------------- */

static int load_pairing(sotto_collect_job *job)
{
    const sotto_recipe *recipe = job->recipe.recipe;
    static uint8_t memory[SECRET_MAX];
    sotto_buf text = sotto_buf_over(memory, sizeof memory);
    sotto_err err = {0};
    sotto_status status = sotto_secret_file_read(&text, job->pairing, SOTTO_SECRET_OWN, &err);

    if (status == SOTTO_OK)
        status = sotto_pairing_decode(&job->secrets, sotto_buf_bytes(&text), &err);
    sotto_wipe(memory, sizeof memory);
    if (status == SOTTO_OK &&
        (!recipe->leader || !recipe->helper || strcmp(job->secrets.leader, recipe->leader) != 0 ||
         strcmp(job->secrets.helper, recipe->helper) != 0))
        status = sotto_fail(&err, SOTTO_DENIED, "it pairs other servers than the recipe names");
    /* Before anything is asked: a token would go to whoever wrote the parties file. */
    if (status == SOTTO_OK &&
        (!sotto_pairing_url_is(job->secrets.leader_url, job->task.leader_url) ||
         !sotto_pairing_url_is(job->secrets.helper_url, job->task.helper_url)))
        status = sotto_fail(&err, SOTTO_DENIED,
                            "the servers were paired for other URLs than the parties file has");
    return status == SOTTO_OK ? EXIT_DONE : complain(job, job->pairing, &err);
}

/* Whether the parties list this very key for a collector: else nothing was sealed to it. */
static bool is_listed(const sotto_collect_job *job)
{
    const sotto_parties *parties = job->recipe.parties;
    uint8_t memory[256];
    sotto_buf config = sotto_buf_over(memory, sizeof memory);
    sotto_hpke_config own = sotto_collector_key_config(&job->key_read);

    if (sotto_hpke_config_encode(&config, &own, NULL) != SOTTO_OK)
        return false;
    for (size_t i = 0; i < parties->count; i++) {
        const sotto_party_entry *p = &parties->entries[i];

        for (size_t j = 0; p->role == SOTTO_PARTY_COLLECTOR && j < p->key_count; j++)
            if (sotto_bytes_equal_vartime(p->keys[j].config, sotto_buf_bytes(&config)))
                return true;
    }
    return false;
}

static int load_key(sotto_collect_job *job)
{
    static uint8_t memory[SECRET_MAX];
    sotto_buf text = sotto_buf_over(memory, sizeof memory);
    sotto_err err = {0};
    sotto_hpke_config own;
    sotto_status status = sotto_secret_file_read(&text, job->key, SOTTO_SECRET_OWN, &err);

    if (status == SOTTO_OK)
        status = sotto_collector_key_decode(&job->key_read, sotto_buf_bytes(&text), &err);
    sotto_wipe(memory, sizeof memory);
    if (status == SOTTO_OK && !is_listed(job))
        status = sotto_fail(&err, SOTTO_DENIED, "the parties list no collector with this key");
    own = sotto_collector_key_config(&job->key_read);
    if (status == SOTTO_OK && !sotto_pairing_is_for(&job->secrets, &own))
        status =
            sotto_fail(&err, SOTTO_DENIED, "the servers were paired for another key than this");
    return status == SOTTO_OK ? EXIT_DONE : complain(job, job->key, &err);
}

/* ---- which task, which batch ----------------------------------------------------------------------------- */

static int load_task(sotto_collect_job *job)
{
    const sotto_recipe *recipe = job->recipe.recipe;
    sotto_err err = {0};
    size_t cohort = 0;

    if (!job->cohort && sotto_recipe_cohorts(recipe) > 1) {
        (void)fprintf(stderr,
                      "sotto collect: the recipe has %llu cohorts, each with an answer of its own: "
                      "--cohort says which\n",
                      (unsigned long long)sotto_recipe_cohorts(recipe));
        sotto_cohort_list(recipe, "--cohort");
        return EXIT_USAGE;
    }
    if (job->cohort && !sotto_cohort_find(recipe, &cohort, job->cohort)) {
        (void)fprintf(stderr, "sotto collect: the recipe has no cohort '%s'%s\n", job->cohort,
                      recipe->cohort_count > 0 ? "; it has:" : ", since it has no cohort fields");
        if (recipe->cohort_count > 0)
            sotto_cohort_list(recipe, "--cohort");
        return EXIT_USAGE;
    }
    if (sotto_task_compile(&job->task, recipe, job->recipe.parties, cohort, &job->recipe.arena,
                           &err) != SOTTO_OK)
        return complain(job, job->recipe.files[1], &err);
    return EXIT_DONE;
}

static bool read_time(uint64_t *out, const char *text, const char *name)
{
    int64_t seconds;

    if (!sotto_calendar_parse_time(&seconds, text) || seconds < 0) {
        (void)fprintf(stderr, "sotto collect: %s takes a time such as 2026-11-20T00:00:00Z\n",
                      name);
        return false;
    }
    *out = (uint64_t)seconds;
    return true;
}

/* Asking closes: with enough reports there already, every device that would have answered in what is left of the interval
 * would be refused, for good. That is nobody's wish who merely looks in early. */
static int check_over(const sotto_collect_job *job)
{
    time_t now = time(NULL);
    char now_text[SOTTO_CALENDAR_TEXT], until[SOTTO_CALENDAR_TEXT];

    if (job->close_early || job->withdraw || now < 0 || job->query.until <= (uint64_t)now)
        return EXIT_DONE;
    sotto_calendar_format_time(now_text, (int64_t)now);
    sotto_calendar_format_time(until, (int64_t)job->query.until);
    (void)fprintf(stderr,
                  "sotto collect: the interval ends at %s, and it is %s: asking now would close it "
                  "for all\nreports to come. Ask then, or for a part that is over (--until), or "
                  "say --close-early\n",
                  until, now_text);
    return EXIT_SMALL;
}

/* All of the schedule, unless a part of it is asked for. */
static int load_query(sotto_collect_job *job)
{
    const sotto_task *task = &job->task;
    uint64_t precision = task->precision;

    if (task->batch_mode == 2 && job->withdraw) {
        (void)fprintf(stderr, "sotto collect: the leader selects this recipe's batches: a request "
                              "for the next one keeps no\nreport out, and is not withdrawn\n");
        return EXIT_USAGE;
    }
    if (task->batch_mode == 2) {
        if (job->from || job->until) {
            (void)fprintf(stderr, "sotto collect: the leader selects this recipe's batches: say "
                                  "next, not --from and --until\n");
            return EXIT_USAGE;
        }
        return EXIT_DONE;
    }
    if (job->next) {
        (void)fprintf(stderr, "sotto collect: this recipe's batches are intervals of time: say "
                              "--from and --until, not next\n");
        return EXIT_USAGE;
    }
    job->query.from = task->opens / precision * precision;
    job->query.until = (task->closes + precision - 1) / precision * precision;
    if ((job->from && !read_time(&job->query.from, job->from, "--from")) ||
        (job->until && !read_time(&job->query.until, job->until, "--until")))
        return EXIT_USAGE;
    return check_over(job);
}

int sotto_collect_job_secrets(sotto_collect_job *job)
{
    const int code = load_pairing(job);

    return code == EXIT_DONE ? load_key(job) : code;
}

int sotto_collect_job_load(sotto_collect_job *job)
{
    static int (*const steps[])(sotto_collect_job *) = {load_task, load_query, load_pairing,
                                                        load_key};
    int code = sotto_recipe_job_load(&job->recipe);

    for (size_t i = 0; code == EXIT_DONE && i < sizeof steps / sizeof steps[0]; i++)
        code = steps[i](job);
    return code;
}
