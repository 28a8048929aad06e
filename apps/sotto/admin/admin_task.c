/* sotto admin task - what this server takes part in. */
#include "admin.h"
#include "admin_token_keys.h"
#include "cohort.h"
#include "show.h"

#include "dap/dap.h"
#include "recipe/calendar.h"
#include "recipe/learning.h"
#include "recipe/task.h"
#include "serve/tasks/listing.h"
#include "serve/tasks/population.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COHORTS = 1024, MOST_MEMORY = 64 << 20 };
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
            return sotto_fail(&admin->err, SOTTO_MALFORMED, "--expect: %.60s is not a task id",
                              text);
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

static sotto_status add(sotto_admin *admin, sotto_buf *ids, sotto_bytes recipe,
                        const sotto_admitting_keys *token_keys, uint64_t population,
                        sotto_mistakes *mistakes)
{
    static uint8_t memory[MAX_COHORTS * SOTTO_TASK_ID_SIZE];
    sotto_buf expected = sotto_buf_over(memory, sizeof memory);
    sotto_bytes parties;

    SOTTO_TRY(read_expected(admin, &expected));
    SOTTO_TRY(sotto_admin_read_file(admin, &parties, admin->words[1], SOTTO_RECIPE_MAX_BYTES));
    return sotto_tasks_add_admitted(admin->db, &admin->columns, admin->role, recipe, parties,
                                    token_keys, population, sotto_buf_bytes(&expected), ids,
                                    mistakes, &admin->err);
}

/* What --population said: of all tasks, and of the cohorts that it named. */
typedef struct figures {
    uint64_t all;
    uint64_t cohorts[MAX_COHORTS];
    bool split;
} figures;

static bool read_devices(const sotto_admin *admin, uint64_t *out, const char *text)
{
    size_t digits = strspn(text, "0123456789");

    *out = digits > 0 && digits <= 15 && !text[digits] ? strtoull(text, NULL, 10) : 0;
    if (*out >= 1 && *out <= most_devices)
        return true;
    (void)fprintf(stderr,
                  "sotto %s: --population takes a number from 1 to %" PRIu64
                  ", or COHORT=NUMBER; nothing changed\n",
                  admin->verb, most_devices);
    return false;
}

/* "12000" is every task's figure, "en_US=12000" that of one cohort's. */
static bool read_figure(const sotto_admin *admin, figures *out, const sotto_recipe *recipe,
                        const char *text)
{
    const char *equals = strrchr(text, '=');
    char name[1024];
    size_t cohort;

    if (!equals)
        return read_devices(admin, &out->all, text);
    (void)snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    if (!recipe) /* whose mistakes are said when it is added */
        return true;
    if (!sotto_cohort_find(recipe, &cohort, name) || cohort >= MAX_COHORTS) {
        (void)fprintf(stderr, "sotto %s: --population: the recipe has no cohort '%s'; it has:\n",
                      admin->verb, name);
        sotto_cohort_list(recipe, "cohort");
        return false;
    }
    out->split = true;
    return read_devices(admin, &out->cohorts[cohort], equals + 1);
}

static bool read_figures(const sotto_admin *admin, figures *out, const sotto_recipe *recipe)
{
    for (size_t i = 0; i < admin->flag_count; i++)
        if (strcmp(admin->flags[i][0], "--population") == 0 &&
            !read_figure(admin, out, recipe, admin->flags[i][1]))
            return false;
    return true;
}

static void warn_of_population(const figures *f, size_t tasks)
{
    size_t without = 0;

    for (size_t i = 0; i < tasks; i++)
        without += f->all == 0 && f->cohorts[i] == 0;
    if (without == tasks)
        (void)fprintf(stderr, "no --population: unless one was set before, this server has no"
                              " volume (Sybil) check\n");
    else if (without > 0)
        (void)fprintf(stderr,
                      "no --population of %zu cohort%s: unless one was set before, this server"
                      " has no volume (Sybil) check for them\n",
                      without, without == 1 ? "" : "s");
    else if (tasks > 1 && !f->split)
        (void)fprintf(stderr,
                      "each of the %zu cohorts is checked against all %" PRIu64
                      " devices; --population COHORT=N says how many it has\n",
                      tasks, f->all);
}

/* Ids come in the order of the cohorts' numbers. */
static void print_ids(const sotto_admin *admin, sotto_bytes ids, const sotto_recipe *recipe)
{
    char id[SOTTO_DAP_ID_TEXT_MAX], name[SOTTO_COHORT_TEXT];
    sotto_cohort cohort;

    for (size_t i = 0; i < ids.len / SOTTO_TASK_ID_SIZE; i++) {
        sotto_recipe_cohort(recipe, &cohort, i);
        sotto_dap_id_encode(id,
                            sotto_bytes_of(ids.data + i * SOTTO_TASK_ID_SIZE, SOTTO_TASK_ID_SIZE));
        if (admin->json) {
            sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

            sotto_json_text(&j, "task", id);
            sotto_json_cohort(&j, &cohort);
            (void)sotto_show_end(&j);
        } else {
            printf("task %s%s%s\n", id, cohort.count > 0 ? "  cohort " : "",
                   sotto_cohort_text(name, &cohort));
        }
    }
}

/* Of a recipe, or of the recipe of a round's record. NULL: it can't be read, and adding it says why. */
static const sotto_recipe *read_head(sotto_bytes text, sotto_arena *arena, sotto_mistakes *mistakes)
{
    const sotto_learning *learning;
    const sotto_recipe *recipe;
    sotto_round_record record;

    if (!sotto_round_record_is(text))
        return sotto_recipe_read(&recipe, text, arena, mistakes, NULL) == SOTTO_OK ? recipe : NULL;
    if (sotto_round_record_decode(&record, text, NULL) != SOTTO_OK ||
        sotto_learning_read(&learning, record.recipe, arena, mistakes, NULL) != SOTTO_OK)
        return NULL;
    return &learning->head;
}

/* Adds the tasks and says which they are. */
static int add_recipe(sotto_admin *admin, sotto_arena *arena)
{
    static sotto_mistakes mistakes, again;
    static uint8_t memory[MAX_COHORTS * SOTTO_TASK_ID_SIZE];
    static figures f;
    sotto_buf ids = sotto_buf_over(memory, sizeof memory);
    const sotto_recipe *recipe = NULL;
    sotto_admitting_keys token_keys = {0};
    sotto_bytes text;
    sotto_status status;

    if (sotto_admin_read_file(admin, &text, admin->words[0], SOTTO_RECIPE_MAX_BYTES) != SOTTO_OK)
        return sotto_admin_fail(admin);
    recipe = read_head(text, arena, &again);
    if (!read_figures(admin, &f, recipe))
        return EXIT_USAGE;
    if (recipe && sotto_admin_token_keys(admin, &token_keys, recipe, arena) != SOTTO_OK)
        return sotto_admin_fail(admin);
    status = add(admin, &ids, text, &token_keys, f.all, &mistakes);
    if (status == SOTTO_OK && f.split)
        status = sotto_population_set(
            admin->db, &(sotto_population){admin->role, sotto_buf_bytes(&ids), f.cohorts},
            &admin->err);
    if (status != SOTTO_OK) {
        sotto_mistakes_explain(&mistakes);
        print_mistakes(&mistakes);
        return mistakes.errors > 0 ? (sotto_admin_fail(admin), EXIT_LINT) : sotto_admin_fail(admin);
    }
    if (recipe)
        print_ids(admin, sotto_buf_bytes(&ids), recipe);
    if (!admin->json)
        warn_of_population(&f, ids.len / SOTTO_TASK_ID_SIZE);
    return EXIT_DONE;
}

static int run_add(int argc, char **argv)
{
    static const char *const known[] = {"--population", "--expect", ADMIN_TOKEN_KEY_FLAGS, NULL};
    static sotto_admin admin;
    sotto_arena arena;
    int code = sotto_admin_parse(&admin, "admin task add", argc, argv, known, 2, 2);

    sotto_arena_init(&arena, MOST_MEMORY);
    if (code == EXIT_DONE)
        code = sotto_admin_open(&admin);
    if (code == EXIT_DONE)
        code = add_recipe(&admin, &arena);
    sotto_arena_clear(&arena);
    sotto_admin_close(&admin);
    return code;
}

/* ---- listing ---------------------------------------------------------------------------------------------------------- */

enum { RECIPE_TEXT = 160 + SOTTO_COHORT_TEXT };

/* The question that a task is of, and which part of it: "commute-1 version 1, cohort locale en_US". A bare task has none. */
static const char *recipe_text(char out[RECIPE_TEXT], const sotto_server_task *task)
{
    const sotto_recipe *recipe = task->recipe;
    char name[SOTTO_COHORT_TEXT];
    sotto_cohort cohort;
    int len;

    if (!recipe)
        return "no recipe";
    len = snprintf(out, RECIPE_TEXT, "%.64s version %" PRIu64, recipe->name, recipe->version);
    sotto_recipe_cohort(recipe, &cohort, task->dap.cohort);
    if (cohort.count > 0)
        (void)snprintf(out + len, (size_t)(RECIPE_TEXT - len), ", cohort %s",
                       sotto_cohort_text(name, &cohort));
    return out;
}

static void show_json(const sotto_task_line *line, const char *id)
{
    const sotto_server_task *task = line->task;
    sotto_cohort cohort;
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

    sotto_json_text(&j, "task", id);
    if (task->recipe) {
        sotto_json_text(&j, "recipe", task->recipe->name);
        sotto_json_uint(&j, "version", task->recipe->version);
        sotto_recipe_cohort(task->recipe, &cohort, task->dap.cohort);
        sotto_json_cohort(&j, &cohort);
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

static sotto_status list_tasks(sotto_admin *admin)
{
    return sotto_list_tasks(admin->db, &admin->columns, admin->role, show, admin, &admin->err);
}

static int run_list(int argc, char **argv)
{
    return sotto_admin_run("admin task list", argc, argv, NULL, 0, 0, list_tasks);
}

/* ---- deleting --------------------------------------------------------------------------------------------------------- */

static sotto_status delete_tasks(sotto_admin *admin)
{
    uint8_t memory[ADMIN_WORDS * SOTTO_TASK_ID_SIZE];
    sotto_buf ids = sotto_buf_over(memory, sizeof memory);

    for (size_t i = 0; i < admin->word_count; i++) {
        const char *word = admin->words[i];

        SOTTO_TRY(sotto_dap_id_decode(ids.data + ids.len, SOTTO_TASK_ID_SIZE,
                                      sotto_bytes_of(word, strlen(word)), &admin->err));
        ids.len += SOTTO_TASK_ID_SIZE;
    }
    SOTTO_TRY(sotto_tasks_delete(admin->db, admin->role, sotto_buf_bytes(&ids), &admin->err));
    if (admin->json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_uint(&j, "deleted", admin->word_count);
        (void)sotto_show_end(&j);
    } else {
        printf("deleted %zu task%s\n", admin->word_count, admin->word_count == 1 ? "" : "s");
    }
    return SOTTO_OK;
}

static int run_delete(int argc, char **argv)
{
    return sotto_admin_run("admin task delete", argc, argv, NULL, 1, ADMIN_WORDS, delete_tasks);
}

static const sotto_verb verb_add = {
    .name = "add",
    .summary = "take part in a recipe's tasks",
    .usage =
        "usage: sotto admin task add RECIPE PARTIES --config FILE [--population N]...\n"
        "           [--expect IDS]... [--token-keys FILE [--log KEY] [--witness KEY]...\n"
        "           [--quorum N]] [--json]\n\n"
        "RECIPE is a recipe, or the record of a round of learning (`sotto recipe round`).\n"
        "Compiles the recipe here and prints the id of each of its tasks; a running server serves\n"
        "them within a second. Give the ids that the other operator was shown as --expect, one or\n"
        "several with spaces between them. If a byte of the recipe, or a server's URL or key,\n"
        "differs, so do the ids, and nothing is added. Each key under this server's name must be "
        "its\n"
        "own. The collector's key, which no id covers, must be the one that was paired, and a "
        "task\n"
        "that is paired never changes it. --population is how many devices may answer, by your "
        "own\n"
        "knowledge, of each task, or of one cohort's: --population en_US=9000. Without it there "
        "is\n"
        "no volume (Sybil) check. Adding the same files again with another number changes it at\n"
        "once, in a running server too.\n\n"
        "A recipe that asks for tokens needs --token-keys: the issuer's list, with a key for each\n"
        "time of the schedule. A task keeps the keys that it was added with. Of a recipe that "
        "names\n"
        "a log, the list comes as a bundle; --log and --witness are whom to believe about it.\n",
    .run = run_add,
};

static const sotto_verb verb_list = {
    .name = "list",
    .summary = "every task of this server",
    .usage = "usage: sotto admin task list --config FILE [--json]\n",
    .run = run_list,
};

static const sotto_verb verb_delete = {
    .name = "delete",
    .summary = "take back tasks that were added by mistake",
    .usage = "usage: sotto admin task delete ID... --config FILE [--json]\n\n"
             "Deletes tasks whose parties are not paired, such as those of a parties file with a\n"
             "wrong URL, which keep the right pairing out. Such a task was never served. Others\n"
             "are not deleted: `sotto admin gc` retires them after they closed.\n",
    .run = run_delete,
};

static const sotto_verb *const parts[] = {&verb_add, &verb_list, &verb_delete, NULL};

const sotto_verb sotto_verb_admin_task = {
    .name = "task",
    .summary = "add, list and delete tasks",
    .parts = parts,
};
