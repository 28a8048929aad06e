/* What every way to add up must do, whatever it is. It runs over each row of rounds.c on the simulated network. Prio3, which has two servers
 * and no machines, runs on that of prio_rounds.c. */
#include "prio_rounds.h"
#include "rounds.h"

#include <stdlib.h>
#include <string.h>

typedef void on_row(sotto_test *t, const method_row *row);

static void each_method(sotto_test *t, on_row *run)
{
    for (size_t i = 0; i < METHOD_ROW_COUNT; i++) {
        sotto_arena_reset(&t->arena);
        run(t, &METHOD_ROWS[i]);
    }
}

/* The memory that a round took, beside what the test needs for its whole length. */
typedef struct lap {
    sotto_arena_mark mark;
} lap;

static lap begin(sotto_test *t)
{
    return (lap){sotto_arena_here(&t->arena)};
}

static void end(sotto_test *t, lap l, sotto_sim_net *net, round_case *c)
{
    sotto_sim_net_free(net);
    round_case_clear(c);
    sotto_arena_rollback(&t->arena, l.mark);
}

/* The long form leaves nothing out. */
static uint64_t one_of(const method_row *row)
{
    return getenv("SOTTO_CHAOS_ROUNDS") ? 1 : row->slow;
}

/* ---- sums ------------------------------------------------------------------------------------------- */

static void sums_of(sotto_test *t, const method_row *row)
{
    static const struct {
        uint32_t clients;
        size_t length;
    } sizes[] = {{3, 1}, {10, 2}, {10, 4095}, {5, 4096}, {10, 4097}, {40, 3}};

    for (size_t i = 0; i < 2 * sizeof sizes / sizeof sizes[0]; i++) {
        lap l = begin(t);
        round_case c;

        if (one_of(row) > 1 && i % 2 && sizes[i / 2].clients == 40)
            continue; /* the other ring has had 10 */
        round_case_init(t, &c, row, sizes[i / 2].clients, i % 2 ? SOTTO_RING_Z64 : SOTTO_RING_Z32,
                        sizes[i / 2].length, i);
        sotto_sim_net *net = round_case_net(t, &c, i);
        sotto_sim_report report = round_case_run(t, &c, net);
        CHECK(t, report.released);
        CHECK_EQUAL(t, c.clients, report.contributions);
        CHECK_EQUAL(t, 0, report.blamed_count);
        end(t, l, net, &c);
    }
}

static void the_sum_is_the_sum(sotto_test *t)
{
    each_method(t, sums_of);
    prio_sums(t);
}

static void same_seed(sotto_test *t, const method_row *row)
{
    sotto_sim_faults faults = {.drop = 0.02,
                               .duplicate = 0.2,
                               .delay_least_ms = 1,
                               .delay_most_ms = 200,
                               .crash_before = 0.05,
                               .crash_after = 0.05};
    uint8_t transcript[3][32];

    for (uint64_t i = 0; i < 3; i++) {
        lap l = begin(t);
        round_case c;

        round_case_init(t, &c, row, 6, SOTTO_RING_Z32, 5, 77);
        sotto_sim_net *net = round_case_net(t, &c, i == 2 ? 9 : 8);
        sotto_sim_net_faults(net, &faults);
        sotto_sim_report report = round_case_run(t, &c, net);
        memcpy(transcript[i], report.transcript, 32);
        end(t, l, net, &c);
    }
    CHECK_BYTES(t, transcript[0], transcript[1], 32);
    CHECK(t, memcmp(transcript[0], transcript[2], 32) != 0);
}

static void one_seed_gives_one_transcript(sotto_test *t)
{
    each_method(t, same_seed);
}

/* ---- silence ---------------------------------------------------------------------------------------- */

/* From each kind of message on, as many fall silent as the method must survive. */
static void silent_from_each_kind(sotto_test *t, const method_row *row)
{
    for (size_t k = 0; k < row->method->kind_count; k++) {
        unsigned kind = row->method->kinds[k].kind;
        lap l = begin(t);
        round_case c;

        if (row->method->kinds[k].from != SOTTO_PART_CLIENT)
            continue;
        round_case_init(t, &c, row, 10, SOTTO_RING_Z32, 7, k);
        sotto_sim_net *net = round_case_net(t, &c, k);
        for (uint32_t i = 0; i < c.losses; i++)
            sotto_sim_net_lie(net, 3 * i + 1, sotto_sim_liar_silent, &kind);
        CHECK(t, round_case_run(t, &c, net).released);
        end(t, l, net, &c);
    }
}

static void losses_at_any_time_are_survived(sotto_test *t)
{
    each_method(t, silent_from_each_kind);
}

static void silent_decryptors(sotto_test *t, const method_row *row)
{
    for (size_t k = 0; k < row->method->kind_count; k++)
        for (uint32_t more = 0; more < 2; more++) {
            unsigned kind = row->method->kinds[k].kind;
            lap l = begin(t);
            round_case c;

            if (row->method->kinds[k].from != SOTTO_PART_DECRYPTOR)
                continue;
            round_case_init(t, &c, row, 10, SOTTO_RING_Z32, 7, k);
            sotto_sim_net *net = round_case_net(t, &c, k);
            unsigned first =
                SOTTO_FLAMINGO_REPORT; /* the first kind that decryptors send is the vote */
            uint32_t lost = more ? c.decryptors - sotto_decryptors_threshold(c.decryptors) + 1
                                 : c.decryptors_lost;
            for (uint32_t i = 0; i < lost; i++)
                sotto_sim_net_lie(net, SOTTO_SIM_DECRYPTOR(c.cast.decryptors->record.members[i]),
                                  sotto_sim_liar_silent, more ? &first : &kind);
            sotto_sim_report report = round_case_run(t, &c, net);
            CHECK(t, report.released == !more && report.outcome != SOTTO_AGAIN);
            end(t, l, net, &c);
        }
}

static void lost_decryptors_are_survived_while_a_quorum_is_left(sotto_test *t)
{
    each_method(t, silent_decryptors);
}

static void too_few(sotto_test *t, const method_row *row)
{
    for (size_t k = 0; k < row->method->kind_count; k++) {
        const sotto_kind *kind = &row->method->kinds[k];
        unsigned from = kind->kind;
        lap l = begin(t);
        round_case c;

        /* Whoever is counted has contributed; what it does not say later is another matter. */
        if (kind->from != SOTTO_PART_CLIENT)
            continue;
        round_case_init(t, &c, row, 10, SOTTO_RING_Z64, 3, k);
        sotto_sim_net *net = round_case_net(t, &c, k);
        for (uint32_t i = 0; i < c.clients - c.round.least + 1; i++)
            sotto_sim_net_lie(net, i, sotto_sim_liar_silent, &from);
        sotto_sim_report report = round_case_run(t, &c, net);
        if (!report.released)
            CHECK(t, report.outcome != SOTTO_OK && report.outcome != SOTTO_AGAIN);
        if (kind->has_bulk || k == 0)
            CHECK(t, !report.released);
        end(t, l, net, &c);
    }
}

static void nothing_is_released_below_the_least(sotto_test *t)
{
    each_method(t, too_few);
    prio_least(t);
}

static void cut_off(sotto_test *t, const method_row *row)
{
    uint64_t apart = one_of(row) > 1 ? 550 : 250;

    for (uint64_t from = 0; from < 5000; from += apart) {
        lap l = begin(t);
        round_case c;

        round_case_init(t, &c, row, 10, SOTTO_RING_Z32, 2, from);
        sotto_sim_net *net = round_case_net(t, &c, from);
        sotto_sim_faults slow = {.delay_least_ms = 100, .delay_most_ms = 400};
        sotto_sim_net_faults(net, &slow);
        for (uint32_t i = 0; i < c.losses; i++)
            sotto_sim_net_cut_off(net, i, from, from + 600);
        sotto_sim_report report = round_case_run(t, &c, net);
        CHECK(t, report.outcome != SOTTO_AGAIN);
        end(t, l, net, &c);
    }
}

static void a_partition_ends_in_the_right_sum_or_in_none(sotto_test *t)
{
    each_method(t, cut_off);
}

/* ---- crashes ---------------------------------------------------------------------------------------- */

static uint64_t run_with_crash(sotto_test *t, const method_row *row, uint64_t step,
                               sotto_sim_crash how, uint64_t *conflicts)
{
    lap l = begin(t);
    round_case c;

    round_case_init(t, &c, row, 5, SOTTO_RING_Z32, 3, 5);
    sotto_sim_net *net = round_case_net(t, &c, 5);
    sotto_sim_net_crash_at(net, step, how);
    sotto_sim_report report = round_case_run(t, &c, net);
    if (how != SOTTO_SIM_ROLLBACK)
        CHECK(t, report.released && report.contributions == c.clients);
    CHECK(t, report.outcome != SOTTO_AGAIN);
    *conflicts += report.vow_conflicts;
    end(t, l, net, &c);
    return report.steps;
}

static void crash_everywhere(sotto_test *t, const method_row *row)
{
    uint64_t conflicts = 0, steps = run_with_crash(t, row, 0, SOTTO_SIM_CRASH_BEFORE, &conflicts);

    CHECK(t, steps >= 11);
    for (uint64_t step = 1; step <= steps; step++) {
        /* Where rounds are slow, every other step loses what it was about to say, and the others what they said. */
        if (one_of(row) == 1 || step % 2)
            (void)run_with_crash(t, row, step, SOTTO_SIM_CRASH_BEFORE, &conflicts);
        if (one_of(row) == 1 || step % 2 == 0)
            (void)run_with_crash(t, row, step, SOTTO_SIM_CRASH_AFTER, &conflicts);
    }
    CHECK_EQUAL(t, 0, conflicts);
}

static void a_crash_at_any_step_changes_nothing(sotto_test *t)
{
    each_method(t, crash_everywhere);
    prio_crashes(t);
}

/* A client comes back from an old backup and answers anew: round_case_run checks that no second vector ever left. */
static void roll_back_everywhere(sotto_test *t, const method_row *row)
{
    uint64_t conflicts = 0, steps = run_with_crash(t, row, 0, SOTTO_SIM_ROLLBACK, &conflicts);

    CHECK_EQUAL(t, 0, conflicts);
    for (uint64_t step = 1; step <= steps; step += one_of(row) > 1 ? 2 : 1)
        (void)run_with_crash(t, row, step, SOTTO_SIM_ROLLBACK, &conflicts);
    CHECK(t, conflicts > 0);
}

static void vows_are_kept_over_a_rollback(sotto_test *t)
{
    each_method(t, roll_back_everywhere);
}

static void forgetful(sotto_test *t, const method_row *row)
{
    round_case c;

    round_case_init(t, &c, row, 12, SOTTO_RING_Z64, 9, 3);
    sotto_sim_net *net = round_case_net(t, &c, 3);
    sotto_sim_net_forget_always(net);
    unsigned kind = 0;
    for (size_t k = 0; k < row->method->kind_count; k++)
        if (row->method->kinds[k].has_bulk)
            kind = row->method->kinds[k].kind;
    sotto_sim_net_lie(net, 4, sotto_sim_liar_silent, &kind);
    sotto_sim_report report = round_case_run(t, &c, net);
    CHECK(t, report.released && report.contributions == c.clients - 1);
    sotto_sim_net_free(net);
    round_case_clear(&c);
}

static void machines_live_on_what_they_saved(sotto_test *t)
{
    each_method(t, forgetful);
}

/* ---- hostile networks -------------------------------------------------------------------------------- */

static void duplicates(sotto_test *t, const method_row *row)
{
    sotto_sim_faults faults = {.duplicate = 1, .delay_least_ms = 1, .delay_most_ms = 300};
    round_case c;

    round_case_init(t, &c, row, 8, SOTTO_RING_Z32, 4, 1);
    sotto_sim_net *net = round_case_net(t, &c, 1);
    sotto_sim_net_faults(net, &faults);
    sotto_sim_report report = round_case_run(t, &c, net);
    CHECK(t, report.released && report.contributions == c.clients);
    CHECK(t, report.verdicts[SOTTO_STALE] > 0);
    CHECK_EQUAL(t, 0, report.verdicts[SOTTO_REJECTED]);
    sotto_sim_net_free(net);
    round_case_clear(&c);
}

static void a_contribution_counts_once(sotto_test *t)
{
    each_method(t, duplicates);
    prio_duplicates(t);
}

/* What it sends may be anything, so its sum may be anything: but it counts once, and the round ends. */
static void liars(sotto_test *t, const method_row *row)
{
    for (uint64_t seed = 0; seed < 40 / one_of(row); seed++) {
        sotto_sim_report report;
        lap l = begin(t);
        round_case c;

        round_case_init(t, &c, row, 9, SOTTO_RING_Z32, 4, seed);
        sotto_sim_net *net = round_case_net(t, &c, seed);
        sotto_sim_net_lie(net, 2, sotto_sim_liar_contradicts, &c.cast.clients[2]);
        CHECK_OK(t, sotto_sim_net_run(net, 50000, &report, &t->err));
        CHECK(t, report.outcome != SOTTO_AGAIN);
        CHECK(t, report.contributions <= c.clients);
        CHECK_EQUAL(t, 0, report.vow_conflicts + report.second_bulks + report.forgetful);
        end(t, l, net, &c);
    }
}

static void a_client_that_contradicts_itself_counts_once(sotto_test *t)
{
    each_method(t, liars);
}

/* ---- hostile bytes ---------------------------------------------------------------------------------- */

typedef struct mangler {
    sotto_test *t;
    const round_case *c;
    sotto_round other; /* the next round of the same people */
    uint64_t seen[32];
} mangler;

static sotto_status judged(const mangler *m, const sotto_round *round, sotto_bytes wire)
{
    sotto_message message;

    if (sotto_message_decode(&message, wire, NULL) != SOTTO_OK)
        return SOTTO_MALFORMED;
    const sotto_kind *kind = sotto_method_kind(m->c->row->method, message.kind);
    sotto_part to = kind ? kind->to : SOTTO_PART_CLIENT;
    return m->c->row->method->parts[to]->check(round, &message, &m->t->arena, NULL);
}

static bool is_refusal(sotto_status status)
{
    return status == SOTTO_MALFORMED || status == SOTTO_REJECTED || status == SOTTO_STALE;
}

/* Two of each kind suffer, or one where rounds are slow: cut short, made longer, and with each bit of a sample flipped. */
static void mangle(void *context, sotto_sim_net *net, const sotto_message *message,
                   sotto_bytes wire)
{
    mangler *m = context;
    uint8_t *copy = sotto_arena_take(&m->t->arena, wire.len + 1);

    (void)net;
    if (m->seen[message->kind]++ >= (one_of(m->c->row) > 1 ? 1 : 2))
        return;
    CHECK(m->t, copy != NULL);
    memcpy(copy, wire.data, wire.len);
    CHECK(m->t, judged(m, &m->c->round, wire) == SOTTO_OK);
    for (size_t len = 0; len < wire.len; len += 1 + (len > 256 ? len / 16 : 0))
        CHECK(m->t, is_refusal(judged(m, &m->c->round, sotto_bytes_of(copy, len))));
    CHECK(m->t, is_refusal(judged(m, &m->c->round, sotto_bytes_of(copy, wire.len + 1))));
    for (size_t bit = 0; bit < 8 * wire.len; bit += 1 + (bit > 1200 ? wire.len / 16 : 0)) {
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
        CHECK(m->t, is_refusal(judged(m, &m->c->round, sotto_bytes_of(copy, wire.len))));
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    CHECK(m->t, judged(m, &m->other, wire) == SOTTO_STALE);
}

static void mangled(sotto_test *t, const method_row *row)
{
    mangler m = {.t = t};
    round_case c;

    round_case_init(t, &c, row, 5, SOTTO_RING_Z32, 3, 6);
    m.c = &c;
    m.other = c.round;
    m.other.number++;
    sotto_sim_net *net = round_case_net(t, &c, 6);
    sotto_sim_net_tap(net, mangle, &m);
    CHECK(t, round_case_run(t, &c, net).released);
    for (size_t k = 0; k < row->method->kind_count; k++)
        CHECK(t, m.seen[row->method->kinds[k].kind] > 0);
    sotto_sim_net_free(net);
    round_case_clear(&c);
}

static void no_mangled_message_passes(sotto_test *t)
{
    each_method(t, mangled);
}

/* What each kind's body may at most hold, and one byte more. */
static void oversized(sotto_test *t, const method_row *row)
{
    round_case c;

    round_case_init(t, &c, row, 5, SOTTO_RING_Z32, 3, 6);
    for (size_t k = 0; k < row->method->kind_count; k++) {
        const sotto_kind *kind = &row->method->kinds[k];
        bool by_client = kind->from != SOTTO_PART_SERVER, by_server = !by_client;
        uint32_t who = c.cast.decryptors ? c.cast.decryptors->record.members[0] : 0;
        uint8_t *body = sotto_arena_take(&t->arena, kind->most + 1), signature[SOTTO_SIGNATURE];
        sotto_message message = {.epoch = c.round.epoch,
                                 .round = c.round.number,
                                 .kind = kind->kind,
                                 .from = by_server ? SOTTO_TO_SERVER : who,
                                 .to = by_server ? who : SOTTO_TO_SERVER,
                                 .bulk_len = kind->has_bulk ? 12 : 0};

        CHECK(t, body != NULL);
        memcpy(message.session, c.round.session, 32);
        message.body = sotto_bytes_of(body, kind->most + 1);
        CHECK_OK(t, sotto_message_sign(&message, signature,
                                       by_client ? &c.cast.clients[who] : &c.cast.server, &t->err));
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     row->method->parts[kind->to]->check(&c.round, &message, &t->arena, &t->err));
        CHECK_REASON(t, "at most");
    }
    round_case_clear(&c);
}

static void bodies_keep_to_their_limits(sotto_test *t)
{
    each_method(t, oversized);
}

/* ---- joining ---------------------------------------------------------------------------------------- */

static sotto_status joined(sotto_test *t, const round_case *c, sotto_part part)
{
    sotto_self self = {.part = part,
                       .index = part == SOTTO_PART_SERVER ? SOTTO_TO_SERVER : 0,
                       .keys = part == SOTTO_PART_SERVER ? &c->cast.server : &c->cast.clients[0],
                       .secrets = c->cast.secrets};
    sotto_machine *machine;

    t->err = (sotto_err){0};
    sotto_status status =
        c->row->method->parts[part]->join(&machine, &c->round, &self, &t->arena, &t->err);
    if (status == SOTTO_OK)
        c->row->method->parts[part]->leave(machine);
    return status;
}

static void refused_rounds(sotto_test *t, const method_row *row)
{
    for (int part = SOTTO_PART_CLIENT; part <= SOTTO_PART_SERVER; part++) {
        round_case c;

        round_case_init(t, &c, row, 6, SOTTO_RING_Z32, 3, 6);
        sotto_round right = c.round;
        CHECK(t, joined(t, &c, part) == SOTTO_OK);
        c.round.most = UINT64_C(1) << 30;
        CHECK(t, joined(t, &c, part) == SOTTO_DENIED);
        c.round = right;
        c.round.registry[5] ^= 1;
        CHECK(t, joined(t, &c, part) == SOTTO_DENIED);
        CHECK_REASON(t, "another registry");
        c.round = right;
        c.round.method++;
        CHECK(t, joined(t, &c, part) == SOTTO_DENIED);
        c.round = right;
        c.round.ring = SOTTO_RING_F64;
        CHECK(t, joined(t, &c, part) == SOTTO_DENIED);
        round_case_clear(&c);
    }
}

static void nobody_joins_a_round_that_can_not_keep_its_promise(sotto_test *t)
{
    each_method(t, refused_rounds);
}

/* Every allocation of a whole round fails once, or a sample of them; the step fails with it, and nothing breaks. */
static void failing_memory(sotto_test *t, const method_row *row)
{
    for (size_t ceiling = 1; ceiling < 600000; ceiling += ceiling / 3 + 64) {
        lap l = begin(t);
        sotto_machine *machine;
        sotto_arena small;
        round_case c;

        round_case_init(t, &c, row, 6, SOTTO_RING_Z32, 3, 6);
        sotto_self self = {.part = SOTTO_PART_CLIENT,
                           .keys = &c.cast.clients[0],
                           .index = 0,
                           .seed = {1},
                           .secrets = c.cast.secrets};
        sotto_arena_init(&small, ceiling);
        const sotto_machine_ops *ops = row->method->parts[SOTTO_PART_CLIENT];
        sotto_status status = ops->join(&machine, &c.round, &self, &small, NULL);
        CHECK(t, status == SOTTO_OK || status == SOTTO_NO_MEMORY);
        if (status == SOTTO_OK) {
            sotto_arena tiny;
            sotto_effects effects;

            sotto_arena_init(&tiny, ceiling / 64);
            sotto_effects_init(&effects, &tiny);
            status = ops->tick(machine, c.round.opens, &effects, NULL);
            CHECK(t, status == SOTTO_OK || status == SOTTO_NO_MEMORY);
            sotto_arena_clear(&tiny);
            ops->leave(machine);
        }
        sotto_arena_clear(&small);
        round_case_clear(&c);
        sotto_arena_rollback(&t->arena, l.mark);
    }
}

static void a_step_without_memory_fails_cleanly(sotto_test *t)
{
    each_method(t, failing_memory);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_sum_is_the_sum),
        CASE(one_seed_gives_one_transcript),
        CASE(losses_at_any_time_are_survived),
        CASE(lost_decryptors_are_survived_while_a_quorum_is_left),
        CASE(nothing_is_released_below_the_least),
        CASE(a_partition_ends_in_the_right_sum_or_in_none),
        CASE(a_crash_at_any_step_changes_nothing),
        CASE(vows_are_kept_over_a_rollback),
        CASE(machines_live_on_what_they_saved),
        CASE(a_contribution_counts_once),
        CASE(a_client_that_contradicts_itself_counts_once),
        CASE(no_mangled_message_passes),
        CASE(bodies_keep_to_their_limits),
        CASE(nobody_joins_a_round_that_can_not_keep_its_promise),
        CASE(a_step_without_memory_fails_cleanly),
    };
    return RUN_TESTS(argc, argv, cases);
}
