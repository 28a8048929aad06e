/* learn/kernels.h - the loops that training spends its time in: float32, rows of a batch one after the other.
 *
 * Callers:  learn/network.c, learn/gru.c, learn/train.c.
 * Memory:   the caller's. A buffer of activations, errors or inputs must be followed by SOTTO_KERNEL_SLACK floats
 *           of its own. Whole vectors are loaded and stored at the end of a row, and what is beyond it is not used.
 * Threads:  any.
 *
 * One implementation for AVX2 with FMA, and a portable one. Both are compiled from kernels_template.h, which says in which
 * order numbers are added. Products are added by fused multiply-add in both, so both give the same bits. A processor
 * without FMA computes the same, slowly (docs/decisions/0128).
 */
#ifndef SOTTO_LEARN_KERNELS_H
#define SOTTO_LEARN_KERNELS_H

#include "sotto/base.h"

enum {
    SOTTO_KERNEL_LANES = 8,
    SOTTO_KERNEL_SLACK = 16,
    SOTTO_CONV_SIZE = 5,  /* convolutions are 5 by 5, without padding */
    SOTTO_CONV_TAPS = 25, /* weights of one pair of channels          */
    SOTTO_CONV_SIDE = 64, /* largest height and width of an image     */
    SOTTO_CONV_ROOM = 224 /* sotto_kernels.conv_input                 */
};

/* A convolution of images of `in` channels into `out` channels, each SOTTO_CONV_SIZE - 1 smaller, with ReLU and the largest of each 2 x 2. */
typedef struct sotto_conv {
    size_t in, out;
    size_t height, width;    /* of the input, even                                              */
    size_t pitch, out_pitch; /* numbers from a row to the next, of the input and of the output  */
} sotto_conv;

typedef struct sotto_kernels {
    const char *name;

    /* Dense layers, y = w x + bias; w is outs x ins. `rows` inputs, one after the other. */
    void (*dense_forward)(float *y, const float *x, const float *w, const float *bias, size_t rows,
                          size_t outs, size_t ins);
    /* dx = transposed w times dy. */
    void (*dense_input)(float *dx, const float *dy, const float *w, size_t rows, size_t outs,
                        size_t ins);
    /* Adds to dw and dbias. */
    void (*dense_weights)(float *dw, float *dbias, const float *dy, const float *x, size_t rows,
                          size_t outs, size_t ins);

    /* `from` says of each number of y where in a channel of the input its patch begins, of equal ones the first; NULL: nobody
     * asks. */
    void (*conv_forward)(float *y, int32_t *from, const float *x, const float *w, const float *bias,
                         const sotto_conv *c, size_t rows);
    /* dy is 0 where y is. `room` is for SOTTO_CONV_ROOM floats an output channel. */
    void (*conv_input)(float *dx, float *room, const float *dy, const int32_t *from, const float *w,
                       const sotto_conv *c, size_t rows);
    /* Adds to dw and dbias. dy is 0 where y is. */
    void (*conv_weights)(float *dw, float *dbias, const float *dy, const int32_t *from,
                         const float *x, const sotto_conv *c, size_t rows);

    /* e^x for each, to 3 units in the last place; what is below -87 or above 88 counts as that. */
    void (*exponentials)(float *x, size_t count);
    /* w -= rate * gradient. Returns the square of the distance from `start`, in double precision. */
    double (*descend)(float *w, const float *start, const float *gradient, float rate,
                      size_t count);
} sotto_kernels;

#if defined(__x86_64__)
extern const sotto_kernels sotto_kernels_avx2;
#endif
extern const sotto_kernels sotto_kernels_portable;

const sotto_kernels *sotto_kernels_chosen(void);
/* For tests: false if this machine lacks it. NULL goes back to the best. */
bool sotto_kernels_use(const char *name);

#endif
