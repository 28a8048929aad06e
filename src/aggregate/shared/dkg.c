#include "aggregate/shared/dkg.h"

#include "base/rule.h"
#include "crypto/hash.h"

#include <string.h>

static sotto_status no_memory(sotto_err *err)
{
    return sotto_fail(err, SOTTO_NO_MEMORY, "key generation: no memory");
}

/* ---- dealing --------------------------------------------------------------------------------------------- */

sotto_status sotto_dkg_deal(sotto_dkg_dealer *dealer, sotto_tdh2 *t, uint32_t threshold,
                            const sotto_scalar *secret, sotto_keystream *stream, sotto_arena *arena,
                            sotto_err *err)
{
    *dealer = (sotto_dkg_dealer){.threshold = threshold};
    dealer->a = sotto_arena_take_array(arena, threshold, sizeof *dealer->a);
    dealer->b = sotto_arena_take_array(arena, threshold, sizeof *dealer->b);
    if (!dealer->a || !dealer->b)
        return no_memory(err);
    for (uint32_t i = 0; i < threshold; i++) {
        SOTTO_TRY(sotto_scalar_draw(&t->group, &dealer->a[i], stream, err));
        SOTTO_TRY(sotto_scalar_draw(&t->group, &dealer->b[i], stream, err));
    }
    if (secret)
        dealer->a[0] = *secret;
    return SOTTO_OK;
}

void sotto_dkg_forget(sotto_dkg_dealer *dealer)
{
    sotto_wipe(dealer->a, dealer->threshold * sizeof *dealer->a);
    sotto_wipe(dealer->b, dealer->threshold * sizeof *dealer->b);
}

static void evaluate(sotto_group *g, sotto_scalar *out, const sotto_scalar *c, uint32_t count,
                     uint32_t place)
{
    sotto_scalar x;

    sotto_scalar_set(g, &x, place + 1);
    *out = c[count - 1];
    for (uint32_t i = count - 1; i-- > 0;) {
        sotto_scalar_multiply(g, out, out, &x);
        sotto_scalar_add(g, out, out, &c[i]);
    }
}

void sotto_dkg_values_for(const sotto_dkg_dealer *dealer, sotto_tdh2 *t, uint32_t place,
                          sotto_dkg_values *out)
{
    evaluate(&t->group, &out->a, dealer->a, dealer->threshold, place);
    evaluate(&t->group, &out->b, dealer->b, dealer->threshold, place);
}

static sotto_status commitments(const sotto_dkg_dealer *dealer, sotto_tdh2 *t,
                                sotto_dkg_commitments *out, bool hidden, sotto_arena *arena,
                                sotto_err *err)
{
    out->count = dealer->threshold;
    out->at = sotto_arena_take_array(arena, out->count, sizeof *out->at);
    if (!out->at)
        return no_memory(err);
    for (uint32_t i = 0; i < out->count; i++) {
        sotto_point_multiply(&t->group, t->at[0], &dealer->a[i], NULL);
        if (hidden) {
            sotto_point_multiply(&t->second, t->at[1], &dealer->b[i], NULL);
            sotto_point_add(&t->group, t->at[0], t->at[0], t->at[1]);
        }
        if (!sotto_point_encode_wide(&t->group, out->at[i], t->at[0]))
            memset(out->at[i], 0, sizeof out->at[i]);
    }
    SOTTO_TRY(sotto_group_finish(&t->second, err));
    return sotto_group_finish(&t->group, err);
}

sotto_status sotto_dkg_commit(const sotto_dkg_dealer *dealer, sotto_tdh2 *t,
                              sotto_dkg_commitments *out, sotto_arena *arena, sotto_err *err)
{
    return commitments(dealer, t, out, true, arena, err);
}

sotto_status sotto_dkg_reveal(const sotto_dkg_dealer *dealer, sotto_tdh2 *t,
                              sotto_dkg_commitments *out, sotto_arena *arena, sotto_err *err)
{
    return commitments(dealer, t, out, false, arena, err);
}

/* ---- checking -------------------------------------------------------------------------------------------- */

/* Zeros are the identity: whoever deals a coefficient of zero must not stand out only when it is too late to go on without it. */
bool sotto_dkg_point_decode(sotto_group *g, sotto_point *out, const uint8_t bytes[SOTTO_P256_WIDE])
{
    static const uint8_t zeros[SOTTO_P256_WIDE];

    if (memcmp(bytes, zeros, sizeof zeros) != 0)
        return sotto_point_decode_wide(g, out, bytes);
    sotto_point_set_identity(g, out);
    return true;
}

/* at[0] = the commitments' polynomial at a place, by Horner. Places are small, so its steps are. */
static bool evaluate_points(sotto_tdh2 *t, const sotto_dkg_commitments *c, uint32_t place)
{
    sotto_group *g = &t->group;
    uint32_t x = place + 1;

    sotto_point_set_identity(g, t->at[0]);
    for (uint32_t i = c->count; i-- > 0;) {
        /* at[0] *= x, by doubling and adding the few bits that a place has. */
        sotto_point_copy(g, t->at[1], t->at[0]);
        for (unsigned bit = 16; bit-- > 0;) {
            if (x >> (bit + 1)) {
                sotto_point_add(g, t->at[0], t->at[0], t->at[0]);
                if (x >> bit & 1)
                    sotto_point_add(g, t->at[0], t->at[0], t->at[1]);
            }
        }
        if (!sotto_dkg_point_decode(g, t->at[2], c->at[i]))
            return false;
        sotto_point_add(g, t->at[0], t->at[0], t->at[2]);
    }
    return true;
}

bool sotto_dkg_is_committed_vartime(sotto_tdh2 *t, const sotto_dkg_commitments *pedersen,
                                    uint32_t place, const sotto_dkg_values *values)
{
    if (!evaluate_points(t, pedersen, place))
        return false;
    sotto_point_multiply(&t->group, t->at[3], &values->a, NULL);
    sotto_point_multiply(&t->second, t->at[4], &values->b, NULL);
    sotto_point_add(&t->group, t->at[3], t->at[3], t->at[4]);
    bool same = sotto_point_equal_vartime(&t->group, t->at[0], t->at[3]);
    return sotto_group_finish(&t->group, NULL) == SOTTO_OK &&
           sotto_group_finish(&t->second, NULL) == SOTTO_OK && same;
}

bool sotto_dkg_is_revealed_vartime(sotto_tdh2 *t, const sotto_dkg_commitments *feldman,
                                   uint32_t threshold, uint32_t place,
                                   const sotto_dkg_values *values)
{
    /* A longer polynomial can pass through everybody's values and begin wherever its dealer likes. */
    if (SOTTO_RULE(dkg_reveals_its_degree) && feldman->count != threshold)
        return false;
    if (!evaluate_points(t, feldman, place))
        return false;
    sotto_point_multiply(&t->group, t->at[3], &values->a, NULL);
    bool same = sotto_point_equal_vartime(&t->group, t->at[0], t->at[3]);
    return sotto_group_finish(&t->group, NULL) == SOTTO_OK && same;
}

void sotto_dkg_qualify(sotto_tdh2 *t, bool *qualified, const sotto_dkg_commitments *pedersen,
                       uint32_t count, uint32_t threshold, const bool *complaints,
                       const sotto_dkg_values *answers, const bool *answered)
{
    for (uint32_t d = 0; d < count; d++) {
        uint32_t against = 0;

        qualified[d] = pedersen[d].count == threshold;
        for (uint32_t m = 0; m < count && qualified[d]; m++) {
            size_t at = (size_t)d * count + m;

            if (!complaints[at])
                continue;
            against++;
            if (SOTTO_RULE(dkg_complaints_answered) &&
                (!answered[at] ||
                 !sotto_dkg_is_committed_vartime(t, &pedersen[d], m, &answers[at])))
                qualified[d] = false;
        }
        if (SOTTO_RULE(dkg_few_complaints) && against >= threshold)
            qualified[d] = false;
    }
}

/* ---- agreement ------------------------------------------------------------------------------------------- */

static const char LABEL[] = "sotto-dkg-agree-2";
enum { AGREED = sizeof LABEL + 32 + 8 + 32 };

static void hash_number(sotto_hash *hash, uint32_t number)
{
    uint8_t bytes[4];
    sotto_buf out = sotto_buf_over(bytes, sizeof bytes);
    sotto_writer w = sotto_writer_on(&out);

    sotto_write_uint(&w, number, 4);
    sotto_hash_update(hash, sotto_bytes_of(bytes, sizeof bytes));
}

/* Members that were shown different commitments by one dealer do not agree on anything. */
void sotto_dkg_agreed(uint8_t out[32], const bool *qualified, const sotto_dkg_commitments *pedersen,
                      uint32_t count)
{
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    hash_number(&hash, count);
    for (uint32_t i = 0; i < count; i++) {
        hash_number(&hash, qualified[i]);
        if (!qualified[i])
            continue;
        hash_number(&hash, pedersen[i].count);
        sotto_hash_update(
            &hash, sotto_bytes_of(pedersen[i].at[0], (size_t)pedersen[i].count * SOTTO_P256_WIDE));
    }
    sotto_hash_final(&hash, out);
}

static void agreed_text(uint8_t out[AGREED], const bool *qualified,
                        const sotto_dkg_commitments *pedersen, uint32_t count,
                        const uint8_t session[32], uint64_t epoch)
{
    sotto_buf text = sotto_buf_over(out, AGREED);
    sotto_writer w = sotto_writer_on(&text);
    uint8_t digest[32];

    sotto_dkg_agreed(digest, qualified, pedersen, count);
    sotto_write_bytes(&w, sotto_bytes_of(LABEL, sizeof LABEL));
    sotto_write_bytes(&w, sotto_bytes_of(session, 32));
    sotto_write_uint(&w, epoch, 8);
    sotto_write_bytes(&w, sotto_bytes_of(digest, sizeof digest));
}

sotto_status sotto_dkg_agree_sign(uint8_t out[SOTTO_SIGNATURE], const bool *qualified,
                                  const sotto_dkg_commitments *pedersen, uint32_t count,
                                  const uint8_t session[32], uint64_t epoch,
                                  const sotto_signer *signer, sotto_err *err)
{
    uint8_t text[AGREED];

    agreed_text(text, qualified, pedersen, count, session, epoch);
    return sotto_sign(signer, out, sotto_bytes_of(text, sizeof text), err);
}

bool sotto_dkg_is_agreed(const bool *qualified, const sotto_dkg_commitments *pedersen,
                         uint32_t count, const uint8_t session[32], uint64_t epoch,
                         const uint8_t (*keys)[SOTTO_SIGN_PUBLIC],
                         const uint8_t (*signatures)[SOTTO_SIGNATURE], const bool *is_signed)
{
    uint8_t text[AGREED];
    uint32_t valid = 0;

    agreed_text(text, qualified, pedersen, count, session, epoch);
    for (uint32_t i = 0; i < count; i++)
        valid += is_signed[i] &&
                 sotto_signature_check(keys[i], signatures[i], sotto_bytes_of(text, sizeof text),
                                       NULL) == SOTTO_OK;
    return valid >= sotto_decryptors_quorum(count);
}

/* ---- the key --------------------------------------------------------------------------------------------- */

/* Coefficient k of all qualified dealers, added up. */
static bool add_up(sotto_tdh2 *t, uint8_t out[SOTTO_P256_WIDE],
                   const sotto_dkg_commitments *feldman, const bool *qualified, uint32_t count,
                   uint32_t k)
{
    sotto_group *g = &t->group;

    sotto_point_set_identity(g, t->at[5]);
    for (uint32_t d = 0; d < count; d++) {
        if (!qualified[d])
            continue;
        if (!sotto_dkg_point_decode(g, t->at[2], feldman[d].at[k]))
            return false;
        sotto_point_add(g, t->at[5], t->at[5], t->at[2]);
    }
    return sotto_point_encode_wide(g, out, t->at[5]);
}

sotto_status sotto_dkg_publish_vartime(sotto_tdh2 *t, uint8_t key[SOTTO_P256_WIDE],
                                       uint8_t (*verify)[SOTTO_P256_WIDE],
                                       const sotto_dkg_commitments *feldman, const bool *qualified,
                                       uint32_t count, uint32_t threshold, sotto_err *err)
{
    uint8_t sums[SOTTO_DECRYPTORS_MOST][SOTTO_P256_WIDE];
    sotto_dkg_commitments all = {.count = threshold, .at = sums};
    bool whole = true, any = false;

    if (threshold == 0 || threshold > SOTTO_DECRYPTORS_MOST)
        return sotto_fail(err, SOTTO_REJECTED, "key generation: a threshold of %u", threshold);
    for (uint32_t d = 0; d < count; d++) {
        any = any || qualified[d];
        if (qualified[d] && feldman[d].count != threshold)
            return sotto_fail(err, SOTTO_REJECTED, "key generation: %u coefficients, not %u",
                              feldman[d].count, threshold);
    }
    if (!any)
        return sotto_fail(err, SOTTO_REJECTED, "key generation: nobody's polynomial counts");
    for (uint32_t k = 0; k < all.count; k++)
        whole = add_up(t, sums[k], feldman, qualified, count, k) && whole;
    memcpy(key, sums[0], SOTTO_P256_WIDE);
    for (uint32_t m = 0; m < count && whole; m++)
        whole =
            evaluate_points(t, &all, m) && sotto_point_encode_wide(&t->group, verify[m], t->at[0]);
    SOTTO_TRY(sotto_group_finish(&t->group, err));
    return whole ? SOTTO_OK
                 : sotto_fail(err, SOTTO_REJECTED,
                              "key generation: not points, or they add up to "
                              "nothing");
}

/* coefficients += value * the Lagrange polynomial that is 1 at xs[own] and 0 at the others. */
static void add_basis(sotto_group *g, sotto_scalar *coefficients, const sotto_scalar *value,
                      const uint32_t *xs, uint32_t own, uint32_t count)
{
    sotto_scalar basis[SOTTO_DECRYPTORS_MOST], below, x, at, product;
    uint32_t degree = 0;

    sotto_scalar_set(g, &basis[0], 1);
    sotto_scalar_set(g, &below, 1);
    sotto_scalar_set(g, &at, xs[own]);
    for (uint32_t j = 0; j < count; j++) {
        if (j == own)
            continue;
        sotto_scalar_set(g, &x, xs[j]);
        /* basis *= (X - x) */
        basis[degree + 1] = basis[degree];
        for (uint32_t k = degree; k > 0; k--) {
            sotto_scalar_multiply(g, &product, &basis[k], &x);
            sotto_scalar_subtract(g, &basis[k], &basis[k - 1], &product);
        }
        sotto_scalar_multiply(g, &product, &basis[0], &x);
        sotto_scalar_negate(g, &basis[0], &product);
        degree++;
        sotto_scalar_subtract(g, &product, &at, &x);
        sotto_scalar_multiply(g, &below, &below, &product);
    }
    sotto_scalar_invert(g, &below, &below);
    sotto_scalar_multiply(g, &below, &below, value);
    for (uint32_t k = 0; k < count; k++) {
        sotto_scalar_multiply(g, &product, &basis[k], &below);
        sotto_scalar_add(g, &coefficients[k], &coefficients[k], &product);
    }
}

sotto_status sotto_dkg_rebuild_vartime(sotto_tdh2 *t, sotto_dkg_commitments *out,
                                       const sotto_dkg_commitments *pedersen,
                                       const sotto_dkg_values *values, const bool *is_there,
                                       uint32_t count, sotto_arena *arena, sotto_err *err)
{
    sotto_scalar coefficients[SOTTO_DECRYPTORS_MOST];
    uint32_t xs[SOTTO_DECRYPTORS_MOST], from[SOTTO_DECRYPTORS_MOST], found = 0;
    sotto_dkg_dealer dealer = {.threshold = pedersen->count, .a = coefficients};

    if (pedersen->count == 0 || pedersen->count > SOTTO_DECRYPTORS_MOST)
        return sotto_fail(err, SOTTO_REJECTED, "key generation: %u commitments", pedersen->count);
    for (uint32_t m = 0; m < count && found < pedersen->count; m++) {
        /* A member that shows another value would move the key, which is what the dealer wanted. */
        if (SOTTO_RULE(dkg_rebuilt_as_committed) &&
            !sotto_dkg_is_committed_vartime(t, pedersen, m, &values[m]))
            continue;
        if (!is_there[m])
            continue;
        from[found] = m;
        xs[found++] = m + 1;
    }
    if (found < pedersen->count)
        return sotto_fail(err, SOTTO_AGAIN, "key generation: %u of %u values to rebuild from",
                          found, pedersen->count);
    for (uint32_t k = 0; k < found; k++)
        sotto_scalar_set(&t->group, &coefficients[k], 0);
    for (uint32_t i = 0; i < found; i++)
        add_basis(&t->group, coefficients, &values[from[i]].a, xs, i, found);
    return commitments(&dealer, t, out, false, arena, err);
}

void sotto_dkg_share(sotto_tdh2 *t, sotto_scalar *out, const sotto_dkg_values *values,
                     const bool *qualified, uint32_t count)
{
    sotto_scalar_set(&t->group, out, 0);
    for (uint32_t d = 0; d < count; d++)
        if (qualified[d])
            sotto_scalar_add(&t->group, out, out, &values[d].a);
}

/* ---- handing on ------------------------------------------------------------------------------------------ */

bool sotto_dkg_hands_on_vartime(sotto_tdh2 *t, const sotto_dkg_commitments *feldman,
                                const uint8_t verify[SOTTO_P256_WIDE])
{
    (void)t;
    if (feldman->count == 0)
        return false;
    if (SOTTO_RULE(dkg_hands_on_its_share) && memcmp(feldman->at[0], verify, SOTTO_P256_WIDE) != 0)
        return false;
    return true;
}

void sotto_dkg_take_over(sotto_tdh2 *t, sotto_scalar *out, const sotto_dkg_values *values,
                         const uint32_t *places, uint32_t count)
{
    sotto_scalar weights[SOTTO_DECRYPTORS_MOST], product;
    uint32_t xs[SOTTO_DECRYPTORS_MOST] = {0};

    for (uint32_t i = 0; i < count; i++)
        xs[i] = places[i] + 1;
    sotto_scalar_weights_vartime(&t->group, weights, xs, count);
    sotto_scalar_set(&t->group, out, 0);
    for (uint32_t i = 0; i < count; i++) {
        sotto_scalar_multiply(&t->group, &product, &weights[i], &values[i].a);
        sotto_scalar_add(&t->group, out, out, &product);
    }
    sotto_wipe(&product, sizeof product);
}
