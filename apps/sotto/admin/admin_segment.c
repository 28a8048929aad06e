/* sotto admin segment - reports that were acknowledged and can't be read back. */
#include "admin_which.h"
#include "show.h"

#include "serve/leader/unreadable.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- list ------------------------------------------------------------------------------------------------- */

static void show_json(const sotto_listing *l, const sotto_unreadable *line,
                      const sotto_which_time *time)
{
    bool waits = line->reason[0] == 0;
    sotto_json j = sotto_show_object(l->out, SOTTO_JSON_SPACED);

    sotto_json_int(&j, "segment", line->segment);
    sotto_json_text(&j, "task", sotto_which_task_id(&l->which, line->task));
    sotto_json_some(&j, "from", time ? time->from : NULL);
    sotto_json_some(&j, "until", time ? time->until : NULL);
    sotto_json_uint(&j, "bucket", line->bucket);
    sotto_json_uint(&j, "reports", line->reports);
    sotto_json_uint(&j, "together", line->together);
    sotto_json_bool(&j, "sent", line->sent);
    sotto_json_bool(&j, "waits", waits);
    sotto_json_text(&j, "why", line->why);
    sotto_json_some(&j, "reason", waits ? NULL : line->reason);
    (void)sotto_show_end(&j);
}

static sotto_status show(void *context, const sotto_unreadable *line, sotto_err *err)
{
    sotto_listing *l = context;
    bool waits = line->reason[0] == 0;
    sotto_which_time time;
    bool known = sotto_which_times(&l->which, &time, line->task, line->bucket, line->bucket + 1);

    (void)err;
    l->lines++;
    if (l->admin->json) {
        show_json(l, line, known ? &time : NULL);
        return SOTTO_OK;
    }
    (void)fprintf(l->out, "%" PRId64 "  task %s  ", line->segment,
                  sotto_which_task_id(&l->which, line->task));
    if (known)
        (void)fprintf(l->out, "%s to %s", time.from, time.until);
    else
        (void)fprintf(l->out, "bucket %" PRIu64, line->bucket);
    (void)fprintf(l->out, "  %" PRIu64 " reports", line->reports);
    if (line->sent && waits)
        (void)fprintf(l->out, " in a job of %" PRIu64 " that was sent", line->together);
    (void)fprintf(l->out, "  %s: %s%s\n", line->why,
                  waits ? "its batch waits" : "abandoned: ", line->reason);
    return SOTTO_OK;
}

static sotto_status list(sotto_tx *tx, void *context, sotto_err *err)
{
    return sotto_unreadable_list(tx, show, context, err);
}

static int run_list(int argc, char **argv)
{
    return sotto_listing_run("admin segment list", list, argc, argv);
}

/* ---- abandon ------------------------------------------------------------------------------------------------ */

static bool read_number(int64_t *out, const char *text)
{
    size_t digits = strspn(text, "0123456789");

    if (digits == 0 || digits > 19 || text[digits])
        return false;
    *out = strtoll(text, NULL, 10); /* what is too long becomes a number that no segment has */
    return true;
}

/* So that whoever looks for the missing key sees which it is not. */
static void show_keys(const sotto_admin *admin)
{
    char name[SOTTO_COLUMN_KEY_NAME];

    (void)fprintf(stderr, "datastore keys of this configuration:");
    for (size_t i = 0; i < admin->columns.count; i++) {
        sotto_column_key_name(name, admin->columns.key[i]);
        (void)fprintf(stderr, " %s", name);
    }
    (void)fprintf(stderr, "\n");
}

static void print_abandoned(uint64_t reports, bool json)
{
    if (json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_uint(&j, "abandoned", reports);
        (void)sotto_show_end(&j);
        return;
    }
    printf("abandoned %" PRIu64 " reports\n", reports);
}

static int run_abandon(int argc, char **argv)
{
    static const char *const known[] = {"--reason", "--key-is-lost", NULL};
    static sotto_admin admin;
    int code = sotto_admin_parse(&admin, "admin segment abandon", argc, argv, known, 1, 1);
    sotto_giving_up g = {.lost_key = sotto_admin_flag(&admin, "--key-is-lost")};

    if (code == EXIT_DONE && !read_number(&g.segment, admin.words[0])) {
        (void)fprintf(stderr, "sotto admin segment abandon: a segment is a number of the list\n");
        code = EXIT_USAGE;
    }
    if (code == EXIT_DONE && !(g.reason = sotto_admin_reason(&admin)))
        code = EXIT_USAGE;
    if (code == EXIT_DONE)
        code = sotto_admin_open(&admin);
    if (code == EXIT_DONE &&
        sotto_db_run(admin.db, sotto_unreadable_give_up, &g, &admin.err) != SOTTO_OK) {
        code = sotto_admin_fail(&admin);
        if (g.key_is_missing)
            show_keys(&admin);
    } else if (code == EXIT_DONE)
        print_abandoned(g.reports, admin.json);
    sotto_admin_close(&admin);
    return code;
}

static const sotto_verb verb_list = {
    .name = "list",
    .summary = "what a leader could not read, and what was abandoned of it",
    .usage = "usage: sotto admin segment list --config FILE [--json]\n",
    .run = run_list,
};

static const sotto_verb verb_abandon = {
    .name = "abandon",
    .summary = "abandon reports that can't be read, with a reason that is kept",
    .usage =
        "usage: sotto admin segment abandon SEGMENT --reason TEXT [--key-is-lost KEY]\n"
        "           --config FILE [--json]\n\n"
        "Works only on segments that the list shows as unreadable; SEGMENT is the number there.\n"
        "One that lacks a datastore key is refused, since the key can be put back; if that key is\n"
        "lost for good, add --key-is-lost with its name from the list. The reports are destroyed,\n"
        "with all others of their job if that was sent. The collector sees them among the\n"
        "rejected ones, as `unreadable`. A running leader need not be stopped.\n",
    .run = run_abandon,
};

static const sotto_verb *const parts[] = {&verb_list, &verb_abandon, NULL};

const sotto_verb sotto_verb_admin_segment = {
    .name = "segment",
    .summary = "reports that were acknowledged and can't be read",
    .parts = parts,
};
