/* apps/sotto/demo/demo.h - a whole deployment on loopback: what the files of `sotto demo` share.
 *
 *     demo.c          options, and the list of steps
 *     demo_texts.c    the recipe, the policy and the parties
 *     demo_process.c  one service of the table as a process
 *     demo_servers.c  a leader and a helper, paired and with the task
 *     demo_relay.c    a relay and a gateway
 *     demo_tokens.c   an issuer and an attester, and the enrolment of devices
 *     demo_arc.c      leader and helper as issuers of ARC
 *     demo_log.c      a public log and its witness
 *     demo_devices.c  simulated devices, some of them hostile, each with a clock of its own
 *     demo_forger.c   a report that no device made
 *     demo_own.c      the user's own recipe and rows
 *     demo_keep.c     servers that stay, and their files
 *     demo_aggregator.c  one server, as its operator starts it and asks it
 *     demo_witnesses.c  the witnesses of a beacon, as their operators start them
 *     demo_flamingo.c the same question with one server (--trust flamingo)
 *     demo_aero.c     the same question with encrypted sums (--trust aero); rounds are in demo_aero_round.c
 *     demo_show.c     the answer, the receipt, and whether it is right
 */
#ifndef SOTTO_APPS_DEMO_H
#define SOTTO_APPS_DEMO_H

#include "log_source.h"
#include "show.h"

#include "aggregate/posting.h"
#include "crypto/signature.h"
#include "db/sealed.h"
#include "recipe/table.h"
#include "serve/tasks/pairing.h"
#include "sotto/analyse.h"
#include "sotto/collect.h"
#include "sotto/device.h"

#include <pthread.h>
#include <sys/types.h>

struct sotto_log_object;

#define DEMO_RECIPE   "demo-1"
#define DEMO_ANALYSIS "com.example.commute"

/* How every recipe of the demo begins; %s: demo_values. */
/* clang-format off */
#define DEMO_QUESTION \
    "{\n" \
    "  \"recipe\": \"" DEMO_RECIPE "\", \"version\": 1, \"analysis\": \"" DEMO_ANALYSIS "\",\n" \
    "  \"description\": \"How people got to work today.\",\n" \
    "  \"query\": \"SELECT way FROM commutes\", \"pick\": \"one-at-random\",\n" \
    "  \"encode\": {\"way\": {\"type\": \"categories\", \"values\": [%s], \"oov\": true},\n" \
    "             \"combine\": [\"way\"]},\n"
/* clang-format on */

enum {
    DEMO_CHOICES = 8,
    DEMO_TEXT = 8192,
    DEMO_LONG_TEXT = 1 << 18, /* of a recipe or policy */
    DEMO_SCHEDULE = 4,        /* hours; of a deployment that stays, */
    DEMO_KEPT_SCHEDULE = 168,
    DEMO_PATH = 112,
    DEMO_FILE = DEMO_PATH + 32,
    DEMO_SECRET = 41,                        /* of a token that a service knows somebody by    */
    DEMO_NOTE_KEY = SOTTO_NOTE_KEY_TEXT + 1, /* public, of a log or a witness */
};

/* What --without turns off. */
enum { DEMO_RELAY = 1, DEMO_TOKENS = 2, DEMO_LOG = 4 };

/* What people answered; no server ever has this. */
typedef struct demo_truth {
    uint64_t *bins;    /* by the recipe's values */
    uint64_t answered; /* reports that should count   */
    uint64_t silent;   /* devices that were not drawn */
    uint64_t tampered, replayed, forged;
} demo_truth;

typedef struct demo_server {
    pid_t process;
    unsigned port;
    char database[DEMO_FILE], key_file[DEMO_FILE];
    uint8_t hpke[256]; /* its configuration, encoded */
    size_t hpke_len;
} demo_server;

typedef struct demo {
    uint64_t devices;
    bool json, check, quiet, keep;
    bool devices_stated;
    bool flamingo; /* one server in the place of two */
    bool aero;     /* the same, with encrypted sums */
    bool arc;      /* credentials of ARC in the place of tokens of type 2 */
    /* The user's own; NULL: the demo's. */
    const char *recipe_file, *policy_file, *csv_file, *streams_file, *device_column;
    bool skip_bad;
    sotto_answer_files files; /* that the answer goes into */
    struct sotto_people *people;
    char reads[SOTTO_VERDICT_READS][SOTTO_VERDICT_NAME]; /* that the query reads */
    size_t read_count;
    sotto_recipe_table table;
    size_t values;    /* of the recipe: what truth counts */
    unsigned without; /* DEMO_RELAY, DEMO_TOKENS, DEMO_LOG */
    char folder[DEMO_PATH];
    demo_server leader, helper, relay, gateway, issuer, attester, log_server, witness;
    int64_t opens, closes; /* of the recipe: seconds since 1970 */
    /* Every hundredth device's owner has put a gateway key of his own into its parties file, and so reads what it sends. */
    sotto_hpke_key hostile_gateway;
    char hostile_parties_text[DEMO_TEXT];
    /* Enrolment seeds of all devices come from this. */
    uint8_t fleet[32];
    /* Devices are enrolled beside all else. */
    pthread_t enroller;
    bool enrolling;
    sotto_err enrolled;
    char operator_token[DEMO_SECRET];
    /* Who signs lists of keys: the issuer, or with ARC the leader and the helper, which issue themselves. */
    sotto_signer issuer_signer, helper_signer;
    char log_key[DEMO_NOTE_KEY], witness_key[DEMO_NOTE_KEY], log_url[64], log_token[DEMO_FILE];
    sotto_log_job log_job;
    sotto_bytes offer;       /* what devices are offered: the recipe, or its bundle             */
    sotto_bytes token_keys;  /* the list of the issuer's keys, signed, or its bundle; empty: none */
    sotto_bytes helper_keys; /* with ARC: token_keys are the leader's, and these the helper's */
    sotto_pairing pairing;
    sotto_collector_key collector;
    char parties_text[DEMO_TEXT], recipe_text[DEMO_LONG_TEXT], policy_text[DEMO_LONG_TEXT];
    const sotto_recipe *recipe;
    sotto_recipe_claim claim;
    sotto_task task;
    demo_truth truth;
    double epsilon_left, epsilon_allowed; /* of the first device's budget, afterwards */
    sotto_collection collection;
    sotto_result result;
    uint64_t started_ms;
    int refused; /* exit code of a recipe, policy or file of the user's own that was refused; 0: none was */
    sotto_arena arena;
} demo;

extern const char *const demo_choices[DEMO_CHOICES];
/* Out of 256 people, how many choose at most this: a made-up town. */
extern const uint8_t demo_town[DEMO_CHOICES];

/* Set by the first Ctrl-C: whatever runs ends soon, and everything is cleaned up. */
bool demo_interrupted(void);
void demo_catch_signals(void);
int demo_ended_by(void); /* the signal; 0: none */

/* demo_texts.c: the recipe and the policy first; the parties once both servers have said their ports and keys. */
SOTTO_MUST_USE sotto_status demo_write_recipe(demo *d, sotto_err *err);
const char *demo_values(char out[512]);        /* the choices, as a list of JSON */
void demo_write_time(char out[32], time_t at); /* cut to the hour */
SOTTO_MUST_USE sotto_status demo_write_policy(demo *d, sotto_err *err);
SOTTO_MUST_USE sotto_status demo_write_parties(demo *d, sotto_err *err);
/* Reads, judges and compiles what was written. */
SOTTO_MUST_USE sotto_status demo_compile(demo *d, sotto_err *err);

/* demo_own.c: before anything starts; nothing without a recipe of the user's own. */
SOTTO_MUST_USE sotto_status demo_own_read(demo *d, sotto_err *err);
/* Each with pieces of JSON that this deployment wants, as `"name": value,`; empty: the member goes. */
SOTTO_MUST_USE sotto_status demo_own_recipe(demo *d, const char *anonymity, const char *opens,
                                            const char *closes, sotto_err *err);
SOTTO_MUST_USE sotto_status demo_own_policy(demo *d, const char *issuers, const char *logs,
                                            sotto_err *err);

/* demo_flamingo.c: all of it, from its server to what is printed. */
SOTTO_MUST_USE sotto_status demo_flamingo(demo *d, bool *right, sotto_err *err);

/* demo_aero.c: all of it, from its servers to what is printed. *right: also whether a server that lies was caught. */
SOTTO_MUST_USE sotto_status demo_aero(demo *d, bool *right, sotto_err *err);

/* demo_keep.c: writes and lists the files, and waits for a signal. */
SOTTO_MUST_USE sotto_status demo_keep(demo *d, sotto_err *err);

/* demo_process.c: starts a service of this name with a file of options, `lines` among them, and waits until it listens. One that
 * has a port already starts again, there, over the database that it had.
 * Fork before anything in the demo has threads. */
SOTTO_MUST_USE sotto_status demo_process_start(const demo *d, demo_server *s, const char *name,
                                               const char *lines, sotto_err *err);
/* The same where several of a service run: `name` is that of its files. */
SOTTO_MUST_USE sotto_status demo_process_start_as(const demo *d, demo_server *s,
                                                  const char *service, const char *name,
                                                  const char *lines, sotto_err *err);
/* Nothing for one that was not started. */
void demo_process_stop(demo_server *s);
/* Into the demo's folder, for nobody else to read. */
SOTTO_MUST_USE sotto_status demo_write_file(const demo *d, const char *name, const char *text,
                                            sotto_err *err);

/* demo_aggregator.c: one server, started with a fresh key and a fresh token of its operator. */
typedef struct demo_aggregator {
    demo_server process;
    char lines[200];             /* of its options */
    char token[DEMO_SECRET + 8]; /* "Bearer ..." */
    uint8_t key[SOTTO_SIGN_PUBLIC];
} demo_aggregator;
struct sotto_http_client;
SOTTO_MUST_USE sotto_status demo_aggregator_start(demo *d, demo_aggregator *a, sotto_err *err);
/* The same in two steps, with further lines of options; and again, after it was stopped. */
SOTTO_MUST_USE sotto_status demo_aggregator_key(const demo *d, demo_aggregator *a, sotto_err *err);
SOTTO_MUST_USE sotto_status demo_aggregator_start_with(demo *d, demo_aggregator *a,
                                                       const char *more, sotto_err *err);
SOTTO_MUST_USE sotto_status demo_aggregator_again(const demo *d, demo_aggregator *a,
                                                  sotto_err *err);
/* SOTTO_DENIED: it refuses the round. */
SOTTO_MUST_USE sotto_status demo_aggregator_post(const demo_aggregator *a,
                                                 struct sotto_http_client *client,
                                                 sotto_bytes posting, sotto_arena *arena,
                                                 sotto_err *err);
/* reported: `count` bytes, 1 for each device whose vector is in the sum.
 *   SOTTO_AGAIN  the round runs */
SOTTO_MUST_USE sotto_status demo_aggregator_result(const demo_aggregator *a,
                                                   struct sotto_http_client *client,
                                                   const uint8_t id[SOTTO_ROUND_ID], bool *released,
                                                   uint8_t *reported, uint64_t count,
                                                   sotto_arena *arena, sotto_err *err);
/* The sum of a released round, of so many bytes, in the arena. */
SOTTO_MUST_USE sotto_status demo_aggregator_sum(const demo_aggregator *a,
                                                struct sotto_http_client *client,
                                                const uint8_t id[SOTTO_ROUND_ID], size_t bytes,
                                                sotto_bytes *out, sotto_arena *arena,
                                                sotto_err *err);
/* The same as a collection and its estimate. bins and reported: of each device. */
typedef struct demo_aggregator_round {
    const uint8_t *id;
    size_t entries;
    unsigned width; /* bytes of an entry; one of 8 has a sign */
    const uint64_t *bins;
    const uint8_t *reported;
    uint32_t count; /* of devices */
} demo_aggregator_round;
SOTTO_MUST_USE sotto_status demo_aggregator_collect(demo *d, const demo_aggregator *a,
                                                    struct sotto_http_client *client,
                                                    const demo_aggregator_round *round,
                                                    sotto_arena *scratch, sotto_err *err);

/* demo_servers.c */
SOTTO_MUST_USE sotto_status demo_servers_start(demo *d, sotto_err *err);
/* Pairs both and gives both the task, as `sotto admin` does. */
SOTTO_MUST_USE sotto_status demo_servers_provision(demo *d, sotto_err *err);
/* The datastore key of a server; wipe it. */
SOTTO_MUST_USE sotto_status demo_columns(sotto_column_keys *out, const demo_server *s,
                                         sotto_err *err);
/* Ends all processes and removes the folder; whatever happened before. */
void demo_servers_stop(demo *d);

/* demo_relay.c */
SOTTO_MUST_USE sotto_status demo_relay_start(demo *d, sotto_err *err);
sotto_hpke_config demo_hostile_gateway(const demo *d);
/* What a hostile owner's device sealed to that key. */
SOTTO_MUST_USE sotto_status demo_relay_unseal(const demo *d, sotto_bytes sealed,
                                              sotto_bytes *report, sotto_arena *arena,
                                              sotto_err *err);

/* demo_tokens.c */
SOTTO_MUST_USE sotto_status demo_tokens_start(demo *d, sotto_err *err);
/* Has the issuer make the key of the collection, and signs its list: d->token_keys. */
SOTTO_MUST_USE sotto_status demo_tokens_list(demo *d, sotto_err *err);
/* The issuer's operator signs the list: a device takes no other. */
SOTTO_MUST_USE sotto_status demo_sign_list(demo *d, sotto_bytes *out, const sotto_signer *signer,
                                           sotto_bytes list, sotto_err *err);
/* Begins to enrol all devices, in a thread, and waits for the end of it. The second may be called without the first. */
SOTTO_MUST_USE sotto_status demo_tokens_enrol(demo *d, sotto_err *err);
SOTTO_MUST_USE sotto_status demo_tokens_enrolled(demo *d, sotto_err *err);
/* Of the device of that number. */
void demo_enrolment(const demo *d, uint8_t seed[SOTTO_DEVICE_ENROLMENT], uint64_t number);
/* Makes up a token in a file of that name, and copies it to out, unless that is NULL. */
SOTTO_MUST_USE sotto_status demo_secret(const demo *d, const char *name, char out[DEMO_SECRET],
                                        sotto_err *err);

/* demo_arc.c: the attester's lines of options; and keys of both servers for this collection's epoch, as `sotto admin arc` makes
 * them, with their signed lists. */
void demo_arc_lines(const demo *d, char *out, size_t size);
SOTTO_MUST_USE sotto_status demo_arc_list(demo *d, sotto_err *err);

/* demo_log.c: with fresh keys, unless the log has one. */
SOTTO_MUST_USE sotto_status demo_log_start(demo *d, sotto_err *err);
/* d->log_job, for a log that runs. */
SOTTO_MUST_USE sotto_status demo_log_open(demo *d, sotto_err *err);
/* Tries again while the log does not sign yet. */
SOTTO_MUST_USE sotto_status demo_log_put(demo *d, struct sotto_log_object *objects, size_t count,
                                         sotto_err *err);
/* Recipe and list of keys, which become bundles. */
SOTTO_MUST_USE sotto_status demo_log_publish(demo *d, sotto_err *err);
/* NULL: there is no log. */
const sotto_log_trust *demo_log_trust(const demo *d);
void demo_log_end(demo *d);

/* demo_forger.c: in the arena. */
SOTTO_MUST_USE sotto_status demo_forge(sotto_buf *out, const demo *d, sotto_arena *arena,
                                       sotto_err *err);

/* demo_devices.c: until leader and helper both have the task. */
SOTTO_MUST_USE sotto_status demo_tasks_await(demo *d, sotto_err *err);
/* All devices, over real HTTP. */
SOTTO_MUST_USE sotto_status demo_devices_run(demo *d, sotto_err *err);

/* demo_show.c */
SOTTO_MUST_USE sotto_status demo_collect(demo *d, sotto_err *err);
/* The answer with this receipt: prints it, and writes the files of it. trial, which may be NULL: for JSON. *right: false if --check
 * found it wrong. */
SOTTO_MUST_USE sotto_status demo_show_answer(demo *d, const sotto_receipt *receipt,
                                             const sotto_answer_trial *trial, bool *right,
                                             sotto_err *err);
/* Prints; false if --check found it wrong. */
SOTTO_MUST_USE sotto_status demo_show(demo *d, bool *right, sotto_err *err);

#endif
