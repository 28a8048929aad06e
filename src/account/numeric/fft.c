#include "account/numeric/fft.h"

#include <math.h>

#define PI 3.14159265358979323846

static void swap_pair(double *a, double *b)
{
    double re = a[0], im = a[1];

    a[0] = b[0];
    a[1] = b[1];
    b[0] = re;
    b[1] = im;
}

static void bit_reverse(double *z, size_t n)
{
    for (size_t i = 1, j = 0; i < n; i++) {
        size_t bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j)
            swap_pair(z + 2 * i, z + 2 * j);
    }
}

/* In place, n complex numbers; twiddle[k] = exp(-2 pi i k/(2n)), k < n. */
static void transform(double *z, size_t n, const double *twiddle)
{
    bit_reverse(z, n);
    for (size_t half = 1; half < n; half *= 2) {
        size_t stride = 2 * (n / (2 * half)); /* in the table of twice the size */
        for (size_t from = 0; from < n; from += 2 * half) {
            double *a = z + 2 * from, *b = a + 2 * half;
            for (size_t k = 0; k < half; k++) {
                const double *w = twiddle + 2 * (k * stride);
                double re = b[2 * k] * w[0] - b[2 * k + 1] * w[1];
                double im = b[2 * k] * w[1] + b[2 * k + 1] * w[0];
                b[2 * k] = a[2 * k] - re;
                b[2 * k + 1] = a[2 * k + 1] - im;
                a[2 * k] += re;
                a[2 * k + 1] += im;
            }
        }
    }
}

/* exp(-2 pi i k/(2n)), k < n: one eighth of the circle is computed, the rest are its mirror images. */
static void fill_twiddle(double *twiddle, size_t n)
{
    for (size_t k = 0; 4 * k <= n; k++) {
        double angle = PI * (double)k / (double)n, c = cos(angle), s = sin(angle);
        const size_t at[4] = {k, n / 2 - k, n / 2 + k, n - k};
        const double re[4] = {c, s, -s, -c}, im[4] = {-s, -c, -c, -s};
        for (int i = 0; i < 4; i++) {
            if (at[i] >= n)
                continue;
            twiddle[2 * at[i]] = re[i];
            twiddle[2 * at[i] + 1] = im[i];
        }
    }
}

void sotto_fft_real(double *data, size_t size, double *re, double *im, double *twiddle)
{
    size_t n = size / 2;

    fill_twiddle(twiddle, n);
    /* Even entries as real parts, odd ones as imaginary: one transform of half the size. */
    transform(data, n, twiddle);
    for (size_t k = 0; k <= n; k++) {
        const double *a = data + 2 * (k < n ? k : 0), *b = data + 2 * (k > 0 ? n - k : 0);
        double even_re = (a[0] + b[0]) / 2, even_im = (a[1] - b[1]) / 2;
        double odd_re = (a[1] + b[1]) / 2, odd_im = (b[0] - a[0]) / 2;
        double c = k < n ? twiddle[2 * k] : -1, s = k < n ? twiddle[2 * k + 1] : 0;
        re[k] = even_re + odd_re * c - odd_im * s;
        im[k] = even_im + odd_re * s + odd_im * c;
    }
}
