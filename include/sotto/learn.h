/* sotto/learn.h - a device that takes part in rounds of learning. libsotto-device-full has it; libsotto-device has not.
 *
 *     sotto_device_learn      once after opening: who trains, and where model files are
 *     sotto_device_offer      the record of a round as it was published, or its bundle of a log; feeds bring them too
 *     sotto_device_tick       whatever is due: the model is fetched, trained, paid for, sealed and sent
 *     sotto_device_why        of the round by its name: "digits#3" is round 3 of recipe "digits"
 *     sotto_device_rho        what taking part has cost so far
 *
 * Callers:  the host application; `sotto learn`; simulations.
 * Memory:   what a trainer is given lives until it returns.
 * Threads:  as sotto/device.h: a trainer is called by sotto_device_tick, in its thread.
 * Secrets:  rows and updates. An update leaves only as shares that were clipped, rounded and proved. The device does that,
 *           and adds its part of the noise where the recipe says so: a trainer chooses none of it.
 *
 * A device takes part in a round as the recipe's draw says, once, within the round's time. The whole epsilon of the recipe
 * is charged before the first update leaves, for all `participations` together. Each update counts as one report, and adds
 * its zCDP to an account that is never renewed. A round that is burnt is paid for like any other.
 * The policy may have "sampling": "when-hidden". Where the device verified relay, tokens and log, the recipe is then charged by the
 * theorem for secret samples: once, whole, before its first coin (docs/decisions/0217).
 */
#ifndef SOTTO_LEARN_H
#define SOTTO_LEARN_H

#include "sotto/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the trainer -------------------------------------------------------------------------------------------- */

/* What one update is computed from. All members are borrowed until the trainer returns. */
typedef struct sotto_trainer_input {
    size_t size; /* sizeof(sotto_trainer_input): a later version may append members */
    const char *recipe;
    uint64_t round;        /* from 0                                                         */
    const char *model;     /* its type, as the recipe names it: "lenet"                      */
    sotto_bytes file;      /* the model as it was published: safetensors, digest checked     */
    const float *weights;  /* the same numbers, tensors in the order of their places there   */
    size_t parameters;     /* ... how many                                                   */
    const char *algorithm; /* "fedavg" or "fedsgd"                                           */
    uint64_t epochs;
    uint64_t batch; /* rows of a step; 0: all of them                                 */
    double rate;    /* of this round, decay included                                  */
    double clip;    /* the norm that the update is clipped to afterwards              */
    /* Rows of the recipe's query, at most its most_rows: the first that the query gives. Cells stand row by row. */
    const char *const *columns;
    size_t column_count;
    const sotto_value *cells;
    size_t row_count;
    uint64_t seed;    /* secret, and new for each update: for the order of rows */
    int64_t deadline; /* seconds since 1970 by the device's clock               */
} sotto_trainer_input;

typedef struct sotto_trainer {
    size_t size; /* sizeof(sotto_trainer), as the host was compiled */
    /* Model files are fetched from here: this prefix, and behind it the digest in 64 lower-case hexadecimal digits. A file is
     * asked for only by devices that take part. It goes through the relay where the recipe has one. */
    const char *models;
    uint64_t model_bytes; /* the longest file that is fetched; 0: 64 MiB */
    uint64_t seconds;     /* that training may take; 0: 600              */
    /* Writes new weights less old ones, `parameters` numbers in the order of `weights`; all are 0 before.
     *   SOTTO_AGAIN  not now: the next tick asks again, and nothing was paid. Only for reasons that do not follow from rows:
     *                silence that follows from them would tell of them
     *   another      it failed. Zeros are sent in its place, and paid for, as after a number that is not finite
     * A result that comes after the deadline counts as failed. */
    sotto_status (*train)(void *context, const sotto_trainer_input *input, float *update,
                          sotto_err *err);
    void *context;
} sotto_trainer;

/* Says who trains, from now on; NULL: nobody, and no round is answered. What it points to is copied, but for `context`.
 *   SOTTO_MALFORMED  no `models`, no `train`, or numbers out of range */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_learn(sotto_device *device,
                                                         const sotto_trainer *trainer,
                                                         sotto_err *err);

/* A trainer in plain C, for `train`; its context is not looked at. Models are "logistic", "mlp", "lenet", "cnn" and "gru", in
 * the sizes that `sotto sim learn` has, with as many classes as fit the recipe's parameters. "logistic" and "mlp" may also have the
 * inputs of a table: then the tensors of the model's file tell how many inputs and classes there are.
 * The query's last column is the label, a whole number. The columns before it are the inputs in their order: a number
 * stands for itself, a text of hexadecimal digits for bytes, each a 255th. A "gru" has one column alone, a text of
 * hexadecimal digits: its bytes are the symbols. Rows that are not so are left out.
 *   SOTTO_DENIED  a model that is not one of these */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_train_in_c(void *context,
                                                       const sotto_trainer_input *input,
                                                       float *update, sotto_err *err);

/* ---- what it has cost ------------------------------------------------------------------------------------------ */

typedef enum sotto_rho_account {
    SOTTO_RHO_RECIPE = 1,
    SOTTO_RHO_ANALYSIS,
    SOTTO_RHO_FIELD,
    SOTTO_RHO_SESSION /* what a recipe was charged for secret samples, before any coin was tossed */
} sotto_rho_account;

/* zCDP in the replacement model, for the honest part of a cohort that the policy states. */
typedef struct sotto_rho_line {
    sotto_rho_account account;
    const char *name;        /* "digits", "com.example.digits" or "digits.pixels"                 */
    double rho;              /* of all updates that were ever made                                */
    double rho_allowed;      /* of a recipe: of all its participations together; else 0           */
    uint64_t participations; /* updates; of a session: times that it was charged, once a period   */
    uint64_t allowed;        /* of a recipe: participations; else 0                               */
    uint64_t last_round;     /* of a recipe: the last that was taken part in; else 0              */
    double epsilon, delta;   /* of a session, each time; else 0                                   */
} sotto_rho_line;
typedef sotto_status sotto_rho_line_fn(void *context, const sotto_rho_line *line, sotto_err *err);
/* Recipes and sessions in the order of their first charge, then analyses and fields. A recipe has a line for each text of it. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_rho(sotto_device *device,
                                                       sotto_rho_line_fn *show, void *context,
                                                       sotto_err *err);

#ifdef __cplusplus
}
#endif

#endif
