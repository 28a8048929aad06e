/* Rounds of encrypted sums that have one key: committees hand it over, and members, servers and devices lie. */
#include "heirs.h"

#include "aggregate/aero/odds.h"
#include "sim/net_internal.h"

#include <string.h>

/* ---- rounds ---------------------------------------------------------------------------------------------------- */

static void a_key_serves_as_many_rounds_as_were_planned(sotto_test *t)
{
    static const char *const sets[] = {"b64", "b87"};

    for (size_t s = 0; s < 2; s++) {
        sotto_arena_mark mark = sotto_arena_here(&t->arena);
        hall_plan plan = heirs_plan();
        sotto_sim_net *nets[3];
        hall h[3];

        plan.set = sets[s];
        hall_open(t, &h[0], plan);
        nets[0] = hall_net(t, &h[0], 1);
        for (unsigned i = 0; i < 3; i++) {
            if (i) {
                hall_follow(t, &h[i], &h[i - 1], plan);
                nets[i] = hall_net_after(t, &h[i], nets[i - 1]);
            }
            sotto_sim_report report = hall_run(t, &h[i], nets[i]);
            CHECK(t, report.released);
            CHECK_EQUAL(t, 0, report.blamed_count);
            CHECK_EQUAL(t, 0, report.verdicts[SOTTO_REJECTED]);
            CHECK(t, heirs_view(nets[i])->handing.has_passed == (i > 0));
            CHECK(t, memcmp(heirs_view(nets[0])->b, heirs_view(nets[i])->b,
                            sizeof(sotto_aero_poly)) == 0);
            CHECK_EQUAL(t, 4, sotto_aero_key_round(heirs_view(nets[i])));
        }
        for (uint32_t i = 0; i < plan.clients; i++) /* after the last one, nobody has anything */
            CHECK_EQUAL(t, 0, sotto_sim_net_carried(nets[2], SOTTO_SIM_DECRYPTOR(i)).len);
        for (unsigned i = 0; i < 3; i++) {
            sotto_sim_net_free(nets[i]);
            hall_close(&h[i]);
        }
        sotto_arena_rollback(&t->arena, mark);
    }
}

static void a_key_that_served_its_rounds_is_not_handed_over(sotto_test *t)
{
    hall_plan plan = heirs_plan();
    sotto_aero_terms terms;
    hall h;

    hall_open(t, &h, plan);
    terms = hall_terms(t, &h);
    static const struct {
        uint8_t rekey, handed;
        bool is_right;
    } cases[] = {{3, 2, true}, {3, 3, false}, {0, 1, false}, {1, 0, false}, {17, 0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t bytes[SOTTO_AERO_TERMS_HANDED];
        sotto_buf out = sotto_buf_over(bytes, sizeof bytes);

        terms.rekey = cases[i].rekey;
        terms.handed = cases[i].handed;
        CHECK_OK(t, sotto_aero_terms_encode(&out, &terms, &t->err));
        h.round.parameters = sotto_buf_bytes(&out);
        t->err = (sotto_err){0};
        CHECK_STATUS(t, cases[i].is_right ? SOTTO_OK : SOTTO_DENIED,
                     sotto_aero_check_round(&h.round, &t->err));
    }
    hall_close(&h);
}

static void old_members_keep_nothing(sotto_test *t)
{
    heirs p;

    heirs_open(t, &p);
    CHECK(t, hall_run(t, &p.second, p.net).released);
    CHECK(t, heirs_have_key(&p));
    CHECK(t, heirs_have_nothing(&p));
    heirs_close(&p);
}

/* The server ends nothing: old members forget what they had when the set-up is over. */
static void what_is_not_handed_over_in_time_is_erased(sotto_test *t)
{
    unsigned withheld = SOTTO_AERO_TAKEN;
    heirs p;

    heirs_open(t, &p);
    sotto_sim_net_lie(p.net, SOTTO_TO_SERVER, heirs_say_no_more, &withheld);
    CHECK(t, !hall_run(t, &p.second, p.net).released);
    CHECK(t, heirs_have_nothing(&p));
    heirs_close(&p);
}

/* ---- crashes --------------------------------------------------------------------------------------------------- */

static void a_crash_at_any_step_loses_no_key(sotto_test *t)
{
    heirs p;

    heirs_open(t, &p);
    hall_run(t, &p.second, p.net);
    const uint64_t steps = hall_steps(p.net);
    for (uint64_t step = 1; step <= steps; step += 13) {
        sotto_arena_mark mark = sotto_arena_here(&t->arena);

        sotto_sim_net_free(p.net);
        p.net = hall_net_after(t, &p.second, p.before);
        sotto_sim_net_crash_at(p.net, step,
                               step % 2 ? SOTTO_SIM_CRASH_AFTER : SOTTO_SIM_CRASH_BEFORE);
        CHECK(t, hall_run(t, &p.second, p.net).released);
        CHECK(t, heirs_have_key(&p));
        CHECK(t, heirs_have_nothing(&p));
        sotto_sim_net_free(p.net);
        sotto_arena_rollback(&t->arena, mark);
        p.net = hall_net_after(t, &p.second, p.before);
    }
    heirs_close(&p);
}

static void members_live_on_what_they_saved(sotto_test *t)
{
    heirs p;

    heirs_open(t, &p);
    sotto_sim_net_forget_always(p.net);
    sotto_sim_report report = hall_run(t, &p.second, p.net);
    CHECK(t, report.released);
    CHECK_EQUAL(t, 0, report.forgetful);
    CHECK(t, heirs_have_nothing(&p));
    heirs_close(&p);
}

static void messages_may_come_late_and_twice(sotto_test *t)
{
    const sotto_sim_faults faults = {
        .duplicate = 0.2, .late = 0.1, .delay_most_ms = 30, .late_ms = 60, .crash_after = 0.02};
    heirs p;

    heirs_open(t, &p);
    for (uint64_t seed = 0; seed < 4; seed++) {
        sotto_sim_net_free(p.net);
        p.second.plan.number += seed << 32; /* of the network alone */
        p.net = hall_net_after(t, &p.second, p.before);
        p.second.plan.number -= seed << 32;
        sotto_sim_net_faults(p.net, &faults);
        CHECK(t, hall_run(t, &p.second, p.net).released);
        CHECK(t, heirs_have_nothing(&p));
    }
    heirs_close(&p);
}

/* ---- dealers that lie -------------------------------------------------------------------------------------------- */

/* Before it dealt. */
static sotto_aero_committee_member *dealer(sotto_test *t, heirs *p, uint32_t place)
{
    hall_until(t, p->net, 101);
    sotto_aero_committee_member *m = hall_speaker(p->net, p->second.derived->old[place]);
    CHECK(t, m && m->own && !(m->hand & SOTTO_AERO_HAS_HANDED));
    return m;
}

static void a_dealer_of_another_share_is_named(sotto_test *t)
{
    heirs p;

    heirs_open(t, &p);
    dealer(t, &p, 1)->own->holding.share.s.first[3].v ^= 1;
    sotto_sim_report report = hall_run(t, &p.second, p.net);
    CHECK(t, report.released);
    CHECK(t, heirs_have_key(&p));
    CHECK_EQUAL(t, 1, report.blamed_count);
    CHECK_EQUAL(t, p.second.derived->old[1], report.blamed[0]);
    heirs_close(&p);
}

/* It says that its share is of another key. */
static void a_dealer_of_another_key_does_not_count(sotto_test *t)
{
    heirs p;

    heirs_open(t, &p);
    dealer(t, &p, 0)->own->key[0] ^= 1;
    sotto_sim_report report = hall_run(t, &p.second, p.net);
    CHECK(t, report.released);
    CHECK(t, heirs_have_key(&p));
    for (uint32_t i = 0; i < 2; i++)
        CHECK(t, heirs_view(p.net)->handing.taken[i] != 0);
    heirs_close(&p);
}

static void without_enough_dealers_there_is_a_new_key(sotto_test *t)
{
    unsigned withheld = SOTTO_AERO_HAND;

    for (uint32_t silent = 2; silent <= 5; silent += 3) {
        heirs p;

        heirs_open(t, &p);
        for (uint32_t i = 0; i < silent; i++)
            sotto_sim_net_lie(p.net, SOTTO_SIM_DECRYPTOR(p.second.derived->old[i]),
                              heirs_say_no_more, &withheld);
        CHECK(t, hall_run(t, &p.second, p.net).released);
        CHECK(t, heirs_have_key(&p) == (silent == 2));
        if (silent > 2)
            CHECK_EQUAL(t, p.second.plan.number, sotto_aero_key_round(heirs_view(p.net)));
        CHECK(t, heirs_have_nothing(&p));
        heirs_close(&p);
    }
}

/* An old member spoils what it deals to one new member, and is believed by the others. */
static bool spoils_one(void *context, sotto_sim_net *net, sotto_message *m, sotto_bytes *bulk)
{
    sotto_test *t = context;
    const sotto_aero_plan *plan = hall_server(net)->base.plan;
    const int place = sotto_aero_old_place(plan, m->from);

    (void)bulk;
    if (m->kind != SOTTO_AERO_HAND)
        return true;
    uint8_t *copy = sotto_arena_take(&t->arena, m->body.len);
    CHECK(t, copy && place >= 0);
    memcpy(copy, m->body.data, m->body.len);
    copy[SOTTO_AERO_HAND_HEAD + (size_t)place * sotto_aero_sealed_share_size(plan) + 100] ^= 1;
    m->body = sotto_bytes_of(copy, m->body.len);
    return true;
}

/* Each of four spoils another one's part. Two of them make two shares: such a key could not be handed on. */
static void a_key_that_too_few_hold_is_not_used(sotto_test *t)
{
    hall_plan plan = heirs_plan();
    heirs p;

    plan.committee = 4;
    heirs_open_as(t, &p, plan);
    for (uint32_t i = 0; i < 4; i++)
        sotto_sim_net_lie(p.net, SOTTO_SIM_DECRYPTOR(p.second.derived->old[i]), spoils_one, t);
    CHECK(t, hall_run(t, &p.second, p.net).released);
    CHECK(t, !heirs_have_key(&p));
    heirs_close(&p);
}

/* A member that could not open one dealer's part: who deals to everybody comes first. */
static void who_deals_to_everybody_comes_first(sotto_test *t)
{
    heirs p;

    heirs_open(t, &p);
    sotto_sim_net_lie(p.net, SOTTO_SIM_DECRYPTOR(p.second.derived->old[0]), spoils_one, t);
    CHECK(t, hall_run(t, &p.second, p.net).released);
    CHECK(t, heirs_have_key(&p));
    CHECK_EQUAL(t, 1, heirs_view(p.net)->handing.taken[0]);
    for (uint32_t i = 0; i < 5; i++)
        CHECK(t, heirs_view(p.net)->handing.holds[i]);
    heirs_close(&p);
}

/* ---- servers that lie --------------------------------------------------------------------------------------------- */

/* It shows a key whose secret it has: devices would encrypt to it. */
static void a_server_hands_over_no_key_of_its_own(sotto_test *t)
{
    heirs p;

    heirs_open(t, &p);
    const sotto_bytes right = sotto_sim_net_carried(p.before, SOTTO_TO_SERVER);
    uint8_t *own = sotto_arena_take(&t->arena, right.len);
    CHECK(t, own != NULL);
    memcpy(own, right.data, right.len);
    own[SOTTO_AERO_A_SEED] ^= 1;
    sotto_sim_net_carry(p.net, SOTTO_TO_SERVER, sotto_bytes_of(own, right.len));
    CHECK(t, hall_run(t, &p.second, p.net).released);
    CHECK(t, !heirs_view(p.net)->handing.has_passed);
    CHECK_EQUAL(t, p.second.plan.number, sotto_aero_key_round(heirs_view(p.net)));
    heirs_close(&p);
}

static bool shows_two(void *context, sotto_sim_net *net, sotto_message *m, sotto_bytes *bulk)
{
    const heirs *p = context;
    uint8_t signature[SOTTO_SIGNATURE];
    sotto_message other = *m;

    (void)bulk;
    if (m->kind == SOTTO_AERO_COMMITTED) { /* once members have taken over */
        other.kind = SOTTO_AERO_TAKEN;
        other.body = (sotto_bytes){NULL, 0};
        return sotto_message_sign(&other, signature, &p->second.cast.server, NULL) == SOTTO_OK &&
               sotto_sim_post(net, &other, NULL) == SOTTO_OK;
    }
    return true;
}

static void a_round_has_one_hand_over(sotto_test *t)
{
    heirs p;

    heirs_open(t, &p);
    sotto_sim_net_lie(p.net, SOTTO_TO_SERVER, shows_two, &p);
    CHECK(t, !hall_run(t, &p.second, p.net).released);
    CHECK(t, heirs_view(p.net)->is_refuted);
    for (uint32_t i = 0; i < 8; i++) /* nor does it go on from there */
        CHECK_EQUAL(t, 0, sotto_sim_net_carried(p.net, SOTTO_SIM_DECRYPTOR(i)).len);
    heirs_close(&p);
}

/* Two rounds of one number, to each of which the same committee would hand over. What a member says in one is another thing than in the other,
 * and its vow is of the number. */
static void a_share_is_dealt_once(sotto_test *t)
{
    heirs p;
    hall other;

    heirs_open(t, &p);
    CHECK(t, hall_run(t, &p.second, p.net).released);
    hall_follow(t, &other, &p.first, heirs_plan());
    other.round.model[0] = 1;
    const sotto_aero_terms terms = hall_terms(t, &other);
    hall_set(t, &other, &terms);
    sotto_sim_net *net = hall_net_after(t, &other, p.before);
    for (uint32_t i = 0; i < 5; i++)
        sotto_sim_find(net, SOTTO_SIM_DECRYPTOR(other.derived->old[i]))->vows =
            sotto_sim_find(p.net, SOTTO_SIM_DECRYPTOR(other.derived->old[i]))->vows;
    sotto_sim_report report;
    CHECK_OK(t, sotto_sim_net_run(net, other.round.commit_by - 1, &report, &t->err));
    CHECK(t, report.vow_conflicts >= 5);
    CHECK(t, !heirs_view(net)->handing.has_passed);
    CHECK_EQUAL(t, 0, heirs_view(net)->handing.hands);
    sotto_sim_net_free(net);
    hall_close(&other);
    heirs_close(&p);
}

static void nobody_hands_over(sotto_test *t, heirs *p)
{
    hall_run(t, &p->second, p->net);
    CHECK_EQUAL(t, 0, heirs_view(p->net)->handing.hands);
    CHECK(t, !heirs_view(p->net)->handing.has_passed);
    CHECK(t, heirs_have_nothing(p));
}

/* One in which more hints are told, or fewer members open. */
static void a_key_is_handed_over_on_the_same_terms(sotto_test *t)
{
    for (unsigned i = 0; i < 4; i++) {
        hall_plan plan = heirs_plan();
        heirs p;

        plan.threshold += i == 0;
        plan.rekey = (uint8_t)(plan.rekey + (i == 1));
        plan.length += i == 2 ? SOTTO_AERO_SLOTS : 0;
        plan.liars += i == 3;
        heirs_open_as(t, &p, plan);
        nobody_hands_over(t, &p);
        heirs_close(&p);
    }
}

static void a_key_is_handed_to_the_next_round_alone(sotto_test *t)
{
    for (unsigned i = 0; i < 2; i++) {
        sotto_aero_terms terms;
        heirs p;

        heirs_open(t, &p);
        terms = hall_terms(t, &p.second);
        terms.origin.round[0] ^= i == 0;
        terms.handed = (uint8_t)(terms.handed + (i == 1)); /* its key would be older than it is */
        hall_set(t, &p.second, &terms);
        sotto_sim_net_free(p.net);
        p.net = hall_net_after(t, &p.second, p.before);
        nobody_hands_over(t, &p);
        heirs_close(&p);
    }
}

/* ---- old shares --------------------------------------------------------------------------------------------------- */

/* One member of each committee may lie, and two open. An old share and a new one open nothing. Two old ones that were kept do: this is why they
 * are erased. */
static void old_and_new_shares_do_not_combine(sotto_test *t)
{
    static sotto_aero_carried old[2];
    heirs p;

    heirs_open(t, &p);
    for (uint32_t i = 0; i < 2; i++)
        CHECK_OK(t,
                 sotto_aero_carried_decode(
                     &p.second.derived->aero, &old[i],
                     sotto_sim_net_carried(p.before, SOTTO_SIM_DECRYPTOR(p.second.derived->old[i])),
                     &t->err));
    hall_until(t, p.net, HALL_SUMS);
    CHECK(t, heirs_have_key(&p));
    const sotto_aero_share *fresh[2] = {&hall_member(&p.second, p.net, 0)->share,
                                        &hall_member(&p.second, p.net, 1)->share};
    const sotto_aero_share *kept[2] = {&old[0].holding.share, &old[1].holding.share};
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t j = 0; j < 2; j++)
            if (i != j) {
                const sotto_aero_share *const mixed[2] = {kept[i], fresh[j]};
                const uint32_t places[2] = {i, j};

                CHECK(t, !heirs_read(t, &p, mixed, places));
            }
    const uint32_t both[2] = {0, 1};
    CHECK(t, heirs_read(t, &p, fresh, both));
    CHECK(t, heirs_read(t, &p, kept, both));
    heirs_close(&p);
}

/* ---- what members say of it --------------------------------------------------------------------------------------- */

static void a_certificate_names_the_round_of_its_key(sotto_test *t)
{
    uint8_t certificate[SOTTO_AERO_CERTIFICATE];
    heirs p;

    heirs_open(t, &p);
    CHECK(t, hall_run(t, &p.second, p.net).released);
    memcpy(certificate, heirs_view(p.net)->certificate, sizeof certificate);
    CHECK_EQUAL(t, 4, certificate[sizeof certificate - 32 - 1]); /* eight bytes, big endian */
    for (uint32_t i = 0; i < 5; i++)
        CHECK(t, memcmp(heirs_view(p.net)->members[i].certificate, certificate,
                        sizeof certificate) == 0);
    heirs_close(&p);
}

/* ---- what it costs ------------------------------------------------------------------------------------------------- */

static void hints_and_odds_are_those_of_all_rounds(sotto_test *t)
{
    const sotto_aero_people people = {1e6, 1e4, 0.03, 0.2};
    sotto_aero_odds one, three;
    hall_plan plan = heirs_plan();
    hall a, b;

    hall_open(t, &b, plan);
    plan.rekey = 0;
    hall_open(t, &a, plan);
    CHECK_EQUAL(t, 3 * a.derived->ledger.hints, b.derived->ledger.hints);
    CHECK(t, b.derived->ledger.sigma_left < a.derived->ledger.sigma_left);
    CHECK(t, b.derived->ledger.rho >= a.derived->ledger.rho); /* of one round, as before */
    CHECK_OK(t, sotto_aero_odds_of(&one, &a.derived->terms, &people, &t->err));
    CHECK_OK(t, sotto_aero_odds_of(&three, &b.derived->terms, &people, &t->err));
    CHECK(t, three.members >= 3 * one.members);
    CHECK_NEAR(t, 3 * one.members, three.members, 1e-12 * one.members);
    CHECK_NEAR(t, one.noise, three.noise, 0);
    hall_close(&a);
    hall_close(&b);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_key_serves_as_many_rounds_as_were_planned),
        CASE(a_key_that_served_its_rounds_is_not_handed_over),
        CASE(old_members_keep_nothing),
        CASE(what_is_not_handed_over_in_time_is_erased),
        CASE(a_crash_at_any_step_loses_no_key),
        CASE(members_live_on_what_they_saved),
        CASE(messages_may_come_late_and_twice),
        CASE(a_dealer_of_another_share_is_named),
        CASE(a_dealer_of_another_key_does_not_count),
        CASE(without_enough_dealers_there_is_a_new_key),
        CASE(a_key_that_too_few_hold_is_not_used),
        CASE(who_deals_to_everybody_comes_first),
        CASE(a_server_hands_over_no_key_of_its_own),
        CASE(a_round_has_one_hand_over),
        CASE(a_share_is_dealt_once),
        CASE(a_key_is_handed_over_on_the_same_terms),
        CASE(a_key_is_handed_to_the_next_round_alone),
        CASE(old_and_new_shares_do_not_combine),
        CASE(a_certificate_names_the_round_of_its_key),
        CASE(hints_and_odds_are_those_of_all_rounds),
    };
    return RUN_TESTS(argc, argv, cases);
}
