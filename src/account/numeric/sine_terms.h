/* account/numeric/sine_terms.h - the sines of many angles, in lines that a compiler widens.
 *
 * Callers:  elementary.c and sgm_sines.c, inside loops that are built for several kinds of machine, and so inline.
 */
#ifndef SOTTO_ACCOUNT_NUMERIC_SINE_TERMS_H
#define SOTTO_ACCOUNT_NUMERIC_SINE_TERMS_H

/* pi in three parts; the first two have 32 bits, so that their multiples up to 2^20 are exact. */
#define SOTTO_PI_1 3.1415926534682512
#define SOTTO_PI_2 1.2154201012607932e-10
#define SOTTO_PI_3 4.044532497591901e-21

/* Adding it rounds to an integer in the low bits. */
#define SOTTO_ROUNDER 6755399441055744.0

/* 2 sin^2 and 2 sin cos have period pi: reduced to [-pi/2, pi/2] they need no quadrant. Of half an
 * angle they are 1 - cos and sin. Taylor to 1e-18; angles up to 2^20 turns. */
static inline void sotto_sine_terms(double angle, double *square, double *product)
{
    double n = (angle * 0.31830988618379067154 + SOTTO_ROUNDER) - SOTTO_ROUNDER;
    double x = ((angle - n * SOTTO_PI_1) - n * SOTTO_PI_2) - n * SOTTO_PI_3;
    double z = x * x;
    double s = 1.0 / 51090942171709440000.0;
    s = s * z - 1.0 / 121645100408832000.0;
    s = s * z + 1.0 / 355687428096000.0;
    s = s * z - 1.0 / 1307674368000.0;
    s = s * z + 1.0 / 6227020800.0;
    s = s * z - 1.0 / 39916800.0;
    s = s * z + 1.0 / 362880.0;
    s = s * z - 1.0 / 5040.0;
    s = s * z + 1.0 / 120.0;
    s = s * z - 1.0 / 6.0;
    double sine = x + x * (z * s);
    double c = 1.0 / 1124000727777607680000.0;
    c = 1.0 / 2432902008176640000.0 - c * z;
    c = c * z - 1.0 / 6402373705728000.0;
    c = c * z + 1.0 / 20922789888000.0;
    c = c * z - 1.0 / 87178291200.0;
    c = c * z + 1.0 / 479001600.0;
    c = c * z - 1.0 / 3628800.0;
    c = c * z + 1.0 / 40320.0;
    c = c * z - 1.0 / 720.0;
    c = c * z + 1.0 / 24.0;
    double cosine = 1 - z * (0.5 - z * c);
    *square = 2 * sine * sine;
    *product = 2 * sine * cosine;
}

#endif
