/* sotto/privacy.h - what may be claimed of a release, by which theorem, and who must be honest for it.
 *
 * Callers:  whoever publishes a number about people: recipes are priced, receipts written and budgets
 *           planned from here.
 * Memory:   questions and answers are plain values; an accountant owns its tables until it is freed. A call takes
 *           up to 2 MB of stack.
 * Threads:  no global state. Calls with different accountants, or with none, never interfere; one
 *           accountant belongs to one thread at a time.
 * Secrets:  none: a question holds no measurement.
 *
 * Every epsilon is a certified upper bound, with the largest certified lower bound beside it. A question
 * whose theorem does not apply is refused with the reason (SOTTO_DENIED). A parameter outside its range
 * is refused by its name and the accepted range (SOTTO_MALFORMED). Neither ever becomes a number.
 *
 * A question that is all zeros is refused: adjacency, trust and the dishonest share have no default.
 */
#ifndef SOTTO_PRIVACY_H
#define SOTTO_PRIVACY_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the words of a claim ---------------------------------------------------------------------- */

/* Two data sets that an observer must not be able to tell apart differ in that ... */
typedef enum sotto_adjacency {
    SOTTO_ADJACENCY_REPLACEMENT = 1, /* one person's value is another value                 */
    SOTTO_ADJACENCY_DELETION,        /* one person's value is "no value": a reference report */
    SOTTO_ADJACENCY_ADD_REMOVE       /* one person is not there at all                       */
} sotto_adjacency;

/* How reports are added up: `flamingo` and `aero` may not claim sampling, check-ins or aggregation, since their one
 * server sees who takes part. */
typedef enum sotto_trust {
    SOTTO_TRUST_SPLIT = 1,
    SOTTO_TRUST_FLAMINGO,
    SOTTO_TRUST_AERO,
    /* One server sees everybody's data and is trusted with it; only its answers are public. For questions about other
     * people's systems, such as DP-SGD in one place: no recipe may name it. */
    SOTTO_TRUST_CENTRAL
} sotto_trust;

/* A share of the cohort, exactly: {1, 4} is a quarter, {0, 1} nobody. {0, 0} is no share and is refused. */
typedef struct sotto_share {
    uint64_t parts;
    uint64_t of;
} sotto_share;

SOTTO_API const char *sotto_adjacency_name(sotto_adjacency adjacency); /* "add-remove", ... */
SOTTO_API const char *sotto_trust_name(sotto_trust trust);             /* "split", ...      */

/* ---- mechanisms -------------------------------------------------------------------------------- */

/* How far one person can move a vector. The distance follows from the adjacency, so that nobody has to
 * remember the factor. A vector of norm `clip` moves by clip, or by 2 clip when it is replaced; a one-hot
 * vector by 1, or by sqrt(2). */
typedef enum sotto_contribution {
    SOTTO_CLIPPED_VECTOR = 1,
    SOTTO_ONE_HOT_VECTOR
} sotto_contribution;

typedef enum sotto_mechanism {
    SOTTO_MECHANISM_GAUSSIAN =
        1, /* noise on a sum; `releases` of them about the same person           */
    SOTTO_MECHANISM_SAMPLED_GAUSSIAN, /* each round on a fresh secret sample, Poisson with `rate`           */
    SOTTO_MECHANISM_COUNTED_GAUSSIAN, /* as above, but everybody sees who took part: no amplification       */
    SOTTO_MECHANISM_ALLOCATED_GAUSSIAN, /* one round of `slots`, chosen by the device in secret              */
    SOTTO_MECHANISM_DISCRETE_GAUSSIAN, /* integer noise on a sum of integers, drawn once                     */
    SOTTO_MECHANISM_NOISE_SHARES, /* each of `cohort` devices adds an integer Gaussian of its own       */
    SOTTO_MECHANISM_SHUFFLED, /* any local randomizer, the reports only seen added up or shuffled   */
    SOTTO_MECHANISM_SYMMETRIC_ONE_HOT, /* every bit of a one-hot vector flipped alike, reports added up      */
    SOTTO_MECHANISM_BINARY_RESPONSE, /* binary randomized response, reports added up                       */
    SOTTO_MECHANISM_CHECK_IN, /* a local randomizer at a random step of a window                    */
    SOTTO_MECHANISM_DONATION, /* a release at a random one of `slots` times                         */
    SOTTO_MECHANISM_PURE, /* `rounds` releases, each epsilon-DP                                 */
    SOTTO_MECHANISM_LAPLACE, /* Laplace noise on a sum; `releases` of them about the same person    */
    SOTTO_MECHANISM_GEOMETRIC /* the same on integers: weights e^(-|x|/scale)                       */
} sotto_mechanism;

SOTTO_API const char *sotto_mechanism_name(sotto_mechanism mechanism); /* "sampled-gaussian", ... */

typedef enum sotto_check_in_variant {
    SOTTO_CHECK_IN_FIXED = 1,
    SOTTO_CHECK_IN_AVERAGED,
    SOTTO_CHECK_IN_SLIDING
} sotto_check_in_variant;

/* sigma is the standard deviation of the noise in the vector's own units (grid units for integers). */
typedef struct sotto_question {
    /* The claim. Each of these must be set. */
    sotto_adjacency adjacency;
    sotto_trust trust;
    sotto_share dishonest; /* of the cohort: lies, colludes or drops out; less than all */
    double delta;          /* (0, 1), from 1e-300; or 0 with `pure`                      */
    bool pure;             /* of a mechanism that is pure DP: its epsilon at delta 0     */

    /* Split trust only: reports pass a relay and carry anonymous tokens, so nobody sees who takes part.
     * Without it there is no amplification by sampling, check-ins or donation times. Central trust has it anyway. */
    bool participation_is_hidden;

    sotto_mechanism mechanism;
    union {
        struct {
            sotto_contribution contribution;
            double clip; /* of a clipped vector; 0 for a one-hot one */
            double sigma;
            uint64_t releases;
        } gaussian;
        struct {
            sotto_contribution contribution;
            double clip;
            double sigma;
            double rate;
            uint64_t rounds;
        } sampled; /* and counted */
        struct {
            sotto_contribution contribution;
            double clip;
            double sigma;
            uint64_t slots;
        } allocated;
        struct {
            double sigma;
            uint64_t sensitivity; /* the largest change of the integer sum, under this adjacency */
        } discrete;
        struct {
            double sigma;         /* of each device's own share */
            uint64_t sensitivity; /* L2, of the integer vector  */
            uint64_t dimension;
            uint64_t cohort;
        } shares;
        struct {
            double
                local_epsilon; /* under replacement; deletion for SOTTO_MECHANISM_SYMMETRIC_ONE_HOT */
            uint64_t cohort;
            double rate; /* of a secret sample the cohort is; 1 if there is none */
        } local;         /* shuffled, symmetric one-hot, binary response */
        struct {
            sotto_check_in_variant variant;
            double local_epsilon;
            uint64_t window;      /* steps m                                     */
            uint64_t cohort;      /* averaged only; 0 otherwise                  */
            double probability;   /* p0 of a fixed window; 1 for the other forms */
            uint64_t repetitions; /* windows in which the same people check in anew; 0 is 1 */
        } check_in;
        struct {
            double epsilon;
            double delta_each;
            uint64_t slots;
        } donation;
        struct {
            double epsilon;
            uint64_t rounds;
        } pure;
        struct {
            sotto_contribution contribution; /* in the L1 norm: one-hot vectors are 2 apart */
            double clip;
            double scale; /* of density e^(-|x|/scale)/(2 scale) on every entry */
            uint64_t releases;
        } laplace;
        struct {
            double scale;
            uint64_t sensitivity; /* L1, of the integer vector, under this adjacency */
            uint64_t releases;
        } geometric;
    } of;
} sotto_question;

/* ---- answers ----------------------------------------------------------------------------------- */

typedef struct sotto_answer {
    double low;          /* the theorem gives no smaller number; 0 where that is not known */
    double high;         /* what may be claimed                                            */
    bool optimal;        /* the theorem is attained: nothing below `low` is true at all   */
    const char *theorem; /* a constant; names what `high` rests on             */
    const char *route;   /* a constant; how the number was evaluated           */
    sotto_adjacency adjacency;
    sotto_trust trust;
    uint64_t honest; /* people whose randomness was counted on; 0: nobody's     */
    /* Amplification was asked for and gave nothing, or less than a thousandth: `high` is what one report or release
     * has by itself. Of an epsilon only. */
    bool no_gain;
} sotto_answer;

/* How exactly `high` is known: what the theorem gives is below it by this part of it at most; 1 where no lower bound is known. Most
 * answers are exact to 10^-8. Rare rounds with little noise, whose losses have no smooth law, may be known to a tenth alone. */
static inline double sotto_answer_accuracy(const sotto_answer *answer)
{
    return answer->high > 0 ? (answer->high - answer->low) / answer->high : 0;
}

/* Tables kept between questions about the same mechanism: the second one takes a fraction of the time. Answers
 * are the same with and without. */
typedef struct sotto_accountant sotto_accountant;

SOTTO_API SOTTO_MUST_USE sotto_status sotto_accountant_new(sotto_accountant **out, sotto_err *err);
SOTTO_API void sotto_accountant_free(sotto_accountant *accountant); /* NULL is fine */

/* The smallest epsilon at the question's delta. accountant may be NULL. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_privacy_epsilon(sotto_answer *out,
                                                            const sotto_question *question,
                                                            sotto_accountant *accountant,
                                                            sotto_err *err);

/* The smallest delta at an epsilon of 0 or more; the question's own delta is not looked at. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_privacy_delta(sotto_answer *out,
                                                          const sotto_question *question,
                                                          double epsilon,
                                                          sotto_accountant *accountant,
                                                          sotto_err *err);

/* Several mechanisms on the same people, chosen beforehand, at one delta (that of the first question; the
 * others' deltas are not looked at). Gaussians, sampled or not, compose optimally, and so do pure releases with Gaussians
 * that are not sampled. For other mixtures the smallest of three bounds is taken: Renyi divergences added up, the product
 * of dominating pairs, and plain addition of epsilons and deltas.
 *   SOTTO_DENIED  adjacency, trust or dishonest share differ: there is no common claim */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_privacy_compose(sotto_answer *out,
                                                            const sotto_question *questions,
                                                            size_t count, sotto_err *err);

/* ---- the other way round ------------------------------------------------------------------------ */

typedef enum sotto_unknown {
    SOTTO_FIND_SIGMA = 1,    /* the least noise             */
    SOTTO_FIND_COHORT,       /* the smallest cohort         */
    SOTTO_FIND_RATE,         /* the largest sampling rate   */
    SOTTO_FIND_ROUNDS,       /* the most rounds or releases */
    SOTTO_FIND_LOCAL_EPSILON /* the largest local epsilon */
} sotto_unknown;

typedef struct sotto_plan {
    double value;        /* with this the claim holds                           */
    double limit;        /* with this it was seen not to be certified           */
    sotto_answer answer; /* to the question with `value` in it                  */
} sotto_plan;

/* The value of the unknown (what the question has there is ignored) that brings epsilon to the target.
 *   SOTTO_DENIED     no value does, within the parameter's range
 *   SOTTO_MALFORMED  the mechanism has no such parameter */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_privacy_plan(sotto_plan *out,
                                                         const sotto_question *question,
                                                         sotto_unknown unknown, double epsilon,
                                                         sotto_accountant *accountant,
                                                         sotto_err *err);

#ifdef __cplusplus
}
#endif

#endif
