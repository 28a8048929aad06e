/* Noise by buffers: what it costs, beside all patterns of a dense matrix; and its law, beside that matrix' inverse. */
#include "learn/blt_choose.h"
#include "learn/claim.h"
#include "learn/random.h"
#include "noise/blt_noise.h"
#include "sim/random.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

enum { MOST = 64 };

static const sotto_blt some = {.decay = {400000000, 900000000, 1060000000},
                               .weight = {250000000, 120000000, 40000000}};

static sotto_status fill(void *context, void *out, size_t len, sotto_err *err)
{
    (void)err;
    sotto_sim_random_bytes(context, out, len);
    return SOTTO_OK;
}

/* The dense matrix, from its definition. */
static void dense(const sotto_blt *b, double c[MOST][MOST], size_t n)
{
    for (size_t t = 0; t < n; t++)
        for (size_t s = 0; s < n; s++) {
            c[t][s] = s == t;
            for (size_t j = 0; s < t && j < SOTTO_BLT_BUFFERS; j++)
                c[t][s] += (double)b->weight[j] * 0x1p-30 *
                           pow((double)b->decay[j] * 0x1p-30, (double)(t - s - 1));
        }
}

static bool fits(const sotto_blt_pattern *p, unsigned chosen)
{
    unsigned count = 0;
    int last = -1;

    for (int i = 0; i < (int)p->rounds; i++) {
        if (!(chosen >> i & 1))
            continue;
        if (last >= 0 && i - last < (int)p->separation)
            return false;
        last = i;
        count++;
    }
    return count <= p->participations;
}

static void sensitivity_is_that_of_the_worst_pattern(sotto_test *t)
{
    static const sotto_blt_pattern patterns[] = {{13, 3, 3}, {13, 3, 13}, {13, 1, 13},
                                                 {13, 5, 2}, {1, 1, 1},   {13, 20, 4}};
    static double c[MOST][MOST];

    dense(&some, c, 13);
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
        const sotto_blt_pattern *p = &patterns[k];
        double worst = 0;

        for (unsigned chosen = 0; chosen < 1u << p->rounds; chosen++) {
            double square = 0;

            if (!fits(p, chosen))
                continue;
            for (size_t row = 0; row < p->rounds; row++) {
                double sum = 0;

                for (size_t s = 0; s <= row; s++)
                    sum += chosen >> s & 1 ? c[row][s] : 0;
                square += sum * sum;
            }
            worst = fmax(worst, sqrt(square));
        }
        const double got = sotto_blt_sensitivity(&some, p);
        CHECK(t, got >= worst);
        CHECK_NEAR(t, worst, got, 1e-9);
    }
}

/* A release under one data set is looked at under another, in the finest units, where rounding shows most. */
static void a_neighbour_moves_no_more_than_is_priced(sotto_test *t)
{
    enum { ROUNDS = 24, SIZE = 64 };
    const sotto_blt_pattern p = {ROUNDS, 5, 3};
    const int64_t moves[] = {1, 1000};

    for (size_t k = 0; k < 2; k++) {
        static int64_t here[SIZE][SOTTO_BLT_BUFFERS], there[SIZE][SOTTO_BLT_BUFFERS];
        const double length = (double)moves[k] * sqrt(SIZE) * ldexp(1, -SOTTO_BLT_FINE);
        uint64_t state = 7;
        double square = 0;

        memset(here, 0, sizeof here);
        memset(there, 0, sizeof there);
        for (uint64_t round = 0; round < ROUNDS; round++)
            for (size_t i = 0; i < SIZE; i++) {
                const int64_t moved = round % 5 == 0 && round / 5 < 3 ? moves[k] : 0;
                const int64_t fresh = (int64_t)(sotto_learn_number(&state) >> 40) - (1 << 23);
                const int64_t w = fresh - sotto_blt_predict(&some, here[i]);
                /* The same release, had the other data set been there: what fresh noise it takes. */
                const int64_t other = w - moved,
                              needed = other + sotto_blt_predict(&some, there[i]);

                square += (double)(fresh - needed) * (double)(fresh - needed);
                sotto_blt_keep(&some, here[i], w);
                sotto_blt_keep(&some, there[i], other);
            }
        const double got = sqrt(square) / ldexp(length, SOTTO_BLT_FINE);
        CHECK(t, got <= sotto_blt_priced(&some, &p, length, SIZE));
        if (k == 0)
            CHECK(t, got > 1.02 * sotto_blt_sensitivity(&some, &p));
        else
            CHECK_NEAR(t, sotto_blt_sensitivity(&some, &p), got, 0.01);
        CHECK_NEAR(t, 2 * sqrt(ROUNDS * SIZE) * sotto_blt_lost(&some),
                   ldexp(length, SOTTO_BLT_FINE) * (sotto_blt_priced(&some, &p, length, SIZE) -
                                                    sotto_blt_sensitivity(&some, &p)),
                   1e-6);
    }
}

static void noise_is_that_of_the_dense_inverse(sotto_test *t)
{
    enum { ROUNDS = 16, SIZE = 300 };
    static double c[MOST][MOST];
    static int64_t drawn[ROUNDS][SIZE], sums[ROUNDS][SIZE];
    sotto_sim_random random, again;
    sotto_entropy entropy, copy;
    sotto_blt_noise n;

    dense(&some, c, ROUNDS);
    CHECK_OK(t, sotto_blt_noise_init(&n, &some, ROUNDS, SIZE, 1000, &t->arena, &t->err));
    sotto_sim_random_init(&random, 5);
    sotto_sim_random_init(&again, 5);
    sotto_entropy_init(&entropy, fill, &random);
    sotto_entropy_init(&copy, fill, &again);
    for (size_t round = 0; round < ROUNDS; round++) {
        memset(sums[round], 0, sizeof sums[round]);
        CHECK_OK(t, sotto_blt_noise_add(&n, sums[round], &entropy, &t->err));
        for (size_t at = 0; at < SIZE; at += 256) /* as blocks are drawn */
            CHECK_OK(t, sotto_noise_draw(&n.fresh, drawn[round] + at,
                                         SIZE - at < 256 ? SIZE - at : 256, &copy, &t->err));
    }
    for (size_t i = 0; i < SIZE; i++) {
        double w[ROUNDS];

        for (size_t r = 0; r < ROUNDS; r++) { /* forward substitution */
            w[r] = (double)drawn[r][i] * ldexp(1, -SOTTO_BLT_FINE);
            for (size_t s = 0; s < r; s++)
                w[r] -= c[r][s] * w[s];
            CHECK_NEAR(t, w[r], (double)sums[r][i], 0.501);
            CHECK(t, fabs(w[r]) <= n.reach);
        }
    }
}

/* Chi-square as a standard normal number (Wilson and Hilferty 1931). */
static double surprise(const double *seen, size_t cells, double draws)
{
    double chi = 0, freedom = (double)cells - 1, spread = 2 / (9 * freedom);
    const double mean = draws / (double)cells;

    for (size_t i = 0; i < cells; i++)
        chi += (seen[i] - mean) * (seen[i] - mean) / mean;
    return (cbrt(chi / freedom) - (1 - spread)) / sqrt(spread);
}

/* ---- what a server releases: rounds that burn, and noise that is drawn again ------------------------------------------------ */

enum { SERVED = SOTTO_BLT_PART + 300, SERVED_ROUNDS = 12 };

typedef struct served {
    const uint64_t *rounds; /* the chain of the release */
    sotto_sim_random random;
    int64_t sum[SERVED];
} served;

static uint64_t seed_of(uint64_t round, uint64_t part)
{
    return 1000 * round + part + 1;
}

static sotto_status start_part(void *context, sotto_entropy *out, size_t index, uint64_t part,
                               sotto_err *err)
{
    served *s = context;

    (void)err;
    sotto_sim_random_init(&s->random, seed_of(s->rounds[index], part));
    sotto_entropy_init(out, fill, &s->random);
    return SOTTO_OK;
}

static sotto_status add_part(void *context, size_t first, const int64_t *values, size_t count,
                             sotto_err *err)
{
    served *s = context;

    (void)err;
    for (size_t i = 0; i < count; i++)
        s->sum[first + i] += values[i];
    return SOTTO_OK;
}

/* What is released of each of these rounds, in their order. */
static void serve(sotto_test *t, const uint64_t *rounds, size_t count,
                  int64_t out[SERVED_ROUNDS][SERVED])
{
    static served s;
    const sotto_blt_source source = {start_part, &s};
    const sotto_tree_sink sink = {add_part, &s};
    sotto_noise fresh;
    double reach;

    CHECK_OK(t, sotto_blt_fresh(&fresh, &reach, &some, SERVED_ROUNDS, 1000, &t->arena, &t->err));
    s.rounds = rounds;
    for (size_t last = 0; last < count; last++) {
        memset(s.sum, 0, sizeof s.sum);
        CHECK_OK(
            t, sotto_blt_redraw(&some, &fresh, SERVED, rounds, last + 1, &source, &sink, &t->err));
        memcpy(out[last], s.sum, sizeof s.sum);
        for (size_t i = 0; i < SERVED; i++)
            CHECK(t, fabs((double)s.sum[i]) <= reach);
    }
}

/* A server that draws all earlier rounds again, for a part of the numbers at a time, releases what buffers would have kept. */
static void a_server_releases_what_the_simulator_does(sotto_test *t)
{
    static const uint64_t rounds[SERVED_ROUNDS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    static int64_t served_sums[SERVED_ROUNDS][SERVED], sum[SOTTO_BLT_PART];
    sotto_sim_random random;
    sotto_entropy entropy;
    sotto_blt_noise n;

    serve(t, rounds, SERVED_ROUNDS, served_sums);
    CHECK_OK(t, sotto_blt_noise_init(&n, &some, SERVED_ROUNDS, SOTTO_BLT_PART, 1000, &t->arena,
                                     &t->err));
    for (uint64_t round = 0; round < SERVED_ROUNDS; round++) {
        sotto_sim_random_init(&random, seed_of(round, 0));
        sotto_entropy_init(&entropy, fill, &random);
        memset(sum, 0, sizeof sum);
        CHECK_OK(t, sotto_blt_noise_add(&n, sum, &entropy, &t->err));
        CHECK_BYTES(t, sum, served_sums[round], sizeof sum);
    }
}

/* A server draws noise again that an earlier version of sotto added. So this number is for good. With another sampler, sessions that are
 * under way would have noise taken away that nobody added, and their price may not hold (docs/decisions/0301). */
static void a_seed_gives_what_it_always_gave(sotto_test *t)
{
    static const uint64_t rounds[] = {0, 1, 4};
    static int64_t sums[SERVED_ROUNDS][SERVED];
    uint64_t checksum = 14695981039346656037u; /* FNV-1a, of whole numbers */

    serve(t, rounds, 3, sums);
    for (size_t r = 0; r < 3; r++)
        for (size_t i = 0; i < SERVED; i++)
            checksum = (checksum ^ (uint64_t)sums[r][i]) * 1099511628211u;
    CHECK_EQUAL(t, UINT64_C(16026845531541743878), checksum);
}

/* Rounds 1, 4 and 5 burnt: what is left is fresh noise, seen through the matrix of the rounds that were released. */
static void burnt_rounds_leave_the_matrix_of_the_others(sotto_test *t)
{
    enum { COUNT = 6, CELLS = 64 };
    static const uint64_t rounds[COUNT] = {0, 2, 3, 6, 7, 11};
    static double c[MOST][MOST];
    static int64_t sums[SERVED_ROUNDS][SERVED];
    double product[COUNT][COUNT] = {{0}}, seen[CELLS] = {0};

    dense(&some, c, SERVED_ROUNDS);
    serve(t, rounds, COUNT, sums);
    for (size_t i = 0; i < SERVED; i++) {
        double fresh[COUNT];

        for (size_t a = 0; a < COUNT; a++) {
            fresh[a] = 0;
            for (size_t b = 0; b <= a; b++)
                fresh[a] += c[rounds[a]][rounds[b]] * (double)sums[b][i] / 1000;
            const double place = CELLS * erfc(-fresh[a] / sqrt(2)) / 2;
            seen[(size_t)fmin(fmax(place, 0), CELLS - 1)]++;
            for (size_t b = 0; b <= a; b++)
                product[a][b] += fresh[a] * fresh[b];
        }
    }
    CHECK(t, fabs(surprise(seen, CELLS, (double)COUNT * SERVED)) < 4.9);
    for (size_t a = 0; a < COUNT; a++)
        for (size_t b = 0; b <= a; b++)
            CHECK_NEAR(t, a == b ? 1 : 0, product[a][b] / SERVED,
                       (a == b ? 8.5 : 6) / sqrt(SERVED));
}

/* The inverse of what is left of C has nothing above 0 left of its diagonal, and no row of it adds up to less than 0. And what a device
 * moves, by whichever rounds it takes part in, is no more than where all rounds are released. */
static void every_set_of_burnt_rounds_is_within_the_price(sotto_test *t)
{
    enum { ROUNDS = 9 };
    static double c[MOST][MOST];
    const sotto_blt tight = {.decay = {500000000, 900000000}, .weight = {400000000, 88000000}};
    const sotto_blt_pattern p = {ROUNDS, 2, 3};
    const double price = sotto_blt_sensitivity(&tight, &p);

    CHECK_OK(t, sotto_blt_check(&tight, &t->err));
    dense(&tight, c, ROUNDS);
    /* Of a round that a repair replaced, a later one took noise away: what is left of earlier ones is still within. */
    for (size_t a = 1; a < ROUNDS; a++)
        for (size_t b = 1; a + b < ROUNDS; b++)
            CHECK(t, c[a][0] * c[b][0] <= c[a + b][0] * (1 + 1e-12));
    for (unsigned released = 0; released < 1u << ROUNDS; released++) {
        double inverse[ROUNDS][ROUNDS] = {{0}};

        for (size_t a = 0; a < ROUNDS; a++) {
            double all = 0;

            for (size_t b = 0; b <= a && (released >> a & 1); b++) {
                inverse[a][b] = a == b;
                for (size_t k = 0; k < a; k++)
                    inverse[a][b] -= released >> k & 1 ? c[a][k] * inverse[k][b] : 0;
                CHECK(t, a == b || inverse[a][b] <= 1e-12);
                all += inverse[a][b];
            }
            CHECK(t, all >= -1e-12);
        }
        double square = 0; /* of rounds 0, 2 and 4 */
        for (size_t a = 0; a < ROUNDS; a++) {
            double row = 0;

            for (size_t b = 0; b <= a && b <= 4 && (released >> a & 1); b += 2)
                row += released >> b & 1 ? c[a][b] : 0;
            square += row * row;
        }
        CHECK(t, square <= price * price);
    }
}

/* How much of what a device moved in round 0 is in round `last`, which took away noise of the rounds in `replaced`, and of all others
 * before it. What was drawn for replaced ones is known, and their sums are not. */
static double left_of_the_first(double c[MOST][MOST], unsigned replaced, size_t last)
{
    double moves[MOST] = {1}, left = c[last][0];

    for (size_t h = 1; h < last; h++) {
        for (size_t s = 0; s < h && (replaced >> h & 1); s++)
            moves[h] -= c[h][s] * moves[s];
        left += c[last][h] * moves[h];
    }
    return left;
}

/* The same in whole numbers: by how much the prediction for round `last` differs. */
static int64_t predicted_apart(const sotto_blt *b, unsigned replaced, size_t last, int64_t moved,
                               uint64_t *state)
{
    int64_t here[SOTTO_BLT_BUFFERS] = {0}, there[SOTTO_BLT_BUFFERS] = {0};

    for (size_t round = 0; round < last; round++) {
        const int64_t drawn = (int64_t)(sotto_learn_number(state) >> 40) - (1 << 23);
        const bool again = replaced >> round & 1;
        const int64_t w = again ? drawn - sotto_blt_predict(b, here) : drawn,
                      other = again        ? drawn - sotto_blt_predict(b, there)
                              : round == 0 ? drawn - moved
                                           : drawn;

        sotto_blt_keep(b, here, w);
        sotto_blt_keep(b, there, other);
    }
    return sotto_blt_predict(b, here) - sotto_blt_predict(b, there);
}

/* Repairs may replace several sums that a later round took noise away of. That round has of an earlier one between nothing and what the
 * price has. Rounding adds no more than twice what one prediction loses. */
static void sums_that_repairs_replaced_are_within_the_price(sotto_test *t)
{
    enum { LAST = 8, MOVED = 1000 };
    static double c[MOST][MOST];
    const sotto_blt tight = {.decay = {500000000, 900000000}, .weight = {400000000, 88000000}},
                    refused = {.decay = {0}, .weight = {1 << 30}};
    uint64_t state = 3;

    dense(&tight, c, LAST + 1);
    for (unsigned replaced = 0; replaced < 1u << LAST; replaced += 2) {
        const double left = left_of_the_first(c, replaced, LAST);
        const int64_t apart = predicted_apart(&tight, replaced, LAST, MOVED, &state);

        CHECK(t, left >= -1e-12 && left <= c[LAST][0] + 1e-12);
        CHECK(t, fabs((double)apart - MOVED * left) <= 2 * sotto_blt_lost(&tight));
    }
    /* c is 1, 1, 0: round 0 is not in round 2 at all, but where round 1 was replaced. So such a matrix has no price. */
    CHECK_STATUS(t, SOTTO_DENIED, sotto_blt_check(&refused, &t->err));
    dense(&refused, c, 3);
    CHECK_NEAR(t, 0, left_of_the_first(c, 0, 2), 0);
    CHECK_NEAR(t, -1, left_of_the_first(c, 2, 2), 0);
}

/* One participation alone may be dearer than its part of several: later columns of C are shorter. */
static void each_participation_is_paid_for_by_itself(sotto_test *t)
{
    const sotto_blt_pattern short_one = {9, 8, 2}, many = {64, 16, 4}, endless = {9, 8, 1000},
                            never = {9, 8, 0};
    const double length = 1e6;

    for (size_t k = 0; k < 2; k++) {
        const sotto_blt_pattern *p = k ? &many : &short_one;
        const double each = sotto_blt_each(&some, p, length, 10);
        double worst = 0;

        for (uint64_t m = 1; m <= p->participations; m++) {
            const sotto_blt_pattern some_of = {p->rounds, p->separation, m};
            const double all = pow(sotto_blt_priced(&some, &some_of, length, 10), 2);

            CHECK(t, each * (double)m >= all);
            worst = fmax(worst, all / (double)m);
        }
        CHECK_NEAR(t, worst, each, 1e-12);
    }
    /* The first of 9 rounds shows in all of them, and the last in itself alone. */
    CHECK(t, sotto_blt_each(&some, &short_one, length, 10) >
                 1.03 * pow(sotto_blt_priced(&some, &short_one, length, 10), 2) / 2);
    CHECK_NEAR(t, sotto_blt_each(&some, &short_one, length, 10),
               sotto_blt_each(&some, &endless, length, 10), 1e-12);
    CHECK(t, isinf(sotto_blt_each(&some, &never, length, 10)));
}

/* C times the releases is fresh noise again: normal, of the deviation that is claimed, and of no correlation. */
static void releases_have_the_law_that_is_claimed(sotto_test *t)
{
    enum { ROUNDS = 6, SIZE = SOTTO_TEST_DRAWS(40000), CELLS = 64 };
    static double c[MOST][MOST], fresh[ROUNDS][SIZE], all[SIZE];
    static int64_t sums[ROUNDS][SIZE];
    double seen[CELLS] = {0}, square = 0, error = 0;
    sotto_sim_random random;
    sotto_entropy entropy;
    sotto_blt_noise n;

    dense(&some, c, ROUNDS);
    CHECK_OK(t, sotto_blt_noise_init(&n, &some, ROUNDS, SIZE, 1000, &t->arena, &t->err));
    sotto_sim_random_init(&random, 11);
    sotto_entropy_init(&entropy, fill, &random);
    memset(sums, 0, sizeof sums);
    memset(all, 0, sizeof all);
    for (size_t r = 0; r < ROUNDS; r++) {
        CHECK_OK(t, sotto_blt_noise_add(&n, sums[r], &entropy, &t->err));
        for (size_t i = 0; i < SIZE; i++) {
            fresh[r][i] = 0;
            for (size_t s = 0; s <= r; s++)
                fresh[r][i] += c[r][s] * (double)sums[s][i] / 1000;
            const double place = CELLS * erfc(-fresh[r][i] / sqrt(2)) / 2;
            seen[(size_t)fmin(fmax(place, 0), CELLS - 1)]++;
            all[i] += (double)sums[r][i] / 1000;
            error += all[i] * all[i];
        }
    }
    CHECK(t, fabs(surprise(seen, CELLS, (double)ROUNDS * SIZE)) < 4.9);
    for (size_t r = 0; r < ROUNDS; r++)
        for (size_t s = 0; s < r; s++) {
            double product = 0;

            for (size_t i = 0; i < SIZE; i++)
                product += fresh[r][i] * fresh[s][i];
            CHECK_NEAR(t, 0, product / sqrt(SIZE), 5.5);
        }
    /* And what is left of it in a model is what was computed. */
    square = sotto_blt_error(&some, ROUNDS);
    CHECK_NEAR(t, square * square, error / ROUNDS / SIZE, 12 * square * square / sqrt(SIZE));
}

static double error_of_a_tree(uint64_t rounds, uint64_t restart, uint64_t levels, uint64_t trees)
{
    double sum = 0;

    for (uint64_t t = 1; t <= rounds; t++) {
        sum += (double)(t / restart);
        for (uint64_t left = t % restart; left > 0; left /= 2)
            sum += (double)(left & 1);
    }
    return sqrt((double)(levels * trees)) * sqrt(sum / (double)rounds);
}

static void buffers_are_found_that_do_better_than_trees(sotto_test *t)
{
    const sotto_blt_pattern many = {64, 16, 4}, once = {64, 64, 1};
    double root[64], inverse[64], sum = 0, square = 0, all = 0;
    sotto_blt b;

    CHECK_OK(t, sotto_blt_choose(&b, &many, &t->err));
    const double got = sotto_blt_sensitivity(&b, &many) * sotto_blt_error(&b, 64);
    CHECK(t, got < 0.75 * error_of_a_tree(64, 16, 5, 4));
    CHECK(t, got < 0.6 * sqrt(4) * sqrt(65 / 2.0)); /* fresh noise */

    /* Once a device: the square root of the matrix of ones, which no matrix is much better than (Fichtenberger et al. 2023). */
    CHECK_OK(t, sotto_blt_choose(&b, &once, &t->err));
    root[0] = inverse[0] = 1;
    for (size_t i = 1; i < 64; i++) {
        root[i] = root[i - 1] * (2 * (double)i - 1) / (2 * (double)i);
        inverse[i] = inverse[i - 1] * (2 * (double)i - 3) / (2 * (double)i);
    }
    for (size_t i = 0; i < 64; i++) {
        double prefix = 0;

        sum += root[i] * root[i];
        for (size_t j = 0; j <= i; j++)
            prefix += inverse[j];
        square += prefix * prefix;
        all += square;
    }
    CHECK(t, sotto_blt_sensitivity(&b, &once) * sotto_blt_error(&b, 64) <
                 1.01 * sqrt(sum) * sqrt(all / 64));
}

static void what_is_out_of_range_is_refused(sotto_test *t)
{
    const sotto_blt_pattern none = {0, 1, 1}, late = {SOTTO_BLT_ROUNDS + 1, 1, 1};
    sotto_blt b = some;
    sotto_blt_noise n;

    b.weight[0] = ((int64_t)1 << 30) - b.weight[1] - b.weight[2] + 1;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_blt_check(&b, &t->err));
    CHECK_REASON(t, "more than 1");
    b = (sotto_blt){.decay = {500000000}, .weight = {500000000}}; /* c_2 is the square of c_1 */
    CHECK_OK(t, sotto_blt_check(&b, &t->err));
    b.weight[0]++;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_blt_check(&b, &t->err));
    CHECK_REASON(t, "add noise of an earlier one");
    b = some;
    b.decay[2] = ((int64_t)1 << 30) - 1024; /* remembers a million rounds */
    CHECK_OK(t, sotto_blt_noise_init(&n, &b, SOTTO_BLT_ROUNDS, 1, 0x1p20, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_blt_noise_init(&n, &b, SOTTO_BLT_ROUNDS, 1, 0x1p23, &t->arena, &t->err));
    CHECK_REASON(t, "smaller scale");
    b.decay[2] = (int64_t)1 << 30;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_blt_check(&b, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_blt_choose(&b, &none, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_blt_choose(&b, &late, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_blt_noise_init(&n, &some, 9, 1, 0x1p30, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_blt_noise_init(&n, &some, 9, 1, NAN, &t->arena, &t->err));
}

/* Whoever asks for a price without having checked gets one that no claim takes. */
static void what_no_theorem_prices_has_no_price(sotto_test *t)
{
    const sotto_blt_pattern most = {SOTTO_BLT_ROUNDS, 1, 1}, late = {SOTTO_BLT_ROUNDS + 1, 1, 1},
                            close = {9, 0, 1}, never = {9, 1, 0}, plain = {9, 1, 1};
    sotto_learn_question q = {.law = SOTTO_LEARN_BLT, .multiplier = 6, .delta = 1e-5};
    sotto_learn_claim claim;
    sotto_blt rises = some;

    rises.weight[0] = (int64_t)1 << 30;
    CHECK(t, isfinite(sotto_blt_sensitivity(&some, &most)));
    CHECK(t, isinf(sotto_blt_sensitivity(&some, &late)));
    CHECK(t, isinf(sotto_blt_sensitivity(&rises, &plain)));
    CHECK(t, !sotto_blt_pattern_priced(&close) && !sotto_blt_pattern_priced(&never));
    q.sensitivity = sotto_blt_priced(&some, &late, 1000, 10);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_learn_claim_of(&claim, &q, &t->err));
}

static void a_claim_is_that_of_its_sensitivity(sotto_test *t)
{
    const sotto_learn_question once = {
        .law = SOTTO_LEARN_COUNTED, .multiplier = 2, .delta = 1e-5, .participations = 1};
    sotto_learn_question q = {
        .law = SOTTO_LEARN_BLT, .multiplier = 6, .delta = 1e-5, .sensitivity = 3};
    sotto_learn_claim counted, buffered;

    CHECK_OK(t, sotto_learn_claim_of(&counted, &once, &t->err));
    CHECK_OK(t, sotto_learn_claim_of(&buffered, &q, &t->err));
    CHECK_NEAR(t, counted.epsilon, buffered.epsilon, 1e-9);
    CHECK(t, strstr(buffered.assumption, "noise of all rounds secret") != NULL);
    q.sensitivity = 0.5; /* a device moves its own round at least */
    CHECK_STATUS(t, SOTTO_DENIED, sotto_learn_claim_of(&buffered, &q, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(sensitivity_is_that_of_the_worst_pattern),
        CASE(a_neighbour_moves_no_more_than_is_priced),
        CASE(noise_is_that_of_the_dense_inverse),
        CASE(a_server_releases_what_the_simulator_does),
        CASE(a_seed_gives_what_it_always_gave),
        CASE(burnt_rounds_leave_the_matrix_of_the_others),
        CASE(every_set_of_burnt_rounds_is_within_the_price),
        CASE(sums_that_repairs_replaced_are_within_the_price),
        CASE(each_participation_is_paid_for_by_itself),
        CASE(releases_have_the_law_that_is_claimed),
        CASE(buffers_are_found_that_do_better_than_trees),
        CASE(what_is_out_of_range_is_refused),
        CASE(what_no_theorem_prices_has_no_price),
        CASE(a_claim_is_that_of_its_sensitivity),
    };

    return RUN_TESTS(argc, argv, cases);
}
