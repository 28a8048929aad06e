#include "privacy/contour_law.h"

#include "base/alloc.h"

#include <float.h>

#define U (DBL_EPSILON / 2)

/* A law takes eps with probability p = e^eps/(1 + e^eps) and -eps otherwise. Tilted by c its two terms weigh w and
 * 1 - w, w = 1/(1 + e^-(2c+1)eps), and its transform is M(c) (cos(t eps) + i (2w-1) sin(t eps)). */
typedef struct binary {
    const sotto_contour_binary *parts;
    size_t count;
    size_t stride; /* generates the indices: neighbours are alike, so they are visited far apart */
    double c;      /* what follows belongs to it */
    double real;   /* log M(c) of all            */
    double error;  /* of that                    */
    double *lean;  /* 2w - 1, in order of visit  */
    double *eps;   /* in order of visit          */
    double *times; /* in order of visit          */
} binary;

static void tilt(binary *b, double c)
{
    if (b->c == c)
        return;
    b->c = c;
    b->real = b->error = 0;
    for (size_t i = 0; i < b->count; i++) {
        double a = (2 * c + 1) * b->eps[i];
        double size = c * b->eps[i] - log1p(exp(-b->eps[i])) + log1p(exp(-a));
        b->real += b->times[i] * size;
        b->error += b->times[i] * U * (8 * c * b->eps[i] + 8 * fabs(size) + 8);
        b->lean[i] = tanh(a / 2);
    }
    b->error += (double)b->count * U * fabs(b->real);
}

static void binary_at(void *self, double c, double t, double floor, sotto_contour_value *out)
{
    binary *b = self;
    double log_size = 0, re = 1, im = 0, phase = 0, error = 0;

    tilt(b, c);
    *out = (sotto_contour_value){b->real, 0, b->error, false};
    if (t == 0)
        return;
    for (size_t i = 0; i < b->count; i++) {
        double angle = t * b->eps[i], n = b->times[i];
        double x = cos(angle), y = b->lean[i] * sin(angle), square = x * x + y * y;
        error += n * U * (8 + 4 * angle) / fmax(sqrt(square), 1e-12);
        if (n > 1) {
            /* x^2 + y^2 = 1 - (1 - lean^2) sin^2: the logarithm keeps what a large power needs. */
            double gone = (1 - b->lean[i]) * (1 + b->lean[i]) * sin(angle) * sin(angle);
            log_size += n / 2 * (gone < 0.5 ? log1p(-gone) : log(square + DBL_MIN));
            phase += n * atan2(y, x);
        } else {
            double next = re * x - im * y;
            im = re * y + im * x;
            re = next;
        }
        if (i % 16 == 15 || i + 1 == b->count) {
            double size = hypot(re, im);
            log_size += log(size + DBL_MIN);
            re /= size + DBL_MIN;
            im /= size + DBL_MIN;
            if (b->real + log_size + 1 < floor) {
                *out = (sotto_contour_value){floor, 0, 1, true};
                return;
            }
        }
    }
    out->log_modulus += log_size;
    out->phase = phase + atan2(im, re);
    out->error = 1.1 * (out->error + error + U * fabs(phase));
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

static sotto_status check(const sotto_contour_binary *parts, size_t count, double *total,
                          sotto_err *err)
{
    double mechanisms = 0;

    if (count < 1 || count > SOTTO_CONTOUR_MOST_BINARY)
        return sotto_fail(err, SOTTO_MALFORMED, "parts: %zu is not in 1..10^6", count);
    for (size_t i = 0; i < count; i++) {
        if (!(parts[i].eps >= 1e-12 && parts[i].eps <= 700))
            return sotto_fail(err, SOTTO_MALFORMED, "eps: %g is not in 1e-12..700", parts[i].eps);
        if (parts[i].count < 1)
            return sotto_fail(err, SOTTO_MALFORMED, "count: 0 is not in 1..10^12");
        *total += (double)parts[i].count * parts[i].eps;
        mechanisms += (double)parts[i].count;
    }
    if (mechanisms > 1e12)
        return sotto_fail(err, SOTTO_MALFORMED, "count: %g mechanisms are not in 1..10^12",
                          mechanisms);
    return SOTTO_OK;
}

sotto_status sotto_contour_binary_epsilon(sotto_bound *out, const sotto_contour_binary *parts,
                                          size_t count, double log_delta, sotto_err *err)
{
    double total = 0;

    SOTTO_TRY(check(parts, count, &total, err));
    double *memory = sotto_alloc(3 * count * sizeof(double));
    if (!memory)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for %zu laws", count);
    binary b = {parts,
                count,
                (size_t)(0.618 * (double)count) | 1,
                -1,
                0,
                0,
                memory,
                memory + count,
                memory + 2 * count};
    while (divisor(count, b.stride) != 1)
        b.stride++;
    for (size_t i = 0, at = 0; i < count; i++, at = (at + b.stride) % count) {
        b.eps[i] = parts[at].eps;
        b.times[i] = (double)parts[at].count;
    }
    sotto_contour_law law = {binary_at, &b, total * (1 + 1e-9)};
    sotto_status status = sotto_contour_law_epsilon(out, &law, log_delta, err);
    sotto_release(memory, 3 * count * sizeof(double));
    return status;
}
