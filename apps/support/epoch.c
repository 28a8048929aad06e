#include "support/epoch.h"

#include "aggregate/flamingo/flamingo.h"
#include "aggregate/shared/dkg.h"
#include "base/arena.h"
#include "sotto/random.h"

#include <string.h>

/* ---- a key that nobody has --------------------------------------------------------------------------------------- */

typedef struct ceremony {
    uint32_t count, threshold;
    sotto_tdh2 t;
    sotto_keystream stream;
    sotto_dkg_dealer *dealers;
    sotto_dkg_commitments *pedersen, *feldman;
    sotto_dkg_values *values; /* by member and dealer */
    bool *qualified;
} ceremony;

static sotto_status take_room(ceremony *c, sotto_shared_key *out, sotto_arena *arena,
                              sotto_err *err)
{
    const size_t n = c->count;

    c->dealers = sotto_arena_take_array(arena, n, sizeof *c->dealers);
    c->pedersen = sotto_arena_take_array(arena, n, sizeof *c->pedersen);
    c->feldman = sotto_arena_take_array(arena, n, sizeof *c->feldman);
    c->values = sotto_arena_take_array(arena, n * n, sizeof *c->values);
    c->qualified = sotto_arena_take_array(arena, n, sizeof *c->qualified);
    out->verify = sotto_arena_take_array(arena, n, sizeof *out->verify);
    out->shares = sotto_arena_take_array(arena, n, sizeof *out->shares);
    if (!c->dealers || !c->pedersen || !c->feldman || !c->values || !c->qualified || !out->verify ||
        !out->shares)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a committee");
    return SOTTO_OK;
}

static sotto_status deal_all(ceremony *c, sotto_arena *arena, sotto_err *err)
{
    for (uint32_t i = 0; i < c->count; i++) {
        SOTTO_TRY(
            sotto_dkg_deal(&c->dealers[i], &c->t, c->threshold, NULL, &c->stream, arena, err));
        SOTTO_TRY(sotto_dkg_commit(&c->dealers[i], &c->t, &c->pedersen[i], arena, err));
        for (uint32_t member = 0; member < c->count; member++) {
            sotto_dkg_values *v = &c->values[(size_t)member * c->count + i];

            sotto_dkg_values_for(&c->dealers[i], &c->t, member, v);
            if (!sotto_dkg_is_committed_vartime(&c->t, &c->pedersen[i], member, v))
                return sotto_fail(err, SOTTO_BUG, "a deal does not fit its commitments");
        }
        c->qualified[i] = true;
    }
    return SOTTO_OK;
}

static sotto_status reveal_all(ceremony *c, sotto_arena *arena, sotto_err *err)
{
    for (uint32_t i = 0; i < c->count; i++) {
        SOTTO_TRY(sotto_dkg_reveal(&c->dealers[i], &c->t, &c->feldman[i], arena, err));
        for (uint32_t member = 0; member < c->count; member++)
            if (!sotto_dkg_is_revealed_vartime(&c->t, &c->feldman[i], c->threshold, member,
                                               &c->values[(size_t)member * c->count + i]))
                return sotto_fail(err, SOTTO_BUG, "a deal does not fit what was revealed");
        sotto_dkg_forget(&c->dealers[i]);
    }
    return SOTTO_OK;
}

static sotto_status finish(ceremony *c, sotto_shared_key *out, sotto_err *err)
{
    sotto_scalar share;

    SOTTO_TRY(sotto_dkg_publish_vartime(&c->t, out->key, out->verify, c->feldman, c->qualified,
                                        c->count, c->threshold, err));
    for (uint32_t i = 0; i < c->count; i++) {
        sotto_dkg_share(&c->t, &share, &c->values[(size_t)i * c->count], c->qualified, c->count);
        memcpy(out->shares[i], share.be, 32);
    }
    sotto_wipe(&share, sizeof share);
    return SOTTO_OK;
}

static sotto_status make_key(sotto_shared_key *out, uint32_t count, sotto_arena *arena,
                             sotto_err *err)
{
    ceremony c = {.count = count, .threshold = sotto_decryptors_threshold(count)};
    uint8_t seed[32];

    out->count = count;
    SOTTO_TRY(take_room(&c, out, arena, err));
    SOTTO_TRY(sotto_random_bytes(seed, sizeof seed, err));
    sotto_status status = sotto_tdh2_init(&c.t, err);
    if (status == SOTTO_OK)
        status = sotto_keystream_init(&c.stream, err);
    if (status == SOTTO_OK)
        status = sotto_keystream_seed(&c.stream, seed, err);
    if (status == SOTTO_OK)
        status = deal_all(&c, arena, err);
    if (status == SOTTO_OK)
        status = reveal_all(&c, arena, err);
    if (status == SOTTO_OK)
        status = finish(&c, out, err);
    sotto_keystream_clear(&c.stream);
    sotto_tdh2_clear(&c.t);
    sotto_wipe(c.values, (size_t)count * count * sizeof *c.values);
    sotto_wipe(seed, sizeof seed);
    return status;
}

/* ---- witnesses and their beacon ------------------------------------------------------------------------------------- */

sotto_status sotto_epoch_witnesses(sotto_epoch *e, uint32_t count, sotto_arena *arena,
                                   sotto_err *err)
{
    return make_key(&e->witnesses, count, arena, err);
}

static sotto_status give_parts(sotto_epoch *e, sotto_tdh2 *t, const sotto_beacon_input *input,
                               sotto_err *err)
{
    uint8_t nonce[32];
    uint32_t wrong;

    for (uint32_t i = 0; i < e->part_count; i++) {
        sotto_scalar share;

        SOTTO_TRY(sotto_random_bytes(nonce, sizeof nonce, err));
        if (!sotto_scalar_decode(&t->group, &share, e->witnesses.shares[i]))
            return sotto_fail(err, SOTTO_BUG, "a witness's share");
        e->parts[i].place = i;
        const sotto_status status =
            sotto_beacon_give(t, e->parts[i].bytes, input, &share, nonce, err);
        sotto_wipe(&share, sizeof share);
        SOTTO_TRY(status);
    }
    return sotto_beacon_value_vartime(t, e->beacon, input,
                                      (const uint8_t(*)[SOTTO_P256_WIDE])e->witnesses.verify,
                                      e->witnesses.count, e->parts, e->part_count, &wrong, err);
}

sotto_status sotto_epoch_beacon(sotto_epoch *e, sotto_arena *arena, sotto_err *err)
{
    sotto_beacon_input input = {.epoch = e->number};
    sotto_tdh2 t;

    memcpy(input.session, e->session, sizeof input.session);
    sotto_registry_root(&e->registry, input.registry);
    e->part_count = sotto_decryptors_threshold(e->witnesses.count);
    e->parts = sotto_arena_take_array(arena, e->part_count, sizeof *e->parts);
    if (!e->parts)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a beacon");
    if (e->ask)
        return e->ask(e->asked, e->beacon, e->parts, &input, err);
    sotto_status status = sotto_tdh2_init(&t, err);
    if (status == SOTTO_OK)
        status = give_parts(e, &t, &input, err);
    sotto_tdh2_clear(&t);
    return status;
}

/* ---- the committee -------------------------------------------------------------------------------------------------- */

sotto_status sotto_epoch_draw(sotto_epoch *e, uint32_t members, sotto_arena *arena, sotto_err *err)
{
    sotto_decryptors_record *r = &e->record;

    SOTTO_TRY(sotto_epoch_beacon(e, arena, err));
    SOTTO_TRY(make_key(&e->committee, members, arena, err));
    memcpy(r->session, e->session, sizeof r->session);
    r->epoch = e->number;
    r->count = members;
    r->verify = e->committee.verify;
    memcpy(r->key, e->committee.key, sizeof r->key);
    r->members = sotto_arena_take_array(arena, members, sizeof *r->members);
    r->signatures = sotto_arena_take_array(arena, members, sizeof *r->signatures);
    r->is_signed = sotto_arena_take_array(arena, members, sizeof *r->is_signed);
    if (!r->members || !r->signatures || !r->is_signed)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a committee");
    SOTTO_TRY(sotto_decryptors_draw(r->members, members, (uint32_t)e->registry.count, e->beacon,
                                    e->session, e->number, arena, err));
    sotto_decryptors_digest(r, e->digest);
    return SOTTO_OK;
}

/* ---- a round --------------------------------------------------------------------------------------------------------- */

static sotto_status write_parameters(const sotto_epoch *e, const sotto_epoch_round *w,
                                     sotto_buf *out, sotto_arena *arena, sotto_err *err)
{
    sotto_flamingo_parameters p = {
        .cohort = (uint32_t)e->registry.count, .neighbours = w->neighbours, .edge = w->edge};

    if (w->single) {
        SOTTO_TRY(sotto_buf_take(out, arena, SOTTO_BBGLR_PARAMETERS, err));
        return sotto_bbglr_parameters_encode(out, w->single, err);
    }
    memcpy(p.decryptors, e->digest, sizeof p.decryptors);
    SOTTO_TRY(sotto_buf_take(out, arena, SOTTO_FLAMINGO_PARAMETERS, err));
    return sotto_flamingo_parameters_encode(out, &p, err);
}

sotto_status sotto_epoch_post(const sotto_epoch *e, const sotto_epoch_round *w,
                              sotto_bytes *posting, uint8_t id[SOTTO_ROUND_ID], sotto_arena *arena,
                              sotto_err *err)
{
    sotto_round r = {.epoch = e->number,
                     .number = w->number,
                     .method = w->single ? SOTTO_METHOD_BBGLR : SOTTO_METHOD_FLAMINGO,
                     .version = SOTTO_ROUND_VERSION,
                     .ring = w->ring,
                     .length = w->length,
                     .most = w->most,
                     .least = w->least,
                     .largest = e->registry.count,
                     .noise = w->noise,
                     .registered = e->registry.count,
                     .opens = w->opens,
                     .commit_by = w->single
                                      ? w->single->keys_by + (w->closes - w->single->keys_by) / 2
                                      : w->closes - 1,
                     .closes = w->closes,
                     .verify_by = w->verify_by,
                     .release_by = w->release_by};
    sotto_posting p = {.registry = e->registry, .part_count = e->part_count, .parts = e->parts};
    sotto_buf parameters, record, round, out;

    memcpy(r.session, e->session, sizeof r.session);
    memcpy(r.recipe, w->recipe, sizeof r.recipe);
    memcpy(r.beacon, e->beacon, sizeof r.beacon);
    sotto_registry_root(&e->registry, r.registry);
    SOTTO_TRY(write_parameters(e, w, &parameters, arena, err));
    r.parameters = sotto_buf_bytes(&parameters);
    SOTTO_TRY(sotto_buf_take(&record, arena, SOTTO_DECRYPTORS_MOST_BYTES, err));
    if (!w->single)
        SOTTO_TRY(sotto_decryptors_encode(&record, &e->record, err));
    SOTTO_TRY(sotto_buf_take(&round, arena, SOTTO_ROUND_MOST_BYTES, err));
    SOTTO_TRY(sotto_round_encode(&round, &r, err));
    SOTTO_TRY(sotto_round_id(&r, id, err));
    p.decryptors = sotto_buf_bytes(&record);
    p.round = sotto_buf_bytes(&round);
    SOTTO_TRY(sotto_buf_take(&out, arena,
                             512 + 96 * (size_t)e->registry.count +
                                 (size_t)e->part_count * (4 + SOTTO_BEACON_PART) + record.len +
                                 round.len,
                             err));
    SOTTO_TRY(sotto_posting_encode(&out, &p, err));
    *posting = sotto_buf_bytes(&out);
    return SOTTO_OK;
}
