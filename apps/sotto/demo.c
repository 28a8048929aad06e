/* sotto demo - a whole deployment and thousands of devices on this machine, from one event to one answer. */
#define _POSIX_C_SOURCE 200809L
#include "demo.h"
#include "verbs.h"

#include "base/clock.h"
#include "support/people.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_DEVICES = 20000, FEWEST = 200, MOST = 1000000 };
/* With one server: each device does a hundred times the work, in one process. */
enum { FLAMINGO_DEVICES = 200, FLAMINGO_FEWEST = 24, FLAMINGO_MOST = 2000 };

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

/* What is no number is 0, which check_devices refuses: only it knows the range, once all options are read. */
static bool read_devices(demo *d, const char *text)
{
    char *end = NULL;

    if (!text) {
        (void)fprintf(stderr, "sotto demo: --devices: it lacks its value, a number from %d to %d\n",
                      d->flamingo ? FLAMINGO_FEWEST : FEWEST, d->flamingo ? FLAMINGO_MOST : MOST);
        return false;
    }
    d->devices = strtoull(text, &end, 10);
    if (*end != 0 || end == text || text[0] == '-')
        d->devices = 0;
    return true;
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
    if (d->flamingo || (text && strcmp(text, "split") == 0))
        return true;
    (void)fprintf(stderr, "sotto demo: --trust takes split or flamingo\n");
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
    (void)fprintf(stderr, "sotto demo: %s: %s; see sotto demo --help\n", option, what);
    return false;
}

/* Where the text of this option goes; NULL: it takes no text. */
static const char **text_option(demo *d, const char *name)
{
    return strcmp(name, "--recipe") == 0          ? &d->recipe_file
           : strcmp(name, "--policy") == 0        ? &d->policy_file
           : strcmp(name, "--csv") == 0           ? &d->csv_file
           : strcmp(name, "--device-column") == 0 ? &d->device_column
                                                  : NULL;
}

static bool check_devices(demo *d)
{
    const uint64_t fewest = d->flamingo ? FLAMINGO_FEWEST : FEWEST,
                   most = d->flamingo ? FLAMINGO_MOST : MOST;

    if (d->flamingo && !d->devices_stated)
        d->devices = FLAMINGO_DEVICES;
    if (d->devices >= fewest && d->devices <= most)
        return true;
    (void)fprintf(stderr, "sotto demo: --devices: not a number from %llu to %llu\n",
                  (unsigned long long)fewest, (unsigned long long)most);
    return false;
}

static bool check_options(demo *d)
{
    if (!check_devices(d))
        return false;
    if (d->flamingo && (d->recipe_file || d->csv_file || d->policy_file || d->keep || d->arc ||
                        d->without || d->device_column))
        return complain("--trust", "with flamingo only --devices, --check and --json go");
    if (!d->recipe_file != !d->csv_file)
        return complain(d->recipe_file ? "--csv" : "--recipe",
                        "a recipe of your own and its rows go together");
    if (!d->recipe_file && (d->policy_file || d->device_column))
        return complain(d->policy_file ? "--policy" : "--device-column",
                        "only with --recipe and --csv");
    if (d->arc && (d->keep || (d->without & DEMO_TOKENS)))
        return complain("--tokens", "this deployment has none");
    if (d->keep && (d->check || d->json))
        return complain("--keep", "it collects nothing, so there is nothing to check or print");
    if (d->keep) /* what an application needs first */
        d->without = DEMO_RELAY | DEMO_TOKENS | DEMO_LOG;
    return true;
}

static bool read_options(demo *d, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            d->json = d->quiet = true;
        } else if (strcmp(argv[i], "--check") == 0) {
            d->check = true;
        } else if (strcmp(argv[i], "--keep") == 0) {
            d->keep = true;
        } else if (text_option(d, argv[i])) {
            if (!argv[i + 1])
                return complain(argv[i], "it lacks its value");
            *text_option(d, argv[i]) = argv[i + 1];
            i++;
        } else if (strcmp(argv[i], "--devices") == 0) {
            if (!read_devices(d, argv[++i]))
                return false;
            d->devices_stated = true;
        } else if (strcmp(argv[i], "--without") == 0) {
            if (!read_without(d, argv[++i]))
                return false;
        } else if (strcmp(argv[i], "--trust") == 0) {
            if (!read_trust(d, argv[++i]))
                return false;
        } else if (strcmp(argv[i], "--tokens") == 0) {
            if (!read_tokens(d, argv[++i]))
                return false;
        } else {
            return complain(argv[i], "no such option");
        }
    }
    return check_options(d);
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
    SOTTO_TRY(demo_own_read(d, err));
    SOTTO_TRY(start(d, err));
    SOTTO_TRY(prepare(d, err));
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
    /* One lock for every allocation of SQLite would take as long as the devices themselves. */
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
        "       sotto demo --trust flamingo [--devices N] [--check] [--json]\n"
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
        "  --trust MODEL   split (the default) or flamingo\n"
        "  --recipe FILE   your own question\n"
        "  --csv FILE      rows; the first line names the columns, as the query names its fields\n"
        "  --policy FILE   what devices allow; else they allow what the recipe asks, once\n"
        "  --device-column C\n"
        "                  rows with the same value of this column are one device; else each row "
        "is one\n"
        "  --keep          start leader and helper, list their files, and wait\n"
        "  --devices N     200 to 1,000,000; with flamingo 24 to 2,000\n"
        "  --tokens KIND   type-2 (the default) or arc: leader and helper each issue a credential "
        "to\n"
        "                  every device, which takes much longer\n"
        "  --without PART  relay, tokens or log: the deployment lacks it, and the receipt says "
        "what\n"
        "                  can't be claimed any more\n"
        "  --check         compare with the truth; fails when more intervals miss than chance "
        "allows\n"
        "  --json          print one JSON object\n",
    .run = demo_main,
};
