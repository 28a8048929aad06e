/* sotto admin task - what this server takes part in. */
#include "admin.h"
#include "show.h"

#include "dap/dap.h"
#include "recipe/calendar.h"
#include "recipe/model.h"
#include "serve/tasks/listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_COHORTS = 1024 };
static const uint64_t most_devices = 100000000000; /* a recipe's own limit */

/* ---- adding ---------------------------------------------------------------------------------------------------------- */

/* Ids with white space between them. One at least: a script whose list came out empty must not add unchecked. */
static sotto_status read_ids(sotto_admin *admin, sotto_buf *out, const char *text)
{
    static const char spaces[] = " \t\r\n";
    size_t before = out->len;

    for (text += strspn(text, spaces); *text; text += strspn(text, spaces)) {
        size_t len = strcspn(text, spaces);

        if (out->cap - out->len < SOTTO_TASK_ID_SIZE ||
            sotto_dap_id_decode(out->data + out->len, SOTTO_TASK_ID_SIZE, sotto_bytes_of(text, len),
                                NULL) != SOTTO_OK)
            return sotto_fail(&admin->err, SOTTO_MALFORMED, "--expect: %.60s is no task id", text);
        out->len += SOTTO_TASK_ID_SIZE;
        text += len;
    }
    return out->len > before ? SOTTO_OK
                             : sotto_fail(&admin->err, SOTTO_MALFORMED,
                                          "--expect: no task id; what did the other side print?");
}

static sotto_status read_expected(sotto_admin *admin, sotto_buf *out)
{
    for (size_t i = 0; i < admin->flag_count; i++)
        if (strcmp(admin->flags[i][0], "--expect") == 0)
            SOTTO_TRY(read_ids(admin, out, admin->flags[i][1]));
    return SOTTO_OK;
}

static void print_mistakes(const sotto_mistakes *mistakes)
{
    for (size_t i = 0; i < mistakes->count; i++)
        (void)fprintf(stderr, "%u:%u: %s: %s\n", mistakes->items[i].line, mistakes->items[i].column,
                      mistakes->items[i].path, mistakes->items[i].what);
}

static sotto_status add(sotto_admin *admin, sotto_buf *ids, uint64_t population,
                        sotto_mistakes *mistakes)
{
    static uint8_t memory[MAX_COHORTS * SOTTO_TASK_ID_SIZE];
    sotto_buf expected = sotto_buf_over(memory, sizeof memory);
    sotto_bytes recipe, parties;

    SOTTO_TRY(read_expected(admin, &expected));
    SOTTO_TRY(sotto_admin_read_file(admin, &recipe, admin->words[0], SOTTO_RECIPE_MAX_BYTES));
    SOTTO_TRY(sotto_admin_read_file(admin, &parties, admin->words[1], SOTTO_RECIPE_MAX_BYTES));
    return sotto_tasks_add(admin->db, &admin->columns, admin->role, recipe, parties, population,
                           sotto_buf_bytes(&expected), ids, mistakes, &admin->err);
}

/* 0 without the flag; not with it: none is "unchanged" to the database, and nobody would type that. */
static bool read_population(const sotto_admin *admin, uint64_t *out)
{
    if (!sotto_admin_number(admin, out, "--population"))
        return false;
    if (!sotto_admin_flag(admin, "--population") || (*out >= 1 && *out <= most_devices))
        return true;
    (void)fprintf(stderr,
                  "sotto %s: --population takes a number from 1 to %" PRIu64 "; nothing changed\n",
                  admin->verb, most_devices);
    return false;
}

static int run_add(int argc, char **argv)
{
    static const char *const known[] = {"--population", "--expect", NULL};
    static sotto_admin admin;
    static sotto_mistakes mistakes;
    static uint8_t memory[MAX_COHORTS * SOTTO_TASK_ID_SIZE];
    sotto_buf ids = sotto_buf_over(memory, sizeof memory);
    uint64_t population = 0;
    int code = sotto_admin_parse(&admin, "admin task add", argc, argv, known, 2, 2);

    if (code == EXIT_DONE && !read_population(&admin, &population))
        code = EXIT_USAGE;
    if (code == EXIT_DONE)
        code = sotto_admin_open(&admin);
    if (code == EXIT_DONE && add(&admin, &ids, population, &mistakes) != SOTTO_OK) {
        print_mistakes(&mistakes);
        code = sotto_admin_fail(&admin);
        if (mistakes.errors > 0)
            code = EXIT_LINT;
    }
    for (size_t at = 0; code == EXIT_DONE && at < ids.len; at += SOTTO_TASK_ID_SIZE) {
        char id[SOTTO_DAP_ID_TEXT_MAX];

        sotto_dap_id_encode(id, sotto_bytes_of(ids.data + at, SOTTO_TASK_ID_SIZE));
        if (admin.json) {
            sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

            sotto_json_text(&j, "task", id);
            (void)sotto_show_end(&j);
        } else {
            printf("task %s\n", id);
        }
    }
    if (code == EXIT_DONE && population == 0 && !admin.json)
        (void)fprintf(stderr,
                      "no --population: unless one was set before, this server can't check the"
                      " rate of reports\n");
    sotto_admin_close(&admin);
    return code;
}

/* ---- listing ---------------------------------------------------------------------------------------------------------- */

enum { RECIPE_TEXT = 160 };

/* The question that a task is of, and which part of it: "commute-1 version 1, cohort 3". A bare task has none. */
static const char *recipe_text(char out[RECIPE_TEXT], const sotto_server_task *task)
{
    const sotto_recipe *recipe = task->recipe;
    int len;

    if (!recipe)
        return "no recipe";
    len = snprintf(out, RECIPE_TEXT, "%.64s version %" PRIu64, recipe->name, recipe->version);
    if (sotto_recipe_cohorts(recipe) > 1)
        (void)snprintf(out + len, (size_t)(RECIPE_TEXT - len), ", cohort %zu", task->dap.cohort);
    return out;
}

static void show_json(const sotto_task_line *line, const char *id)
{
    const sotto_server_task *task = line->task;
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

    sotto_json_text(&j, "task", id);
    if (task->recipe) {
        sotto_json_text(&j, "recipe", task->recipe->name);
        sotto_json_uint(&j, "version", task->recipe->version);
        sotto_json_uint(&j, "cohort", task->dap.cohort);
    } else {
        sotto_json_null(&j, "recipe");
    }
    sotto_json_time(&j, "opens", (int64_t)task->dap.opens);
    sotto_json_time(&j, "closes", (int64_t)task->dap.closes);
    sotto_json_uint(&j, "min_batch_size", task->dap.min_batch_size);
    sotto_json_uint(&j, "population", line->population);
    sotto_json_bool(&j, "paired", line->paired);
    sotto_json_bool(&j, "retired", line->retired);
    (void)sotto_show_end(&j);
}

/* A task that can't be served, as its row can't be read or its pairing does not open: its name, and why. */
static void show_broken(const sotto_admin *admin, const sotto_task_line *line)
{
    char id[SOTTO_DAP_ID_TEXT_MAX] = "?"; /* that of a damaged row */
    char recipe[RECIPE_TEXT];
    bool known = line->task && line->task->recipe;

    if (line->id.len == SOTTO_TASK_ID_SIZE)
        sotto_dap_id_encode(id, line->id);
    if (!admin->json) {
        printf("task %s  BROKEN, not served: %s%s%s%s\n", id, line->broken, known ? "  " : "",
               known ? recipe_text(recipe, line->task) : "", line->retired ? "  retired" : "");
        return;
    }
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);
    sotto_json_text(&j, "task", id);
    sotto_json_some(&j, "recipe", known ? line->task->recipe->name : NULL);
    sotto_json_text(&j, "broken", line->broken);
    sotto_json_bool(&j, "retired", line->retired);
    (void)sotto_show_end(&j);
}

static sotto_status show(void *context, const sotto_task_line *line, sotto_err *err)
{
    const sotto_admin *admin = context;
    const sotto_task *dap;
    char opens[SOTTO_CALENDAR_TEXT], closes[SOTTO_CALENDAR_TEXT], recipe[RECIPE_TEXT];
    char id[SOTTO_DAP_ID_TEXT_MAX];

    (void)err;
    if (line->broken) {
        show_broken(admin, line);
        return SOTTO_OK;
    }
    dap = &line->task->dap;
    sotto_calendar_format_time(opens, (int64_t)dap->opens);
    sotto_calendar_format_time(closes, (int64_t)dap->closes);
    sotto_dap_id_encode(id, sotto_bytes_of(dap->id, SOTTO_TASK_ID_SIZE));
    if (admin->json) {
        show_json(line, id);
    } else {
        printf("task %s  %s  %s to %s  batches of %" PRIu64 " and more  %s  population %" PRIu64
               "%s%s\n",
               id, recipe_text(recipe, line->task), opens, closes, (uint64_t)dap->min_batch_size,
               line->paired ? "paired" : "NOT PAIRED", line->population,
               line->population ? "" : " (rates are not checked)",
               line->retired ? "  retired" : "");
    }
    return SOTTO_OK;
}

static int run_list(int argc, char **argv)
{
    static sotto_admin admin;
    int code = sotto_admin_parse(&admin, "admin task list", argc, argv, NULL, 0, 0);

    if (code == EXIT_DONE)
        code = sotto_admin_open(&admin);
    if (code == EXIT_DONE && sotto_list_tasks(admin.db, &admin.columns, admin.role, show, &admin,
                                              &admin.err) != SOTTO_OK)
        code = sotto_admin_fail(&admin);
    sotto_admin_close(&admin);
    return code;
}

static const sotto_verb verb_add = {
    .name = "add",
    .summary = "take part in a recipe's tasks",
    .usage =
        "usage: sotto admin task add RECIPE PARTIES --config FILE [--population N]\n"
        "           [--expect IDS]... [--json]\n\n"
        "Compiles the recipe here and prints the id of each of its tasks; a running server serves\n"
        "them within a second. Give the ids that the other operator was shown as --expect, one or\n"
        "several with spaces between them: if a byte of the recipe, or a server's URL or key,\n"
        "differs, so do the ids, and nothing is added. Each key under this server's name must be "
        "its\n"
        "own. The collector's key, which no id covers, must be the one that was paired, and a "
        "task\n"
        "that is paired never changes it. --population is your own figure of the devices that may\n"
        "answer, without which rates can't be checked. Adding the same files again with another\n"
        "figure changes it, at once, in a running server too.\n",
    .run = run_add,
};

static const sotto_verb verb_list = {
    .name = "list",
    .summary = "every task of this server",
    .usage = "usage: sotto admin task list --config FILE [--json]\n",
    .run = run_list,
};

static const sotto_verb *const parts[] = {&verb_add, &verb_list, NULL};

const sotto_verb sotto_verb_admin_task = {
    .name = "task",
    .summary = "add and list tasks",
    .parts = parts,
};
