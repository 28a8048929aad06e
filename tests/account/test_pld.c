#include "account/gauss/pld.h"
#include "account/numeric/fft.h"
#include "support/test.h"

#include <math.h>

static void the_transform_matches_the_sum_it_stands_for(sotto_test *t)
{
    double data[64], copy[64], re[33], im[33], twiddle[64];

    for (size_t j = 0; j < 64; j++)
        copy[j] = data[j] = 1 / (1.0 + (double)(j * j % 17));
    sotto_fft_real(data, 64, re, im, twiddle);
    for (size_t k = 0; k <= 32; k++) {
        double x = 0, y = 0;
        for (size_t j = 0; j < 64; j++) {
            double angle = -2 * 3.14159265358979323846 * (double)(j * k % 64) / 64;
            x += copy[j] * cos(angle);
            y += copy[j] * sin(angle);
        }
        CHECK_NEAR(t, x, re[k], 1e-13);
        CHECK_NEAR(t, y, im[k], 1e-13);
    }
}

/* Moving losses outward can only raise E exp(cL), and less so on a finer lattice. */
static void a_finer_lattice_is_closer_from_above(sotto_test *t)
{
    sotto_scratch work = {0};

    for (int add = 0; add < 2; add++) {
        sotto_sgm_law law = sotto_sgm_law_cut(1e-3, 1, add == 1, -60);
        double error = 0, c = 6, true_log = sotto_sgm_cumulant(&law, c, &error), last = INFINITY;
        for (double spacing = 4e-3; spacing > 1e-4; spacing /= 4) {
            sotto_pld *p = sotto_pld_new(&law, c, spacing, 4096, &work);
            CHECK(t, p != NULL);
            if (!p)
                return;
            double log_moment = p->log_modulus[0] + c * p->origin;
            CHECK(t, log_moment >= true_log - error - p->error[0]);
            CHECK(t, log_moment - true_log < last);
            last = (log_moment - true_log) / 4;
            for (size_t k = 0; k < p->nodes; k++) {
                CHECK(t, p->most[k] >= p->log_modulus[k] + log1p(p->error[k]));
                CHECK(t, k == 0 || p->most[k] <= p->most[k - 1]);
            }
            sotto_pld_free(p);
        }
        CHECK(t, last < 1e-7);
    }
    sotto_scratch_clear(&work);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_transform_matches_the_sum_it_stands_for),
        CASE(a_finer_lattice_is_closer_from_above),
    };
    return RUN_TESTS(argc, argv, cases);
}
