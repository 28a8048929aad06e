/* noise/noise.h - integer noise whose every probability is known, from integer randomness alone.
 *
 * Callers:  randomizer.c on devices, aggregators that add their own noise, simulations.
 * Memory:   thresholds live in the arena given at set-up; a draw allocates nothing.
 * Threads:  a noise never changes after set-up and may be shared; each thread brings its entropy.
 * Secrets:  what is drawn. A draw reads every threshold, in order, whatever it draws: time, addresses
 *           and the number of random bytes depend on the law and the count alone. Set-up takes variable
 *           time over the law's parameters, which are public.
 *
 * A noise is a sum of parts. A part is a table of its cumulative distribution in two layers. The *head* takes
 * from every probability what is a multiple of 2^-63: a draw compares a 63-bit number with its rows and
 * counts those above. What the head leaves over, less than one unit of 2^-63 a value, is the *rest*. A number
 * that falls there, as almost none does, takes its value from a second table of 126-bit rows. That table is
 * scanned in any case. The decision 0010-exact-noise derives how far each law is from the real one.
 */
#ifndef SOTTO_NOISE_NOISE_H
#define SOTTO_NOISE_NOISE_H

#include "noise/entropy.h"
#include "sotto/base.h"

/* One draw is within this total variation, 2^-100, of the law it is named after. A mechanism that draws `count` numbers
 * adds (1 + e^epsilon) sotto_noise_delta(count) to its delta. */
#define SOTTO_NOISE_LOG2_TV (-100)

enum {
    SOTTO_NOISE_PARTS = 24,
    SOTTO_NOISE_ROWS = 16384, /* values of one part, less one */
};

typedef struct sotto_noise_row {
    int64_t high, low; /* 63 bits each */
} sotto_noise_row;

typedef struct sotto_noise_part {
    const int64_t *head; /* falling; i rows above a number stand for the i-th value */
    size_t head_count;
    uint64_t head_end;           /* numbers from here to 2^63 belong to the rest */
    const sotto_noise_row *rest; /* 2^126 P(the i-th value is passed | rest)      */
    size_t rest_count;
    int64_t factor;
    int64_t first; /* the value where no row is passed      */
    bool mirrored; /* a random sign is put before the count */
} sotto_noise_part;

typedef struct sotto_noise {
    sotto_noise_part part[SOTTO_NOISE_PARTS];
    size_t parts;
} sotto_noise;

/* Each sets up a law from rational parameters.
 *   SOTTO_DENIED     a parameter is out of its range; the reason names it
 *   SOTTO_NO_MEMORY  the arena is full */

/* P(x) ~ exp(-x^2 / (2 num/den)): num/den is the variance parameter, below 2^40; num < 2^52, den < 2^32. */
SOTTO_MUST_USE sotto_status sotto_noise_gaussian(sotto_noise *out, uint64_t num, uint64_t den,
                                                 sotto_arena *arena, sotto_err *err);
/* The same, given that |x| <= most; num/den is at most about 1.6e6. */
SOTTO_MUST_USE sotto_status sotto_noise_gaussian_cut(sotto_noise *out, uint64_t num, uint64_t den,
                                                     uint64_t most, sotto_arena *arena,
                                                     sotto_err *err);
/* P(x) ~ exp(-x^2 / (2 sigma^2)), for a sigma from 1 to SOTTO_NOISE_WIDEST. It takes up to 23 convolutions, each within a total
 * variation of 2^-107, so a draw stays within 2^-102 of its law. */
SOTTO_MUST_USE sotto_status sotto_noise_gaussian_wide(sotto_noise *out, uint64_t sigma,
                                                      sotto_arena *arena, sotto_err *err);
#define SOTTO_NOISE_WIDEST ((uint64_t)1 << 49)
/* P(x) ~ exp(-|x| / (num/den)): num/den is the scale, below 2^20; num < 2^52, den < 2^32. */
SOTTO_MUST_USE sotto_status sotto_noise_laplace(sotto_noise *out, uint64_t num, uint64_t den,
                                                sotto_arena *arena, sotto_err *err);
/* P(x) = (1 - q) q^x for x >= 0 with q = num/den < 1; 1 / (1 - q) is below 2^20. */
SOTTO_MUST_USE sotto_status sotto_noise_geometric(sotto_noise *out, uint64_t num, uint64_t den,
                                                  sotto_arena *arena, sotto_err *err);
/* How many of n independent chances of k/2^64 come true; n below 2^32, and n p (1 - p) below about 4e5. */
SOTTO_MUST_USE sotto_status sotto_noise_binomial(sotto_noise *out, uint64_t n, uint64_t k,
                                                 sotto_arena *arena, sotto_err *err);
#define SOTTO_NOISE_HALF ((uint64_t)1 << 63) /* k for a chance of one half */
/* Mean num/den, below about 4e5; both parameters < 2^32. */
SOTTO_MUST_USE sotto_status sotto_noise_poisson(sotto_noise *out, uint64_t num, uint64_t den,
                                                sotto_arena *arena, sotto_err *err);
/* The difference of two Poisson numbers of mean num/den each: its variance is 2 num/den, below about 1.6e6. */
SOTTO_MUST_USE sotto_status sotto_noise_skellam(sotto_noise *out, uint64_t num, uint64_t den,
                                                sotto_arena *arena, sotto_err *err);

/* Fills out with independent draws; all zeros if the entropy fails. */
SOTTO_MUST_USE sotto_status sotto_noise_draw(const sotto_noise *noise, int64_t *out, size_t count,
                                             sotto_entropy *entropy, sotto_err *err);

/* No draw is further from 0 than this, ever. */
uint64_t sotto_noise_limit(const sotto_noise *noise);

/* How far count draws are from their law in total variation, rounded up. */
double sotto_noise_delta(uint64_t count);

#endif
