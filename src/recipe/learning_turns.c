/* Turns of a session's devices, in expectation: exact, as each device draws for itself. */
#include "recipe/learning_turns.h"

#include "base/arena.h"

#include <math.h>

static uint64_t looked_at(const sotto_learning *l)
{
    uint64_t rounds = l->rounds < SOTTO_TURNS_ROUNDS ? l->rounds : SOTTO_TURNS_ROUNDS;

    if (l->participations > SOTTO_TURNS_STEPS / rounds)
        rounds = SOTTO_TURNS_STEPS / l->participations;
    return rounds > 0 ? rounds : 1;
}

size_t sotto_learning_turns_room(const sotto_learning *l)
{
    return 3 * (size_t)looked_at(l) * sizeof(double) + 256;
}

/* The part of devices that take part in round t for the (k+1)-th time. `before` has those of the k-th time; NULL: all have their turn from
 * the beginning. */
static void pass(double *now, const double *before, uint64_t rounds, uint64_t separation,
                 double chance)
{
    double have_turn = before ? 0 : 1;

    for (uint64_t t = 0; t < rounds; t++) {
        if (before && t >= separation)
            have_turn += before[t - separation];
        now[t] = chance * have_turn;
        have_turn -= now[t];
    }
}

/* The same where participations never end: whoever took part has its turn again. */
static void pass_without_end(double *now, uint64_t rounds, uint64_t separation, double chance)
{
    double have_turn = 1;

    for (uint64_t t = 0; t < rounds; t++) {
        if (t >= separation)
            have_turn += now[t - separation];
        now[t] = chance * have_turn;
        have_turn -= now[t];
    }
}

static void take_turns(double *reports, double *a, double *b, const sotto_learning *l,
                       uint64_t rounds)
{
    const double all = (double)l->head.population,
                 chance = fmin(sotto_learning_expected(l, 0) / all, 1);
    const uint64_t most = (rounds - 1) / l->separation + 1; /* that any device could have */
    const double *before = NULL;

    if (l->participations >= most)
        pass_without_end(reports, rounds, l->separation, chance);
    for (uint64_t k = 0; l->participations < most && k < l->participations; k++) {
        double *now = k % 2 == 0 ? a : b;

        pass(now, before, rounds, l->separation, chance);
        for (uint64_t t = 0; t < rounds; t++)
            reports[t] += now[t];
        before = now;
    }
    for (uint64_t t = 0; t < rounds; t++)
        reports[t] *= all;
}

sotto_status sotto_learning_turns(sotto_turns *out, const sotto_learning *l, sotto_arena *arena,
                                  sotto_err *err)
{
    const uint64_t rounds = looked_at(l);
    double *reports = sotto_arena_take_array(arena, 3 * (size_t)rounds, sizeof *reports);

    if (!reports)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the reports of %llu rounds",
                          (unsigned long long)rounds);
    /* Zeros are reports too, and whoever draws one round for all has no second one. */
    const bool as_stated = l->zeros || sotto_learning_once(l);
    for (uint64_t t = 0; t < rounds; t++)
        reports[t] = as_stated ? sotto_learning_expected(l, t) : 0;
    if (!as_stated)
        take_turns(reports, reports + rounds, reports + 2 * rounds, l, rounds);
    *out = (sotto_turns){reports, rounds};
    return SOTTO_OK;
}
