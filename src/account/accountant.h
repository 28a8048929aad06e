/* account/accountant.h - what the files of the accountant share: a question that has been checked, and the
 * table of mechanisms that answer one.
 *
 * Callers:  accountant*.c and claims.c alone. Everybody else asks through sotto/privacy.h or account/claims.h.
 */
#ifndef SOTTO_ACCOUNT_ACCOUNTANT_H
#define SOTTO_ACCOUNT_ACCOUNTANT_H

#include "account/claims.h"
#include "account/gauss/discrete_gaussian.h"
#include "account/gauss/sgm.h"
#include "account/honest.h"
#include "account/local/compose_mixed.h"
#include "account/numeric/bound.h"
#include "sotto/privacy.h"

struct sotto_accountant {
    sotto_sgm *sampled; /* tables of the last sampled Gaussian asked about */
    double rate;
    double sigma;
};

/* A question whose claim is complete, with what every mechanism needs from it. */
typedef struct sotto_case {
    const sotto_question *question;
    double log_delta;
    uint64_t honest;             /* of the mechanism's cohort; 0 if it has none */
    const sotto_report_law *law; /* of a local randomizer; NULL: only its epsilon is known */
    sotto_accountant *tables;
} sotto_case;

/* What a mechanism must be given before it hides anything. */
typedef enum sotto_cover {
    SOTTO_COVER_NONE,   /* nothing: no amplification is claimed                       */
    SOTTO_COVER_SUM,    /* only sums are seen by anybody who sees participation       */
    SOTTO_COVER_SAMPLE, /* nobody sees who takes part, by relay and tokens            */
    SOTTO_COVER_MOMENT  /* nobody sees who takes part when, by relay and tokens       */
} sotto_cover;

#define SOTTO_ANY_ADJACENCY                                                                        \
    (1U << SOTTO_ADJACENCY_ADD_REMOVE | 1U << SOTTO_ADJACENCY_REPLACEMENT |                        \
     1U << SOTTO_ADJACENCY_DELETION)

typedef struct sotto_mechanism_entry {
    sotto_mechanism mechanism;
    const char *name;
    unsigned adjacencies; /* 1 << sotto_adjacency each */
    sotto_cover cover;
    /* out arrives with adjacency, trust and honest filled in. */
    sotto_status (*epsilon)(sotto_answer *out, const sotto_case *c, sotto_err *err);
    /* At delta 0. NULL: it is not pure DP. */
    sotto_status (*pure)(sotto_answer *out, const sotto_case *c, sotto_err *err);
    /* NULL: found by search over epsilon. */
    sotto_status (*delta)(sotto_answer *out, const sotto_case *c, double eps, sotto_err *err);
    uint64_t (*cohort)(const sotto_question *q); /* NULL: nobody else's randomness counts */
    /* The epsilon of one report or release alone, which also replaces the theorem's value where amplification gains
     * nothing. NULL: nothing is amplified. */
    double (*alone)(const sotto_question *q);
    const char *no_gain;
} sotto_mechanism_entry;

/* A few other reports, or any delta, lower an epsilon by a millionth: that is not reported as a gain. A thousandth is
 * the last digit that lint prints. */
#define SOTTO_LEAST_GAIN 1e-3

#define SOTTO_NO_GAIN_BY_SHUFFLING                                                                 \
    "each report's own local DP: too few reports for amplification by shuffling"
#define SOTTO_NO_GAIN_BY_CHECK_IN                                                                  \
    "each report's own local DP: no amplification by check-ins at these parameters"
#define SOTTO_NO_GAIN_BY_DONATION "each release's own DP: no amplification by donation times"

extern const sotto_mechanism_entry sotto_entry_gaussian, sotto_entry_sampled, sotto_entry_counted,
    sotto_entry_allocated, sotto_entry_discrete, sotto_entry_shares, sotto_entry_shuffled,
    sotto_entry_one_hot, sotto_entry_binary, sotto_entry_check_in, sotto_entry_donation,
    sotto_entry_pure, sotto_entry_laplace, sotto_entry_geometric;

/* NULL for none. accountant_table.c: whoever calls it links every mechanism. */
const sotto_mechanism_entry *sotto_mechanism_find(sotto_mechanism mechanism);

/* Checks all that every claim needs, in the order a person would: words, trust, adjacency, honest people. entry is what
 * answers questions about this mechanism; NULL: none is known. */
SOTTO_MUST_USE sotto_status sotto_case_open(sotto_case *out, const sotto_mechanism_entry *entry,
                                            const sotto_question *question, sotto_err *err);

/* The entry's answer, at the case's log_delta. */
SOTTO_MUST_USE sotto_status sotto_case_epsilon(sotto_answer *out,
                                               const sotto_mechanism_entry *entry,
                                               const sotto_case *c, sotto_err *err);
void sotto_answer_start(sotto_answer *out, const sotto_case *c);

/* No amplification that the way of adding up has not earned.
 *   SOTTO_DENIED  it has not; the reason names what is not amplified */
SOTTO_MUST_USE sotto_status sotto_cover_check(sotto_trust trust, bool hidden, sotto_cover cover,
                                              const char *name, sotto_err *err);

/* Everybody checks in at one of `window` slots, and all reports of a slot are added up: what recipes and questions about the
 * averaged variant are both answered by. claims.c. */
SOTTO_MUST_USE sotto_status sotto_check_in_averaged(sotto_answer *out, double eps0, uint64_t honest,
                                                    uint64_t window, double log_delta,
                                                    sotto_err *err);

/* The largest L2 distance that one person makes, rounded up. */
SOTTO_MUST_USE sotto_status sotto_contribution_distance(double *out, sotto_contribution kind,
                                                        double clip, sotto_adjacency adjacency,
                                                        sotto_err *err);

/* Noise over that distance, rounded down. */
SOTTO_MUST_USE sotto_status sotto_noise_multiplier(double *out, sotto_contribution kind,
                                                   double clip, double sigma,
                                                   sotto_adjacency adjacency, sotto_err *err);

/* The largest L1 distance that one person makes, rounded up; and releases by Laplace or geometric noise as sums of several
 * mechanisms take them. accountant_laplace.c. */
SOTTO_MUST_USE sotto_status sotto_laplace_distance(double *out, const sotto_question *q,
                                                   sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_laplace_part(sotto_binary_part *out, const sotto_question *q,
                                               sotto_err *err);

/* The divergence of a question about noise in shares. */
SOTTO_MUST_USE sotto_status sotto_shares_open(sotto_discrete_sum *out, const sotto_case *c,
                                              sotto_err *err);

/* Improves on out->high, which comes as basic composition has it, by every other way that holds. accountant_mixed.c. */
SOTTO_MUST_USE sotto_status sotto_compose_mixed(sotto_answer *out, const sotto_question *questions,
                                                size_t count, sotto_err *err);

/* Checks that it is an enclosure, and finite: nothing else may be returned. */
SOTTO_MUST_USE sotto_status sotto_answer_check(const sotto_answer *a, sotto_err *err);

/* Puts a computed bound and its grounds into an answer. */
static inline sotto_status sotto_answer_set(sotto_answer *out, sotto_bound value, bool optimal,
                                            const char *theorem, const char *route)
{
    out->low = value.low > 0 ? value.low : 0;
    out->high = value.high;
    out->optimal = optimal;
    out->theorem = theorem;
    out->route = route;
    return SOTTO_OK;
}

/* What a check-in has without amplification; of both rows that answer about them. */
static inline double sotto_check_in_alone(const sotto_question *q)
{
    const uint64_t windows = q->of.check_in.repetitions > 1 ? q->of.check_in.repetitions : 1;

    return (double)windows * q->of.check_in.local_epsilon;
}

static inline uint64_t sotto_check_in_cohort(const sotto_question *q)
{
    return q->of.check_in.cohort;
}

/* Both rows, but for who computes epsilon: the accountant answers for every variant, by code that a device has no room for;
 * claims.c for the averaged one alone. */
#define SOTTO_CHECK_IN_ENTRY(how)                                                                  \
    {                                                                                              \
        .mechanism = SOTTO_MECHANISM_CHECK_IN, .name = "a random check-in",                        \
        .adjacencies = 1U << SOTTO_ADJACENCY_REPLACEMENT, .cover = SOTTO_COVER_MOMENT,             \
        .epsilon = (how), .cohort = sotto_check_in_cohort, .alone = sotto_check_in_alone,          \
        .no_gain = SOTTO_NO_GAIN_BY_CHECK_IN,                                                      \
    }

/* e^x of a logarithm, outward. */
static inline sotto_bound sotto_exp_outward(sotto_bound logarithm)
{
    return (sotto_bound){sotto_round_down(exp(logarithm.low), 2),
                         sotto_round_up(exp(logarithm.high), 2)};
}

#endif
