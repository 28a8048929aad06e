/* Random configurations, random batches, random damage at random steps: a wrong sum is never accepted, and
 * an untouched report is never refused. SOTTO_CHAOS_ROUNDS and SOTTO_CHAOS_SEED choose how long and which. */
#include "support/prio3.h"

#include "vdaf/circuit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12 };

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void flip_bit(sotto_sim_random *random, void *data, size_t len)
{
    uint64_t bit = sotto_sim_random_below(random, 8 * len);

    ((uint8_t *)data)[bit / 8] ^= (uint8_t)(1 << bit % 8);
}

/* Damages what the client or the network delivers. False if nothing was left to damage. */
static bool damage_report(sotto_test_prio3 *p, sotto_test_report *r)
{
    sotto_sim_random *random = &p->random;
    unsigned who = (unsigned)sotto_sim_random_below(random, p->vdaf.config.shares);

    switch (sotto_sim_random_below(random, 6)) {
    case 0:
        if (!r->public_share.len)
            return false;
        flip_bit(random, r->public_share.data, r->public_share.len);
        return true;
    case 1:
        r->shares[who].len = (size_t)sotto_sim_random_below(random, r->shares[who].len);
        return true;
    case 2:
        sotto_test_bump_element(p, r->shares[0].data,
                                (size_t)sotto_sim_random_below(random, p->vdaf.circuit->meas_len));
        return true;
    case 3:
        sotto_test_spoil_element(p, r->shares[0].data,
                                 (size_t)sotto_sim_random_below(random, p->vdaf.circuit->meas_len));
        return true;
    default:
        flip_bit(random, r->shares[who].data, r->shares[who].len);
        return true;
    }
}

/* Damages what one aggregator says to the others. */
static bool damage_verifier_share(sotto_test_prio3 *p, sotto_test_round *round, size_t i)
{
    unsigned shares = p->vdaf.config.shares;
    unsigned who = (unsigned)sotto_sim_random_below(&p->random, shares);
    sotto_bytes *share = &round->shares[i * shares + who];

    if (!share->len)
        return false;
    if (sotto_sim_random_chance(&p->random, 0.2))
        share->len--;
    else
        flip_bit(&p->random, (uint8_t *)(uintptr_t)share->data, share->len);
    return true;
}

static bool damage_message(sotto_test_prio3 *p, sotto_test_round *round, size_t i)
{
    if (!round->messages[i].len)
        return false;
    flip_bit(&p->random, round->verdicts[i].message, round->messages[i].len);
    return true;
}

static void run_round(sotto_test *t, sotto_sim_random *random, uint64_t seed)
{
    size_t type = (size_t)sotto_sim_random_below(random, sotto_test_config_count);
    unsigned shares = 2 + (unsigned)sotto_sim_random_below(random, 4);
    sotto_prio3_config config =
        sotto_test_random_config(random, sotto_test_configs[type].type, shares);
    sotto_test_prio3 p = sotto_test_prio3_of(t, &config, seed);
    bool wide =
        config.type == SOTTO_PRIO3_SUM && config.max > UINT32_MAX; /* one could wrap with two */
    size_t count = wide ? 1 : 1 + (size_t)sotto_sim_random_below(random, MOST);
    sotto_uint128 *got = sotto_test_take(t, p.vdaf.sizes.outputs * sizeof *got);
    sotto_uint128 *wanted = sotto_test_take(t, p.vdaf.sizes.outputs * sizeof *wanted);
    sotto_test_report reports[MOST];
    bool damaged[MOST] = {false};
    int step[MOST];

    for (size_t i = 0; i < count; i++) {
        reports[i] = sotto_test_report_random(t, &p);
        step[i] = (int)sotto_sim_random_below(random, 6); /* from 3 on: left alone */
        if (step[i] == 0)
            damaged[i] = damage_report(&p, &reports[i]);
    }
    sotto_test_round round = sotto_test_round_init(t, &p, reports, count);
    for (size_t i = 0; i < count; i++)
        if (step[i] == 1)
            damaged[i] = damage_verifier_share(&p, &round, i);
    sotto_test_round_decide(t, &p, &round);
    for (size_t i = 0; i < count; i++)
        if (step[i] == 2)
            damaged[i] = damage_message(&p, &round, i);
    sotto_test_round_finish(t, &p, &round);
    for (size_t i = 0; i < count; i++)
        CHECK_EQUAL(t, damaged[i], sotto_test_round_status(&p, &round, i) != SOTTO_OK);
    (void)sotto_test_round_sum(t, &p, &round, got);
    sotto_test_plain_sum(t, &p, &round, reports, wanted);
    CHECK_BYTES(t, wanted, got, p.vdaf.sizes.outputs * sizeof *got);
    sotto_arena_reset(&t->arena);
}

static void damage_is_always_refused_and_the_rest_adds_up(sotto_test *t)
{
    uint64_t rounds = setting("SOTTO_CHAOS_ROUNDS", 600), seed = setting("SOTTO_CHAOS_SEED", 1);
    sotto_sim_random random;

    for (uint64_t i = 0; i < rounds; i++) {
        sotto_sim_random_init(&random, seed + i);
        run_round(t, &random, seed + i);
    }
    (void)printf("%llu rounds from seed %llu\n", (unsigned long long)rounds,
                 (unsigned long long)seed);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(damage_is_always_refused_and_the_rest_adds_up)};

    return RUN_TESTS(argc, argv, cases);
}
