/* sotto collect - ask the leader for a batch, open it, and show the answer with its receipt. */
#include "collect.h"

#include "show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: sotto collect --recipe FILE --parties FILE --pairing FILE --key FILE [options] [next]\n"
    "       sotto collect ... --withdraw\n"
    "       sotto collect key FILE [--id N] [--json]\n\n"
    "Asks the leader for the sum of a batch, waits until it is there, opens both servers' shares,\n"
    "checks what can be checked, and prints estimated counts with 95% intervals. The receipt says\n"
    "who must be honest, what may be claimed and by which theorem, what was rejected and why.\n\n"
    "  --recipe FILE    the question, as it was published\n"
    "  --parties FILE   where the servers are, and their keys and yours\n"
    "  --pairing FILE   tokens; readable by you alone (sotto admin pair)\n"
    "  --key FILE       your key; readable by you alone\n"
    "  --from TIME      start of the batch, such as 2026-11-20T00:00:00Z; default: the schedule's\n"
    "  --until TIME     end of it, itself not included\n"
    "  --close-early    ask although that end is yet to come: once there are enough reports, the\n"
    "                   batch is closed for good, and later reports are rejected. If there are\n"
    "                   too few now, the request stays open: the leader closes the batch as soon\n"
    "                   as there are enough, unless you --withdraw it\n"
    "  --withdraw       ask nothing; withdraw the open request for this batch, with the same\n"
    "                   files, --from, --until and --cohort. Nothing is lost by it, and the\n"
    "                   batch stays open. Refused once the leader has closed the batch\n"
    "  next             the next batch, of a recipe whose leader selects them\n"
    "  --forget         once it is shown, let the leader go on to the next batch\n"
    "  --cohort C       a number from 0, or values of the recipe's cohort fields: en_US,phone\n"
    "  --policy FILE    the devices' policy, whose share of honest reports the receipt then uses;\n"
    "                   without it: half\n"
    "  --wait SECONDS   how long to wait for the batch; default 60; 0: ask once, and don't "
    "wait.\n"
    "                   The first request for a batch is never answered at once\n"
    "  --bins N         bars to print, of the largest counts; default 20, 0: all\n"
    "  --by COLUMN      the bins of one column, where the recipe combines several; not for --json\n"
    "                   and --html, which have each column\n"
    "  --rate R         chance that a device took part, for estimates of all devices; default:\n"
    "                   the recipe's, where the batch is the whole schedule; 0: none\n"
    "  --adjust         also counts that are 0 or more and keep their total: they are biased\n"
    "  --answer FILE    also the JSON object that --json prints, into a file\n"
    "  --csv FILE       also a table: a line for each bin and each figure\n"
    "  --svg FILE       also a picture, of as many bars as are printed\n"
    "  --html FILE      also a page: chart, table, receipt, recipe and log proof, in one file\n"
    "                   without script that loads nothing\n"
    "  --proof FILE     the bundle that sotto recipe publish wrote. It is checked against the log\n"
    "                   of --policy, and --html shows it\n"
    "  --ca FILE        certificates to trust instead of the system's\n"
    "  --plain-http     allow http:// to servers that are not on this machine\n"
    "  --json           one JSON object, with all bins\n\n"
    "sotto collect key FILE makes your key pair: the secret half into FILE, which only you can "
    "read,\n"
    "the public half on standard output, for the parties file.\n\n"
    "Exits with 0 done, 1 failed, 2 usage, 3 a file has mistakes, 4 pairing, key and recipe do "
    "not\n"
    "belong together. Also with 5 not ready: too few reports, not all verified yet, or the "
    "interval\n"
    "is not over. 6 the shares do not hold together, 7 a server is down.\n";

/* ---- the command line ------------------------------------------------------------------------------------ */

static int parse(sotto_collect_job *job, int argc, char **argv)
{
    const sotto_argument words[] = {
        {.name = "next", .flag = &job->next},
        {.name = "--recipe", .text = &job->recipe.files[0], .needed = true},
        {.name = "--parties", .text = &job->recipe.files[1], .needed = true},
        {.name = "--pairing", .text = &job->pairing, .needed = true},
        {.name = "--key", .text = &job->key, .needed = true},
        {.name = "--policy", .text = &job->recipe.policy},
        {.name = "--cohort", .text = &job->cohort},
        {.name = "--from", .text = &job->from},
        {.name = "--until", .text = &job->until},
        {.name = "--ca", .text = &job->ca},
        {.name = "--csv", .text = &job->files.csv},
        {.name = "--answer", .text = &job->files.json},
        {.name = "--svg", .text = &job->files.svg},
        {.name = "--html", .text = &job->files.html},
        {.name = "--by", .text = &job->by},
        {.name = "--proof", .text = &job->proof},
        {.name = "--rate", .text = &job->rate},
        {.name = "--wait", .whole = &job->wait_s, .most = 1000000},
        {.name = "--bins", .whole = &job->bins, .most = 1000000000},
        {.name = "--forget", .flag = &job->forget},
        {.name = "--plain-http", .flag = &job->plain},
        {.name = "--close-early", .flag = &job->close_early},
        {.name = "--withdraw", .flag = &job->withdraw},
        {.name = "--adjust", .flag = &job->adjust},
        {.name = "--json", .flag = &job->recipe.json}};

    return sotto_arguments_read("collect", words, sizeof words / sizeof words[0], argc, argv);
}

/* ---- asking ---------------------------------------------------------------------------------------------- */

static void show_waiting(void *context, unsigned waited_ms)
{
    unsigned *shown = context;

    if (waited_ms / 5000 < *shown)
        return;
    *shown = waited_ms / 5000 + 1;
    (void)fprintf(stderr, "sotto collect: waiting for the batch, %u s\n", waited_ms / 1000);
}

static sotto_status ask(sotto_collector *collector, sotto_collect_job *job, sotto_err *err)
{
    static sotto_collection collection;
    static sotto_receipt receipt;
    const sotto_recipe *recipe = job->recipe.recipe;
    sotto_arena *arena = &job->recipe.arena;
    sotto_result result;
    sotto_answer_view answer = {.recipe = recipe,
                                .result = &result,
                                .receipt = &receipt,
                                .log = job->has_log ? &job->log : NULL,
                                .by = job->by};
    sotto_view view = sotto_show_view(job->recipe.json ? SOTTO_VIEW_JSON : SOTTO_VIEW_TEXT);

    SOTTO_TRY(sotto_collector_ask(collector, &collection, &job->query, arena, err));
    SOTTO_TRY(sotto_result_estimate(&result, recipe, collection.sums, collection.sum_count,
                                    collection.reports, &job->result, arena, err));
    sotto_receipt_of(&receipt, recipe, &job->task, &job->recipe.claim, &collection, &result);
    view.most = job->bins;
    SOTTO_TRY(sotto_view_answer(&view, &answer, arena, err));
    SOTTO_TRY(sotto_show_files(&job->files, &answer, job->bins, err));
    /* Only once it was written: until then the leader keeps it for us. */
    if (job->forget && fflush(stdout) == 0)
        SOTTO_TRY(sotto_collector_forget(collector, &collection, err));
    return SOTTO_OK;
}

static sotto_status withdraw(sotto_collector *collector, const sotto_collect_job *job,
                             sotto_err *err)
{
    SOTTO_TRY(sotto_collector_withdraw(collector, &job->query, err));
    if (job->recipe.json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_bool(&j, "withdrawn", true);
        (void)sotto_show_end(&j);
    } else {
        printf("withdrawn: the batch is open as before\n");
    }
    return SOTTO_OK;
}

static int collect(sotto_collect_job *job)
{
    unsigned shown = 0;
    sotto_collector_options options = {
        .task = &job->task,
        .key = &job->key_read,
        .collector_token = job->secrets.collector_token,
        .rejection_token = job->secrets.rejection_token,
        .ca_file = job->ca,
        .plain_anywhere = job->plain,
        .deadline_ms = (unsigned)(job->wait_s * 1000),
        .once = job->wait_s == 0,
        .waiting = show_waiting,
        .context = &shown,
    };
    sotto_collector *collector = NULL;
    sotto_err err = {0};
    sotto_status status = sotto_collector_open(&collector, &options, &err);

    if (status == SOTTO_OK)
        status = job->withdraw ? withdraw(collector, job, &err) : ask(collector, job, &err);
    sotto_collector_close(collector);
    if (status != SOTTO_OK)
        (void)fprintf(stderr, "sotto collect: %s\n", err.reason);
    /* The leader keeps the question, and goes on with it when we are gone. */
    if (status == SOTTO_AGAIN)
        (void)fprintf(stderr,
                      "sotto collect: the request stays open: once there are enough reports, the "
                      "leader closes the batch,\nand later reports are rejected. Ask again for "
                      "the answer%s\n",
                      job->task.batch_mode == 2 ? "" : "; --withdraw takes the request back");
    if (status == SOTTO_AGAIN && !sotto_collect_helper_answers(job)) {
        (void)fprintf(stderr,
                      "sotto collect: the helper can't be reached, and no report is verified "
                      "without it: tell its operator. The leader keeps the reports\n");
        return EXIT_PEER;
    }
    return sotto_exit_code(status, SOTTO_AT_BATCH);
}

/* How the answer is estimated; what needs no answer is refused before one is asked for. */
static int choose(sotto_collect_job *job)
{
    const sotto_recipe *recipe = job->recipe.recipe;
    bool known = !job->by;
    char *end = NULL;

    job->result.adjust = job->adjust;
    /* Of a batch that was closed early, nobody knows who would still have come. */
    if (!job->close_early)
        sotto_recipe_rates(&job->result, recipe, job->query.from, job->query.until);
    if (job->rate && recipe->participation.type == SOTTO_IMPORTANCE) {
        (void)fprintf(stderr, "sotto collect: --rate: devices took part at two rates, which the "
                              "receipt names\n");
        return EXIT_USAGE;
    }
    if (job->rate)
        job->result.rate = strtod(job->rate, &end);
    if (job->rate &&
        (*end || end == job->rate || !(job->result.rate >= 0 && job->result.rate <= 1))) {
        (void)fprintf(stderr, "sotto collect: --rate takes a chance from 0 to 1\n");
        return EXIT_USAGE;
    }
    for (size_t i = 0; job->by && i < sotto_recipe_columns(recipe); i++)
        known = known || strcmp(sotto_recipe_column(recipe, i), job->by) == 0;
    if (!known)
        (void)fprintf(stderr, "sotto collect: --by: the recipe's bins have no column %s\n",
                      job->by);
    return known ? EXIT_DONE : EXIT_USAGE;
}

static int run(int argc, char **argv)
{
    static sotto_collect_job job;
    int code;

    if (argc > 1 && strcmp(argv[1], "key") == 0)
        return sotto_collect_key(argc - 1, argv + 1);
    job.recipe.above = "sotto";
    job.recipe.verb = "collect";
    job.wait_s = 60;
    job.bins = 20;
    sotto_arena_init(&job.recipe.arena, (size_t)1 << 30);
    code = parse(&job, argc, argv);
    if (code == EXIT_DONE)
        code = sotto_collect_job_load(&job);
    if (code == EXIT_DONE)
        code = sotto_collect_job_log(&job);
    if (code == EXIT_DONE)
        code = choose(&job);
    if (code == EXIT_DONE)
        code = collect(&job);
    sotto_arena_clear(&job.recipe.arena);
    sotto_wipe(&job.secrets, sizeof job.secrets);
    sotto_wipe(&job.key_read, sizeof job.key_read);
    return code;
}

const sotto_verb sotto_verb_collect = {
    .name = "collect",
    .summary = "ask for a batch, open it, and show the answer with its receipt",
    .usage = usage,
    .run = run,
};
