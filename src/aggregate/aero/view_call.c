/* What the board says of a robust opening. All members have to agree on who deals, and on what was dealt. A server that tells members
 * different things would get a hint on the key for each of them. */
#include "aggregate/aero/aero.h"

#include "base/rule.h"
#include "crypto/hash.h"

#include <string.h>

size_t sotto_aero_noises_sealed(const sotto_aero_plan *plan)
{
    return ((size_t)plan->ciphertexts + 1) * sotto_aero_poly_size(&plan->aero) + 16;
}

void sotto_aero_dealt_digest(uint8_t out[32], sotto_bytes digests)
{
    sotto_hash_once(out, SOTTO_SHA256, digests);
}

static sotto_status out_of_turn(sotto_err *err)
{
    return sotto_fail(err, SOTTO_REJECTED, "board: an opening out of turn");
}

sotto_status sotto_aero_read_dealers(sotto_aero_view *view, sotto_bytes body, sotto_err *err)
{
    const sotto_aero_terms *t = &view->plan->terms;
    sotto_aero_call *call = &view->call;

    if (t->opening != SOTTO_AERO_ROBUST || !view->is_summed || !sotto_aero_is_clear(view) ||
        body.len != 1 + (size_t)t->threshold || body.data[0] != call->calls)
        return out_of_turn(err);
    if (SOTTO_RULE(aero_tries_limited) && call->calls >= SOTTO_AERO_MOST_TRIES)
        return out_of_turn(err);
    for (uint32_t i = 0; i < t->threshold; i++) {
        uint8_t place = body.data[1 + i];

        if (place >= t->committee)
            return out_of_turn(err);
        /* So many different ones that one of them is honest. */
        if (SOTTO_RULE(aero_dealers_differ) && i > 0 && place <= body.data[i])
            return out_of_turn(err);
    }
    memcpy(call->dealers, body.data + 1, t->threshold);
    call->calls++;
    call->is_dealt = false;
    return SOTTO_OK;
}

sotto_status sotto_aero_read_dealt(sotto_aero_view *view, sotto_bytes body, sotto_err *err)
{
    static const char purpose[] = "sotto-aero-look-1";
    const uint32_t dealers = view->plan->terms.threshold;
    sotto_aero_call *call = &view->call;
    sotto_hash hash;

    if (body.len != 1 + 32 * (size_t)dealers || body.data[0] + 1u != call->calls)
        return out_of_turn(err);
    /* Other digests would be other looks at the same noise. */
    if (SOTTO_RULE(aero_dealt_once) && call->is_dealt)
        return out_of_turn(err);
    for (uint32_t i = 0; i < dealers; i++)
        memcpy(call->digests[i], body.data + 1 + 32 * (size_t)i, 32);
    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(purpose, sizeof purpose));
    sotto_hash_update(&hash, sotto_bytes_of(view->plan->id, sizeof view->plan->id));
    sotto_hash_update(&hash, body);
    sotto_hash_final(&hash, call->seed);
    call->is_dealt = true;
    return SOTTO_OK;
}
