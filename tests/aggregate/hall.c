#include "hall.h"

#include "sim/net_internal.h"

#include <string.h>

const hall_plan HALL_SMALL = {.clients = 8,
                              .committee = 5,
                              .threshold = 3,
                              .noise = 4,
                              .missing = 1,
                              .corrupt = 1,
                              .liars = 1,
                              .length = 6,
                              .number = 4,
                              .checks = 40};

static uint8_t row_of(sotto_test *t, const char *name)
{
    uint8_t row = 0;

    while (sotto_aero_sets[row].name && strcmp(sotto_aero_sets[row].name, name) != 0)
        row++;
    CHECK(t, sotto_aero_sets[row].name != NULL);
    return row;
}

void hall_set(sotto_test *t, hall *h, const sotto_aero_terms *terms)
{
    sotto_buf out = sotto_buf_over(sotto_arena_take(&t->arena, SOTTO_AERO_TERMS_HANDED),
                                   SOTTO_AERO_TERMS_HANDED);

    CHECK(t, out.data != NULL);
    CHECK_OK(t, sotto_aero_terms_encode(&out, terms, &t->err));
    h->round.parameters = sotto_buf_bytes(&out);
    h->derived = sotto_arena_take(&t->arena, sizeof *h->derived);
    CHECK(t, h->derived != NULL);
    CHECK_OK(t, sotto_aero_plan_init(h->derived, &h->round, &t->arena, &t->err));
}

sotto_aero_terms hall_terms(sotto_test *t, const hall *h)
{
    sotto_aero_terms terms;

    CHECK_OK(t, sotto_aero_terms_decode(&terms, h->round.parameters, &t->err));
    return terms;
}

static void fill_inputs(sotto_test *t, hall *h, sotto_sim_random *random)
{
    for (uint32_t i = 0; i < h->plan.clients; i++) {
        uint64_t *entries = sotto_arena_take_array(&t->arena, h->plan.length, sizeof *entries);

        CHECK(t, entries != NULL);
        for (uint32_t k = 0; k < h->plan.length; k++)
            entries[k] = sotto_sim_random_below(random, 2 * h->round.most) - h->round.most + 1;
        h->inputs[i] =
            (sotto_vector){.ring = SOTTO_RING_Z64, .length = h->plan.length, .of.z64 = entries};
    }
}

void hall_open(sotto_test *t, hall *h, hall_plan plan)
{
    sotto_sim_random random;

    memset(h, 0, sizeof *h);
    h->plan = plan;
    sotto_sim_random_init(&random, plan.seed + 1);
    CHECK_OK(t, sotto_sim_cast_init(&h->cast, plan.clients, plan.seed, &t->arena, &t->err));
    CHECK_OK(t, sotto_sim_cast_agree(&h->cast, plan.seed, &t->arena, &t->err));
    h->round = (sotto_round){.session = {1},
                             .recipe = {2},
                             .epoch = plan.rekey ? plan.number : 3,
                             .number = plan.number,
                             .method = SOTTO_METHOD_AERO,
                             .version = SOTTO_ROUND_VERSION,
                             .ring = SOTTO_RING_Z64,
                             .length = plan.length,
                             .most = 1000,
                             .norm2 = plan.norm2,
                             .least = plan.rate ? 2 : plan.clients - plan.clients / 4,
                             .largest = plan.clients,
                             .noise = {.num = plan.variance,
                                       .den = 1,
                                       .shares = plan.noise - plan.missing - plan.corrupt},
                             .registered = plan.clients,
                             .opens = 100,
                             .commit_by = 2000,
                             .closes = 3000,
                             .verify_by = 5000,
                             .release_by = 9000,
                             .keys = &h->cast.registry};
    sotto_sim_random_bytes(&random, h->round.beacon, sizeof h->round.beacon);
    sotto_registry_root(&h->cast.registry, h->round.registry);
    h->account.is_trial = plan.epsilon == 0;
    h->round.account = &h->account;
    const sotto_aero_terms terms = {.set = row_of(t, plan.set ? plan.set : "b64"),
                                    .profile = SOTTO_AERO_STANDARD,
                                    .bits = 12,
                                    .checks = plan.checks,
                                    .committee = plan.committee,
                                    .committees = plan.committees ? plan.committees : 1,
                                    .threshold = plan.threshold,
                                    .noise_members = plan.noise,
                                    .noise_corrupt = plan.corrupt,
                                    .noise_missing = plan.missing,
                                    .liars = plan.liars,
                                    .rate = plan.rate ? plan.rate : UINT64_MAX,
                                    .epsilon = plan.epsilon,
                                    .delta_bits = 30,
                                    .opening = plan.opening,
                                    .rekey = plan.rekey,
                                    .handed = plan.handed,
                                    .origin = plan.origin};
    hall_set(t, h, &terms);
    fill_inputs(t, h, &random);
}

void hall_close(hall *h)
{
    sotto_sim_cast_clear(&h->cast);
}

sotto_sim_net *hall_net(sotto_test *t, const hall *h, uint64_t seed)
{
    sotto_sim_net *net;

    CHECK_OK(t, sotto_sim_net_new(&net, &sotto_method_aero, &h->round, &h->cast, seed, &t->arena,
                                  &t->err));
    for (uint32_t i = 0; i < h->plan.clients; i++)
        sotto_sim_net_input(net, i, &h->inputs[i]);
    return net;
}

void hall_follow(sotto_test *t, hall *next, const hall *h, hall_plan plan)
{
    plan.number = h->plan.number + 1;
    plan.handed = (uint8_t)(h->plan.handed + 1);
    memcpy(plan.origin.round, h->derived->id, sizeof plan.origin.round);
    memcpy(plan.origin.beacon, h->round.beacon, sizeof plan.origin.beacon);
    hall_open(t, next, plan);
}

sotto_sim_net *hall_net_after(sotto_test *t, const hall *next, sotto_sim_net *before)
{
    sotto_sim_net *net = hall_net(t, next, next->plan.number);

    sotto_sim_net_carry(net, SOTTO_TO_SERVER, sotto_sim_net_carried(before, SOTTO_TO_SERVER));
    for (uint32_t i = 0; i < next->plan.clients; i++)
        sotto_sim_net_carry(net, SOTTO_SIM_DECRYPTOR(i),
                            sotto_sim_net_carried(before, SOTTO_SIM_DECRYPTOR(i)));
    return net;
}

bool hall_is_exact(const hall *h, const sotto_sim_report *report)
{
    uint64_t counted = 0;

    for (uint32_t i = 0; i < h->plan.clients; i++)
        counted += report->counted[i];
    if (!report->released || report->contributions != counted || counted < h->round.least)
        return false;
    for (uint32_t k = 0; k < h->plan.length; k++) {
        uint64_t sum = 0;

        for (uint32_t i = 0; i < h->plan.clients; i++)
            sum += report->counted[i] ? h->inputs[i].of.z64[k] : 0;
        if (sum != report->sum.of.z64[k])
            return false;
    }
    return true;
}

sotto_sim_report hall_run(sotto_test *t, const hall *h, sotto_sim_net *net)
{
    sotto_sim_report report;

    CHECK_OK(t, sotto_sim_net_run(net, 10 * h->round.release_by, &report, &t->err));
    CHECK_EQUAL(t, 0, report.forgetful);
    CHECK(t, report.largest_save <= SOTTO_MACHINE_MOST_SAVED(h->plan.clients));
    CHECK(t, !report.released || h->plan.variance || hall_is_exact(h, &report));
    return report;
}

bool hall_opens(sotto_test *t, const hall *h, sotto_sim_net *net)
{
    sotto_sim_report report;

    CHECK_OK(t, sotto_sim_net_run(net, h->round.release_by - 1, &report, &t->err));
    return hall_is_exact(h, &report);
}

sotto_sim_report hall_play(sotto_test *t, const hall *h, uint64_t seed, uint32_t liar,
                           sotto_sim_liar *how, void *context)
{
    sotto_sim_net *net = hall_net(t, h, seed);

    if (how)
        sotto_sim_net_lie(net, liar, how, context);
    sotto_sim_report report = hall_run(t, h, net);
    sotto_sim_net_free(net);
    return report;
}

sotto_aero_aggregator *hall_server(sotto_sim_net *net)
{
    return (sotto_aero_aggregator *)net->all[net->clients].machine;
}

sotto_aero_device *hall_device(sotto_sim_net *net, uint32_t index)
{
    return (sotto_aero_device *)net->all[index].machine;
}

sotto_aero_committee_member *hall_member(const hall *h, sotto_sim_net *net, uint32_t place)
{
    participant *p = sotto_sim_find(net, SOTTO_SIM_DECRYPTOR(h->derived->committee[place]));

    return (sotto_aero_committee_member *)p->machine;
}

void hall_until(sotto_test *t, sotto_sim_net *net, uint64_t until_ms)
{
    sotto_sim_report report;

    CHECK_OK(t, sotto_sim_net_run(net, until_ms, &report, &t->err));
}

sotto_aero_committee_member *hall_speaker(sotto_sim_net *net, uint32_t index)
{
    participant *p = sotto_sim_find(net, SOTTO_SIM_DECRYPTOR(index));

    return p ? (sotto_aero_committee_member *)p->machine : NULL;
}

uint64_t hall_steps(const sotto_sim_net *net)
{
    return net->report.steps;
}
