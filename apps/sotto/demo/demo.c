/* sotto demo - a whole deployment and thousands of devices on this machine, from one event to one answer. */
#define _POSIX_C_SOURCE 200809L
#include "demo.h"
#include "support/arguments.h"
#include "verbs.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "support/people.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_DEVICES = 20000, FEWEST = 200, MOST = 1000000 };
enum { KEPT_BLOCKS = 16 << 20 }; /* bytes of memory that is kept for the next device */
/* With one server: each device does a hundred times the work, in one process. */
enum { FLAMINGO_DEVICES = 200, FLAMINGO_FEWEST = 24, FLAMINGO_MOST = 2000 };
enum { AERO_FEWEST = 80, AERO_MOST = 500 };

/* The signal that came, or 0. Threads read them, for which sig_atomic_t is not made; a signal handler may write what needs
 * no lock. */
static atomic_int interrupted, broken_pipe;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "needs no lock");

/* A pipe may also be the connection to a server that a device gave up: only one of ours that breaks ends the demo. */
int demo_ended_by(void)
{
    int signal = atomic_load_explicit(&interrupted, memory_order_relaxed);

    if (signal == 0 && atomic_load_explicit(&broken_pipe, memory_order_relaxed) != 0 &&
        (ferror(stdout) || ferror(stderr)))
        signal = SIGPIPE;
    return signal;
}

bool demo_interrupted(void)
{
    return demo_ended_by() != 0;
}

static void on_interrupt(int signal)
{
    atomic_store_explicit(signal == SIGPIPE ? &broken_pipe : &interrupted, signal,
                          memory_order_relaxed);
}

/* Whatever asks it to end leaves it time to end its servers and to remove its directory. */
void demo_catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    struct sigaction action = {.sa_handler = on_interrupt}, before;

    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        (void)sigaction(signals[i], NULL, &before);
        /* nohup asks for that; what a shell starts in the background ignores SIGINT too, but is told so by hand */
        if (signals[i] != SIGHUP || before.sa_handler != SIG_IGN)
            (void)sigaction(signals[i], &action, NULL);
    }
}

static int fewest_of(const demo *d)
{
    return d->flamingo ? FLAMINGO_FEWEST : d->aero ? AERO_FEWEST : FEWEST;
}

static int most_of(const demo *d)
{
    return d->flamingo ? FLAMINGO_MOST : d->aero ? AERO_MOST : MOST;
}

/* A list of parts, with commas between them. */
static bool read_without(demo *d, const char *text)
{
    static const struct {
        const char *name;
        unsigned part;
    } parts[] = {{"relay", DEMO_RELAY}, {"tokens", DEMO_TOKENS}, {"log", DEMO_LOG}};

    for (const char *word = text; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
        const size_t len = strcspn(word, ",");
        unsigned found = 0;

        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
            if (strlen(parts[i].name) == len && strncmp(parts[i].name, word, len) == 0)
                found = parts[i].part;
        d->without |= found;
        if (found == 0)
            text = NULL;
    }
    if (!text)
        (void)fprintf(stderr, "sotto demo: --without takes relay, tokens and log, with commas "
                              "between them\n");
    return text != NULL;
}

static bool read_trust(demo *d, const char *text)
{
    d->flamingo = text && strcmp(text, "flamingo") == 0;
    d->aero = text && strcmp(text, "aero") == 0;
    if (d->flamingo || d->aero || (text && strcmp(text, "split") == 0))
        return true;
    (void)fprintf(stderr, "sotto demo: --trust takes split, flamingo or aero\n");
    return false;
}

static bool read_tokens(demo *d, const char *text)
{
    d->arc = text && strcmp(text, "arc") == 0;
    if (d->arc || (text && strcmp(text, "type-2") == 0))
        return true;
    (void)fprintf(stderr, "sotto demo: --tokens takes type-2 or arc\n");
    return false;
}

static bool complain(const char *option, const char *what)
{
    (void)sotto_arguments_misused("demo", option, what);
    return false;
}

/* Their range depends on who adds up, which another option says. */
static bool read_devices(demo *d, const char *text)
{
    const sotto_argument devices = {
        .name = "--devices", .whole = &d->devices, .least = fewest_of(d), .most = most_of(d)};

    d->devices_stated = text != NULL;
    if (text)
        return sotto_arguments_number("demo", &devices, text) == EXIT_DONE;
    if (d->flamingo || d->aero)
        d->devices = FLAMINGO_DEVICES;
    return true;
}

static bool check_options(demo *d)
{
    if ((d->flamingo || d->aero) &&
        (d->recipe_file || d->csv_file || d->policy_file || d->keep || d->arc || d->without ||
         d->streams_file || d->device_column || d->skip_bad))
        return complain(
            "--trust",
            "with one server only --devices, --check, --json and files of the answer go");
    if (!d->recipe_file != !d->csv_file)
        return complain(d->recipe_file ? "--csv" : "--recipe",
                        "a recipe of your own and its rows go together");
    if (!d->recipe_file && (d->policy_file || d->streams_file || d->device_column || d->skip_bad))
        return complain(d->policy_file     ? "--policy"
                        : d->streams_file  ? "--streams"
                        : d->device_column ? "--device-column"
                                           : "--skip-bad-rows",
                        "only with --recipe and --csv");
    if (d->arc && (d->keep || (d->without & DEMO_TOKENS)))
        return complain("--tokens", "this deployment has none");
    if (d->keep &&
        (d->check || d->json || d->files.json || d->files.csv || d->files.svg || d->files.html))
        return complain("--keep", "it collects nothing, so there is nothing to check or print");
    if (d->keep) /* what an application needs first */
        d->without = DEMO_RELAY | DEMO_TOKENS | DEMO_LOG;
    return true;
}

static bool read_options(demo *d, int argc, char **argv)
{
    const char *devices = NULL, *without = NULL, *trust = NULL, *tokens = NULL;
    const sotto_argument words[] = {{.name = "--recipe", .text = &d->recipe_file},
                                    {.name = "--policy", .text = &d->policy_file},
                                    {.name = "--csv", .text = &d->csv_file},
                                    {.name = "--streams", .text = &d->streams_file},
                                    {.name = "--device-column", .text = &d->device_column},
                                    {.name = "--skip-bad-rows", .flag = &d->skip_bad},
                                    {.name = "--answer", .text = &d->files.json},
                                    {.name = "--table", .text = &d->files.csv},
                                    {.name = "--svg", .text = &d->files.svg},
                                    {.name = "--html", .text = &d->files.html},
                                    {.name = "--devices", .text = &devices},
                                    {.name = "--without", .text = &without},
                                    {.name = "--trust", .text = &trust},
                                    {.name = "--tokens", .text = &tokens},
                                    {.name = "--check", .flag = &d->check},
                                    {.name = "--keep", .flag = &d->keep},
                                    {.name = "--json", .flag = &d->json}};

    if (sotto_arguments_read("demo", words, sizeof words / sizeof words[0], argc, argv) !=
        EXIT_DONE)
        return false;
    d->quiet = d->json;
    return (!without || read_without(d, without)) && (!trust || read_trust(d, trust)) &&
           (!tokens || read_tokens(d, tokens)) && read_devices(d, devices) && check_options(d);
}

static void say(const demo *d, const char *text)
{
    if (!d->quiet)
        (void)fprintf(stderr, "%s\n", text);
}

/* All processes before anything here has threads. */
static sotto_status start(demo *d, sotto_err *err)
{
    say(d,
        "A leader and a helper start, each with a database of its own: together they add up, and\n"
        "neither sees an answer ...");
    SOTTO_TRY(demo_servers_start(d, err));
    if (!(d->without & DEMO_LOG)) {
        say(d,
            "A public log and its witness: everybody is asked the same question, or it shows ...");
        SOTTO_TRY(demo_log_start(d, err));
    }
    if (!(d->without & DEMO_TOKENS)) {
        say(d, d->arc
                   ? "An attester, which knows the devices; leader and helper each give a device "
                     "one\ncredential of ARC, so that nobody answers twice ..."
                   : "An attester, which knows the devices, and an issuer, which does not: "
                     "together they\ngive each device one token, so that nobody answers twice "
                     "...");
        SOTTO_TRY(demo_tokens_start(d, err));
    }
    if (!(d->without & DEMO_RELAY)) {
        say(d,
            "A relay, which sees who sends and not what, and a gateway, which sees what and not\n"
            "who ...");
        SOTTO_TRY(demo_relay_start(d, err));
    }
    return SOTTO_OK;
}

static sotto_status prepare(demo *d, sotto_err *err)
{
    SOTTO_TRY(sotto_collector_key_new(&d->collector, 1, err));
    SOTTO_TRY(demo_write_recipe(d, err));
    SOTTO_TRY(demo_write_policy(d, err));
    SOTTO_TRY(demo_write_parties(d, err));
    d->refused = d->recipe_file ? EXIT_LINT : 0; /* as it is fitted to this deployment */
    SOTTO_TRY(demo_compile(d, err));
    d->refused = 0;
    if (!(d->without & DEMO_TOKENS)) {
        say(d,
            d->arc
                ? "Leader and helper each make a key for this epoch; the devices are enrolled ..."
                : "The issuer makes a key for this collection; the devices are enrolled ...");
        SOTTO_TRY(demo_tokens_enrol(d, err));
        SOTTO_TRY(d->arc ? demo_arc_list(d, err) : demo_tokens_list(d, err));
    }
    if (!(d->without & DEMO_LOG)) {
        say(d, "The recipe goes into the log, and the witness cosigns ...");
        SOTTO_TRY(demo_log_publish(d, err));
    }
    say(d, "Leader and helper are paired, and each compiles the recipe for itself ...");
    return demo_servers_provision(d, err);
}

static sotto_status run(demo *d, bool *right, sotto_err *err)
{
    if (d->flamingo)
        return demo_flamingo(d, right, err);
    if (d->aero)
        return demo_aero(d, right, err);
    SOTTO_TRY(demo_own_read(d, err));
    SOTTO_TRY(start(d, err));
    SOTTO_TRY(prepare(d, err));
    SOTTO_TRY(demo_tasks_await(d, err));
    if (d->keep) {
        if (d->recipe_file) {
            say(d, "The devices of the file send their reports ...");
            SOTTO_TRY(demo_devices_run(d, err));
        }
        return demo_keep(d, err);
    }
    say(d, d->recipe_file
               ? "Each device draws in secret whether it answers ..."
               : "Each device draws in secret whether it answers; a few are hostile ...");
    SOTTO_TRY(demo_devices_run(d, err));
    say(d, "The collector asks for the batch ...");
    SOTTO_TRY(demo_collect(d, err));
    return demo_show(d, right, err);
}

static int demo_main(int argc, char **argv)
{
    static demo d; /* too large for a stack */
    sotto_err err = {0};
    sotto_status status;
    bool right = true;

    d.devices = DEFAULT_DEVICES;
    if (!read_options(&d, argc, argv))
        return EXIT_USAGE;
    demo_catch_signals();
    /* One lock for every allocation of SQLite would take as long as the devices themselves; and each device would have its arenas made
     * and zeroed anew. */
    sotto_alloc_keep_blocks(KEPT_BLOCKS);
    if (sotto_device_count_memory(&err) != SOTTO_OK) {
        (void)fprintf(stderr, "sotto demo: %s\n", err.reason);
        return EXIT_FAILED;
    }
    sotto_arena_init(&d.arena, (size_t)256 << 20);
    d.started_ms = sotto_clock_ms();
    status = run(&d, &right, &err);
    if (d.enrolling) /* something else failed first */
        (void)!demo_tokens_enrolled(&d, NULL);
    demo_servers_stop(&d);
    if (status != SOTTO_OK && !demo_interrupted())
        (void)fprintf(stderr, "sotto demo: %s\n", err.reason);
    sotto_wipe(&d.collector, sizeof d.collector);
    sotto_wipe(&d.pairing, sizeof d.pairing);
    sotto_wipe(&d.hostile_gateway, sizeof d.hostile_gateway);
    sotto_wipe(d.fleet, sizeof d.fleet);
    sotto_signer_clear(&d.issuer_signer);
    sotto_signer_clear(&d.helper_signer);
    demo_log_end(&d);
    sotto_people_close(d.people);
    sotto_arena_clear(&d.arena);
    if (demo_interrupted() && d.keep && status == SOTTO_OK)
        return EXIT_DONE;
    if (demo_interrupted())
        return 128 + demo_ended_by();
    if (status != SOTTO_OK && d.refused)
        return d.refused;
    return status == SOTTO_OK && right ? EXIT_DONE : EXIT_FAILED;
}

const sotto_verb sotto_verb_demo = {
    .name = "demo",
    .summary = "run a whole deployment on this machine and show an answer",
    .usage =
        "usage: sotto demo [--devices N] [--tokens KIND] [--without PART[,PART...]] [--check]\n"
        "                  [--json]\n"
        "       sotto demo --trust flamingo|aero [--devices N] [--check] [--json]\n"
        "       sotto demo --recipe FILE --csv FILE [--policy FILE] [--device-column C] [...]\n"
        "       sotto demo --keep [--recipe FILE --csv FILE]\n\n"
        "Starts leader and helper, relay and gateway, issuer and attester, a public log and its\n"
        "witness as processes on loopback, with databases in a temporary directory. Publishes a\n"
        "recipe. N simulated devices (20,000) get a token each; half of them are drawn and answer\n"
        "through the relay, some of them hostile. Then collects the sum and shows it with 95%\n"
        "intervals, what was rejected and why, and what may be claimed. Everything is removed at\n"
        "the end.\n\n"
        "With --recipe and --csv your own question is asked of your own rows, through the same\n"
        "servers. Schedule, parties, anonymity and population are those of this deployment. With\n"
        "--keep a leader and a helper stay until Ctrl-C, for an application to report to; with\n"
        "--csv, devices of the file have reported to them.\n\n"
        "With --trust flamingo one server adds up masked vectors of N devices (200). Some devices\n"
        "drop out, and one of the committee that unmasks the sum is killed.\n\n"
        "With --trust aero one server adds up ciphertexts of N devices (200), whose board a "
        "witness\n"
        "cosigns. Devices prove what they send and check what the server adds up, and a committee\n"
        "of 15 opens the sum. In a second round the server lies, and is caught. Takes minutes.\n\n"
        "  --trust MODEL   split (the default), flamingo or aero\n"
        "  --recipe FILE   your own question\n"
        "  --csv FILE      rows; the first line names the columns, as the query names its fields\n"
        "  --policy FILE   what devices allow; else they allow what the recipe asks, once\n"
        "  --streams FILE  tables of the devices, and types of their columns (docs/recipe.md)\n"
        "  --device-column C\n"
        "                  rows with the same value of this column are one device; else each row "
        "is one\n"
        "  --skip-bad-rows leaves out rows that can't be read, and counts them\n"
        "  --keep          start leader and helper, list their files, and wait\n"
        "  --devices N     200 to 1,000,000; with flamingo 24 to 2,000, with aero 80 to 500\n"
        "  --tokens KIND   type-2 (the default) or arc: leader and helper each issue a credential "
        "to\n"
        "                  every device, which takes much longer\n"
        "  --without PART  relay, tokens or log: the deployment lacks it, and the receipt says "
        "what\n"
        "                  can't be claimed any more\n"
        "  --check         compare with the truth; fails when more intervals miss than chance "
        "allows\n"
        "  --json          print one JSON object\n"
        "  --answer FILE   the answer alone into a file, as `sotto collect --json` prints it\n"
        "  --table FILE    the same as `sotto collect --csv` writes it\n"
        "  --svg FILE      the same as a picture: bars with their intervals\n"
        "  --html FILE     the same as a page\n",
    .run = demo_main,
};
