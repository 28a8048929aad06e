/* Spot checks after Liu and Gupta 2023, Figure 4, lines 8-11; single leaves at rate s q for each group are ours. Which leaves a device asks
 * for, what it does with the answers, and what it says when there is none. */
#include "aggregate/aero/client.h"

#include "base/rule.h"

#include <string.h>

enum { FOR_CHECKS = 32 };

static sotto_status number_below(uint64_t *out, uint64_t below, sotto_entropy *entropy,
                                 sotto_err *err)
{
    uint8_t bytes[8];

    SOTTO_TRY(sotto_entropy_take(entropy, bytes, sizeof bytes, err));
    *out = sotto_u128_high(sotto_mul_wide(sotto_load64(bytes), below));
    return SOTTO_OK;
}

/* s q of them on average: the whole part always, the rest by a coin. */
static sotto_status how_many(uint64_t *count, const sotto_aero_terms *t, sotto_entropy *entropy,
                             sotto_err *err)
{
    sotto_u128 product = sotto_mul_wide(t->checks, t->rate);
    uint8_t coin[8];

    *count = sotto_u128_high(product);
    SOTTO_TRY(sotto_entropy_take(entropy, coin, sizeof coin, err));
    if (t->rate == UINT64_MAX)
        *count = t->checks;
    else if (sotto_load64(coin) < sotto_u128_low(product))
        ++*count;
    return SOTTO_OK;
}

static void ask(sotto_aero_device *d, uint32_t group, uint32_t position)
{
    if (d->ask_count < SOTTO_AERO_MOST_ASKS)
        d->asks[d->ask_count++] = (sotto_aero_ask){group, position};
}

static sotto_status choose_of_group(sotto_aero_device *d, uint32_t group, sotto_entropy *entropy,
                                    sotto_err *err)
{
    uint32_t leaves = d->base.view->posted.leaves;
    uint64_t count = 0, position = 0;

    SOTTO_TRY(how_many(&count, &d->base.plan->terms, entropy, err));
    for (uint32_t i = 0; count >= leaves && i < leaves; i++)
        ask(d, group, i);
    for (uint64_t i = 0; count < leaves && i < count; i++) {
        SOTTO_TRY(number_below(&position, leaves, entropy, err));
        ask(d, group, (uint32_t)position);
    }
    return SOTTO_OK;
}

sotto_status sotto_aero_choose(sotto_aero_device *d, sotto_err *err)
{
    const sotto_aero_plan *plan = d->base.plan;
    sotto_aero_stream stream;

    d->ask_count = 0;
    /* In every group: a leaf that is in the sum of one may be missing in another's. */
    for (uint32_t g = 0; g < plan->groups; g++)
        for (unsigned role = SOTTO_AERO_NOISE; role < SOTTO_AERO_ROLES; role++)
            if (d->done & SOTTO_AERO_HAS_PROMISED(role))
                ask(d, g, SOTTO_AERO_OWN_LEAF + role);
    sotto_status status = sotto_aero_stream_open(&stream, &d->base, FOR_CHECKS, 0, err);
    for (uint32_t g = 0; g < plan->groups && status == SOTTO_OK; g++)
        status = choose_of_group(d, g, &stream.entropy, err);
    sotto_aero_stream_close(&stream);
    return status;
}

static bool is_answered(const sotto_aero_device *d, uint32_t i)
{
    return d->answered[i / 8] >> (i % 8) & 1;
}

static void write_place(uint8_t out[5], const sotto_aero_ask *a)
{
    out[0] = (uint8_t)a->group;
    for (unsigned i = 0; i < 4; i++)
        out[1 + i] = (uint8_t)(a->position >> (24 - 8 * i));
}

sotto_status sotto_aero_ask_all(sotto_aero_device *d, sotto_effects *effects, sotto_err *err)
{
    uint8_t body[5];

    for (uint32_t i = 0; i < d->ask_count; i++) {
        write_place(body, &d->asks[i]);
        SOTTO_TRY(sotto_aero_send(effects, d->base.round, &d->base.self, SOTTO_TO_SERVER,
                                  SOTTO_AERO_ASK, sotto_bytes_of(body, sizeof body), err));
    }
    return SOTTO_OK;
}

/* ---- answers -------------------------------------------------------------------------------------------- */

/* Whether this is what was asked for; its own leaf answers for its own leaf wherever it is. */
static bool is_wanted(const sotto_aero_device *d, const sotto_aero_ask *a,
                      const sotto_aero_sample *s)
{
    if (a->position < SOTTO_AERO_OWN_LEAF)
        return a->group == s->group && a->position == s->position;
    return a->group == s->group && s->leaf.role == a->position - SOTTO_AERO_OWN_LEAF &&
           s->leaf.index == d->base.self.index;
}

/* The server's own signature is the evidence: whoever reads it repeats the check. */
static sotto_status accuse(sotto_aero_device *d, const sotto_message *message,
                           sotto_effects *effects, sotto_err *err)
{
    sotto_buf body = sotto_aero_buffer(effects->arena, 1 + sotto_message_size(message));

    if (!body.data)
        return sotto_aero_no_memory(err);
    d->done |= SOTTO_AERO_FOUND_WRONG;
    body.data[body.len++] = SOTTO_AERO_FALSE_LEAF;
    SOTTO_TRY(sotto_message_encode(&body, message, err));
    return sotto_aero_post(&d->base, effects, SOTTO_AERO_COMPLAINT, sotto_buf_bytes(&body), err);
}

static sotto_status say_left_out(sotto_aero_device *d, uint8_t role, sotto_effects *effects,
                                 sotto_err *err)
{
    const uint8_t body[2] = {SOTTO_AERO_LEFT_OUT, role};
    const uint8_t when = SOTTO_AERO_HAS_REVEALED | SOTTO_AERO_REVEALED_LATE;

    /* Honest devices that were late must not stop an honest server's round. */
    if (SOTTO_RULE(aero_late_is_not_left_out) && (d->done & when) != SOTTO_AERO_HAS_REVEALED)
        return SOTTO_OK;
    return sotto_aero_post(&d->base, effects, SOTTO_AERO_COMPLAINT,
                           sotto_bytes_of(body, sizeof body), err);
}

static sotto_status judge(sotto_aero_device *d, const sotto_message *message,
                          const sotto_aero_sample *s, sotto_arena *scratch, sotto_status *verdict,
                          sotto_effects *effects, sotto_err *err)
{
    sotto_aero_fault fault = SOTTO_AERO_SOUND;
    bool is_new = false;

    for (uint32_t i = 0; i < d->ask_count; i++) {
        if (is_answered(d, i) || !is_wanted(d, &d->asks[i], s))
            continue;
        is_new = true;
        d->answered[i / 8] = (uint8_t)(d->answered[i / 8] | 1u << (i % 8));
        if (d->asks[i].position >= SOTTO_AERO_OWN_LEAF && !s->leaf.is_there) {
            d->done |= SOTTO_AERO_FOUND_WRONG;
            SOTTO_TRY(say_left_out(d, s->leaf.role, effects, err));
        }
    }
    *verdict = is_new ? SOTTO_OK : SOTTO_STALE;
    if (!is_new)
        return SOTTO_OK;
    SOTTO_TRY(
        sotto_aero_sample_check(&fault, d->base.plan, &d->base.view->posted, s, scratch, err));
    if (fault == SOTTO_AERO_SOUND)
        return SOTTO_OK;
    *verdict = SOTTO_REJECTED;
    return accuse(d, message, effects, err);
}

sotto_status sotto_aero_take_sample(sotto_aero_device *d, const sotto_message *message,
                                    sotto_status *verdict, sotto_effects *effects, sotto_err *err)
{
    sotto_status status = SOTTO_OK;
    sotto_arena scratch;

    *verdict = SOTTO_AGAIN;
    if (!d->base.view->is_summed)
        return SOTTO_OK;
    *verdict = SOTTO_REJECTED;
    sotto_arena_init(&scratch, SOTTO_AERO_SCRATCH);
    sotto_aero_sample *s = sotto_arena_take(&scratch, sizeof *s);
    if (!s)
        status = sotto_aero_no_memory(err);
    else if (sotto_aero_sample_decode(s, d->base.plan->groups, message->body, NULL) == SOTTO_OK)
        status = judge(d, message, s, &scratch, verdict, effects, err);
    sotto_arena_clear(&scratch);
    return status;
}

sotto_status sotto_aero_complain(sotto_aero_device *d, sotto_effects *effects, sotto_err *err)
{
    uint8_t body[6] = {SOTTO_AERO_NO_ANSWER};

    for (uint32_t i = 0; i < d->ask_count; i++) {
        const sotto_aero_ask *a = &d->asks[i];

        if (is_answered(d, i))
            continue;
        if (a->position >= SOTTO_AERO_OWN_LEAF) {
            SOTTO_TRY(say_left_out(d, (uint8_t)(a->position - SOTTO_AERO_OWN_LEAF), effects, err));
            continue;
        }
        write_place(body + 1, a);
        SOTTO_TRY(sotto_aero_post(&d->base, effects, SOTTO_AERO_COMPLAINT,
                                  sotto_bytes_of(body, sizeof body), err));
    }
    return SOTTO_OK;
}

/* Whoever asked for no leaf says it as well: it was shown the sums, and might have asked for any. */
sotto_status sotto_aero_say_clear(sotto_aero_device *d, sotto_effects *effects, sotto_err *err)
{
    const sotto_aero_view *view = d->base.view;
    const sotto_bytes body = sotto_bytes_of(view->verdict, sizeof view->verdict);

    if (d->base.plan->terms.clears == 0 || !view->is_summed || view->is_refuted)
        return SOTTO_OK;
    if (SOTTO_RULE(aero_clears_honest) && (d->done & SOTTO_AERO_FOUND_WRONG))
        return SOTTO_OK;
    for (uint32_t i = 0; i < d->ask_count; i++)
        if (SOTTO_RULE(aero_clears_answered) && !is_answered(d, i))
            return SOTTO_OK;
    SOTTO_TRY(sotto_aero_vow(&d->base, effects, SOTTO_AERO_CLEAR, 0, body, err));
    return sotto_aero_post(&d->base, effects, SOTTO_AERO_CLEAR, body, err);
}
