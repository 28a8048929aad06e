#include "aggregate/aero/hand_over.h"

#include "aggregate/aero/code.h"
#include "base/rule.h"
#include "crypto/keystream.h"

#include <string.h>

/* ---- numbers modulo both primes ------------------------------------------------------------------------- */

typedef struct number {
    sotto_f64 first;
    uint64_t second;
} number;

static number times_plus(const sotto_aero *aero, number a, uint64_t x, number b)
{
    const sotto_limb *limb = &aero->ring.second;
    number out = {
        sotto_f64_add(sotto_f64_mul(a.first, sotto_f64_to_weight(sotto_f64_from(x))), b.first), 0};

    if (aero->ring.set->second)
        out.second = sotto_limb_from(limb, sotto_limb_mul(limb, a.second, x) + b.second);
    return out;
}

/* Uniform, but for 2^-64: 16 bytes for each residue. */
static sotto_status draw_number(const sotto_aero *aero, number *out, sotto_entropy *entropy,
                                sotto_err *err)
{
    uint8_t bytes[32];
    const sotto_limb *limb = &aero->ring.second;

    SOTTO_TRY(sotto_entropy_take(entropy, bytes, sizeof bytes, err));
    out->first = sotto_f64_reduce(sotto_u128_of(sotto_load64(bytes) >> 1, sotto_load64(bytes + 8)));
    out->second = 0;
    if (aero->ring.set->second) {
        uint64_t high = sotto_limb_from(limb, sotto_load64(bytes + 16) >> 1);
        uint64_t low = sotto_limb_from(limb, sotto_load64(bytes + 24) >> 1);

        out->second = sotto_limb_from(
            limb, sotto_limb_mul(limb, high, sotto_limb_from(limb, (uint64_t)1 << 62)) + low);
    }
    sotto_wipe(bytes, sizeof bytes);
    return SOTTO_OK;
}

/* ---- dealing --------------------------------------------------------------------------------------------- */

static number pad_at(const sotto_aero_pads *pads, size_t i)
{
    return (number){pads->first[i], pads->second[i]};
}

static void set_pad(sotto_aero_pads *pads, size_t i, number x)
{
    pads->first[i] = x.first;
    pads->second[i] = x.second;
}

void sotto_aero_pads_add(const sotto_aero *aero, sotto_aero_pads *sum, const sotto_aero_pads *more)
{
    for (size_t i = 0; i < SOTTO_AERO_PADS; i++)
        set_pad(sum, i, times_plus(aero, pad_at(sum, i), 1, pad_at(more, i)));
}

/* Adds shares of one number to pad i of all holdings. */
static sotto_status deal_pad(const sotto_aero *aero, sotto_aero_holding *holdings, size_t count,
                             size_t threshold, size_t i, number secret, sotto_entropy *entropy,
                             sotto_err *err)
{
    number c[SOTTO_AERO_MOST_MEMBERS];
    sotto_status status = SOTTO_OK;

    for (size_t k = 0; k + 1 < threshold && status == SOTTO_OK; k++)
        status = draw_number(aero, &c[k], entropy, err);
    for (size_t j = 0; j < count && status == SOTTO_OK; j++) {
        number sum = {sotto_f64_zero(), 0};

        for (size_t k = threshold - 1; k-- > 0;)
            sum = times_plus(aero, sum, j + 1, c[k]);
        sum = times_plus(aero, sum, j + 1, secret);
        set_pad(&holdings[j].pads, i, times_plus(aero, sum, 1, pad_at(&holdings[j].pads, i)));
    }
    sotto_wipe(c, sizeof c);
    return status;
}

static sotto_status check_sizes(size_t count, size_t threshold, sotto_err *err)
{
    if (threshold < 2 || threshold > count || count > SOTTO_AERO_MOST_MEMBERS)
        return sotto_fail(err, SOTTO_BUG, "aero: %zu of %zu members", threshold, count);
    return SOTTO_OK;
}

sotto_status sotto_aero_pads_deal(const sotto_aero *aero, sotto_aero_holding *holdings,
                                  size_t count, size_t threshold, sotto_entropy *entropy,
                                  sotto_err *err)
{
    number secret;

    SOTTO_TRY(check_sizes(count, threshold, err));
    for (size_t i = 0; i < SOTTO_AERO_PADS; i++) {
        SOTTO_TRY(draw_number(aero, &secret, entropy, err));
        SOTTO_TRY(deal_pad(aero, holdings, count, threshold, i, secret, entropy, err));
    }
    sotto_wipe(&secret, sizeof secret);
    return SOTTO_OK;
}

static sotto_status deal_share(const sotto_aero *aero, sotto_aero_holding *dealt, size_t count,
                               size_t threshold, const sotto_aero_holding *own,
                               sotto_aero_share *shares, sotto_entropy *entropy, sotto_err *err)
{
    SOTTO_TRY(sotto_aero_deal_poly(aero, shares, count, threshold, &own->share.s, entropy, err));
    for (size_t j = 0; j < count; j++) {
        dealt[j].share = shares[j];
        memset(&dealt[j].pads, 0, sizeof dealt[j].pads);
    }
    for (size_t i = 0; i < SOTTO_AERO_PADS; i++)
        SOTTO_TRY(deal_pad(aero, dealt, count, threshold, i, pad_at(&own->pads, i), entropy, err));
    return SOTTO_OK;
}

sotto_status sotto_aero_hand_deal(const sotto_aero *aero, sotto_aero_holding *dealt, size_t count,
                                  size_t threshold, const sotto_aero_holding *own,
                                  sotto_entropy *entropy, sotto_err *err)
{
    sotto_arena scratch;
    sotto_status status = SOTTO_NO_MEMORY;

    SOTTO_TRY(check_sizes(count, threshold, err));
    sotto_arena_init(&scratch, (count + 1) * sizeof(sotto_aero_share));
    sotto_aero_share *shares = sotto_arena_take_array(&scratch, count, sizeof *shares);
    if (shares)
        status = deal_share(aero, dealt, count, threshold, own, shares, entropy, err);
    sotto_arena_clear(&scratch);
    if (status != SOTTO_OK)
        sotto_wipe(dealt, count * sizeof *dealt);
    return status == SOTTO_NO_MEMORY ? sotto_fail(err, status, "aero: no memory") : status;
}

/* ---- probes ------------------------------------------------------------------------------------------------ */

static sotto_status next_bytes(void *context, void *out, size_t len, sotto_err *err)
{
    return sotto_keystream_next(context, out, len, err);
}

static number product(const sotto_aero *aero, number a, number b)
{
    number out = {sotto_f64_mul(a.first, sotto_f64_to_weight(b.first)), 0};

    if (aero->ring.set->second)
        out.second = sotto_limb_mul(&aero->ring.second, a.second, b.second);
    return out;
}

/* Number i of a holding: its share, then its pads. */
static number entry(const sotto_aero_holding *h, size_t i)
{
    if (i < SOTTO_AERO_N)
        return (number){h->share.s.first[i], h->share.s.second[i]};
    return pad_at(&h->pads, i - SOTTO_AERO_N);
}

static void add_entry(const sotto_aero *aero, sotto_aero_probe *out, size_t r, number x)
{
    number sum = times_plus(aero, (number){out->first[r], out->second[r]}, 1, x);

    out->first[r] = sum.first;
    out->second[r] = sum.second;
}

/* The same combination of every dealer's numbers. Pads that were used before, or are used now, are not part of it. */
static sotto_status combine(const sotto_aero *aero, sotto_aero_probe *out, size_t r,
                            const sotto_aero_holding *const *dealt, size_t count, uint32_t before,
                            sotto_entropy *entropy, sotto_err *err)
{
    size_t own = (SOTTO_AERO_PROBES * (size_t)before + r) % SOTTO_AERO_PADS;
    size_t unused = SOTTO_AERO_N + SOTTO_AERO_PROBES * ((size_t)before + 1);
    number weight;

    for (size_t d = 0; d < count; d++)
        add_entry(aero, &out[d], r, pad_at(&dealt[d]->pads, own));
    for (size_t i = 0; i < (size_t)SOTTO_AERO_N + SOTTO_AERO_PADS; i++) {
        if (i >= SOTTO_AERO_N && i < unused)
            continue;
        SOTTO_TRY(draw_number(aero, &weight, entropy, err));
        for (size_t d = 0; d < count; d++)
            add_entry(aero, &out[d], r, product(aero, entry(dealt[d], i), weight));
    }
    return SOTTO_OK;
}

sotto_status sotto_aero_hand_probe(const sotto_aero *aero, sotto_aero_probe *out,
                                   const sotto_aero_holding *const *dealt, size_t count,
                                   uint32_t before, const uint8_t seed[SOTTO_AERO_SEED],
                                   sotto_err *err)
{
    sotto_keystream stream;
    sotto_entropy entropy;

    /* A pad that hides two combinations tells their difference. */
    if (SOTTO_RULE(aero_pads_once) && before >= SOTTO_AERO_MOST_HAND_OVERS)
        return sotto_fail(err, SOTTO_DENIED, "aero: a key is handed over %d times at most",
                          SOTTO_AERO_MOST_HAND_OVERS);
    memset(out, 0, count * sizeof *out);
    sotto_status status = sotto_keystream_init(&stream, err);
    if (status == SOTTO_OK)
        status = sotto_keystream_seed(&stream, seed, err);
    sotto_entropy_init(&entropy, next_bytes, &stream);
    for (size_t r = 0; r < SOTTO_AERO_PROBES && status == SOTTO_OK; r++)
        status = combine(aero, out, r, dealt, count, before, &entropy, err);
    sotto_entropy_clear(&entropy);
    sotto_keystream_clear(&stream);
    return status;
}

/* ---- judgement -------------------------------------------------------------------------------------------- */

typedef struct judging {
    const sotto_aero_probes *probes;
    sotto_code dealt; /* over new members */
    uint64_t *y, *constants, *weights;
    uint64_t *
        checks; /* weights for 0, then for each member after the first ones: most words are right */
    bool *wrong;
    uint32_t *from;
    bool is_second;
} judging;

static uint64_t cell(const judging *j, size_t dealer, size_t member, size_t probe)
{
    const sotto_aero_probe *p = &j->probes->at[dealer * j->probes->count + member];

    return j->is_second ? p->second[probe] : p->first[probe].v;
}

/* The value that the first members' numbers give, in a row of checks. */
static uint64_t checked(const judging *j, size_t row)
{
    size_t threshold = j->probes->threshold;
    sotto_u128 sum = 0;

    for (size_t i = 0; i < threshold; i++)
        sum += sotto_code_mul(&j->dealt, j->checks[row * threshold + i], j->y[i]);
    return (uint64_t)(sum % j->dealt.p);
}

static void make_checks(judging *j)
{
    size_t threshold = j->probes->threshold;

    for (size_t i = 0; i < threshold; i++)
        j->from[i] = (uint32_t)i;
    sotto_code_weights_vartime(&j->dealt, j->checks, j->from, 0);
    for (size_t i = threshold; i < j->probes->count; i++)
        sotto_code_weights_vartime(&j->dealt, j->checks + (1 + i - threshold) * threshold, j->from,
                                   j->dealt.x[i]);
}

/* Whether nobody differs. */
static bool all_agree(const judging *j)
{
    size_t threshold = j->probes->threshold;

    for (size_t i = threshold; i < j->probes->count; i++)
        if (checked(j, 1 + i - threshold) != j->y[i])
            return false;
    return j->probes->count >= 2 * threshold - 1;
}

/* The constant term of what new members say of one dealer. False: there is none that enough of them agree on. */
static bool constant_of(judging *j, uint64_t *out, size_t dealer, size_t probe,
                        sotto_arena *scratch)
{
    const sotto_aero_probes *p = j->probes;
    size_t agree = 0, chosen = 0;
    sotto_u128 sum = 0;

    memset(j->wrong, 0, p->count * sizeof *j->wrong);
    for (size_t i = 0; i < p->count; i++)
        j->y[i] = cell(j, dealer, i, probe);
    if (all_agree(j)) {
        *out = checked(j, 0);
        return true;
    }
    if (sotto_code_locate_vartime(&j->dealt, j->wrong, j->y, scratch, NULL) != SOTTO_OK)
        return false;
    for (size_t i = 0; i < p->count; i++) {
        agree += !j->wrong[i];
        if (p->wrong)
            p->wrong[dealer * p->count + i] |= j->wrong[i];
        if (!j->wrong[i] && chosen < p->threshold)
            j->from[chosen++] = (uint32_t)i;
    }
    if (agree < 2 * p->threshold - 1)
        return false;
    sotto_code_weights_vartime(&j->dealt, j->weights, j->from, 0);
    for (size_t i = 0; i < p->threshold; i++)
        sum += sotto_code_mul(&j->dealt, j->weights[i], j->y[j->from[i]]);
    *out = (uint64_t)(sum % j->dealt.p);
    return true;
}

/* Dealers whose probe has a constant term, and which of those are points of one polynomial. */
static sotto_status judge_probe(judging *j, bool *bad, size_t probe, sotto_arena *scratch,
                                sotto_err *err)
{
    const sotto_aero_probes *p = j->probes;
    uint64_t x[SOTTO_AERO_MOST_MEMBERS];
    bool off[SOTTO_AERO_MOST_MEMBERS] = {false};
    uint32_t who[SOTTO_AERO_MOST_MEMBERS];
    size_t count = 0;

    for (size_t d = 0; d < p->dealer_count; d++) {
        if (!constant_of(j, &j->constants[count], d, probe, scratch)) {
            bad[d] = true;
            continue;
        }
        who[count] = (uint32_t)d;
        x[count++] = (uint64_t)p->dealers[d] + 1;
    }
    const sotto_code old = {.p = j->dealt.p, .x = x, .count = count, .threshold = p->old_threshold};
    if (count < old.threshold)
        return sotto_fail(err, SOTTO_REJECTED, "aero: too few members dealt as they should");
    SOTTO_TRY(sotto_code_locate_vartime(&old, off, j->constants, scratch, err));
    for (size_t i = 0; i < count; i++)
        bad[who[i]] |= off[i];
    return SOTTO_OK;
}

static sotto_status make_judging(judging *j, const sotto_aero_probes *p, sotto_arena *scratch,
                                 sotto_err *err)
{
    uint64_t *x = sotto_arena_take_array(scratch, p->count, sizeof *x);

    j->y = sotto_arena_take_array(scratch, p->count, sizeof *j->y);
    j->constants = sotto_arena_take_array(scratch, p->dealer_count, sizeof *j->constants);
    j->weights = sotto_arena_take_array(scratch, p->threshold, sizeof *j->weights);
    j->checks = sotto_arena_take_array(scratch, (p->count - p->threshold + 1) * p->threshold,
                                       sizeof *j->checks);
    j->wrong = sotto_arena_take_array(scratch, p->count, sizeof *j->wrong);
    j->from = sotto_arena_take_array(scratch, p->threshold, sizeof *j->from);
    if (!x || !j->y || !j->constants || !j->weights || !j->checks || !j->wrong || !j->from)
        return sotto_fail(err, SOTTO_NO_MEMORY, "aero: no memory");
    for (size_t i = 0; i < p->count; i++)
        x[i] = (p->members ? p->members[i] : i) + 1;
    j->probes = p;
    j->dealt = (sotto_code){.x = x, .count = p->count, .threshold = p->threshold};
    return SOTTO_OK;
}

sotto_status sotto_aero_hand_judge_vartime(const sotto_aero *aero, bool *bad,
                                           const sotto_aero_probes *probes, sotto_arena *scratch,
                                           sotto_err *err)
{
    size_t primes = aero->ring.set->second ? 2 : 1, good = 0;
    judging j = {.is_second = false};

    SOTTO_TRY(check_sizes(probes->count, probes->threshold, err));
    SOTTO_TRY(check_sizes(probes->dealer_count, probes->old_threshold, err));
    SOTTO_TRY(make_judging(&j, probes, scratch, err));
    memset(bad, 0, probes->dealer_count * sizeof *bad);
    for (size_t i = 0; i < primes; i++) {
        j.is_second = i == 1;
        j.dealt.p = i == 1 ? aero->ring.set->second : SOTTO_F64_P;
        make_checks(&j);
        for (size_t r = 0; r < SOTTO_AERO_PROBES; r++)
            SOTTO_TRY(judge_probe(&j, bad, r, scratch, err));
    }
    for (size_t d = 0; d < probes->dealer_count; d++)
        good += !bad[d];
    if (SOTTO_RULE(aero_hands_agree) && good < 2 * probes->old_threshold - 1)
        return sotto_fail(err, SOTTO_REJECTED, "aero: %zu members dealt alike, and %zu have to",
                          good, 2 * probes->old_threshold - 1);
    return SOTTO_OK;
}

/* ---- taking over ------------------------------------------------------------------------------------------ */

bool sotto_aero_hand_fits_vartime(const sotto_aero *aero, const sotto_aero_probe *own,
                                  uint32_t member, const sotto_aero_probe *others,
                                  const uint32_t *members, size_t count)
{
    uint64_t x[SOTTO_AERO_MOST_MEMBERS], weights[SOTTO_AERO_MOST_MEMBERS];
    uint32_t from[SOTTO_AERO_MOST_MEMBERS];
    const size_t primes = aero->ring.set->second ? 2 : 1;
    bool fits = true;

    for (size_t i = 0; i < count; i++) {
        x[i] = (uint64_t)members[i] + 1;
        from[i] = (uint32_t)i;
    }
    for (size_t second = 0; second < primes; second++) {
        const sotto_code code = {.p = second ? aero->ring.set->second : SOTTO_F64_P,
                                 .x = x,
                                 .count = count,
                                 .threshold = count};

        sotto_code_weights_vartime(&code, weights, from, (uint64_t)member + 1);
        for (size_t r = 0; r < SOTTO_AERO_PROBES; r++) {
            sotto_u128 sum = 0;

            for (size_t i = 0; i < count; i++)
                sum += sotto_code_mul(&code, weights[i],
                                      second ? others[i].second[r] : others[i].first[r].v);
            fits &= (uint64_t)(sum % code.p) == (second ? own->second[r] : own->first[r].v);
        }
    }
    return fits;
}

sotto_status sotto_aero_hand_take(const sotto_aero *aero, sotto_aero_holding *out,
                                  const sotto_aero_holding *const *dealt, const uint32_t *dealers,
                                  size_t count, sotto_err *err)
{
    sotto_aero_weight weights[SOTTO_AERO_MOST_MEMBERS];
    sotto_aero_poly v;

    SOTTO_TRY(sotto_aero_weights_vartime(aero, weights, dealers, count, err));
    memset(out, 0, sizeof *out);
    for (size_t d = 0; d < count; d++) {
        const number weight = {weights[d].first, weights[d].second};

        v = dealt[d]->share.s;
        sotto_aero_scale(&aero->ring, &v, weights[d].first, weights[d].second);
        sotto_aero_add(&aero->ring, &out->share.s, &v);
        for (size_t i = 0; i < SOTTO_AERO_PADS; i++)
            set_pad(&out->pads, i,
                    times_plus(aero, pad_at(&out->pads, i), 1,
                               product(aero, pad_at(&dealt[d]->pads, i), weight)));
    }
    sotto_wipe(&v, sizeof v);
    return SOTTO_OK;
}
