/* account/numeric/fft.h - the discrete Fourier transform of a real vector, for probability masses.
 *
 * Callers:  account/gauss/pld.c.
 * Memory:   the caller's.
 */
#ifndef SOTTO_ACCOUNT_NUMERIC_FFT_H
#define SOTTO_ACCOUNT_NUMERIC_FFT_H

#include <stddef.h>

/* X_k = sum of data[j] exp(-2 pi i j k/size) for k = 0..size/2, into re and im (size/2 + 1 each).
 * size is a power of two >= 4; data is destroyed; twiddle has room for size doubles.
 * Each X_k is within SOTTO_FFT_ERROR(log2 size) times the sum of |data[j]|: every output is a sum of
 * inputs that passed at most log2(size) + 1 butterflies, each exact to five roundings. */
void sotto_fft_real(double *data, size_t size, double *re, double *im, double *twiddle);

#define SOTTO_FFT_ERROR(log2_size) (6.0 * ((log2_size) + 2) * 1.2e-16)

#endif
