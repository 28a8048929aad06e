#include "aggregate/shared/shamir.h"

#include "aggregate/shared/shamir_field64.h"
#include "base/declassify.h"
#include "base/rule.h"

#include <string.h>

enum { LIMB_BYTES = 7, TRIES = 512, MORE_TRIES = 64 };

static sotto_f64 point_of(uint32_t holder)
{
    return sotto_f64_from((uint64_t)holder + 1);
}

/* Limbs of seven bytes, the last of four, little endian. */
static void pack(sotto_f64 limbs[SOTTO_SHAMIR_LIMBS], const uint8_t secret[SOTTO_SHAMIR_SECRET])
{
    for (size_t l = 0; l < SOTTO_SHAMIR_LIMBS; l++) {
        uint8_t word[8] = {0};
        size_t from = l * LIMB_BYTES, left = SOTTO_SHAMIR_SECRET - from;

        memcpy(word, secret + from, left < LIMB_BYTES ? left : LIMB_BYTES);
        limbs[l] = sotto_f64_load(word);
        sotto_wipe(word, sizeof word);
    }
}

/* False: these limbs are of no 32 bytes. */
static bool unpack_vartime(uint8_t secret[SOTTO_SHAMIR_SECRET],
                           const sotto_f64 limbs[SOTTO_SHAMIR_LIMBS])
{
    for (size_t l = 0; l < SOTTO_SHAMIR_LIMBS; l++) {
        uint8_t word[8];
        size_t from = l * LIMB_BYTES, left = SOTTO_SHAMIR_SECRET - from;
        size_t take = left < LIMB_BYTES ? left : LIMB_BYTES;

        if (limbs[l].v >> (8 * take))
            return false;
        sotto_f64_store(word, limbs[l]);
        memcpy(secret + from, word, take);
    }
    return true;
}

static sotto_status draw(sotto_f64 *out, sotto_keystream *stream, sotto_err *err)
{
    uint8_t word[8];
    bool below;

    do {
        SOTTO_TRY(sotto_keystream_next(stream, word, sizeof word, err));
        below = sotto_f64_is_canonical(word);
        SOTTO_DECLASSIFY(&below,
                         sizeof below); /* what is thrown away says nothing of what is kept */
    } while (!below);
    *out = sotto_f64_load(word);
    sotto_wipe(word, sizeof word);
    return SOTTO_OK;
}

sotto_status sotto_shamir_deal(sotto_shamir_dealer *dealer, sotto_arena *arena, size_t threshold,
                               const uint8_t secret[SOTTO_SHAMIR_SECRET], sotto_keystream *stream,
                               sotto_err *err)
{
    if (threshold < 2 || threshold > SOTTO_SHAMIR_MOST_HOLDERS)
        return sotto_fail(err, SOTTO_BUG, "shamir: a threshold of %zu", threshold);
    dealer->degree = threshold - 1;
    dealer->coefficients = sotto_arena_take_array(arena, dealer->degree * SOTTO_SHAMIR_LIMBS,
                                                  sizeof *dealer->coefficients);
    if (!dealer->coefficients)
        return sotto_fail(err, SOTTO_NO_MEMORY, "shamir: no memory");
    for (size_t i = 0; i < dealer->degree * SOTTO_SHAMIR_LIMBS; i++)
        SOTTO_TRY(draw(&dealer->coefficients[i], stream, err));
    pack(dealer->secret, secret);
    return SOTTO_OK;
}

void sotto_shamir_share(const sotto_shamir_dealer *dealer, uint8_t out[SOTTO_SHAMIR_SHARE],
                        uint32_t holder)
{
    for (size_t l = 0; l < SOTTO_SHAMIR_LIMBS; l++)
        sotto_f64_store(out + 8 * l, sotto_shamir_evaluate(dealer->secret[l],
                                                           dealer->coefficients + l, dealer->degree,
                                                           SOTTO_SHAMIR_LIMBS, point_of(holder)));
}

void sotto_shamir_forget(sotto_shamir_dealer *dealer)
{
    sotto_wipe(dealer->coefficients,
               dealer->degree * SOTTO_SHAMIR_LIMBS * sizeof *dealer->coefficients);
    sotto_wipe(dealer, sizeof *dealer);
}

bool sotto_shamir_is_share(const uint8_t share[SOTTO_SHAMIR_SHARE])
{
    uint64_t canonical = 1;

    for (size_t l = 0; l < SOTTO_SHAMIR_LIMBS; l++)
        canonical &= sotto_f64_is_canonical(share + 8 * l);
    return canonical != 0;
}

/* ---- recovery -------------------------------------------------------------------------------------- */

/* What the chosen points' values are multiplied with. */
static void weigh_vartime(sotto_f64 *weights, const sotto_shamir_point *points,
                          const uint8_t *chosen, size_t threshold, sotto_f64 at)
{
    sotto_f64 xs[SOTTO_SHAMIR_MOST_HOLDERS];

    for (size_t i = 0; i < threshold; i++)
        xs[i] = point_of(points[chosen[i]].holder);
    sotto_shamir_weights_vartime(weights, xs, threshold, at);
    for (size_t i = 0; i < threshold; i++)
        weights[i] = sotto_f64_to_weight(weights[i]);
}

static void add_up(sotto_f64 limbs[SOTTO_SHAMIR_LIMBS], const sotto_shamir_point *points,
                   const uint8_t *chosen, size_t threshold, const sotto_f64 *weights)
{
    for (size_t l = 0; l < SOTTO_SHAMIR_LIMBS; l++) {
        sotto_f64_acc sum = {0};

        for (size_t i = 0; i < threshold; i++)
            sotto_f64_acc_mul(&sum, sotto_f64_load(points[chosen[i]].share + 8 * l), weights[i]);
        limbs[l] = sotto_f64_acc_reduce(&sum);
    }
}

/* The value at `at` of the polynomial through the chosen points. */
static void interpolate_vartime(sotto_f64 limbs[SOTTO_SHAMIR_LIMBS],
                                const sotto_shamir_point *points, const uint8_t *chosen,
                                size_t threshold, sotto_f64 at)
{
    sotto_f64 weights[SOTTO_SHAMIR_MOST_HOLDERS];

    weigh_vartime(weights, points, chosen, threshold, at);
    add_up(limbs, points, chosen, threshold, weights);
}

static bool is_of(const sotto_shamir_weights *known, const sotto_shamir_point *points,
                  const uint8_t *chosen, size_t threshold)
{
    if (known->count != threshold)
        return false;
    for (size_t i = 0; i < threshold; i++)
        if (known->holders[i] != points[chosen[i]].holder)
            return false;
    return true;
}

/* The secret is the value at zero. */
static void interpolate_secret_vartime(sotto_f64 limbs[SOTTO_SHAMIR_LIMBS],
                                       const sotto_shamir_point *points, const uint8_t *chosen,
                                       size_t threshold, sotto_shamir_weights *known)
{
    if (!is_of(known, points, chosen, threshold)) {
        weigh_vartime(known->weights, points, chosen, threshold, sotto_f64_zero());
        known->count = threshold;
        for (size_t i = 0; i < threshold; i++)
            known->holders[i] = points[chosen[i]].holder;
    }
    add_up(limbs, points, chosen, threshold, known->weights);
}

/* Another choice at every try, the same ones in every run; the first is the first points as they stand. */
static void choose(uint8_t *chosen, size_t count, unsigned attempt)
{
    uint64_t state = attempt;

    for (size_t i = 0; i < count; i++)
        chosen[i] = (uint8_t)i;
    for (size_t i = 0; attempt > 0 && i + 1 < count; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        size_t other = i + (size_t)((state >> 33) % (count - i));
        uint8_t swapped = chosen[i];

        chosen[i] = chosen[other];
        chosen[other] = swapped;
    }
}

/* How many there are. */
static size_t mark_wrong_vartime(sotto_shamir_point *points, const uint8_t *chosen, size_t count,
                                 size_t threshold)
{
    size_t wrong = 0;

    for (size_t i = 0; i < count; i++)
        points[i].wrong = false;
    for (size_t i = threshold; i < count; i++) {
        sotto_shamir_point *point = &points[chosen[i]];
        sotto_f64 wanted[SOTTO_SHAMIR_LIMBS];

        interpolate_vartime(wanted, points, chosen, threshold, point_of(point->holder));
        for (size_t l = 0; l < SOTTO_SHAMIR_LIMBS; l++)
            if (sotto_load64(point->share + 8 * l) != wanted[l].v)
                point->wrong = true;
        wrong += point->wrong;
    }
    return wrong;
}

/* The secret by one choice of points, with those marked that do not fit. */
static bool try_choice(uint8_t secret[SOTTO_SHAMIR_SECRET], sotto_shamir_point *points,
                       size_t count, size_t threshold, unsigned attempt, sotto_shamir_test *test,
                       void *context, sotto_shamir_weights *known, size_t *wrong)
{
    uint8_t chosen[SOTTO_SHAMIR_MOST_HOLDERS] = {0};
    sotto_f64 limbs[SOTTO_SHAMIR_LIMBS];

    choose(chosen, count, attempt);
    interpolate_secret_vartime(limbs, points, chosen, threshold, known);
    const bool found = unpack_vartime(secret, limbs) && test(context, secret);
    if (found)
        *wrong = mark_wrong_vartime(points, chosen, count, threshold);
    sotto_wipe(limbs, sizeof limbs);
    return found;
}

sotto_status sotto_shamir_find_vartime(uint8_t secret[SOTTO_SHAMIR_SECRET],
                                       sotto_shamir_point *points, size_t count, size_t threshold,
                                       sotto_shamir_test *test, void *context, sotto_err *err)
{
    sotto_shamir_weights known;

    known.count = 0;
    return sotto_shamir_find_next_vartime(secret, points, count, threshold, test, context, &known,
                                          err);
}

sotto_status sotto_shamir_find_next_vartime(uint8_t secret[SOTTO_SHAMIR_SECRET],
                                            sotto_shamir_point *points, size_t count,
                                            size_t threshold, sotto_shamir_test *test,
                                            void *context, sotto_shamir_weights *known,
                                            sotto_err *err)
{
    unsigned best = TRIES, last = TRIES;
    size_t least = SIZE_MAX, wrong = 0;

    if (count > SOTTO_SHAMIR_MOST_HOLDERS || threshold < 2)
        return sotto_fail(err, SOTTO_BUG, "shamir: %zu points", count);
    if (count < threshold)
        return sotto_fail(err, SOTTO_AGAIN, "shamir: %zu shares of %zu", count, threshold);
    for (unsigned attempt = 0; attempt < last; attempt++) {
        if (!try_choice(secret, points, count, threshold, attempt, test, context, known, &wrong))
            continue;
        /* Two wrong shares in a choice may cancel each other out: the secret is right, and the right shares look wrong. */
        if (SOTTO_RULE(shamir_most_fit) && 2 * wrong > count - threshold) {
            last = best == TRIES && attempt + MORE_TRIES < TRIES ? attempt + MORE_TRIES : last;
            best = wrong < least ? attempt : best;
            least = wrong < least ? wrong : least;
            continue;
        }
        return SOTTO_OK;
    }
    if (best < TRIES &&
        try_choice(secret, points, count, threshold, best, test, context, known, &wrong))
        return SOTTO_OK;
    sotto_wipe(secret, SOTTO_SHAMIR_SECRET);
    return sotto_fail(err, SOTTO_REJECTED, "shamir: the shares fit no secret");
}
