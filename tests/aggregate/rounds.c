#include "rounds.h"

#include "plain/plain.h"

#include <string.h>

static void fit_plain(sotto_test *t, round_case *c, uint64_t seed)
{
    (void)t;
    (void)seed;
    c->losses = c->clients / 5;
    c->round.least = c->clients - c->losses;
    c->round.parameters = (sotto_bytes){NULL, 0};
}

void round_case_set_bbglr(sotto_test *t, sotto_round *round, const sotto_bbglr_parameters *p)
{
    sotto_buf out =
        sotto_buf_over(sotto_arena_take(&t->arena, SOTTO_BBGLR_PARAMETERS), SOTTO_BBGLR_PARAMETERS);

    CHECK(t, out.data != NULL);
    CHECK_OK(t, sotto_bbglr_parameters_encode(&out, p, &t->err));
    round->parameters = sotto_buf_bytes(&out);
}

static void fit_bbglr(sotto_test *t, round_case *c, uint64_t seed)
{
    uint32_t clients = c->clients;
    uint32_t degree = clients <= 21 ? (clients - 1) / 2 * 2 : 20;
    sotto_bbglr_parameters p = {.degree = (uint16_t)degree,
                                .threshold = (uint16_t)(degree / 2 < 2 ? 2 : degree / 2),
                                .quorum = (clients + clients / 20) / 2 + 1,
                                .corrupt = clients / 20,
                                .keys_by = 1000};

    /* Each loss may be a neighbour: so many may be missing before fewer than the threshold are left. */
    (void)seed;
    c->losses = degree - p.threshold < clients / 5 ? degree - p.threshold : clients / 5;
    c->round.least = clients - c->losses;
    round_case_set_bbglr(t, &c->round, &p);
}

void round_case_set_flamingo(sotto_test *t, sotto_round *round, const sotto_flamingo_parameters *p)
{
    sotto_buf out = sotto_buf_over(sotto_arena_take(&t->arena, SOTTO_FLAMINGO_PARAMETERS),
                                   SOTTO_FLAMINGO_PARAMETERS);

    CHECK(t, out.data != NULL);
    CHECK_OK(t, sotto_flamingo_parameters_encode(&out, p, &t->err));
    round->parameters = sotto_buf_bytes(&out);
}

/* Everybody is drawn, and everybody is everybody's neighbour unless they are many, where edges are most of the cost. So what is
 * lost is lost by faults alone. */
static void fit_flamingo(sotto_test *t, round_case *c, uint64_t seed)
{
    uint32_t members = c->clients < 7 ? c->clients : 7;
    sotto_flamingo_parameters p = {.cohort = c->clients, .neighbours = 1, .edge = UINT64_MAX};

    if (c->clients > 20)
        p.edge /= 3;
    c->losses = c->clients / 5;
    c->round.least = c->clients - c->losses;
    CHECK_OK(t, sotto_sim_cast_agree(&c->cast, seed, &t->arena, &t->err));
    sotto_registry_root(&c->cast.registry, c->round.registry);
    CHECK_OK(t, sotto_sim_cast_decryptors(&c->cast, members, &c->round, seed, &t->arena, &t->err));
    c->decryptors = members;
    c->decryptors_lost = members - sotto_decryptors_quorum(members);
    c->round.decryptors = c->cast.decryptors;
    memcpy(p.decryptors, c->cast.decryptors->digest, sizeof p.decryptors);
    round_case_set_flamingo(t, &c->round, &p);
}

const method_row METHOD_ROWS[] = {
    {&sotto_method_plain, fit_plain, 1},
    {&sotto_method_bbglr, fit_bbglr, 1},
    {&sotto_method_flamingo, fit_flamingo, 8},
};
const size_t METHOD_ROW_COUNT = sizeof METHOD_ROWS / sizeof METHOD_ROWS[0];
const method_row *const BBGLR_ROW = &METHOD_ROWS[1], *const FLAMINGO_ROW = &METHOD_ROWS[2];

/* ---- a round ---------------------------------------------------------------------------------------- */

static void fill_input(sotto_vector *v, uint64_t most, sotto_sim_random *random)
{
    for (size_t i = 0; i < v->length; i++) {
        /* The lowest is left out: a client that answers anew sends one less. */
        uint64_t x = sotto_sim_random_below(random, 2 * most) - most + 1;

        if (v->ring == SOTTO_RING_Z32)
            v->of.z32[i] = (uint32_t)x;
        else
            v->of.z64[i] = x;
    }
}

void round_case_init(sotto_test *t, round_case *c, const method_row *row, uint32_t clients,
                     sotto_ring ring, size_t length, uint64_t seed)
{
    sotto_sim_random random;

    memset(c, 0, sizeof *c);
    c->row = row;
    c->clients = clients;
    sotto_sim_random_init(&random, seed);
    CHECK_OK(t, sotto_sim_cast_init(&c->cast, clients, seed, &t->arena, &t->err));
    c->round = (sotto_round){.session = {1},
                             .recipe = {2},
                             .epoch = 3,
                             .number = 4,
                             .method = row->method->id,
                             .version = SOTTO_ROUND_VERSION,
                             .ring = ring,
                             .length = length,
                             .most = ring == SOTTO_RING_Z32 ? 100000 : UINT64_C(1) << 50,
                             .largest = clients,
                             .registered = clients,
                             .opens = 100,
                             .commit_by = 2000,
                             .closes = 3000,
                             .verify_by = 4000,
                             .release_by = 5000};
    sotto_sim_random_bytes(&random, c->round.beacon, sizeof c->round.beacon);
    c->round.keys = &c->cast.registry;
    sotto_registry_root(&c->cast.registry, c->round.registry);
    row->fit(t, c, seed);
    c->inputs = sotto_arena_take_array(&t->arena, clients, sizeof *c->inputs);
    CHECK(t, c->inputs != NULL);
    for (uint32_t i = 0; i < clients; i++) {
        void *entries = sotto_arena_take(&t->arena, length * sotto_ring_width(ring));

        CHECK(t, entries != NULL);
        c->inputs[i] = (sotto_vector){.ring = ring, .length = length};
        if (ring == SOTTO_RING_Z32)
            c->inputs[i].of.z32 = entries;
        else
            c->inputs[i].of.z64 = entries;
        fill_input(&c->inputs[i], c->round.most, &random);
    }
}

void round_case_clear(round_case *c)
{
    sotto_sim_cast_clear(&c->cast);
}

sotto_sim_net *round_case_net(sotto_test *t, const round_case *c, uint64_t seed)
{
    sotto_sim_net *net;

    CHECK_OK(
        t, sotto_sim_net_new(&net, c->row->method, &c->round, &c->cast, seed, &t->arena, &t->err));
    for (uint32_t i = 0; i < c->clients; i++)
        sotto_sim_net_input(net, i, &c->inputs[i]);
    return net;
}

sotto_sim_report round_case_run(sotto_test *t, const round_case *c, sotto_sim_net *net)
{
    sotto_sim_report report;

    CHECK_OK(t, sotto_sim_net_run(net, 10 * c->round.release_by, &report, &t->err));
    /* Whatever goes wrong, these never do. */
    CHECK_EQUAL(t, 0, report.second_bulks);
    CHECK_EQUAL(t, 0, report.forgetful);
    CHECK(t, report.largest_save <= SOTTO_MACHINE_MOST_SAVED(c->clients));
    CHECK(t, !report.released || sum_is_exact(c, &report));
    return report;
}

bool sum_is_exact(const round_case *c, const sotto_sim_report *report)
{
    uint64_t counted = 0;

    for (uint32_t i = 0; i < c->clients; i++)
        counted += report->counted[i];
    if (!report->released || report->contributions != counted || counted < c->round.least)
        return false;
    for (size_t e = 0; e < c->round.length; e++) {
        uint64_t sum = 0;

        for (uint32_t i = 0; i < c->clients; i++)
            if (report->counted[i])
                sum += (c->round.ring == SOTTO_RING_Z32 ? c->inputs[i].of.z32[e]
                                                        : c->inputs[i].of.z64[e]) -
                       (e == 0 && report->answered_anew[i]);
        if (c->round.ring == SOTTO_RING_Z32 ? (uint32_t)sum != report->sum.of.z32[e]
                                            : sum != report->sum.of.z64[e])
            return false;
    }
    return true;
}
