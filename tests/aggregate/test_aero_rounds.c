/* Whole rounds of encrypted sums on the simulated network, with the proof double: sums, faults, noise, and what the assumptions are for. */
#include "hall.h"

#include "aggregate/aero/odds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct lap {
    sotto_arena_mark mark;
} lap;

static lap begin(sotto_test *t)
{
    return (lap){sotto_arena_here(&t->arena)};
}

static void end(sotto_test *t, lap l, hall *h)
{
    hall_close(h);
    sotto_arena_rollback(&t->arena, l.mark);
}

static hall_plan six(void)
{
    hall_plan p = HALL_SMALL;

    p.clients = 6;
    p.checks = 3; /* of ten leaves */
    return p;
}

/* The short form takes some seeds and steps; the long form, for SOTTO_CHAOS_ROUNDS, takes as many as it says. */
static uint64_t rounds(uint64_t few)
{
    const char *many = getenv("SOTTO_CHAOS_ROUNDS");

    return many ? strtoull(many, NULL, 10) : few;
}

/* ---- sums -------------------------------------------------------------------------------------------------- */

static void the_sum_is_the_sum(sotto_test *t)
{
    static const struct {
        uint32_t clients, length;
        const char *set;
    } cases[] = {{8, 6, "b64"}, {6, 1, "b87"}, {5, 4096, "b64"}, {6, 4095, "b87"}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lap l = begin(t);
        hall_plan p = HALL_SMALL;
        hall h;

        p.clients = cases[i].clients;
        p.length = cases[i].length;
        p.set = cases[i].set;
        p.seed = i;
        hall_open(t, &h, p);
        sotto_sim_report report = hall_play(t, &h, i, 0, NULL, NULL);
        CHECK(t, report.released);
        CHECK_EQUAL(t, p.clients, report.contributions);
        CHECK_EQUAL(t, 0, report.blamed_count);
        CHECK_EQUAL(t, 0, report.verdicts[SOTTO_REJECTED]);
        end(t, l, &h);
    }
}

static void who_is_drawn_contributes_and_nobody_else(sotto_test *t)
{
    hall_plan p = HALL_SMALL;
    hall h;

    p.rate = UINT64_MAX / 2;
    hall_open(t, &h, p);
    sotto_sim_report report = hall_play(t, &h, 1, 0, NULL, NULL);
    CHECK(t, report.released);
    for (uint32_t i = 0; i < p.clients; i++)
        CHECK(t, report.counted[i] == sotto_aero_is_sampled(h.derived, i));
    hall_close(&h);
}

/* The rate, over many devices: 5 standard deviations of 4,000 coins are 158. */
static void the_rate_of_sampling_is_the_rate(sotto_test *t)
{
    hall_plan p = HALL_SMALL;
    uint64_t drawn = 0;
    hall h;

    p.rate = UINT64_MAX / 4;
    hall_open(t, &h, p);
    for (uint64_t number = 1; number <= 500; number++) {
        h.round.number = number;
        for (uint32_t i = 0; i < p.clients; i++)
            drawn += sotto_aero_is_sampled(h.derived, i);
    }
    CHECK(t, drawn > 1000 - 158 && drawn < 1000 + 158);
    h.round.number = p.number;
    hall_close(&h);
}

/* 10^9 devices, q = 10^-5, 20% offline and 7% more leaves than expected: the figures of the plan. */
static void the_chance_to_miss_a_leaf_is_as_planned(sotto_test *t)
{
    sotto_aero_terms terms = {.checks = 40, .rate = (uint64_t)ldexp(1e-5, 64)};

    CHECK_NEAR(t, 1.4e-17, sotto_aero_miss(&terms, 1e9, 1e4, 0.03, 0), 0.1e-17);
    CHECK_NEAR(t, 2.5e-13, sotto_aero_miss(&terms, 1e9, 1.07e4, 0.03, 0.2), 0.1e-13);
    terms.checks = 6;
    CHECK_NEAR(t, 3.0e-3, sotto_aero_miss(&terms, 1e9, 1e4, 0.03, 0), 0.1e-3);
    terms.checks = 20;
    CHECK_NEAR(t, 3.8e-9, sotto_aero_miss(&terms, 1e9, 1e4, 0.03, 0), 0.1e-9);
}

/* ---- faults ------------------------------------------------------------------------------------------------ */

static void a_round_survives_losses_and_no_more(sotto_test *t)
{
    unsigned kinds[] = {SOTTO_AERO_COMMIT, SOTTO_AERO_REVEAL, SOTTO_AERO_ASK};
    unsigned said[] = {SOTTO_AERO_SEAL, SOTTO_AERO_VERDICT, SOTTO_AERO_PART};

    for (size_t i = 0; i < 3; i++) { /* one device, which may be a noise member too */
        lap l = begin(t);
        hall h;

        hall_open(t, &h, six());
        CHECK(t, hall_play(t, &h, i, 2, sotto_sim_liar_silent, &kinds[i]).released);
        end(t, l, &h);
    }
    for (size_t i = 0; i < 3; i++)
        for (uint32_t lost = 2; lost < (i % 2 ? 4 : 3); lost++) { /* of five members three open */
            lap l = begin(t);
            hall h;

            hall_open(t, &h, six());
            sotto_sim_net *net = hall_net(t, &h, i);
            for (uint32_t k = 0; k < lost; k++)
                sotto_sim_net_lie(net, SOTTO_SIM_DECRYPTOR(h.derived->committee[2 * k % 5]),
                                  sotto_sim_liar_silent, &said[i]);
            CHECK(t, hall_run(t, &h, net).released == (lost == 2));
            sotto_sim_net_free(net);
            end(t, l, &h);
        }
}

static void a_crash_at_any_step_changes_nothing(sotto_test *t)
{
    lap all = begin(t);
    uint64_t steps, tried = 0;
    hall h;

    hall_open(t, &h, six());
    steps = hall_play(t, &h, 3, 0, NULL, NULL).steps;
    end(t, all, &h);
    CHECK(t, steps > 300);
    uint64_t stride = steps / rounds(4) + 1;
    for (uint64_t at = 1 + steps % stride; at <= steps; at += stride, tried++) {
        lap l = begin(t);

        hall_open(t, &h, six());
        sotto_sim_net *net = hall_net(t, &h, 3);
        sotto_sim_net_crash_at(net, at, tried % 2 ? SOTTO_SIM_CRASH_AFTER : SOTTO_SIM_CRASH_BEFORE);
        sotto_sim_report report = hall_run(t, &h, net);
        CHECK(t, report.released);
        CHECK_EQUAL(t, 6, report.contributions);
        CHECK_EQUAL(t, 0, report.vow_conflicts);
        sotto_sim_net_free(net);
        end(t, l, &h);
    }
}

/* What was promised, certified and judged, by whom. */
typedef struct sayings {
    sotto_bytes said[3][2][HALL_MOST];
    unsigned contradictions;
    uint64_t first; /* step at which a promise came first */
    sotto_test *t;
} sayings;

static void listen(void *context, sotto_sim_net *net, const sotto_message *m, sotto_bytes wire)
{
    sayings *s = context;
    sotto_message known = *m;
    sotto_bytes record;
    uint64_t index;

    (void)wire;
    if (m->kind == SOTTO_AERO_ENTRY &&
        (sotto_entry_decode(&index, &record, m->body, NULL) != SOTTO_OK ||
         sotto_message_decode(&known, record, NULL) != SOTTO_OK))
        return;
    if (known.kind != SOTTO_AERO_COMMIT && known.kind != SOTTO_AERO_CERTIFY &&
        known.kind != SOTTO_AERO_VERDICT)
        return;
    if (known.kind == SOTTO_AERO_COMMIT && !s->first)
        s->first = hall_steps(net);
    unsigned kind = known.kind == SOTTO_AERO_COMMIT ? 0 : known.kind == SOTTO_AERO_CERTIFY ? 1 : 2;
    unsigned role = kind == 0 ? known.body.data[0] - 1u : 0;
    sotto_bytes *said = &s->said[kind][role % 2][known.from];

    if (said->len)
        s->contradictions += !sotto_bytes_equal_vartime(*said, known.body);
    else
        CHECK_OK(s->t, sotto_aero_copied(said, known.body, &s->t->arena, &s->t->err));
}

/* A device or a member comes back from a backup that is one step old, with another vector: it says nothing twice. */
static void vows_are_kept_over_a_rollback(sotto_test *t)
{
    uint64_t few = rounds(4), conflicts = 0, first = 0;
    sotto_sim_report report;

    for (uint64_t i = 0; i < few; i++) {
        lap l = begin(t);
        hall h;

        hall_open(t, &h, six());
        sotto_sim_net *net = hall_net(t, &h, 3);
        sayings s = {.t = t};
        sotto_sim_net_tap(net, listen, &s);
        if (i > 0) /* the first time it is only listened when promises are made */
            sotto_sim_net_crash_at(net, first + 8 - 3 * i, SOTTO_SIM_ROLLBACK);
        CHECK_OK(t, sotto_sim_net_run(net, 10 * h.round.release_by, &report, &t->err));
        CHECK_EQUAL(t, 0, s.contradictions);
        CHECK_EQUAL(t, 0, report.forgetful);
        conflicts += report.vow_conflicts;
        first = i ? first : s.first;
        sotto_sim_net_free(net);
        end(t, l, &h);
    }
    CHECK(t, conflicts > 0 || few > 4);
}

static void machines_live_on_what_they_saved(sotto_test *t)
{
    hall_plan p = six();
    hall h;

    p.clients = 5;
    p.checks = 1;
    hall_open(t, &h, p);
    sotto_sim_net *net = hall_net(t, &h, 5);
    sotto_sim_net_forget_always(net);
    CHECK(t, hall_run(t, &h, net).released);
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* Whatever the network does: the sum of those who were counted, or none. */
static void no_schedule_gives_a_wrong_sum(sotto_test *t)
{
    uint64_t few = rounds(4), released = 0;

    for (uint64_t i = 0; i < few; i++) {
        const sotto_sim_faults faults = {.drop = i % 2 ? 0.02 : 0,
                                         .duplicate = 0.1,
                                         .late = 0.02,
                                         .late_ms = 1200,
                                         .delay_least_ms = 1,
                                         .delay_most_ms = 120,
                                         .crash_before = 0.01,
                                         .crash_after = 0.01};
        lap l = begin(t);
        hall h;

        hall_open(t, &h, six());
        sotto_sim_net *net = hall_net(t, &h, 100 + i);
        sotto_sim_net_faults(net, &faults);
        released += hall_run(t, &h, net).released;
        sotto_sim_net_free(net);
        end(t, l, &h);
    }
    CHECK(t, released > 0);
}

static void one_seed_gives_one_transcript(sotto_test *t)
{
    uint8_t transcript[3][32];

    for (uint64_t i = 0; i < 3; i++) {
        lap l = begin(t);
        hall h;

        hall_open(t, &h, six());
        sotto_sim_report report = hall_play(t, &h, i / 2, 0, NULL, NULL);
        memcpy(transcript[i], report.transcript, 32);
        end(t, l, &h);
    }
    CHECK_BYTES(t, transcript[0], transcript[1], 32);
    CHECK(t, memcmp(transcript[0], transcript[2], 32) != 0);
}

/* ---- noise ------------------------------------------------------------------------------------------------- */

/* Noise on a sum's slots: how it spreads, where it lies, and how slots move together up to eight apart. */
typedef struct noise_seen {
    double variance, mean, together[9];
} noise_seen;

/* A corrupt noise member proves a share of zeros: allowed, and what the share's variance allows for. */
static noise_seen noise_with(sotto_test *t, uint32_t zeros)
{
    noise_seen seen = {0};
    hall_plan p = six();
    hall h;

    p.length = 4095;
    p.variance = 900;
    hall_open(t, &h, p);
    sotto_sim_net *net = hall_net(t, &h, 7);
    hall_until(t, net, 101);
    sotto_round *silent = sotto_arena_take(&t->arena, sizeof *silent);
    sotto_aero_plan *plan = sotto_arena_take(&t->arena, sizeof *plan);
    CHECK(t, silent && plan);
    *silent = h.round;
    silent->noise.num = 0;
    for (uint32_t i = 0; i < zeros; i++) {
        sotto_aero_device *d = hall_device(net, h.derived->noise[i]);

        d->base.plan->round = silent; /* whence it takes the variance of its share */
    }
    sotto_sim_report report = hall_run(t, &h, net);
    CHECK(t, report.released);
    double *noise = sotto_arena_take(&t->arena, p.length * sizeof *noise);
    CHECK(t, noise != NULL);
    for (uint32_t k = 0; k < p.length; k++) {
        uint64_t sum = report.sum.of.z64[k];

        for (uint32_t i = 0; i < p.clients; i++)
            sum -= report.counted[i] ? h.inputs[i].of.z64[k] : 0;
        noise[k] = (double)(int64_t)sum;
        seen.mean += noise[k] / p.length;
        seen.variance += noise[k] * noise[k] / p.length;
        for (uint32_t apart = 1; apart <= 8 && apart <= k; apart++)
            seen.together[apart] += noise[k] * noise[k - apart] / p.length;
    }
    sotto_sim_net_free(net);
    hall_close(&h);
    return seen;
}

/* Four shares of 900; the claim counts on two of them. A mean of 4,095 squares is within 12% of the variance but for 10^-7.
 * Its mean is within 5.6 of 60 / sqrt(4,095), and products of slots within 5.6 of 3,600 / sqrt(4,095), each but for 10^-7. */
static void noise_has_the_variance_that_is_claimed(sotto_test *t)
{
    noise_seen all = noise_with(t, 0), less = noise_with(t, 1);

    CHECK(t, all.variance > 0.88 * 3600 && all.variance < 1.12 * 3600);
    CHECK(t, less.variance > 0.88 * 2700 && less.variance < 1.12 * 2700);
    CHECK(t, less.variance > 2 * 900);
    CHECK(t, fabs(all.mean) < 5.6 * 60 / 64);
    for (uint32_t apart = 1; apart <= 8; apart++)
        CHECK(t, fabs(all.together[apart]) < 5.6 * 3600 / 64);
}

/* ---- what the assumptions are for ---------------------------------------------------------------------------- */

/* The fast path sees a part that is off by less or more than a multiple of delta, and not one that is off by delta: recorded here. */
static bool adds_delta(void *context, sotto_sim_net *net, sotto_message *m, sotto_bytes *bulk)
{
    sotto_test *t = context;
    const sotto_aero_plan *plan = hall_server(net)->base.plan;

    (void)bulk;
    if (m->kind != SOTTO_AERO_PART)
        return true;
    uint8_t *copy = sotto_arena_take(&t->arena, m->body.len);
    CHECK(t, copy != NULL);
    memcpy(copy, m->body.data, m->body.len);
    uint8_t *at = copy + 1 + 8 * 1; /* the part of slot 1 */
    sotto_f64_store(at, sotto_f64_sub(sotto_f64_load(at), plan->aero.delta_first));
    m->body = sotto_bytes_of(copy, m->body.len);
    return true;
}

static void a_member_that_adds_delta_is_not_seen_on_the_fast_path(sotto_test *t)
{
    sotto_sim_report report;
    uint64_t sum = 0;
    hall h;

    hall_open(t, &h, six());
    sotto_sim_net *net = hall_net(t, &h, 0);
    sotto_sim_net_lie(net, SOTTO_SIM_DECRYPTOR(h.derived->committee[0]), adds_delta, t);
    CHECK_OK(t, sotto_sim_net_run(net, 10 * h.round.release_by, &report, &t->err));
    CHECK(t, report.released);
    for (uint32_t i = 0; i < 6; i++)
        sum += h.inputs[i].of.z64[0];
    CHECK_EQUAL(t, sum + 1, report.sum.of.z64[0]);
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* A share of another round is of no use: every round has its own key. */
static void an_old_share_opens_nothing(sotto_test *t)
{
    hall_plan p = six();
    hall before, h;

    p.committee = p.threshold = 3;
    p.number = 3;
    hall_open(t, &before, p);
    sotto_sim_net *old = hall_net(t, &before, 0);
    CHECK(t, hall_run(t, &before, old).released);
    p.number = 4;
    hall_open(t, &h, p);
    sotto_sim_net *net = hall_net(t, &h, 0);
    hall_until(t, net, h.round.verify_by - 1);
    hall_member(&h, net, 0)->share = hall_member(&before, old, 0)->share;
    CHECK(t, !hall_run(t, &h, net).released);
    sotto_sim_net_free(old);
    sotto_sim_net_free(net);
    hall_close(&before);
    hall_close(&h);
}

/* As many members as open can read every single contribution: this is why no more than A of them may be corrupt. */
static void members_above_the_threshold_read_everything(sotto_test *t)
{
    static sotto_aero_poly key, v;
    static int64_t m[SOTTO_AERO_N];
    const uint32_t set[3] = {0, 1, 2};
    sotto_aero_weight weights[3];
    sotto_aero_cipher *c;
    hall h;

    hall_open(t, &h, six());
    sotto_sim_net *net = hall_net(t, &h, 0);
    hall_until(t, net, HALL_SUMS);
    const sotto_aero *aero = &h.derived->aero;
    CHECK_OK(t, sotto_aero_weights_vartime(aero, weights, set, 3, &t->err));
    memset(&key, 0, sizeof key);
    for (uint32_t i = 0; i < 3; i++) {
        v = hall_member(&h, net, i)->share.s;
        sotto_aero_scale(&aero->ring, &v, weights[i].first, weights[i].second);
        sotto_aero_add(&aero->ring, &key, &v);
    }
    const sotto_aero_entrant *victim = &hall_server(net)->entrants[4];
    CHECK_OK(t, sotto_aero_group_decode(&c, h.derived, 0, victim->groups[0].ciphers, &t->arena,
                                        &t->err));
    sotto_aero_transform(&aero->ring, &c->c1);
    sotto_aero_transform_over(&aero->ring, &key);
    sotto_aero_product(&aero->ring, &c->c1, &c->c1, &key);
    sotto_aero_subtract(&aero->ring, &c->c2, &c->c1);
    sotto_aero_decode_vartime(aero, m, NULL, &c->c2);
    CHECK_EQUAL(t, (int64_t)h.inputs[victim->promise.index].of.z64[0], m[1]);
    sotto_sim_net_free(net);
    hall_close(&h);
}

static void a_vector_beyond_the_bounds_is_not_sent(sotto_test *t)
{
    sotto_effects effects;
    hall h;

    hall_open(t, &h, six());
    sotto_sim_net *net = hall_net(t, &h, 0);
    hall_until(t, net, HALL_PROMISES);
    sotto_aero_device *d = hall_device(net, 1);
    h.inputs[1].of.z64[0] = 1001;
    sotto_effects_init(&effects, &t->arena);
    t->err = (sotto_err){0};
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_aero_contribute(d, SOTTO_AERO_CONTRIBUTOR, &h.inputs[1], &effects, &t->err));
    CHECK(t, effects.sent == NULL);
    sotto_sim_net_free(net);
    hall_close(&h);
}

static void terms_that_contradict_each_other_are_refused(sotto_test *t)
{
    static const struct {
        size_t at;
        uint8_t xor ;
    } changes[] = {{0, 9}, {1, 9}, {2, 1 << 5}, {3, 3}, {7, 2}, {11, 2}, {15, 128}, {19, 7}};
    uint8_t copy[SOTTO_AERO_TERMS];
    hall h;

    hall_open(t, &h, six());
    memcpy(copy, h.round.parameters.data, sizeof copy);
    CHECK_OK(t, sotto_aero_check_round(&h.round, &t->err));
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        sotto_round r = h.round;

        copy[changes[i].at] ^= changes[i].xor ;
        r.parameters = sotto_bytes_of(copy, sizeof copy);
        t->err = (sotto_err){0};
        CHECK_STATUS(t, SOTTO_DENIED, sotto_aero_check_round(&r, &t->err));
        copy[changes[i].at] ^= changes[i].xor ;
    }
    hall_close(&h);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_sum_is_the_sum),
        CASE(who_is_drawn_contributes_and_nobody_else),
        CASE(the_rate_of_sampling_is_the_rate),
        CASE(the_chance_to_miss_a_leaf_is_as_planned),
        CASE(a_round_survives_losses_and_no_more),
        CASE(a_crash_at_any_step_changes_nothing),
        CASE(vows_are_kept_over_a_rollback),
        CASE(machines_live_on_what_they_saved),
        CASE(no_schedule_gives_a_wrong_sum),
        CASE(one_seed_gives_one_transcript),
        CASE(noise_has_the_variance_that_is_claimed),
        CASE(a_member_that_adds_delta_is_not_seen_on_the_fast_path),
        CASE(an_old_share_opens_nothing),
        CASE(members_above_the_threshold_read_everything),
        CASE(a_vector_beyond_the_bounds_is_not_sent),
        CASE(terms_that_contradict_each_other_are_refused),
    };
    return RUN_TESTS(argc, argv, cases);
}
