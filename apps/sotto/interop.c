/* sotto interop - a party for other implementations' tests. */
#define _POSIX_C_SOURCE 200809L
#include "interop.h"

#include "verbs.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: sotto interop client|leader|helper|collector [--listen ADDRESS:PORT] [--profile NAME]\n"
    "\n"
    "Runs one party of DAP behind the interop test API: POST with JSON under /internal/test. For "
    "tests:\n"
    "whoever reaches the port may add tasks, and what is stored ends with the program.\n\n"
    "  --listen ADDRESS:PORT  default 127.0.0.1:8080; port 0 picks one, which is printed\n"
    "  --profile NAME         draft18 (default), or janus: see docs/protocols/dap.md\n";

static sigset_t stop_signals(void)
{
    sigset_t stop;

    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGTERM);
    (void)sigaddset(&stop, SIGINT);
    (void)sigaddset(&stop, SIGHUP);
    return stop;
}

void interop_wait(unsigned port)
{
    sigset_t stop = stop_signals();
    int got;

    (void)printf("listening on port %u\n", port);
    (void)fflush(stdout);
    (void)sigwait(&stop, &got);
}

static bool take_options(interop_options *out, int argc, char **argv)
{
    *out = (interop_options){.listen = "127.0.0.1:8080"};
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;

        if (value && strcmp(argv[i], "--listen") == 0)
            out->listen = value;
        else if (value && strcmp(argv[i], "--profile") == 0 && strcmp(value, "janus") == 0)
            out->profile = SOTTO_DAP_JANUS;
        else if (value && strcmp(argv[i], "--profile") == 0 && strcmp(value, "draft18") == 0)
            out->profile = SOTTO_DAP_DRAFT18;
        else
            return false;
    }
    return true;
}

static int run(int argc, char **argv, sotto_status (*role)(const interop_options *, sotto_err *))
{
    sigset_t stop = stop_signals();
    interop_options options;
    sotto_err err = {0};

    if (!take_options(&options, argc, argv)) {
        (void)fprintf(stderr, "%s", usage);
        return EXIT_USAGE;
    }
    (void)sigprocmask(SIG_BLOCK, &stop, NULL); /* for all threads to come: one waits for them */
    if (role(&options, &err) != SOTTO_OK) {
        (void)fprintf(stderr, "sotto interop: %s\n", err.reason);
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

static int run_client(int argc, char **argv)
{
    return run(argc, argv, interop_client);
}

static int run_leader(int argc, char **argv)
{
    return run(argc, argv, interop_leader);
}

static int run_helper(int argc, char **argv)
{
    return run(argc, argv, interop_helper);
}

static int run_collector(int argc, char **argv)
{
    return run(argc, argv, interop_collector);
}

static const sotto_verb verb_client = {
    .name = "client", .summary = "upload reports", .usage = usage, .run = run_client};
static const sotto_verb verb_leader = {
    .name = "leader", .summary = "serve as leader", .usage = usage, .run = run_leader};
static const sotto_verb verb_helper = {
    .name = "helper", .summary = "serve as helper", .usage = usage, .run = run_helper};
static const sotto_verb verb_collector = {
    .name = "collector", .summary = "collect batches", .usage = usage, .run = run_collector};

static const sotto_verb *const parts[] = {&verb_client, &verb_leader, &verb_helper, &verb_collector,
                                          NULL};

const sotto_verb sotto_verb_interop = {
    .name = "interop",
    .summary = "be a party of other implementations' tests",
    .parts = parts,
};
