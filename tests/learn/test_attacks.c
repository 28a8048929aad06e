/* Attacks on a round's sum, each of which succeeds where the check against it is off. */
#include "learn/claim.h"
#include "learn/random.h"
#include "learn/update.h"
#include "sim/random.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

enum { SIZE = 64, GAMES = SOTTO_TEST_DRAWS(4000) };

static const double MULTIPLIER = 4;

typedef struct scene {
    sotto_update update;
    sotto_sim_random random;
    sotto_entropy entropy;
    double row[SIZE];   /* the victim's */
    int64_t sent[SIZE]; /* by its trainer */
    double length;
} scene;

static sotto_status fill(void *context, void *out, size_t len, sotto_err *err)
{
    (void)err;
    sotto_sim_random_bytes(context, out, len);
    return SOTTO_OK;
}

static void send(sotto_test *t, scene *s, const double *delta, int64_t *out)
{
    uint64_t weight;

    CHECK_OK(t, sotto_update_encode(&s->update, out, &weight, delta, 1, &s->entropy, &t->err));
}

/* A trainer that returns a row of its data, as loud as it can, in place of what it learned. */
static void open_scene(sotto_test *t, scene *s)
{
    const sotto_update_config config = {.dimension = SIZE,
                                        .weights = SOTTO_WEIGHTS_EQUAL,
                                        .clip = 1,
                                        .scale = 1000,
                                        .multiplier = MULTIPLIER,
                                        .draws = 1,
                                        .most = 100,
                                        .bits = 62};
    uint64_t state = 3;

    CHECK_OK(t, sotto_update_init(&s->update, &config, &t->arena, &t->err));
    sotto_sim_random_init(&s->random, 17);
    sotto_entropy_init(&s->entropy, fill, &s->random);
    for (size_t i = 0; i < SIZE; i++)
        s->row[i] = 1000 * ((double)(sotto_learn_number(&state) >> 40) * 0x1p-23 - 1);
    send(t, s, s->row, s->sent);
    s->length = 0;
    for (size_t i = 0; i < SIZE; i++)
        s->length += (double)(s->sent[i] * s->sent[i]);
    s->length = sqrt(s->length);
}

typedef struct score {
    double found, mistaken; /* chance to say "in" where it was, and where it was not */
} score;

/* Who knows all other updates, and the row, asks whether it is in the sum. So many servers add their noise; `louder`: what nobody
 * clipped is that many times as long. */
static score play(sotto_test *t, scene *s, unsigned servers, int64_t louder)
{
    score result = {0};

    for (unsigned game = 0; game < GAMES; game++) {
        const int64_t in = game & 1;
        int64_t sum[SIZE];
        double seen = 0;

        for (size_t i = 0; i < SIZE; i++)
            sum[i] = in * louder * s->sent[i];
        for (unsigned k = 0; k < servers; k++)
            CHECK_OK(t, sotto_update_add_noise(&s->update, sum, &s->entropy, &t->err));
        for (size_t i = 0; i < SIZE; i++)
            seen += (double)sum[i] * (double)s->sent[i] / s->length;
        *(in ? &result.found : &result.mistaken) +=
            (seen > s->length * (double)louder / 2) / (GAMES / 2.0);
    }
    return result;
}

/* The best test between two normal laws that are 1 / multiplier apart is right so often. */
static double best_guess(double multiplier)
{
    return erfc(-1 / (2 * multiplier) / sqrt(2)) / 2;
}

static double right(score s)
{
    return (s.found + 1 - s.mistaken) / 2;
}

static void rows_in_an_update_are_found_no_better_than_claimed(sotto_test *t)
{
    const double slack = 4.9 * 0.5 / sqrt(GAMES);
    sotto_learn_claim claim;
    static scene s;

    open_scene(t, &s);
    const sotto_learn_question q = {.law = SOTTO_LEARN_COUNTED,
                                    .multiplier = s.update.sigma / s.update.length,
                                    .delta = 1e-5,
                                    .participations = 1};
    CHECK_OK(t, sotto_learn_claim_of(&claim, &q, &t->err));
    const score one = play(t, &s, 1, 1);
    CHECK(t, right(one) < best_guess(MULTIPLIER) + slack); /* 0.55: hardly better than a coin */
    CHECK(t, one.found <= exp(claim.epsilon) * one.mistaken + 1e-5 + 2 * slack);
    /* Without noise, and without a clip, the row is found each time. */
    CHECK_NEAR(t, 1, right(play(t, &s, 0, 1)), 1e-9);
    CHECK(t, right(play(t, &s, 1, 100)) > 0.999);
}

static void a_server_that_skips_its_noise_gains_nothing_beyond_the_claim(sotto_test *t)
{
    const double slack = 4.9 * 0.5 / sqrt(GAMES);
    static scene s;

    open_scene(t, &s);
    const double both = right(play(t, &s, 2, 1)), other = right(play(t, &s, 1, 1));
    CHECK(t, both < best_guess(MULTIPLIER * sqrt(2)) + slack);
    CHECK(t,
          other < best_guess(MULTIPLIER) + slack); /* what is claimed counts on one server alone */
    CHECK_NEAR(t, 1, right(play(t, &s, 0, 1)),
               1e-9); /* both skip it: nothing is left of the claim */
}

static void a_flipped_update_moves_a_sum_by_two_clips(sotto_test *t)
{
    static scene s;
    int64_t flipped[SIZE];
    double delta[SIZE];
    double moved = 0, unchecked = 0;

    open_scene(t, &s);
    for (size_t i = 0; i < SIZE; i++)
        delta[i] = -50 * s.row[i];
    send(t, &s, delta, flipped);
    for (size_t i = 0; i < SIZE; i++) {
        moved += pow((double)(flipped[i] - s.sent[i]), 2);
        unchecked += pow(1000 * delta[i], 2);
    }
    CHECK(t, sqrt(moved) > 1.9 * s.update.length && sqrt(moved) <= 2 * s.update.length);
    CHECK(t, sqrt(unchecked) > 1e5 * s.update.length); /* as it would be without a clip */
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(rows_in_an_update_are_found_no_better_than_claimed),
        CASE(a_server_that_skips_its_noise_gains_nothing_beyond_the_claim),
        CASE(a_flipped_update_moves_a_sum_by_two_clips),
    };

    return RUN_TESTS(argc, argv, cases);
}
