/* Around a node at v, let A = weight e^(ivz) and E_m = e^(imhz) - 1. Then weight (e^(i(v + mh)z) - 1) is weight (e^(ivz) - 1) + A
 * E_m, and for -m with the conjugate of E_m. So one sine a point for all nodes of a run, and four products for two of them.
 *
 * Rounding. A sine or versine is off by 8u of itself and, by the rounding of its angle, by up to 2u of that. So E_m is off by 10u
 * mh|z|, and A by 20u and u v|z|. A E_m is off by 32u mh|z| + 2u v|z|, since |E_m| <= mh|z| and <= 2; weight (e^(ivz) - 1) is off by
 * 10u v|z|. A block is added in lanes of 16 terms, those in three steps, up to 64 blocks one after the other, and two parts in the
 * end. That costs 85u of the sum of |E_m| and |e^(ivz) - 1|. Together this is below 130u (v + mh)|z|. The first run is around v = 0,
 * so v + mh is its own node's there; for later runs it is at most that and 2 SOTTO_FOURIER_REACH steps. */
#include "account/gauss/allocation_fourier.h"

#include "account/numeric/sine_terms.h"
#include "account/numeric/wide.h"

#include <string.h>

#define REACH SOTTO_FOURIER_REACH
enum { BLOCK = 128 };

/* Eight numbers in lockstep, in as many registers as the machine needs for them. */
typedef double eight __attribute__((vector_size(64)));

/* Of a block's points: weight times sin and cos of the middle angle, and the turns by 1, 2, ... steps from it. */
typedef struct block {
    size_t reach;
    double less, all; /* the sums of weight (cos - 1) and weight sin in the middle */
    double sine[BLOCK], cosine[BLOCK];
    double turn_re[REACH][BLOCK], turn_im[REACH][BLOCK];
} block;

static inline void load(eight *to, const double *from)
{
    memcpy(to, from, sizeof *to);
}

static inline double gather(const eight *x)
{
    return ((*x)[0] + (*x)[4] + ((*x)[1] + (*x)[5])) + ((*x)[2] + (*x)[6] + ((*x)[3] + (*x)[7]));
}

SOTTO_WIDE static void make_turns(block *b, size_t reach, double step, const double *z,
                                  size_t count)
{
    b->reach = reach;
    for (size_t m = 0; m < reach; m++)
        for (size_t j = 0; j < count; j++) {
            double square, product;

            sotto_sine_terms((double)(m + 1) * step * (z[j] / 2), &square, &product);
            b->turn_re[m][j] = -square;
            b->turn_im[m][j] = product;
        }
}

SOTTO_WIDE static void turn_middle(block *b, double v, const double *z, const double *weight,
                                   size_t count)
{
    double less[BLOCK];
    eight sum_less = {0}, sum_all = {0}, a;

    for (size_t j = 0; j < count; j++) {
        double square, product;

        sotto_sine_terms(v * (z[j] / 2), &square, &product);
        less[j] = -weight[j] * square;
        b->sine[j] = weight[j] * product;
        b->cosine[j] = weight[j] * (1 - square);
    }
    for (size_t j = 0; j < count; j += 8) {
        load(&a, less + j);
        sum_less += a;
        load(&a, b->sine + j);
        sum_all += a;
    }
    b->less = gather(&sum_less);
    b->all = gather(&sum_all);
}

/* As many turns as runs, or nearly: each takes a sine a point. */
static size_t reach_for(size_t nodes)
{
    size_t reach = 1;

    while (reach < REACH && 2 * reach * reach < nodes)
        reach++;
    return reach;
}

/* Around node `middle`, as far as there are nodes. */
SOTTO_WIDE static void add_run(double *re, double *im, size_t nodes, size_t middle, const block *b,
                               size_t count)
{
    if (middle < nodes) {
        re[middle] += b->less;
        im[middle] += b->all;
    }
    for (size_t m = 1; m <= b->reach; m++) {
        eight cc = {0}, ss = {0}, cs = {0}, sc = {0}, a, s, turn_re, turn_im;

        if (middle >= nodes + m)
            continue;
        for (size_t j = 0; j < count; j += 8) {
            load(&a, b->cosine + j);
            load(&s, b->sine + j);
            load(&turn_re, b->turn_re[m - 1] + j);
            load(&turn_im, b->turn_im[m - 1] + j);
            cc += a * turn_re;
            ss += s * turn_im;
            cs += a * turn_im;
            sc += s * turn_re;
        }
        double along = gather(&cc), across = gather(&ss), up = gather(&cs), down = gather(&sc);

        if (middle + m < nodes) {
            re[middle + m] += b->less + (along - across);
            im[middle + m] += b->all + (down + up);
        }
        if (middle >= m) {
            re[middle - m] += b->less + (along + across);
            im[middle - m] += b->all + (down - up);
        }
    }
}

void sotto_fourier_sums(double *re, double *im, size_t nodes, double step, const double *z,
                        const double *weight, size_t points)
{
    size_t reach = reach_for(nodes);

    memset(re, 0, nodes * sizeof *re);
    memset(im, 0, nodes * sizeof *im);
    for (size_t from = 0; from < points; from += BLOCK) {
        size_t count = points - from < BLOCK ? points - from : BLOCK;
        block b;

        make_turns(&b, reach, step, z + from, count);
        for (size_t middle = 0; middle < nodes + reach; middle += 2 * reach + 1) {
            turn_middle(&b, (double)middle * step, z + from, weight + from, count);
            add_run(re, im, nodes, middle, &b, count);
        }
    }
}
