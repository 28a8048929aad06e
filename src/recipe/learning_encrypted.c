/* A learning recipe whose updates are added up encrypted: what a round of it is, and what it may claim. */
#include "recipe/learning_encrypted.h"

#include "account/numeric/bound.h"
#include "account/trust.h"
#include "base/arena.h"
#include "base/rule.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { SLACK = 8, ARENA = 1 << 20 };

bool sotto_learning_is_encrypted(const sotto_learning *l)
{
    return sotto_trust_model_of(l->head.trust)->encrypted;
}

/* The randomizer rounds to the grid and adds nothing. It keeps every update within its norm, so honest ones are always proved. */
static sotto_status sum_of(sotto_encrypted_sum *out, const sotto_learning *l, sotto_err *err)
{
    const uint64_t sigma = (uint64_t)sotto_learning_sigma(l);
    sotto_vector_randomizer randomizer;
    sotto_arena arena;

    sotto_arena_init(&arena, ARENA);
    const sotto_status status = sotto_learning_randomizer(&randomizer, l, &arena, err);
    sotto_arena_clear(&arena);
    SOTTO_TRY(status);
    *out = (sotto_encrypted_sum){.entries = sotto_learning_length(l),
                                 .most = randomizer.most,
                                 .norm2 = randomizer.norm2,
                                 .variance = sigma * sigma * 1000000,
                                 .participations = l->participations};
    return SOTTO_OK;
}

sotto_status sotto_learning_encrypted_plan(sotto_encrypted *out, const sotto_learning *l,
                                           sotto_err *err)
{
    sotto_encrypted_sum sum;

    *out = (sotto_encrypted){.epsilon = INFINITY};
    if (!sotto_learning_is_encrypted(l) || l->head.by != SOTTO_BY_COMMITTEE)
        return sotto_fail(err, SOTTO_MISSING, "no recipe of encrypted sums");
    SOTTO_TRY(sum_of(&sum, l, err));
    SOTTO_TRY(sotto_encrypted_plan_sum(out, &l->head, &sum, err));
    if (SOTTO_RULE(learning_rounds_fit_bits) && l->rounds >> (out->terms.bits - 1))
        return sotto_fail(err, SOTTO_DENIED,
                          "%" PRIu64
                          " rounds do not fit %u bits: a ciphertext begins with its round",
                          l->rounds, out->terms.bits);
    return SOTTO_OK;
}

/* What is proved of a liar's update is what an honest one is held to: a group's squares. */
void sotto_learning_claim_encrypted(sotto_learning_claim *out, const sotto_learning *l)
{
    sotto_encrypted plan;
    sotto_answer answer;

    out->theorem = "none: the sums do not fit the parameters";
    if (sotto_learning_encrypted_plan(&plan, l, NULL) != SOTTO_OK)
        return;
    const double groups = ceil((double)plan.ciphertexts / SOTTO_AERO_GROUP);
    out->norm = sotto_round_up(sqrt(groups * (double)plan.sum.norm2), SLACK);
    out->sensitivity = sotto_round_up(2 * out->norm, 1);
    out->sigma = sotto_learning_sigma(l);
    out->most = plan.sum.most;
    out->bound = (uint64_t)ceil(out->norm);
    out->report_bytes = (size_t)plan.bytes;
    out->rho = plan.rho;
    out->theorem = "none: the noise is too little for any";
    if (sotto_encrypted_claim_plan(&answer, &plan, NULL) != SOTTO_OK)
        return;
    out->epsilon = answer.high;
    out->theorem = "discrete Gaussian noise in shares of a committee (Kairouz, Liu and Steinke "
                   "2021, proposition 14), zCDP of all participations added up (Bun and Steinke "
                   "2016)";
}
