/* apps/sotto/device/device.h - what the device verbs share. */
#ifndef SOTTO_APPS_DEVICE_H
#define SOTTO_APPS_DEVICE_H

#include "show.h"
#include "sotto/device.h"
#include "verbs.h"

#include <jansson.h>

enum { SOTTO_JOB_FIELDS = 32 };

/* One run of a device verb. */
typedef struct sotto_device_job {
    const char *verb;
    const char *words[2]; /* what stands there without an option */
    size_t word_count;
    /* files; those that are NULL are in dir under their usual names */
    const char *dir, *events, *ledger, *policy, *parties, *streams, *about, *enrolment;
    const char *fields[SOTTO_JOB_FIELDS]; /* NAME=VALUE, of the device itself */
    size_t field_count;
    const char *now, *lines, *recipe, *out, *evidence, *models, *trainer;
    uint64_t most, after;
    bool json, idle, charging, network, dry_run, yes;
    bool relayed; /* the last request that was written is for a relay */

    sotto_arena arena;
    json_t *about_read; /* fields point into it */
    int64_t at;         /* the time by --now    */
    sotto_device_options options;
    sotto_device *device;
    sotto_err err;
} sotto_device_job;

/* Arguments and files. Each returns EXIT_DONE, or an exit code after having said what is wrong. */
typedef struct sotto_device_verb sotto_device_verb;
int sotto_device_job_parse(sotto_device_job *job, const sotto_device_verb *verb, int argc,
                           char **argv);
int sotto_device_job_open(sotto_device_job *job, bool creates);
void sotto_device_job_end(sotto_device_job *job);

/* The whole of a file, or of standard input for "-", into the arena. */
SOTTO_MUST_USE sotto_status sotto_device_read_file(sotto_device_job *job, sotto_bytes *out,
                                                   const char *path);
/* The enrolment key, where there is one. */
SOTTO_MUST_USE sotto_status sotto_device_read_enrolment(sotto_device_job *job);
/* A copy in the arena; NULL when there is no memory. */
const char *sotto_device_keep(sotto_device_job *job, const char *text);

/* Says what job->err holds, and gives the exit code of its status. */
int sotto_device_complain(const sotto_device_job *job);

/* ---- printing ---- */

/* A line of JSON: an object that is open, and what closes and ends it. */
sotto_json sotto_device_object(void);
void sotto_device_print_object(sotto_json *j);
/* Text of a person or a stranger: escape codes must not reach a terminal. */
void sotto_device_print_text(const char *text, size_t len);
/* Randomised bits in hexadecimal, as many lines as it takes. */
void sotto_device_print_bits(sotto_bytes bits, const char *indent);

/* The transport of `tick --out`: host.exchange, with the job as context. */
sotto_status sotto_device_write_upload(void *context, sotto_exchange *exchange);

/* device_train.c: rounds of learning, where --models was said: the answer to a device that fetches a model, and who trains. */
struct sotto_child_trainer;
SOTTO_MUST_USE sotto_status sotto_device_answer_model(sotto_device_job *job,
                                                      sotto_exchange *exchange);
SOTTO_MUST_USE sotto_status sotto_device_begin_training(sotto_device_job *job,
                                                        struct sotto_child_trainer **child);
void sotto_device_end_training(struct sotto_child_trainer *child); /* NULL is fine */

/* ---- verbs ---- */

int sotto_device_run_events(sotto_device_job *job);
int sotto_device_run_recipes(sotto_device_job *job);
int sotto_device_run_record(sotto_device_job *job);
int sotto_device_run_receipts(sotto_device_job *job);
int sotto_device_run_ledger(sotto_device_job *job);
int sotto_device_run_why(sotto_device_job *job);
int sotto_device_run_forget(sotto_device_job *job);
int sotto_device_run_consent(sotto_device_job *job);
int sotto_device_run_reset(sotto_device_job *job);
int sotto_device_run_donate(sotto_device_job *job);
int sotto_device_run_offer(sotto_device_job *job);
int sotto_device_run_parties(sotto_device_job *job);
/* device_act.c: that a file was taken, for its verbs' last line. */
int sotto_device_say_taken(const sotto_device_job *job, const char *what);
int sotto_device_run_enrol(sotto_device_job *job);
int sotto_device_run_keys(sotto_device_job *job);
int sotto_device_run_tokens(sotto_device_job *job);
int sotto_device_run_log(sotto_device_job *job);
int sotto_device_run_tick(sotto_device_job *job);

/* ---- the table of options ---- */

typedef enum sotto_option_kind {
    SOTTO_OPTION_FLAG,
    SOTTO_OPTION_TEXT,
    SOTTO_OPTION_NUMBER,
    SOTTO_OPTION_FIELD, /* may stand several times */
} sotto_option_kind;

typedef struct sotto_device_option {
    const char *name;
    sotto_option_kind kind;
    size_t offset; /* in sotto_device_job */
} sotto_device_option;

struct sotto_device_verb {
    const char *name;
    int (*run)(sotto_device_job *job);
    size_t least, most; /* words */
    bool creates;       /* files that are not there yet */
    const sotto_device_option *own;
    size_t own_count;
};

extern const sotto_device_option sotto_device_common[];
extern const size_t sotto_device_common_count;

#endif
