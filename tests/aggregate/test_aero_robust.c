/* The robust path of an opening: what members and dealers may try there, and how it ends. */
#include "aggregate/aero/code.h"
#include "aggregate/aero/robust.h"
#include "hall.h"

#include <string.h>

/* Eight devices, seven members, of whom three open and five have to agree. */
static hall_plan robust(void)
{
    hall_plan p = HALL_SMALL;

    p.committee = 7;
    p.checks = 3;
    p.opening = SOTTO_AERO_ROBUST;
    return p;
}

static uint64_t true_sum(const hall *h, uint32_t entry)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < h->plan.clients; i++)
        sum += h->inputs[i].of.z64[entry];
    return sum;
}

/* Where a member adds something to slot 1 of its point. */
static uint8_t *changed(sotto_test *t, sotto_message *m)
{
    uint8_t *copy = sotto_arena_take(&t->arena, m->body.len);

    CHECK(t, copy != NULL);
    memcpy(copy, m->body.data, m->body.len);
    m->body = sotto_bytes_of(copy, m->body.len);
    return copy + 1 + 8 * 1;
}

static bool adds_delta(void *context, sotto_sim_net *net, sotto_message *m, sotto_bytes *bulk)
{
    (void)bulk;
    if (m->kind == SOTTO_AERO_POINT) {
        uint8_t *at = changed(context, m);

        sotto_f64_store(
            at, sotto_f64_sub(sotto_f64_load(at), hall_server(net)->base.plan->aero.delta_first));
    }
    return true;
}

/* ---- rounds ------------------------------------------------------------------------------------------------ */

static void the_robust_path_opens_the_sum(sotto_test *t)
{
    static const char *const sets[] = {"b64", "b87"};

    for (size_t i = 0; i < 2; i++) {
        sotto_arena_mark mark = sotto_arena_here(&t->arena);
        hall_plan p = robust();
        hall h;

        p.set = sets[i];
        hall_open(t, &h, p);
        sotto_sim_report report = hall_play(t, &h, i, 0, NULL, NULL);
        CHECK(t, report.released);
        CHECK_EQUAL(t, 8, report.contributions);
        CHECK_EQUAL(t, 0, report.blamed_count);
        CHECK_EQUAL(t, 0, report.verdicts[SOTTO_REJECTED]);
        hall_close(&h);
        sotto_arena_rollback(&t->arena, mark);
    }
}

/* On the fast path this changes the sum, and nobody knows. Here the sum is right, and the member is named. */
static void a_member_that_adds_delta_is_caught_on_the_robust_path(sotto_test *t)
{
    sotto_sim_report report;
    hall h;

    hall_open(t, &h, robust());
    sotto_sim_net *net = hall_net(t, &h, 0);
    sotto_sim_net_lie(net, SOTTO_SIM_DECRYPTOR(h.derived->committee[0]), adds_delta, t);
    CHECK_OK(t, sotto_sim_net_run(net, 10 * h.round.release_by, &report, &t->err));
    CHECK(t, report.released);
    CHECK_EQUAL(t, true_sum(&h, 0), report.sum.of.z64[0]);
    CHECK_EQUAL(t, 1, report.blamed_count);
    CHECK_EQUAL(t, h.derived->committee[0], hall_server(net)->blamed[0]);
    CHECK_EQUAL(t, 0, hall_server(net)->attempts[0]);
    sotto_sim_net_free(net);
    hall_close(&h);
}

static void a_round_goes_on_without_members_that_are_silent(sotto_test *t)
{
    static const unsigned kinds[] = {SOTTO_AERO_VERDICT, SOTTO_AERO_NOISES, SOTTO_AERO_POINT};

    for (size_t i = 0; i < 3; i++)
        for (uint32_t lost = 2; lost < 4; lost++) { /* five of seven are enough, four are not */
            sotto_arena_mark mark = sotto_arena_here(&t->arena);
            unsigned kind = kinds[i];
            hall h;

            if (i == 1 && lost == 3)
                continue; /* who does not deal still has a point */
            hall_open(t, &h, robust());
            sotto_sim_net *net = hall_net(t, &h, i);
            for (uint32_t k = 0; k < lost; k++)
                sotto_sim_net_lie(net, SOTTO_SIM_DECRYPTOR(h.derived->committee[k]),
                                  sotto_sim_liar_silent, &kind);
            CHECK(t, hall_run(t, &h, net).released == (lost == 2));
            sotto_sim_net_free(net);
            hall_close(&h);
            sotto_arena_rollback(&t->arena, mark);
        }
}

static void a_crash_changes_nothing(sotto_test *t)
{
    hall h;

    hall_open(t, &h, robust());
    uint64_t steps = hall_play(t, &h, 3, 0, NULL, NULL).steps;
    for (uint64_t i = 1; i <= 2; i++) { /* the opening is at the end */
        sotto_arena_mark mark = sotto_arena_here(&t->arena);
        sotto_sim_net *net = hall_net(t, &h, 3);

        sotto_sim_net_crash_at(net, steps - 13 * i,
                               i % 2 ? SOTTO_SIM_CRASH_AFTER : SOTTO_SIM_CRASH_BEFORE);
        sotto_sim_report report = hall_run(t, &h, net);
        CHECK(t, report.released);
        CHECK_EQUAL(t, 0, report.vow_conflicts);
        sotto_sim_net_free(net);
        sotto_arena_rollback(&t->arena, mark);
    }
    sotto_sim_net *net = hall_net(t, &h, 5);
    sotto_sim_net_forget_always(net);
    CHECK(t, hall_run(t, &h, net).released);
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* ---- members and dealers that lie together ------------------------------------------------------------------- */

typedef struct plot {
    sotto_test *t;
    uint32_t place; /* of the liar: it is at x = place + 1 */
} plot;

/* Adds Delta (1 - x) (1 - x / 2): nothing at members 0 and 1, and a multiple of Delta at 0. */
static bool fits_two_honest_members(void *context, sotto_sim_net *net, sotto_message *m,
                                    sotto_bytes *bulk)
{
    const plot *p = context;
    const sotto_code f = {.p = SOTTO_F64_P};
    uint64_t x = p->place + 1, half = (SOTTO_F64_P + 1) / 2;

    (void)bulk;
    if (m->kind != SOTTO_AERO_POINT)
        return true;
    uint64_t first = (SOTTO_F64_P + 1 - x) % SOTTO_F64_P;
    uint64_t second = (SOTTO_F64_P + 1 - sotto_code_mul(&f, x, half)) % SOTTO_F64_P;
    uint64_t times = sotto_code_mul(&f, first, second);
    uint64_t delta = hall_server(net)->base.plan->aero.delta_first.v;
    uint8_t *at = changed(p->t, m);
    sotto_f64_store(
        at, sotto_f64_sub(sotto_f64_load(at), (sotto_f64){sotto_code_mul(&f, times, delta)}));
    return true;
}

/* Five members of whom two lie: theirs and two honest points are on one polynomial, and one honest point looks wrong. */
static void four_of_five_points_are_not_believed(sotto_test *t)
{
    sotto_sim_report report;
    hall_plan p = robust();
    plot plots[2];
    hall h;

    p.committee = 5;
    hall_open(t, &h, p);
    sotto_sim_net *net = hall_net(t, &h, 0);
    for (uint32_t i = 0; i < 2; i++) {
        plots[i] = (plot){t, 2 + i};
        sotto_sim_net_lie(net, SOTTO_SIM_DECRYPTOR(h.derived->committee[2 + i]),
                          fits_two_honest_members, &plots[i]);
    }
    CHECK_OK(t, sotto_sim_net_run(net, 10 * h.round.release_by, &report, &t->err));
    CHECK(t, !report.released);
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* A dealer whose noise is not small: a multiple of Delta, dealt as it should be. The machine's law is so wide that it is. */
static void a_dealer_of_too_much_noise_is_found(sotto_test *t)
{
    sotto_sim_report report;
    hall h;

    hall_open(t, &h, robust());
    sotto_sim_net *net = hall_net(t, &h, 0);
    hall_until(t, net, h.round.verify_by - 1);
    sotto_aero_committee_member *m = hall_member(&h, net, 1);
    m->base.plan->ledger.sigma = (uint64_t)(h.derived->ledger.half_gap);
    CHECK_OK(t, sotto_sim_net_run(net, 10 * h.round.release_by, &report, &t->err));
    CHECK(t, report.released);
    CHECK_EQUAL(t, true_sum(&h, 0), report.sum.of.z64[0]);
    CHECK_EQUAL(t, 1, report.blamed_count);
    CHECK_EQUAL(t, h.derived->committee[1], hall_server(net)->blamed[0]);
    CHECK_EQUAL(t, 1,
                hall_server(net)->attempts[0]); /* the first attempt was lost, and is one hint */
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* Sealed as it should be, but for one byte of each share. */
static bool deals_what_nobody_opens(void *context, sotto_sim_net *net, sotto_message *m,
                                    sotto_bytes *bulk)
{
    (void)bulk;
    if (m->kind == SOTTO_AERO_NOISES) {
        const sotto_aero_plan *plan = hall_server(net)->base.plan;
        uint8_t *at = changed(context, m);

        for (uint32_t i = 0; i < plan->terms.committee; i++)
            at[i * sotto_aero_noises_sealed(plan)] ^= 1;
    }
    return true;
}

/* Nobody has a point then, and nobody can tell which dealer it was: the next attempt has others. */
static void a_dealer_of_what_nobody_opens_is_asked_last(sotto_test *t)
{
    hall h;

    hall_open(t, &h, robust());
    sotto_sim_net *net = hall_net(t, &h, 0);
    sotto_sim_net_lie(net, SOTTO_SIM_DECRYPTOR(h.derived->committee[1]), deals_what_nobody_opens,
                      t);
    CHECK(t, hall_run(t, &h, net).released);
    CHECK_EQUAL(t, 1, hall_server(net)->attempts[0]);
    for (uint32_t i = 0; i < h.plan.threshold; i++)
        CHECK(t, hall_server(net)->set[i] != 1);
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* ---- what members and the server refuse ------------------------------------------------------------------------------------- */

typedef struct tamperer {
    sotto_test *t;
    size_t at;
    unsigned changed;
} tamperer;

static bool hands_out_others(void *context, sotto_sim_net *net, sotto_message *m, sotto_bytes *bulk)
{
    tamperer *a = context;

    (void)net;
    (void)bulk;
    if (m->kind != SOTTO_AERO_SHARES)
        return true;
    uint8_t *copy = sotto_arena_take(&a->t->arena, m->body.len);
    CHECK(a->t, copy != NULL);
    memcpy(copy, m->body.data, m->body.len);
    copy[a->at] ^= 1;
    m->body = sotto_bytes_of(copy, m->body.len);
    a->changed++;
    return true;
}

/* A digest in the list that is not the posted one: looks of this member could be others than everybody's. */
static void a_member_takes_only_what_the_board_says_was_dealt(sotto_test *t)
{
    tamperer a = {.t = t, .at = 1 + 5};
    sotto_sim_report report;
    hall h;

    hall_open(t, &h, robust());
    sotto_sim_net *net = hall_net(t, &h, 0);
    sotto_sim_net_lie(net, SOTTO_TO_SERVER, hands_out_others, &a);
    CHECK_OK(t, sotto_sim_net_run(net, 10 * h.round.release_by, &report, &t->err));
    CHECK(t, a.changed > 0);
    CHECK(t, !report.released);
    sotto_sim_net_free(net);
    hall_close(&h);
}

static void no_fast_part_is_given_in_a_robust_round(sotto_test *t)
{
    uint8_t body[4] = {0, 0, 1, 2};
    sotto_effects effects;
    sotto_status verdict;
    hall h;

    hall_open(t, &h, robust());
    sotto_sim_net *net = hall_net(t, &h, 0);
    CHECK(t, hall_opens(t, &h, net));
    sotto_aero_committee_member *m = hall_member(&h, net, 0);
    body[0] = m->tries;
    const sotto_message ask = {.kind = SOTTO_AERO_OPEN, .body = sotto_bytes_of(body, sizeof body)};
    sotto_effects_init(&effects, &t->arena);
    CHECK_OK(t, sotto_aero_member_part(m, &ask, &verdict, &effects, &t->err));
    CHECK_EQUAL(t, SOTTO_REJECTED, verdict);
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* Its place is that of a dealer's noises, which are read by their size. */
static void no_fast_part_is_taken_in_a_robust_round(sotto_test *t)
{
    sotto_status verdict;
    hall h;

    hall_open(t, &h, robust());
    sotto_sim_net *net = hall_net(t, &h, 0);
    hall_until(t, net, h.round.opens);
    sotto_aero_aggregator *s = hall_server(net);
    const size_t len = 1 + s->base.plan->ciphertexts * sotto_aero_poly_size(&s->base.plan->aero);
    const uint8_t *body = sotto_arena_take(&t->arena, len);
    CHECK(t, body != NULL);
    const sotto_message part = {.kind = SOTTO_AERO_PART,
                                .from = h.derived->committee[0],
                                .body = sotto_bytes_of(body, len)};
    s->attempts[0] = 0; /* the first dealer is member 0 */
    CHECK_OK(t, sotto_aero_server_part(s, &part, &verdict, &t->err));
    CHECK_EQUAL(t, SOTTO_REJECTED, verdict);
    CHECK_EQUAL(t, 0, s->parts[0].len);
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* One point for an attempt, and nine attempts: what the ledger counts. */
static void a_point_is_given_once(sotto_test *t)
{
    sotto_effects effects;
    sotto_status verdict;
    hall h;

    hall_open(t, &h, robust());
    sotto_sim_net *net = hall_net(t, &h, 0);
    CHECK(t, hall_opens(t, &h, net));
    sotto_aero_committee_member *m = hall_member(&h, net, 0);
    CHECK_EQUAL(t, 1, m->tries);
    const uint8_t zero = 0;
    const sotto_message again = {.kind = SOTTO_AERO_SHARES, .body = sotto_bytes_of(&zero, 1)};
    sotto_effects_init(&effects, &t->arena);
    CHECK_OK(t, sotto_aero_member_point(m, &again, &verdict, &effects, &t->err));
    CHECK_EQUAL(t, SOTTO_STALE, verdict);
    CHECK(t, effects.sent == NULL);
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* What the board says of dealers: in turn, different ones, fixed once, and nine times at most. */
static void dealers_are_called_by_the_board(sotto_test *t)
{
    uint8_t dealers[4] = {0, 1, 2, 4}, dealt[1 + 3 * 32] = {0};
    sotto_aero_view *view;
    hall h;

    hall_open(t, &h, robust());
    sotto_sim_net *net = hall_net(t, &h, 0);
    hall_until(t, net, h.round.verify_by - 1);
    view = hall_member(&h, net, 0)->base.view;
    CHECK(t, view->is_summed && view->call.calls == 0);
    const sotto_bytes call = sotto_bytes_of(dealers, sizeof dealers);
    const sotto_bytes digests = sotto_bytes_of(dealt, sizeof dealt);
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_aero_read_dealt(view, digests, NULL));
    dealers[2] = 1;
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_aero_read_dealers(view, call, NULL));
    dealers[2] = 7;
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_aero_read_dealers(view, call, NULL));
    dealers[2] = 2;
    for (uint8_t i = 0; i < SOTTO_AERO_MOST_TRIES; i++) {
        dealers[0] = (uint8_t)(i + 1);
        CHECK_STATUS(t, SOTTO_REJECTED, sotto_aero_read_dealers(view, call, NULL));
        dealers[0] = dealt[0] = i;
        CHECK_OK(t, sotto_aero_read_dealers(view, call, &t->err));
        CHECK_OK(t, sotto_aero_read_dealt(view, digests, &t->err));
        CHECK_STATUS(t, SOTTO_REJECTED, sotto_aero_read_dealt(view, digests, NULL));
    }
    dealers[0] = SOTTO_AERO_MOST_TRIES;
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_aero_read_dealers(view, call, NULL));
    sotto_sim_net_free(net);
    hall_close(&h);
}

/* ---- the account --------------------------------------------------------------------------------------------- */

/* Dealt noise is smaller, and looks at it are counted: so the price of an opening is higher, and fewer hints fit. */
static void what_looks_tell_is_counted(sotto_test *t)
{
    sotto_aero_wish wish = {.devices = 11000,
                            .liars = 330,
                            .most = 1 << 11,
                            .dealers = 45,
                            .threshold = 19,
                            .rounds = 1,
                            .ciphertexts = 1,
                            .tries = SOTTO_AERO_MOST_TRIES,
                            .failure = 40};
    sotto_aero_ledger fast, robust;

    CHECK_OK(t, sotto_aero_set_named(&wish.set, "b87", &t->err));
    CHECK_OK(t, sotto_aero_ledger_plan(&fast, &wish, &t->err));
    wish.is_robust = true;
    CHECK_OK(t, sotto_aero_ledger_plan(&robust, &wish, &t->err));
    CHECK(t, robust.sigma < fast.sigma && robust.rho > fast.rho);
    CHECK(t, robust.sigma_left >= 2.2 && robust.sigma_left <= fast.sigma_left);
    /* The posterior's covariance is at least half: 128 x 4096 / pad^2 <= 1 / sigma^2. */
    CHECK(t, (double)robust.pad * (double)robust.pad >=
                 128.0 * 4096 * (double)robust.sigma * (double)robust.sigma);
    CHECK(t, robust.smudging >= 19 * 2 * robust.look);
    CHECK(t, robust.liars + robust.honest + robust.smudging < robust.half_gap);
    CHECK(t, robust.rho < 1e-3);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_robust_path_opens_the_sum),
        CASE(a_member_that_adds_delta_is_caught_on_the_robust_path),
        CASE(a_round_goes_on_without_members_that_are_silent),
        CASE(a_crash_changes_nothing),
        CASE(four_of_five_points_are_not_believed),
        CASE(a_dealer_of_too_much_noise_is_found),
        CASE(a_dealer_of_what_nobody_opens_is_asked_last),
        CASE(a_member_takes_only_what_the_board_says_was_dealt),
        CASE(no_fast_part_is_given_in_a_robust_round),
        CASE(no_fast_part_is_taken_in_a_robust_round),
        CASE(a_point_is_given_once),
        CASE(dealers_are_called_by_the_board),
        CASE(what_looks_tell_is_counted),
    };
    return RUN_TESTS(argc, argv, cases);
}
