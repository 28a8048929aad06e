/* Rounds that a device draws one of: the recipe's numbers. */
#include "recipe/learning_slots.h"
#include "recipe/one_server.h"

#include "base/rule.h"
#include "recipe/participation.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

sotto_round_policy sotto_learning_policy(const sotto_learning *l)
{
    switch (l ? l->head.participation.type : SOTTO_POISSON) {
    case SOTTO_CHECK_IN_AVERAGED_WINDOW:
    case SOTTO_DONATION:
        return SOTTO_ROUND_ALL;
    case SOTTO_CHECK_IN_FIXED_WINDOW:
        return SOTTO_ROUND_ONE_OF;
    case SOTTO_CHECK_IN_SLIDING_WINDOW:
        return SOTTO_ROUND_ALL_AFTER_WARM_UP;
    case SOTTO_POISSON:
    case SOTTO_IMPORTANCE:
    default:
        return SOTTO_ROUND_DRAWN_ANEW;
    }
}

const char *sotto_round_policy_name(sotto_round_policy policy)
{
    static const char *const names[] = {"drawn-anew", "all", "one-of", "all-after-warm-up"};

    return names[policy];
}

bool sotto_learning_once(const sotto_learning *l)
{
    return sotto_learning_policy(l) != SOTTO_ROUND_DRAWN_ANEW;
}

uint64_t sotto_learning_slots(const sotto_learning *l)
{
    return sotto_learning_policy(l) == SOTTO_ROUND_ONE_OF ? l->head.participation.slots / l->rounds
                                                          : 1;
}

/* Windows of every beginning reach the last round of the first window. */
uint64_t sotto_learning_warm_up(const sotto_learning *l)
{
    return sotto_learning_policy(l) == SOTTO_ROUND_ALL_AFTER_WARM_UP
               ? l->head.participation.slots - 1
               : 0;
}

uint64_t sotto_learning_reach(const sotto_learning *l)
{
    return sotto_learning_policy(l) == SOTTO_ROUND_ALL_AFTER_WARM_UP ? l->head.participation.slots
                                                                     : l->rounds;
}

/* ---- how many come --------------------------------------------------------------------------------------- */

double sotto_learning_expected(const sotto_learning *l, uint64_t round)
{
    const sotto_participation *p = &l->head.participation;
    double all = (double)l->head.population;
    sotto_one_server server;

    /* The beacon draws a cohort, and a stated part of it may be lost. */
    if (sotto_recipe_one_server(&server, &l->head))
        all = fmin(all, (double)server.cohort) * (1 - server.dropout);
    switch (sotto_learning_policy(l)) {
    case SOTTO_ROUND_ALL:
        return all * sotto_participation_chance(p, (sotto_slot_range){round, round + 1});
    case SOTTO_ROUND_ONE_OF: /* slots that are not empty */
        return (double)sotto_learning_slots(l) *
               -expm1(all * log1p(-fmin(p->rate / (double)p->slots, 1 - 0x1p-53)));
    case SOTTO_ROUND_ALL_AFTER_WARM_UP: /* devices arrive evenly over the rounds */
        return all / (double)l->rounds;
    case SOTTO_ROUND_DRAWN_ANEW:
    default:
        return all * p->rate;
    }
}

double sotto_learning_least_expected(const sotto_learning *l)
{
    return sotto_learning_expected(l, l->rounds - 1);
}

/* With one of a slot, an empty slot is a dummy: it adds nothing, and counts. */
double sotto_learning_divisor(const sotto_learning *l, uint64_t round)
{
    return sotto_learning_policy(l) == SOTTO_ROUND_ONE_OF ? (double)sotto_learning_slots(l)
                                                          : sotto_learning_expected(l, round);
}

/* ---- whether slots are rounds ------------------------------------------------------------------------------ */

static const sotto_place rounds = {NULL, "rounds", 0}, taking = {NULL, "participation", 0};

static void check_length(sotto_reading *r, const sotto_learning *l)
{
    static const sotto_place slot = {&taking, "slot", 0}, start = {&taking, "start", 0};
    const sotto_participation *p = &l->head.participation;
    const bool one_of = sotto_learning_policy(l) == SOTTO_ROUND_ONE_OF;

    if (SOTTO_RULE(slots_begin_with_rounds) && p->start != l->head.opens)
        sotto_reading_mistake(r, &start, "schedule.opens",
                              "the first slot has to begin with the first round");
    if (SOTTO_RULE(slots_are_rounds) && !one_of && p->length != l->every)
        sotto_reading_mistake(r, &slot, "rounds.every", "a slot has to be a round");
    if (SOTTO_RULE(slots_are_buckets) && one_of && p->length != l->head.precision)
        sotto_reading_mistake(r, &slot, "schedule.precision",
                              "where one report of a slot is used, a slot has to be a bucket of "
                              "time: servers see no shorter one");
}

static void check_count(sotto_reading *r, const sotto_learning *l)
{
    static const sotto_place window = {&taking, "window", 0}, slots = {&taking, "slots", 0},
                             largest = {&rounds, "largest", 0};
    const sotto_participation *p = &l->head.participation;
    const uint64_t in_round = l->head.precision ? l->every / l->head.precision : 0;
    char accepted[64];

    switch (sotto_learning_policy(l)) {
    case SOTTO_ROUND_ALL:
        (void)snprintf(accepted, sizeof accepted, "%" PRIu64, l->rounds);
        if (SOTTO_RULE(slots_as_many_as_rounds) && p->slots != l->rounds)
            sotto_reading_mistake(r, p->type == SOTTO_DONATION ? &slots : &window, accepted,
                                  "a device has to draw one of all rounds");
        break;
    case SOTTO_ROUND_ONE_OF:
        (void)snprintf(accepted, sizeof accepted, "%" PRIu64, l->rounds * in_round);
        if (SOTTO_RULE(slots_fill_rounds) && p->slots != l->rounds * in_round)
            sotto_reading_mistake(r, &window, accepted, "a device has to draw a slot of a round");
        if (SOTTO_RULE(slots_have_room) && l->largest < in_round)
            sotto_reading_mistake(r, &largest, "the slots of a round or more",
                                  "below the %" PRIu64 " slots of a round", in_round);
        break;
    case SOTTO_ROUND_ALL_AFTER_WARM_UP:
        (void)snprintf(accepted, sizeof accepted, "%" PRIu64 " or less", l->rounds);
        if (SOTTO_RULE(slots_within_rounds) && p->slots > l->rounds)
            sotto_reading_mistake(r, &window, accepted, "no round would be released");
        break;
    case SOTTO_ROUND_DRAWN_ANEW:
    default:
        break;
    }
}

void sotto_learning_check_slots(sotto_reading *r, const sotto_learning *l)
{
    static const sotto_place type = {&taking, "type", 0}, privacy = {NULL, "privacy", 0},
                             participations = {&rounds, "participations", 0},
                             on_no_turn = {&rounds, "on_no_turn", 0}, by = {&privacy, "by", 0};

    if (SOTTO_RULE(learning_without_importance) && l->head.participation.type == SOTTO_IMPORTANCE)
        sotto_reading_mistake(r, &type, "poisson, check-in or donation",
                              "updates are no values that could be rare");
    if (!sotto_learning_once(l))
        return;
    if (SOTTO_RULE(slots_drawn_once) && l->participations != 1)
        sotto_reading_mistake(r, &participations, "1",
                              "a device draws one round of the session, and no second one");
    if (SOTTO_RULE(slots_without_zeros) && l->zeros)
        sotto_reading_mistake(r, &on_no_turn, "silence",
                              "a device has one round, and no other in which it could send zeros");
    if (SOTTO_RULE(slots_by_servers) && l->head.by != SOTTO_BY_SERVERS)
        sotto_reading_mistake(r, &by, "servers",
                              "how many devices add their part of the noise to a round is not "
                              "known in advance, and empty slots add none");
    check_length(r, l);
    check_count(r, l);
}
