/* sotto admin segment - reports that were acknowledged and can't be read back. */
#include "admin.h"

#include "serve/unreadable.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- list ------------------------------------------------------------------------------------------------- */

static sotto_status show(void *context, const sotto_unreadable *line, sotto_err *err)
{
    const sotto_admin *admin = context;
    bool waits = line->reason[0] == 0;

    (void)err;
    if (admin->json) {
        json_t *json = json_pack("{s:I, s:I, s:I, s:I, s:b, s:b, s:s, s:s*}", "segment",
                                 (json_int_t)line->segment, "task", (json_int_t)line->task,
                                 "bucket", (json_int_t)line->bucket, "reports",
                                 (json_int_t)line->reports, "sent", line->sent, "waits", waits,
                                 "why", line->why, "reason", waits ? NULL : line->reason);

        (void)json_dumpf(json, stdout, 0);
        json_decref(json);
        printf("\n");
        return SOTTO_OK;
    }
    printf("%" PRId64 "  task %" PRId64 "  bucket %" PRIu64 "  %" PRIu64 " reports%s  %s: %s%s\n",
           line->segment, line->task, line->bucket, line->reports,
           line->sent ? " in a job that was sent" : "", line->why,
           waits ? "its batch waits" : "abandoned: ", line->reason);
    return SOTTO_OK;
}

static sotto_status list(sotto_tx *tx, void *context, sotto_err *err)
{
    return sotto_unreadable_list(tx, show, context, err);
}

static int run_list(int argc, char **argv)
{
    static sotto_admin admin;
    int code = sotto_admin_parse(&admin, "admin segment list", argc, argv, NULL, 0, 0);

    if (code == EXIT_DONE)
        code = sotto_admin_open(&admin);
    if (code == EXIT_DONE && sotto_db_run(admin.db, list, &admin, &admin.err) != SOTTO_OK)
        code = sotto_admin_fail(&admin);
    sotto_admin_close(&admin);
    return code;
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

static int run_abandon(int argc, char **argv)
{
    static const char *const known[] = {"--reason", NULL};
    static sotto_admin admin;
    int code = sotto_admin_parse(&admin, "admin segment abandon", argc, argv, known, 1, 1);
    sotto_giving_up g = {.reason = sotto_admin_flag(&admin, "--reason")};

    if (code == EXIT_DONE && !read_number(&g.segment, admin.words[0])) {
        (void)fprintf(stderr, "sotto admin segment abandon: a segment is a number of the list\n");
        code = EXIT_USAGE;
    }
    if (code == EXIT_DONE && (!g.reason || !g.reason[0])) {
        (void)fprintf(stderr, "sotto admin segment abandon: --reason says why, and is kept\n");
        code = EXIT_USAGE;
    }
    if (code == EXIT_DONE)
        code = sotto_admin_open(&admin);
    if (code == EXIT_DONE &&
        sotto_db_run(admin.db, sotto_unreadable_give_up, &g, &admin.err) != SOTTO_OK)
        code = sotto_admin_fail(&admin);
    else if (code == EXIT_DONE)
        printf(admin.json ? "{\"abandoned\": %" PRIu64 "}\n" : "abandoned %" PRIu64 " reports\n",
               g.reports);
    sotto_admin_close(&admin);
    return code;
}

static const sotto_verb verb_list = {
    .name = "list",
    .summary = "what a leader could not read, and what was given up of it",
    .usage = "usage: sotto admin segment list --config FILE [--json]\n",
    .run = run_list,
};

static const sotto_verb verb_abandon = {
    .name = "abandon",
    .summary = "give up reports that can't be read, with a reason that is kept",
    .usage = "usage: sotto admin segment abandon SEGMENT --reason TEXT --config FILE [--json]\n\n"
             "For what can't be had again: not for a datastore key that is only missing. SEGMENT "
             "is its\n"
             "number in the list; one that was never found unreadable is refused. Its reports are\n"
             "destroyed, with all others of its job if that was sent, and the collector sees them "
             "among\n"
             "the refused ones, as `unreadable`. A running leader need not be stopped.\n",
    .run = run_abandon,
};

static const sotto_verb *const parts[] = {&verb_list, &verb_abandon, NULL};

const sotto_verb sotto_verb_admin_segment = {
    .name = "segment",
    .summary = "reports that were acknowledged and can't be read",
    .parts = parts,
};
