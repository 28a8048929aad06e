#include "heirs.h"

#include <string.h>

hall_plan heirs_plan(void)
{
    hall_plan p = HALL_SMALL;

    p.threshold = 2;
    p.checks = 3;
    p.rekey = 3;
    return p;
}

/* What may be asked of the second round alone does not change the first. */
static hall_plan first_of(hall_plan plan)
{
    hall_plan first = heirs_plan();

    first.committee = plan.committee;
    return first;
}

void heirs_open_as(sotto_test *t, heirs *p, hall_plan plan)
{
    hall_open(t, &p->first, first_of(plan));
    p->before = hall_net(t, &p->first, 1);
    CHECK(t, hall_run(t, &p->first, p->before).released);
    hall_follow(t, &p->second, &p->first, plan);
    p->net = hall_net_after(t, &p->second, p->before);
}

void heirs_open(sotto_test *t, heirs *p)
{
    heirs_open_as(t, p, heirs_plan());
}

void heirs_close(heirs *p)
{
    sotto_sim_net_free(p->before);
    sotto_sim_net_free(p->net);
    hall_close(&p->first);
    hall_close(&p->second);
}

const sotto_aero_view *heirs_view(sotto_sim_net *net)
{
    return hall_server(net)->base.view;
}

bool heirs_have_key(const heirs *p)
{
    const sotto_aero_view *a = heirs_view(p->before), *b = heirs_view(p->net);

    return b->handing.has_passed && memcmp(a->b, b->b, sizeof *a->b) == 0 &&
           memcmp(a->plan->a_seed, b->plan->a_seed, SOTTO_AERO_A_SEED) == 0 &&
           sotto_aero_key_round(b) == p->first.plan.number;
}

bool heirs_have_nothing(const heirs *p)
{
    bool erased = true;

    for (uint32_t i = 0; i < p->second.plan.committee; i++) {
        const uint32_t old = p->second.derived->old[i];

        if (sotto_aero_committee_place(p->second.derived, old) < 0)
            erased &= sotto_sim_net_carried(p->net, SOTTO_SIM_DECRYPTOR(old)).len == 0;
    }
    return erased;
}

bool heirs_say_no_more(void *context, sotto_sim_net *net, sotto_message *m, sotto_bytes *bulk)
{
    (void)net;
    (void)bulk;
    return m->kind != *(const unsigned *)context;
}

bool heirs_read(sotto_test *t, const heirs *p, const sotto_aero_share *const shares[2],
                const uint32_t places[2])
{
    static sotto_aero_poly key, v;
    static int64_t m[SOTTO_AERO_N];
    const sotto_aero *aero = &p->second.derived->aero;
    const sotto_aero_entrant *victim =
        &hall_server(p->net)->entrants[p->second.derived->terms.noise_members];
    sotto_aero_weight weights[2];
    sotto_aero_cipher *c;

    CHECK_OK(t, sotto_aero_weights_vartime(aero, weights, places, 2, &t->err));
    memset(&key, 0, sizeof key);
    for (size_t i = 0; i < 2; i++) {
        v = shares[i]->s;
        sotto_aero_scale(&aero->ring, &v, weights[i].first, weights[i].second);
        sotto_aero_add(&aero->ring, &key, &v);
    }
    CHECK_OK(t, sotto_aero_group_decode(&c, p->second.derived, 0, victim->groups[0].ciphers,
                                        &t->arena, &t->err));
    sotto_aero_transform(&aero->ring, &c->c1);
    sotto_aero_transform_over(&aero->ring, &key);
    sotto_aero_product(&aero->ring, &c->c1, &c->c1, &key);
    sotto_aero_subtract(&aero->ring, &c->c2, &c->c1);
    sotto_aero_decode_vartime(aero, m, NULL, &c->c2);
    return m[1] == (int64_t)p->second.inputs[victim->promise.index].of.z64[0];
}
