#include "recipe/encrypted.h"

#include "account/claims.h"
#include "account/committee.h"
#include "account/gauss/rdp.h"
#include "account/numeric/special.h"
#include "account/trust.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "noise/noise.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what the recipe says ----------------------------------------------------------------------------- */

static uint64_t whole(const json_t *in, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(in, key));
}

/* Terms hold less than a recipe's keys do. What does not fit becomes too large for every check. */
static uint32_t fit(uint64_t x, uint32_t most)
{
    return x > most ? most : (uint32_t)x;
}

static void name(char out[SOTTO_ENCRYPTED_NAME], const json_t *in, const char *key)
{
    const char *text = json_string_value(json_object_get(in, key));

    (void)snprintf(out, SOTTO_ENCRYPTED_NAME, "%s", text ? text : "?");
}

/* A rate is rounded down to 64 bits: nobody takes part more often than was said. */
static uint64_t ticket_of(double rate)
{
    return rate >= 1 ? UINT64_MAX : (uint64_t)floor(ldexp(rate, 64));
}

static bool is_robust(const json_t *committee)
{
    const char *opening = json_string_value(json_object_get(committee, "opening"));

    return opening && strcmp(opening, "robust") == 0;
}

static void read_terms(sotto_encrypted *out, const sotto_recipe *recipe, const json_t *json)
{
    const json_t *committee = json_object_get(json, "committee"),
                 *noise = json_object_get(json, "noise");
    const uint64_t corrupt = whole(committee, "corrupt");
    const json_t *devices = json_object_get(json, "devices");
    sotto_aero_terms *t = &out->terms;

    out->committees = whole(committee, "count");
    t->committees = (uint8_t)fit(out->committees, UINT8_MAX);
    t->profile = out->queries == 189 && out->grind == 0 ? SOTTO_AERO_HIGH : SOTTO_AERO_STANDARD;
    t->bits = (uint8_t)fit(whole(json, "bits"), UINT8_MAX);
    t->checks = (uint8_t)fit(whole(json, "checks"), UINT8_MAX);
    t->rekey = (uint8_t)fit(whole(json, "rekey"), UINT8_MAX); /* 0: the word round */
    t->committee = fit(whole(committee, "size"), UINT32_MAX);
    t->threshold = fit(corrupt + 1, UINT32_MAX);
    t->opening = is_robust(committee) ? SOTTO_AERO_ROBUST : SOTTO_AERO_FAST;
    t->noise_members = fit(whole(noise, "size"), UINT32_MAX);
    t->noise_corrupt = fit(whole(noise, "corrupt"), UINT32_MAX);
    t->noise_missing = fit(whole(noise, "missing"), UINT32_MAX);
    t->clears = fit(whole(devices, "clear"), UINT32_MAX);
    t->rate = ticket_of(out->rate);
    t->epsilon = recipe->epsilon.units / 1000000;
    t->delta_bits = (uint32_t)ceil(-log2(sotto_decimal_down(recipe->delta)));
}

bool sotto_recipe_encrypted(sotto_encrypted *out, const sotto_recipe *recipe)
{
    memset(out, 0, sizeof *out);
    if (!sotto_trust_model_of(recipe->trust)->encrypted)
        return false;
    json_t *root = json_loadb((const char *)recipe->text.data, recipe->text.len, 0, NULL);
    const json_t *json = json_object_get(root, "aggregation"),
                 *devices = json_object_get(json, "devices"),
                 *proof = json_object_get(json, "proof");
    name(out->name, json, "server");
    name(out->set_name, json, "parameters");
    out->least = whole(devices, "least");
    out->most = whole(devices, "most");
    out->corrupt = json_number_value(json_object_get(json, "corrupt"));
    out->offline = json_number_value(json_object_get(json, "offline"));
    out->queries = whole(proof, "queries");
    out->grind = whole(proof, "grind");
    out->group = whole(proof, "group");
    out->rate = recipe->participation.rate;
    read_terms(out, recipe, json);
    json_decref(root);
    return true;
}

/* ---- what follows --------------------------------------------------------------------------------------- */

/* The least number that so many trials exceed with SOTTO_AERO_ODDS at most. */
static uint64_t hardly_exceeded(uint64_t trials, double chance)
{
    uint64_t low = (uint64_t)floor((double)trials * chance), high = trials;

    if (chance >= 1)
        return trials;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        sotto_bound tail = {0, 1};
        const bool known = sotto_binomial_upper(&tail, (double)middle + 1, (double)trials, chance,
                                                1 - chance, NULL) == SOTTO_OK;

        if (known && tail.high <= SOTTO_AERO_ODDS)
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Of all together; each member has a share. */
static sotto_status share_noise(sotto_encrypted *out, sotto_err *err)
{
    const sotto_aero_terms *t = &out->terms;
    const uint64_t lost = (uint64_t)t->noise_corrupt + t->noise_missing, num = out->sum.variance;

    if (t->noise_members <= lost || t->noise_members > SOTTO_AERO_MOST_NOISE)
        return sotto_fail(err, SOTTO_DENIED, "a noise committee of %u, of whom %llu may be lost",
                          t->noise_members, (unsigned long long)lost);
    const uint64_t shares = t->noise_members - lost;
    const uint64_t by = greatest_divisor(num, shares * 1000000);
    out->noise = (sotto_round_noise){.by = SOTTO_ROUND_NOISE_SHARES,
                                     .num = num / by,
                                     .den = shares * 1000000 / by,
                                     .shares = shares};
    out->variance = (double)t->noise_members * (double)num / (double)(shares * 1000000);
    if (out->noise.num >> 52 || out->noise.den >> 32)
        return sotto_fail(err, SOTTO_DENIED, "the noise has too many digits for %llu shares",
                          (unsigned long long)shares);
    return SOTTO_OK;
}

static uint64_t groups_of(const sotto_encrypted *e)
{
    return (e->ciphertexts + SOTTO_AERO_GROUP - 1) / SOTTO_AERO_GROUP;
}

static sotto_status count_ciphertexts(sotto_encrypted *out, sotto_err *err)
{
    if (out->sum.most >> 20)
        return sotto_fail(err, SOTTO_DENIED, "entries of up to %llu are too large to be proved",
                          (unsigned long long)out->sum.most);
    out->ciphertexts = (out->sum.entries + SOTTO_AERO_SLOTS - 1) / SOTTO_AERO_SLOTS;
    if (out->ciphertexts > (uint64_t)SOTTO_AERO_MOST_GROUPS * SOTTO_AERO_GROUP)
        return sotto_fail(err, SOTTO_DENIED, "%llu entries are too many",
                          (unsigned long long)out->sum.entries);
    return SOTTO_OK;
}

/* What rounds on the robust path take (decision 228). What a dealer sends to all members is one message. */
static sotto_status check_opening(const sotto_encrypted *e, sotto_err *err)
{
    const sotto_aero_terms *t = &e->terms;
    const uint64_t agree = 2 * (uint64_t)t->threshold - 1,
                   poly = SOTTO_AERO_N * 8 + SOTTO_AERO_N / 8 * (uint64_t)e->set->second_bits,
                   each = (e->ciphertexts + 1) * poly + 16 + 32 * (uint64_t)t->committee;

    if (t->opening != SOTTO_AERO_ROBUST)
        return SOTTO_OK;
    if (SOTTO_RULE(encrypted_opening_agreed) && (e->committees > 1 || agree > t->committee))
        return sotto_fail(err, SOTTO_DENIED,
                          "on the robust path there is one committee, of which %llu have to agree",
                          (unsigned long long)agree);
    if (SOTTO_RULE(encrypted_opening_short) && t->committee * each > SOTTO_AERO_LONG)
        return sotto_fail(
            err, SOTTO_DENIED,
            "a committee of %u can't deal noise for %llu ciphertexts: the robust path "
            "is for fewer",
            t->committee, (unsigned long long)e->ciphertexts);
    return SOTTO_OK;
}

/* Bounds are proved of each group: a contribution of several has the sum of them. */
static sotto_status price(sotto_encrypted *out, sotto_err *err)
{
    const double rounds = fmax(1, (double)out->sum.participations);
    sotto_bound eps = {0, INFINITY};

    out->rho = sotto_aero_price(&out->noise, (double)out->sum.entries,
                                (double)groups_of(out) * (double)out->sum.norm2, out->ledger.rho);
    if (out->rho < 1e12)
        SOTTO_TRY(sotto_zcdp_epsilon(&eps, rounds * out->rho * (1 + 0x1p-50),
                                     -(double)out->terms.delta_bits * log(2), err));
    out->epsilon = eps.high;
    return SOTTO_OK;
}

/* Whole groups, and one that is not. */
static void count_bytes(sotto_encrypted *out)
{
    const uint64_t groups = groups_of(out),
                   last = out->ciphertexts - (groups - 1) * SOTTO_AERO_GROUP;
    sotto_aero_proof_size_of of = {.set = out->set,
                                   .profile = out->terms.profile == SOTTO_AERO_HIGH
                                                  ? &sotto_aero_profile_high
                                                  : &sotto_aero_profile_standard,
                                   .count = SOTTO_AERO_GROUP,
                                   .bits = out->terms.bits};

    out->bytes = (groups - 1) * sotto_aero_proof_bytes(&of);
    of.count = (size_t)last;
    out->bytes += sotto_aero_proof_bytes(&of);
    out->bytes += out->ciphertexts * 2 * SOTTO_AERO_N * (8 + (out->set->second_bits + 7) / 8);
}

static sotto_status plan_ledger(sotto_encrypted *out, sotto_err *err)
{
    const sotto_aero_terms *t = &out->terms;
    const sotto_aero_wish wish = {.set = out->set,
                                  .devices = out->largest + t->noise_members,
                                  .liars = (uint64_t)t->liars + t->noise_corrupt,
                                  .most = t->bits < 41 ? UINT64_C(1) << (t->bits - 1) : UINT64_MAX,
                                  .dealers = t->committee,
                                  .threshold = t->threshold,
                                  .rounds = t->rekey ? t->rekey : 1,
                                  .ciphertexts = out->ciphertexts,
                                  .tries = SOTTO_AERO_MOST_TRIES,
                                  .failure = 40,
                                  .is_robust = t->opening == SOTTO_AERO_ROBUST};

    if (t->bits < 3 || t->bits > SOTTO_AERO_PROOF_MOST_BITS || out->sum.most >> (t->bits - 1) ||
        (double)out->noise.num * 200 > (double)out->noise.den * ldexp(1, 2 * (t->bits - 1)))
        return sotto_fail(err, SOTTO_DENIED, "entries or noise do not fit %u bits", t->bits);
    return sotto_aero_ledger_plan(&out->ledger, &wish, err);
}

/* Devices assume what is worse: what the recipe says, or what they always assume. */
static sotto_status count_people(sotto_encrypted *out, const sotto_recipe *recipe, sotto_err *err)
{
    const double corrupt = fmax(out->corrupt, SOTTO_AERO_CORRUPT),
                 offline = fmax(out->offline, SOTTO_AERO_OFFLINE);
    /* On the robust path twice as many have to agree, and one more. */
    const uint32_t may_lie = out->terms.threshold - 1,
                   needed = out->terms.opening == SOTTO_AERO_ROBUST ? 2 * may_lie : may_lie;
    const sotto_committee drawn = {
        .size = out->terms.committee, .tolerated = needed, .corrupt = corrupt, .draws = 1};
    sotto_bound few = {0, 1};
    uint8_t row = 0;

    if (out->most < out->least || out->terms.committee > SOTTO_AERO_MOST_COMMITTEE ||
        out->committees * out->terms.committee > SOTTO_AERO_MOST_COMMITTEE ||
        out->terms.threshold > out->terms.committee || out->terms.committee < 3)
        return sotto_fail(err, SOTTO_DENIED, "%u of a committee of %u, of %llu to %llu devices",
                          out->terms.threshold, out->terms.committee,
                          (unsigned long long)out->least, (unsigned long long)out->most);
    if (sotto_aero_set_named(&out->set, out->set_name, NULL) != SOTTO_OK)
        return sotto_fail(err, SOTTO_DENIED, "no parameter set \"%.40s\": b64, b87 or b109 wanted",
                          out->set_name);
    while (&sotto_aero_sets[row] != out->set)
        row++;
    out->terms.set = row;
    out->largest = hardly_exceeded(out->most, out->rate);
    out->terms.liars = fit(hardly_exceeded(out->largest, corrupt), UINT32_MAX);
    if (out->rate < 1 && recipe->min_cohort > 0)
        (void)!sotto_binomial_upper(&few, (double)out->least - (double)recipe->min_cohort + 1,
                                    (double)out->least, 1 - out->rate, out->rate, NULL);
    out->few = out->rate >= 1 ? (double)(out->least < recipe->min_cohort) : few.high;
    const sotto_aero_people people = {(double)out->least, (double)out->largest, corrupt, offline};
    SOTTO_TRY(sotto_aero_odds_of(&out->odds, &out->terms, &people, err));
    /* Of more devices more are corrupt, and may all say that they found nothing wrong. */
    const double of_most =
        sotto_aero_miss(&out->terms, (double)out->most, people.largest + out->terms.noise_members,
                        corrupt, offline);
    if (SOTTO_RULE(encrypted_clear_of_most) && of_most > out->odds.missed)
        out->odds.missed = of_most;
    SOTTO_TRY(sotto_committee_stalls(&out->stalls, &drawn, offline, err));
    /* A round needs all of them. */
    out->stalls = fmin(1, nextafter(out->stalls * (double)out->committees, INFINITY));
    return SOTTO_OK;
}

sotto_status sotto_encrypted_plan_sum(sotto_encrypted *out, const sotto_recipe *recipe,
                                      const sotto_encrypted_sum *sum, sotto_err *err)
{
    if (!sotto_recipe_encrypted(out, recipe))
        return sotto_fail(err, SOTTO_MISSING, "no recipe of encrypted sums");
    out->sum = *sum;
    out->terms.participations = fit(sum->participations, UINT32_MAX);
    out->epsilon = INFINITY;
    SOTTO_TRY(count_people(out, recipe, err));
    SOTTO_TRY(share_noise(out, err));
    SOTTO_TRY(count_ciphertexts(out, err));
    SOTTO_TRY(check_opening(out, err));
    SOTTO_TRY(plan_ledger(out, err));
    count_bytes(out);
    return price(out, err);
}

/* A proof bounds squares: of one bin, of a number, or of a number and whether there is one. Sigma is what the shares that count have
 * together. */
sotto_status sotto_encrypted_plan(sotto_encrypted *out, const sotto_recipe *recipe, sotto_err *err)
{
    sotto_report_content content;

    if (!sotto_recipe_encrypted(out, recipe))
        return sotto_fail(err, SOTTO_MISSING, "no recipe of encrypted sums");
    SOTTO_TRY(sotto_recipe_content(&content, recipe, err));
    const sotto_encrypted_sum sum = {
        .entries = content.entries,
        .most = content.most,
        .norm2 = content.most >> 20
                     ? 0
                     : content.most * content.most * (content.numbers ? content.entries : 1),
        .variance = (uint64_t)recipe->sigma_milli * recipe->sigma_milli};
    return sotto_encrypted_plan_sum(out, recipe, &sum, err);
}

sotto_status sotto_encrypted_claim(sotto_answer *out, const sotto_recipe *recipe, sotto_err *err)
{
    sotto_encrypted plan;

    if (!sotto_recipe_encrypted(&plan, recipe))
        return sotto_fail(err, SOTTO_DENIED, "no committee adds noise to such sums");
    SOTTO_TRY(sotto_encrypted_plan(&plan, recipe, err));
    return sotto_encrypted_claim_plan(out, &plan, err);
}

sotto_status sotto_encrypted_claim_plan(sotto_answer *out, const sotto_encrypted *plan,
                                        sotto_err *err)
{
    const double log_delta = -(double)plan->terms.delta_bits * log(2),
                 rounds = fmax(1, (double)plan->sum.participations);

    return sotto_claim_committee_noise(
        out, rounds * plan->rho * (1 + 0x1p-50), exp(log_delta), log_delta,
        rounds * (double)plan->terms.noise_members * sotto_noise_delta((size_t)plan->sum.entries),
        err);
}

/* ---- rounds --------------------------------------------------------------------------------------------- */

sotto_status sotto_encrypted_round(sotto_round *round, uint8_t parameters[SOTTO_AERO_TERMS_HANDED],
                                   const sotto_encrypted *plan, const sotto_recipe *recipe,
                                   sotto_err *err)
{
    sotto_buf out = sotto_buf_over(parameters, SOTTO_AERO_TERMS_HANDED);

    SOTTO_TRY(sotto_aero_terms_encode(&out, &plan->terms, err));
    memcpy(round->recipe, recipe->hash, sizeof round->recipe);
    round->method = SOTTO_METHOD_AERO;
    round->version = SOTTO_ROUND_VERSION;
    round->ring = SOTTO_RING_Z64;
    round->length = plan->sum.entries;
    round->most = plan->sum.most;
    round->norm2 = plan->sum.norm2;
    round->least = recipe->min_cohort;
    round->largest = plan->largest;
    round->noise = plan->noise;
    round->parameters = sotto_buf_bytes(&out);
    return SOTTO_OK;
}

static const char *differs(const sotto_round *a, const sotto_round *b)
{
    if (memcmp(a->recipe, b->recipe, sizeof a->recipe) != 0)
        return "another recipe";
    if (a->method != b->method || a->ring != b->ring || a->length != b->length ||
        a->most != b->most || a->norm2 != b->norm2)
        return "other entries, or other bounds on them";
    if (a->least != b->least || a->largest != b->largest)
        return "another number of contributors";
    if (a->noise.num != b->noise.num || a->noise.den != b->noise.den ||
        a->noise.shares != b->noise.shares)
        return "other noise";
    return sotto_bytes_equal_vartime(a->parameters, b->parameters) ? NULL : "other terms";
}

void sotto_encrypted_session(uint8_t out[32], const sotto_recipe *recipe)
{
    static const char label[] = "sotto-encrypted-session-1";
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(label, sizeof label));
    sotto_hash_update(&hash, sotto_bytes_of(recipe->hash, sizeof recipe->hash));
    sotto_hash_final(&hash, out);
}

sotto_status sotto_encrypted_agrees(const sotto_round *round, const sotto_encrypted *plan,
                                    const sotto_recipe *recipe, sotto_err *err)
{
    uint8_t parameters[SOTTO_AERO_TERMS_HANDED];
    sotto_round mine = *round;
    sotto_encrypted own = *plan;
    sotto_aero_terms posted;

    /* Whether its key is handed over is not the recipe's to say, but for how often. Which rounds are, members know. */
    if (sotto_aero_terms_decode(&posted, round->parameters, NULL) == SOTTO_OK) {
        own.terms.handed = posted.handed;
        own.terms.origin = posted.origin;
    }
    SOTTO_TRY(sotto_encrypted_round(&mine, parameters, &own, recipe, err));
    const char *what = differs(&mine, round);
    if (SOTTO_RULE(encrypted_round_agrees) && what)
        return sotto_fail(err, SOTTO_DENIED, "the round has %s than its recipe", what);
    if (SOTTO_RULE(encrypted_devices_agree) &&
        (round->registered < plan->least || round->registered > plan->most))
        return sotto_fail(err, SOTTO_DENIED,
                          "%llu devices are registered; the recipe has %llu "
                          "to %llu",
                          (unsigned long long)round->registered, (unsigned long long)plan->least,
                          (unsigned long long)plan->most);
    return SOTTO_OK;
}
