/* The law of every randomizer, written down once. It is met exactly where the randomness is exhausted, and by ten million
 * draws, and is never further apart for two values than the epsilon declared. */
#include "noise/randomizer.h"
#include "noise_support.h"
#include "support/test.h"

#include <math.h>

enum { VALUES = 3, REPORTS = 1 << 19, COINS = 8 };

/* ---- the law ------------------------------------------------------------------------------------------- */

static uint64_t digit(const uint8_t *report, size_t i)
{
    uint64_t d = 0;

    for (size_t b = 0; b < 4; b++)
        d |= (uint64_t)report[4 * i + b] << 8 * b;
    return d;
}

/* A number for each report: its bits, or its digits in base `prime`. */
static size_t index_of(const sotto_randomizer *r, const uint8_t *report)
{
    size_t index = 0;

    if (r->prime)
        for (size_t i = r->digits; i-- > 0;)
            index = index * r->prime + digit(report, i);
    else
        for (size_t i = r->bytes; i-- > 0;)
            index = 2 * index + report[i];
    return index;
}

static size_t reports_of(const sotto_randomizer *r)
{
    size_t count = 1;

    for (size_t i = 0; i < (r->prime ? r->digits : r->bytes); i++)
        count *= r->prime ? r->prime : 2;
    return count;
}

static double choose(double n, double k)
{
    double c = 1;

    for (double i = 1; i <= k; i++)
        c *= (n - k + i) / i;
    return c;
}

static double law_of_bits(const sotto_randomizer *r, size_t index, uint64_t value, double own,
                          double other)
{
    double p = 1;

    for (size_t i = 0; i < r->bytes; i++) {
        double one = i == value ? own : other;

        p *= index >> i & 1 ? one : 1 - one;
    }
    return p;
}

static double law_of_sets(const sotto_randomizer *r, size_t index, uint64_t value, double own)
{
    double size = 0, set = (double)r->set, others = (double)r->bytes - 1;

    for (size_t i = 0; i < r->bytes; i++)
        size += (double)(index >> i & 1);
    if (size != set)
        return 0;
    return index >> (value == SOTTO_NO_VALUE ? r->values : value) & 1
               ? own / choose(others, set - 1)
               : (1 - own) / choose(others, set);
}

static double law_of_maps(const sotto_randomizer *r, size_t index, uint64_t value, double own)
{
    uint64_t h = index % r->prime, left = value;
    double maps = (double)reports_of(r), inside = (double)r->support, all = (double)r->prime;

    if (value == SOTTO_NO_VALUE)
        return 1 / maps;
    for (size_t i = 1; i < r->digits; i++, left /= r->prime) {
        index /= r->prime;
        h += index % r->prime * (left % r->prime);
    }
    return h % r->prime < r->support ? own / inside / (maps / all)
                                     : (1 - own) / (all - inside) / (maps / all);
}

/* P(report | value), where coins fall on 1 with chance own for the value's and other for others. */
static double law(const sotto_randomizer *r, size_t index, uint64_t value, double own, double other)
{
    if (r->prime)
        return law_of_maps(r, index, value, own);
    return r->set ? law_of_sets(r, index, value, own) : law_of_bits(r, index, value, own, other);
}

static uint64_t value_at(const sotto_randomizer *r, uint64_t i)
{
    return i < r->values ? i : SOTTO_NO_VALUE;
}

static bool init(sotto_test *t, sotto_randomizer *r, int kind, double epsilon, sotto_adjacency a)
{
    if (kind == SOTTO_RAPPOR && a == SOTTO_ADJACENCY_DELETION)
        return false;
    CHECK_OK(t, sotto_randomizer_init(r, (sotto_randomizer_kind)kind,
                                      kind == SOTTO_BINARY_RESPONSE ? 1 : VALUES, epsilon, a,
                                      &t->err));
    return true;
}

/* ---- epsilon ------------------------------------------------------------------------------------------- */

/* The largest ratio of two values' laws at any report. */
static double worst_ratio(const sotto_randomizer *r)
{
    double own = ldexp((double)r->own, -64), other = ldexp((double)r->other, -64), worst = 0;

    for (size_t i = 0; i < reports_of(r); i++)
        for (uint64_t u = 0; u <= r->values; u++)
            for (uint64_t v = 0; v <= r->values; v++) {
                double p = law(r, i, value_at(r, u), own, other);
                double q = law(r, i, value_at(r, v), own, other);

                if (r->adjacency == SOTTO_ADJACENCY_DELETION && u < r->values && v < r->values)
                    continue;
                if (p > 0)
                    worst = fmax(worst, p / q);
            }
    return worst;
}

static void the_law_is_as_private_as_declared(sotto_test *t)
{
    static const double epsilons[] = {0.1, 0.5, 1, 2, 3};

    for (int kind = 1; kind < SOTTO_RANDOMIZER_KINDS; kind++)
        for (size_t e = 0; e < sizeof epsilons / sizeof epsilons[0]; e++)
            for (int a = SOTTO_ADJACENCY_REPLACEMENT; a <= SOTTO_ADJACENCY_DELETION; a++) {
                sotto_randomizer r;

                if (!init(t, &r, kind, epsilons[e], (sotto_adjacency)a))
                    continue;
                double exact = log(worst_ratio(&r));

                CHECK(t, exact <= r.epsilon + 1e-12);
                /* And not less, but that hashes declare for a deletion what holds for a replacement. */
                CHECK(t, exact >= r.epsilon - 1e-9 ||
                             (r.prime && r.adjacency == SOTTO_ADJACENCY_DELETION));
            }
}

/* ---- randomness exhausted ------------------------------------------------------------------------------- */

/* Words to run through, each over the middles of `levels` equal parts of all 64-bit numbers; others are fixed. */
typedef struct odometer {
    struct {
        size_t position;
        uint64_t levels, at;
    } wheel[8];
    size_t wheels;
    uint64_t fixed[64];
} odometer;

static odometer wheels; /* noise_words takes a plain function */

static uint64_t middle(uint64_t i, uint64_t levels)
{
    return UINT64_MAX / (2 * levels) * (2 * i + 1);
}

static uint64_t wheel_word(uint64_t position)
{
    for (size_t i = 0; i < wheels.wheels; i++)
        if (wheels.wheel[i].position == position)
            return middle(wheels.wheel[i].at, wheels.wheel[i].levels);
    return position < 64 ? wheels.fixed[position] : 0;
}

static void add_wheel(size_t position, uint64_t levels)
{
    wheels.wheel[wheels.wheels].position = position;
    wheels.wheel[wheels.wheels].at = 0;
    wheels.wheel[wheels.wheels++].levels = levels;
}

static bool advance(void)
{
    for (size_t i = 0; i < wheels.wheels; i++) {
        if (++wheels.wheel[i].at < wheels.wheel[i].levels)
            return true;
        wheels.wheel[i].at = 0;
    }
    return false;
}

/* Counts the reports on value over all positions of the wheels; returns how many positions there are. */
static double exhaust(sotto_test *t, const sotto_randomizer *r, uint64_t value, double *seen)
{
    double runs = 0;

    memset(seen, 0, REPORTS * sizeof seen[0]);
    do {
        noise_words words = {0, wheel_word};
        sotto_entropy entropy;
        uint8_t report[4 * SOTTO_RANDOMIZER_DIGITS];

        sotto_entropy_init(&entropy, noise_fill_words, &words);
        CHECK_OK(t, sotto_randomizer_run(r, report, value, &entropy, &t->err));
        seen[index_of(r, report)]++;
        runs++;
    } while (advance());
    return runs;
}

/* How many of the middles a coin of this chance falls on 1 for, over how many there are. */
static double coarse(uint64_t chance)
{
    double ones = 0;

    for (uint64_t i = 0; i < COINS; i++)
        ones += middle(i, COINS) < chance;
    return ones / COINS;
}

static void check_counts(sotto_test *t, const sotto_randomizer *r, uint64_t value, double own,
                         double other)
{
    static double seen[REPORTS];
    double runs = exhaust(t, r, value, seen);

    for (size_t i = 0; i < reports_of(r); i++)
        CHECK_NEAR(t, runs * law(r, i, value, own, other), seen[i], 1e-6);
}

static void exhaust_bits(sotto_test *t, const sotto_randomizer *r, uint64_t value)
{
    memset(&wheels, 0, sizeof wheels);
    for (size_t i = 0; i <= r->bytes; i++)
        add_wheel(i, COINS);
    check_counts(t, r, value, coarse(r->own), coarse(r->other));
}

/* Two words a value decide whether it comes along; six parts divide evenly among one, two or three. */
static void exhaust_sets(sotto_test *t, const sotto_randomizer *r, uint64_t value)
{
    memset(&wheels, 0, sizeof wheels);
    add_wheel(0, COINS);
    for (size_t i = 0; i < r->bytes; i++)
        add_wheel(1 + 2 * i, 6);
    check_counts(t, r, value, coarse(r->own), 0);
}

/* Three words a digit, one for the coin, three each for a place inside of the support and outside. With the coin
 * fixed, every map that fits is drawn exactly once. */
static void exhaust_maps(sotto_test *t, const sotto_randomizer *r, uint64_t value)
{
    for (int own = 0; own <= 1; own++) {
        size_t coin = 3 * r->digits;

        memset(&wheels, 0, sizeof wheels);
        wheels.fixed[coin] = own ? 0 : UINT64_MAX;
        for (size_t i = value != SOTTO_NO_VALUE; i < r->digits; i++)
            add_wheel(3 * i, r->prime);
        if (value != SOTTO_NO_VALUE)
            add_wheel(coin + (own ? 1 : 4), own ? r->support : r->prime - r->support);
        check_counts(t, r, value, own, 0);
    }
}

static void every_report_comes_as_often_as_the_law_says(sotto_test *t)
{
    for (int kind = 1; kind < SOTTO_RANDOMIZER_KINDS; kind++)
        for (double epsilon = 0.7; epsilon < 1.5; epsilon += 0.6)
            for (uint64_t v = 0; v <= VALUES; v++) {
                sotto_randomizer r;

                if (!init(t, &r, kind, epsilon, SOTTO_ADJACENCY_REPLACEMENT) ||
                    (v > r.values && kind == SOTTO_BINARY_RESPONSE))
                    continue;
                CHECK(t, reports_of(&r) <= REPORTS);
                if (r.prime)
                    exhaust_maps(t, &r, value_at(&r, v));
                else if (r.set)
                    exhaust_sets(t, &r, value_at(&r, v));
                else
                    exhaust_bits(t, &r, value_at(&r, v));
            }
}

/* ---- ten million ----------------------------------------------------------------------------------------- */

enum { MANY = SOTTO_TEST_DRAWS(10000000) };

/* Chi-square as a standard normal number (Wilson and Hilferty). Reports expected less than ten times are taken together. */
static double chi_square(const sotto_randomizer *r, const double *seen, uint64_t value, double runs)
{
    double own = ldexp((double)r->own, -64), other = ldexp((double)r->other, -64);
    double chi = 0, cells = -1, expected = 0, found = 0;

    for (size_t i = 0; i < reports_of(r); i++) {
        expected += runs * law(r, i, value, own, other);
        found += seen[i];
        if (expected < 10)
            continue;
        chi += (found - expected) * (found - expected) / expected;
        expected = found = 0;
        cells++;
    }
    double spread = 2 / (9 * cells);
    return (cbrt(chi / cells) - (1 - spread)) / sqrt(spread);
}

/* Ten million reports of each kind, shared among the values and none. */
static void ten_million_reports_follow_the_law(sotto_test *t)
{
    static double seen[REPORTS];

    for (int kind = 1; kind < SOTTO_RANDOMIZER_KINDS; kind++) {
        sotto_randomizer r;
        sotto_sim_random random;
        sotto_entropy entropy;

        CHECK(t, init(t, &r, kind, 1, SOTTO_ADJACENCY_REPLACEMENT));
        sotto_sim_random_init(&random, 900 + (uint64_t)kind);
        sotto_entropy_init(&entropy, noise_fill_sim, &random);
        for (uint64_t v = 0; v <= r.values; v++) {
            size_t runs = MANY / (r.values + 1) + 1;

            memset(seen, 0, sizeof seen);
            for (size_t i = 0; i < runs; i++) {
                uint8_t report[4 * SOTTO_RANDOMIZER_DIGITS];

                CHECK_OK(t, sotto_randomizer_run(&r, report, value_at(&r, v), &entropy, &t->err));
                seen[index_of(&r, report)]++;
            }
            CHECK_NEAR(t, 0, chi_square(&r, seen, value_at(&r, v), (double)runs), 4.9);
        }
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_law_is_as_private_as_declared),
        CASE(every_report_comes_as_often_as_the_law_says),
        CASE(ten_million_reports_follow_the_law),
    };
    return RUN_TESTS(argc, argv, cases);
}
