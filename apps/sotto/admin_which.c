/* Which task and which time a row of a list is about, in the words that `sotto admin task list` and collectors have for them. */
#include "admin_which.h"

#include "recipe/calendar.h"
#include "serve/survey.h"

#include <stdio.h>
#include <string.h>

/* In the arena, the newest first. */
struct sotto_which_task {
    const sotto_which_task *next;
    int64_t n;
    uint64_t precision; /* 0: not known, as the task does not compile here */
    char id[SOTTO_DAP_ID_TEXT_MAX];
};

static sotto_status keep(void *context, const sotto_task_line *line, sotto_err *err)
{
    sotto_which *which = context;
    sotto_which_task *task = sotto_arena_take(which->arena, sizeof *task);

    if (!task)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a list of tasks");
    *task = (sotto_which_task){.next = which->tasks, .n = line->n, .id = "?"};
    if (line->id.len == SOTTO_TASK_ID_SIZE)
        sotto_dap_id_encode(task->id, line->id);
    if (line->task)
        task->precision = line->task->dap.precision;
    which->tasks = task;
    return SOTTO_OK;
}

sotto_status sotto_which_open(sotto_which *which, sotto_admin *admin)
{
    *which = (sotto_which){.arena = &admin->arena};
    return sotto_survey_tasks(admin->db, NULL, admin->config.server.role, keep, which, &admin->err);
}

static const sotto_which_task *find(const sotto_which *which, int64_t n)
{
    const sotto_which_task *task = which->tasks;

    while (task && task->n != n)
        task = task->next;
    return task;
}

const char *sotto_which_task_id(const sotto_which *which, int64_t n)
{
    const sotto_which_task *task = find(which, n);

    return task ? task->id : "?";
}

/* What a damaged row says may be no time at all. */
static bool format(char out[SOTTO_CALENDAR_TEXT], uint64_t bucket, uint64_t precision)
{
    static const uint64_t year_10000 = UINT64_C(253402300800);
    uint64_t seconds;

    if (!sotto_dap_seconds_of(&seconds, bucket, precision) || seconds >= year_10000)
        return false;
    sotto_calendar_format_time(out, (int64_t)seconds);
    return true;
}

bool sotto_which_times(const sotto_which *which, sotto_which_time *out, int64_t n, uint64_t first,
                       uint64_t end)
{
    const sotto_which_task *task = find(which, n);

    return task && task->precision > 0 && format(out->from, first, task->precision) &&
           format(out->until, end, task->precision);
}

int sotto_listing_run(const char *verb, sotto_db_fn *list, int argc, char **argv)
{
    static sotto_admin admin;
    sotto_listing l = {.admin = &admin};
    int code = sotto_admin_parse(&admin, verb, argc, argv, NULL, 0, 0);

    if (code == EXIT_DONE)
        code = sotto_admin_open(&admin);
    if (code == EXIT_DONE && (sotto_which_open(&l.which, &admin) != SOTTO_OK ||
                              sotto_db_read(admin.db, list, &l, &admin.err) != SOTTO_OK))
        code = sotto_admin_fail(&admin);
    if (code == EXIT_DONE && l.lines == 0 && !admin.json)
        (void)fprintf(stderr, "none\n");
    sotto_admin_close(&admin);
    return code;
}
