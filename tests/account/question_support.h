/* question_support.h - complete questions to the accountant, one of each mechanism. */
#ifndef SOTTO_TESTS_ACCOUNT_QUESTION_SUPPORT_H
#define SOTTO_TESTS_ACCOUNT_QUESTION_SUPPORT_H

#include "sotto/privacy.h"

/* Everything a claim needs, so that a test can leave out one thing. */
static inline sotto_question question_claim(sotto_mechanism mechanism, sotto_adjacency adjacency)
{
    return (sotto_question){.mechanism = mechanism,
                            .adjacency = adjacency,
                            .trust = SOTTO_TRUST_SPLIT,
                            .participation_is_hidden = true,
                            .dishonest = {0, 1},
                            .delta = 1e-8};
}

static inline sotto_question question_gaussian(void)
{
    sotto_question q = question_claim(SOTTO_MECHANISM_GAUSSIAN, SOTTO_ADJACENCY_ADD_REMOVE);

    q.of.gaussian.contribution = SOTTO_CLIPPED_VECTOR;
    q.of.gaussian.clip = 1;
    q.of.gaussian.sigma = 5.1;
    q.of.gaussian.releases = 1;
    return q;
}

static inline sotto_question question_sampled(void)
{
    sotto_question q = question_claim(SOTTO_MECHANISM_SAMPLED_GAUSSIAN, SOTTO_ADJACENCY_ADD_REMOVE);

    q.of.sampled.contribution = SOTTO_CLIPPED_VECTOR;
    q.of.sampled.clip = 1;
    q.of.sampled.sigma = 5.1;
    q.of.sampled.rate = 0.02;
    q.of.sampled.rounds = 2500;
    return q;
}

static inline sotto_question question_local(sotto_mechanism mechanism)
{
    sotto_question q = question_claim(mechanism, SOTTO_ADJACENCY_REPLACEMENT);

    q.delta = 1e-10;
    q.of.local.local_epsilon = 4;
    q.of.local.cohort = 10000;
    q.of.local.rate = 1;
    return q;
}

static inline sotto_question question_pure(void)
{
    sotto_question q = question_claim(SOTTO_MECHANISM_PURE, SOTTO_ADJACENCY_REPLACEMENT);

    q.of.pure.epsilon = 0.1;
    q.of.pure.rounds = 100;
    return q;
}

static inline sotto_question question_laplace(void)
{
    sotto_question q = question_claim(SOTTO_MECHANISM_LAPLACE, SOTTO_ADJACENCY_ADD_REMOVE);

    q.of.laplace.contribution = SOTTO_CLIPPED_VECTOR;
    q.of.laplace.clip = 1;
    q.of.laplace.scale = 10;
    q.of.laplace.releases = 20;
    return q;
}

static inline sotto_question question_geometric(void)
{
    sotto_question q = question_claim(SOTTO_MECHANISM_GEOMETRIC, SOTTO_ADJACENCY_ADD_REMOVE);

    q.of.geometric.scale = 10;
    q.of.geometric.sensitivity = 3;
    q.of.geometric.releases = 50;
    return q;
}

/* One of each mechanism, complete. */
static inline size_t questions_of_each(sotto_question out[16])
{
    size_t n = 0;

    out[n++] = question_gaussian();
    out[n++] = question_sampled();
    out[n] = question_sampled();
    out[n++].mechanism = SOTTO_MECHANISM_COUNTED_GAUSSIAN;
    out[n] = question_claim(SOTTO_MECHANISM_ALLOCATED_GAUSSIAN, SOTTO_ADJACENCY_ADD_REMOVE);
    out[n].of.allocated.contribution = SOTTO_ONE_HOT_VECTOR;
    out[n].of.allocated.sigma = 2;
    out[n++].of.allocated.slots = 100;
    out[n] = question_claim(SOTTO_MECHANISM_DISCRETE_GAUSSIAN, SOTTO_ADJACENCY_REPLACEMENT);
    out[n].of.discrete.sigma = 5;
    out[n++].of.discrete.sensitivity = 1;
    out[n] = question_claim(SOTTO_MECHANISM_NOISE_SHARES, SOTTO_ADJACENCY_REPLACEMENT);
    out[n].of.shares.sigma = 2;
    out[n].of.shares.sensitivity = 10;
    out[n].of.shares.dimension = 1000;
    out[n++].of.shares.cohort = 10000;
    out[n++] = question_local(SOTTO_MECHANISM_SHUFFLED);
    out[n++] = question_local(SOTTO_MECHANISM_SYMMETRIC_ONE_HOT);
    out[n++] = question_local(SOTTO_MECHANISM_BINARY_RESPONSE);
    out[n] = question_claim(SOTTO_MECHANISM_CHECK_IN, SOTTO_ADJACENCY_REPLACEMENT);
    out[n].of.check_in.variant = SOTTO_CHECK_IN_FIXED;
    out[n].of.check_in.local_epsilon = 1;
    out[n].of.check_in.window = 1000;
    out[n++].of.check_in.probability = 1;
    out[n] = question_claim(SOTTO_MECHANISM_DONATION, SOTTO_ADJACENCY_ADD_REMOVE);
    out[n].delta = 1e-5;
    out[n].of.donation.epsilon = 1;
    out[n].of.donation.delta_each = 1e-9;
    out[n++].of.donation.slots = 1000;
    out[n++] = question_pure();
    out[n++] = question_laplace();
    out[n++] = question_geometric();
    return n;
}

#endif
