/* A client of our own that lies: about joint randomness, about its measurement, in its proof. */
#include "support/prio3.h"

#include "vdaf/flp.h"
#include "vdaf/prio3_xof.h"

#include <string.h>

enum { SEED = SOTTO_PRIO3_SEED_SIZE };

/* What the liar may choose; NULL where it stays honest. */
typedef struct lies {
    const sotto_circuit *circuit; /* to prove with; of the same sizes as the real one      */
    const uint8_t *meas;          /* elements instead of those the measurement spells      */
    const uint8_t *part[2];       /* instead of an aggregator's joint randomness part      */
    bool honest_proof;            /* made with the honest parts, whatever is published     */
} lies;

static void expand(const sotto_test_prio3 *p, sotto_prio3_usage usage, const uint8_t *seed,
                   const uint8_t *binder, size_t binder_len, uint8_t *out, size_t count)
{
    sotto_prio3_xof x = {.circuit = p->vdaf.circuit,
                         .usage = usage,
                         .context = p->verifier.context,
                         .lanes = 1,
                         .seeds = {seed}};

    if (binder_len)
        memcpy(x.binder[0], binder, binder_len);
    x.binder_len = binder_len;
    sotto_prio3_expand(&x, &out, count);
}

static void derive_part(const sotto_test_prio3 *p, unsigned aggregator, const uint8_t *nonce,
                        const uint8_t *blind, const uint8_t *meas_share, uint8_t *out)
{
    const sotto_circuit *c = p->vdaf.circuit;
    sotto_prio3_xof x = {.circuit = c,
                         .usage = SOTTO_USAGE_JOINT_RAND_PART,
                         .context = p->verifier.context,
                         .lanes = 1,
                         .seeds = {blind},
                         .binder = {{(uint8_t)aggregator}},
                         .binder_len = 17,
                         .bodies = {meas_share},
                         .body_len = sotto_circuit_bytes(c, c->meas_len)};

    memcpy(x.binder[0] + 1, nonce, 16);
    sotto_prio3_derive_seed(&x, &out);
}

static void derive_seed(const sotto_test_prio3 *p, const uint8_t *parts, uint8_t *out)
{
    static const uint8_t zeros[SEED];
    sotto_prio3_xof x = {.circuit = p->vdaf.circuit,
                         .usage = SOTTO_USAGE_JOINT_RAND_SEED,
                         .context = p->verifier.context,
                         .lanes = 1,
                         .seeds = {zeros},
                         .bodies = {parts},
                         .body_len = 2 * SEED};

    sotto_prio3_derive_seed(&x, &out);
}

/* The draft's shard for two aggregators, step by step, with the lies in their places. `parts` gets the
 * honest joint randomness parts. */
static sotto_test_report lie(sotto_test *t, sotto_test_prio3 *p, sotto_measurement measurement,
                             const lies *l, uint8_t parts[2 * SEED])
{
    const sotto_circuit *c = p->vdaf.circuit, *prover = l->circuit ? l->circuit : c;
    const sotto_flp *flp = c->flp;
    size_t proofs = c->proof_len * c->proofs, size = c->element_size;
    bool blinds = c->joint_rand_len != 0;
    sotto_test_report r = {.measurement = measurement};
    uint8_t *leader = sotto_test_take(t, p->vdaf.sizes.leader_share);
    uint8_t *helper = sotto_test_take(t, 64), *meas = sotto_test_take(t, c->meas_len * size);
    uint8_t *share = sotto_test_take(t, (c->meas_len + proofs) * size);
    uint8_t *prove_rand = sotto_test_take(t, c->prove_rand_len * c->proofs * size);
    uint8_t *joint_rand = sotto_test_take(t, c->joint_rand_len * c->proofs * size);
    uint8_t *published = sotto_test_take(t, 2 * SEED), rand[2 * SEED], seed[SEED];
    const uint8_t binder[2] = {(uint8_t)c->proofs, 1};

    sotto_sim_random_bytes(&p->random, r.nonce, sizeof r.nonce);
    sotto_sim_random_bytes(&p->random, helper, 64);
    sotto_sim_random_bytes(&p->random, rand,
                           sizeof rand); /* the leader's blind, the prover's seed */
    if (l->meas)
        memcpy(meas, l->meas, c->meas_len * size);
    else
        CHECK(t, prover->flp->encode(prover, meas, measurement));
    memcpy(leader, meas, c->meas_len * size);
    expand(p, SOTTO_USAGE_MEAS_SHARE, helper, binder + 1, 1, share, c->meas_len);
    flp->subtract(leader, share, c->meas_len);
    if (blinds) {
        derive_part(p, 0, r.nonce, rand, leader, parts);
        derive_part(p, 1, r.nonce, helper + SEED, share, parts + SEED);
        for (unsigned a = 0; a < 2; a++)
            memcpy(published + a * SEED, l->part[a] ? l->part[a] : parts + a * SEED, SEED);
        derive_seed(p, l->honest_proof ? parts : published, seed);
        expand(p, SOTTO_USAGE_JOINT_RANDOMNESS, seed, binder, 1, joint_rand,
               c->joint_rand_len * c->proofs);
        memcpy(leader + (c->meas_len + proofs) * size, rand, SEED);
    }
    expand(p, SOTTO_USAGE_PROVE_RANDOMNESS, rand + SEED, binder, 1, prove_rand,
           c->prove_rand_len * c->proofs);
    for (unsigned i = 0; i < c->proofs; i++)
        flp->prove(prover, leader + (c->meas_len + i * c->proof_len) * size, meas, measurement,
                   prove_rand + i * c->prove_rand_len * size,
                   joint_rand + i * c->joint_rand_len * size,
                   sotto_test_take(t, flp->prove_scratch(prover)));
    expand(p, SOTTO_USAGE_PROOF_SHARE, helper, binder, 2, share, proofs);
    flp->subtract(leader + c->meas_len * size, share, proofs);
    r.public_share = (sotto_buf){published, p->vdaf.sizes.public_share, p->vdaf.sizes.public_share};
    r.shares[0] = (sotto_buf){leader, p->vdaf.sizes.leader_share, p->vdaf.sizes.leader_share};
    r.shares[1] = (sotto_buf){helper, p->vdaf.sizes.helper_share, p->vdaf.sizes.helper_share};
    return r;
}

static void check_verdict(sotto_test *t, const sotto_test_prio3 *p, const sotto_test_report *report,
                          sotto_status wanted)
{
    sotto_test_round round = sotto_test_round_init(t, p, report, 1);

    CHECK_STATUS(t, SOTTO_AGAIN, round.states[0][0].status);
    CHECK_STATUS(t, SOTTO_AGAIN, round.states[1][0].status);
    sotto_test_round_decide(t, p, &round);
    CHECK_STATUS(t, wanted, round.verdicts[0].status);
    sotto_test_round_finish(t, p, &round);
    CHECK_STATUS(t, wanted, sotto_test_round_status(p, &round, 0));
}

/* Else a rejection below might come from a mistake in the liar. */
static void the_liar_is_accepted_while_it_is_honest(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], 3);
        uint8_t parts[2 * SEED];
        sotto_test_report report = lie(t, &p, sotto_test_measurement(t, &p), &(lies){0}, parts);

        check_verdict(t, &p, &report, SOTTO_OK);
    }
}

/* ---- joint randomness ------------------------------------------------------------------------------ */

/* Each lie is harmless only to an aggregator that believes it, so an aggregator that takes its own part
 * from the public share, instead of computing it, would accept. */
static void check_lying_about(sotto_test *t, const sotto_prio3_config *config, bool leader,
                              bool helper)
{
    static const uint8_t chosen[2][SEED] = {{1, 2, 3}, {4, 5, 6}};
    sotto_test_prio3 p = sotto_test_prio3_of(t, config, 4);
    uint8_t parts[2 * SEED], own[2 * SEED], seed[SEED];

    if (!p.vdaf.circuit->joint_rand_len)
        return;
    lies l = {.part = {leader ? chosen[0] : NULL, helper ? chosen[1] : NULL}};
    sotto_test_report report = lie(t, &p, sotto_test_measurement(t, &p), &l, parts);
    check_verdict(t, &p, &report, SOTTO_REJECTED);

    /* Each put its own part in place of the published one, and says so to the other. */
    sotto_test_round round = sotto_test_round_init(t, &p, &report, 1);
    for (unsigned a = 0; a < 2; a++) {
        sotto_bytes share = round.shares[a];

        memcpy(own, report.public_share.data, 2 * SEED);
        memcpy(own + a * SEED, parts + a * SEED, SEED);
        derive_seed(&p, own, seed);
        CHECK_BYTES(t, seed, round.states[a][0].joint_rand_seed, SEED);
        CHECK_BYTES(t, parts + a * SEED, share.data + share.len - SEED, SEED);
    }

    /* A lie that the proof does not rest on is a lie as well. */
    l.honest_proof = true;
    report = lie(t, &p, sotto_test_measurement(t, &p), &l, parts);
    check_verdict(t, &p, &report, SOTTO_REJECTED);
}

static void a_lie_about_the_leaders_part_is_rejected(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++)
        check_lying_about(t, &sotto_test_configs[c], true, false);
}

static void a_lie_about_the_helpers_part_is_rejected(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++)
        check_lying_about(t, &sotto_test_configs[c], false, true);
}

static void joint_randomness_of_the_clients_choice_is_rejected(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++)
        check_lying_about(t, &sotto_test_configs[c], true, true);
}

/* The verifier message comes from the parts that the aggregators computed, not from the public share; a
 * seed that differs from it is refused although the proof holds. */
static void an_aggregator_whose_seed_differs_refuses_although_the_proof_holds(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], 5);
        sotto_test_report report = sotto_test_report_random(t, &p);

        if (!p.vdaf.circuit->joint_rand_len)
            continue;
        for (unsigned a = 0; a < 2; a++) {
            sotto_test_round round = sotto_test_round_init(t, &p, &report, 1);
            uint8_t wanted[SEED];

            round.states[a][0].joint_rand_seed[7] ^= 1;
            sotto_test_round_decide(t, &p, &round);
            CHECK_STATUS(t, SOTTO_OK, round.verdicts[0].status);
            derive_seed(&p, report.public_share.data, wanted);
            CHECK_BYTES(t, wanted, round.verdicts[0].message, SEED);
            sotto_test_round_finish(t, &p, &round);
            CHECK_STATUS(t, SOTTO_REJECTED, round.states[a][0].status);
            CHECK_STATUS(t, SOTTO_OK, round.states[1 - a][0].status);
        }
    }
}

/* ---- invalid measurements --------------------------------------------------------------------------- */

/* The real circuit without its linear check: elements are free bits, proved to be bits. */
static sotto_circuit without_linear_check(sotto_test *t, const sotto_test_prio3 *p)
{
    sotto_circuit description = *p->vdaf.circuit;
    sotto_prio3 vdaf = {0};

    description.linear = SOTTO_LINEAR_NONE;
    description.one_hot = false;
    description.entries = description.meas_len;
    description.bits = 1;
    description.max = 1;
    description.claim_bits = 0;
    CHECK_OK(t, sotto_prio3_init_circuit(&vdaf, &t->arena, &description, &t->err));
    CHECK_EQUAL(t, p->vdaf.circuit->proof_len, vdaf.circuit->proof_len);
    return *vdaf.circuit;
}

static void check_bits(sotto_test *t, const sotto_prio3_config *config, const char *bits,
                       sotto_status wanted)
{
    sotto_test_prio3 p = sotto_test_prio3_of(t, config, 6);
    sotto_circuit prover = without_linear_check(t, &p);
    uint64_t values[64];
    uint8_t parts[2 * SEED];

    CHECK_EQUAL(t, strlen(bits), prover.entries);
    for (size_t i = 0; bits[i]; i++)
        values[i] = (uint64_t)(bits[i] - '0');
    sotto_test_report report = lie(t, &p, (sotto_measurement){values, (size_t)prover.entries},
                                   &(lies){.circuit = &prover}, parts);
    check_verdict(t, &p, &report, wanted);
}

static void a_histogram_report_has_one_one(sotto_test *t)
{
    sotto_prio3_config config = {
        .type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 7, .chunk_length = 3};

    check_bits(t, &config, "0000100", SOTTO_OK);
    check_bits(t, &config, "0000000", SOTTO_REJECTED);
    check_bits(t, &config, "0010100", SOTTO_REJECTED);
    check_bits(t, &config, "1111111", SOTTO_REJECTED);
}

static void a_multihot_report_has_the_weight_it_claims(sotto_test *t)
{
    sotto_prio3_config config = {.type = SOTTO_PRIO3_MULTIHOT_COUNT_VEC,
                                 .shares = 2,
                                 .length = 5,
                                 .chunk_length = 3,
                                 .max = 2};

    /* The claim has weights 1 and max - 1 = 1, so at most 2 can be claimed. */
    check_bits(t, &config,
               "10100"
               "11",
               SOTTO_OK);
    check_bits(t, &config,
               "10000"
               "01",
               SOTTO_OK);
    check_bits(t, &config,
               "11100"
               "11",
               SOTTO_REJECTED);
    check_bits(t, &config,
               "11111"
               "11",
               SOTTO_REJECTED);
    check_bits(t, &config,
               "11000"
               "01",
               SOTTO_REJECTED);
    check_bits(t, &config,
               "00000"
               "01",
               SOTTO_REJECTED);
}

static void a_report_of_bounded_norm_has_the_norm_it_claims(sotto_test *t)
{
    sotto_prio3_config config = {
        .type = SOTTO_PRIO3_L1_BOUND_SUM, .shares = 2, .length = 3, .chunk_length = 4, .max = 5};

    /* Weights 1, 2 and 5 - 3 = 2: three entries and the claim. */
    check_bits(t, &config,
               "100010000"
               "110",
               SOTTO_OK);
    check_bits(t, &config,
               "111000000"
               "111",
               SOTTO_OK);
    check_bits(t, &config,
               "111100000"
               "111",
               SOTTO_REJECTED);
    check_bits(t, &config,
               "100010000"
               "101",
               SOTTO_OK); /* the last two weights are alike */
    check_bits(t, &config,
               "100010000"
               "111",
               SOTTO_REJECTED);
    check_bits(t, &config,
               "000000000"
               "100",
               SOTTO_REJECTED);
}

/* An element that is neither 0 nor 1, in every place. With one call an element the prover is honest about
 * the gadget, so its output must be seen; in chunks it pretends that the gadget vanishes. */
static void an_element_that_is_no_bit_is_rejected(sotto_test *t)
{
    for (size_t c = 0; c < sotto_test_config_count; c++) {
        sotto_test_prio3 p = sotto_test_prio3_of(t, &sotto_test_configs[c], 7);
        const sotto_circuit *k = p.vdaf.circuit;
        sotto_measurement m = sotto_test_measurement(t, &p);
        uint8_t parts[2 * SEED];

        for (size_t at = 0; at < k->meas_len; at++) {
            for (uint8_t value = 2; value < 4; value++) {
                uint8_t *meas = sotto_test_take(t, k->meas_len * k->element_size);

                CHECK(t, k->flp->encode(k, meas, m));
                memset(meas + at * k->element_size, 0, k->element_size);
                meas[at * k->element_size] = value;
                sotto_test_report report = lie(t, &p, m, &(lies){.meas = meas}, parts);
                check_verdict(t, &p, &report, SOTTO_REJECTED);
            }
        }
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_liar_is_accepted_while_it_is_honest),
        CASE(a_lie_about_the_leaders_part_is_rejected),
        CASE(a_lie_about_the_helpers_part_is_rejected),
        CASE(joint_randomness_of_the_clients_choice_is_rejected),
        CASE(an_aggregator_whose_seed_differs_refuses_although_the_proof_holds),
        CASE(a_histogram_report_has_one_one),
        CASE(a_multihot_report_has_the_weight_it_claims),
        CASE(a_report_of_bounded_norm_has_the_norm_it_claims),
        CASE(an_element_that_is_no_bit_is_rejected),
    };
    return RUN_TESTS(argc, argv, cases);
}
