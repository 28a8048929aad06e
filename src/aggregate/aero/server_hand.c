/* The server's part of a hand-over: it ends phases, and shows which key was handed over. It took the public key along from the round before;
 * without it, or with another one, the round goes on with a new key. */
#include "aggregate/aero/server.h"

sotto_status sotto_aero_server_handed(sotto_aero_aggregator *s, sotto_effects *effects,
                                      sotto_err *err)
{
    if (s->hand & SOTTO_AERO_POSTED_HANDED)
        return SOTTO_OK;
    s->hand |= SOTTO_AERO_POSTED_HANDED;
    return sotto_aero_post(&s->base, effects, SOTTO_AERO_HANDED, (sotto_bytes){NULL, 0}, err);
}

sotto_status sotto_aero_server_taken(sotto_aero_aggregator *s, sotto_effects *effects,
                                     sotto_err *err)
{
    const sotto_bytes carried = s->base.self.carried;
    sotto_bytes key = {NULL, 0};

    if (s->hand & SOTTO_AERO_POSTED_TAKEN)
        return SOTTO_OK;
    s->hand |= SOTTO_AERO_POSTED_TAKEN;
    if (carried.len == sotto_aero_taken_size(s->base.plan))
        key = carried;
    return sotto_aero_post(&s->base, effects, SOTTO_AERO_TAKEN, key, err);
}

sotto_status sotto_aero_server_hand_on(sotto_aero_aggregator *s, sotto_effects *effects,
                                       sotto_err *err)
{
    const sotto_aero_view *view = s->base.view;
    const sotto_aero_handing *h = &view->handing;

    if (!h->is_handed)
        return h->hands == s->base.plan->old_members ? sotto_aero_server_handed(s, effects, err)
                                                     : SOTTO_OK;
    return h->probed == sotto_aero_count_sealed(view) ? sotto_aero_server_taken(s, effects, err)
                                                      : SOTTO_OK;
}

void sotto_aero_server_blame_dealers(sotto_aero_aggregator *s)
{
    const sotto_aero_plan *plan = s->base.plan;

    for (uint32_t d = 0; d < plan->old_members; d++)
        if (s->base.view->handing.from[d].is_bad)
            sotto_aero_server_blame(s, plan->old[d]);
}

sotto_status sotto_aero_server_bequeath(sotto_aero_aggregator *s, sotto_effects *effects,
                                        sotto_err *err)
{
    sotto_buf key;

    if (!s->base.plan->terms.rekey)
        return SOTTO_OK;
    SOTTO_TRY(sotto_aero_taken_encode(s->base.view, &key, effects->arena, err));
    return sotto_effects_carry(effects, sotto_buf_bytes(&key), err);
}
