/* analyse/law.h - the law of a released sum, given how many devices have the value behind it.
 *
 * Callers:  this room's intervals.
 * Memory:   a law is a value.
 *
 * A sum is made of `entries` bits, of which `f` are 1 with chance p and the others with chance q, and of noise. Where devices
 * take part by chance, f is what they are expected to be: each of f / rate devices is drawn with chance `rate`.
 * What is used of a law is its cumulant generating function, which is exact for all of this; tails come from it by the
 * saddlepoint (docs/decisions/0118).
 */
#ifndef SOTTO_ANALYSE_LAW_H
#define SOTTO_ANALYSE_LAW_H

#include "sotto/base.h"

typedef struct sotto_sum_law {
    double entries;  /* bits that are added up, beside noise             */
    double p, q;     /* p > q                                            */
    double rate;     /* 1: everybody of whom is spoken sent a report     */
    double gaussian; /* variance of the noise of both servers, and ...   */
    double sigma;    /* ... of one of them, as a deviation               */
    double skellam;  /* variance of the noise of all devices             */
    double most;     /* f is 0 to this; may be INFINITY                  */
    /* In place of bits, where they depend on each other: a normal law with this variance, and this much more for each f. */
    bool normal;
    double variance, slope;
} sotto_sum_law;

/* How far a sum is above entries q, on average over f: f (p - q). */
static inline double sotto_law_gain(const sotto_sum_law *law)
{
    return law->p - law->q;
}

/* Standard deviation of the sum. */
double sotto_law_deviation(const sotto_sum_law *law, double f);

/* P(sum >= s), and P(sum <= s), for a sum that is whole. */
double sotto_law_upper(const sotto_sum_law *law, double f, double s);
double sotto_law_lower(const sotto_sum_law *law, double f, double s);

#endif
