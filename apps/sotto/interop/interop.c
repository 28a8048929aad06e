/* sotto interop - a party for other implementations' tests. */
#define _POSIX_C_SOURCE 200809L
#include "interop.h"

#include "show.h"
#include "support/arguments.h"
#include "verbs.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: sotto interop client|leader|helper|collector [--listen ADDRESS:PORT] [--profile NAME]\n"
    "       [--json]\n\n"
    "Runs one party of DAP behind the interop test API: POST with JSON under /internal/test. For "
    "tests:\n"
    "whoever reaches the port may add tasks, and what is stored ends with the program.\n\n"
    "  --listen ADDRESS:PORT  default 127.0.0.1:8080; port 0 picks one, which is printed\n"
    "  --profile NAME         draft18 (default), or janus: see docs/protocols/dap.md\n"
    "  --json                 print the port as a JSON object\n";

static sigset_t stop_signals(void)
{
    sigset_t stop;

    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGTERM);
    (void)sigaddset(&stop, SIGINT);
    (void)sigaddset(&stop, SIGHUP);
    return stop;
}

static bool as_json;

void interop_wait(unsigned port)
{
    sigset_t stop = stop_signals();
    int got;

    if (as_json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_uint(&j, "port", port);
        (void)sotto_show_end(&j);
    } else {
        (void)printf("listening on port %u\n", port);
    }
    (void)fflush(stdout);
    (void)sigwait(&stop, &got);
}

static int take_options(interop_options *out, int argc, char **argv)
{
    const char *profile = "draft18";
    char verb[32];
    const sotto_argument words[] = {{.name = "--listen", .text = &out->listen},
                                    {.name = "--profile", .text = &profile},
                                    {.name = "--json", .flag = &as_json}};

    *out = (interop_options){.listen = "127.0.0.1:8080"};
    (void)snprintf(verb, sizeof verb, "interop %s", argv[0]);
    const int code = sotto_arguments_read(verb, words, sizeof words / sizeof words[0], argc, argv);
    if (strcmp(profile, "janus") == 0)
        out->profile = SOTTO_DAP_JANUS;
    else if (strcmp(profile, "draft18") == 0)
        out->profile = SOTTO_DAP_DRAFT18;
    else
        return sotto_arguments_misused(verb, "--profile", "draft18 or janus");
    return code;
}

static int run(int argc, char **argv, sotto_status (*role)(const interop_options *, sotto_err *))
{
    sigset_t stop = stop_signals();
    interop_options options;
    sotto_err err = {0};

    const int code = take_options(&options, argc, argv);
    if (code != EXIT_DONE)
        return code;
    (void)sigprocmask(SIG_BLOCK, &stop, NULL); /* for all threads to come: one waits for them */
    if (role(&options, &err) != SOTTO_OK) {
        (void)fprintf(stderr, "sotto interop: %s\n", err.reason);
        return sotto_exit_code(err.status, SOTTO_AT_DATA);
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
