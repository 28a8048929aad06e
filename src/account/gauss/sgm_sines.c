#include "account/gauss/sgm_sines.h"

#include "account/numeric/sine_terms.h"
#include "account/numeric/wide.h"

#include <math.h>
#include <string.h>

#define LANES SOTTO_SGM_LANES
#define REACH SOTTO_SGM_REACH

/* Neumaier's: the rest gathers what each addition drops. */
static void gather(double *sum, double *rest, double x)
{
    double next = *sum + x;

    *rest += fabs(*sum) >= fabs(x) ? (*sum - next) + x : (x - next) + *sum;
    *sum = next;
}

SOTTO_WIDE static sotto_sgm_sums sines_over(double t, const double *half, const double *weight,
                                            const double *linear, size_t count)
{
    double re = 0, re_rest = 0, im = 0, im_rest = 0;

    for (size_t from = 0; from < count; from += 16 * LANES) {
        size_t to = from + 16 * LANES < count ? from + 16 * LANES : count;
        double lane_re[8] = {0}, lane_im[8] = {0};
        for (size_t j = from; j < to; j += 8) {
            for (size_t k = 0; k < 8; k++) {
                double square, product;
                sotto_sine_terms(t * half[j + k], &square, &product);
                lane_re[k] -= weight[j + k] * square;
                lane_im[k] += weight[j + k] * product - t * linear[j + k];
            }
        }
        for (size_t k = 0; k < 8; k++) {
            gather(&re, &re_rest, lane_re[k]);
            gather(&im, &im_rest, lane_im[k]);
        }
    }
    sotto_sgm_sums out = {re + re_rest, im + im_rest};
    return out;
}

/* The copies for each instruction set stay inside this file: a resolver is a symbol that nobody
 * else should see. */
sotto_sgm_sums sotto_sgm_sines(double t, const double *half, const double *weight,
                               const double *linear, size_t count)
{
    return sines_over(t, half, weight, linear, count);
}

SOTTO_WIDE static void turns_over(double *turn_re, double *turn_im, double step, const double *half,
                                  size_t count)
{
    for (size_t j = 0; j < count; j++) {
        double square, product;
        sotto_sine_terms(step * half[j], &square, &product);
        turn_re[j] = -square;
        turn_im[j] = product;
    }
}

void sotto_sgm_turns(double *turns, double step, const double *half, size_t count)
{
    for (size_t m = 0; m < REACH; m++)
        turns_over(turns + 2 * m * count, turns + (2 * m + 1) * count, (double)(m + 1) * step, half,
                   count);
}

/* Points that are summed before what the sums drop is gathered. */
#define BLOCK (16 * LANES)

/* Eight numbers in lockstep, in as many registers as the machine needs for them. */
typedef double eight __attribute__((vector_size(64)));

/* Sums, lane by lane, and what their additions dropped. They are of weight (e^{ia} - 1), where a is the middle angle,
 * of the linear terms, and of weight times the parts of e^{ia} (e^{imb} - 1). From these t + m step and t - m step are
 * both made. */
enum { LESS, SINE, LINEAR, PARTS, QUANTITIES = PARTS + 4 * REACH };

typedef struct products {
    double sum[QUANTITIES][8], rest[QUANTITIES][8];
} products;

/* Of a point: weight times cos - 1, sin and cos of its middle angle. */
typedef struct middle {
    double less[BLOCK], sine[BLOCK], cosine[BLOCK];
} middle;

SOTTO_WIDE static void middle_fill(middle *out, double t, const double *half, const double *weight,
                                   size_t count)
{
    for (size_t j = 0; j < count; j++) {
        double square, product;
        sotto_sine_terms(t * half[j], &square, &product);
        out->less[j] = weight[j] * -square;
        out->sine[j] = weight[j] * product;
        out->cosine[j] = weight[j] * (1 - square);
    }
}

static inline void load(eight *to, const double *from)
{
    memcpy(to, from, sizeof *to);
}

static inline void store(double *to, const eight *from)
{
    memcpy(to, from, sizeof *from);
}

/* Adds a block's sum, whatever the sizes (Knuth). */
static inline void carry(products *to, int which, const eight *add)
{
    eight sum, rest;

    load(&sum, to->sum[which]);
    load(&rest, to->rest[which]);
    eight next = sum + *add, back = next - sum;
    rest += (sum - (next - back)) + (*add - back);
    store(to->sum[which], &next);
    store(to->rest[which], &rest);
}

SOTTO_WIDE static void multiply_block(products *sum, const middle *at, const double *linear,
                                      const double *turns, size_t stride, size_t count)
{
    eight less = {0}, all = {0}, mean = {0}, a, b, re, im;

    for (size_t j = 0; j < count; j += 8) {
        load(&a, at->less + j);
        less += a;
        load(&a, at->sine + j);
        all += a;
        load(&a, linear + j);
        mean += a;
    }
    carry(sum, LESS, &less);
    carry(sum, SINE, &all);
    carry(sum, LINEAR, &mean);
    for (int m = 0; m < REACH; m++, turns += 2 * stride) {
        eight cc = {0}, ss = {0}, cs = {0}, sc = {0};
        for (size_t j = 0; j < count; j += 8) {
            load(&a, at->cosine + j);
            load(&b, at->sine + j);
            load(&re, turns + j);
            load(&im, turns + stride + j);
            cc += a * re;
            ss += b * im;
            cs += a * im;
            sc += b * re;
        }
        carry(sum, PARTS + 4 * m, &cc);
        carry(sum, PARTS + 4 * m + 1, &ss);
        carry(sum, PARTS + 4 * m + 2, &cs);
        carry(sum, PARTS + 4 * m + 3, &sc);
    }
}

static double whole(const products *p, int which)
{
    double sum = 0, rest = 0;

    for (size_t k = 0; k < 8; k++) {
        gather(&sum, &rest, p->sum[which][k]);
        rest += p->rest[which][k];
    }
    return sum + rest;
}

void sotto_sgm_sines_run(sotto_sgm_sums *out, double t, double step, const sotto_sgm_points *at)
{
    products sum = {0};

    for (size_t from = 0; from < at->count; from += BLOCK) {
        size_t count = at->count - from < BLOCK ? at->count - from : BLOCK;
        middle block;
        middle_fill(&block, t, at->half + from, at->weight + from, count);
        multiply_block(&sum, &block, at->linear + from, at->turns + from, at->stride, count);
    }
    double re = whole(&sum, LESS), im = whole(&sum, SINE), mean = whole(&sum, LINEAR);
    out[REACH] = (sotto_sgm_sums){re, im - t * mean};
    for (int m = 0; m < REACH; m++) {
        double cc = whole(&sum, PARTS + 4 * m), ss = whole(&sum, PARTS + 4 * m + 1);
        double cs = whole(&sum, PARTS + 4 * m + 2), sc = whole(&sum, PARTS + 4 * m + 3);
        double far = (double)(m + 1) * step;
        out[REACH - 1 - m] = (sotto_sgm_sums){re + (cc - ss), im + (cs + sc) - (t + far) * mean};
        out[REACH + 1 + m] = (sotto_sgm_sums){re + (cc + ss), im + (sc - cs) - (t - far) * mean};
    }
}
