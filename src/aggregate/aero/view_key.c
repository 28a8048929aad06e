/* The public key, as everybody reads it off the board: its parts, their sum, and the certificate of members. */
#include "aggregate/aero/aero.h"

#include "base/rule.h"
#include "crypto/hash.h"

#include <string.h>

static sotto_status nothing(sotto_err *err, const char *what)
{
    return sotto_fail(err, SOTTO_REJECTED, "board: %s", what);
}

/* ---- budget and certificate ------------------------------------------------------------------------------ */

static double spent_before(const sotto_aero_plan *plan)
{
    return plan->round->account ? plan->round->account->rho : 0;
}

static uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

size_t sotto_aero_keyed_size(const sotto_aero_plan *plan)
{
    return plan->terms.committees * (1 + sotto_aero_poly_size(&plan->aero));
}

sotto_status sotto_aero_keyed_encode(const sotto_aero_view *view, sotto_buf *out, sotto_err *err)
{
    for (uint32_t d = 0; d < view->plan->terms.committees; d++) {
        sotto_writer w = sotto_writer_on(out);

        sotto_write_uint(&w, view->dealt[d], 1);
        SOTTO_TRY(sotto_writer_finish(&w, "keyed", err));
        SOTTO_TRY(sotto_aero_poly_encode(&view->plan->aero, out, &view->b[d], err));
    }
    return SOTTO_OK;
}

/* The round's id covers model, rate, noise, clipping and both committees. */
sotto_status sotto_aero_write_certificate(sotto_aero_view *view, sotto_arena *scratch,
                                          sotto_err *err)
{
    sotto_aero_plan *plan = view->plan;
    const size_t size = sotto_aero_keyed_size(plan);
    sotto_buf b = sotto_buf_over(sotto_arena_take(scratch, size), size);
    sotto_buf out = sotto_buf_over(view->certificate, sizeof view->certificate);
    sotto_writer w = sotto_writer_on(&out);
    uint8_t key[32];

    if (!b.data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "aero: no memory");
    SOTTO_TRY(sotto_aero_keyed_encode(view, &b, err));
    sotto_hash_once(key, SOTTO_SHA256, sotto_buf_bytes(&b));
    sotto_write_bytes(&w, sotto_bytes_of(plan->id, sizeof plan->id));
    sotto_write_uint(&w, bits_of(spent_before(plan)), 8);
    sotto_write_uint(&w, bits_of(plan->rho), 8);
    sotto_write_uint(&w, plan->terms.epsilon, 8);
    sotto_write_uint(&w, plan->terms.delta_bits, 4);
    sotto_write_uint(&w, view->dealers, 4);
    sotto_write_uint(&w, sotto_aero_key_round(view), 8);
    sotto_write_bytes(&w, sotto_bytes_of(key, sizeof key));
    return sotto_writer_finish(&w, "certificate", err);
}

/* ---- parts, and their sum -------------------------------------------------------------------------------- */

/* Parts of the key are shown after all of them are fixed: who speaks last can't take the others' parts out again. */
sotto_status sotto_aero_read_key(sotto_aero_view *view, uint32_t place, sotto_bytes body,
                                 sotto_arena *scratch, sotto_err *err)
{
    sotto_aero_member *m = &view->members[place];
    const sotto_aero_plan *plan = view->plan;
    const size_t each = sotto_aero_poly_size(&plan->aero);
    const uint32_t committee = sotto_aero_committee_of_place(plan, place);
    sotto_aero_poly *b = sotto_arena_take(scratch, sizeof *b);
    uint8_t seal[32];

    if (!b)
        return sotto_fail(err, SOTTO_NO_MEMORY, "board: no memory");
    if (m->has_key || !m->has_sealed || !view->is_sealed || view->is_keyed ||
        !sotto_aero_wants_key(view))
        return nothing(err, "a part of the key out of turn");
    if (body.len == 0) {
        view->unread[committee] = true;
        return SOTTO_OK;
    }
    if (body.len != 32 + each)
        return nothing(err, "a part of the key of another size");
    const sotto_bytes part = sotto_bytes_of(body.data + 32, each);
    sotto_aero_seal_key(seal, plan, plan->committee[place], body.data, part);
    if (SOTTO_RULE(aero_keys_sealed) && memcmp(seal, m->key_seal, sizeof seal) != 0)
        return nothing(err, "a part of the key that was not committed to");
    if (sotto_aero_poly_decode(&plan->aero, b, part, NULL) != SOTTO_OK)
        return nothing(err, "a part of the key that is no polynomial");
    sotto_aero_add(&plan->aero.ring, &view->b[committee], b);
    view->dealt[committee]++;
    view->dealers++;
    m->has_key = true;
    return SOTTO_OK;
}

/* Whether a committee's public key is the sum of the parts that were read. Its own members read all of them, and certify no other: as many
 * as the threshold are not all corrupt. Who is not in it takes the key from them. */
static bool is_sum(const sotto_aero_view *view, uint32_t committee, uint64_t dealt,
                   const sotto_aero_poly *b)
{
    return view->unread[committee] ||
           (dealt == view->dealt[committee] && memcmp(b, &view->b[committee], sizeof *b) == 0);
}

sotto_status sotto_aero_read_keyed(sotto_aero_view *view, sotto_bytes body, sotto_arena *scratch,
                                   sotto_err *err)
{
    const sotto_aero_plan *plan = view->plan;
    const uint32_t count = plan->terms.committees;
    const size_t each = sotto_aero_poly_size(&plan->aero);
    sotto_aero_poly *b = sotto_arena_take_array(scratch, count, sizeof *b);
    bool added = true;

    if (!b)
        return sotto_fail(err, SOTTO_NO_MEMORY, "board: no memory");
    if (!view->is_sealed || view->is_keyed || !sotto_aero_wants_key(view) ||
        body.len != sotto_aero_keyed_size(plan))
        return nothing(err, "the end of the set-up out of turn");
    for (uint32_t d = 0; d < count; d++) {
        const uint8_t *at = body.data + d * (1 + each);

        if (sotto_aero_poly_decode(&plan->aero, &b[d], sotto_bytes_of(at + 1, each), NULL) !=
            SOTTO_OK)
            return nothing(err, "a public key that is no polynomial");
        added = added && is_sum(view, d, at[0], &b[d]);
    }
    if (SOTTO_RULE(aero_key_is_sum) && !added)
        return nothing(err, "a public key that is not the sum of its parts");
    view->dealers = 0;
    for (uint32_t d = 0; d < count; d++) {
        view->b[d] = b[d];
        view->dealt[d] = body.data[d * (1 + each)];
        view->dealers += view->dealt[d];
    }
    view->is_keyed = true;
    return sotto_aero_write_certificate(view, scratch, err);
}
