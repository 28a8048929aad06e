#include "privacy/contour_law.h"

#include <float.h>

#define U (DBL_EPSILON / 2)

typedef struct binary {
    const sotto_contour_binary *parts;
    size_t count;
    size_t
        stride; /* a generator of the indices: neighbours are alike, so they are visited far apart */
} binary;

/* One law: p e^{s eps} + (1-p) e^{-s eps}, p = e^eps/(1 + e^eps). With a = log of the ratio of its two
 * terms on the real axis, the modulus squared falls by 1 - 4 w (1-w) sin^2(t eps), w = 1/(1 + e^-a). */
static void binary_at(const void *self, double c, double t, double floor, sotto_contour_value *out)
{
    const binary *b = self;
    double real = 0, fall = 0, phase = 0, error = 0;

    *out = (sotto_contour_value){0, 0, 0, false};
    for (size_t i = 0, at = 0; i < b->count; i++, at = (at + b->stride) % b->count) {
        double eps = b->parts[at].eps, n = (double)b->parts[at].count;
        double a = (2 * c + 1) * eps, w = 1 / (1 + exp(-a));
        /* log of e^{c eps} p (1 + e^-a) */
        double size = c * eps - log1p(exp(-eps)) + log1p(exp(-a));
        real += n * size;
        error += n * U * (8 * fabs(c * eps) + 8 * fabs(size) + 8);
        if (t == 0)
            continue;
        double sine = sin(t * eps), cosine = cos(t * eps);
        double gone = 4 * w * (1 - w) * sine * sine;
        double left =
            gone < 0.5 ? log1p(-gone) / 2 : log(hypot(cosine, (2 * w - 1) * sine) + DBL_MIN);
        fall += n * left;
        phase += n * atan2((2 * w - 1) * sine, cosine);
        error += n * U * (8 + 4 * t * eps) * (1 + 1 / fmax(exp(left), 1e-8));
    }
    out->log_modulus = real + fall;
    out->phase = phase;
    out->error = error < 1 ? error * 1.1 : 1e9;
    (void)floor;
}

/* The same, leaving once the product is below the floor. */
static void binary_early(const void *self, double c, double t, double floor,
                         sotto_contour_value *out)
{
    const binary *b = self;
    double fall = 0;

    if (t == 0 || !(floor > -INFINITY)) {
        binary_at(self, c, t, floor, out);
        return;
    }
    /* floor counts from the value on the real axis; 82 powers of e below it are nothing. */
    for (size_t i = 0, at = 0; i < b->count; i++, at = (at + b->stride) % b->count) {
        double eps = b->parts[at].eps, w = 1 / (1 + exp(-(2 * c + 1) * eps));
        double sine = sin(t * eps), gone = 4 * w * (1 - w) * sine * sine;
        fall += (double)b->parts[at].count * log1p(-fmin(gone, 1 - 1e-12)) / 2;
        if (fall < -84) {
            *out = (sotto_contour_value){floor, 0, 1, true};
            return;
        }
    }
    binary_at(self, c, t, floor, out);
}

static size_t divisor(size_t a, size_t b)
{
    while (b > 0) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

sotto_status sotto_contour_binary_epsilon(sotto_bound *out, const sotto_contour_binary *parts,
                                          size_t count, double log_delta, sotto_err *err)
{
    double total = 0, mechanisms = 0;

    if (count < 1 || count > SOTTO_CONTOUR_MOST_BINARY)
        return sotto_fail(err, SOTTO_MALFORMED, "parts: %zu is not in 1..10^6", count);
    for (size_t i = 0; i < count; i++) {
        if (!(parts[i].eps >= 1e-12 && parts[i].eps <= 700))
            return sotto_fail(err, SOTTO_MALFORMED, "eps: %g is not in 1e-12..700", parts[i].eps);
        if (parts[i].count < 1)
            return sotto_fail(err, SOTTO_MALFORMED, "count: 0 is not in 1..10^12");
        total += (double)parts[i].count * parts[i].eps;
        mechanisms += (double)parts[i].count;
    }
    if (mechanisms > 1e12)
        return sotto_fail(err, SOTTO_MALFORMED, "count: %g mechanisms are not in 1..10^12",
                          mechanisms);
    binary b = {parts, count, (size_t)(0.618 * (double)count) | 1};
    while (divisor(count, b.stride) != 1)
        b.stride++;
    sotto_contour_law law = {binary_early, &b, total * (1 + 1e-9)};
    return sotto_contour_law_epsilon(out, &law, log_delta, err);
}
