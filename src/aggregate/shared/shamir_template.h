/* aggregate/shared/shamir_template.h - Shamir's secret sharing over whichever field includes this.
 *
 * The includer defines FE, FE_ADD, FE_SUB, FE_MUL, FE_INV, FE_ZERO, FE_ONE and SHAMIR(name).
 *
 * A polynomial of degree t - 1 has t coefficients, the secret being the constant one: t points determine it, and t - 1 points
 * tell nothing. The slides of CS 350S write a_1 .. a_t, degree t, which needs t + 1 points.
 */

/* secret + c[0] x + ... + c[count - 1] x^count, where count is t - 1. Time depends on count only. */
static inline FE SHAMIR(evaluate)(FE secret, const FE *c, size_t count, size_t stride, FE x)
{
    FE sum = FE_ZERO;

    for (size_t i = count; i-- > 0;)
        sum = FE_MUL(FE_ADD(sum, c[i * stride]), x);
    return FE_ADD(sum, secret);
}

/* weights[i] such that f(at) = sum of weights[i] f(xs[i]) for every f of degree below count. The xs differ. */
static inline void SHAMIR(weights_vartime)(FE *weights, const FE *xs, size_t count, FE at)
{
    for (size_t i = 0; i < count; i++) {
        FE above = FE_ONE, below = FE_ONE;

        for (size_t j = 0; j < count; j++) {
            if (j == i)
                continue;
            above = FE_MUL(above, FE_SUB(at, xs[j]));
            below = FE_MUL(below, FE_SUB(xs[i], xs[j]));
        }
        weights[i] = FE_MUL(above, FE_INV(below));
    }
}
