#include "vdaf/prio3_xof.h"

#include "base/declassify.h"
#include "crypto/xof.h"
#include "vdaf/flp.h"

#include <string.h>

enum { DST_HEAD = 8, ALGORITHM_CLASS_VDAF = 0 };

sotto_status sotto_prio3_check_context(sotto_bytes context, sotto_err *err)
{
    if (context.len > SOTTO_PRIO3_MAX_CONTEXT)
        return sotto_fail(err, SOTTO_MALFORMED, "context: longer than %d bytes",
                          SOTTO_PRIO3_MAX_CONTEXT);
    return SOTTO_OK;
}

/* Starts the lanes `first` to `first + lanes - 1` of x. */
static void start(sotto_turboshake *state, const sotto_prio3_xof *x, unsigned first, unsigned lanes)
{
    uint8_t dst[DST_HEAD + SOTTO_PRIO3_MAX_CONTEXT];
    const uint8_t *binders[SOTTO_LANES];
    sotto_buf buf = sotto_buf_over(dst, sizeof dst);
    sotto_writer w = sotto_writer_on(&buf);

    sotto_write_uint(&w, SOTTO_VDAF_VERSION, 1);
    sotto_write_uint(&w, ALGORITHM_CLASS_VDAF, 1);
    sotto_write_uint(&w, x->circuit->algorithm, 4);
    sotto_write_uint(&w, x->usage, 2);
    sotto_write_bytes(&w, x->context); /* fits: the context's length was checked on the way in */
    for (unsigned l = 0; l < lanes; l++)
        binders[l] = x->binder[first + l];
    sotto_xof_turboshake128_init(state, lanes, sotto_buf_bytes(&buf), x->seeds + first, binders,
                                 x->binder_len, x->body_len ? x->bodies + first : NULL,
                                 x->body_len);
}

void sotto_prio3_derive_seed(const sotto_prio3_xof *x, uint8_t *const *out)
{
    sotto_turboshake state;

    start(&state, x, 0, x->lanes);
    sotto_turboshake_squeeze(&state, out, SOTTO_PRIO3_SEED_SIZE);
    sotto_wipe(&state, sizeof state);
}

/* One lane by itself, drawing until enough elements are below the modulus. */
static void expand_lane_vartime(const sotto_prio3_xof *x, unsigned lane, uint8_t *out, size_t count)
{
    const sotto_circuit *c = x->circuit;
    sotto_turboshake state;

    start(&state, x, lane, 1);
    for (size_t have = 0; have < count;) {
        uint8_t *at = out + sotto_circuit_bytes(c, have);

        sotto_turboshake_squeeze(&state, &at, sotto_circuit_bytes(c, count - have));
        have += c->flp->sieve_vartime(at, count - have);
    }
    sotto_wipe(&state, sizeof state);
}

/* A few blocks of each lane at a time, which the nearest cache still has when they are looked at. */
enum { AT_ONCE = 32 * SOTTO_TURBOSHAKE128_RATE };

void sotto_prio3_expand(const sotto_prio3_xof *x, uint8_t *const *out, size_t count)
{
    const sotto_circuit *c = x->circuit;
    size_t some = AT_ONCE / c->element_size;
    uint64_t all[SOTTO_LANES] = {1, 1, 1, 1};
    sotto_turboshake state;

    start(&state, x, 0, x->lanes);
    for (size_t at = 0, now; at < count; at += now) {
        uint8_t *to[SOTTO_LANES];

        now = count - at < some ? count - at : some;
        for (unsigned l = 0; l < x->lanes; l++)
            to[l] = out[l] + sotto_circuit_bytes(c, at);
        sotto_turboshake_squeeze(&state, to, sotto_circuit_bytes(c, now));
        for (unsigned l = 0; l < x->lanes; l++)
            all[l] &= c->flp->canonical(to[l], now);
    }
    sotto_wipe(&state, sizeof state);

    /* Lanes part ways when one of them must reject a draw: once in 2^32 elements of Field64, in 2^59 of
     * Field128. That a draw was rejected says nothing of those that were kept. */
    SOTTO_DECLASSIFY(all, sizeof all);
    for (unsigned l = 0; l < x->lanes; l++)
        if (!all[l])
            expand_lane_vartime(x, l, out[l], count);
}
