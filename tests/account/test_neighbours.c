/* Who can be cut off: the bound against sums of the definition and against graphs that are drawn, and what a search finds. */
#include "support/test.h"

#include "account/neighbours.h"

#include <math.h>
#include <string.h>

static sotto_neighbours_odds odds(sotto_test *t, uint64_t clients, uint64_t corrupt,
                                  uint64_t dropped, uint64_t degree, uint64_t least)
{
    const sotto_neighbours g = {clients, corrupt, dropped, degree, least, 1};
    sotto_neighbours_odds out;

    CHECK_OK(t, sotto_neighbours_odds_of(&out, &g, &t->err));
    return out;
}

static double pmf(unsigned k, unsigned n, double p)
{
    return exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) + k * log(p) +
               (n - k) * log1p(-p));
}

static double plain_upper(int k, unsigned n, double p)
{
    double sum = 0;

    for (unsigned i = n + 1; i-- > (unsigned)(k > 0 ? k : 0);)
        sum += pmf(i, n, p);
    return k > 0 ? sum : 1;
}

static double plain_lower(unsigned k, unsigned n, double p)
{
    double sum = 0;

    for (unsigned i = 0; i <= k && i <= n; i++)
        sum += pmf(i, n, p);
    return sum < 1 ? sum : 1;
}

/* The first factor of the header alone, term by term: it is exact for one client, and more than is printed for sets. */
static void the_bound_is_a_sum_over_all_sets(sotto_test *t)
{
    enum { N = 60, LIARS = 10, DROPPED = 6, DEGREE = 24, LEAST = 7 };
    const double p = DEGREE / (N - 1.0);
    double sum = 0, one = 0;

    for (unsigned s = 1; s <= (N - LIARS) / 2; s++) {
        sum += exp(lgamma(N - LIARS + 1.0) - lgamma(s + 1.0) - lgamma(N - LIARS - s + 1.0)) *
               pow(plain_upper(LEAST - (int)s + 1, LIARS, p), s) *
               plain_lower(DROPPED, N - LIARS - s, -expm1(s * log1p(-p)));
        one = s == 1 ? sum : one;
    }
    const sotto_neighbours_odds o = odds(t, N, LIARS, DROPPED, DEGREE, LEAST);
    CHECK(t, one > 0 && sum < 1);
    CHECK(t, o.one >= one * (1 - 1e-9) && o.one <= sum * (1 + 1e-9));
    CHECK_NEAR(t, -log2(o.one), o.bits, 1e-9);
}

/* ---- graphs that are drawn -------------------------------------------------------------------------------------------- */

static uint64_t state;

static double draw(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 11) * 0x1p-53;
}

/* Whether one honest client, or two, can be cut off: all that a server needs in so small a graph, tried one by one. */
static bool is_cut(uint32_t rows[16], unsigned n, unsigned liars, unsigned dropped, unsigned least)
{
    const uint32_t lie = (1u << liars) - 1, honest = ((1u << n) - 1) & ~lie;

    for (unsigned a = liars; a < n; a++)
        for (unsigned b = a; b < n; b++) {
            const uint32_t set = 1u << a | 1u << b;
            const uint32_t lost = (rows[a] | rows[b]) & honest & ~set;
            const bool stays =
                (unsigned)__builtin_popcount(rows[a] & (lie | set) & ~(1u << a)) >= least &&
                (unsigned)__builtin_popcount(rows[b] & (lie | set) & ~(1u << b)) >= least;

            if (stays && (unsigned)__builtin_popcount(lost) <= dropped)
                return true;
        }
    return false;
}

static void drawn_graphs_are_cut_no_more_often(sotto_test *t)
{
    enum { N = 14, LIARS = 3, DROPPED = 3, DEGREE = 6, LEAST = 3, GRAPHS = 20000 };
    const sotto_neighbours_odds o = odds(t, N, LIARS, DROPPED, DEGREE, LEAST);
    unsigned cut = 0;

    state = 20261118;
    for (unsigned g = 0; g < GRAPHS; g++) {
        uint32_t rows[16] = {0};

        for (unsigned a = 0; a < N; a++)
            for (unsigned b = a + 1; b < N; b++)
                if (draw() < DEGREE / (N - 1.0)) {
                    rows[a] |= 1u << b;
                    rows[b] |= 1u << a;
                }
        cut += is_cut(rows, N, LIARS, DROPPED, LEAST);
    }
    const double share = (double)cut / GRAPHS;
    CHECK(t, cut > 20); /* it does happen */
    CHECK(t, share <= o.one + 6 * sqrt(o.one / GRAPHS));
}

/* ---- what helps ------------------------------------------------------------------------------------------------------------ */

static void more_neighbours_and_fewer_losses_help(sotto_test *t)
{
    CHECK(t, odds(t, 512, 26, 51, 64, 24).one < odds(t, 512, 26, 51, 64, 18).one);
    CHECK(t, odds(t, 512, 26, 25, 40, 12).one < odds(t, 512, 26, 51, 40, 12).one);
    /* A graph of all edges has nobody to cut off, unless nobody honest need stay. */
    CHECK(t, odds(t, 60, 3, 15, 59, 10).one == 0 && isinf(odds(t, 60, 3, 15, 59, 10).bits));
    CHECK(t, odds(t, 60, 12, 48, 59, 10).one == 1);
    /* Four times the logarithm, and ten neighbours: too few against a server that chooses who is offline. */
    CHECK(t, odds(t, 1024, 52, 102, 40, 10).bits < 10);
}

static void every_round_is_paid_for(sotto_test *t)
{
    sotto_neighbours g = {1024, 52, 102, 80, 28, 1};
    sotto_neighbours_odds one, many;

    CHECK_OK(t, sotto_neighbours_odds_of(&one, &g, &t->err));
    g.rounds = 1024;
    CHECK_OK(t, sotto_neighbours_odds_of(&many, &g, &t->err));
    CHECK(t, one.bits > 40);
    CHECK_NEAR(t, one.bits - 10, many.bits, 1e-6);
}

static void the_smallest_degree_fits_and_the_next_smaller_one_does_not(sotto_test *t)
{
    static const struct {
        uint64_t clients, corrupt, dropped, low, high;
    } rows[] = {{128, 7, 12, 30, 40}, {512, 26, 51, 60, 68}, {1024, 11, 102, 46, 54}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sotto_neighbours g = {
            .clients = rows[i].clients, .corrupt = rows[i].corrupt, .dropped = rows[i].dropped};
        sotto_neighbours_odds o;

        g.rounds = 1;
        CHECK_OK(t, sotto_neighbours_smallest(&g, 40, 1e-6, &t->err));
        CHECK(t, g.degree >= rows[i].low && g.degree <= rows[i].high);
        CHECK_OK(t, sotto_neighbours_odds_of(&o, &g, &t->err));
        CHECK(t, o.bits >= 40 && o.burns <= 1e-6);
        g.least++;
        CHECK_OK(t, sotto_neighbours_odds_of(&o, &g, &t->err));
        CHECK(t, o.burns > 1e-6);
    }
    sotto_neighbours none = {.clients = 60, .corrupt = 12, .dropped = 48, .rounds = 1};
    CHECK_OK(t, sotto_neighbours_smallest(&none, 40, 1e-6, &t->err));
    CHECK_EQUAL(t, 0, none.degree);
}

static void what_is_no_graph_is_malformed(sotto_test *t)
{
    static const sotto_neighbours rows[] = {
        {2, 0, 0, 1, 1, 1},  {60, 59, 3, 5, 2, 1}, {60, 3, 59, 5, 2, 1},  {60, 3, 3, 0, 2, 1},
        {60, 3, 3, 5, 0, 1}, {60, 3, 3, 5, 2, 0},  {70000, 3, 3, 5, 2, 1}};
    sotto_neighbours_odds o;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_neighbours_odds_of(&o, &rows[i], &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_bound_is_a_sum_over_all_sets),
        CASE(drawn_graphs_are_cut_no_more_often),
        CASE(more_neighbours_and_fewer_losses_help),
        CASE(every_round_is_paid_for),
        CASE(the_smallest_degree_fits_and_the_next_smaller_one_does_not),
        CASE(what_is_no_graph_is_malformed),
    };
    return RUN_TESTS(argc, argv, cases);
}
