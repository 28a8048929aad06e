/* Reports between sotto and the crate prio, in every mix of roles, for every measurement type. */

#include "interop/draw.h"
#include "interop/exchange.h"
#include "interop/field.h"
#include "interop/tamper.h"

#include <stdlib.h>
#include <string.h>

enum { REPORTS_A_TYPE = 1000, TAMPERED_ROUNDS_A_MIX = 3, SKIPPED = 77 };

static const uint64_t default_seed = UINT64_C(0x736f74746f);

static const sotto_kind count_kind = {
    .type = SOTTO_PRIO3_COUNT, .name = "count", .element_size = 8};
static const sotto_kind sum_kind = {
    .type = SOTTO_PRIO3_SUM, .name = "sum", .element_size = 8, .max = true};
static const sotto_kind sum_vec_kind = {.type = SOTTO_PRIO3_SUM_VEC,
                                        .name = "sumvec",
                                        .element_size = 16,
                                        .joint_rand = true,
                                        .length = true,
                                        .max = true};
static const sotto_kind histogram_kind = {.type = SOTTO_PRIO3_HISTOGRAM,
                                          .name = "histogram",
                                          .element_size = 16,
                                          .joint_rand = true,
                                          .length = true};
static const sotto_kind multihot_kind = {.type = SOTTO_PRIO3_MULTIHOT_COUNT_VEC,
                                         .name = "multihot",
                                         .element_size = 16,
                                         .joint_rand = true,
                                         .length = true,
                                         .max = true};
static const sotto_kind l1_bound_sum_kind = {.type = SOTTO_PRIO3_L1_BOUND_SUM,
                                             .name = "l1boundsum",
                                             .element_size = 16,
                                             .joint_rand = true,
                                             .length = true,
                                             .max = true};
static const sotto_kind multiproof_kind = {.type = SOTTO_PRIO3_SUM_VEC_WITH_MULTIPROOF,
                                           .name = "sumvecmultiproof",
                                           .element_size = 8,
                                           .joint_rand = true,
                                           .length = true,
                                           .max = true,
                                           .proofs = true};

static sotto_peer the_peer;
static uint64_t seed;

/* ---- a round: one instance, one batch -------------------------------------------------------- */

/* A failed check leaves the test at once; whatever runs next finds this and says where it was. */
static char unfinished[400];

static void say_where_it_failed(void)
{
    if (unfinished[0])
        fprintf(stderr, "the check above failed in: %s\n", unfinished);
    unfinished[0] = '\0';
}

typedef struct round {
    sotto_instance instance;
    sotto_interop_report *reports;
    size_t count;
    unsigned mix;
} round;

/* Each type has its own stream of numbers, so that a test run by name alone repeats. */
static sotto_draw draw_for(const sotto_kind *kind, uint64_t test)
{
    sotto_draw draw = {seed ^ (uint64_t)(uint32_t)kind->type << 32 ^ test};

    say_where_it_failed();
    return draw;
}

static void round_begin(sotto_test *t, sotto_draw *draw, round *r, const sotto_kind *kind,
                        unsigned mix, size_t count)
{
    const sotto_prio3_config *c = &r->instance.config;
    uint64_t started = draw->state;

    sotto_draw_instance(t, draw, &r->instance, kind);
    r->mix = mix;
    r->count = count;
    snprintf(unfinished, sizeof unfinished,
             "%s length=%llu chunk=%llu max=%llu proofs=%u context=%zu bytes, %zu reports; "
             "client %s, leader %s, helper %s; state %llx",
             kind->name, (unsigned long long)c->length, (unsigned long long)c->chunk_length,
             (unsigned long long)c->max, c->proofs, r->instance.context.len, count,
             mix & SOTTO_THEIR_CLIENT ? "theirs" : "ours",
             mix & SOTTO_THEIR_LEADER ? "theirs" : "ours",
             mix & SOTTO_THEIR_HELPER ? "theirs" : "ours", (unsigned long long)started);
    sotto_peer_choose(t, &the_peer, &r->instance, r->instance.context);
    r->reports = sotto_test_take(t, count, sizeof *r->reports);
    for (size_t i = 0; i < count; i++)
        sotto_draw_report(t, draw, &r->instance, &the_peer, &r->reports[i],
                          mix & SOTTO_THEIR_CLIENT);
}

static void round_end(sotto_test *t)
{
    unfinished[0] = '\0';
    sotto_arena_reset(&t->arena);
}

static sotto_interop_exchange exchange_of(const round *r, const sotto_courier *courier)
{
    return (sotto_interop_exchange){.instance = &r->instance,
                                    .peer = &the_peer,
                                    .mix = r->mix,
                                    .contexts = {r->instance.context, r->instance.context},
                                    .courier = courier};
}

/* ---- what must come out ---------------------------------------------------------------------- */

/* What one measurement adds to each entry of the result. */
static uint64_t contribution(const sotto_kind *kind, const sotto_interop_report *report,
                             size_t entry)
{
    if (kind->type == SOTTO_PRIO3_HISTOGRAM)
        return report->measurement.values[0] == entry;
    return report->measurement.values[entry];
}

/* The two out shares of an accepted report add up to its measurement. */
static void check_out_shares(sotto_test *t, const round *r, const sotto_outcome *outcome, size_t i)
{
    const sotto_kind *kind = r->instance.kind;
    size_t size = kind->element_size;
    size_t outputs = r->instance.vdaf.sizes.outputs;
    uint8_t *sum = sotto_test_take(t, outputs, size);

    for (int who = SOTTO_LEADER; who <= SOTTO_HELPER; who++) {
        CHECK_EQUAL(t, outputs * size, outcome->out_shares[who].len);
        sotto_elements_add(sum, outcome->out_shares[who].data, outputs, size);
    }
    for (size_t entry = 0; entry < outputs; entry++) {
        sotto_uint128 value = sotto_element_read(sum + entry * size, size);

        CHECK_EQUAL(t, contribution(kind, &r->reports[i], entry), value.low);
        CHECK_EQUAL(t, 0, value.high);
    }
}

/* The sum of the out shares of one aggregator's accepted reports: ours must have found the same. */
static sotto_bytes aggregate(sotto_test *t, const sotto_interop_exchange *x, int who, size_t count)
{
    const sotto_prio3 *vdaf = &x->instance->vdaf;
    size_t size = x->instance->kind->element_size;
    uint8_t *sum = sotto_test_take(t, vdaf->sizes.outputs, size);
    sotto_buf encoded = sotto_test_buf(t, vdaf->sizes.out_share);
    sotto_prio3_agg agg = {0};

    for (size_t i = 0; i < count; i++)
        if (x->outcomes[i].accepted[who])
            sotto_elements_add(sum, x->outcomes[i].out_shares[who].data, vdaf->sizes.outputs, size);
    if (x->states[who]) {
        CHECK_OK(t, sotto_prio3_agg_init(vdaf, &agg, &t->arena, &t->err));
        CHECK_OK(t, sotto_prio3_accumulate(vdaf, &agg, x->states[who], count, &t->err));
        CHECK_OK(t, sotto_prio3_agg_encode(vdaf, &encoded, &agg, &t->err));
        CHECK_EQUAL(t, vdaf->sizes.out_share, encoded.len);
        CHECK_BYTES(t, sum, encoded.data, encoded.len);
    }
    return sotto_bytes_of(sum, vdaf->sizes.out_share);
}

static sotto_uint128 plain_sum(const round *r, size_t entry)
{
    sotto_uint128 sum = {0, 0};

    for (size_t i = 0; i < r->count; i++) {
        sotto_uint128 one = {contribution(r->instance.kind, &r->reports[i], entry), 0};

        sum = sotto_uint128_add(sum, one);
    }
    return sum;
}

/* Both collectors find the plain sum. All reports were accepted. */
static void check_result(sotto_test *t, const round *r, const sotto_interop_exchange *x)
{
    size_t outputs = r->instance.vdaf.sizes.outputs;
    sotto_bytes shares[2] = {aggregate(t, x, SOTTO_LEADER, r->count),
                             aggregate(t, x, SOTTO_HELPER, r->count)};
    sotto_uint128 *ours = sotto_test_take(t, outputs, sizeof *ours);
    const char *theirs;

    CHECK_OK(t, sotto_prio3_unshard(&r->instance.vdaf, ours, shares, r->count, &t->err));
    sotto_peer_begin(&the_peer, "unshard");
    sotto_peer_add_number(&the_peer, "reports", r->count);
    sotto_peer_add_bytes(&the_peer, "leader", shares[SOTTO_LEADER]);
    sotto_peer_add_bytes(&the_peer, "helper", shares[SOTTO_HELPER]);
    sotto_peer_obeys(t, &the_peer);
    theirs = sotto_peer_text(t, &the_peer, "result");
    for (size_t entry = 0; entry < outputs; entry++) {
        sotto_uint128 plain = plain_sum(r, entry);
        sotto_uint128 their = sotto_uint128_read(&theirs);

        CHECK_EQUAL(t, plain.low, ours[entry].low);
        CHECK_EQUAL(t, plain.high, ours[entry].high);
        CHECK_EQUAL(t, plain.low, their.low);
        CHECK_EQUAL(t, plain.high, their.high);
    }
    CHECK(t, *theirs == '\0');
}

/* Given the same report, two implementations in the same role say the same bytes. */
static void check_same(sotto_test *t, const sotto_interop_exchange *x,
                       const sotto_interop_exchange *y, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (int who = SOTTO_LEADER; who <= SOTTO_HELPER; who++) {
            const sotto_outcome *a = &x->outcomes[i], *b = &y->outcomes[i];

            CHECK(t, sotto_bytes_equal_vartime(a->messages[who], b->messages[who]));
            CHECK(t, sotto_bytes_equal_vartime(a->out_shares[who], b->out_shares[who]));
        }
    }
}

/* ---- honest reports -------------------------------------------------------------------------- */

static void exchange_honest(sotto_test *t, const round *r)
{
    round turned = *r;
    sotto_interop_exchange x, y;

    turned.mix ^= SOTTO_THEIR_LEADER | SOTTO_THEIR_HELPER;
    x = exchange_of(r, NULL);
    y = exchange_of(&turned, NULL);
    sotto_interop_exchange_run(t, &x, r->reports, r->count);
    sotto_interop_exchange_run(t, &y, r->reports, r->count);
    for (size_t i = 0; i < r->count; i++) {
        CHECK(t, x.outcomes[i].accepted[SOTTO_LEADER]);
        CHECK(t, x.outcomes[i].accepted[SOTTO_HELPER]);
        check_out_shares(t, r, &x.outcomes[i], i);
    }
    check_same(t, &x, &y, r->count);
    check_result(t, r, &x);
    check_result(t, &turned, &y);
}

/* Every mix of roles with batches of many sizes, beside and across multiples of four. */
static void pass_reports(sotto_test *t, const sotto_kind *kind)
{
    static const size_t sizes[] = {1,  2,  3,  4,  5,  7,  8,  9,
                                   13, 16, 17, 31, 33, 64, 65, SOTTO_LARGEST_BATCH};
    sotto_draw draw = draw_for(kind, 1);
    size_t left = REPORTS_A_TYPE;

    for (unsigned turn = 0; left > 0 || turn < SOTTO_MIXES; turn++) {
        size_t count = sizes[sotto_draw_below(&draw, sizeof sizes / sizeof sizes[0])];
        round r;

        round_begin(t, &draw, &r, kind, turn % SOTTO_MIXES, count);
        exchange_honest(t, &r);
        round_end(t);
        left -= left < count ? left : count;
    }
}

/* ---- tampered reports ------------------------------------------------------------------------ */

/* On our side the status is known as well: bytes that do not parse are no failed proof. */
static void check_verdict(sotto_test *t, const sotto_interop_exchange *x, size_t i,
                          sotto_tampering how)
{
    const sotto_tampering_fact *fact = &sotto_tampering_facts[how];
    const sotto_prio3_verification *ours = x->states[fact->seen_by];
    const bool *accepted = x->outcomes[i].accepted;
    bool as_wanted = accepted[SOTTO_LEADER] == (how == SOTTO_HONEST) &&
                     accepted[SOTTO_HELPER] == sotto_tampering_passes_helper(how) &&
                     (!ours || !fact->status || ours[i].status == fact->status);

    if (!as_wanted)
        fprintf(stderr, "report %zu, changed: %s; leader %s, helper %s%s%s\n", i, fact->name,
                accepted[SOTTO_LEADER] ? "accepts" : "refuses",
                accepted[SOTTO_HELPER] ? "accepts" : "refuses", ours ? ", ours as " : "",
                ours ? sotto_status_name(ours[i].status) : "");
    CHECK(t, as_wanted);
}

static void check_verdicts(sotto_test *t, const round *r, const sotto_interop_exchange *x,
                           const sotto_tampering *how)
{
    for (size_t i = 0; i < r->count; i++) {
        check_verdict(t, x, i, how[i]);
        if (how[i] == SOTTO_HONEST)
            check_out_shares(t, r, &x->outcomes[i], i);
    }
    /* A refused report has left no trace in a sum. */
    (void)aggregate(t, x, SOTTO_LEADER, r->count);
    (void)aggregate(t, x, SOTTO_HELPER, r->count);
}

/* Every tampering once, in random order, with an honest report after each. */
static void exchange_tampered(sotto_test *t, sotto_draw *draw, const sotto_kind *kind, unsigned mix)
{
    sotto_tampering how[2 * SOTTO_TAMPERINGS] = {SOTTO_HONEST};
    sotto_tamperer tamperer = {.t = t, .draw = draw, .how = how};
    sotto_courier courier = {sotto_tamper_carry, &tamperer};
    sotto_interop_exchange x;
    round r;

    for (unsigned i = 0; i < SOTTO_TAMPERINGS; i++) {
        unsigned other = (unsigned)sotto_draw_below(draw, i + 1);

        how[2 * i] = how[2 * other];
        how[2 * other] =
            sotto_tampering_applies((sotto_tampering)i, kind) ? (sotto_tampering)i : SOTTO_HONEST;
    }
    round_begin(t, draw, &r, kind, mix, sizeof how / sizeof how[0]);
    tamperer.instance = &r.instance;
    for (size_t i = 0; i < r.count; i++)
        sotto_tamper_report(&tamperer, &r.reports[i], i);
    x = exchange_of(&r, &courier);
    sotto_interop_exchange_run(t, &x, r.reports, r.count);
    check_verdicts(t, &r, &x, how);
    round_end(t);
}

/* The context is a batch's: a wrong one at the leader, at the helper, or at both refuses every
 * report. */
static void exchange_in_wrong_context(sotto_test *t, sotto_draw *draw, const sotto_kind *kind,
                                      unsigned mix)
{
    for (unsigned wrong = 1; wrong <= (1u << SOTTO_LEADER | 1u << SOTTO_HELPER); wrong++) {
        sotto_bytes context;
        sotto_interop_exchange x;
        round r;

        round_begin(t, draw, &r, kind, mix, 1 + sotto_draw_below(draw, 6));
        x = exchange_of(&r, NULL);
        context = sotto_tamper_bit(t, draw, r.instance.context);
        for (int who = SOTTO_LEADER; who <= SOTTO_HELPER; who++)
            if (wrong >> who & 1)
                x.contexts[who] = context;
        sotto_interop_exchange_run(t, &x, r.reports, r.count);
        for (size_t i = 0; i < r.count; i++) {
            CHECK(t, !x.outcomes[i].accepted[SOTTO_LEADER]);
            CHECK(t, !x.outcomes[i].accepted[SOTTO_HELPER]);
        }
        round_end(t);
    }
}

static void refuse_tampering(sotto_test *t, const sotto_kind *kind)
{
    sotto_draw draw = draw_for(kind, 2);

    for (unsigned mix = 0; mix < SOTTO_MIXES; mix++) {
        for (int again = 0; again < TAMPERED_ROUNDS_A_MIX; again++)
            exchange_tampered(t, &draw, kind, mix);
        exchange_in_wrong_context(t, &draw, kind, mix);
    }
}

/* ---- by name --------------------------------------------------------------------------------- */

static void peer_speaks_the_expected_version(sotto_test *t)
{
    sotto_peer_begin(&the_peer, "version");
    sotto_peer_obeys(t, &the_peer);
    CHECK(t, strcmp(sotto_peer_text(t, &the_peer, "prio"), "0.18.1") == 0);
}

#define BOTH_WAYS(kind)                                                                            \
    static void kind##_reports_pass_in_every_mix_of_roles(sotto_test *t)                           \
    {                                                                                              \
        pass_reports(t, &kind##_kind);                                                             \
    }                                                                                              \
    static void kind##_reports_are_refused_if_tampered_with(sotto_test *t)                         \
    {                                                                                              \
        refuse_tampering(t, &kind##_kind);                                                         \
    }

BOTH_WAYS(count)
BOTH_WAYS(sum)
BOTH_WAYS(sum_vec)
BOTH_WAYS(histogram)
BOTH_WAYS(multihot)
BOTH_WAYS(l1_bound_sum)
BOTH_WAYS(multiproof)

static const sotto_test_case cases[] = {
    CASE(peer_speaks_the_expected_version),
    CASE(count_reports_pass_in_every_mix_of_roles),
    CASE(sum_reports_pass_in_every_mix_of_roles),
    CASE(sum_vec_reports_pass_in_every_mix_of_roles),
    CASE(histogram_reports_pass_in_every_mix_of_roles),
    CASE(multihot_reports_pass_in_every_mix_of_roles),
    CASE(l1_bound_sum_reports_pass_in_every_mix_of_roles),
    CASE(multiproof_reports_pass_in_every_mix_of_roles),
    CASE(count_reports_are_refused_if_tampered_with),
    CASE(sum_reports_are_refused_if_tampered_with),
    CASE(sum_vec_reports_are_refused_if_tampered_with),
    CASE(histogram_reports_are_refused_if_tampered_with),
    CASE(multihot_reports_are_refused_if_tampered_with),
    CASE(l1_bound_sum_reports_are_refused_if_tampered_with),
    CASE(multiproof_reports_are_refused_if_tampered_with),
};

int main(int argc, char **argv)
{
    const char *program = getenv("SOTTO_PEER");
    const char *wanted = getenv("SOTTO_SEED");
    int failed;

    if (!program) {
        fprintf(stderr, "SOTTO_PEER does not name a peer: run this through ctest\n");
        return SKIPPED;
    }
    seed = wanted ? strtoull(wanted, NULL, 0) : default_seed;
    fprintf(stderr, "SOTTO_SEED=0x%llx\n", (unsigned long long)seed);
    if (!sotto_peer_open(&the_peer, program))
        return 1;
    failed = RUN_TESTS(argc, argv, cases);
    say_where_it_failed();
    if (!sotto_peer_close(&the_peer))
        failed = failed ? failed : 1;
    return failed;
}
