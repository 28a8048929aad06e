/* account/committee.h - how likely a committee that is drawn at random has too many corrupt members.
 *
 * Callers:  sotto budget committee. Protocols with one server rest on such committees: decryptors (Ma et al. 2023), and those
 *           that make keys, add noise and decrypt (Liu and Gupta 2023).
 *
 * Every member is corrupt with the same chance, independently: members are drawn with replacement, or from so many
 * devices that it makes no difference. Probabilities are exact binomial tails, enclosed from both sides; what is printed and
 * compared is the upper end. Chernoff's bound, which papers print, stands beside it.
 */
#ifndef SOTTO_ACCOUNT_COMMITTEE_H
#define SOTTO_ACCOUNT_COMMITTEE_H

#include "account/numeric/bound.h"

enum { SOTTO_COMMITTEE_MAX = 100000 }; /* no larger one is looked for */

typedef struct sotto_committee {
    uint64_t size;
    uint64_t tolerated; /* corrupt members that it withstands                         */
    double corrupt;     /* each member's chance to be corrupt, at most                */
    double draws;       /* committees that are drawn: each kind, in each epoch        */
} sotto_committee;

typedef struct sotto_committee_odds {
    double one;      /* P(more than `tolerated` of one are corrupt), at most */
    double any;      /* the same for any of all draws: their sum, at most    */
    double chernoff; /* Chernoff's bound on `one`                            */
    double bits;     /* -log2 of `any`, rounded down; INFINITY: it can't be  */
} sotto_committee_odds;

SOTTO_MUST_USE sotto_status sotto_committee_odds_of(sotto_committee_odds *out,
                                                    const sotto_committee *c, sotto_err *err);

/* Of `size` decryptors of which at most the share `dropout` is offline: the most corrupt ones x that keep
 * 2 * dropout * size + x < size / 3 (Ma et al. 2023). -1: not even none. */
int64_t sotto_committee_decryptors_tolerate(uint64_t size, double dropout);

/* Which number of corrupt members a committee of this size withstands, for a search over sizes; -1: none will do. */
typedef int64_t sotto_committee_rule(const void *context, uint64_t size);

/* The smallest committee whose odds over all draws have `bits` bits or more; size 0: none up to SOTTO_COMMITTEE_MAX. */
SOTTO_MUST_USE sotto_status sotto_committee_smallest(sotto_committee *out, double corrupt,
                                                     double draws, double bits,
                                                     sotto_committee_rule *rule,
                                                     const void *context, sotto_err *err);

/* P(at most `tolerated` of `size` members are honest and online), at most: then nothing can be decrypted. */
SOTTO_MUST_USE sotto_status sotto_committee_stalls(double *out, const sotto_committee *c,
                                                   double offline, sotto_err *err);

/* P(more than headroom * rate * devices take part, where each does with chance `rate`), at most. */
SOTTO_MUST_USE sotto_status sotto_committee_overflows(double *out, double *chernoff, double devices,
                                                      double rate, double headroom, sotto_err *err);

/* P(fewer than least * rate * devices take part), at most, for a `least` from 0 to 1. */
SOTTO_MUST_USE sotto_status sotto_committee_underflows(double *out, double *chernoff,
                                                       double devices, double rate, double least,
                                                       sotto_err *err);

/* The chance, at most, that nobody honest and online looks at a wrong leaf.
 *   checks    how many devices are expected to look at a leaf, if there are as many leaves as expected
 *   headroom  there are this many times as many */
double sotto_committee_misses(double checks, double corrupt, double offline, double headroom);

#endif
