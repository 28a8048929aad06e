/* Which task and which time a row of a list is about, in the words that `sotto admin task list` and collectors have for them. */
#define _POSIX_C_SOURCE 200809L
#include "admin_which.h"

#include "recipe/calendar.h"
#include "serve/tasks/listing.h"

#include <stdlib.h>

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
    return sotto_list_tasks(admin->db, NULL, admin->role, keep, which, &admin->err);
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

/* In memory: a list is asked for when the disk is full, too. */
typedef struct gathered {
    sotto_listing listing;
    char *text;
    size_t len;
} gathered;

static void forget(gathered *g)
{
    if (g->listing.out)
        (void)fclose(g->listing.out);
    free(g->text);
    g->listing.out = NULL;
    g->text = NULL;
    g->len = 0;
    g->listing.lines = 0;
}

static sotto_status gather(sotto_tx *tx, void *context, sotto_err *err)
{
    gathered *g = context;

    forget(g);
    g->listing.out = open_memstream(&g->text, &g->len);
    if (!g->listing.out)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a list");
    SOTTO_TRY(g->listing.read(tx, &g->listing, err));
    return fflush(g->listing.out) == 0 ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "a list");
}

int sotto_listing_run(const char *verb, sotto_db_fn *list, int argc, char **argv)
{
    static sotto_admin admin;
    gathered g = {.listing = {.admin = &admin, .read = list}};
    int code = sotto_admin_parse(&admin, verb, argc, argv, NULL, 0, 0);

    if (code == EXIT_DONE)
        code = sotto_admin_open(&admin);
    if (code == EXIT_DONE && (sotto_which_open(&g.listing.which, &admin) != SOTTO_OK ||
                              sotto_db_read(admin.db, gather, &g, &admin.err) != SOTTO_OK))
        code = sotto_admin_fail(&admin);
    if (code == EXIT_DONE && g.listing.lines == 0 && !admin.json)
        (void)fprintf(stderr, "none\n");
    else if (code == EXIT_DONE)
        (void)fwrite(g.text, 1, g.len, stdout);
    forget(&g);
    sotto_admin_close(&admin);
    return code;
}
