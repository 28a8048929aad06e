/* sotto device - one device's files, as the person and the developer may see them. */
#include "device.h"

#include "support/arguments.h"

#include "recipe/schema.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Each list of options is the parser's table and the text of --help at once. */
#define ENTRY(name, argument, kind, member, help) {name, kind, offsetof(sotto_device_job, member)},
#define HELP(name, argument, kind, member, help)  "  " name argument "\n      " help "\n"

#define COMMON(X)                                                                                  \
    X("--dir", " DIR", SOTTO_OPTION_TEXT, dir,                                                     \
      "where the files below are, under their usual names; . if not given")                        \
    X("--events", " FILE", SOTTO_OPTION_TEXT, events, "the events; DIR/events.db")                 \
    X("--ledger", " FILE", SOTTO_OPTION_TEXT, ledger,                                              \
      "what is spent, drawn and waiting; DIR/ledger.db")                                           \
    X("--policy", " FILE", SOTTO_OPTION_TEXT, policy,                                              \
      "what the device will ever allow; DIR/policy.json")                                          \
    X("--parties", " FILE", SOTTO_OPTION_TEXT, parties, "who adds up; DIR/parties.json")           \
    X("--streams", " FILE", SOTTO_OPTION_TEXT, streams,                                            \
      "what events look like; DIR/streams.json (`sotto device new` prints one)")                   \
    X("--about", " FILE", SOTTO_OPTION_TEXT, about,                                                \
      "the device's own fields, as {\"locale\": \"en_US\"}; DIR/about.json, if it is there")       \
    X("--enrolment", " FILE", SOTTO_OPTION_TEXT, enrolment,                                        \
      "the secret by which an attester knows the device; DIR/enrolment.key, if it is there")       \
    X("--field", " NAME=VALUE", SOTTO_OPTION_FIELD, fields, "one field of the device itself")      \
    X("--now", " TIME", SOTTO_OPTION_TEXT, now,                                                    \
      "take it to be this time, such as 2026-11-20T08:00:00Z, to try things out")                  \
    X("--json", "", SOTTO_OPTION_FLAG, json, "one JSON object a line")

#define NONE(X)
#define EVENTS(X)                                                                                  \
    X("--most", " N", SOTTO_OPTION_NUMBER, most, "of the newest events that are shown; 20")
#define RECORD(X) X("--after", " N", SOTTO_OPTION_NUMBER, after, "only lines with a higher number")
#define RECEIPTS(X)                                                                                \
    X("--recipe", " FILE", SOTTO_OPTION_TEXT, recipe,                                              \
      "the recipe as published: adds which bins the bits stand for, and by which theorem it "      \
      "holds")
#define RESET(X)                                                                                   \
    X("--yes", "", SOTTO_OPTION_FLAG, yes, "really: every budget counts as spent from then on")
#define LOG(X)                                                                                     \
    X("--evidence", " PREFIX", SOTTO_OPTION_TEXT, evidence,                                        \
      "write the signed trees of the log's last fork to PREFIX.before and PREFIX.after, and what " \
      "shows it where they have different sizes to PREFIX.steps")                                  \
    X("--resolve", "", SOTTO_OPTION_FLAG, yes,                                                     \
      "begin anew with the next tree that comes; the evidence stays")
#define DONATE(X)                                                                                  \
    X("--json-lines", " FILE", SOTTO_OPTION_TEXT, lines,                                           \
      "one JSON object a line; - reads standard input")
#define TICK(X)                                                                                    \
    X("--idle", "", SOTTO_OPTION_FLAG, idle, "nobody uses the device")                             \
    X("--charging", "", SOTTO_OPTION_FLAG, charging, "it is plugged in")                           \
    X("--network", "", SOTTO_OPTION_FLAG, network, "it is online, and need not pay for it")        \
    X("--out", " DIR", SOTTO_OPTION_TEXT, out,                                                     \
      "write each upload's body into a file there, and take it for delivered")                     \
    X("--models", " DIR", SOTTO_OPTION_TEXT, models,                                               \
      "take part in rounds of learning: each model is a file there, named by its digest. Goes "    \
      "with --out, and with recipes that have no relay")                                           \
    X("--trainer", " COMMAND", SOTTO_OPTION_TEXT, trainer,                                         \
      "train by this program (examples/trainer), not by the models that sotto has")                \
    X("--dry-run", "", SOTTO_OPTION_FLAG, dry_run,                                                 \
      "say what each recipe would meet with; draw, spend and send nothing")

const sotto_device_option sotto_device_common[] = {COMMON(ENTRY)};
const size_t sotto_device_common_count = sizeof sotto_device_common / sizeof sotto_device_common[0];

#define OPTIONS(LIST) "\noptions:\n" LIST(HELP) COMMON(HELP)

static const sotto_device_option own_events[] = {EVENTS(ENTRY)};
static const sotto_device_option own_record[] = {RECORD(ENTRY)};
static const sotto_device_option own_receipts[] = {RECEIPTS(ENTRY)};
static const sotto_device_option own_reset[] = {RESET(ENTRY)};
static const sotto_device_option own_log[] = {LOG(ENTRY)};
static const sotto_device_option own_donate[] = {DONATE(ENTRY)};
static const sotto_device_option own_tick[] = {TICK(ENTRY)};
#define OWN(list) list, sizeof(list) / sizeof((list)[0])

static const sotto_device_verb table[] = {
    {"events", sotto_device_run_events, 1, 1, false, OWN(own_events)},
    {"recipes", sotto_device_run_recipes, 0, 0, false, NULL, 0},
    {"receipts", sotto_device_run_receipts, 0, 1, false, OWN(own_receipts)},
    {"record", sotto_device_run_record, 0, 1, false, OWN(own_record)},
    {"ledger", sotto_device_run_ledger, 0, 0, false, NULL, 0},
    {"why", sotto_device_run_why, 1, 1, false, NULL, 0},
    {"forget", sotto_device_run_forget, 0, 1, false, NULL, 0},
    {"consent", sotto_device_run_consent, 0, 1, true, NULL, 0},
    {"reset", sotto_device_run_reset, 0, 0, false, OWN(own_reset)},
    {"donate", sotto_device_run_donate, 1, 1, true, OWN(own_donate)},
    {"offer", sotto_device_run_offer, 1, 1, true, NULL, 0},
    {"parties", sotto_device_run_parties, 1, 1, true, NULL, 0},
    {"enrol", sotto_device_run_enrol, 0, 0, true, NULL, 0},
    {"keys", sotto_device_run_keys, 1, 1, true, NULL, 0},
    {"tokens", sotto_device_run_tokens, 0, 0, false, NULL, 0},
    {"log", sotto_device_run_log, 0, 1, false, OWN(own_log)},
    {"tick", sotto_device_run_tick, 0, 0, true, OWN(own_tick)},
};

static int run(int argc, char **argv)
{
    static sotto_device_job job;
    size_t i = 0;

    while (strcmp(table[i].name, argv[0]) != 0)
        i++;
    int code = sotto_device_job_parse(&job, &table[i], argc, argv);
    if (code == EXIT_DONE)
        code = sotto_device_job_open(&job, table[i].creates);
    if (code == EXIT_DONE)
        code = table[i].run(&job);
    sotto_device_job_end(&job);
    return code;
}

static int run_new(int argc, char **argv)
{
    bool json = false; /* it is JSON already */
    const sotto_argument arguments[] = {{.name = "--json", .flag = &json}};
    const int code = sotto_arguments_read("device new", arguments, 1, argc, argv);

    if (code == EXIT_DONE)
        printf("%s", sotto_streams_example());
    return code;
}

static const sotto_verb verb_new = {
    .name = "new",
    .summary = "print a file of streams to start from",
    .usage = "usage: sotto device new [--json]\n\n"
             "Prints the streams that the recipe and policy of `sotto recipe new` go with. To try\n"
             "a device, put these beside each other:\n\n"
             "  sotto device new            > streams.json\n"
             "  sotto recipe new --policy   > policy.json\n"
             "  sotto recipe new --parties  > parties.json\n",
    .run = run_new,
};

/* The others open a device first. */
#define VERB(verb, says, help)                                                                     \
    static const sotto_verb verb_##verb = {                                                        \
        .name = #verb, .summary = says, .usage = "usage: sotto device " help, .run = run}

VERB(events, "show the newest events of a stream",
     "events STREAM [options]\n\n"
     "Shows what is kept here, newest first. Events never leave the device.\n" OPTIONS(EVENTS));

VERB(recipes, "list the recipes that the device knows, and where each stands",
     "recipes [options]\n" OPTIONS(NONE));

VERB(receipts, "show each report: what it told, what it cost, what protects it",
     "receipts [RECIPE] [options]\n\n"
     "One receipt for each report that was paid for: its randomised bits, its epsilons,\n"
     "whether it left and arrived, and who must be honest for that to hold.\n" OPTIONS(RECEIPTS));

VERB(record, "show all that happened, oldest first",
     "record [RECIPE] [options]\n\n"
     "The record of what left the device, and what did not. It is only ever added to,\n"
     "and stays here.\n" OPTIONS(RECORD));

VERB(ledger, "show what is spent of each budget", "ledger [options]\n" OPTIONS(NONE));

VERB(why, "say exactly why a recipe was or was not answered",
     "why RECIPE [options]\n\n"
     "RECIPE is the recipe's name. The answer is for this device alone: it may follow\n"
     "from secret draws, so it is never to be sent. Nothing is drawn and no event is read to\n"
     "tell. Exits with 4 if the policy, a budget or a closed ledger is the reason, else "
     "0.\n" OPTIONS(NONE));

VERB(forget, "erase events and waiting reports",
     "forget [STREAM] [options]\n\n"
     "Erases the events of one stream; or all events and all reports that wait; and a damaged\n"
     "event file that was set aside. The ledger stays: what was told can't be taken back, and\n"
     "if forgetting gave budgets back, it could be used to make a device answer again and\n"
     "again.\n" OPTIONS(NONE));

VERB(consent, "say yes or no to taking part",
     "consent [yes|no] [options]\n\n"
     "A device takes part in nothing until somebody says yes. No stops everything at once\n"
     "and erases reports that wait; what was spent stays spent. Without an answer, shows\n"
     "what was said last.\n" OPTIONS(NONE));

VERB(
    reset, "start anew after the ledger was lost, with nothing left to spend",
    "reset --yes [options]\n\n"
    "A ledger that is damaged or missing closes the device, since nobody knows what was\n"
    "spent. So does one restored from an old copy, if the host has a counter. This starts another\n"
    "with every budget fully spent, without consent, recipes or waiting reports. What can\n"
    "still be read of the record is kept. Where it can't be read for the moment, it exits\n"
    "with 1; repeated, it goes on without what can't be read.\n" OPTIONS(RESET));

VERB(donate, "add events to a stream",
     "donate STREAM --json-lines FILE [options]\n\n"
     "Each line is an object whose members are the stream's fields; one that is left out\n"
     "is null. event_time, a time or seconds since 1970, is now if left out; event_id, 32\n"
     "hexadecimal digits, is drawn. An id that is known is not added again. Exits with 3 at a\n"
     "line that is no event of the stream; those before it are kept.\n" OPTIONS(DONATE));

VERB(offer, "hand the device a recipe, as a server would",
     "offer FILE [options]\n\n"
     "FILE is a recipe, a bundle (`sotto recipe publish`) or a feed (`sotto log feed`). Where the\n"
     "policy names logs, a recipe alone is refused.\n"
     "The device judges it against its policy, and keeps it for the ticks to come.\n"
     "Exits with 3 if it is no recipe. Exits with 4 if it is refused: by the policy, by a\n"
     "budget, or because its claim does not hold. Exits with 1 if it closed, or a later version\n"
     "or other bytes of this version are known; also if its proof does not hold.\n" OPTIONS(NONE));

VERB(log, "show what the device saw of public logs, and evidence of a fork",
     "log [NAME] [options]\n\n"
     "NAME is the log's name in the policy. Exits with 6 if a log forked.\n" OPTIONS(LOG));

VERB(parties, "take a signed parties file, in place of the application's",
     "parties FILE [options]\n\n"
     "FILE is what `sotto parties sign` printed. The device keeps it, and uses it from now on\n"
     "and after a restart. Exits with 3 if it is no signed parties file. Exits with 4 if the\n"
     "policy names none of the keys that signed, if it has other parties or URLs, or if its\n"
     "serial is over 30 days ahead. Exits with 1 if a signature does not hold, or a file with a\n"
     "higher serial was taken before.\n" OPTIONS(NONE));

VERB(enrol, "make the key by which an attester knows the device",
     "enrol [options]\n\n"
     "Writes a secret key into DIR/enrolment.key, unless it is there, and prints its public half,\n"
     "64 hex digits. The attester's operator enrols that; from then on ticks ask for tokens. Keep\n"
     "the file through a reset, and out of backups: it names the device.\n" OPTIONS(NONE));

VERB(keys, "take an issuer's signed list of token keys",
     "keys FILE [options]\n\n"
     "FILE is a list that its issuer signed: see sotto-parties(1). When a token is asked for\n"
     "under each new key is drawn now. Exits with 3 if it is no signed list. Exits with 4 if no\n"
     "issuer that the policy names signed it. Exits with 1 if a signature does not hold, or if a\n"
     "collection is known with another key.\n" OPTIONS(NONE));

VERB(tokens, "list the tokens of each collection, and where each stands",
     "tokens [options]\n\n"
     "A token is planned, asked for, held, spent with a report, or refused by the attester.\n"
     "No token itself is shown: whoever has one may use it.\n" OPTIONS(NONE));

VERB(tick, "let the device do what is due",
     "tick [--idle] [--charging] [--network] [--out DIR [--models DIR] | --dry-run]\n\n"
     "Without all three conditions only events that are too old are erased. Reports are\n"
     "sealed and paid for before they can leave; without --out they wait. No network is\n"
     "used: what would be posted lies in DIR.\n" OPTIONS(TICK));

static const sotto_verb *const parts[] = {
    &verb_new,      &verb_donate, &verb_events, &verb_consent, &verb_offer,
    &verb_parties,  &verb_enrol,  &verb_keys,   &verb_tokens,  &verb_log,
    &verb_recipes,  &verb_tick,   &verb_why,    &verb_ledger,  &verb_record,
    &verb_receipts, &verb_forget, &verb_reset,  NULL,
};

const sotto_verb sotto_verb_device = {
    .name = "device",
    .summary = "a device's events, recipes, budgets, and what left it",
    .parts = parts,
};
