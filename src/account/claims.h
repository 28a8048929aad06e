/* account/claims.h - what may be claimed of reports that devices randomised themselves, or that others add noise to.
 *
 * Callers:  recipe/claim.c, on devices and elsewhere.
 * Memory:   plain values; a call takes up to 200 kB of stack.
 * Linking:  reaches the accountant's door and its rows about local randomizers alone: a device takes in nothing
 *           about sampled or allocated Gaussians.
 *
 * Adjacency is replacement. Every claim passes the accountant's own checks, so amplification that the trust model
 * has not earned is refused here too.
 */
#ifndef SOTTO_ACCOUNT_CLAIMS_H
#define SOTTO_ACCOUNT_CLAIMS_H

#include "account/local/clone.h"
#include "sotto/privacy.h"

/* One report, by its probabilities. */
typedef struct sotto_report_law {
    double local;       /* epsilon, as the randomizer declares it                                 */
    double replacement; /* epsilon where a value may become any other value, or none              */
    sotto_clone_law
        own[2]; /* what neighbours compare: each must hold; none: only epsilon is known   */
    size_t owns;
} sotto_report_law;

/* The truth or any other of k values, "no value" among them. */
SOTTO_MUST_USE sotto_status sotto_report_law_choice(sotto_report_law *out, double eps, double k,
                                                    sotto_err *err);
/* A set of `size` of k values, "no value" among them. */
SOTTO_MUST_USE sotto_status sotto_report_law_subset(sotto_report_law *out, double eps, double k,
                                                    double size, sotto_err *err);
/* One bit a value, 1 with chance h for one's own and l for another; eps is for `adjacency`. */
SOTTO_MUST_USE sotto_status sotto_report_law_bits(sotto_report_law *out, double eps,
                                                  double replacement, double h, double l,
                                                  sotto_adjacency adjacency, sotto_err *err);

typedef struct sotto_claim_question {
    const sotto_report_law *law;
    sotto_trust trust;
    bool hidden;     /* split trust only: nobody sees who takes part */
    uint64_t honest; /* reports that protect each other              */
    double log_delta;
    uint64_t
        population; /* honest devices that might take part, as operators state it; 0: not stated */
} sotto_claim_question;

/* Of a cohort's answer. The local epsilon is claimed where the trust model earns nothing, and where the batch lowers
 * it by less than a thousandth, which is not worth claiming. rate: of the secret sample that the cohort is; 1: none.
 *   SOTTO_DENIED  nobody is honest */
SOTTO_MUST_USE sotto_status sotto_claim_cohort(sotto_answer *out, const sotto_claim_question *q,
                                               double rate, sotto_err *err);

/* What taking part at random makes of it. How many take part is released. So a sample counts as the largest share of the population
 * that it is but for a sixteenth of delta; the donors of a slot likewise. A population counts as no larger than `honest` reports
 * show it to be: a batch may be of few of the devices that were stated.
 *   SOTTO_DENIED  participation is seen, no population is stated, or the theorem does not apply */
SOTTO_MUST_USE sotto_status sotto_claim_sampled(sotto_answer *out, const sotto_claim_question *q,
                                                double rate, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_claim_check_in(sotto_answer *out, const sotto_claim_question *q,
                                                 uint64_t window, sotto_err *err);
/* rate: of a coin before the wait; 1: none. */
SOTTO_MUST_USE sotto_status sotto_claim_donation(sotto_answer *out, const sotto_claim_question *q,
                                                 uint64_t slots, double rate, sotto_err *err);

/* Where the rate depends on the value, and nobody sees who answers. */
SOTTO_MUST_USE sotto_status sotto_claim_importance(sotto_answer *out, const sotto_claim_question *q,
                                                   double rate, double rate_other, sotto_err *err);
/* What an observer of who answers learns where the rate depends on the value: epsilon, rounded up. */
double sotto_importance_price(double rate, double rate_other);

/* One server may be dishonest, and then leaves its noise out and knows its share. What hides a report is then the
 * other's discrete Gaussian noise alone, on the sum of whole reports. Draws are within `draws` of the law in total
 * variation, which costs (1 + e^eps) times as much of delta.
 *   SOTTO_DENIED  draws would cost more of delta than was put aside for them */
SOTTO_MUST_USE sotto_status sotto_claim_server_noise(sotto_answer *out, double sigma,
                                                     double distance, double delta,
                                                     double log_delta, double draws,
                                                     sotto_err *err);

/* Honest devices add noise, each the difference of two Poisson numbers on every entry: together again such a difference, of this
 * variance. What is drawn differs from that, cut tails among it, by at most `lost` in total variation.
 *   distance, distance_l1  between two reports before noise
 *   SOTTO_DENIED           `lost` would cost more of delta than was put aside for it */
SOTTO_MUST_USE sotto_status sotto_claim_share_noise(sotto_answer *out, double variance,
                                                    double distance, double distance_l1,
                                                    double delta, double log_delta, double lost,
                                                    sotto_err *err);

/* A committee of devices adds discrete Gaussian noise, each a share, to a sum that devices encrypt. rho is the zCDP of the release, with
 * what openings tell (aggregate/aero/odds.h). Nobody is hidden, and no amplification is claimed.
 *   SOTTO_DENIED  rho is infinite, or draws would cost more of delta than was put aside for them */
SOTTO_MUST_USE sotto_status sotto_claim_committee_noise(sotto_answer *out, double rho, double delta,
                                                        double log_delta, double draws,
                                                        sotto_err *err);

#endif
