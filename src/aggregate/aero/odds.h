/* aggregate/aero/odds.h - what a round of encrypted sums costs, and how likely its committees and its spot checks fail.
 *
 * Callers:  who joins a round (admit.c, terms.c); recipe/, which says the same before there is a round.
 * Memory:   plain values.
 * Secrets:  none.
 */
#ifndef SOTTO_AGGREGATE_AERO_ODDS_H
#define SOTTO_AGGREGATE_AERO_ODDS_H

#include "aggregate/aero/terms.h"

/* Odds that are looked at before anybody joins: of all who are registered so many are corrupt, and so many more don't answer. */
#define SOTTO_AERO_CORRUPT 0.03
#define SOTTO_AERO_OFFLINE 0.2
/* Chance, at most, that a committee is lost or that nobody looks at a leaf. */
#define SOTTO_AERO_ODDS 1e-9

typedef struct sotto_aero_people {
    double registered;       /* devices that check                      */
    double largest;          /* contributors, at most                   */
    double corrupt, offline; /* parts of those who are registered       */
} sotto_aero_people;

/* Exact tails, rounded up. */
typedef struct sotto_aero_odds {
    double members; /* more of a committee that has the round's key are corrupt than it tolerates */
    double noise;   /* the same of the noise committee                           */
    double liars;   /* more contributors lie than the noise ledger is made for   */
    double missed;  /* nobody honest looks at a leaf                             */
} sotto_aero_odds;

SOTTO_MUST_USE sotto_status sotto_aero_odds_of(sotto_aero_odds *odds, const sotto_aero_terms *terms,
                                               const sotto_aero_people *people, sotto_err *err);
/* The chance, at most, that in any round of a device a committee is lost or nobody looks at a leaf (union bound). No claim holds then, so
 * everybody holds this to delta. Liars are not in it: more of them make hints dearer, and open nothing. */
double sotto_aero_odds_together(const sotto_aero_odds *odds, double participations);

/* zCDP of one round, at most; INFINITY: so little noise has no price. Replacement of one contribution moves the sum by at most twice its
 * norm. The noise is the sum of the shares that a claim may count on: Kairouz, Liu and Steinke 2021, proposition 14, in the form that
 * is linear in the order. What openings tell of a device's randomness comes on top.
 *   norm2  the largest squared norm of a contribution that is proved
 *   hints  sotto_aero_ledger.rho */
double sotto_aero_price(const sotto_round_noise *noise, double length, double norm2, double hints);

/* Leaves of a group that one device asks for, at most: s q, rounded up. */
uint32_t sotto_aero_most_checks(const sotto_aero_terms *terms);
/* How often all spot checks miss a leaf, at most. (1 - corrupt)(1 - offline) of those registered check `checks` leaves each, times the
 * rate, of a tree with so many leaves. Where devices say that they found nothing wrong, no more count than are sure to be honest. */
double sotto_aero_miss(const sotto_aero_terms *terms, double registered, double leaves,
                       double corrupt, double offline);

#endif
