/* recipe/price.h - what a question costs, and what it shows: of accuracy, epsilon and cohort two are chosen, the third is found.
 *
 * Callers:  `sotto recipe price` and lint. Devices link none of it.
 * Memory:   what is found lives in the arena.
 *
 * A recipe is the frame: its query, encoding, cohorts, schedule and servers stay. For every way to protect it, which is a
 * source of noise and a randomizer, a search finds the noise. The result is written into the recipe's own text, which is then read, judged
 * and priced like any recipe. Every number here is therefore one that `sotto recipe lint` has of that text.
 */
#ifndef SOTTO_RECIPE_PRICE_H
#define SOTTO_RECIPE_PRICE_H

#include "recipe/accuracy.h"
#include "sotto/lint.h"

/* What is to be reached, in the words of recipe/accuracy.h. */
typedef enum sotto_goal {
    SOTTO_GOAL_NONE,
    SOTTO_GOAL_LARGEST,
    SOTTO_GOAL_HALF_WIDTH, /* of quantiles: of the median's rank */
    SOTTO_GOAL_SEEN
} sotto_goal;

typedef enum sotto_price_find {
    SOTTO_PRICE_FIND_ACCURACY, /* epsilon and cohort are given */
    SOTTO_PRICE_FIND_COHORT,   /* goal and epsilon are         */
    SOTTO_PRICE_FIND_EPSILON   /* goal and cohort are          */
} sotto_price_find;

/* Reports are a sample of the devices. A count of 100 in a tenth of them stands for 1,000. */
typedef enum sotto_goal_unit {
    SOTTO_UNIT_ANSWER, /* as the answer has it */
    SOTTO_UNIT_PART,   /* of all reports       */
    SOTTO_UNIT_DEVICES /* as if all devices of the task had sent a report */
} sotto_goal_unit;

typedef struct sotto_price_question {
    sotto_price_find find;
    sotto_goal goal;
    double wanted;
    sotto_goal_unit unit; /* of `wanted` */
    sotto_decimal epsilon, delta;
    uint64_t cohort;     /* min_cohort, of one task */
    uint64_t population; /* of all tasks together   */
    double rate;         /* of poisson; 0: the least that fills the cohort */
    sotto_accuracy_options options;
    const sotto_policy *policy; /* may be NULL, as may streams */
    const sotto_streams *streams;
} sotto_price_question;

/* A cohort counts as filled where it is with this chance. */
#define SOTTO_PRICE_FILLED 0.99

enum { SOTTO_PRICE_WAYS = 6, SOTTO_PRICE_WHY = 280 };

/* One source of noise with one randomizer. */
typedef struct sotto_price_way {
    sotto_noise_source by;
    sotto_randomizer_kind randomizer; /* by SOTTO_BY_CROWD */
    bool found; /* there is a recipe; else `why` says what stands against it                     */
    bool fills; /* its cohort is filled                                                          */
    bool
        allowed; /* lint and the policy, if there is one, have no mistake                         */
    bool meets;  /* all of these, and the goal                                                    */
    char why
        [SOTTO_PRICE_WHY]; /* unless it meets: the first reason, and what would help            */
    bool
        needs_devices; /* the reason is that there are too few of them                             */
    const sotto_recipe *recipe;
    sotto_bytes text; /* of all of it */
    sotto_bytes
        fragment; /* its members that were found: randomizer, participation, privacy, population if it was given */
    sotto_recipe_claim claim;
    sotto_recipe_verdict verdict;
    sotto_forecast forecast;
    sotto_accuracy accuracy;
    double
        days; /* until it is filled, if reports come evenly over the schedule; INFINITY: it is not */
} sotto_price_way;

/* All ways that the statistic has, in the order of `privacy.by`.
 *   SOTTO_DENIED  the recipe's participation has no number of reports to expect */
SOTTO_MUST_USE sotto_status sotto_price_ways(sotto_price_way ways[SOTTO_PRICE_WAYS], size_t *count,
                                             const sotto_price_question *question,
                                             const sotto_recipe *recipe, sotto_arena *arena,
                                             sotto_err *err);
/* Among the sources of noise whose bit is set, the way that has the smallest of what was to be found. Ways that meet the goal
 * come before others. NULL: none was found. */
const sotto_price_way *sotto_price_best(const sotto_price_way *ways, size_t count,
                                        const sotto_price_question *question, unsigned by);

/* The best randomizer at the recipe's own epsilon and cohort, with at most the local epsilon that a policy allows (may be
 * NULL). False: there is none. */
typedef struct sotto_best_randomizer {
    const char *name;
    double epsilon_local;
    sotto_accuracy accuracy;
} sotto_best_randomizer;
bool sotto_price_best_randomizer(sotto_best_randomizer *out, const sotto_recipe *recipe,
                                 const sotto_policy *policy, const sotto_recipe_verdict *verdict,
                                 double reports);

/* ---- price_budgets.c ------------------------------------------------------------------------------------ */

/* What one more report of this recipe leaves of a policy's budgets on a device that has spent nothing. */
typedef struct sotto_price_budget {
    const char *name; /* of the analysis, or "stream.field" */
    bool analysis;
    sotto_decimal epsilon, left; /* basic composition: what is left is the difference */
    bool basic;
    uint64_t reports_left;
    uint64_t more; /* such reports that still fit, counted up to SOTTO_PRICE_MORE */
} sotto_price_budget;

enum { SOTTO_PRICE_MORE = 1000, SOTTO_PRICE_BUDGETS = SOTTO_VERDICT_READS + 1 };

/* The analysis first, then the fields that the query reads and the policy has a budget for. */
SOTTO_MUST_USE sotto_status sotto_price_budgets(sotto_price_budget out[SOTTO_PRICE_BUDGETS],
                                                size_t *count, const sotto_price_way *way,
                                                const sotto_policy *policy, sotto_err *err);

/* ---- price_search.c: for price.c and price_rates.c ------------------------------------------------------------------- */

/* The largest local epsilon that a policy's fields allow reports on what the query reads. */
sotto_decimal sotto_price_local_most(const sotto_policy *policy,
                                     const sotto_recipe_verdict *verdict);

typedef struct sotto_price_search {
    const sotto_price_question *question;
    sotto_decimal honest, local_most;
    double devices;      /* of one task */
    uint64_t least;      /* cohort that a policy insists on */
    sotto_recipe recipe; /* changed on the way */
    bool found;
    bool too_few; /* the goal takes more devices than there are; `needed` of them, in one task */
    uint64_t needed;
    char why[SOTTO_PRICE_WHY];
} sotto_price_search;

/* A search for the noise of this recipe, by this source. */
void sotto_price_begin(sotto_price_search *search, const sotto_price_question *question,
                       const sotto_recipe *recipe, sotto_noise_source by,
                       sotto_randomizer_kind randomizer, sotto_decimal local_most);
SOTTO_MUST_USE sotto_status sotto_price_run(sotto_price_search *search, sotto_err *err);
/* The goal's number of an accuracy, in the goal's unit, of a task of so many devices. */
double sotto_price_reached(const sotto_price_question *question, const sotto_accuracy *accuracy,
                           double devices);

/* ---- price_text.c: for price.c and price_rates.c --------------------------------------------------------------------- */

/* The text of `frame` with the members of `recipe` that a search changes. */
SOTTO_MUST_USE sotto_status sotto_price_write(sotto_bytes *text, sotto_bytes *fragment,
                                              const sotto_recipe *frame, const sotto_recipe *recipe,
                                              sotto_arena *arena, sotto_err *err);

/* ---- reference_price.c: for reference.c alone ----------------------------------------------------------- */

extern const char *const sotto_reference_price[]; /* lines of docs/recipe.md, and NULL */

#endif
