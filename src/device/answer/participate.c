#include "device/answer/participate.h"

#include "base/rule.h"
#include "noise/coin.h"

#include <math.h>

sotto_decision_scope sotto_participation_scope(const sotto_participation *participation)
{
    if (participation->type == SOTTO_POISSON || !SOTTO_RULE(one_draw_an_analysis))
        return SOTTO_DECISION_RECIPE;
    return SOTTO_DECISION_ANALYSIS;
}

/* Rates are rounded down to 2^-64: a device never answers more often than was said. */
static sotto_status flip(uint8_t *out, double rate, sotto_entropy *entropy, sotto_err *err)
{
    if (rate >= 1) {
        *out = 1;
        return SOTTO_OK;
    }
    const sotto_coin coin = sotto_coin_of(rate > 0 ? (uint64_t)ldexp(rate, 64) : 0);
    return sotto_coin_flip(&coin, out, entropy, err);
}

sotto_status sotto_participation_draw(void *lot, sotto_decision *out, sotto_err *err)
{
    const sotto_lot *from = lot;
    const sotto_participation *p = &from->recipe->participation;
    uint8_t takes_part, dummy;

    SOTTO_TRY(flip(&takes_part, p->rate, from->entropy, err));
    SOTTO_TRY(flip(&dummy, from->recipe->dummies, from->entropy, err));
    SOTTO_TRY(sotto_uniform_below(&out->slot, p->slots ? p->slots : 1, from->entropy, err));
    out->choice = takes_part ? SOTTO_CHOICE_TAKE_PART
                  : dummy    ? SOTTO_CHOICE_DUMMY
                             : SOTTO_CHOICE_SILENT;
    return SOTTO_OK;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

sotto_turn sotto_participation_turn(const sotto_recipe *recipe, const sotto_decision *decision,
                                    int64_t now)
{
    const sotto_participation *p = &recipe->participation;
    int64_t start = recipe->opens, length;

    if (p->slots == 0 || !SOTTO_RULE(in_its_slot))
        return SOTTO_TURN_NOW;
    if (p->type == SOTTO_DONATION) {
        start = decision->at;
        length = (int64_t)p->slot_minutes * 60;
    } else {
        length = later((recipe->closes - recipe->opens) / (int64_t)p->slots, 1);
        if (p->type == SOTTO_CHECK_IN_SLIDING_WINDOW)
            start = later(decision->at, recipe->opens);
    }
    start += (int64_t)decision->slot * length;
    if (now < start)
        return SOTTO_TURN_TO_COME;
    return now - start < length ? SOTTO_TURN_NOW : SOTTO_TURN_MISSED;
}

uint64_t sotto_participation_round(const sotto_recipe *recipe, const sotto_decision *decision)
{
    return recipe->participation.type == SOTTO_POISSON ? 0 : decision->slot + 1;
}
