#include "aggregate/effects.h"

#include <stdio.h>
#include <string.h>

void sotto_effects_init(sotto_effects *effects, sotto_arena *arena)
{
    memset(effects, 0, sizeof *effects);
    effects->arena = arena;
    effects->sent_end = &effects->sent;
    effects->kept_end = &effects->kept;
    effects->vows_end = &effects->vows;
    effects->wake = UINT64_MAX;
}

static sotto_status no_room(sotto_err *err)
{
    return sotto_fail(err, SOTTO_NO_MEMORY, "effects: one step wants more than its arena holds");
}

static bool copy(sotto_bytes *out, sotto_bytes from, sotto_arena *arena)
{
    uint8_t *at = NULL;

    *out = (sotto_bytes){NULL, 0};
    if (from.len == 0)
        return true;
    at = sotto_arena_take(arena, from.len);
    if (!at)
        return false;
    memcpy(at, from.data, from.len);
    *out = sotto_bytes_of(at, from.len);
    return true;
}

static sotto_status append(sotto_effect_message ***end, sotto_arena *arena,
                           const sotto_message *message, const sotto_vector *bulk, sotto_err *err)
{
    sotto_effect_message *node = sotto_arena_take(arena, sizeof *node);

    if (!node)
        return no_room(err);
    node->message = *message;
    node->bulk = bulk;
    **end = node;
    *end = &node->next;
    return SOTTO_OK;
}

static sotto_status append_copy(sotto_effect_message ***end, sotto_arena *arena,
                                const sotto_message *message, const sotto_vector *bulk,
                                sotto_err *err)
{
    sotto_message own = *message;

    if (!copy(&own.body, message->body, arena) || !copy(&own.signature, message->signature, arena))
        return no_room(err);
    return append(end, arena, &own, bulk, err);
}

sotto_status sotto_effects_send(sotto_effects *effects, const sotto_message *message,
                                const sotto_vector *bulk, sotto_err *err)
{
    return append_copy(&effects->sent_end, effects->arena, message, bulk, err);
}

sotto_status sotto_effects_pass(sotto_effects *effects, const sotto_message *message,
                                const sotto_vector *bulk, sotto_err *err)
{
    return append(&effects->sent_end, effects->arena, message, bulk, err);
}

sotto_status sotto_effects_keep(sotto_effects *effects, const sotto_message *message,
                                sotto_err *err)
{
    return append_copy(&effects->kept_end, effects->arena, message, NULL, err);
}

sotto_status sotto_effects_keep_held(sotto_effects *effects, const sotto_message *message,
                                     sotto_err *err)
{
    return append(&effects->kept_end, effects->arena, message, NULL, err);
}

sotto_status sotto_effects_vow(sotto_effects *effects, const sotto_vow *vow, sotto_err *err)
{
    sotto_effect_vow *node = sotto_arena_take(effects->arena, sizeof *node);

    if (!node)
        return no_room(err);
    node->vow = *vow;
    *effects->vows_end = node;
    effects->vows_end = &node->next;
    return SOTTO_OK;
}

sotto_status sotto_effects_carry(sotto_effects *effects, sotto_bytes what, sotto_err *err)
{
    if (!copy(&effects->carried, what, effects->arena))
        return no_room(err);
    effects->carries = true;
    return SOTTO_OK;
}

void sotto_effects_wake(sotto_effects *effects, uint64_t at_ms)
{
    if (at_ms < effects->wake)
        effects->wake = at_ms;
}

void sotto_effects_want_vector(sotto_effects *effects)
{
    effects->wants_vector = true;
}

void sotto_effects_done(sotto_effects *effects, sotto_status outcome, const char *reason)
{
    if (effects->done)
        return;
    effects->done = true;
    effects->outcome = outcome;
    (void)snprintf(effects->reason, sizeof effects->reason, "%s", reason);
}
