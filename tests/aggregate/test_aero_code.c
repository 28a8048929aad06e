/* Points of polynomials, with as many wrong ones as can be found, and with more. */
#include "aggregate/aero/code.h"
#include "aggregate/aero/parameters.h"
#include "math/field64.h"
#include "sim/random.h"
#include "support/test.h"

#include <string.h>

enum { MOST = 45 };

typedef struct word {
    sotto_code code;
    uint64_t x[MOST], y[MOST], coefficients[MOST];
} word;

static uint64_t evaluate(const word *w, uint64_t x)
{
    sotto_u128 sum = 0;

    for (size_t k = w->code.threshold; k-- > 0;)
        sum = ((sotto_u128)sotto_code_mul(&w->code, (uint64_t)sum, x) + w->coefficients[k]) %
              w->code.p;
    return (uint64_t)sum;
}

static void make(word *w, uint64_t p, size_t count, size_t threshold, sotto_sim_random *random)
{
    w->code = (sotto_code){.p = p, .x = w->x, .count = count, .threshold = threshold};
    for (size_t k = 0; k < threshold; k++)
        w->coefficients[k] = sotto_sim_random_below(random, p);
    for (size_t i = 0; i < count; i++) {
        w->x[i] = i + 1;
        w->y[i] = evaluate(w, i + 1);
    }
}

/* Makes so many points wrong, and says which. */
static void spoil(word *w, bool *wrong, size_t count, sotto_sim_random *random)
{
    memset(wrong, 0, MOST * sizeof *wrong);
    while (count > 0) {
        size_t i = (size_t)sotto_sim_random_below(random, w->code.count);

        if (wrong[i])
            continue;
        wrong[i] = true;
        w->y[i] = (w->y[i] + 1 + sotto_sim_random_below(random, w->code.p - 1)) % w->code.p;
        count--;
    }
}

static void wrong_points_are_found_up_to_half_the_distance(sotto_test *t)
{
    static const struct {
        size_t count, threshold;
    } sizes[] = {{7, 3}, {5, 3}, {3, 3}, {45, 19}, {44, 19}, {37, 19}};
    static const uint64_t primes[] = {SOTTO_F64_P, 8380417};
    sotto_sim_random random;
    word w;

    sotto_sim_random_init(&random, 5);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t errors = 0; errors <= (sizes[i].count - sizes[i].threshold) / 2; errors++) {
            bool wrong[MOST], bad[MOST] = {false};

            make(&w, primes[errors % 2], sizes[i].count, sizes[i].threshold, &random);
            spoil(&w, wrong, errors, &random);
            CHECK_OK(t, sotto_code_locate_vartime(&w.code, bad, w.y, &t->arena, &t->err));
            CHECK(t, memcmp(wrong, bad, sizes[i].count) == 0);
            sotto_arena_reset(&t->arena);
        }
}

/* 45 points, of which 19 determine the rest: 13 wrong ones are found; up to 26 are noticed. */
static void more_wrong_points_are_noticed(sotto_test *t)
{
    sotto_sim_random random;
    word w;

    sotto_sim_random_init(&random, 6);
    for (size_t errors = 14; errors <= 26; errors++) {
        bool wrong[MOST], bad[MOST] = {false};

        make(&w, SOTTO_F64_P, 45, 19, &random);
        spoil(&w, wrong, errors, &random);
        t->err = (sotto_err){0};
        CHECK_STATUS(t, SOTTO_REJECTED,
                     sotto_code_locate_vartime(&w.code, bad, w.y, &t->arena, &t->err));
        sotto_arena_reset(&t->arena);
    }
}

static void weights_give_the_value_anywhere(sotto_test *t)
{
    const uint32_t from[3] = {4, 0, 2};
    sotto_sim_random random;
    uint64_t weights[3], sum;
    word w;

    sotto_sim_random_init(&random, 7);
    make(&w, 8380417, 7, 3, &random);
    for (uint64_t at = 0; at < 10; at++) {
        sotto_code_weights_vartime(&w.code, weights, from, at);
        sum = 0;
        for (size_t j = 0; j < 3; j++)
            sum = (sum + sotto_code_mul(&w.code, weights[j], w.y[from[j]])) % w.code.p;
        CHECK_EQUAL(t, evaluate(&w, at), sum);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(wrong_points_are_found_up_to_half_the_distance),
        CASE(more_wrong_points_are_noticed),
        CASE(weights_give_the_value_anywhere),
    };
    return RUN_TESTS(argc, argv, cases);
}
