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

enum { DST_SIZE = DST_HEAD + SOTTO_PRIO3_MAX_CONTEXT };

static inline sotto_bytes dst_of(const sotto_prio3_xof *x, uint8_t dst[DST_SIZE])
{
    sotto_buf buf = sotto_buf_over(dst, DST_SIZE);
    sotto_writer w = sotto_writer_on(&buf);

    sotto_write_uint(&w, SOTTO_VDAF_VERSION, 1);
    sotto_write_uint(&w, ALGORITHM_CLASS_VDAF, 1);
    sotto_write_uint(&w, x->circuit->algorithm, 4);
    sotto_write_uint(&w, x->usage, 2);
    sotto_write_bytes(&w, x->context); /* fits: the context's length was checked on the way in */
    return sotto_buf_bytes(&buf);
}

/* Starts the lanes `first` to `first + lanes - 1` of x. */
static void start(sotto_turboshake *state, const sotto_prio3_xof *x, unsigned first, unsigned lanes)
{
    uint8_t dst[DST_SIZE];
    const uint8_t *binders[SOTTO_LANES];
    sotto_bytes prefix = dst_of(x, dst);

    for (unsigned l = 0; l < lanes; l++)
        binders[l] = x->binder[first + l];
    sotto_xof_turboshake128_init(state, lanes, prefix, x->seeds + first, binders, x->binder_len,
                                 x->body_len ? x->bodies + first : NULL, x->body_len);
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

#ifndef __OPTIMIZE_SIZE__

/* Two blocks are 336 bytes: whole elements of either field. */
enum { PIECE_BLOCKS = 2, PIECE = PIECE_BLOCKS * SOTTO_TURBOSHAKE128_RATE };

/* All of `seeds` but the bodies. */
static void begin(sotto_turboshake *state, const sotto_prio3_xof *seeds)
{
    uint8_t dst[DST_SIZE];
    const uint8_t *binders[SOTTO_LANES];

    for (unsigned l = 0; l < seeds->lanes; l++)
        binders[l] = seeds->binder[l];
    sotto_xof_turboshake128_begin(state, seeds->lanes, dst_of(seeds, dst), seeds->seeds, binders,
                                  seeds->binder_len);
}

/* What of a share is still to come, and what of the bodies is still to be hashed, from `at` on. */
static void bodies_at(const uint8_t **at, const sotto_prio3_xof *seeds, size_t bytes)
{
    for (unsigned l = 0; l < seeds->lanes; l++)
        at[l] = seeds->bodies[l] + bytes;
}

/* The first piece comes alone. Then each is expanded while the one before it is hashed, and the last is hashed alone. Returns how many
 * elements were found below the modulus, piece by piece: all of them, or those before the piece with one that is not. */
static size_t expand_and_hash(sotto_turboshake *giver, sotto_turboshake *takers,
                              const sotto_prio3_xof *x, uint8_t *out, size_t count,
                              sotto_prio3_ready *ready, void *arg, const sotto_prio3_xof *seeds)
{
    const sotto_circuit *c = x->circuit;
    const uint8_t *in[SOTTO_LANES];
    size_t whole = PIECE / c->element_size;

    for (size_t at = 0, now; at < count; at += now) {
        uint8_t *to = out + sotto_circuit_bytes(c, at);

        now = count - at < whole ? count - at : whole;
        if (at > 0)
            bodies_at(in, seeds, sotto_circuit_bytes(c, at - whole));
        if (at > 0 && now == whole) {
            if (takers->lanes == seeds->lanes)
                sotto_turboshake_join(takers, giver);
            sotto_turboshake_exchange(takers, in, to, PIECE_BLOCKS);
        } else {
            if (takers->lanes > seeds->lanes)
                sotto_turboshake_part(takers, giver);
            sotto_turboshake_squeeze(giver, &to, sotto_circuit_bytes(c, now));
            sotto_turboshake_add(takers, in, at > 0 ? PIECE : 0);
        }
        uint64_t good = c->flp->canonical(to, now);
        SOTTO_DECLASSIFY(&good, sizeof good); /* as in sotto_prio3_expand */
        if (!good)
            return at;
        ready(arg, at, now);
    }
    return count;
}

void sotto_prio3_expand_and_derive(const sotto_prio3_xof *x, uint8_t *out, size_t count,
                                   sotto_prio3_ready *ready, void *arg,
                                   const sotto_prio3_xof *seeds, uint8_t *const *seeds_out)
{
    const sotto_circuit *c = x->circuit;
    sotto_turboshake giver, takers;

    start(&giver, x, 0, 1);
    begin(&takers, seeds);
    size_t good = expand_and_hash(&giver, &takers, x, out, count, ready, arg, seeds);
    if (good == count) {
        size_t whole = PIECE / c->element_size, last = (count - 1) / whole * whole;
        const uint8_t *in[SOTTO_LANES];

        if (takers.lanes > seeds->lanes)
            sotto_turboshake_part(&takers, &giver);
        bodies_at(in, seeds, sotto_circuit_bytes(c, last));
        sotto_turboshake_add(&takers, in, sotto_circuit_bytes(c, count - last));
        sotto_xof_turboshake128_end(&takers);
        sotto_turboshake_squeeze(&takers, seeds_out, SOTTO_PRIO3_SEED_SIZE);
    } else {
        /* Elements before the rejected one are the same once more. */
        expand_lane_vartime(x, 0, out, count);
        ready(arg, good, count - good);
        sotto_prio3_derive_seed(seeds, seeds_out);
    }
    sotto_wipe(&giver, sizeof giver);
    sotto_wipe(&takers, sizeof takers);
}

/* Whole blocks, and whole elements of either field. The first piece is longer by more than a block: the hash begins within a block of
 * its own, and is behind by the rest of that. */
enum { BESIDE_BLOCKS = 30, BESIDE = BESIDE_BLOCKS * SOTTO_TURBOSHAKE128_RATE };

_Static_assert(BESIDE % 16 == 0 && AT_ONCE >= BESIDE + SOTTO_TURBOSHAKE128_RATE, "see above");

/* Bytes from `at` on of each lane. */
static void lanes_at(uint8_t **to, uint8_t *const *out, unsigned lanes, size_t at)
{
    for (unsigned l = 0; l < lanes; l++)
        to[l] = out[l] + at;
}

static void check_below(uint64_t all[SOTTO_LANES], const sotto_prio3_xof *x, uint8_t *const *from,
                        size_t bytes)
{
    for (unsigned l = 0; l < x->lanes; l++)
        all[l] &= x->circuit->flp->canonical(from[l], bytes / x->circuit->element_size);
}

/* all[l]: every element of lane l is below the modulus. */
static void expand_beside(sotto_turboshake *giver, sotto_turboshake *taker,
                          const sotto_prio3_xof *x, uint8_t *const *out, size_t bytes,
                          const sotto_prio3_xof *seeds, uint64_t all[SOTTO_LANES])
{
    size_t made = bytes < AT_ONCE ? bytes : AT_ONCE, hashed = 0;
    const uint8_t *in[SOTTO_LANES];
    uint8_t *to[SOTTO_LANES];

    sotto_turboshake_squeeze(giver, out, made);
    check_below(all, x, out, made);
    if (made < bytes && taker->at > 0) {
        hashed = taker->rate - taker->at;
        sotto_turboshake_add(taker, seeds->bodies, hashed);
    }
    for (; bytes - made >= BESIDE; made += BESIDE, hashed += BESIDE) {
        lanes_at(to, out, x->lanes, made);
        bodies_at(in, seeds, hashed);
        sotto_turboshake_squeeze_beside(giver, to, taker, in, BESIDE_BLOCKS);
        check_below(all, x, to, BESIDE);
    }
    lanes_at(to, out, x->lanes, made);
    sotto_turboshake_squeeze(giver, to, bytes - made);
    check_below(all, x, to, bytes - made);
    bodies_at(in, seeds, hashed);
    sotto_turboshake_add(taker, in, bytes - hashed);
}

void sotto_prio3_expand_and_hash(const sotto_prio3_xof *x, uint8_t *const *out, size_t count,
                                 const sotto_prio3_xof *seeds, uint8_t *const *seeds_out)
{
    uint64_t all[SOTTO_LANES] = {1, 1, 1, 1};
    sotto_turboshake giver, taker;
    bool again = false;

    start(&giver, x, 0, x->lanes);
    begin(&taker, seeds);
    expand_beside(&giver, &taker, x, out, sotto_circuit_bytes(x->circuit, count), seeds, all);
    sotto_xof_turboshake128_end(&taker);
    sotto_turboshake_squeeze(&taker, seeds_out, SOTTO_PRIO3_SEED_SIZE);
    sotto_wipe(&giver, sizeof giver);
    sotto_wipe(&taker, sizeof taker);

    SOTTO_DECLASSIFY(all, sizeof all); /* as in sotto_prio3_expand */
    for (unsigned l = 0; l < x->lanes; l++)
        if (!all[l]) {
            expand_lane_vartime(x, l, out[l], count);
            again = true;
        }
    if (again)
        sotto_prio3_derive_seed(seeds, seeds_out);
}

#else

void sotto_prio3_expand_and_hash(const sotto_prio3_xof *x, uint8_t *const *out, size_t count,
                                 const sotto_prio3_xof *seeds, uint8_t *const *seeds_out)
{
    sotto_prio3_expand(x, out, count);
    sotto_prio3_derive_seed(seeds, seeds_out);
}

#endif
