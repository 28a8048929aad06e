/* What a hostile server tries, alone or with devices and members, in whole rounds; and the check that stops it. tests/rules.sh switches each
 * check off and sees the attack succeed. The server's machine is tampered with, so that everything it says fits together. */
#include "hall.h"

#include "crypto/hash.h"

#include <string.h>

/* Six devices, all contribute; four of them give noise as well. */
static hall_plan six(void)
{
    hall_plan p = HALL_SMALL;

    p.clients = 6;
    return p;
}

/* What a member thinks of the round. */
static const char *opinion(const hall *h, sotto_sim_net *net)
{
    return hall_member(h, net, 0)->base.view->reason;
}

static void nothing_is_opened(sotto_test *t, hall *h, sotto_sim_net *net, const char *why)
{
    sotto_sim_report report;

    CHECK_OK(t, sotto_sim_net_run(net, 10 * h->round.release_by, &report, &t->err));
    CHECK(t, !report.released);
    CHECK(t, report.outcome == SOTTO_DENIED);
    CHECK(t, strcmp(opinion(h, net), why) == 0);
    CHECK(t, !(hall_member(h, net, 0)->done & SOTTO_AERO_HAS_JUDGED)); /* nor signed for */
    sotto_sim_net_free(net);
    hall_close(h);
}

static sotto_sim_net *start(sotto_test *t, hall *h, hall_plan plan, uint64_t until)
{
    hall_open(t, h, plan);
    sotto_sim_net *net = hall_net(t, h, plan.seed);
    if (until)
        hall_until(t, net, until);
    return net;
}

static sotto_aero_entrant *contributor(sotto_aero_aggregator *s, uint32_t i)
{
    return &s->entrants[s->base.plan->terms.noise_members + i];
}

/* ---- leaves that are not there ---------------------------------------------------------------------------- */

static void noise_that_is_dropped_is_counted(sotto_test *t)
{
    hall h;
    hall_plan p = six();

    p.liars = 6; /* that members of the noise committee were left out is not what stops it */
    sotto_sim_net *net = start(t, &h, p, HALL_SUMS);
    sotto_aero_aggregator *s = hall_server(net);

    s->base.plan->terms.noise_missing = 4; /* its own check must not stop it */
    s->entrants[0].groups[0].is_there = s->entrants[1].groups[0].is_there = false;
    nothing_is_opened(t, &h, net, "");
}

/* Devices may lie about it, so one is heard and does not stop a round; two, where one may lie, do. */
static void honest_contributors_are_not_left_out(sotto_test *t)
{
    hall h;
    sotto_sim_net *net = start(t, &h, six(), HALL_SUMS);
    sotto_aero_aggregator *s = hall_server(net);

    h.round.least = 3;
    contributor(s, 0)->groups[0].is_there = contributor(s, 1)->groups[0].is_there = false;
    nothing_is_opened(t, &h, net, "more devices than may lie were left out");
}

static void a_cohort_that_is_too_small_is_not_opened(sotto_test *t)
{
    hall h;
    hall_plan p = six();

    p.liars = 6;
    sotto_sim_net *net = start(t, &h, p, HALL_SUMS);
    sotto_aero_aggregator *s = hall_server(net);
    sotto_round *own = sotto_arena_take(&t->arena, sizeof *own);
    *own = h.round;
    own->least = 2; /* the server's own check must not stop it */
    s->base.round = own;
    for (uint32_t i = 0; i < 4; i++)
        contributor(s, i)->groups[0].is_there = false;
    nothing_is_opened(t, &h, net, "");
}

/* ---- leaves that should not be there ------------------------------------------------------------------------ */

/* A colluding device's contribution, made by its machine whether it was drawn or not. */
static sotto_message made_by(sotto_test *t, sotto_aero_device *d, uint8_t role,
                             const sotto_vector *v)
{
    sotto_effects effects;

    sotto_effects_init(&effects, &t->arena);
    CHECK_OK(t, sotto_aero_contribute(d, role, v, &effects, &t->err));
    return d->reveals[role][0];
}

/* Puts a promise of this content in the place of the device's own, signed by it. */
static void promise_instead(sotto_test *t, const hall *h, sotto_aero_entrant *e, uint32_t signer)
{
    uint8_t body[33], digest[32];

    sotto_aero_promise_of(digest, h->derived, &e->of);
    memcpy(e->promise.promise, digest, 32);
    sotto_message m =
        sotto_aero_commit_message(&h->round, body, e->promise.role, e->promise.index, digest);
    CHECK_OK(t, sotto_message_sign(&m, e->promise.signature, &h->cast.clients[signer], &t->err));
}

/* What a reveal holds, as the server keeps it. */
static void take(const hall *h, sotto_aero_entrant *e, sotto_message reveal)
{
    sotto_reader in = sotto_reader_over(reveal.body);
    size_t groups = h->derived->groups;
    sotto_aero_revealed *r = &e->groups[0];

    (void)sotto_read_uint(&in, 2);
    sotto_read_fixed(&in, r->nonce, 32);
    sotto_read_fixed(&in, e->of.sealed, 32 * groups);
    sotto_read_fixed(&in, e->of.proofs, 32 * groups);
    r->ciphers = sotto_read_opaque32(&in);
    r->proof = sotto_read_opaque32(&in);
    r->is_there = true;
}

/* A device and the server agree on what its leaf holds before promises are posted. */
static void collude(sotto_test *t, const hall *h, sotto_sim_net *net, uint32_t device,
                    sotto_message reveal)
{
    sotto_aero_entrant *e = contributor(hall_server(net), 0);

    while (e->promise.index != device)
        e++;
    take(h, e, reveal);
    promise_instead(t, h, e, device);
}

static void reseal(const hall *h, sotto_aero_entrant *e)
{
    const sotto_aero_revealed *r = &e->groups[0];

    sotto_aero_seal_group(e->of.sealed[0], h->derived, e->promise.role, e->promise.index, 0,
                          r->nonce, r->ciphers);
    sotto_hash_once(e->of.proofs[0], SOTTO_SHA256, r->proof);
}

static sotto_aero_entrant *entrant_of(sotto_sim_net *net, uint32_t device)
{
    sotto_aero_entrant *e = contributor(hall_server(net), 0);

    while (e->promise.index != device)
        e++;
    return e;
}

/* c times a number is a ciphertext of m times that number: the device proved the first. */
static void a_scaled_ciphertext_is_not_proved(sotto_test *t)
{
    hall h;
    sotto_sim_net *net = start(t, &h, six(), HALL_PROMISES);
    sotto_aero_entrant *e = entrant_of(net, 2);
    sotto_aero_cipher *c;

    collude(t, &h, net, 2, hall_device(net, 2)->reveals[SOTTO_AERO_CONTRIBUTOR][0]);
    CHECK_OK(t,
             sotto_aero_group_decode(&c, h.derived, 0, e->groups[0].ciphers, &t->arena, &t->err));
    sotto_aero_scale(&h.derived->aero.ring, &c->c1, sotto_f64_from(1), 1);
    for (size_t k = 1; k < SOTTO_AERO_N; k++) /* slot 0 stays: one more of entry 1 */
        c->c2.first[k] =
            sotto_f64_add(c->c2.first[k], k == 1 ? h.derived->aero.delta_first : sotto_f64_zero());
    size_t size = sotto_aero_group_bytes(h.derived, 0);
    sotto_buf wire = sotto_buf_over(sotto_arena_take(&t->arena, size), size);
    CHECK_OK(t, sotto_aero_group_encode(&wire, h.derived, c, 1, &t->err));
    e->groups[0].ciphers = sotto_buf_bytes(&wire);
    reseal(&h, e);
    promise_instead(t, &h, e, 2);
    nothing_is_opened(t, &h, net, "a leaf is not proved");
}

/* The colluding device shows what another device sent: the proof names that one. */
static void a_copied_ciphertext_is_not_proved(sotto_test *t)
{
    hall h;
    sotto_sim_net *net = start(t, &h, six(), HALL_PROMISES);
    sotto_aero_entrant *e = entrant_of(net, 2);

    /* As if victim 3 had revealed before promises were posted. */
    collude(t, &h, net, 2, hall_device(net, 3)->reveals[SOTTO_AERO_CONTRIBUTOR][0]);
    reseal(&h, e);
    promise_instead(t, &h, e, 2);
    nothing_is_opened(t, &h, net, "a leaf is not proved");
}

static void a_ciphertext_of_another_round_is_not_proved(sotto_test *t)
{
    hall before, h;
    hall_plan p = six();

    p.number = 3;
    sotto_sim_net *old = start(t, &before, p, HALL_PROMISES);
    sotto_sim_net *net = start(t, &h, six(), HALL_PROMISES);
    collude(t, &h, net, 2, hall_device(old, 2)->reveals[SOTTO_AERO_CONTRIBUTOR][0]);
    reseal(&h, entrant_of(net, 2));
    promise_instead(t, &h, entrant_of(net, 2), 2);
    nothing_is_opened(t, &h, net, "a leaf is not proved");
    sotto_sim_net_free(old);
    hall_close(&before);
}

/* A key that is handed over opens what was encrypted in the round before. So its ciphertexts would be read once more, beside others. */
static void a_ciphertext_of_the_round_before_is_not_proved_under_its_key(sotto_test *t)
{
    hall before, h;
    hall_plan p = six();

    p.threshold = 2;
    p.rekey = 3;
    sotto_sim_net *old = start(t, &before, p, HALL_PROMISES);
    sotto_message said = hall_device(old, 2)->reveals[SOTTO_AERO_CONTRIBUTOR][0];
    CHECK_OK(t, sotto_aero_copied(&said.body, said.body, &t->arena, &t->err));
    CHECK(t, hall_run(t, &before, old).released);
    hall_follow(t, &h, &before, p);
    sotto_sim_net *net = hall_net_after(t, &h, old);
    hall_until(t, net, HALL_PROMISES);
    CHECK(t, memcmp(hall_server(old)->base.view->b, hall_server(net)->base.view->b,
                    sizeof(sotto_aero_poly)) == 0);
    collude(t, &h, net, 2, said);
    reseal(&h, entrant_of(net, 2));
    promise_instead(t, &h, entrant_of(net, 2), 2);
    /* Its number is in slot 0. That is a check of the server's own, which does not stop itself. */
    nothing_is_opened(t, &h, net, "a leaf is not proved");
    sotto_sim_net_free(old);
    hall_close(&before);
}

/* What this device sends now: another vector, with other randomness. Its promise is in the tree, and not of this. */
static void contributes_anew(sotto_test *t, hall *h, sotto_sim_net *net, uint32_t device,
                             uint32_t as)
{
    sotto_vector other = h->inputs[as];

    hall_device(net, device)->base.self.seed[0] ^= 1;
    take(h, entrant_of(net, device),
         made_by(t, hall_device(net, device), SOTTO_AERO_CONTRIBUTOR, &other));
    h->inputs[device] = h->inputs[as];
}

/* The server changes what a device revealed: with its help to what it proves anew, having seen all others; or alone, to what another one did. */
static void an_edited_leaf_is_not_what_was_promised(sotto_test *t)
{
    for (unsigned alone = 0; alone < 2; alone++) {
        hall h;
        sotto_sim_net *net = start(t, &h, six(), HALL_SUMS);
        sotto_aero_entrant *e = entrant_of(net, 2);

        if (alone) {
            e->groups[0] = entrant_of(net, 3)->groups[0];
            e->of = entrant_of(net, 3)->of;
        } else {
            contributes_anew(t, &h, net, 2, 3);
        }
        nothing_is_opened(t, &h, net, "a leaf is edited");
    }
}

/* A device that colludes promises anew, after it has seen what others revealed. */
static void a_promise_after_the_others_is_not_under_the_root(sotto_test *t)
{
    hall h;
    sotto_sim_net *net = start(t, &h, six(), HALL_SUMS);

    contributes_anew(t, &h, net, 2, 3);
    promise_instead(t, &h, entrant_of(net, 2), 2);
    nothing_is_opened(t, &h, net, "a leaf is not promised");
}

/* A leaf for a device that never took part: the server can make all of it but the signature. */
static void a_leaf_that_the_server_made_up_is_not_signed(sotto_test *t)
{
    hall h;
    sotto_sim_net *net = start(t, &h, six(), HALL_PROMISES);
    sotto_aero_entrant *e = entrant_of(net, 2);

    take(&h, e, made_by(t, hall_device(net, 2), SOTTO_AERO_CONTRIBUTOR, &h.inputs[2]));
    promise_instead(t, &h, e, 1); /* with another key */
    nothing_is_opened(t, &h, net, "a leaf is not signed");
}

static void nobody_has_two_leaves(sotto_test *t)
{
    hall h;
    sotto_sim_net *net = start(t, &h, six(), HALL_PROMISES);

    *entrant_of(net, 3) = *entrant_of(net, 2);
    hall_until(t, net, HALL_SUMS);
    sotto_aero_aggregator *s = hall_server(net);
    for (uint32_t i = 0; i + 1 < 6; i++) /* both show what was revealed once, to the second */
        if (contributor(s, i)->promise.index == 2 && contributor(s, i + 1)->promise.index == 2)
            *contributor(s, i) = *contributor(s, i + 1);
    h.inputs[3] = h.inputs[2];
    nothing_is_opened(t, &h, net, "a leaf is unordered");
}

/* Who was not drawn, and takes part every time. */
static void who_was_not_drawn_has_no_leaf(sotto_test *t)
{
    hall_plan p = HALL_SMALL;
    uint32_t stranger = 0;
    hall h;

    p.rate = UINT64_MAX / 2;
    sotto_sim_net *net = start(t, &h, p, HALL_PROMISES);
    while (sotto_aero_is_sampled(h.derived, stranger))
        stranger++;
    CHECK(t, stranger < p.clients);
    sotto_aero_aggregator *s = hall_server(net);
    sotto_aero_entrant *e = &s->entrants[s->count];
    e->groups = sotto_arena_take(&t->arena, sizeof *e->groups);
    CHECK(t, e->groups != NULL);
    e->promise =
        (sotto_aero_promise){.role = SOTTO_AERO_CONTRIBUTOR, .index = stranger, .is_there = true};
    s->place[stranger] = ++s->count;
    take(&h, e,
         made_by(t, hall_device(net, stranger), SOTTO_AERO_CONTRIBUTOR, &h.inputs[stranger]));
    promise_instead(t, &h, e, stranger);
    nothing_is_opened(t, &h, net, "a leaf is ineligible");
}

/* ---- sums ------------------------------------------------------------------------------------------------- */

/* The server adds something to a half of the sum that no leaf holds, before it posts its digest. */
typedef struct adding {
    sotto_test *t;
    bool to_second;
} adding;

static bool adds_to_the_total(void *context, sotto_sim_net *net, sotto_message *m,
                              sotto_bytes *bulk)
{
    const adding *a = context;
    sotto_test *t = a->t;
    sotto_aero_aggregator *s = hall_server(net);
    const sotto_aero_plan *plan = s->base.plan;
    uint8_t second[32];

    (void)bulk;
    if (m->kind != SOTTO_AERO_ADDED)
        return true;
    uint8_t *body = sotto_arena_take(&t->arena, m->body.len);
    CHECK(t, body);
    sotto_aero_cipher *total = &s->totals[0][0];
    sotto_f64 *at = a->to_second ? &total->c2.first[1] : &total->c1.first[1];
    *at = sotto_f64_add(*at, plan->aero.delta_first);
    memcpy(body, m->body.data, m->body.len);
    CHECK_OK(t, sotto_aero_total_digests(body + 4 + 32, second, plan, 0, s->count, s->totals[0],
                                         &t->arena, &t->err));
    m->body = sotto_bytes_of(body, m->body.len);
    return true;
}

static void a_sum_that_is_not_the_trees_is_not_opened(sotto_test *t)
{
    adding a = {t, false};
    hall h;
    sotto_sim_net *net = start(t, &h, six(), 0);

    sotto_sim_net_lie(net, SOTTO_TO_SERVER, adds_to_the_total, &a);
    nothing_is_opened(t, &h, net, "");
}

/* A digest that is of another first half than the one that members are shown. */
static void a_half_is_the_one_that_was_posted(sotto_test *t)
{
    uint8_t first[100] = {1}, second[32] = {2}, digest[32], other[32];

    sotto_aero_total_digest(digest, sotto_bytes_of(first, sizeof first), second);
    second[31] ^= 1;
    sotto_aero_total_digest(other, sotto_bytes_of(first, sizeof first), second);
    CHECK(t, memcmp(digest, other, sizeof digest) != 0);
    second[31] ^= 1;
    first[99] ^= 1;
    sotto_aero_total_digest(other, sotto_bytes_of(first, sizeof first), second);
    CHECK(t, memcmp(digest, other, sizeof digest) != 0);
}

/* The server's own half: what it adds there is in what it says of the sum, and it could say that without the committee. Members tell it no
 * more by it: with that taken off, the sum is that of the leaves. */
static void another_second_half_opens_the_same_sum(sotto_test *t)
{
    adding a = {t, true};
    hall h;
    sotto_sim_net *net = start(t, &h, six(), 0);

    sotto_sim_net_lie(net, SOTTO_TO_SERVER, adds_to_the_total, &a);
    sotto_sim_report report;
    CHECK_OK(t, sotto_sim_net_run(net, 10 * h.round.release_by, &report, &t->err));
    CHECK(t, report.released && !hall_is_exact(&h, &report));
    report.sum.of.z64[0]--;
    CHECK(t, hall_is_exact(&h, &report));
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* The same, but the sum is added to the tree: one leaf has a value that is not its own, and everything above it fits. */
static void a_leaf_is_added_as_it_is(sotto_test *t)
{
    hall h;
    sotto_sim_net *net = start(t, &h, six(), HALL_SUMS);
    sotto_aero_aggregator *s = hall_server(net);
    sotto_aero_entrant *e = entrant_of(net, 2);
    const sotto_aero_revealed honest = e->groups[0];

    e->groups[0].ciphers = entrant_of(net, 3)->groups[0].ciphers;
    for (uint64_t at = 3000; at < 4000 && !(s->posted & SOTTO_AERO_POSTED_SUMMED); at++)
        hall_until(t, net, at);
    e->groups[0] = honest;
    nothing_is_opened(t, &h, net, "a leaf is added wrongly");
}

/* ---- points ------------------------------------------------------------------------------------------------- */

typedef struct witness {
    hall *h;
    unsigned early_values, early_reveals, reveals, values;
} witness;

static void watch(void *context, sotto_sim_net *net, const sotto_message *m, sotto_bytes wire)
{
    witness *w = context;
    sotto_aero_aggregator *s = hall_server(net);
    sotto_bytes record;
    sotto_message known;
    uint64_t index;

    (void)wire;
    if (m->kind == SOTTO_AERO_REVEAL) {
        w->reveals++;
        w->early_reveals +=
            !s->base.view->is_committed && !(s->posted & SOTTO_AERO_POSTED_COMMITTED);
    }
    if (m->kind != SOTTO_AERO_ENTRY ||
        sotto_entry_decode(&index, &record, m->body, NULL) != SOTTO_OK ||
        sotto_message_decode(&known, record, NULL) != SOTTO_OK || known.kind != SOTTO_AERO_VALUE)
        return;
    w->values++;
    w->early_values += !(s->posted & SOTTO_AERO_POSTED_ADDED);
}

static void watched(sotto_test *t, hall *h, witness *w)
{
    sotto_sim_net *net = start(t, h, six(), 0);

    *w = (witness){.h = h};
    sotto_sim_net_tap(net, watch, w);
    CHECK(t, hall_run(t, h, net).released);
    sotto_sim_net_free(net);
    hall_close(h);
}

static void nobody_knows_the_points_before_the_sums_are_posted(sotto_test *t)
{
    witness w;
    hall h;

    watched(t, &h, &w);
    CHECK(t, w.values > 0);
    CHECK_EQUAL(t, 0, w.early_values);
}

static void nothing_is_revealed_before_promises_are_posted(sotto_test *t)
{
    witness w;
    hall h;

    watched(t, &h, &w);
    CHECK(t, w.reveals > 0);
    CHECK_EQUAL(t, 0, w.early_reveals);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(noise_that_is_dropped_is_counted),
        CASE(honest_contributors_are_not_left_out),
        CASE(a_cohort_that_is_too_small_is_not_opened),
        CASE(a_scaled_ciphertext_is_not_proved),
        CASE(a_copied_ciphertext_is_not_proved),
        CASE(a_ciphertext_of_another_round_is_not_proved),
        CASE(a_ciphertext_of_the_round_before_is_not_proved_under_its_key),
        CASE(an_edited_leaf_is_not_what_was_promised),
        CASE(a_promise_after_the_others_is_not_under_the_root),
        CASE(a_leaf_that_the_server_made_up_is_not_signed),
        CASE(nobody_has_two_leaves),
        CASE(who_was_not_drawn_has_no_leaf),
        CASE(a_sum_that_is_not_the_trees_is_not_opened),
        CASE(a_half_is_the_one_that_was_posted),
        CASE(another_second_half_opens_the_same_sum),
        CASE(a_leaf_is_added_as_it_is),
        CASE(nobody_knows_the_points_before_the_sums_are_posted),
        CASE(nothing_is_revealed_before_promises_are_posted),
    };
    return RUN_TESTS(argc, argv, cases);
}
