#include "learn/schedule.h"

#include "learn/random.h"

#include <math.h>

#include "base/rule.h"

const char *sotto_schedule_name(sotto_schedule_law law)
{
    static const char *const names[] = {"none", "fix", "avg", "sldw", "donation"};

    return names[law <= SOTTO_SCHEDULE_DONATION ? law : 0];
}

static sotto_status check(const sotto_schedule_config *c, sotto_err *err)
{
    const bool one = c->policy == SOTTO_SLOT_ONE_OF, sliding = c->law == SOTTO_SCHEDULE_SLDW;

    if (c->law < SOTTO_SCHEDULE_FIX || c->law > SOTTO_SCHEDULE_DONATION)
        return sotto_fail(err, SOTTO_DENIED, "schedule: fix, avg, sldw or donation wanted");
    if (c->devices < 1 || c->devices > (uint64_t)1 << 32 || c->slots < 1 || c->slots > 1000000)
        return sotto_fail(err, SOTTO_DENIED,
                          "schedule: 1 to 2^32 devices and 1 to 10^6 slots wanted");
    if (!one && c->policy != (sliding ? SOTTO_SLOT_ALL_AFTER_WARM_UP : SOTTO_SLOT_ALL))
        return sotto_fail(err, SOTTO_DENIED, "schedule: no such policy for the slots of %s",
                          sotto_schedule_name(c->law));
    if ((one && c->law == SOTTO_SCHEDULE_AVG) || (!one && c->law == SOTTO_SCHEDULE_FIX))
        return sotto_fail(err, SOTTO_DENIED, "schedule: fix takes one of a slot, avg takes all");
    if (c->batch < 1 || c->slots % c->batch != 0 || (!one && c->batch != 1))
        return sotto_fail(
            err, SOTTO_DENIED,
            "schedule: slots must be whole steps, and a slot with all its devices is a "
            "step");
    if (!(c->chance > 0 && c->chance <= 1) || (c->law != SOTTO_SCHEDULE_FIX && c->chance < 1))
        return sotto_fail(
            err, SOTTO_DENIED,
            "schedule: the chance to check in is above 0, up to 1, and 1 but for fix");
    if (sliding && c->arrivals < 1)
        return sotto_fail(err, SOTTO_DENIED, "schedule: sldw needs devices that arrive in a slot");
    return SOTTO_OK;
}

sotto_status sotto_schedule_init(sotto_schedule *out, const sotto_schedule_config *config,
                                 sotto_err *err)
{
    SOTTO_TRY(check(config, err));
    *out = (sotto_schedule){.config = *config, .all = config->slots};
    if (config->law == SOTTO_SCHEDULE_SLDW) {
        /* A window begins with the next whole step, so that a device is equally likely in each step of it. The first step that is
         * released is the first that windows of every beginning reach. */
        out->first = config->slots - config->batch;
        out->all = config->devices / config->arrivals / config->batch * config->batch;
        if (out->all <= out->first)
            return sotto_fail(err, SOTTO_DENIED,
                              "schedule: devices arrive in %llu slots, which a window of %llu "
                              "leaves no step of",
                              (unsigned long long)out->all, (unsigned long long)config->slots);
    }
    out->steps = (out->all - out->first) / config->batch;
    out->reach = config->slots / config->batch;
    return SOTTO_OK;
}

/* 0 to bound - 1, each equally likely: numbers beyond the last whole multiple are drawn again. */
static uint64_t below(uint64_t *state, uint64_t bound)
{
    const uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    uint64_t number;

    do {
        number = sotto_learn_number(state);
    } while (number >= limit);
    return number % bound;
}

uint64_t sotto_schedule_draw(const sotto_schedule *s, uint64_t device, uint64_t seed)
{
    const sotto_schedule_config *c = &s->config;
    uint64_t state = sotto_learn_seed(seed ^ UINT64_C(0x636865636b), device);
    uint64_t arrived = 0;

    if ((double)(sotto_learn_number(&state) >> 11) * 0x1p-53 >= c->chance)
        return SOTTO_SCHEDULE_NONE;
    if (c->law == SOTTO_SCHEDULE_DONATION) {
        for (uint64_t slot = 0; slot < c->slots; slot++)
            if (below(&state, c->slots) == 0)
                return slot;
        return SOTTO_SCHEDULE_NONE;
    }
    if (c->law == SOTTO_SCHEDULE_SLDW)
        arrived = (device / c->arrivals + c->batch - 1) / c->batch * c->batch;
    return arrived + below(&state, c->slots);
}

uint64_t sotto_schedule_step(const sotto_schedule *s, uint64_t slot)
{
    if (slot == SOTTO_SCHEDULE_NONE || slot >= s->all)
        return SOTTO_SCHEDULE_NONE;
    if (SOTTO_RULE(warm_up_not_released) && slot < s->first)
        return SOTTO_SCHEDULE_NONE;
    return (slot - s->first) / s->config.batch;
}

bool sotto_schedule_keeps(const sotto_schedule *s, uint64_t place, uint64_t count, uint64_t seed)
{
    uint64_t state = seed;

    if (SOTTO_RULE(one_of_a_slot) && s->config.policy == SOTTO_SLOT_ONE_OF &&
        below(&state, count) != place)
        return false;
    return true;
}

double sotto_schedule_divisor(const sotto_schedule *s, uint64_t step)
{
    const sotto_schedule_config *c = &s->config;
    const double slots = (double)c->slots;

    if (c->policy == SOTTO_SLOT_ONE_OF)
        return (double)c->batch;
    if (c->law == SOTTO_SCHEDULE_SLDW)
        return (double)c->arrivals;
    double expected = (double)c->devices / slots;
    for (uint64_t i = 0; i < step && c->law == SOTTO_SCHEDULE_DONATION; i++)
        expected *= 1 - 1 / slots; /* by products: pow is not the same everywhere */
    return expected;
}
