/* sotto/lint.h - what an analyst asks of a recipe: what it may claim, what is wrong with it, what it says in plain words.
 *
 * Callers:  analysts' tools and the console; serve/ before it takes a task. libsotto-analyst has it; libsotto-device does not,
 *           where a device judges for itself.
 * Memory:   nothing is kept; what is written belongs to the caller.
 * Threads:  calls on different outputs never interfere.
 * Secrets:  none: recipes, policies and parties are public.
 */
#ifndef SOTTO_LINT_H
#define SOTTO_LINT_H

#include "sotto/recipe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A complete, valid recipe, policy, parties and streams file that fit each other, to start from. */
SOTTO_API const char *sotto_recipe_example(void);
SOTTO_API const char *sotto_policy_example(void);
SOTTO_API const char *sotto_parties_example(void);
SOTTO_API const char *sotto_streams_example(void);

/* ---- reading ---------------------------------------------------------------------------------------- */

/* Adds to each mistake about a missing key what the key is for. A device's library does without these sentences. */
SOTTO_API void sotto_mistakes_explain(sotto_mistakes *mistakes);

/* ---- judging ---------------------------------------------------------------------------------------- */

/* What a recipe may claim, each number recomputed and rounded up, and by which theorem. */
typedef struct sotto_recipe_claim {
    sotto_statistic statistic;
    sotto_noise_source by;
    const char *randomizer;   /* "one-hot-asymmetric", ...; "none" unless by SOTTO_BY_CROWD    */
    double epsilon_local;     /* of one report, for the recipe's adjacency, as drawn; infinity:
                                 it has no local protection. So has what follows                */
    double replacement_local; /* of one report where any value may become any other or none     */
    bool none_told;           /* but not "or none": without a value a device is silent, which no
                                 epsilon bounds. All that follows holds between values only     */
    double delta;             /* at which the epsilons below hold                               */
    uint64_t honest;          /* of min_cohort, the reports that protect each other             */
    double epsilon_cohort;    /* what a device is charged: no gain by sampling                  */
    const char *theorem;
    double epsilon_sampled;    /* with the gain by participation; as above where none is earned  */
    const char *sampled_by;    /* its theorem; NULL where none is earned                         */
    const char *unsampled_why; /* where it is NULL: why nothing is claimed                     */
    double noise_sigma;        /* by servers, of each one's noise; by shares, of all honest ones' */
    double device_variance;    /* by shares: of what a device adds to each sum; 0: nothing        */
    double sensitivity;        /* L2: how far a report in place of another moves the sums         */
    double liar;               /* how far a report that passes its proof, in place of another, moves
                                  each of liar_sums: in counts, or in steps of the encoder        */
    uint64_t liar_sums;
    uint64_t min_cohort;     /* the recipe's if it keeps its epsilon, else the least; 0: none   */
    double expected_reports; /* of the stated population                                       */
    uint64_t bins;
    uint64_t weight;     /* most entries above 0 in a report that passes its proof         */
    double miss;         /* chance that an honest report has more, and so counts as empty  */
    size_t report_bytes; /* sent by a device, both shares sealed; 0: the trust has no task */
    uint64_t tasks;      /* one for each combination of cohort values                      */
    const char *seen_by; /* importance sampling: what replacement_local has in it where it is
                            seen who answers; NULL: elsewhere                              */
} sotto_recipe_claim;

/* Recomputes every privacy number and holds the recipe against it and, unless policy is NULL, against what
 * the policy allows. The query is compiled as devices compile it, over streams that have whatever it names. Adds to
 * mistakes. Without a policy half of a cohort is taken to be dishonest.
 *   SOTTO_DENIED  mistakes has errors; claim is filled as far as it could be
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_recipe_lint(sotto_recipe_claim *claim,
                                                        const sotto_recipe *recipe,
                                                        const sotto_policy *policy,
                                                        sotto_mistakes *mistakes, sotto_err *err);

enum { SOTTO_VERDICT_READS = 64, SOTTO_VERDICT_NAME = 128 };

/* What a device that has spent nothing yet would decide when it is offered the recipe, and why. */
typedef struct sotto_recipe_verdict {
    bool accepts;
    bool
        streams_known; /* false: only if its streams have what the query names                         */
    bool
        policy_known; /* false: only if its policy allows it                                          */
    bool
        query_open; /* without streams the query could not be followed to its end: see with streams */
    char
        why[200]; /* the first reason against it; empty where it accepts                          */
    char reads[SOTTO_VERDICT_READS]
              [SOTTO_VERDICT_NAME]; /* "stream.field": what the query reads        */
    size_t read_count;
} sotto_recipe_verdict;

/* sotto_recipe_lint, and what a fresh device with this policy and these streams would decide. That covers its own
 * checks of the query, the fields that the query reads, and the three budget checks with nothing spent. Time is left
 * out: a device also refuses what has closed or opens too late. policy and streams may be NULL.
 *   SOTTO_DENIED  mistakes has errors; verdict->why is the first
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_recipe_judge(sotto_recipe_verdict *verdict,
                                                         sotto_recipe_claim *claim,
                                                         const sotto_recipe *recipe,
                                                         const sotto_policy *policy,
                                                         const sotto_streams *streams,
                                                         sotto_mistakes *mistakes, sotto_err *err);

/* Appends what the recipe asks, who answers and what protects them, in plain words. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_recipe_explain(sotto_buf *out,
                                                           const sotto_recipe *recipe,
                                                           const sotto_recipe_claim *claim,
                                                           sotto_err *err);

/* Appends what the policy says of each field that the recipe's query reads: who may add noise, and whether a report may
 * be without local protection. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_policy_explain(sotto_buf *out,
                                                           const sotto_policy *policy,
                                                           const sotto_recipe_verdict *verdict,
                                                           sotto_err *err);

/* Appends the reference page of all keys (docs/recipe.md). */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_recipe_reference(sotto_buf *out, sotto_err *err);

#ifdef __cplusplus
}
#endif

#endif
