/* A cut of the binomial law has no gaps, and its masses enclose 1. */
#include "account/local/binomial_cells.h"
#include "support/test.h"

#include <math.h>

static sotto_binomial_cell cells[SOTTO_BINOMIAL_CELLS_MAX];

static void every_value_is_in_exactly_one_cell(sotto_test *t)
{
    const double n[] = {0, 1, 2, 10, 999, 12345, 1e6, 1e9, 1e12};

    for (size_t i = 0; i < sizeof n / sizeof n[0]; i++)
        for (double p = 0.9; p > 1e-7; p /= 4.3)
            for (double even = 0; even <= 40; even += 8) {
                size_t count = sotto_binomial_cells_cover(cells, n[i], p, 1 - p, even, 0);
                double next = 0, low = 0, high = 0;

                for (size_t k = 0; k < count; k++) {
                    CHECK(t, cells[k].first == next && cells[k].last >= next);
                    CHECK(t, cells[k].mass.low <= cells[k].mass.high);
                    CHECK(t, exp(cells[k].log_high) >= cells[k].mass.low);
                    next = cells[k].last + 1;
                    low += cells[k].mass.low;
                    high += cells[k].mass.high;
                }
                CHECK(t, next == n[i] + 1);
                CHECK(t, low <= 1 + 1e-12 && high >= 1 - 1e-12 && high - low < 1e-3);
            }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_value_is_in_exactly_one_cell),
    };
    return RUN_TESTS(argc, argv, cases);
}
