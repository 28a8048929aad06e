#include "aggregate/aero/threshold.h"

#include "aggregate/shared/shamir_field64.h"
#include "base/declassify.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "crypto/keystream.h"

#include <string.h>

/* ---- dealing ------------------------------------------------------------------------------------------ */

enum { BLOCK = 512 };

/* Uniform residues by rejection: what is thrown away says nothing of what is kept. */
static sotto_status draw_residues(uint64_t *out, uint64_t p, unsigned bits, sotto_entropy *entropy,
                                  sotto_err *err)
{
    uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    uint8_t bytes[BLOCK];
    sotto_status status = SOTTO_OK;

    for (size_t at = 0; at < SOTTO_AERO_N && status == SOTTO_OK;) {
        status = sotto_entropy_take(entropy, bytes, sizeof bytes, err);
        for (size_t i = 0; i < sizeof bytes && at < SOTTO_AERO_N; i += 8) {
            uint64_t x = sotto_load64(bytes + i) & mask;
            bool kept = sotto_ct_less(x, p) != 0;

            SOTTO_DECLASSIFY(&kept, sizeof kept);
            out[at] = x;
            at += kept;
        }
    }
    sotto_wipe(bytes, sizeof bytes);
    return status;
}

static sotto_status draw_uniform(const sotto_aero *aero, sotto_aero_poly *v, sotto_entropy *entropy,
                                 sotto_err *err)
{
    const sotto_aero_set *set = aero->ring.set;
    uint64_t *first = v->second; /* for a while */

    SOTTO_TRY(draw_residues(first, SOTTO_F64_P, 64, entropy, err));
    for (size_t k = 0; k < SOTTO_AERO_N; k++) {
        v->first[k].v = first[k];
        v->second[k] = 0;
    }
    if (!set->second)
        return SOTTO_OK;
    return draw_residues(v->second, set->second, set->second_bits, entropy, err);
}

/* share = share x + v, where x is the member's point. */
static void step(const sotto_aero *aero, sotto_aero_share *share, uint32_t member,
                 const sotto_aero_poly *v)
{
    uint64_t x = (uint64_t)member + 1;

    sotto_aero_scale(&aero->ring, &share->s, sotto_f64_from(x), x);
    sotto_aero_add(&aero->ring, &share->s, v);
}

/* Horner's rule, a coefficient of all members at a time, so that no coefficient is kept. */
static sotto_status deal(const sotto_aero *aero, sotto_aero_share *shares, size_t count,
                         size_t threshold, const sotto_aero_poly *secret, sotto_aero_poly *v,
                         sotto_entropy *entropy, sotto_err *err)
{
    for (size_t degree = threshold - 1; degree > 0; degree--) {
        SOTTO_TRY(draw_uniform(aero, v, entropy, err));
        for (size_t j = 0; j < count; j++)
            step(aero, &shares[j], (uint32_t)j, v);
    }
    for (size_t j = 0; j < count; j++)
        step(aero, &shares[j], (uint32_t)j, secret);
    return SOTTO_OK;
}

sotto_status sotto_aero_deal_poly(const sotto_aero *aero, sotto_aero_share *shares, size_t count,
                                  size_t threshold, const sotto_aero_poly *secret,
                                  sotto_entropy *entropy, sotto_err *err)
{
    sotto_aero_poly v;

    if (threshold < 2 || threshold > count || count > SOTTO_AERO_MOST_MEMBERS)
        return sotto_fail(err, SOTTO_BUG, "aero: %zu of %zu members", threshold, count);
    memset(shares, 0, count * sizeof *shares);
    sotto_status status = deal(aero, shares, count, threshold, secret, &v, entropy, err);
    sotto_wipe(&v, sizeof v);
    if (status != SOTTO_OK)
        sotto_wipe(shares, count * sizeof *shares);
    return status;
}

static void as_poly(const sotto_aero *aero, sotto_aero_poly *v, const sotto_aero_secret *secret)
{
    int64_t s[SOTTO_AERO_N];

    for (size_t k = 0; k < SOTTO_AERO_N; k++)
        s[k] = (int)secret->s[k]; /* of both signs */
    memset(v, 0, sizeof *v);
    sotto_aero_add_small(&aero->ring, v, s);
    sotto_wipe(s, sizeof s);
}

sotto_status sotto_aero_deal(const sotto_aero *aero, sotto_aero_share *shares, size_t count,
                             size_t threshold, const sotto_aero_secret *secret,
                             sotto_entropy *entropy, sotto_err *err)
{
    sotto_aero_poly v;

    as_poly(aero, &v, secret);
    sotto_status status = sotto_aero_deal_poly(aero, shares, count, threshold, &v, entropy, err);
    sotto_wipe(&v, sizeof v);
    return status;
}

void sotto_aero_share_add(const sotto_aero *aero, sotto_aero_share *sum,
                          const sotto_aero_share *more)
{
    sotto_aero_add(&aero->ring, &sum->s, &more->s);
}

/* ---- weights ------------------------------------------------------------------------------------------ */

/* Of the i-th of these points, for the value at another one. */
static uint64_t second_weight(const sotto_limb *limb, const uint64_t *xs, size_t count, size_t i,
                              uint64_t at)
{
    uint64_t above = 1, below = 1;

    for (size_t j = 0; j < count; j++) {
        if (j == i)
            continue;
        above = sotto_limb_mul(limb, above, at >= xs[j] ? at - xs[j] : limb->p - (xs[j] - at));
        below =
            sotto_limb_mul(limb, below, xs[i] > xs[j] ? xs[i] - xs[j] : limb->p - (xs[j] - xs[i]));
    }
    return sotto_limb_mul(limb, above, sotto_limb_pow(limb, below, limb->p - 2));
}

/* Of points that differ. */
static void weigh_vartime(const sotto_aero *aero, sotto_aero_weight *weights, const uint64_t *xs,
                          size_t count, uint64_t at)
{
    sotto_f64 points[SOTTO_AERO_MOST_MEMBERS], first[SOTTO_AERO_MOST_MEMBERS];

    for (size_t i = 0; i < count; i++)
        points[i] = sotto_f64_from(xs[i]);
    sotto_shamir_weights_vartime(first, points, count, sotto_f64_from(at));
    for (size_t i = 0; i < count; i++) {
        weights[i].first = first[i];
        weights[i].second =
            aero->ring.set->second ? second_weight(&aero->ring.second, xs, count, i, at) : 0;
    }
}

static bool differ(const uint32_t *members, size_t count)
{
    bool seen[SOTTO_AERO_MOST_MEMBERS] = {false};

    for (size_t i = 0; i < count; i++) {
        if (members[i] >= SOTTO_AERO_MOST_MEMBERS || seen[members[i]])
            return false;
        seen[members[i]] = true;
    }
    return true;
}

sotto_status sotto_aero_weights_vartime(const sotto_aero *aero, sotto_aero_weight *weights,
                                        const uint32_t *members, size_t count, sotto_err *err)
{
    uint64_t xs[SOTTO_AERO_MOST_MEMBERS];

    if (count == 0 || count > SOTTO_AERO_MOST_MEMBERS)
        return sotto_fail(err, SOTTO_REJECTED, "aero: a set of %zu members", count);
    if (SOTTO_RULE(aero_members_differ) && !differ(members, count))
        return sotto_fail(err, SOTTO_REJECTED, "aero: a member is in the set twice, or is none");
    for (size_t i = 0; i < count; i++)
        xs[i] = (uint64_t)members[i] + 1;
    weigh_vartime(aero, weights, xs, count, 0);
    return SOTTO_OK;
}

/* ---- shares from seeds --------------------------------------------------------------------------------- */

static sotto_status next_bytes(void *context, void *out, size_t len, sotto_err *err)
{
    return sotto_keystream_next(context, out, len, err);
}

sotto_status sotto_aero_share_of_seed(const sotto_aero *aero, sotto_aero_share *out,
                                      const uint8_t seed[SOTTO_AERO_SEED], sotto_err *err)
{
    sotto_keystream stream;
    sotto_entropy bytes;
    sotto_status status = sotto_keystream_init(&stream, err);

    sotto_entropy_init(&bytes, next_bytes, &stream);
    if (status == SOTTO_OK)
        status = sotto_keystream_seed(&stream, seed, err);
    if (status == SOTTO_OK)
        status = draw_uniform(aero, &out->s, &bytes, err);
    sotto_entropy_clear(&bytes);
    sotto_keystream_clear(&stream);
    return status;
}

static void add_weighted(const sotto_aero *aero, sotto_aero_share *sum, sotto_aero_weight weight,
                         const sotto_aero_poly *v, sotto_aero_poly *scratch)
{
    *scratch = *v;
    sotto_aero_scale(&aero->ring, scratch, weight.first, weight.second);
    sotto_aero_add(&aero->ring, &sum->s, scratch);
}

/* The rest is determined: the polynomial's values at all other members, from those at the seeds' and at 0. */
static void fill_shares(const sotto_aero *aero, sotto_aero_share *shares, size_t count,
                        const uint32_t *seeded, size_t seeds, const sotto_aero_poly *secret,
                        sotto_aero_poly *scratch)
{
    sotto_aero_weight weights[SOTTO_AERO_MOST_MEMBERS + 1];
    bool has[SOTTO_AERO_MOST_MEMBERS] = {false};
    uint64_t xs[SOTTO_AERO_MOST_MEMBERS + 1];

    xs[0] = 0;
    for (size_t i = 0; i < seeds; i++) {
        xs[i + 1] = (uint64_t)seeded[i] + 1;
        has[seeded[i]] = true;
    }
    for (size_t j = 0; j < count; j++) {
        if (has[j])
            continue;
        weigh_vartime(aero, weights, xs, seeds + 1, (uint64_t)j + 1);
        memset(&shares[j], 0, sizeof shares[j]);
        add_weighted(aero, &shares[j], weights[0], secret, scratch);
        for (size_t i = 0; i < seeds; i++)
            add_weighted(aero, &shares[j], weights[i + 1], &shares[seeded[i]].s, scratch);
    }
}

sotto_status sotto_aero_deal_seeded(const sotto_aero *aero, sotto_aero_share *shares, size_t count,
                                    size_t threshold, size_t first, const sotto_aero_secret *secret,
                                    const uint8_t (*seeds)[SOTTO_AERO_SEED], sotto_err *err)
{
    uint32_t seeded[SOTTO_AERO_MOST_MEMBERS];
    sotto_aero_poly v, scratch;
    sotto_status status = SOTTO_OK;

    if (threshold < 2 || threshold > count || count >= SOTTO_AERO_MOST_MEMBERS)
        return sotto_fail(err, SOTTO_BUG, "aero: %zu of %zu members", threshold, count);
    for (size_t i = 0; i + 1 < threshold && status == SOTTO_OK; i++) {
        seeded[i] = (uint32_t)((first + 1 + i) % count);
        status = sotto_aero_share_of_seed(aero, &shares[seeded[i]], seeds[i], err);
    }
    if (status == SOTTO_OK) {
        as_poly(aero, &v, secret);
        fill_shares(aero, shares, count, seeded, threshold - 1, &v, &scratch);
    }
    sotto_wipe(&v, sizeof v);
    sotto_wipe(&scratch, sizeof scratch);
    if (status != SOTTO_OK)
        sotto_wipe(shares, count * sizeof *shares);
    return status;
}

/* ---- masks -------------------------------------------------------------------------------------------- */

enum { DIGEST = 32, AT_ONCE = 64 };

/* What all members of a set agree on: the set, and what they open. */
static void name_opening(uint8_t digest[DIGEST], const sotto_aero_place *place,
                         const sotto_aero_poly *c1)
{
    static const char purpose[] = "sotto-aero-opening-1";
    uint8_t words[8 * AT_ONCE];
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(purpose, sizeof purpose));
    sotto_store64(words, place->count);
    sotto_hash_update(&hash, sotto_bytes_of(words, 8));
    for (size_t i = 0; i < place->count; i++) {
        sotto_store64(words, place->members[i]);
        sotto_hash_update(&hash, sotto_bytes_of(words, 8));
    }
    for (size_t from = 0; from < 2 * (size_t)SOTTO_AERO_N; from += AT_ONCE) {
        for (size_t i = 0; i < AT_ONCE; i++) {
            size_t k = (from + i) % SOTTO_AERO_N;

            sotto_store64(words + 8 * i, from < SOTTO_AERO_N ? c1->first[k].v : c1->second[k]);
        }
        sotto_hash_update(&hash, sotto_bytes_of(words, sizeof words));
    }
    sotto_hash_final(&hash, digest);
}

/* The uniform polynomial of one pair: the member with the smaller number adds it, the other one subtracts it. */
static sotto_status add_mask(const sotto_aero *aero, sotto_aero_poly *out,
                             const sotto_aero_place *place, size_t other,
                             const uint8_t digest[DIGEST], sotto_keystream *stream, sotto_err *err)
{
    static const char purpose[] = "sotto-aero-pair-1";
    uint8_t seed[DIGEST];
    sotto_aero_poly mask;
    sotto_entropy bytes;
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(purpose, sizeof purpose));
    sotto_hash_update(&hash, sotto_bytes_of(place->seeds[other], SOTTO_AERO_SEED));
    sotto_hash_update(&hash, sotto_bytes_of(digest, DIGEST));
    sotto_hash_final(&hash, seed);
    sotto_status status = sotto_keystream_seed(stream, seed, err);
    sotto_entropy_init(&bytes, next_bytes, stream);
    if (status == SOTTO_OK)
        status = draw_uniform(aero, &mask, &bytes, err);
    if (status == SOTTO_OK && place->members[place->own] < place->members[other])
        sotto_aero_add(&aero->ring, out, &mask);
    else if (status == SOTTO_OK)
        sotto_aero_subtract(&aero->ring, out, &mask);
    sotto_entropy_clear(&bytes);
    sotto_wipe(&mask, sizeof mask);
    sotto_wipe(&hash, sizeof hash);
    sotto_wipe(seed, sizeof seed);
    return status;
}

static sotto_status add_masks(const sotto_aero *aero, sotto_aero_poly *out,
                              const sotto_aero_place *place, const sotto_aero_poly *c1,
                              sotto_err *err)
{
    uint8_t digest[DIGEST];
    sotto_keystream stream;
    sotto_status status = sotto_keystream_init(&stream, err);

    name_opening(digest, place, c1);
    for (size_t i = 0; i < place->count && status == SOTTO_OK; i++)
        if (i != place->own)
            status = add_mask(aero, out, place, i, digest, &stream, err);
    sotto_keystream_clear(&stream);
    return status;
}

/* ---- opening ------------------------------------------------------------------------------------------ */

static void times_share(const sotto_aero *aero, sotto_aero_poly *out, const sotto_aero_share *share,
                        const sotto_aero_poly *c1)
{
    sotto_aero_poly s = share->s;

    *out = *c1;
    sotto_aero_transform(&aero->ring, out);
    sotto_aero_transform_over(&aero->ring, &s);
    sotto_aero_product(&aero->ring, out, out, &s);
    sotto_wipe(&s, sizeof s);
}

void sotto_aero_point_of(const sotto_aero *aero, sotto_aero_poly *out,
                         const sotto_aero_share *share, const sotto_aero_poly *c1,
                         const sotto_aero_poly *noise)
{
    times_share(aero, out, share, c1);
    sotto_aero_add(&aero->ring, out, noise);
}

sotto_status sotto_aero_partial(const sotto_aero *aero, sotto_aero_poly *out,
                                const sotto_aero_share *share, sotto_aero_weight weight,
                                const sotto_aero_place *place, const sotto_aero_poly *c1,
                                const sotto_noise *smudge, sotto_entropy *entropy, sotto_err *err)
{
    int64_t noise[SOTTO_AERO_N];

    memset(out, 0, sizeof *out);
    if (place->count < 2 || place->count > SOTTO_AERO_MOST_MEMBERS || place->own >= place->count ||
        !differ(place->members, place->count))
        return sotto_fail(err, SOTTO_BUG, "aero: no such place in a set of %zu", place->count);
    sotto_status status = sotto_noise_draw(smudge, noise, SOTTO_AERO_N, entropy, err);
    if (status == SOTTO_OK) {
        times_share(aero, out, share, c1);
        sotto_aero_scale(&aero->ring, out, weight.first, weight.second);
        sotto_aero_add_small(&aero->ring, out, noise);
        status = add_masks(aero, out, place, c1, err);
    }
    if (status != SOTTO_OK)
        sotto_wipe(out, sizeof *out);
    sotto_wipe(noise, sizeof noise);
    return status;
}

sotto_status sotto_aero_open_vartime(const sotto_aero *aero, int64_t *sum,
                                     const sotto_aero_poly *c2, const sotto_aero_poly *const *parts,
                                     size_t count, sotto_u128 most, sotto_err *err)
{
    sotto_aero_poly v = *c2;
    sotto_u128 residual = 0;

    for (size_t i = 0; i < count; i++)
        sotto_aero_subtract(&aero->ring, &v, parts[i]);
    sotto_aero_decode_vartime(aero, sum, &residual, &v);
    if (SOTTO_RULE(aero_residual) && residual > most) {
        memset(sum, 0, SOTTO_AERO_N * sizeof *sum);
        return sotto_fail(err, SOTTO_REJECTED,
                          "aero: a coefficient is off by more than the noise that there can be");
    }
    return SOTTO_OK;
}
