/* math/poly_template.h - the body of math/poly.h, compiled once for each field. */
#include "math/field.h"
#include "math/poly.h"

void FIELD(roots)(fe *roots, unsigned log)
{
    size_t n = (size_t)1 << log;
    fe w = FIELD(root)(log);

    roots[0] = FIELD(one_weight)();
    for (size_t k = 1; k < n; k++)
        roots[k] = FIELD(mul)(roots[k - 1], w);
}

/* A field with faster transforms says so before it includes this file. */
#ifndef TRANSFORMS_ELSEWHERE

/* Decimation in frequency from natural to bit-reversed order, with the roots run backwards. */
void FIELD(to_coefficients)(fe *v, unsigned log, const fe *roots)
{
    size_t n = (size_t)1 << log;

    for (size_t half = n / 2; half > 0; half /= 2) {
        size_t stride = n / (2 * half);

        for (size_t start = 0; start < n; start += 2 * half) {
            for (size_t k = 0; k < half; k++) {
                fe a = v[start + k], b = v[start + k + half];

                v[start + k] = FIELD(add)(a, b);
                v[start + k + half] =
                    FIELD(mul)(FIELD(sub)(a, b), roots[(n - k * stride) & (n - 1)]);
            }
        }
    }
}

/* Decimation in time from bit-reversed to natural order. */
void FIELD(to_values)(fe *v, unsigned log, const fe *roots)
{
    size_t n = (size_t)1 << log;

    for (size_t half = 1; half < n; half *= 2) {
        size_t stride = n / (2 * half);

        for (size_t start = 0; start < n; start += 2 * half) {
            for (size_t k = 0; k < half; k++) {
                fe a = v[start + k];
                fe b = FIELD(mul)(v[start + k + half], roots[k * stride]);

                v[start + k] = FIELD(add)(a, b);
                v[start + k + half] = FIELD(sub)(a, b);
            }
        }
    }
}

#endif

static size_t reverse_bits(size_t k, unsigned log)
{
    size_t reversed = 0;

    for (unsigned i = 0; i < log; i++)
        reversed |= (k >> i & 1) << (log - 1 - i);
    return reversed;
}

void FIELD(odd_shift)(fe *shift, unsigned log)
{
    size_t n = (size_t)1 << log;
    fe w = FIELD(root)(log + 1);
    fe power = FIELD(inv)(FIELD(to_weight)(FIELD(from)(n))); /* to_coefficients leaves a factor n */

    for (size_t k = 0; k < n; k++) {
        shift[reverse_bits(k, log)] = power;
        power = FIELD(mul)(power, w);
    }
}

void FIELD(to_odd_values)(fe *v, unsigned log, const fe *roots, const fe *shift)
{
    size_t n = (size_t)1 << log;

    FIELD(to_coefficients)(v, log, roots);
    for (size_t k = 0; k < n; k++)
        v[k] = FIELD(mul)(v[k], shift[k]);
    FIELD(to_values)(v, log, roots);
}

/* Level s knows out[k] for k below n / 2^(s+1), and doubles it: k and k + half differ only in the sign of
 * w^(-k 2^s). */
static void factor_level(fe *out, unsigned log, unsigned s, fe power, const fe *roots)
{
    size_t n = (size_t)1 << log, half = n >> (s + 1);

    for (size_t k = 0; k < half; k++) {
        fe u = FIELD(mul)(power, roots[(n - (k << s)) & (n - 1)]);
        fe v = FIELD(mul)(out[k], u);

        out[k + half] = FIELD(sub)(out[k], v);
        out[k] = FIELD(add)(out[k], v);
    }
}

/* A field with a faster way says so before it includes this file. */
#ifndef FACTOR_LEVEL
#define FACTOR_LEVEL factor_level
#endif

fe FIELD(factors)(fe *out, unsigned log, unsigned step_log, fe t_weight, const fe *roots)
{
    unsigned levels = log - step_log;
    fe power[64];

    power[0] = t_weight;
    for (unsigned s = 0; s < levels; s++)
        power[s + 1] = FIELD(mul)(power[s], power[s]);

    for (size_t k = 0; k < (size_t)1 << step_log; k++)
        out[k] = FIELD(one_weight)();
    for (unsigned s = levels; s-- > 0;)
        FACTOR_LEVEL(out, log, s, power[s], roots);
    return power[levels];
}

fe FIELD(last_value)(const uint8_t *y, unsigned log, const fe *roots)
{
    size_t n = (size_t)1 << log;
    fe_acc acc = {0};

    for (size_t k = 0; k < n - 1; k++)
        FIELD(acc_mul)(&acc, FIELD(load)(y + k * FE_SIZE), roots[k]);
    return FIELD(neg)(FIELD(mul)(FIELD(acc_reduce)(&acc), roots[1]));
}

/* prod_{j < n, j != k} (x_k - x_j), a weight. */
static fe node_product(const fe *roots, size_t k, size_t n)
{
    fe product = FIELD(one_weight)();

    for (size_t j = 0; j < n; j++)
        if (j != k)
            product = FIELD(mul)(product, FIELD(sub)(roots[k], roots[j]));
    return product;
}

void FIELD(extend)(fe *y, size_t known, unsigned log, const fe *roots)
{
    size_t n = (size_t)1 << log;

    /* y(x_m) = sum_k y_k prod_{j != k} (x_m - x_j) / (x_k - x_j), over the known nodes. */
    for (size_t m = known; m < n; m++) {
        fe sum = FIELD(zero)();

        for (size_t k = 0; k < known; k++) {
            fe up = FIELD(one_weight)();

            for (size_t j = 0; j < known; j++)
                if (j != k)
                    up = FIELD(mul)(up, FIELD(sub)(roots[m], roots[j]));
            fe weight = FIELD(mul)(up, FIELD(inv)(node_product(roots, k, known)));
            sum = FIELD(add)(sum, FIELD(mul)(y[k], weight));
        }
        y[m] = sum;
    }
}
