/* What a participant looks at before it joins, and what its machine keeps. */
#include "hall.h"

#include "aggregate/aero/odds.h"
#include <math.h>
#include <string.h>

static hall_plan six(void)
{
    hall_plan p = HALL_SMALL;

    p.clients = 6;
    return p;
}

/* ---- before anybody joins ------------------------------------------------------------------------------------- */

/* A round of 10^9 devices as it is planned: what is looked at, without its keys. */
typedef struct proposal {
    sotto_round round;
    sotto_aero_plan plan;
    sotto_aero_account account;
} proposal;

static void propose(sotto_test *t, proposal *p, const char *set)
{
    memset(p, 0, sizeof *p);
    p->round = (sotto_round){.registered = 1000000000, .largest = 10700, .account = &p->account};
    p->plan.round = &p->round;
    p->plan.terms = (sotto_aero_terms){.checks = 40,
                                       .committee = 100,
                                       .committees = 1,
                                       .threshold = 24,
                                       .noise_members = 100,
                                       .noise_corrupt = 23,
                                       .liars = 600,
                                       .rate = UINT64_C(184467440737095), /* 10^-5 */
                                       .epsilon = 8 * 1000000,
                                       .delta_bits = 30};
    p->plan.rho = 0.1;
    CHECK_OK(t, sotto_aero_set_named(&p->plan.ledger.set, set, &t->err));
}

static void is_denied(sotto_test *t, const proposal *p)
{
    t->err = (sotto_err){0};
    CHECK_STATUS(t, SOTTO_DENIED, sotto_aero_admit(&p->plan, &t->err));
}

/* The server names the budget. It can't name none, and nobody joins who does not know what was spent. */
static void a_round_without_a_budget_is_not_joined(sotto_test *t)
{
    static proposal p;

    propose(t, &p, "b87");
    CHECK_OK(t, sotto_aero_admit(&p.plan, &t->err));
    p.plan.terms.epsilon = 0;
    is_denied(t, &p);
    p.account.is_trial = true;
    t->err = (sotto_err){0};
    CHECK_OK(t, sotto_aero_admit(&p.plan, &t->err));
    propose(t, &p, "b87");
    p.round.account = NULL;
    is_denied(t, &p);
    propose(t, &p, "b87");
    p.plan.rho = INFINITY; /* no noise */
    is_denied(t, &p);
}

static void sizes_that_protect_nobody_are_not_joined(sotto_test *t)
{
    static proposal p;

    propose(t, &p, "b87");
    p.plan.terms.checks = 1;
    is_denied(t, &p);
    propose(t, &p, "b87");
    p.plan.terms.threshold = 2;
    is_denied(t, &p);
    propose(t, &p, "b87");
    p.plan.terms.noise_corrupt = 2;
    is_denied(t, &p);
    propose(t, &p, "b87");
    p.plan.terms.liars = 1;
    is_denied(t, &p);
}

/* Each of the chances is far below 10^-9, and 10,000 rounds have more than 2^-30 together. */
static void all_rounds_of_a_device_are_within_delta(sotto_test *t)
{
    const sotto_aero_odds odds = {.members = 1e-10, .noise = 2e-10, .liars = 1, .missed = 4e-10};
    static proposal p;

    CHECK(t, sotto_aero_odds_together(&odds, 1) >= 7e-10);
    CHECK_NEAR(t, 7e-10, sotto_aero_odds_together(&odds, 0), 1e-20);
    CHECK_NEAR(t, 2.1e-9, sotto_aero_odds_together(&odds, 3), 1e-20);
    CHECK(t, sotto_aero_odds_together(&odds, 1e12) <= 1);
    propose(t, &p, "b87");
    p.plan.terms.participations = 100;
    CHECK_OK(t, sotto_aero_admit(&p.plan, &t->err));
    p.plan.terms.participations = 10000;
    is_denied(t, &p);
    p.plan.terms.delta_bits = 20;
    sotto_err_clear(&t->err);
    CHECK_OK(t, sotto_aero_admit(&p.plan, &t->err));
}

static void a_weak_set_is_joined_only_by_name(sotto_test *t)
{
    static proposal p;

    propose(t, &p, "b109");
    is_denied(t, &p);
    p.account.set = "b109";
    t->err = (sotto_err){0};
    CHECK_OK(t, sotto_aero_admit(&p.plan, &t->err));
}

/* A machine refuses as well. */
static void nobody_joins_what_is_not_admitted(sotto_test *t)
{
    hall h;
    sotto_machine *machine;

    hall_open(t, &h, six());
    h.account.is_trial = false;
    const sotto_self self = {.part = SOTTO_PART_CLIENT, .keys = &h.cast.clients[0]};
    t->err = (sotto_err){0};
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_aero_client.join(&machine, &h.round, &self, &t->arena, &t->err));
    hall_close(&h);
}

/* Who knows the beacon can look for a key that it draws: here one of 16 tries or so. The round names the registry that the beacon was drawn
 * over, so nobody joins with such a key in it. */
static void who_registers_after_the_beacon_is_in_no_round(sotto_test *t)
{
    uint8_t keys[HALL_MOST][32], secret[32] = {0};
    hall_plan p = six();
    sotto_machine *machine;
    sotto_signer chosen;
    hall h;

    p.rate = UINT64_MAX / 16;
    hall_open(t, &h, p);
    sotto_registry later = h.cast.registry;
    memcpy(keys, later.keys, p.clients * sizeof keys[0]);
    later.keys = (const uint8_t(*)[32])keys;
    h.round.keys = &later;
    do {
        secret[0]++;
        CHECK(t, secret[0] != 0);
        CHECK_OK(t, sotto_signer_init(&chosen, secret, &t->err));
        memcpy(keys[5], chosen.public_key, 32);
        sotto_signer_clear(&chosen);
    } while (!sotto_aero_is_sampled(h.derived, 5));
    const sotto_self self = {.part = SOTTO_PART_CLIENT, .keys = &h.cast.clients[0]};
    t->err = (sotto_err){0};
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_aero_client.join(&machine, &h.round, &self, &t->arena, &t->err));
    h.round.keys = &h.cast.registry;
    CHECK_OK(t, sotto_aero_client.join(&machine, &h.round, &self, &t->arena, &t->err));
    hall_close(&h);
}

/* ---- machines ------------------------------------------------------------------------------------------------- */

static sotto_self self_of(const hall *h, sotto_part part, uint32_t index)
{
    return (sotto_self){.part = part,
                        .index = index,
                        .keys = &h->cast.clients[index],
                        .secrets = &h->cast.secrets[index],
                        .seed = {1}};
}

/* A device says that the server has spoken. Nobody believes it, and nobody does after a restart. */
static void a_forged_record_does_not_count_after_a_restart(sotto_test *t)
{
    hall h;
    sotto_machine *machine;
    sotto_effects effects;
    sotto_status verdict;
    uint8_t signature[SOTTO_SIGNATURE];
    const size_t room = 1024;
    sotto_buf record = sotto_buf_over(sotto_arena_take(&t->arena, room), room),
              body = sotto_buf_over(sotto_arena_take(&t->arena, room), room),
              saved = sotto_buf_over(sotto_arena_take(&t->arena, room), room);

    hall_open(t, &h, six());
    const sotto_round *r = &h.round;
    const sotto_self self = self_of(&h, SOTTO_PART_DECRYPTOR, h.derived->committee[0]);
    sotto_message forged = {.epoch = r->epoch,
                            .round = r->number,
                            .kind = SOTTO_AERO_SEALED,
                            .from = SOTTO_TO_SERVER,
                            .to = SOTTO_TO_BOARD},
                  entry = {.kind = SOTTO_AERO_ENTRY};
    memcpy(forged.session, r->session, 32);
    CHECK_OK(t, sotto_message_sign(&forged, signature, &h.cast.clients[0], &t->err));
    CHECK_OK(t, sotto_message_encode(&record, &forged, &t->err));
    CHECK_OK(t, sotto_entry_encode(&body, 0, sotto_buf_bytes(&record), &t->err));
    entry.body = sotto_buf_bytes(&body);

    const sotto_machine_ops *ops = &sotto_aero_member_ops;
    CHECK_OK(t, ops->join(&machine, r, &self, &t->arena, &t->err));
    sotto_effects_init(&effects, &t->arena);
    CHECK_OK(t, ops->deliver(machine, &entry, 1, &verdict, &effects, &t->err));
    CHECK(t, !((sotto_aero_committee_member *)machine)->base.view->is_sealed);
    CHECK_OK(t, ops->save(machine, &saved, &t->err));
    CHECK(t, effects.kept != NULL);
    CHECK_OK(t, ops->restore(&machine, r, &self, sotto_buf_bytes(&saved), &effects.kept->message, 1,
                             &t->arena, &t->err));
    CHECK_EQUAL(t, 1, ((sotto_aero_committee_member *)machine)->base.view->next);
    CHECK(t, !((sotto_aero_committee_member *)machine)->base.view->is_sealed);
    hall_close(&h);
}

/* The server keeps a device's leaf in the first group and leaves it out of the second. */
static void a_device_asks_for_its_leaf_in_every_group(sotto_test *t)
{
    hall h;
    hall_plan p = six();
    sotto_machine *machine;
    sotto_effects effects;
    unsigned said = 0;

    p.length = SOTTO_AERO_GROUP * SOTTO_AERO_SLOTS + 1;
    p.checks = 3;
    hall_open(t, &h, p);
    CHECK_EQUAL(t, 2, h.derived->groups);
    const sotto_self self = self_of(&h, SOTTO_PART_CLIENT, 0);
    CHECK_OK(t, sotto_aero_client.join(&machine, &h.round, &self, &t->arena, &t->err));
    sotto_aero_device *device = (sotto_aero_device *)machine;
    device->base.view->posted.leaves = 10;
    device->done = SOTTO_AERO_HAS_PROMISED(SOTTO_AERO_CONTRIBUTOR) | SOTTO_AERO_HAS_REVEALED;
    CHECK_OK(t, sotto_aero_choose(device, &t->err));
    for (uint32_t i = 0; i < device->ask_count; i++) /* all others are answered */
        if (device->asks[i].group == 0 || device->asks[i].position < SOTTO_AERO_OWN_LEAF)
            device->answered[i / 8] |= (uint8_t)(1u << (i % 8));
    sotto_effects_init(&effects, &t->arena);
    CHECK_OK(t, sotto_aero_complain(device, &effects, &t->err));
    for (const sotto_effect_message *m = effects.sent; m; m = m->next)
        said += m->message.body.data[0] == SOTTO_AERO_LEFT_OUT;
    CHECK_EQUAL(t, 1, said);
    hall_close(&h);
}

static void terms_ask_for_no_more_leaves_than_there_is_room_for(sotto_test *t)
{
    hall_plan p = six();
    hall h;

    hall_open(t, &h, p);
    h.round.length = (uint64_t)8 * SOTTO_AERO_GROUP * SOTTO_AERO_SLOTS; /* eight groups */
    sotto_aero_terms terms = hall_terms(t, &h);
    uint8_t wire[SOTTO_AERO_TERMS];
    for (unsigned more = 0; more < 2; more++) {
        sotto_buf out = sotto_buf_over(wire, sizeof wire);

        terms.checks = (uint8_t)(126 + more);
        CHECK_OK(t, sotto_aero_terms_encode(&out, &terms, &t->err));
        h.round.parameters = sotto_buf_bytes(&out);
        CHECK_STATUS(t, more ? SOTTO_DENIED : SOTTO_OK, sotto_aero_check_round(&h.round, &t->err));
    }
    hall_close(&h);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_round_without_a_budget_is_not_joined),
        CASE(sizes_that_protect_nobody_are_not_joined),
        CASE(all_rounds_of_a_device_are_within_delta),
        CASE(a_weak_set_is_joined_only_by_name),
        CASE(nobody_joins_what_is_not_admitted),
        CASE(who_registers_after_the_beacon_is_in_no_round),
        CASE(a_forged_record_does_not_count_after_a_restart),
        CASE(a_device_asks_for_its_leaf_in_every_group),
        CASE(terms_ask_for_no_more_leaves_than_there_is_room_for),
    };
    return RUN_TESTS(argc, argv, cases);
}
