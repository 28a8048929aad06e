/* apps/sotto/learn/learn_run.h - a session that trains over real servers, on loopback or of others: what the files of `sotto learn run` share.
 *
 *     learn_run.c      the verb, and the list of steps
 *     learn_options.c  its options
 *     learn_recipe.c   the recipe as this deployment publishes it, the model and the session
 *     learn_digits.c   examples that are made up, where no file has any
 *     learn_deploy.c   log, witness, leader and helper in a folder that outlives the run
 *     learn_remote.c   log, leader and helper that others run
 *     learn_owner.c    the key that signs records
 *     learn_fleet.c    devices: who takes part, their updates, and their reports
 *     learn_library.c  the same by the device library, with files for each device
 *     learn_trainer.c  models that sotto has not, and programs that train
 *     learn_models.c   models by their digest, over HTTP
 *     learn_one_server.c   one server in the place of leader and helper: an aggregator, a committee, and rounds that are posted
 *     learn_one_encrypted.c  the same with encrypted sums
 *     learn_one_devices.c  its devices
 *     learn_rounds.c   one round: publish, wait, collect, step, checkpoint
 *     learn_show.c     curves, receipts and the state of a folder
 *
 * What is done stands in the folder, and a run that ended anywhere goes on from there:
 *
 *     session          the checkpoint: rounds that are closed or burnt, and the model after them
 *     log-files        which records are published: none is published twice
 *     leader.db        what was collected: asked again, the leader gives the same answer
 *     models/DIGEST    the bytes of each round's model
 */
#ifndef SOTTO_APPS_LEARN_RUN_H
#define SOTTO_APPS_LEARN_RUN_H

#include "demo.h"

#include "aggregate/method.h"
#include "analyse/learning_receipt.h"
#include "dap/dap.h"
#include "dap/report.h"
#include "learn/dataset.h"
#include "learn/session.h"
#include "noise/entropy.h"
#include "recipe/learning_slots.h"
#include "sotto/learn.h"
#include "tlog/key_file.h"

enum {
    LEARN_POINTS = 4096,
    LEARN_THREADS = 16,
    LEARN_EVERY = 60, /* seconds: a round on this machine */
    LEARN_HEX = 2 * SOTTO_MODEL_HASH + 1
};

/* A program that trains. */
typedef struct learn_trainer {
    struct sotto_child_trainer *child; /* NULL: not opened */
    uint64_t failed;                   /* devices of the round at hand ... */
    sotto_err err;                     /* ... and why the first one did    */
} learn_trainer;

typedef struct learn_run {
    /* options */
    const char *recipe_file, *data_file, *policy_file, *init_file, *folder, *csv, *svg;
    const char *trainer; /* a command; NULL: models train in C */
    /* servers of others: where parties_file is not NULL */
    const char *parties_file, *pairing_file, *key_file, *owner_file, *ca_file;
    uint64_t patience; /* seconds; 0: by the recipe */
    bool plain, rehearse;
    bool json, quiet, library;
    bool one_server; /* the recipe has `trust` flamingo or aero */
    bool asks;       /* a server or the log, at the moment: what fails then is their failure */
    bool localised;  /* the recipe is this session's own: its log, parties and times */
    uint64_t devices, threads, drop, seed,
        stop_after; /* 0: the recipe's; default; none; ...; all */

    demo deployment;
    const sotto_learning *learning;
    const sotto_policy *policy;
    sotto_learning_claim claim;
    const sotto_parties *parties;
    sotto_model model;
    sotto_dataset data;
    uint64_t *firsts; /* rows of each device */
    sotto_session session;
    learn_trainer trainers[LEARN_THREADS];
    char trainer_line[4096];
    const char *trainer_words[4];
    struct learn_one *one;            /* of one server; NULL: not started */
    struct sotto_http_server *models; /* NULL: not started */
    char models_url[64];

    sotto_signer_file owner_kept; /* of owner_file            */
    sotto_signer own_signer;      /* of a session's own recipe */
    uint8_t owner_seed[SOTTO_SIGN_SEED];

    /* the round at hand */
    sotto_round_record record;
    sotto_bytes record_bytes;
    sotto_bytes feed; /* of the log, with the record's proof; with --library */
    sotto_task task;
    sotto_vdaf vdaf;
    sotto_vector_randomizer randomizer;
    sotto_hpke_config keys[2]; /* that reports are sealed to */
    uint8_t fleet[32];         /* secret of all devices      */
    uint64_t sent, took_part, trained;
    double train_ms;

    sotto_arena arena, round_arena;
} learn_run;

/* Whether log, leader and helper are processes of others. */
static inline bool learn_is_remote(const learn_run *run)
{
    return run->parties_file != NULL;
}

/* learn_options.c: EXIT_DONE, or EXIT_USAGE after having said why. The second one takes those of a log, too, and names the folder. */
int learn_check_options(learn_run *run, int argc, char **argv);
int learn_run_options(learn_run *run, int argc, char **argv);

/* learn_recipe.c */
SOTTO_MUST_USE sotto_status learn_read_file(learn_run *run, const char *path, size_t most,
                                            sotto_bytes *out, sotto_err *err);
/* The recipe's bytes as they are published here, into the deployment's recipe_text. */
SOTTO_MUST_USE sotto_status learn_recipe_localise(learn_run *run, sotto_bytes text, sotto_err *err);
/* Reads and judges recipe_text. EXIT_DONE, or after having said why: EXIT_LINT, EXIT_REFUSED. */
int learn_recipe_judge(learn_run *run);
/* The model and the session by the recipe. SOTTO_DENIED: it begins with another model. */
SOTTO_MUST_USE sotto_status learn_session_begin(learn_run *run, sotto_err *err);
/* With the recipe's parameters, where it says how many. */
SOTTO_MUST_USE sotto_status learn_model_of(sotto_model *out, const sotto_learning *learning,
                                           const sotto_dataset *data, sotto_err *err);
/* The file of these weights, in the arena, and its digest: what a record names. */
SOTTO_MUST_USE sotto_status learn_model_bytes(const sotto_model *model, const float *weights,
                                              sotto_bytes *out, uint8_t digest[SOTTO_MODEL_HASH],
                                              sotto_arena *arena, sotto_err *err);
SOTTO_MUST_USE sotto_status learn_data_load(learn_run *run, sotto_err *err);
/* How well the model does on the rows that nobody trained on. */
SOTTO_MUST_USE sotto_status learn_evaluate(learn_run *run, double *loss, double *accuracy,
                                           sotto_err *err);

/* learn_owner.c: a new key in a new file, and its public half; the key of a file, which must be the recipe's; one for a session. */
SOTTO_MUST_USE sotto_status learn_owner_make(const char *path, char public[LEARN_HEX],
                                             sotto_err *err);
SOTTO_MUST_USE sotto_status learn_owner_read(sotto_signer_file *out, const char *path,
                                             const sotto_learning *learning, sotto_err *err);
SOTTO_MUST_USE sotto_status learn_owner_draw(learn_run *run, sotto_err *err);

/* learn_remote.c: in the place of learn_deploy_open and learn_deploy_provision. Waits are until a round's servers, its end or its sum
 * are there, or its time is up. */
SOTTO_MUST_USE sotto_status learn_remote_open(learn_run *run, bool *fresh, sotto_err *err);
int learn_remote_secrets(learn_run *run);
SOTTO_MUST_USE sotto_status learn_remote_provision(learn_run *run, sotto_err *err);
SOTTO_MUST_USE sotto_status learn_remote_await(learn_run *run, int64_t when, sotto_err *err);
/* Seconds since 1970: when the round at hand is given up. */
int64_t learn_remote_deadline(const learn_run *run);
/* What devices take of a round: its bundle of the log. */
SOTTO_MUST_USE sotto_status learn_remote_keep_bundle(learn_run *run, sotto_bytes bundle,
                                                     sotto_err *err);

/* learn_deploy.c: files of the folder; the secrets of the fleet and of the recipe's owner. */
SOTTO_MUST_USE sotto_status learn_put_file(const learn_run *run, const char *name,
                                           sotto_bytes bytes, sotto_err *err);
SOTTO_MUST_USE sotto_status learn_get_file(learn_run *run, const char *name, sotto_bytes *out,
                                           sotto_err *err);
SOTTO_MUST_USE sotto_status learn_get_text(learn_run *run, const char *name, char *out, size_t size,
                                           sotto_err *err);
SOTTO_MUST_USE sotto_status learn_keep_fleet(const learn_run *run, sotto_err *err);
SOTTO_MUST_USE sotto_status learn_get_fleet(learn_run *run, sotto_err *err);
/* learn_deploy.c: the folder alone, with its lock. */
SOTTO_MUST_USE sotto_status learn_folder_make(learn_run *run, bool *fresh, sotto_err *err);
SOTTO_MUST_USE sotto_status learn_parties_read(learn_run *run, sotto_err *err);
/* learn_deploy.c: makes the folder, or goes on with it; starts the servers. SOTTO_STALE: another run uses it. */
SOTTO_MUST_USE sotto_status learn_deploy_open(learn_run *run, bool *fresh, sotto_err *err);
/* Of a fresh one: parties, pairing and round 0 at both servers; then it is whole. */
SOTTO_MUST_USE sotto_status learn_deploy_provision(learn_run *run, sotto_err *err);
void learn_deploy_close(learn_run *run);
/* The record of the round at hand, signed and encoded; and the DAP task that it makes of two servers. */
SOTTO_MUST_USE sotto_status learn_record_make(learn_run *run, sotto_err *err);
SOTTO_MUST_USE sotto_status learn_task_compile(learn_run *run, sotto_err *err);

/* learn_fleet.c: every device that is drawn for the round at hand trains, and sends its report. Doing it again sends the same
 * bytes, which a leader takes once. */
SOTTO_MUST_USE sotto_status learn_fleet_answer(learn_run *run, sotto_err *err);

/* learn_trainer.c: whether sotto lacks a model of this name; such a model and its numbers, by its first file, of which it keeps the head. */
bool learn_own_is(const char *name);
SOTTO_MUST_USE sotto_status learn_own_read(sotto_model *out, float **weights, sotto_bytes file,
                                           sotto_arena *arena, sotto_err *err);
/* Of `--trainer`: starts one and tries it without rows. Whom a thread's devices train by. How many failed in the round at hand.
 * Closing without opening is fine. */
SOTTO_MUST_USE sotto_status learn_trainers_open(learn_run *run, sotto_err *err);
sotto_trainer learn_trainer_of(learn_run *run, size_t thread);
void learn_trainers_tell(learn_run *run);
void learn_trainers_close(learn_run *run);

/* What a device did in a round. */
typedef struct learn_outcome {
    bool took_part, sent;
} learn_outcome;

/* learn_library.c: the policy of all devices; the feed that they take the round from; and one of them. Nothing in `arena` stays. */
SOTTO_MUST_USE sotto_status learn_library_policy(learn_run *run, sotto_err *err);
SOTTO_MUST_USE sotto_status learn_library_feed(learn_run *run, sotto_bytes bundle, sotto_err *err);
SOTTO_MUST_USE sotto_status learn_library_answer(learn_run *run, uint64_t number, size_t thread,
                                                 struct sotto_http_client *client,
                                                 sotto_arena *arena, learn_outcome *out,
                                                 sotto_err *err);

/* What those devices are: their stream, rows of a device of the data, and an exchange over HTTP. */
extern const sotto_stream learn_library_stream;
SOTTO_MUST_USE sotto_status learn_library_donate(const learn_run *run, sotto_device *device,
                                                 uint64_t number, sotto_arena *arena,
                                                 sotto_err *err);
SOTTO_MUST_USE sotto_status learn_library_carry(struct sotto_http_client *client,
                                                sotto_arena *arena, sotto_exchange *exchange);

/* learn_one_server.c: whether the recipe's text is one of one server. Then, in this order: the aggregator starts; a fresh folder is made
 * whole; devices, witnesses and their registry; rounds. *out has no reports where the round is burnt. */
bool learn_one_is(sotto_bytes recipe);
/* SOTTO_DENIED: too many or too few devices for this machine or for the recipe. */
SOTTO_MUST_USE sotto_status learn_one_check(const learn_run *run, sotto_err *err);
SOTTO_MUST_USE sotto_status learn_one_open(learn_run *run, bool fresh, sotto_err *err);
SOTTO_MUST_USE sotto_status learn_one_provision(learn_run *run, sotto_err *err);
SOTTO_MUST_USE sotto_status learn_one_begin(learn_run *run, sotto_err *err);
SOTTO_MUST_USE sotto_status learn_one_round(learn_run *run, sotto_collection *out, sotto_err *err);
/* Nothing for one that was not opened. */
/* What became of the round at hand, for its receipt. Nothing where sums are masked. */
void learn_one_tell(const learn_run *run, sotto_learning_receipt *receipt);
void learn_one_close(learn_run *run);

/* learn_models.c: serves the folder's models on loopback, at models_url. Closing without opening is fine. */
SOTTO_MUST_USE sotto_status learn_models_open(learn_run *run, sotto_err *err);
void learn_models_close(learn_run *run);

/* learn_rounds.c */
SOTTO_MUST_USE sotto_status learn_round_run(learn_run *run, sotto_err *err);
void learn_say(const learn_run *run, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* learn_show.c. A round's receipt is saved before its checkpoint. The files that say how far a session is are saved after it, and
 * again when a run goes on. */
SOTTO_MUST_USE sotto_status learn_show_receipt(learn_run *run, const sotto_learning_receipt *round,
                                               sotto_err *err);
SOTTO_MUST_USE sotto_status learn_show_save(learn_run *run, sotto_err *err);
int learn_show_end(learn_run *run);

extern const struct sotto_verb sotto_verb_learn_init, sotto_verb_learn_key, sotto_verb_learn_check,
    sotto_verb_learn_run, sotto_verb_learn_watch, sotto_verb_learn_export, sotto_verb_learn_buffers;

#endif
