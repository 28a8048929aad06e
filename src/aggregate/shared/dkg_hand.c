/* What a committee that takes a key over computes for everybody: whose deals count, and its members' public values. */
#include "aggregate/shared/dkg.h"

#include "base/arena.h"
#include "base/rule.h"

void sotto_dkg_qualify_handed(sotto_tdh2 *t, bool *qualified, const sotto_dkg_handed *h,
                              const bool *complaints, const sotto_dkg_values *answers,
                              const bool *answered)
{
    for (uint32_t d = 0; d < h->dealers; d++) {
        uint32_t against = 0;

        qualified[d] = h->feldman[d].count == h->threshold &&
                       sotto_dkg_hands_on_vartime(t, &h->feldman[d], h->verify[d]);
        for (uint32_t m = 0; m < h->count && qualified[d]; m++) {
            const size_t at = (size_t)d * h->count + m;

            if (!complaints[at])
                continue;
            against++;
            if (SOTTO_RULE(dkg_handed_answered) &&
                (!answered[at] ||
                 !sotto_dkg_is_revealed_vartime(t, &h->feldman[d], h->threshold, m, &answers[at])))
                qualified[d] = false;
        }
        /* So many answers would give the share away. */
        if (SOTTO_RULE(dkg_handed_few_complaints) && against >= h->threshold)
            qualified[d] = false;
    }
}

/* out = the weighted sum of coefficient k of the deals in the set. */
static bool add_weighted(sotto_tdh2 *t, uint8_t out[SOTTO_P256_WIDE], const sotto_dkg_handed *h,
                         const uint32_t *places, const sotto_scalar *weights, uint32_t count,
                         uint32_t k)
{
    sotto_group *g = &t->group;

    sotto_point_set_identity(g, t->at[5]);
    for (uint32_t i = 0; i < count; i++) {
        if (!sotto_dkg_point_decode(g, t->at[2], h->feldman[places[i]].at[k]))
            return false;
        sotto_point_multiply(g, t->at[3], &weights[i], t->at[2]);
        sotto_point_add(g, t->at[5], t->at[5], t->at[3]);
    }
    return sotto_point_encode_wide(g, out, t->at[5]);
}

sotto_status sotto_dkg_publish_handed_vartime(sotto_tdh2 *t, uint8_t key[SOTTO_P256_WIDE],
                                              uint8_t (*verify)[SOTTO_P256_WIDE],
                                              const sotto_dkg_handed *h, const uint32_t *places,
                                              uint32_t count, sotto_arena *arena, sotto_err *err)
{
    sotto_scalar weights[SOTTO_DECRYPTORS_MOST];
    uint32_t xs[SOTTO_DECRYPTORS_MOST] = {0};
    sotto_dkg_commitments *sums = sotto_arena_take_array(arena, h->count, sizeof *sums);
    bool *counts = sotto_arena_take_array(arena, h->count, sizeof *counts), whole = true;
    uint8_t(*at)[SOTTO_P256_WIDE] = sotto_arena_take_array(arena, h->threshold, sizeof *at);

    if (!sums || !counts || !at)
        return sotto_fail(err, SOTTO_NO_MEMORY, "key generation: no memory");
    for (uint32_t i = 0; i < count; i++)
        xs[i] = places[i] + 1;
    sotto_scalar_weights_vartime(&t->group, weights, xs, count);
    for (uint32_t k = 0; k < h->threshold; k++)
        whole = add_weighted(t, at[k], h, places, weights, count, k) && whole;
    SOTTO_TRY(sotto_group_finish(&t->group, err));
    if (!whole)
        return sotto_fail(err, SOTTO_REJECTED,
                          "key generation: not points, or they add up to nothing");
    /* As of a single dealer whose deal is the weighted sum. */
    sums[0] = (sotto_dkg_commitments){.count = h->threshold, .at = at};
    counts[0] = true;
    return sotto_dkg_publish_vartime(t, key, verify, sums, counts, h->count, h->threshold, err);
}
