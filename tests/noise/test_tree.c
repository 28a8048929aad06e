/* Noise of a tree: its law beside the matrix that it stands for, what it costs beside every pattern of a device, and rounds that were
 * never released. */
#include "noise/tree.h"
#include "noise_support.h"
#include "support/test.h"

#include <math.h>

enum { NUMBERS = 4000, SIGMA = 20, MOST = 32 };

/* ---- the law --------------------------------------------------------------------------------------------------------- */

typedef struct drawing {
    sotto_noise noise;
    sotto_sim_random random;
    unsigned started;
    int64_t *sum;
} drawing;

static sotto_status start_node(void *context, sotto_entropy *out, uint64_t round, sotto_err *err)
{
    drawing *d = context;

    (void)err;
    d->started++;
    sotto_sim_random_init(&d->random, 1000 + round);
    sotto_entropy_init(out, noise_fill_sim, &d->random);
    return SOTTO_OK;
}

static sotto_status add_to_sum(void *context, size_t first, const int64_t *values, size_t count,
                               sotto_err *err)
{
    drawing *d = context;

    (void)err;
    for (size_t i = 0; i < count; i++)
        d->sum[first + i] += values[i];
    return SOTTO_OK;
}

/* Releases of the rounds that `released` has as bits; row t of out is round t's noise. */
static void release_all(sotto_test *t, drawing *d, int64_t (*out)[NUMBERS], uint64_t rounds,
                        uint64_t restart, uint32_t released)
{
    const sotto_tree_source source = {start_node, d};
    const sotto_tree_sink sink = {add_to_sum, d};
    uint64_t kept[MOST + 1];
    sotto_tree_nodes nodes = {kept, 0};

    CHECK_OK(t, sotto_noise_gaussian(&d->noise, SIGMA * SIGMA, 1, &t->arena, &t->err));
    memset(out, 0, rounds * sizeof *out);
    for (uint64_t round = 0; round < rounds; round++) {
        if (!(released >> round & 1))
            continue;
        d->sum = out[round];
        d->started = 0;
        CHECK_OK(t, sotto_tree_add_noise(&d->noise, NUMBERS, &nodes, restart, round, &source, &sink,
                                         &t->err));
        CHECK(t, d->started <= sotto_tree_most_nodes(restart));
        sotto_tree_release(&nodes, restart, round);
    }
}

/* Which nodes, and with which sign, the release of a round has: from the definition of a prefix of a tree, and not from tree.c. */
static int prefix_has(uint64_t t, uint64_t node)
{
    for (unsigned level = 0; level < 6; level++)
        if ((t >> level & 1) && (t >> level) << level == node)
            return 1;
    return 0;
}

static int in_release(uint64_t restart, uint64_t round, uint64_t node)
{
    const uint64_t t = round % restart + 1;

    if (round / restart != node / restart)
        return 0;
    return prefix_has(t, node % restart + 1) - prefix_has(t - 1, node % restart + 1);
}

/* A server draws noise again that an earlier version of sotto added: as in noise_blt, this number is for good. */
static void a_seed_gives_what_it_always_gave(sotto_test *t)
{
    enum { ROUNDS = 4 };
    static int64_t out[ROUNDS][NUMBERS];
    uint64_t checksum = 14695981039346656037u; /* FNV-1a, of whole numbers */
    drawing d;

    release_all(t, &d, out, ROUNDS, ROUNDS, UINT32_MAX);
    for (size_t r = 0; r < ROUNDS; r++)
        for (size_t i = 0; i < NUMBERS; i++)
            checksum = (checksum ^ (uint64_t)out[r][i]) * 1099511628211u;
    CHECK_EQUAL(t, UINT64_C(7177659644446950806), checksum);
}

/* Every covariance of two rounds. An entry of it over so many numbers is off by 6 deviations once in 10^9; there are 300 of them. */
static void rounds_have_the_covariance_of_the_tree(sotto_test *t)
{
    static const uint64_t restarts[] = {8, 6, 24};
    enum { ROUNDS = 24 };
    int64_t(*out)[NUMBERS] = sotto_arena_take_array(&t->arena, ROUNDS, sizeof *out);
    drawing d;

    for (size_t r = 0; r < 3; r++) {
        release_all(t, &d, out, ROUNDS, restarts[r], UINT32_MAX);
        for (uint64_t a = 0; a < ROUNDS; a++)
            for (uint64_t b = 0; b <= a; b++) {
                double wanted = 0, of_a = 0, of_b = 0, seen = 0;

                for (uint64_t node = 0; node < ROUNDS; node++) {
                    const double x = in_release(restarts[r], a, node),
                                 y = in_release(restarts[r], b, node);

                    wanted += x * y;
                    of_a += x * x;
                    of_b += y * y;
                }
                for (size_t i = 0; i < NUMBERS; i++)
                    seen += (double)out[a][i] * (double)out[b][i];
                CHECK_NEAR(t, wanted, seen / NUMBERS / SIGMA / SIGMA,
                           6 * sqrt((of_a * of_b + wanted * wanted) / NUMBERS));
            }
    }
}

/* Chi-square over ten cells of about a tenth each, by its cube root. */
static void check_normal(sotto_test *t, const int64_t *values, double deviation)
{
    enum { CELLS = 10 };
    static const double ends[] = {-1.2816, -0.8416, -0.5244, -0.2533, 0,
                                  0.2533,  0.5244,  0.8416,  1.2816};
    const double spread = 2.0 / (9 * (CELLS - 1)), wanted = NUMBERS / (double)CELLS;
    double seen[CELLS] = {0}, chi = 0;

    for (size_t i = 0; i < NUMBERS; i++) {
        size_t cell = 0;

        /* A whole number stands for all that is rounded to it: half of its cell's end is on either side. */
        while (cell < CELLS - 1 && (double)values[i] / deviation > ends[cell])
            cell++;
        if (values[i] == 0) {
            seen[4] += 0.5;
            seen[5] += 0.5;
        } else {
            seen[cell]++;
        }
    }
    for (size_t c = 0; c < CELLS; c++)
        chi += pow(seen[c] - wanted, 2) / wanted;
    CHECK(t, (cbrt(chi / (CELLS - 1)) - (1 - spread)) / sqrt(spread) < 6);
}

static void sums_of_rounds_have_one_node_for_each_one_bit(sotto_test *t)
{
    enum { ROUNDS = 16, RESTART = 16 };
    int64_t(*out)[NUMBERS] = sotto_arena_take_array(&t->arena, ROUNDS, sizeof *out),
    all[NUMBERS] = {0};
    drawing d;

    release_all(t, &d, out, ROUNDS, RESTART, UINT32_MAX);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        unsigned ones = 0;

        for (uint64_t left = round + 1; left > 0; left /= 2)
            ones += left & 1;
        for (size_t i = 0; i < NUMBERS; i++)
            all[i] += out[round][i];
        check_normal(t, all, SIGMA * sqrt(ones));
    }
}

static void a_burnt_round_leaves_noise_that_a_later_one_takes_away(sotto_test *t)
{
    enum { ROUNDS = 8, RESTART = 8 };
    int64_t(*out)[NUMBERS] = sotto_arena_take_array(&t->arena, ROUNDS, sizeof *out),
    all[NUMBERS] = {0};
    drawing d;

    release_all(t, &d, out, ROUNDS, RESTART, 0xF5); /* rounds 1 and 3, from 0, are burnt */
    for (uint64_t round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < NUMBERS; i++)
            all[i] += out[round][i];
    check_normal(t, all, SIGMA); /* that of the last node alone, which covers all */
    memset(all, 0, sizeof all);
    for (uint64_t round = 0; round < 4; round++)
        for (size_t i = 0; i < NUMBERS; i++)
            all[i] += out[round][i];
    check_normal(t, all, SIGMA * sqrt(2)); /* those of rounds 0 and 2: nobody took them away */
}

/* ---- the price ------------------------------------------------------------------------------------------------------- */

/* Rounds whose updates a node's fresh noise protects, as bits: its own, and those of nodes that it takes away. */
typedef struct coverage {
    uint32_t of[MOST];
} coverage;

/* Releases in the given order; each finds the rows of lower rounds, as a server does. Whatever was taken away by another before may be
 * there or not. */
static coverage cover(sotto_test *t, const uint64_t *order, size_t count, uint64_t restart)
{
    coverage c = {{0}};
    uint32_t released = 0;

    for (size_t at = 0; at < count; at++) {
        uint64_t kept[MOST + 1];
        sotto_tree_nodes nodes = {kept, 0};
        unsigned taken = 0;

        for (uint64_t s = 0; s < order[at]; s++)
            if (released >> s & 1)
                sotto_tree_release(&nodes, restart, s);
        c.of[order[at]] = UINT32_C(1) << order[at];
        for (size_t i = 0; i < nodes.count; i++)
            if (sotto_tree_covers(restart, order[at], nodes.rounds[i])) {
                CHECK_EQUAL(t, 0, c.of[order[at]] & c.of[nodes.rounds[i]]);
                c.of[order[at]] |= c.of[nodes.rounds[i]];
                taken++;
            }
        CHECK(t, taken + 1 <= sotto_tree_most_nodes(restart));
        released |= UINT32_C(1) << order[at];
    }
    return c;
}

static unsigned bits_of(uint32_t x)
{
    unsigned bits = 0;

    for (; x; x &= x - 1)
        bits++;
    return bits;
}

static bool fits(uint32_t pattern, uint64_t separation, uint64_t participations)
{
    uint64_t last = UINT64_MAX;

    if (bits_of(pattern) > participations)
        return false;
    for (uint64_t s = 0; s < MOST; s++)
        if (pattern >> s & 1) {
            if (last != UINT64_MAX && s - last < separation)
                return false;
            last = s;
        }
    return true;
}

static uint64_t squares(const coverage *c, uint32_t pattern)
{
    uint64_t sum = 0;

    for (size_t node = 0; node < MOST; node++) {
        const uint64_t within = bits_of(c->of[node] & pattern);

        sum += within * within;
    }
    return sum;
}

static uint64_t worst(const coverage *c, uint64_t rounds, uint64_t separation,
                      uint64_t participations)
{
    uint64_t most = 0;

    for (uint32_t pattern = 0; pattern < UINT32_C(1) << rounds; pattern++)
        if (fits(pattern, separation, participations) && squares(c, pattern) > most)
            most = squares(c, pattern);
    return most;
}

static size_t in_order(uint64_t *order, uint32_t released)
{
    size_t count = 0;

    for (uint64_t s = 0; s < MOST; s++)
        if (released >> s & 1)
            order[count++] = s;
    return count;
}

static void no_pattern_costs_more_than_its_price(sotto_test *t)
{
    enum { ROUNDS = 11 };
    uint64_t order[MOST];

    for (uint64_t restart = 1; restart <= ROUNDS; restart++) {
        const coverage c = cover(t, order, in_order(order, (UINT32_C(1) << ROUNDS) - 1), restart);

        for (uint64_t separation = 1; separation <= ROUNDS; separation++)
            for (uint64_t k = 1; k <= 5; k++)
                CHECK(t, worst(&c, ROUNDS, separation, k) <=
                             k * sotto_tree_price(restart, separation, k));
    }
}

/* Where it is kept to once in a tree the price is what the worst device pays, and no less. */
static void once_in_a_tree_costs_its_levels(sotto_test *t)
{
    uint64_t order[MOST];
    const coverage c = cover(t, order, in_order(order, 0xFFFF), 4);

    CHECK_EQUAL(t, 4, sotto_tree_levels(8));
    CHECK_EQUAL(t, 3, sotto_tree_levels(7));
    CHECK_EQUAL(t, 4, sotto_tree_price(8, 8, 3));
    CHECK_EQUAL(t, 4, sotto_tree_price(8, 1000000, 1000000));
    CHECK_EQUAL(t, 1 + 1 + 2 + 3, sotto_tree_price(8, 2, 3));
    CHECK_EQUAL(t, 1, sotto_tree_price(1, 1, 5));
    CHECK_EQUAL(t, 3 * sotto_tree_price(4, 4, 3), worst(&c, 16, 4, 3));
    CHECK_EQUAL(t, sotto_tree_price(4, 1, 1), worst(&c, 16, 1, 1));
}

/* Any rounds may burn, and whoever asks a server may ask in any order. */
static void neither_burnt_rounds_nor_order_cost_more(sotto_test *t)
{
    enum { ROUNDS = 8 };
    uint64_t order[MOST];
    sotto_sim_random random;

    sotto_sim_random_init(&random, 9);
    for (uint64_t restart = 3; restart <= ROUNDS; restart++)
        for (uint32_t released = 1; released < UINT32_C(1) << ROUNDS; released++) {
            const size_t count = in_order(order, released);

            for (unsigned shuffles = 0; shuffles < 4; shuffles++) {
                const coverage c = cover(t, order, count, restart);

                CHECK(t, worst(&c, ROUNDS, 1, 2) <= 2 * sotto_tree_price(restart, 1, 2));
                CHECK(t, worst(&c, ROUNDS, 3, 3) <= 3 * sotto_tree_price(restart, 3, 3));
                for (size_t i = count; i > 1; i--) {
                    const size_t j = sotto_sim_random_u64(&random) % i;
                    const uint64_t one = order[i - 1];

                    order[i - 1] = order[j];
                    order[j] = one;
                }
            }
        }
}

static void the_most_nodes_of_a_release_are_known(sotto_test *t)
{
    enum { RESTART = 16 };
    uint64_t order[MOST], most = 0;

    for (uint32_t released = 0; released < UINT32_C(1) << (RESTART - 1); released++) {
        uint64_t kept[MOST + 1], taken = 1;
        sotto_tree_nodes nodes = {kept, 0};
        const size_t count = in_order(order, released);

        for (size_t i = 0; i < count; i++)
            sotto_tree_release(&nodes, RESTART, order[i]);
        for (size_t i = 0; i < nodes.count; i++)
            taken += sotto_tree_covers(RESTART, RESTART - 1, nodes.rounds[i]);
        most = taken > most ? taken : most;
    }
    CHECK_EQUAL(t, sotto_tree_most_nodes(RESTART), most);
    CHECK_EQUAL(t, 1, sotto_tree_most_nodes(1));
    CHECK_EQUAL(t, 2, sotto_tree_most_nodes(2));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_seed_gives_what_it_always_gave),
        CASE(rounds_have_the_covariance_of_the_tree),
        CASE(sums_of_rounds_have_one_node_for_each_one_bit),
        CASE(a_burnt_round_leaves_noise_that_a_later_one_takes_away),
        CASE(no_pattern_costs_more_than_its_price),
        CASE(once_in_a_tree_costs_its_levels),
        CASE(neither_burnt_rounds_nor_order_cost_more),
        CASE(the_most_nodes_of_a_release_are_known),
    };

    return RUN_TESTS(argc, argv, cases);
}
