/* sotto learn run - trains a model over a leader and a helper on this machine, in rounds that a log names. */
#define _POSIX_C_SOURCE 200809L
#include "learn_run.h"
#include "show.h"
#include "support/arguments.h"
#include "verbs.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/hex.h"
#include "crypto/hash.h"
#include "recipe/learning_turns.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- steps -------------------------------------------------------------------------------------------------- */

static int code_of(const sotto_err *err, sotto_at at)
{
    if (demo_interrupted())
        return 128 + demo_ended_by();
    (void)fprintf(stderr, "sotto learn: %s\n", err->reason);
    return sotto_exit_code(err->status, at);
}

/* What the folder was made of: another recipe must not go on with it. */
static sotto_status compare_source(learn_run *run, sotto_bytes recipe, bool fresh, sotto_err *err)
{
    char path[DEMO_FILE];
    sotto_bytes kept;

    (void)snprintf(path, sizeof path, "%s/source.json", run->folder);
    if (fresh)
        return sotto_file_write(path, recipe, NULL, NULL, err);
    SOTTO_TRY(learn_read_file(run, path, DEMO_LONG_TEXT, &kept, err));
    if (!sotto_bytes_equal_vartime(kept, recipe))
        return sotto_fail(err, SOTTO_DENIED,
                          "%.60s is of another recipe than %.60s: name another folder with --out",
                          run->folder, run->recipe_file);
    return SOTTO_OK;
}

/* The rows that devices have. Others under the same checkpoint would be another session. */
static sotto_status compare_data(learn_run *run, bool fresh, sotto_err *err)
{
    char path[DEMO_FILE], digest[LEARN_HEX] = "made up";
    uint8_t hash[SOTTO_MODEL_HASH];
    sotto_bytes kept, data;

    if (run->data_file) {
        SOTTO_TRY(learn_read_file(run, run->data_file, SIZE_MAX / 4, &data, err));
        sotto_hash_once(hash, SOTTO_SHA256, data);
        sotto_hex_encode(digest, sotto_bytes_of(hash, sizeof hash));
    }
    (void)snprintf(path, sizeof path, "%s/data.sha256", run->folder);
    if (fresh)
        return sotto_file_write(path, sotto_bytes_of(digest, strlen(digest)), NULL, NULL, err);
    SOTTO_TRY(learn_read_file(run, path, sizeof digest, &kept, err));
    if (!sotto_bytes_equal_vartime(kept, sotto_bytes_of(digest, strlen(digest))))
        return sotto_fail(err, SOTTO_DENIED,
                          "%.100s is of other data: name another folder with --out", run->folder);
    return SOTTO_OK;
}

static sotto_status load_checkpoint(learn_run *run, sotto_err *err)
{
    char path[DEMO_FILE];
    sotto_status status;

    (void)snprintf(path, sizeof path, "%s/session", run->folder);
    status = sotto_session_load(&run->session, path, &run->arena, err);
    if (status == SOTTO_MISSING) {
        sotto_err_clear(err);
        return SOTTO_OK;
    }
    SOTTO_TRY(status);
    learn_say(run, "goes on after %" PRIu64 " rounds", run->session.round);
    return learn_show_save(run, err);
}

/* The recipe, its model and its data: nothing is started yet. */
static int prepare(learn_run *run)
{
    sotto_err err = {0};
    const int code = learn_recipe_judge(run);

    if (code != EXIT_DONE)
        return code;
    if (run->learning->rounds > LEARN_POINTS) {
        (void)fprintf(stderr, "sotto learn: %" PRIu64 " rounds; a session holds %d of them\n",
                      run->learning->rounds, LEARN_POINTS);
        return EXIT_REFUSED;
    }
    if ((run->one_server && learn_one_check(run, &err) != SOTTO_OK) ||
        learn_data_load(run, &err) != SOTTO_OK || learn_session_begin(run, &err) != SOTTO_OK ||
        (run->trainer && learn_trainers_open(run, &err) != SOTTO_OK))
        return code_of(&err, SOTTO_AT_DATA);
    return EXIT_DONE;
}

/* The same where devices of this process train. */
static int prepare_devices(learn_run *run)
{
    const int code = prepare(run);

    if (code != EXIT_DONE || run->trainer || run->model.config.type != SOTTO_MODEL_OWN)
        return code;
    (void)fprintf(stderr, "sotto learn: sotto has no model '%s': %s\n", run->learning->model,
                  run->rehearse ? "--rehearse trains those that it has"
                                : "--trainer names a program that trains it");
    return EXIT_REFUSED;
}

static bool is_there(const learn_run *run)
{
    char path[DEMO_FILE];

    (void)snprintf(path, sizeof path, "%s/deployment.json", run->folder);
    return access(path, F_OK) == 0;
}

/* The recipe is published as it is, byte for byte. */
static int open_remote(learn_run *run, sotto_bytes recipe)
{
    sotto_err err = {0};
    bool fresh;
    int code;

    memcpy(run->deployment.recipe_text, recipe.data, recipe.len);
    code = run->rehearse ? prepare_devices(run) : prepare(run);
    if (code != EXIT_DONE)
        return code;
    if (learn_remote_open(run, &fresh, &err) != SOTTO_OK ||
        compare_source(run, recipe, fresh, &err) != SOTTO_OK ||
        compare_data(run, fresh, &err) != SOTTO_OK)
        return code_of(&err, SOTTO_AT_DATA);
    code = learn_remote_secrets(run);
    if (code != EXIT_DONE)
        return code;
    if ((fresh && learn_remote_provision(run, &err) != SOTTO_OK) ||
        load_checkpoint(run, &err) != SOTTO_OK || learn_models_open(run, &err) != SOTTO_OK)
        return code_of(&err, SOTTO_AT_DATA);
    return EXIT_DONE;
}

static int open_session(learn_run *run)
{
    bool fresh = !is_there(run);
    sotto_err err = {0};
    sotto_bytes recipe;
    int code = EXIT_DONE;

    if (learn_read_file(run, run->recipe_file, DEMO_LONG_TEXT - 1, &recipe, &err) != SOTTO_OK) {
        (void)fprintf(stderr, "sotto learn run: %s\n", err.reason); /* it names the file */
        return sotto_exit_code(err.status, SOTTO_AT_FILE);
    }
    run->one_server = learn_one_is(recipe);
    const sotto_status status =
        fresh && !learn_is_remote(run) ? learn_recipe_localise(run, recipe, &err) : SOTTO_OK;
    if (status != SOTTO_OK) {
        (void)fprintf(stderr, "sotto learn run: %s: %s\n", run->recipe_file, err.reason);
        return sotto_exit_code(err.status, SOTTO_AT_FILE);
    }
    if (run->one_server && (run->library || learn_is_remote(run)))
        return sotto_arguments_misused("learn run", run->library ? "--library" : "--parties",
                                       "it is for recipes of two servers");
    if (learn_is_remote(run))
        return open_remote(run, recipe);
    run->library = run->library || (run->trainer && !run->one_server);
    if (fresh)
        code = prepare_devices(run);
    if (code == EXIT_DONE && learn_deploy_open(run, &fresh, &err) != SOTTO_OK)
        return code_of(&err, SOTTO_AT_DATA);
    if (code == EXIT_DONE && (compare_source(run, recipe, fresh, &err) != SOTTO_OK ||
                              compare_data(run, fresh, &err) != SOTTO_OK))
        return code_of(&err, SOTTO_AT_DATA);
    if (code == EXIT_DONE && !fresh)
        code = prepare_devices(run);
    if (code != EXIT_DONE)
        return code;
    if ((fresh && learn_deploy_provision(run, &err) != SOTTO_OK) ||
        load_checkpoint(run, &err) != SOTTO_OK || learn_models_open(run, &err) != SOTTO_OK ||
        (run->library && learn_library_policy(run, &err) != SOTTO_OK) ||
        (run->one_server && learn_one_begin(run, &err) != SOTTO_OK))
        return code_of(&err, SOTTO_AT_DATA);
    return EXIT_DONE;
}

static int train(learn_run *run)
{
    const uint64_t rounds = run->stop_after > 0 && run->stop_after < run->learning->rounds
                                ? run->stop_after
                                : run->learning->rounds;
    sotto_err err = {0};
    sotto_status status = SOTTO_OK;

    while (status == SOTTO_OK && run->session.round < rounds) {
        if (demo_interrupted())
            status = sotto_fail(&err, SOTTO_STALE, "interrupted");
        else
            status = learn_round_run(run, &err);
        sotto_arena_reset(&run->round_arena);
    }
    if (status != SOTTO_OK)
        return code_of(&err, run->asks ? SOTTO_AT_PEER : SOTTO_AT_DATA);
    return run->session.round > 0 && run->session.burnt == run->session.round ? EXIT_SMALL
                                                                              : EXIT_DONE;
}

static int run_main(int argc, char **argv)
{
    static learn_run run; /* too large for a stack */
    int code;

    run.threads = 2;
    run.seed = 1;
    code = learn_run_options(&run, argc, argv);
    if (code != EXIT_DONE)
        return code;
    demo_catch_signals();
    sotto_arena_init(&run.arena, (size_t)8 << 30);
    sotto_arena_init(&run.round_arena, (size_t)4 << 30);
    code = open_session(&run);
    if (code == EXIT_DONE)
        code = train(&run);
    if (code == EXIT_DONE || code == EXIT_SMALL) {
        const int shown = learn_show_end(&run);

        code = shown == EXIT_DONE ? code : shown;
    } else if (run.learning && is_there(&run)) {
        (void)fprintf(stderr, "sotto learn run: what is done is in %s; the same command goes on\n",
                      run.folder);
    }
    learn_trainers_close(&run);
    learn_models_close(&run);
    learn_deploy_close(&run);
    sotto_arena_clear(&run.round_arena);
    sotto_arena_clear(&run.arena);
    return code;
}

const sotto_verb sotto_verb_learn_run = {
    .name = "run",
    .summary = "train a model over two servers, or over one",
    .usage =
        "usage: sotto learn run RECIPE [--data FILE] [--out DIR] [options]\n"
        "       sotto learn run RECIPE --parties FILE --pairing FILE --key FILE --from URL\n"
        "           --log KEY --witness KEY... --token FILE [--owner FILE] [options]\n\n"
        "Starts a log, its witness, a leader and a helper as processes on loopback. Publishes the\n"
        "record of each round, from which both servers make its task. Devices of this process\n"
        "train and send their updates, sealed for both. Then collects the sum, moves the model,\n"
        "and keeps a checkpoint. Ended at any moment, the same command goes on. Prints a receipt:\n"
        "epsilon, its theorem, and who must be honest.\n\n"
        "Schedule, parties and anonymity of the recipe are those of this deployment, and a round\n"
        "takes as long as its devices do. Exits with 4 where a budget or model is refused, 5 if\n"
        "every round was too small, and 7 if a server can't be reached.\n\n"
        "A recipe whose `trust` is flamingo has one server: an aggregator is started in their\n"
        "place, and four witnesses that draw the beacon. Every device answers by\n"
        "libsotto-device-full, with files of its own. A committee of devices makes a key, and\n"
        "opens the sum of each round. A round that a kill interrupts burns. So it is where\n"
        "`trust` is aero: a witness cosigns what the aggregator shows, and each round has a\n"
        "committee and a key of its own.\n\n"
        "With --parties nothing is started: log, leader and helper are those of others, and the\n"
        "recipe is published as it is. Their operators have added round 0. Devices answer by\n"
        "themselves. A round's sum is collected when it ends with its goal, or when its grace is\n"
        "over, and the next round is published. A server that is down is waited for.\n\n"
        "  --data FILE     examples of many users, from `sotto learn data`; else made-up digits\n"
        "  --out DIR       the session's folder; else one in the folder you are in: digits.learn\n"
        "                  for digits.json, plan.learn for plan/recipe.json\n"
        "  --policy FILE   lint the recipe against it\n"
        "  --init FILE     the first model, as safetensors; else the one of --seed\n"
        "  --seed S        of the first model; 1 unless stated\n"
        "  --devices N     in the place of the recipe's population\n"
        "  --library       each device has files of its own and answers by libsotto-device-full: "
        "it\n"
        "                  checks the log, fetches the model, draws, trains, pays and sends\n"
        "  --trainer CMD   devices train by this program (examples/trainer), with --library. It\n"
        "                  may train models that sotto has not: --init has their first file\n"
        "  --drop P        so many percent of the devices that take part never send their report\n"
        "  --parties FILE  the servers that others run\n"
        "  --pairing FILE  the collector's tokens, which an operator of the servers made\n"
        "  --key FILE      the collector's key\n"
        "  --owner FILE    the key that signs records, where the recipe has rounds.key\n"
        "  --from URL      the log\n"
        "  --log KEY       its public key\n"
        "  --witness KEY   of a witness that must have cosigned; may stand several times\n"
        "  --quorum N      so many of the witnesses; all of them unless stated\n"
        "  --token FILE    by which the log knows you\n"
        "  --ca FILE       certificates by which leader and helper are known; else the system's\n"
        "  --plain-http    take http:// for leader and helper beyond this machine\n"
        "  --patience S    seconds after its end in which a round may still get its reports; half "
        "of\n"
        "                  rounds.every unless stated\n"
        "  --rehearse      play the recipe's devices in this process, against those servers\n"
        "  --stop-after N  end after round N; the same command without it goes on\n"
        "  --threads N     that devices share; 2 unless stated\n"
        "  --quiet         no line for each step\n"
        "  --json          print one JSON object at the end\n",
    .run = run_main,
};

/* ---- check ---------------------------------------------------------------------------------------------------- */

/* Devices that took part stay away from later rounds. */
static void print_reports(learn_run *run)
{
    const sotto_learning_claim *c = &run->claim;
    sotto_turns turns;
    uint64_t least = 0;

    if (sotto_learning_turns(&turns, run->learning, &run->arena, NULL) != SOTTO_OK)
        return;
    for (uint64_t t = 1; t < turns.rounds; t++)
        least = turns.reports[t] < turns.reports[least] ? t : least;
    if (least == 0)
        printf("  round   %.0f reports expected in each", turns.reports[0]);
    else
        printf("  round   %.0f reports expected in round 0, %.0f in round %" PRIu64
               ", which has the fewest",
               turns.reports[0], turns.reports[least], least);
    printf("; %" PRIu64 " needed; %zu bytes each\n", run->learning->head.min_cohort,
           c->report_bytes);
}

static void print_check(learn_run *run)
{
    const sotto_learning_claim *c = &run->claim;

    if (run->json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_bool(&j, "ok", true);
        sotto_json_uint(&j, "parameters", run->model.parameters);
        sotto_json_uint(&j, "users", run->data.users);
        sotto_json_uint(&j, "rows", run->data.training);
        sotto_json_uint(&j, "fits", c->fit_count);
        (void)sotto_show_end(&j);
        return;
    }
    printf("%s: ok\n", run->recipe_file);
    for (size_t i = 0; i < c->fit_count; i++)
        printf("  fits    %s: %.6g <= %.6g\n", c->fits[i].what, c->fits[i].left, c->fits[i].right);
    printf("  data    %zu users with %zu rows, %zu rows to test with, %zu classes\n",
           run->data.users, run->data.training, run->data.test, run->data.classes);
    printf("  model   %s, %zu parameters, begins as the recipe says\n", run->learning->model,
           run->model.parameters);
    print_reports(run);
}

static int check_main(int argc, char **argv)
{
    static learn_run run;
    sotto_err err = {0};
    sotto_bytes recipe;
    int code;

    run.threads = 1;
    run.seed = 1;
    code = learn_check_options(&run, argc, argv);
    if (code != EXIT_DONE)
        return code;
    sotto_arena_init(&run.arena, (size_t)8 << 30);
    if (learn_read_file(&run, run.recipe_file, DEMO_LONG_TEXT - 1, &recipe, &err) != SOTTO_OK) {
        code = code_of(&err, SOTTO_AT_FILE);
    } else {
        memcpy(run.deployment.recipe_text, recipe.data, recipe.len);
        run.one_server = learn_one_is(recipe);
        code = prepare(&run);
    }
    if (code == EXIT_DONE)
        print_check(&run);
    sotto_arena_clear(&run.arena);
    return code;
}

const sotto_verb sotto_verb_learn_check = {
    .name = "check",
    .summary = "check a recipe, its numbers, its data and its first model",
    .usage =
        "usage: sotto learn check RECIPE [--data FILE] [--policy FILE] [--init FILE]\n"
        "       [--seed S] [--json]\n\n"
        "Lints the recipe, proves that no sum overflows, and reads the data: whether rows fit\n"
        "the model, and whether it begins with the model that the recipe names. Starts\n"
        "nothing. Exits with 3 for a mistake in the recipe, 4 for data or a model that do not\n"
        "go with it.\n\n"
        "  --data FILE    examples of many users; else made-up digits\n"
        "  --policy FILE  lint the recipe against it\n"
        "  --init FILE    the first model, as safetensors; else the one of --seed\n"
        "  --seed S       of the first model; 1 unless stated\n"
        "  --json         print one JSON object\n",
    .run = check_main,
};
