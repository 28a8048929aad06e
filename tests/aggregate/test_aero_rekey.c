/* Rounds of encrypted sums that have one key: committees hand it over, and members, servers and devices lie. */
#include "hall.h"

#include "aggregate/aero/odds.h"
#include "sim/net_internal.h"

#include <string.h>

/* Eight devices, five members of whom two open: one of them may lie, and three have to agree. */
static hall_plan under_one_key(void)
{
    hall_plan p = HALL_SMALL;

    p.threshold = 2;
    p.checks = 3;
    p.rekey = 3;
    return p;
}

/* A round that made a key, and the one that is to take it over. */
typedef struct pair {
    hall first, second;
    sotto_sim_net *before, *net;
} pair;

/* What may be asked of the second round alone does not change the first. */
static hall_plan first_of(hall_plan plan)
{
    hall_plan first = under_one_key();

    first.committee = plan.committee;
    return first;
}

static void open_as(sotto_test *t, pair *p, hall_plan plan)
{
    hall_open(t, &p->first, first_of(plan));
    p->before = hall_net(t, &p->first, 1);
    CHECK(t, hall_run(t, &p->first, p->before).released);
    hall_follow(t, &p->second, &p->first, plan);
    p->net = hall_net_after(t, &p->second, p->before);
}

static void open_pair(sotto_test *t, pair *p)
{
    open_as(t, p, under_one_key());
}

static void close_pair(pair *p)
{
    sotto_sim_net_free(p->before);
    sotto_sim_net_free(p->net);
    hall_close(&p->first);
    hall_close(&p->second);
}

static const sotto_aero_view *view_of(sotto_sim_net *net)
{
    return hall_server(net)->base.view;
}

/* The second round has the first one's key. */
static bool has_key(const pair *p)
{
    const sotto_aero_view *a = view_of(p->before), *b = view_of(p->net);

    return b->handing.has_passed && memcmp(a->b, b->b, sizeof *a->b) == 0 &&
           memcmp(a->plan->a_seed, b->plan->a_seed, SOTTO_AERO_A_SEED) == 0 &&
           sotto_aero_key_round(b) == p->first.plan.number;
}

/* Nobody who was in a committee before this round's has anything left of it. */
static bool is_erased(const pair *p)
{
    bool erased = true;

    for (uint32_t i = 0; i < p->second.plan.committee; i++) {
        const uint32_t old = p->second.derived->old[i];

        if (sotto_aero_committee_place(p->second.derived, old) < 0)
            erased &= sotto_sim_net_carried(p->net, SOTTO_SIM_DECRYPTOR(old)).len == 0;
    }
    return erased;
}

/* ---- rounds ---------------------------------------------------------------------------------------------------- */

static void a_key_serves_as_many_rounds_as_were_planned(sotto_test *t)
{
    static const char *const sets[] = {"b64", "b87"};

    for (size_t s = 0; s < 2; s++) {
        sotto_arena_mark mark = sotto_arena_here(&t->arena);
        hall_plan plan = under_one_key();
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
            CHECK(t, view_of(nets[i])->handing.has_passed == (i > 0));
            CHECK(t,
                  memcmp(view_of(nets[0])->b, view_of(nets[i])->b, sizeof(sotto_aero_poly)) == 0);
            CHECK_EQUAL(t, 4, sotto_aero_key_round(view_of(nets[i])));
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
    hall_plan plan = under_one_key();
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
    pair p;

    open_pair(t, &p);
    CHECK(t, hall_run(t, &p.second, p.net).released);
    CHECK(t, has_key(&p));
    CHECK(t, is_erased(&p));
    close_pair(&p);
}

static bool says_no_more(void *context, sotto_sim_net *net, sotto_message *m, sotto_bytes *bulk)
{
    (void)net;
    (void)bulk;
    return m->kind != *(const unsigned *)context;
}

/* The server ends nothing: old members forget what they had when the set-up is over. */
static void what_is_not_handed_over_in_time_is_erased(sotto_test *t)
{
    unsigned withheld = SOTTO_AERO_TAKEN;
    pair p;

    open_pair(t, &p);
    sotto_sim_net_lie(p.net, SOTTO_TO_SERVER, says_no_more, &withheld);
    CHECK(t, !hall_run(t, &p.second, p.net).released);
    CHECK(t, is_erased(&p));
    close_pair(&p);
}

/* ---- crashes --------------------------------------------------------------------------------------------------- */

static void a_crash_at_any_step_loses_no_key(sotto_test *t)
{
    pair p;

    open_pair(t, &p);
    hall_run(t, &p.second, p.net);
    const uint64_t steps = hall_steps(p.net);
    for (uint64_t step = 1; step <= steps; step += 13) {
        sotto_arena_mark mark = sotto_arena_here(&t->arena);

        sotto_sim_net_free(p.net);
        p.net = hall_net_after(t, &p.second, p.before);
        sotto_sim_net_crash_at(p.net, step,
                               step % 2 ? SOTTO_SIM_CRASH_AFTER : SOTTO_SIM_CRASH_BEFORE);
        CHECK(t, hall_run(t, &p.second, p.net).released);
        CHECK(t, has_key(&p));
        CHECK(t, is_erased(&p));
        sotto_sim_net_free(p.net);
        sotto_arena_rollback(&t->arena, mark);
        p.net = hall_net_after(t, &p.second, p.before);
    }
    close_pair(&p);
}

static void members_live_on_what_they_saved(sotto_test *t)
{
    pair p;

    open_pair(t, &p);
    sotto_sim_net_forget_always(p.net);
    sotto_sim_report report = hall_run(t, &p.second, p.net);
    CHECK(t, report.released);
    CHECK_EQUAL(t, 0, report.forgetful);
    CHECK(t, is_erased(&p));
    close_pair(&p);
}

static void messages_may_come_late_and_twice(sotto_test *t)
{
    const sotto_sim_faults faults = {
        .duplicate = 0.2, .late = 0.1, .delay_most_ms = 30, .late_ms = 60, .crash_after = 0.02};
    pair p;

    open_pair(t, &p);
    for (uint64_t seed = 0; seed < 4; seed++) {
        sotto_sim_net_free(p.net);
        p.second.plan.number += seed << 32; /* of the network alone */
        p.net = hall_net_after(t, &p.second, p.before);
        p.second.plan.number -= seed << 32;
        sotto_sim_net_faults(p.net, &faults);
        CHECK(t, hall_run(t, &p.second, p.net).released);
        CHECK(t, is_erased(&p));
    }
    close_pair(&p);
}

/* ---- dealers that lie -------------------------------------------------------------------------------------------- */

/* Before it dealt. */
static sotto_aero_committee_member *dealer(sotto_test *t, pair *p, uint32_t place)
{
    hall_until(t, p->net, 101);
    sotto_aero_committee_member *m = hall_speaker(p->net, p->second.derived->old[place]);
    CHECK(t, m && m->own && !(m->hand & SOTTO_AERO_HAS_HANDED));
    return m;
}

static void a_dealer_of_another_share_is_named(sotto_test *t)
{
    pair p;

    open_pair(t, &p);
    dealer(t, &p, 1)->own->holding.share.s.first[3].v ^= 1;
    sotto_sim_report report = hall_run(t, &p.second, p.net);
    CHECK(t, report.released);
    CHECK(t, has_key(&p));
    CHECK_EQUAL(t, 1, report.blamed_count);
    CHECK_EQUAL(t, p.second.derived->old[1], report.blamed[0]);
    close_pair(&p);
}

/* It says that its share is of another key. */
static void a_dealer_of_another_key_does_not_count(sotto_test *t)
{
    pair p;

    open_pair(t, &p);
    dealer(t, &p, 0)->own->key[0] ^= 1;
    sotto_sim_report report = hall_run(t, &p.second, p.net);
    CHECK(t, report.released);
    CHECK(t, has_key(&p));
    for (uint32_t i = 0; i < 2; i++)
        CHECK(t, view_of(p.net)->handing.taken[i] != 0);
    close_pair(&p);
}

static void without_enough_dealers_there_is_a_new_key(sotto_test *t)
{
    unsigned withheld = SOTTO_AERO_HAND;

    for (uint32_t silent = 2; silent <= 5; silent += 3) {
        pair p;

        open_pair(t, &p);
        for (uint32_t i = 0; i < silent; i++)
            sotto_sim_net_lie(p.net, SOTTO_SIM_DECRYPTOR(p.second.derived->old[i]), says_no_more,
                              &withheld);
        CHECK(t, hall_run(t, &p.second, p.net).released);
        CHECK(t, has_key(&p) == (silent == 2));
        if (silent > 2)
            CHECK_EQUAL(t, p.second.plan.number, sotto_aero_key_round(view_of(p.net)));
        CHECK(t, is_erased(&p));
        close_pair(&p);
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
    hall_plan plan = under_one_key();
    pair p;

    plan.committee = 4;
    open_as(t, &p, plan);
    for (uint32_t i = 0; i < 4; i++)
        sotto_sim_net_lie(p.net, SOTTO_SIM_DECRYPTOR(p.second.derived->old[i]), spoils_one, t);
    CHECK(t, hall_run(t, &p.second, p.net).released);
    CHECK(t, !has_key(&p));
    close_pair(&p);
}

/* A member that could not open one dealer's part: who deals to everybody comes first. */
static void who_deals_to_everybody_comes_first(sotto_test *t)
{
    pair p;

    open_pair(t, &p);
    sotto_sim_net_lie(p.net, SOTTO_SIM_DECRYPTOR(p.second.derived->old[0]), spoils_one, t);
    CHECK(t, hall_run(t, &p.second, p.net).released);
    CHECK(t, has_key(&p));
    CHECK_EQUAL(t, 1, view_of(p.net)->handing.taken[0]);
    for (uint32_t i = 0; i < 5; i++)
        CHECK(t, view_of(p.net)->handing.holds[i]);
    close_pair(&p);
}

/* ---- servers that lie --------------------------------------------------------------------------------------------- */

/* It shows a key whose secret it has: devices would encrypt to it. */
static void a_server_hands_over_no_key_of_its_own(sotto_test *t)
{
    pair p;

    open_pair(t, &p);
    const sotto_bytes right = sotto_sim_net_carried(p.before, SOTTO_TO_SERVER);
    uint8_t *own = sotto_arena_take(&t->arena, right.len);
    CHECK(t, own != NULL);
    memcpy(own, right.data, right.len);
    own[SOTTO_AERO_A_SEED] ^= 1;
    sotto_sim_net_carry(p.net, SOTTO_TO_SERVER, sotto_bytes_of(own, right.len));
    CHECK(t, hall_run(t, &p.second, p.net).released);
    CHECK(t, !view_of(p.net)->handing.has_passed);
    CHECK_EQUAL(t, p.second.plan.number, sotto_aero_key_round(view_of(p.net)));
    close_pair(&p);
}

static bool shows_two(void *context, sotto_sim_net *net, sotto_message *m, sotto_bytes *bulk)
{
    const pair *p = context;
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
    pair p;

    open_pair(t, &p);
    sotto_sim_net_lie(p.net, SOTTO_TO_SERVER, shows_two, &p);
    CHECK(t, !hall_run(t, &p.second, p.net).released);
    CHECK(t, view_of(p.net)->is_refuted);
    for (uint32_t i = 0; i < 8; i++) /* nor does it go on from there */
        CHECK_EQUAL(t, 0, sotto_sim_net_carried(p.net, SOTTO_SIM_DECRYPTOR(i)).len);
    close_pair(&p);
}

/* Two rounds of one number, to each of which the same committee would hand over. What a member says in one is another thing than in the other,
 * and its vow is of the number. */
static void a_share_is_dealt_once(sotto_test *t)
{
    pair p;
    hall other;

    open_pair(t, &p);
    CHECK(t, hall_run(t, &p.second, p.net).released);
    hall_follow(t, &other, &p.first, under_one_key());
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
    CHECK(t, !view_of(net)->handing.has_passed);
    CHECK_EQUAL(t, 0, view_of(net)->handing.hands);
    sotto_sim_net_free(net);
    hall_close(&other);
    close_pair(&p);
}

static void nobody_hands_over(sotto_test *t, pair *p)
{
    hall_run(t, &p->second, p->net);
    CHECK_EQUAL(t, 0, view_of(p->net)->handing.hands);
    CHECK(t, !view_of(p->net)->handing.has_passed);
    CHECK(t, is_erased(p));
}

/* One in which more hints are told, or fewer members open. */
static void a_key_is_handed_over_on_the_same_terms(sotto_test *t)
{
    for (unsigned i = 0; i < 4; i++) {
        hall_plan plan = under_one_key();
        pair p;

        plan.threshold += i == 0;
        plan.rekey = (uint8_t)(plan.rekey + (i == 1));
        plan.length += i == 2 ? SOTTO_AERO_SLOTS : 0;
        plan.liars += i == 3;
        open_as(t, &p, plan);
        nobody_hands_over(t, &p);
        close_pair(&p);
    }
}

static void a_key_is_handed_to_the_next_round_alone(sotto_test *t)
{
    for (unsigned i = 0; i < 2; i++) {
        sotto_aero_terms terms;
        pair p;

        open_pair(t, &p);
        terms = hall_terms(t, &p.second);
        terms.origin.round[0] ^= i == 0;
        terms.handed = (uint8_t)(terms.handed + (i == 1)); /* its key would be older than it is */
        hall_set(t, &p.second, &terms);
        sotto_sim_net_free(p.net);
        p.net = hall_net_after(t, &p.second, p.before);
        nobody_hands_over(t, &p);
        close_pair(&p);
    }
}

/* ---- what a server leaves out or delays ------------------------------------------------------------------------------ */

/* Everything was dealt and probed in time, and the server says which key it is after the set-up alone: by a clock of its own. */
static void end_late(sotto_test *t, pair *p, bool forgets)
{
    sotto_round *own = sotto_arena_take(&t->arena, sizeof *own);

    CHECK(t, own != NULL);
    open_pair(t, p);
    hall_until(t, p->net, 101);
    *own = p->second.round;
    own->commit_by = own->opens + 2 * (own->commit_by + 200 - own->opens);
    own->closes = own->commit_by + 1000;
    sotto_aero_aggregator *s = hall_server(p->net);
    s->base.round = own;
    s->hand |= SOTTO_AERO_POSTED_TAKEN;
    hall_until(t, p->net, p->second.round.commit_by + 100);
    CHECK_EQUAL(t, 5, view_of(p->net)->handing.probed);
    s->hand &= (uint8_t)~SOTTO_AERO_POSTED_TAKEN;
    hall_until(t, p->net,
               p->second.round.commit_by + 400); /* members look at the clock 100 later */
    for (uint32_t i = 0; i < 5 && forgets; i++)
        sotto_sim_lose_memory(
            sotto_sim_find(p->net, SOTTO_SIM_DECRYPTOR(p->second.derived->committee[i])));
    hall_until(t, p->net, p->second.round.closes + 1);
}

/* Members erased what they were dealt by then. Zeros are no share, and after a restart nobody reads again what it erased. */
static void a_key_that_comes_late_is_taken_by_nobody(sotto_test *t)
{
    static const sotto_aero_share nothing;

    for (unsigned forgets = 0; forgets < 2; forgets++) {
        pair p;

        end_late(t, &p, forgets);
        for (uint32_t i = 0; i < 5; i++) {
            const sotto_aero_committee_member *m = hall_member(&p.second, p.net, i);

            CHECK(t, m && m->base.view->handing.has_passed);
            CHECK(t, m->lacks);
            CHECK(t, memcmp(&m->share, &nothing, sizeof nothing) == 0);
            CHECK(t, !view_of(p.net)->members[i].has_certified);
        }
        for (uint32_t i = 0; i < 8; i++) /* nor does it go on from there */
            CHECK_EQUAL(t, 0, sotto_sim_net_carried(p.net, SOTTO_SIM_DECRYPTOR(i)).len);
        close_pair(&p);
    }
}

enum { UNHEARD = 3 };

/* An old member deals a share of its own making to one new member alone: sealed as the others are. */
static bool deals_one_a_false_share(void *context, sotto_sim_net *net, sotto_message *m,
                                    sotto_bytes *bulk)
{
    sotto_test *t = context;
    sotto_aero_committee_member *liar = hall_speaker(net, m->from);
    const sotto_aero_plan *plan = liar->base.plan;
    const size_t each = sotto_aero_sealed_share_size(plan);
    static sotto_aero_holding false_share;

    (void)bulk;
    if (m->kind != SOTTO_AERO_HAND)
        return true;
    uint8_t *copy = sotto_arena_take(&t->arena, m->body.len);
    CHECK(t, copy != NULL);
    memcpy(copy, m->body.data, m->body.len);
    sotto_buf out = sotto_buf_over(copy + SOTTO_AERO_HAND_HEAD + UNHEARD * each, each);
    false_share.share.s.first[0].v = 1;
    CHECK_OK(t, sotto_aero_holding_seal(liar, &out, "sotto-aero-hand-1", plan->committee[UNHEARD],
                                        NULL, &false_share, &t->arena, &t->err));
    m->body = sotto_bytes_of(copy, m->body.len);
    return true;
}

/* The server leaves one new member's probe out: nobody judges what that member was dealt. */
static void leave_out(sotto_test *t, pair *p, bool lies)
{
    static unsigned withheld = SOTTO_AERO_PROBE;

    open_pair(t, p);
    if (lies)
        sotto_sim_net_lie(p->net, SOTTO_SIM_DECRYPTOR(p->second.derived->old[0]),
                          deals_one_a_false_share, t);
    sotto_sim_net_lie(p->net, SOTTO_SIM_DECRYPTOR(p->second.derived->committee[UNHEARD]),
                      says_no_more, &withheld);
    hall_until(t, p->net, HALL_SUMS);
    CHECK(t, has_key(p));
    CHECK(t, !view_of(p->net)->handing.has_probed[UNHEARD]);
    CHECK_EQUAL(t, 0, view_of(p->net)->handing.taken[0]); /* nobody else found anything wrong */
}

static bool reads(sotto_test *t, const pair *p, const sotto_aero_share *const shares[2],
                  const uint32_t places[2]);

static void a_member_that_is_not_heard_looks_at_its_share(sotto_test *t)
{
    const uint32_t places[2] = {0, UNHEARD};
    pair p;

    leave_out(t, &p, false);
    const sotto_aero_committee_member *m = hall_member(&p.second, p.net, UNHEARD);
    const sotto_aero_share *shares[2] = {&hall_member(&p.second, p.net, 0)->share, &m->share};
    CHECK(t, !m->lacks);
    CHECK(t, view_of(p.net)->members[UNHEARD].has_certified);
    CHECK(t, reads(t, &p, shares, places));
    close_pair(&p);
}

static void a_member_that_is_not_heard_takes_no_false_share(sotto_test *t)
{
    pair p;

    leave_out(t, &p, true);
    CHECK(t, hall_member(&p.second, p.net, UNHEARD)->lacks);
    CHECK(t, !view_of(p.net)->members[UNHEARD].has_certified);
    CHECK(t, hall_run(t, &p.second, p.net).released); /* the others open */
    close_pair(&p);
}

/* A new member says what it was dealt, with a byte too many. Then it says that it could open nothing of the first dealer's. */
static bool says_it_twice(void *context, sotto_sim_net *net, sotto_message *m, sotto_bytes *bulk)
{
    const pair *p = context;
    const size_t probe = 1 + SOTTO_AERO_PROBES * 8;
    static uint8_t first[4096], second[4096];
    uint8_t signature[SOTTO_SIGNATURE];
    sotto_message other = *m;

    (void)bulk;
    if (m->kind != SOTTO_AERO_PROBE)
        return true;
    memcpy(first, m->body.data, m->body.len);
    first[m->body.len] = 0;
    other.body = sotto_bytes_of(first, m->body.len + 1);
    second[0] = 0;
    memcpy(second + 1, m->body.data + probe, m->body.len - probe);
    m->body = sotto_bytes_of(second, 1 + m->body.len - probe);
    return sotto_message_sign(&other, signature, &p->second.cast.clients[m->from], NULL) ==
               SOTTO_OK &&
           sotto_sim_post(net, &other, NULL) == SOTTO_OK;
}

/* Else members that restart, and have only what counts, would judge other probes than those that do not. */
static void a_probe_that_does_not_count_leaves_nothing_behind(sotto_test *t)
{
    static const sotto_aero_probe nothing;
    pair p;

    open_pair(t, &p);
    sotto_sim_net_lie(p.net, SOTTO_SIM_DECRYPTOR(p.second.derived->committee[UNHEARD]),
                      says_it_twice, &p);
    hall_until(t, p.net, HALL_PROMISES);
    const sotto_aero_handing *h = &view_of(p.net)->handing;
    CHECK(t, h->has_probed[UNHEARD]);
    CHECK(t, !h->opened[UNHEARD] && h->opened[p.second.plan.committee + UNHEARD]);
    CHECK(t, memcmp(&h->probes[UNHEARD], &nothing, sizeof nothing) == 0);
    CHECK(t, has_key(&p));
    close_pair(&p);
}

/* ---- old shares --------------------------------------------------------------------------------------------------- */

/* Whether these two shares open what a device revealed in the second round. */
static bool reads(sotto_test *t, const pair *p, const sotto_aero_share *const shares[2],
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

/* One member of each committee may lie, and two open. An old share and a new one open nothing. Two old ones that were kept do: this is why they
 * are erased. */
static void old_and_new_shares_do_not_combine(sotto_test *t)
{
    static sotto_aero_carried old[2];
    pair p;

    open_pair(t, &p);
    for (uint32_t i = 0; i < 2; i++)
        CHECK_OK(t,
                 sotto_aero_carried_decode(
                     &p.second.derived->aero, &old[i],
                     sotto_sim_net_carried(p.before, SOTTO_SIM_DECRYPTOR(p.second.derived->old[i])),
                     &t->err));
    hall_until(t, p.net, HALL_SUMS);
    CHECK(t, has_key(&p));
    const sotto_aero_share *fresh[2] = {&hall_member(&p.second, p.net, 0)->share,
                                        &hall_member(&p.second, p.net, 1)->share};
    const sotto_aero_share *kept[2] = {&old[0].holding.share, &old[1].holding.share};
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t j = 0; j < 2; j++)
            if (i != j) {
                const sotto_aero_share *const mixed[2] = {kept[i], fresh[j]};
                const uint32_t places[2] = {i, j};

                CHECK(t, !reads(t, &p, mixed, places));
            }
    const uint32_t both[2] = {0, 1};
    CHECK(t, reads(t, &p, fresh, both));
    CHECK(t, reads(t, &p, kept, both));
    close_pair(&p);
}

/* ---- what members say of it --------------------------------------------------------------------------------------- */

static void a_certificate_names_the_round_of_its_key(sotto_test *t)
{
    uint8_t certificate[SOTTO_AERO_CERTIFICATE];
    pair p;

    open_pair(t, &p);
    CHECK(t, hall_run(t, &p.second, p.net).released);
    memcpy(certificate, view_of(p.net)->certificate, sizeof certificate);
    CHECK_EQUAL(t, 4, certificate[sizeof certificate - 32 - 1]); /* eight bytes, big endian */
    for (uint32_t i = 0; i < 5; i++)
        CHECK(t,
              memcmp(view_of(p.net)->members[i].certificate, certificate, sizeof certificate) == 0);
    close_pair(&p);
}

/* ---- what it costs ------------------------------------------------------------------------------------------------- */

static void hints_and_odds_are_those_of_all_rounds(sotto_test *t)
{
    const sotto_aero_people people = {1e6, 1e4, 0.03, 0.2};
    sotto_aero_odds one, three;
    hall_plan plan = under_one_key();
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
        CASE(a_key_that_comes_late_is_taken_by_nobody),
        CASE(a_member_that_is_not_heard_looks_at_its_share),
        CASE(a_member_that_is_not_heard_takes_no_false_share),
        CASE(a_probe_that_does_not_count_leaves_nothing_behind),
        CASE(old_and_new_shares_do_not_combine),
        CASE(a_certificate_names_the_round_of_its_key),
        CASE(hints_and_odds_are_those_of_all_rounds),
    };
    return RUN_TESTS(argc, argv, cases);
}
