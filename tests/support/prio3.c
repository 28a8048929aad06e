#include "support/prio3.h"

#include "vdaf/circuit.h"

#include <string.h>

const sotto_prio3_config sotto_test_configs[] = {
    {.type = SOTTO_PRIO3_COUNT, .shares = 2},
    {.type = SOTTO_PRIO3_SUM, .shares = 2, .max = 1337},
    {.type = SOTTO_PRIO3_SUM_VEC, .shares = 2, .length = 5, .chunk_length = 4, .max = 12},
    {.type = SOTTO_PRIO3_HISTOGRAM, .shares = 2, .length = 11, .chunk_length = 4},
    {.type = SOTTO_PRIO3_MULTIHOT_COUNT_VEC, .shares = 2, .length = 7, .chunk_length = 3, .max = 4},
    {.type = SOTTO_PRIO3_L1_BOUND_SUM, .shares = 2, .length = 4, .chunk_length = 3, .max = 9},
    {.type = SOTTO_PRIO3_SUM_VEC_WITH_MULTIPROOF,
     .shares = 2,
     .proofs = 3,
     .length = 6,
     .chunk_length = 5,
     .max = 6},
};
const size_t sotto_test_config_count = sizeof sotto_test_configs / sizeof sotto_test_configs[0];

void *sotto_test_take(sotto_test *t, size_t size)
{
    void *memory = sotto_arena_take(&t->arena, size);

    CHECK(t, memory != NULL);
    return memory;
}

sotto_test_prio3 sotto_test_prio3_of(sotto_test *t, const sotto_prio3_config *config, uint64_t seed)
{
    sotto_test_prio3 p = {.verifier.context = sotto_bytes_of("a test of sotto", 15)};

    CHECK(t, config->shares <= SOTTO_TEST_MAX_SHARES);
    CHECK_OK(t, sotto_prio3_init(&p.vdaf, &t->arena, config, &t->err));
    sotto_sim_random_init(&p.random, seed);
    sotto_sim_random_bytes(&p.random, p.verifier.verify_key, sizeof p.verifier.verify_key);
    return p;
}

sotto_prio3_config sotto_test_random_config(sotto_sim_random *random, sotto_prio3_type type,
                                            unsigned shares)
{
    sotto_prio3_config c = {.type = type, .shares = shares};
    bool vector = type != SOTTO_PRIO3_COUNT && type != SOTTO_PRIO3_SUM;

    if (vector) {
        c.length = 1 + sotto_sim_random_below(random, 40);
        c.chunk_length = 1 + sotto_sim_random_below(random, c.length + 8);
    }
    if (type == SOTTO_PRIO3_MULTIHOT_COUNT_VEC)
        c.max = 1 + sotto_sim_random_below(random, c.length);
    else if (type == SOTTO_PRIO3_SUM)
        c.max = 1 + (sotto_sim_random_u64(random) >> (1 + sotto_sim_random_below(random, 63)));
    else if (type != SOTTO_PRIO3_COUNT && type != SOTTO_PRIO3_HISTOGRAM)
        c.max = 1 + (sotto_sim_random_u64(random) >> (40 + sotto_sim_random_below(random, 24)));
    if (type == SOTTO_PRIO3_SUM && c.max > INT64_MAX)
        c.max = INT64_MAX;
    if (type == SOTTO_PRIO3_SUM_VEC_WITH_MULTIPROOF)
        c.proofs = 3 + (unsigned)sotto_sim_random_below(random, 3);
    return c;
}

/* ---- clients --------------------------------------------------------------------------------------- */

/* 0 to max, the ends more often than chance has them. */
static uint64_t value_up_to(sotto_sim_random *random, uint64_t max)
{
    uint64_t kind = sotto_sim_random_below(random, 6);

    if (kind < 2)
        return kind ? max : 0;
    return max == UINT64_MAX ? sotto_sim_random_u64(random)
                             : sotto_sim_random_below(random, max + 1);
}

static void fill_bounded_vector(sotto_sim_random *random, uint64_t *values, size_t count,
                                uint64_t largest, uint64_t total)
{
    for (size_t tries = 0; tries < 2 * count && total; tries++) {
        size_t i = (size_t)sotto_sim_random_below(random, count);
        uint64_t room = largest - values[i];
        uint64_t add = value_up_to(random, room < total ? room : total);

        values[i] += add;
        total -= add;
    }
}

sotto_measurement sotto_test_measurement(sotto_test *t, sotto_test_prio3 *p)
{
    const sotto_prio3_config *c = &p->vdaf.config;
    size_t count = c->length && c->type != SOTTO_PRIO3_HISTOGRAM ? (size_t)c->length : 1;
    uint64_t *values = sotto_test_take(t, count * sizeof *values);

    switch (c->type) {
    case SOTTO_PRIO3_COUNT:
        values[0] = sotto_sim_random_below(&p->random, 2);
        break;
    case SOTTO_PRIO3_HISTOGRAM:
        values[0] = sotto_sim_random_below(&p->random, c->length);
        break;
    case SOTTO_PRIO3_MULTIHOT_COUNT_VEC:
        fill_bounded_vector(&p->random, values, count, 1, value_up_to(&p->random, c->max));
        break;
    case SOTTO_PRIO3_L1_BOUND_SUM:
        fill_bounded_vector(&p->random, values, count, c->max, value_up_to(&p->random, c->max));
        break;
    case SOTTO_PRIO3_SUM:
    case SOTTO_PRIO3_SUM_VEC:
    case SOTTO_PRIO3_SUM_VEC_WITH_MULTIPROOF:
        for (size_t i = 0; i < count; i++)
            values[i] = value_up_to(&p->random, c->max);
        break;
    }
    return (sotto_measurement){values, count};
}

void sotto_test_report_shard(sotto_test *t, sotto_test_prio3 *p, sotto_test_report *r)
{
    const sotto_prio3_sizes *sizes = &p->vdaf.sizes;
    sotto_arena scratch;

    r->public_share = sotto_test_buf(t, sizes->public_share);
    for (unsigned s = 0; s < p->vdaf.circuit->shares; s++) {
        size_t len = s ? sizes->helper_share : sizes->leader_share;
        r->shares[s] = sotto_test_buf(t, len);
    }
    sotto_arena_init(&scratch, SIZE_MAX / 2);
    CHECK_OK(t, sotto_prio3_shard(&p->vdaf, &r->public_share, r->shares, p->verifier.context,
                                  r->measurement, r->nonce, sotto_bytes_of(r->rand, sizes->rand),
                                  &scratch, &t->err));
    sotto_arena_clear(&scratch);
}

sotto_test_report sotto_test_report_of(sotto_test *t, sotto_test_prio3 *p,
                                       sotto_measurement measurement)
{
    sotto_test_report r = {.measurement = measurement};

    r.rand = sotto_test_take(t, p->vdaf.sizes.rand);
    sotto_sim_random_bytes(&p->random, r.rand, p->vdaf.sizes.rand);
    sotto_sim_random_bytes(&p->random, r.nonce, sizeof r.nonce);
    sotto_test_report_shard(t, p, &r);
    return r;
}

sotto_test_report sotto_test_report_random(sotto_test *t, sotto_test_prio3 *p)
{
    return sotto_test_report_of(t, p, sotto_test_measurement(t, p));
}

/* ---- aggregators ----------------------------------------------------------------------------------- */

sotto_prio3_report sotto_test_view(const sotto_test_report *report, unsigned aggregator)
{
    sotto_prio3_report view = {.public_share = sotto_buf_bytes(&report->public_share),
                               .input_share = sotto_buf_bytes(&report->shares[aggregator])};

    memcpy(view.nonce, report->nonce, sizeof view.nonce);
    return view;
}

sotto_prio3_verifier sotto_test_verifier(const sotto_test_prio3 *p, unsigned aggregator)
{
    sotto_prio3_verifier verifier = p->verifier;

    verifier.aggregator = aggregator;
    return verifier;
}

sotto_test_round sotto_test_round_init(sotto_test *t, const sotto_test_prio3 *p,
                                       const sotto_test_report *reports, size_t count)
{
    unsigned shares = p->vdaf.circuit->shares;
    sotto_test_round round = {.count = count};

    round.shares = sotto_test_take(t, count * shares * sizeof *round.shares);
    round.verdicts = sotto_test_take(t, count * sizeof *round.verdicts);
    round.messages = sotto_test_take(t, count * sizeof *round.messages);
    for (unsigned a = 0; a < shares; a++) {
        sotto_prio3_verifier verifier = sotto_test_verifier(p, a);
        sotto_prio3_report *views = sotto_test_take(t, count * sizeof *views);

        for (size_t i = 0; i < count; i++)
            views[i] = sotto_test_view(&reports[i], a);
        round.states[a] = sotto_test_take(t, count * sizeof *round.states[a]);
        CHECK_OK(t, sotto_prio3_verify_init(&p->vdaf, round.states[a], &verifier, views, count,
                                            &t->arena, &t->err));
        for (size_t i = 0; i < count; i++) {
            sotto_bytes share = round.states[a][i].verifier_share;
            uint8_t *copy = sotto_test_take(t, share.len);

            if (share.len)
                memcpy(copy, share.data, share.len);
            round.shares[i * shares + a] = sotto_bytes_of(copy, share.len);
        }
    }
    return round;
}

void sotto_test_round_decide(sotto_test *t, const sotto_test_prio3 *p, sotto_test_round *round)
{
    CHECK_OK(t, sotto_prio3_verifier_shares_to_message(&p->vdaf, round->verdicts,
                                                       p->verifier.context, round->shares,
                                                       round->count, &t->arena, &t->err));
    for (size_t i = 0; i < round->count; i++)
        round->messages[i] =
            sotto_bytes_of(round->verdicts[i].message, p->vdaf.sizes.verifier_message);
}

void sotto_test_round_finish(sotto_test *t, const sotto_test_prio3 *p, sotto_test_round *round)
{
    for (unsigned a = 0; a < p->vdaf.circuit->shares; a++) {
        for (size_t i = 0; i < round->count; i++) {
            if (round->states[a][i].status == SOTTO_AGAIN && round->verdicts[i].status != SOTTO_OK)
                round->states[a][i].status = round->verdicts[i].status;
        }
        CHECK_OK(t, sotto_prio3_verify_next(&p->vdaf, round->states[a], round->messages,
                                            round->count, &t->err));
    }
}

sotto_test_round sotto_test_round_run(sotto_test *t, const sotto_test_prio3 *p,
                                      const sotto_test_report *reports, size_t count)
{
    sotto_test_round round = sotto_test_round_init(t, p, reports, count);

    sotto_test_round_decide(t, p, &round);
    sotto_test_round_finish(t, p, &round);
    return round;
}

sotto_status sotto_test_round_status(const sotto_test_prio3 *p, const sotto_test_round *round,
                                     size_t i)
{
    for (unsigned a = 0; a < p->vdaf.circuit->shares; a++)
        if (round->states[a][i].status != SOTTO_OK)
            return round->states[a][i].status;
    return SOTTO_OK;
}

/* ---- sums ------------------------------------------------------------------------------------------ */

uint64_t sotto_test_round_sum(sotto_test *t, const sotto_test_prio3 *p,
                              const sotto_test_round *round, sotto_uint128 *result)
{
    const sotto_prio3 *vdaf = &p->vdaf;
    sotto_bytes encoded[SOTTO_TEST_MAX_SHARES];
    uint64_t reports = 0;

    for (size_t i = 0; i < round->count; i++)
        reports += sotto_test_round_status(p, round, i) == SOTTO_OK;
    for (unsigned a = 0; a < vdaf->circuit->shares; a++) {
        sotto_prio3_verification *kept = sotto_test_take(t, round->count * sizeof *kept);
        sotto_buf out = sotto_test_buf(t, vdaf->sizes.out_share);
        sotto_prio3_agg agg;

        memcpy(kept, round->states[a], round->count * sizeof *kept);
        for (size_t i = 0; i < round->count; i++)
            kept[i].status = sotto_test_round_status(p, round, i);
        CHECK_OK(t, sotto_prio3_agg_init(vdaf, &agg, &t->arena, &t->err));
        CHECK_OK(t, sotto_prio3_accumulate(vdaf, &agg, kept, round->count, &t->err));
        CHECK_EQUAL(t, reports, agg.reports);
        CHECK_OK(t, sotto_prio3_agg_encode(vdaf, &out, &agg, &t->err));
        encoded[a] = sotto_buf_bytes(&out);
    }
    CHECK_OK(t, sotto_prio3_unshard(vdaf, result, encoded, reports, &t->err));
    return reports;
}

static void add_to(sotto_uint128 *sum, uint64_t value)
{
    sum->low += value;
    sum->high += sum->low < value;
}

void sotto_test_plain_sum(sotto_test *t, const sotto_test_prio3 *p, const sotto_test_round *round,
                          const sotto_test_report *reports, sotto_uint128 *result)
{
    bool histogram = p->vdaf.config.type == SOTTO_PRIO3_HISTOGRAM;

    (void)t;
    memset(result, 0, p->vdaf.sizes.outputs * sizeof *result);
    for (size_t i = 0; i < round->count; i++) {
        sotto_measurement m = reports[i].measurement;

        if (sotto_test_round_status(p, round, i) != SOTTO_OK)
            continue;
        for (size_t k = 0; k < m.count; k++)
            add_to(&result[histogram ? m.values[0] : k], histogram ? 1 : m.values[k]);
    }
}

/* ---- tampering ------------------------------------------------------------------------------------- */

static const uint8_t modulus64[8] = {1, 0, 0, 0, 255, 255, 255, 255};
static const uint8_t modulus128[16] = {1,   0,   0,   0,   0,   0,   0,   0,
                                       228, 255, 255, 255, 255, 255, 255, 255};

static const uint8_t *modulus_of(const sotto_test_prio3 *p)
{
    return p->vdaf.circuit->element_size == 8 ? modulus64 : modulus128;
}

void sotto_test_bump_element(const sotto_test_prio3 *p, uint8_t *elements, size_t index)
{
    size_t size = p->vdaf.circuit->element_size;
    uint8_t *at = elements + index * size;

    for (size_t i = 0; i < size && ++at[i] == 0; i++)
        ;
    if (memcmp(at, modulus_of(p), size) == 0)
        memset(at, 0, size);
}

void sotto_test_spoil_element(const sotto_test_prio3 *p, uint8_t *elements, size_t index)
{
    size_t size = p->vdaf.circuit->element_size;

    memcpy(elements + index * size, modulus_of(p), size);
}

void sotto_test_same_verification(sotto_test *t, const sotto_test_prio3 *p,
                                  const sotto_prio3_verification *a,
                                  const sotto_prio3_verification *b)
{
    CHECK_EQUAL(t, a->status, b->status);
    CHECK_EQUAL(t, a->verifier_share.len, b->verifier_share.len);
    CHECK_BYTES(t, a->verifier_share.data, b->verifier_share.data, a->verifier_share.len);
    CHECK_BYTES(t, a->joint_rand_seed, b->joint_rand_seed, sizeof a->joint_rand_seed);
    CHECK_EQUAL(t, a->measurement_share != NULL, b->measurement_share != NULL);
    if (a->measurement_share)
        CHECK_BYTES(t, a->measurement_share, b->measurement_share,
                    sotto_circuit_bytes(p->vdaf.circuit, p->vdaf.circuit->meas_len));
}
