#include "aggregate/aero/terms.h"

#include "aggregate/aero/aero.h"
#include "aggregate/aero/odds.h"
#include "aggregate/shared/draw.h"
#include "base/rule.h"
#include "crypto/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- whether they fit --------------------------------------------------------------------------------- */

static const sotto_aero_set *set_at(unsigned row)
{
    const sotto_aero_set *s = sotto_aero_sets;

    while (s->name && row-- > 0)
        s++;
    return s->name ? s : NULL;
}

static uint64_t groups_of(const sotto_round *round)
{
    const uint64_t ciphertexts = (round->length + SOTTO_AERO_SLOTS - 1) / SOTTO_AERO_SLOTS;

    return (ciphertexts + SOTTO_AERO_GROUP - 1) / SOTTO_AERO_GROUP;
}

static sotto_status check_committees(const sotto_round *round, const sotto_aero_terms *t,
                                     sotto_err *err)
{
    const uint64_t members = (uint64_t)t->committee * t->committees;

    if (t->committee < 3 || t->committee > SOTTO_AERO_MOST_COMMITTEE ||
        members > SOTTO_AERO_MOST_COMMITTEE || members > round->registered || t->threshold < 2 ||
        t->threshold > t->committee)
        return sotto_fail(
            err, SOTTO_DENIED, "aero: %u of each of %u committees of %u, of %llu registered",
            t->threshold, t->committees, t->committee, (unsigned long long)round->registered);
    /* Noise is dealt, and points are collected, by one committee. One without a group would only be one more to lose. */
    if (t->committees < 1 || t->committees > SOTTO_AERO_MOST_COMMITTEES ||
        t->committees > groups_of(round) || (t->opening == SOTTO_AERO_ROBUST && t->committees > 1))
        return sotto_fail(err, SOTTO_DENIED, "aero: %u committees", t->committees);
    if (t->opening > SOTTO_AERO_ROBUST ||
        (t->opening == SOTTO_AERO_ROBUST && 2 * t->threshold - 1 > t->committee))
        return sotto_fail(err, SOTTO_DENIED, "aero: %u of a committee of %u have to agree",
                          2 * t->threshold - 1, t->committee);
    if (t->noise_members < 1 || t->noise_members > SOTTO_AERO_MOST_NOISE ||
        t->noise_members > round->registered ||
        (uint64_t)t->noise_corrupt + t->noise_missing >= t->noise_members)
        return sotto_fail(err, SOTTO_DENIED,
                          "aero: a noise committee of %u, %u corrupt and %u missing",
                          t->noise_members, t->noise_corrupt, t->noise_missing);
    if (t->liars > round->largest)
        return sotto_fail(err, SOTTO_DENIED, "aero: %u liars among %llu contributors", t->liars,
                          (unsigned long long)round->largest);
    if (t->clears > round->registered)
        return sotto_fail(err, SOTTO_DENIED, "aero: %u of %llu devices find nothing wrong",
                          t->clears, (unsigned long long)round->registered);
    if (round->noise.shares != (uint64_t)t->noise_members - t->noise_corrupt - t->noise_missing)
        return sotto_fail(err, SOTTO_DENIED, "aero: the claim counts on %llu shares of noise",
                          (unsigned long long)round->noise.shares);
    return SOTTO_OK;
}

static sotto_status check_numbers(const sotto_round *round, const sotto_aero_terms *t,
                                  sotto_err *err)
{
    uint64_t ciphertexts = (round->length + SOTTO_AERO_SLOTS - 1) / SOTTO_AERO_SLOTS;
    uint64_t groups = groups_of(round);

    if (!set_at(t->set) || t->profile < SOTTO_AERO_STANDARD || t->profile > SOTTO_AERO_HIGH ||
        t->bits < 3 || t->bits > SOTTO_AERO_PROOF_MOST_BITS || t->checks < 1)
        return sotto_fail(err, SOTTO_DENIED, "aero: no such set, profile, bits or checks");
    if (sotto_ring_width(round->ring) == 0)
        return sotto_fail(err, SOTTO_DENIED, "aero: vectors are given modulo 2^32 or 2^64");
    if (ciphertexts > (uint64_t)SOTTO_AERO_MOST_GROUPS * SOTTO_AERO_GROUP)
        return sotto_fail(err, SOTTO_DENIED, "aero: a vector of %llu entries is too long",
                          (unsigned long long)round->length);
    if ((double)round->noise.num * 200 > (double)round->noise.den * ldexp(1, 2 * (t->bits - 1)))
        return sotto_fail(err, SOTTO_DENIED, "aero: a share of noise does not fit %u bits",
                          t->bits);
    /* Its own leaf in both roles, and the others, in each group: what is beyond the list would not be asked for. */
    if (SOTTO_RULE(aero_asks_fit) &&
        groups * (2 + sotto_aero_most_checks(t)) > SOTTO_AERO_MOST_ASKS)
        return sotto_fail(err, SOTTO_DENIED, "aero: a device would ask for more than %d leaves",
                          SOTTO_AERO_MOST_ASKS);
    if (round->largest > SOTTO_AERO_MOST_LEAVES / 2 ||
        set_at(t->set)->second > UINT64_MAX / 2 / (round->largest + SOTTO_AERO_MOST_NOISE))
        return sotto_fail(err, SOTTO_DENIED, "aero: %llu contributions are too many for one tree",
                          (unsigned long long)round->largest);
    if (round->most >> (t->bits - 1) || round->number == 0 || round->number >> (t->bits - 1))
        return sotto_fail(err, SOTTO_DENIED,
                          "aero: entries and the number of the round have %u bits, and rounds "
                          "begin with 1",
                          t->bits - 1u);
    return SOTTO_OK;
}

/* A key that is handed over goes from one committee to one: 2 A + 1 of both have to agree. */
static sotto_status check_rekey(const sotto_round *round, const sotto_aero_terms *t, sotto_err *err)
{
    if (t->rekey == 1 || t->rekey > SOTTO_AERO_MOST_REKEY)
        return sotto_fail(err, SOTTO_DENIED, "aero: %u rounds under one key", t->rekey);
    if (t->rekey && (t->committees > 1 || 2 * t->threshold - 1 > t->committee))
        return sotto_fail(err, SOTTO_DENIED,
                          "aero: %u committees of %u, of which %u open, hand over no key",
                          t->committees, t->committee, t->threshold);
    if (SOTTO_RULE(aero_key_retired) && t->handed && t->handed >= t->rekey)
        return sotto_fail(err, SOTTO_DENIED,
                          "aero: a key that was handed over %u times, for %u rounds", t->handed,
                          t->rekey);
    if (t->handed && (round->number <= t->handed || round->epoch == 0))
        return sotto_fail(err, SOTTO_DENIED, "aero: no committee before round %llu has this key",
                          (unsigned long long)round->number);
    return SOTTO_OK;
}

sotto_status sotto_aero_check_round(const sotto_round *round, sotto_err *err)
{
    sotto_aero_terms t;

    SOTTO_TRY(sotto_aero_terms_decode(&t, round->parameters, err));
    SOTTO_TRY(check_numbers(round, &t, err));
    SOTTO_TRY(check_committees(round, &t, err));
    return check_rekey(round, &t, err);
}

/* ---- plan --------------------------------------------------------------------------------------------- */

static sotto_status plan_ledger(sotto_aero_plan *plan, sotto_err *err)
{
    const sotto_aero_terms *t = &plan->terms;
    const sotto_aero_wish wish = {
        .set = set_at(t->set),
        .devices = plan->round->largest + t->noise_members,
        .liars = (uint64_t)t->liars + t->noise_corrupt,
        .most = UINT64_C(1) << (t->bits - 1),
        .dealers = t->committee,
        .threshold = t->threshold,
        .rounds = t->rekey ? t->rekey : 1,
        .ciphertexts = plan->ciphertexts,
        .tries = SOTTO_AERO_MOST_TRIES,
        .failure = 40,
        .is_robust = t->opening == SOTTO_AERO_ROBUST,
    };

    return sotto_aero_ledger_plan(&plan->ledger, &wish, err);
}

static void price(sotto_aero_plan *plan)
{
    double norm2 = 0;

    for (uint32_t g = 0; g < plan->groups; g++)
        norm2 += (double)sotto_aero_norm2(plan, SOTTO_AERO_CONTRIBUTOR, g);
    plan->rho =
        sotto_aero_price(&plan->round->noise, (double)plan->round->length, norm2, plan->ledger.rho);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Each committee is drawn from those who are left: in the order of the registry, which a server writes before the draw, corrupt members could
 * all be in one. */
static sotto_status split(uint32_t *left, uint32_t count, uint32_t each, const uint8_t seed[32],
                          sotto_arena *scratch, sotto_err *err)
{
    uint32_t *picked = sotto_arena_take_array(scratch, each, sizeof *picked);
    uint8_t next[32];

    if (!picked)
        return sotto_fail(err, SOTTO_NO_MEMORY, "aero: no memory");
    memcpy(next, seed, sizeof next);
    for (; count > each; left += each, count -= each) {
        sotto_hash_once(next, SOTTO_SHA256, sotto_bytes_of(next, sizeof next));
        SOTTO_TRY(sotto_draw_set(picked, each, count, next, scratch, err));
        /* picked is ascending, so that nothing which is still to be picked moves: who is in its place goes behind. */
        for (uint32_t i = 0; i < each; i++) {
            const uint32_t member = left[picked[i]];

            left[picked[i]] = left[i];
            left[i] = member;
        }
        qsort(left + each, count - each, sizeof *left, by_number);
    }
    return SOTTO_OK;
}

static const char COMMITTEE[] = "sotto-aero-committee-1";

sotto_status sotto_aero_draw_members(uint32_t *out, const sotto_round *r, const sotto_aero_terms *t,
                                     sotto_arena *scratch, sotto_err *err)
{
    const uint32_t count = t->committee * t->committees, registered = (uint32_t)r->registered;
    uint8_t seed[32];

    sotto_draw_seed(seed, COMMITTEE, r->beacon, r->session, r->epoch, r->number);
    SOTTO_TRY(sotto_draw_set(out, count, registered, seed, scratch, err));
    SOTTO_TRY(split(out, count, t->committee, seed, scratch, err));
    if (!t->handed)
        return SOTTO_OK;
    sotto_draw_seed(seed, COMMITTEE, t->origin.beacon, r->session, r->epoch - 1, r->number - 1);
    return sotto_draw_set(out + count, count, registered, seed, scratch, err);
}

static sotto_status draw_committees(sotto_aero_plan *plan, sotto_arena *arena, sotto_err *err)
{
    const sotto_round *r = plan->round;
    const sotto_aero_terms *t = &plan->terms;
    uint8_t seed[32];

    plan->members = t->committee * t->committees;
    plan->old_members = t->handed ? plan->members : 0;
    plan->committee = sotto_arena_take_array(arena, (size_t)plan->members + plan->old_members,
                                             sizeof *plan->committee);
    plan->noise = sotto_arena_take_array(arena, t->noise_members, sizeof *plan->noise);
    if (!plan->committee || !plan->noise)
        return sotto_fail(err, SOTTO_NO_MEMORY, "aero: no memory");
    plan->old = plan->committee + plan->members;
    SOTTO_TRY(sotto_aero_draw_members(plan->committee, r, t, arena, err));
    sotto_draw_seed(seed, "sotto-aero-noise-1", r->beacon, r->session, r->epoch, r->number);
    return sotto_draw_set(plan->noise, t->noise_members, (uint32_t)r->registered, seed, arena, err);
}

/* What a dealer sends to all members, and all dealers to one, are messages. */
static sotto_status check_dealing(const sotto_aero_plan *plan, sotto_err *err)
{
    if (plan->terms.rekey &&
        SOTTO_AERO_HAND_HEAD + plan->terms.committee * sotto_aero_sealed_share_size(plan) >
            SOTTO_AERO_LONG)
        return sotto_fail(err, SOTTO_DENIED, "aero: a committee of %u can't hand over a key",
                          plan->terms.committee);
    size_t each = ((size_t)plan->ciphertexts + 1) * sotto_aero_poly_size(&plan->aero) + 16;
    size_t head = 32 * (size_t)plan->terms.committee;

    if (plan->terms.opening == SOTTO_AERO_ROBUST &&
        plan->terms.committee * (each + head) > SOTTO_AERO_LONG)
        return sotto_fail(err, SOTTO_DENIED,
                          "aero: a committee of %u can't deal noise for %u ciphertexts",
                          plan->terms.committee, plan->ciphertexts);
    return SOTTO_OK;
}

sotto_status sotto_aero_plan_init(sotto_aero_plan *plan, const sotto_round *round,
                                  sotto_arena *arena, sotto_err *err)
{
    memset(plan, 0, sizeof *plan);
    plan->round = round;
    SOTTO_TRY(sotto_aero_check_round(round, err));
    SOTTO_TRY(sotto_aero_terms_decode(&plan->terms, round->parameters, err));
    SOTTO_TRY(sotto_round_id(round, plan->id, err));
    plan->ciphertexts = (uint32_t)((round->length + SOTTO_AERO_SLOTS - 1) / SOTTO_AERO_SLOTS);
    plan->groups = (plan->ciphertexts + SOTTO_AERO_GROUP - 1) / SOTTO_AERO_GROUP;
    plan->profile = plan->terms.profile == SOTTO_AERO_HIGH ? &sotto_aero_profile_high
                                                           : &sotto_aero_profile_standard;
    SOTTO_TRY(plan_ledger(plan, err));
    price(plan);
    SOTTO_TRY(draw_committees(plan, arena, err));
    SOTTO_TRY(
        sotto_aero_init(&plan->aero, set_at(plan->terms.set), plan->ledger.log_t, arena, err));
    SOTTO_TRY(check_dealing(plan, err));
    plan->judged = *round;
    plan->account = round->account ? *round->account : (sotto_aero_account){.rho = 0};
    plan->account.members = plan->committee;
    plan->judged.account = &plan->account;
    /* Of the round, so that nobody chose it, and no key of one round is of use in another. A key that is handed over brings its own, of the
     * round that it was made in. */
    sotto_draw_seed(plan->a_seed, "sotto-aero-a-1", round->beacon, round->session, round->epoch,
                    round->number);
    return sotto_aero_expand_vartime(&plan->aero, &plan->a, plan->a_seed, err);
}

/* ---- who -------------------------------------------------------------------------------------------------- */

bool sotto_aero_is_sampled(const sotto_aero_plan *plan, uint32_t index)
{
    const sotto_round *r = plan->round;
    const uint8_t *key = sotto_registry_key(r->keys, index);
    uint8_t seed[32], text[32 + SOTTO_SIGN_PUBLIC], digest[32];

    if (!key || index == SOTTO_TO_SERVER)
        return false;
    if (plan->terms.rate == UINT64_MAX)
        return true;
    sotto_draw_seed(seed, "sotto-aero-ticket-1", r->beacon, r->session, r->epoch, r->number);
    memcpy(text, seed, sizeof seed);
    memcpy(text + sizeof seed, key, SOTTO_SIGN_PUBLIC);
    sotto_hash_once(digest, SOTTO_SHA256, sotto_bytes_of(text, sizeof text));
    return sotto_load64(digest) < plan->terms.rate;
}

struct sotto_aero_known *sotto_aero_known_of(const sotto_aero_plan *plan)
{
    return plan->round->account ? plan->round->account->known : NULL;
}

int sotto_aero_place_of(const uint32_t *members, uint32_t count, uint32_t index)
{
    for (uint32_t i = 0; i < count; i++)
        if (members[i] == index)
            return (int)i;
    return -1;
}

int sotto_aero_committee_place(const sotto_aero_plan *plan, uint32_t index)
{
    return sotto_aero_place_of(plan->committee, plan->members, index);
}

uint32_t sotto_aero_committee_of_group(const sotto_aero_plan *plan, uint32_t group)
{
    return group % plan->terms.committees;
}

uint32_t sotto_aero_committee_of_place(const sotto_aero_plan *plan, uint32_t place)
{
    return place / plan->terms.committee;
}

bool sotto_aero_is_seeded(const sotto_aero_terms *t, uint32_t dealer, uint32_t place)
{
    return t->rekey == 0 && (place + t->committee - dealer - 1) % t->committee < t->threshold - 1;
}

uint32_t sotto_aero_committee_opens(const sotto_aero_plan *plan, uint32_t committee)
{
    size_t count = 0;

    for (uint32_t g = committee; g < plan->groups; g += plan->terms.committees)
        count += sotto_aero_group_size(plan, g);
    return (uint32_t)count;
}

int sotto_aero_old_place(const sotto_aero_plan *plan, uint32_t index)
{
    return sotto_aero_place_of(plan->old, plan->old_members, index);
}

sotto_status sotto_aero_key_terms(uint8_t out[32], const sotto_aero_plan *plan, sotto_err *err)
{
    static const char purpose[] = "sotto-aero-key-terms-1";
    const sotto_round *r = plan->round;
    sotto_aero_terms terms = plan->terms;
    uint8_t bytes[SOTTO_AERO_TERMS + 9 * 8];
    sotto_buf b = sotto_buf_over(bytes, sizeof bytes);
    sotto_hash hash;

    terms.handed = 0;
    SOTTO_TRY(sotto_aero_terms_encode(&b, &terms, err));
    sotto_writer w = sotto_writer_on(&b);
    sotto_write_uint(&w, r->ring, 8);
    sotto_write_uint(&w, r->length, 8);
    sotto_write_uint(&w, r->most, 8);
    sotto_write_uint(&w, r->norm2, 8);
    sotto_write_uint(&w, r->least, 8);
    sotto_write_uint(&w, r->largest, 8);
    sotto_write_uint(&w, r->noise.num, 8);
    sotto_write_uint(&w, r->noise.den, 8);
    sotto_write_uint(&w, r->noise.shares, 8);
    SOTTO_TRY(sotto_writer_finish(&w, "terms of a key", err));
    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(purpose, sizeof purpose));
    sotto_hash_update(&hash, sotto_bytes_of(r->session, sizeof r->session));
    sotto_hash_update(&hash, sotto_bytes_of(r->registry, sizeof r->registry));
    sotto_hash_update(&hash, sotto_buf_bytes(&b));
    sotto_hash_final(&hash, out);
    return SOTTO_OK;
}

int sotto_aero_noise_place(const sotto_aero_plan *plan, uint32_t index)
{
    return sotto_aero_place_of(plan->noise, plan->terms.noise_members, index);
}

bool sotto_aero_may(const sotto_aero_plan *plan, uint8_t role, uint32_t index)
{
    if (role == SOTTO_AERO_NOISE)
        return sotto_aero_noise_place(plan, index) >= 0;
    return role == SOTTO_AERO_CONTRIBUTOR && sotto_aero_is_sampled(plan, index);
}

size_t sotto_aero_group_size(const sotto_aero_plan *plan, uint32_t group)
{
    uint32_t before = group * SOTTO_AERO_GROUP;
    uint32_t left = plan->ciphertexts > before ? plan->ciphertexts - before : 0;

    return left < SOTTO_AERO_GROUP ? left : SOTTO_AERO_GROUP;
}

/* A noise member's entries are independent and sub-Gaussian with the share's variance v. Hsu, Kakade and Zhang 2012: d of them have
 * squares above v (d + 2 sqrt(d x) + 2 x) with probability e^-x at most; x is 40. */
uint64_t sotto_aero_norm2(const sotto_aero_plan *plan, uint8_t role, uint32_t group)
{
    const sotto_round *r = plan->round;
    const double largest = (double)((UINT64_C(1) << 48) - 1);
    double entries = (double)SOTTO_AERO_SLOTS * (double)sotto_aero_group_size(plan, group), bound;

    if (role == SOTTO_AERO_NOISE) {
        double v = r->noise.den ? (double)r->noise.num / (double)r->noise.den : 0;

        bound = v * (entries + 2 * sqrt(40 * entries) + 80) + 1;
    } else {
        bound = r->norm2 ? (double)r->norm2 : entries * (double)r->most * (double)r->most;
    }
    return (uint64_t)(bound < largest ? bound : largest);
}
