#include "device/answer/participate.h"

#include "base/declassify.h"
#include "math/ct.h"
#include "noise/coin.h"

#include <math.h>

sotto_decision_scope sotto_participation_scope(const sotto_participation *participation)
{
    if (participation->type == SOTTO_POISSON || participation->type == SOTTO_IMPORTANCE)
        return SOTTO_DECISION_RECIPE;
    return SOTTO_DECISION_ANALYSIS;
}

/* Rates are rounded down to a multiple of 2^-64, so a device never answers more often than the
 * recipe says. */
static sotto_status flip(uint8_t *out, double rate, sotto_entropy *entropy, sotto_err *err)
{
    if (rate >= 1) {
        *out = 1;
        return SOTTO_OK;
    }
    const sotto_coin coin = sotto_coin_of(rate > 0 ? (uint64_t)ldexp(rate, 64) : 0);
    return sotto_coin_flip(&coin, out, entropy, err);
}

/* Chances as the coins of both rates have them; both are tossed, so that which one counts tells nothing. */
sotto_status sotto_participation_weigh(bool *silent, const sotto_participation *p, uint64_t bin,
                                       sotto_entropy *entropy, sotto_err *err)
{
    uint8_t common, rare;

    SOTTO_TRY(flip(&common, p->rate, entropy, err));
    SOTTO_TRY(flip(&rare, p->rate_other, entropy, err));
    const uint64_t sent =
        sotto_ct_select(sotto_ct_equal(bin, p->default_bin), (uint64_t)common, (uint64_t)rare);
    *silent = (sent & 1) == 0;
    SOTTO_DECLASSIFY(silent, sizeof *silent); /* it is paid for, and a report follows or none */
    return SOTTO_OK;
}

/* As many coins as slots, each with heads once in as many tosses; *slot is the first head, and `slots` where there is none.
 * All are tossed, so that how long it takes tells nothing. */
static sotto_status toss(uint64_t *slot, uint64_t slots, sotto_entropy *entropy, sotto_err *err)
{
    *slot = slots;
    for (uint64_t i = slots; i-- > 0;) {
        uint64_t side;

        SOTTO_TRY(sotto_uniform_below(&side, slots, entropy, err));
        *slot = sotto_ct_select(sotto_ct_is_zero(side), i, *slot);
    }
    return SOTTO_OK;
}

/* The window of all devices, or this device's own, from the slot of its arrival on. */
static int64_t window_start(const sotto_participation *p, int64_t now)
{
    if (p->type != SOTTO_CHECK_IN_SLIDING_WINDOW || now <= p->start || p->length == 0)
        return p->start;
    return now - (now - p->start) % (int64_t)p->length;
}

/* No branch depends on what falls. */
sotto_status sotto_participation_draw(void *lot, sotto_decision *out, sotto_err *err)
{
    const sotto_lot *from = lot;
    const sotto_participation *p = &from->recipe->participation;
    uint8_t coin, dummy;
    uint64_t head = 0;

    SOTTO_TRY(flip(&coin, p->rate, from->entropy, err));
    SOTTO_TRY(flip(&dummy, from->recipe->dummies, from->entropy, err));
    SOTTO_TRY(sotto_uniform_below(&out->slot, p->slots ? p->slots : 1, from->entropy, err));
    uint64_t takes_part = sotto_ct_mask(coin);
    if (p->type == SOTTO_DONATION) {
        SOTTO_TRY(toss(&head, p->slots, from->entropy, err));
        takes_part &= sotto_ct_less(head, p->slots);
        out->slot = sotto_ct_select(takes_part, head, out->slot);
    }
    out->choice = (sotto_choice)sotto_ct_select(
        takes_part, SOTTO_CHOICE_TAKE_PART,
        sotto_ct_select(sotto_ct_mask(dummy), SOTTO_CHOICE_DUMMY, SOTTO_CHOICE_SILENT));
    out->window =
        (sotto_window){.law = (uint64_t)p->type, .rate = p->rate, .dummies = from->recipe->dummies};
    if (p->slots > 0) {
        out->window.slots = p->slots;
        out->window.length = p->length;
        out->window.start = window_start(p, from->now);
    }
    return SOTTO_OK;
}

/* A window of one's own begins at some slot of the analysis. */
bool sotto_participation_drawn_for(const sotto_participation *p, const sotto_window *window)
{
    const bool own = p->type == SOTTO_CHECK_IN_SLIDING_WINDOW && p->length > 0 &&
                     window->start >= p->start &&
                     (window->start - p->start) % (int64_t)p->length == 0;

    return window->law == (uint64_t)p->type && window->rate == p->rate &&
           window->slots == p->slots &&
           (p->slots == 0 || (window->length == p->length && (own || window->start == p->start)));
}

sotto_turn sotto_participation_turn(const sotto_decision *decision, int64_t now)
{
    const sotto_window *w = &decision->window;

    if (w->slots == 0)
        return SOTTO_TURN_NOW;
    const int64_t start = w->start + (int64_t)(decision->slot * w->length);
    if (now < start)
        return SOTTO_TURN_TO_COME;
    return now - start < (int64_t)w->length ? SOTTO_TURN_NOW : SOTTO_TURN_MISSED;
}

uint64_t sotto_participation_round(const sotto_recipe *recipe, const sotto_decision *decision)
{
    return sotto_participation_scope(&recipe->participation) == SOTTO_DECISION_RECIPE
               ? 0
               : decision->slot + 1;
}
