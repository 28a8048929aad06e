/* recipe/learning.h - learning recipes: a model trained in rounds. Over two servers each of them is a DAP task of its own; one server posts
 * rounds of masked vectors instead (aggregate/posting.h).
 *
 * Callers:  programs, servers, and devices with rounds (device/round.h). sotto_recipe_read refuses such recipes, so that nothing that
 *           knows statistics alone meets one; libsotto-device has not even the rows for their keys (schema_table.c).
 * Memory:   what was read lives in the arena it was read into. Claims are plain values.
 * Secrets:  none: recipes, records and policies are public.
 *
 *     update    projected to fewer numbers where the recipe says so, clipped to norm `clip`, made shorter by capped weights, put on a grid
 *               of 1/scale, and rounded at random
 *     noise     shares: each device adds a discrete Gaussian; servers: each adds one to its share of the sum, fresh or correlated with
 *               that of other rounds (noise/tree.h, noise/blt.h). committee: each of its members adds one to an encrypted sum
 *     proof     PINE: both servers check that the report's norm is at most `bound`, the recipe's factor times the clip. One server checks
 *               nothing of masked updates; encrypted ones are proved to be within the norm of honest ones
 *     release   the sum of a round, with the number of its reports
 *
 * docs/decisions/0131 has the reasons.
 */
#ifndef SOTTO_RECIPE_LEARNING_H
#define SOTTO_RECIPE_LEARNING_H

#include "crypto/signature.h"
#include "noise/blt.h"
#include "noise/randomizer_vector.h"
#include "noise/weights.h"
#include "recipe/model.h"
#include "sotto/lint.h"

enum { SOTTO_MODEL_HASH = 32 };

typedef struct sotto_learning {
    /* What both kinds of recipe have. Its statistic, encoding and randomizer are all zeros, its query is that of the data,
     * and sigma_milli is of the grid, by servers alone. */
    sotto_recipe head;
    const char *model; /* its name            */
    uint64_t parameters;
    uint8_t init[SOTTO_MODEL_HASH]; /* of round 0          */
    uint64_t most_rows;
    unsigned algorithm; /* in the order of the words of learn.local.algorithm */
    uint64_t epochs, batch;
    double rate, decay;
    double clip;
    uint64_t scale;
    sotto_update_weights weights;
    uint64_t cap;       /* of capped weights: rows from which on a device counts fully; else 0 */
    uint64_t projected; /* numbers that an update is projected to; 0: it is sent as it is      */
    unsigned optimizer; /* in the order of the words of learn.server.optimizer */
    double server_rate;
    uint64_t rounds, every, goal, largest, grace, participations, separation;
    bool zeros; /* without a turn a device sends zeros, and turns are drawn beforehand */
    bool owned; /* only records that this key signed count */
    uint8_t owner[SOTTO_SIGN_PUBLIC];
    double multiplier;
    uint64_t restart;    /* rounds of a tree of correlated noise; 0: there is no tree             */
    size_t buffers;      /* of correlated noise; 0: there are none                                */
    sotto_blt blt;       /* their matrix                                                          */
    double bound_factor; /* of two servers; 0: one server */
} sotto_learning;

/* Whether one server adds up masked or encrypted updates (recipe/learning_encrypted.h). Else two servers do. */
bool sotto_learning_one_server(const sotto_learning *learning);

/* Numbers of a report, and of a sum: one for each parameter, or as many as the recipe projects to. */
uint64_t sotto_learning_length(const sotto_learning *learning);
/* A sum of norm 1 moves the model by at most this: more than 1 where it is lifted from a projection. Rounded up. */
double sotto_learning_lift(const sotto_learning *learning);
/* At which devices train in this round, in the simulation of a session as anywhere. */
double sotto_learning_rate(const sotto_learning *learning, uint64_t round);

/* Whether the text is an object with a key `learn`: which of both readers to ask. */
bool sotto_learning_is(sotto_bytes json);

/* As sotto_recipe_read. */
SOTTO_MUST_USE sotto_status sotto_learning_read(const sotto_learning **out, sotto_bytes json,
                                                sotto_arena *arena, sotto_mistakes *mistakes,
                                                sotto_err *err);

/* ---- what it may claim --------------------------------------------------------------------------------- */

/* One inequality of the proof that numbers fit: left <= right. */
typedef struct sotto_fit {
    const char *what;
    double left, right;
    unsigned bits; /* where it fails: bits of a scale with which it holds */
    bool holds;
    bool finer; /* where it fails: that scale is the least, not the most */
} sotto_fit;

enum { SOTTO_FITS = 5 };

/* What a device's participations cost, in times one of fresh noise. */
typedef struct sotto_learning_price {
    double
        each; /* any number of them, up to `participations`, costs so much for each; 1: noise is fresh */
    double all; /* all of them together; of buffers it may be less than so many times each */
} sotto_learning_price;

typedef struct sotto_learning_claim {
    uint64_t honest;     /* of min_cohort, by the policy's honest part                           */
    double sensitivity;  /* L2, in steps of the grid: one device's data in place of another's    */
    double norm;         /* most that a rounded update's norm is, in steps                       */
    double device_sigma; /* shares: of what one device adds to each entry, in steps; else 0     */
    double sigma;        /* servers: of each one's noise; shares: of the honest devices' together */
    sotto_learning_price price; /* where noise is by servers */
    double rho;     /* zCDP of one participation, rounded up: what a ledger would charge    */
    double epsilon; /* of `participations` of them; infinity: none at this delta            */
    double delta;
    const char *theorem;
    double
        sampled_epsilon; /* of all rounds, if nobody sees who takes part; infinity: not claimed. For the
                               population that the recipe states, or fewer where reports show fewer */
    double sampled_share; /* that a round is of that population, at most                     */
    bool
        session; /* the policy has devices charged sampled_epsilon: only sotto_learning_judge knows */
    const char *unsampled_why; /* why nothing is claimed for taking part at random, or where not */
    uint64_t bound;            /* that is proved of a report's norm, in steps; 0: nothing is */
    uint64_t most;             /* of an entry of a report, in steps, its noise included      */
    double factor_needed;      /* least bound_factor with which honest reports pass, rounded up */
    double factor_unprojected; /* the same without the recipe's projection; 0: it has none      */
    double log2_miss;          /* but for this chance they pass                    */
    sotto_fit fits[SOTTO_FITS];
    size_t fit_count;
    size_t report_bytes;     /* 0: the numbers do not fit */
    double expected_reports; /* of a drawn round, the one with the fewest; else of the first */
} sotto_learning_claim;

/* SOTTO_DENIED only where nobody is honest. Numbers that don't fit are told by fits. */
SOTTO_MUST_USE sotto_status sotto_learning_claim_compute(sotto_learning_claim *out,
                                                         const sotto_learning *learning,
                                                         sotto_decimal honest, sotto_err *err);
/* Why taking part at random can't lower its epsilon; NULL: it may. */
const char *sotto_learning_unsampled(const sotto_learning *learning);
/* Rounds from one turn of a device to its next, where turns are drawn beforehand: `participations` and `separation` both hold. */
uint64_t sotto_learning_spacing(const sotto_learning *learning);
/* sampled_epsilon and sampled_share, of a claim that has its rho. SOTTO_DENIED: no theorem applies, and unsampled_why may say more. */
SOTTO_MUST_USE sotto_status sotto_learning_sample(sotto_learning_claim *out,
                                                  const sotto_learning *learning,
                                                  sotto_decimal honest, double log_delta,
                                                  sotto_err *err);

/* The epsilon that a device is charged: the recipe's own, or that of a session, rounded up. */
sotto_decimal sotto_learning_charge(const sotto_learning *learning,
                                    const sotto_learning_claim *claim);

/* What a device does to its update. Rows of the noise are in the arena. */
SOTTO_MUST_USE sotto_status sotto_learning_randomizer(sotto_vector_randomizer *out,
                                                      const sotto_learning *learning,
                                                      sotto_arena *arena, sotto_err *err);
/* The most numbers to which a projection would have honest reports pass with this bound_factor; 0: none would. */
uint64_t sotto_learning_projects_to(const sotto_learning *learning,
                                    const sotto_learning_claim *claim, double factor);
/* The bound that is proved, in steps of the grid. */
uint64_t sotto_learning_bound(const sotto_learning *learning);
/* How long an update may be that is proved, in clips, rounded up. */
double sotto_learning_reach_in_clips(const sotto_learning *learning,
                                     const sotto_learning_claim *claim);
/* Standard deviation of the noise on a sum, in steps of the grid; of correlated noise, that of one draw. */
double sotto_learning_sigma(const sotto_learning *learning);

/* ---- judging ------------------------------------------------------------------------------------------- */

/* As sotto_recipe_judge. */
SOTTO_MUST_USE sotto_status sotto_learning_judge(sotto_recipe_verdict *verdict,
                                                 sotto_learning_claim *claim,
                                                 const sotto_learning *learning,
                                                 const sotto_policy *policy,
                                                 const sotto_streams *streams,
                                                 sotto_mistakes *mistakes, sotto_err *err);

/* Appends what is trained, who takes part and what protects them, in plain words. */
SOTTO_MUST_USE sotto_status sotto_learning_explain(sotto_buf *out, const sotto_learning *learning,
                                                   const sotto_learning_claim *claim,
                                                   sotto_err *err);

/* ---- rounds -------------------------------------------------------------------------------------------- */

/* What a log publishes of a round, as one text file: lines that end with a line feed, an empty line, and the exact bytes
 * of the recipe. Numbers have no leading zeros, digests 64 lower-case digits.
 *
 *     sotto-round-1
 *     round 3
 *     model 5e8e...
 *
 *     { "recipe": ...
 *
 * Where the recipe has `rounds.key`, a third line has the owner's signature, as 128 lower-case digits:
 *
 *     signature 09ab...
 *
 * So both servers, every device and the collector derive the same task from it, and the task is bound to recipe, round
 * and model. */
typedef struct sotto_round_record {
    uint64_t round; /* from 0 */
    uint8_t model[SOTTO_MODEL_HASH];
    sotto_bytes recipe; /* borrowed */
    bool is_signed;
    uint8_t signature[SOTTO_SIGNATURE];
} sotto_round_record;

/* Whether the bytes begin as a record does. */
bool sotto_round_record_is(sotto_bytes wire);
SOTTO_MUST_USE sotto_status sotto_round_record_decode(sotto_round_record *out, sotto_bytes wire,
                                                      sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_round_record_encode(sotto_buf *out,
                                                      const sotto_round_record *record,
                                                      sotto_err *err);

/* By the recipe's owner: over round, model, and the hash of the recipe that the record has. */
SOTTO_MUST_USE sotto_status sotto_round_record_sign(sotto_round_record *record,
                                                    const sotto_signer *owner, sotto_err *err);
/* SOTTO_REJECTED: the recipe has a key, and this is not its signature; or it has none, and this is signed: a record has one spelling. */
SOTTO_MUST_USE sotto_status sotto_round_record_verify(const sotto_learning *learning,
                                                      const sotto_round_record *record,
                                                      sotto_err *err);

/* How the log's entry of a record names it, in the place of a URL:
 *
 *     urn:sotto:round:HASH:ROUND:MODEL
 *     urn:sotto:round:HASH:ROUND:MODEL:SIGNATURE
 *
 * HASH is the recipe's, MODEL the model's digest, both as 64 lower-case digits. SIGNATURE is that of the record, where it has one. Whoever has the recipe makes the record of
 * it, and compares its hash with the entry's: so a server needs nothing but the log. */
typedef struct sotto_round_name {
    uint8_t recipe[SOTTO_MODEL_HASH];
    uint64_t round;
    uint8_t model[SOTTO_MODEL_HASH];
    bool is_signed;
    uint8_t signature[SOTTO_SIGNATURE];
} sotto_round_name;

enum { SOTTO_ROUND_NAME = 288 }; /* bytes that suffice for one */

/* SOTTO_MALFORMED: not such a name. Each name has one spelling. */
SOTTO_MUST_USE sotto_status sotto_round_name_decode(sotto_round_name *out, sotto_bytes url,
                                                    sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_round_name_encode(sotto_buf *out, const sotto_round_name *name,
                                                    sotto_err *err);

/* Whether this is a record of the recipe: a round that it has, with the model that it begins with, and signed by its owner.
 *   SOTTO_DENIED, SOTTO_REJECTED  as sotto_round_task_compile */
SOTTO_MUST_USE sotto_status sotto_round_record_check(const sotto_learning *learning,
                                                     const sotto_round_record *record,
                                                     sotto_err *err);

/* task_info is this, the recipe's hash, the round in four bytes, the model's digest, and a digest of both servers' names,
 * URLs and keys. */
#define SOTTO_ROUND_INFO_TAG "sotto-round-1"

/* The DAP task of a round.
 *   SOTTO_DENIED    a round that the recipe does not have, round 0 of another model than the recipe's, numbers that
 *                   do not fit, or a recipe of one server
 *   SOTTO_REJECTED  the record is not signed by the recipe's owner */
SOTTO_MUST_USE sotto_status sotto_round_task_compile(sotto_task *out,
                                                     const sotto_learning *learning,
                                                     const sotto_round_record *record,
                                                     const sotto_parties *parties,
                                                     sotto_arena *arena, sotto_err *err);

#endif
