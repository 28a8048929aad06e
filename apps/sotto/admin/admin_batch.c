/* sotto admin batch - batches that are held because more reports came than there are devices to send them. */
#include "admin_which.h"
#include "show.h"

#include "serve/tasks/rate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 128 };

/* A batch's name on the command line: its task's row, then its buckets or its id. */
static void name_of(char out[NAME], const sotto_held *held)
{
    int at = snprintf(out, NAME, "%" PRId64 "-", held->task);

    if (!held->range.leader_selected) {
        (void)snprintf(out + at, NAME - (size_t)at, "%" PRIu64 "-%" PRIu64,
                       held->range.first_bucket, held->range.end_bucket);
        return;
    }
    for (size_t i = 0; i < held->range.batch.len && (size_t)at + 3 < NAME; i++)
        at += snprintf(out + at, 3, "%02x", held->range.batch.bytes[i]);
}

/* ---- list ------------------------------------------------------------------------------------------------- */

/* Its times, or its id as a collector asks for it; both empty where they are not known. */
typedef struct which {
    sotto_which_time time;
    char id[SOTTO_DAP_ID_TEXT_MAX];
} which;

static void find_which(const sotto_listing *l, which *out, const sotto_held *held)
{
    *out = (which){0};
    if (held->range.leader_selected)
        sotto_dap_id_encode(out->id,
                            sotto_bytes_of(held->range.batch.bytes, held->range.batch.len));
    else if (!sotto_which_times(&l->which, &out->time, held->task, held->range.first_bucket,
                                held->range.end_bucket))
        *out = (which){0};
}

/* NULL: that key is left out. */
static const char *some(const char *text)
{
    return text[0] ? text : NULL;
}

static void show_json(const sotto_listing *l, const sotto_held *held, const char *name,
                      const which *w)
{
    sotto_json j = sotto_show_object(l->out, SOTTO_JSON_SPACED);

    sotto_json_text(&j, "batch", name);
    sotto_json_text(&j, "task", sotto_which_task_id(&l->which, held->task));
    sotto_json_some(&j, "batch_id", some(w->id));
    sotto_json_some(&j, "from", some(w->time.from));
    sotto_json_some(&j, "until", some(w->time.until));
    sotto_json_uint(&j, "arrived", held->arrived);
    sotto_json_uint(&j, "expected", held->expected);
    sotto_json_bool(&j, "held", held->held);
    sotto_json_some(&j, "reason", some(held->reason));
    (void)sotto_show_end(&j);
}

static void show_text(const sotto_listing *l, const sotto_held *held, const char *name,
                      const which *w)
{
    const char *state = held->held        ? "held"
                        : held->reason[0] ? "released: "
                                          : "not held any more: collected under a corrected "
                                            "population, or the task is retired";

    (void)fprintf(l->out, "%s  task %s", name, sotto_which_task_id(&l->which, held->task));
    if (w->id[0])
        (void)fprintf(l->out, "  batch %s", w->id);
    if (w->time.from[0])
        (void)fprintf(l->out, "  %s to %s", w->time.from, w->time.until);
    (void)fprintf(l->out, "  %" PRIu64 " reports came, %" PRIu64 " were expected: %s%s\n",
                  held->arrived, held->expected, state, held->reason);
}

static sotto_status show(void *context, const sotto_held *held, sotto_err *err)
{
    sotto_listing *l = context;
    char name[NAME];
    which w;

    (void)err;
    l->lines++;
    name_of(name, held);
    find_which(l, &w, held);
    (l->admin->json ? show_json : show_text)(l, held, name, &w);
    return SOTTO_OK;
}

static sotto_status list(sotto_tx *tx, void *context, sotto_err *err)
{
    return sotto_rate_list(tx, show, context, err);
}

static int run_list(int argc, char **argv)
{
    return sotto_listing_run("admin batch list", list, argc, argv);
}

/* ---- release ------------------------------------------------------------------------------------------------ */

typedef struct search {
    const char *name;
    sotto_rate_release release;
    uint64_t arrived, expected;
    bool found;
} search;

static sotto_status compare(void *context, const sotto_held *held, sotto_err *err)
{
    search *s = context;
    char name[NAME];

    (void)err;
    name_of(name, held);
    if (strcmp(name, s->name) == 0) {
        s->found = true;
        s->release.task = held->task;
        s->release.range = held->range;
        s->arrived = held->arrived;
        s->expected = held->expected;
    }
    return SOTTO_OK;
}

static sotto_status release(sotto_tx *tx, void *context, sotto_err *err)
{
    search *s = context;

    s->found = false;
    SOTTO_TRY(sotto_rate_list(tx, compare, s, err));
    if (!s->found)
        return sotto_fail(err, SOTTO_MISSING, "no batch %.100s is held", s->name);
    return sotto_rate_release_batch(tx, &s->release, err);
}

static void print_released(const search *s, bool json)
{
    if (json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_text(&j, "released", s->name);
        sotto_json_uint(&j, "arrived", s->arrived);
        sotto_json_uint(&j, "expected", s->expected);
        (void)sotto_show_end(&j);
        return;
    }
    printf("released %s: %" PRIu64 " reports came, %" PRIu64 " were expected\n", s->name,
           s->arrived, s->expected);
}

static int run_release(int argc, char **argv)
{
    static const char *const known[] = {"--reason", NULL};
    static sotto_admin admin;
    int code = sotto_admin_parse(&admin, "admin batch release", argc, argv, known, 1, 1);
    search s = {.name = admin.words[0]};

    if (code == EXIT_DONE && !(s.release.reason = sotto_admin_reason(&admin)))
        code = EXIT_USAGE;
    if (code == EXIT_DONE)
        code = sotto_admin_open(&admin);
    if (code == EXIT_DONE && sotto_db_run(admin.db, release, &s, &admin.err) != SOTTO_OK)
        code = sotto_admin_fail(&admin);
    if (code == EXIT_DONE)
        print_released(&s, admin.json);
    sotto_admin_close(&admin);
    return code;
}

static const sotto_verb verb_list = {
    .name = "list",
    .summary = "every batch that was ever held, and why it was released",
    .usage = "usage: sotto admin batch list --config FILE [--json]\n",
    .run = run_list,
};

static const sotto_verb verb_release = {
    .name = "release",
    .summary = "release a held batch, with a reason that is kept",
    .usage =
        "usage: sotto admin batch release BATCH --reason TEXT --config FILE [--json]\n\n"
        "A batch with more than twice the reports that --population implies is held: whoever sent\n"
        "them may know all but one. BATCH is its name in the list.\n"
        "Should still more come before it is collected, it is held again. One that was collected "
        "or\n"
        "released already is refused. The collector's receipt says that it was released, not "
        "why.\n",
    .run = run_release,
};

static const sotto_verb *const parts[] = {&verb_list, &verb_release, NULL};

const sotto_verb sotto_verb_admin_batch = {
    .name = "batch",
    .summary = "batches held because too many reports came",
    .parts = parts,
};
