#include "aggregate/aero/server.h"

#include "aggregate/aero/proof.h"
#include "aggregate/machine.h"
#include "base/arena.h"
#include "base/rule.h"

#include <string.h>

/* ---- records ----------------------------------------------------------------------------------------------- */

static sotto_status post_mark(sotto_aero_aggregator *s, uint8_t what, unsigned kind,
                              sotto_effects *effects, sotto_err *err)
{
    if (s->posted & what)
        return SOTTO_OK;
    s->posted |= what;
    return sotto_aero_post(&s->base, effects, kind, (sotto_bytes){NULL, 0}, err);
}

static sotto_status post_keyed(sotto_aero_aggregator *s, sotto_effects *effects, sotto_err *err)
{
    sotto_buf body;

    if (s->posted & SOTTO_AERO_POSTED_KEYED)
        return SOTTO_OK;
    s->posted |= SOTTO_AERO_POSTED_KEYED;
    SOTTO_TRY(sotto_buf_take(&body, effects->arena, sotto_aero_keyed_size(s->base.plan), err));
    SOTTO_TRY(sotto_aero_keyed_encode(s->base.view, &body, err));
    return sotto_aero_post(&s->base, effects, SOTTO_AERO_KEYED, sotto_buf_bytes(&body), err);
}

static sotto_status fail(sotto_aero_aggregator *s, sotto_effects *effects, const char *why)
{
    s->posted |= SOTTO_AERO_FAILED;
    sotto_effects_done(effects, SOTTO_DENIED, why);
    return SOTTO_OK;
}

static sotto_status post_committed(sotto_aero_aggregator *s, sotto_effects *effects, sotto_err *err)
{
    uint8_t body[4 + 32];
    sotto_buf out = sotto_buf_over(body, sizeof body);
    sotto_writer w = sotto_writer_on(&out);

    if (s->posted & SOTTO_AERO_POSTED_COMMITTED)
        return SOTTO_OK;
    if (!sotto_aero_is_certified(s->base.view))
        return fail(s, effects, "the committee did not certify the round");
    SOTTO_TRY(sotto_aero_server_order(s, err));
    SOTTO_TRY(sotto_aero_server_bequeath(s, effects, err));
    s->posted |= SOTTO_AERO_POSTED_COMMITTED;
    sotto_write_uint(&w, s->count, 4);
    sotto_write_bytes(&w, sotto_bytes_of(sotto_aero_sum_root(&s->promises)->hash, 32));
    SOTTO_TRY(sotto_writer_finish(&w, "committed", err));
    return sotto_aero_post(&s->base, effects, SOTTO_AERO_COMMITTED, sotto_buf_bytes(&out), err);
}

static sotto_status write_added(sotto_aero_aggregator *s, sotto_buf *out, sotto_arena *scratch,
                                sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, s->present, 4);
    for (uint32_t g = 0; g < s->base.plan->groups; g++) {
        uint8_t digest[32], second[32];

        SOTTO_TRY(sotto_aero_total_digests(digest, second, s->base.plan, g, s->count, s->totals[g],
                                           scratch, err));
        sotto_write_bytes(&w, sotto_bytes_of(sotto_aero_sum_root(&s->leaves[g])->hash, 32));
        sotto_write_bytes(&w, sotto_bytes_of(digest, sizeof digest));
    }
    return sotto_writer_finish(&w, "added", err);
}

static sotto_status post_added(sotto_aero_aggregator *s, sotto_effects *effects, sotto_err *err)
{
    const sotto_aero_terms *t = &s->base.plan->terms;
    uint8_t body[4 + 64 * SOTTO_AERO_MOST_GROUPS];
    sotto_buf out = sotto_buf_over(body, sizeof body);

    if (s->posted & SOTTO_AERO_POSTED_ADDED)
        return SOTTO_OK;
    SOTTO_TRY(sotto_aero_server_add(s, err));
    s->posted |= SOTTO_AERO_POSTED_ADDED;
    if (s->counted_count < s->base.round->least)
        return fail(s, effects, "too few contributions");
    if (s->noise + t->noise_missing < t->noise_members)
        return fail(s, effects, "too few shares of noise");
    SOTTO_TRY(write_added(s, &out, effects->arena, err));
    return sotto_aero_post(&s->base, effects, SOTTO_AERO_ADDED, sotto_buf_bytes(&out), err);
}

static sotto_status post_summed(sotto_aero_aggregator *s, sotto_effects *effects, sotto_err *err)
{
    uint8_t body[8 + (32 + 8 * SOTTO_AERO_VALUES) * SOTTO_AERO_MOST_GROUPS];
    sotto_buf out = sotto_buf_over(body, sizeof body);
    sotto_writer w = sotto_writer_on(&out);

    if ((s->posted & SOTTO_AERO_POSTED_SUMMED) || !s->base.view->is_added ||
        sotto_aero_opened(s->base.view, s->base.view->next) < s->base.plan->terms.threshold)
        return SOTTO_OK;
    s->posted |= SOTTO_AERO_POSTED_SUMMED;
    s->before = s->base.view->next;
    SOTTO_TRY(sotto_aero_server_sum(s, err));
    sotto_write_uint(&w, s->before, 8);
    for (uint32_t g = 0; g < s->base.plan->groups; g++) {
        const sotto_aero_sum *root = sotto_aero_sum_root(&s->sums[g]);

        sotto_write_bytes(&w, sotto_bytes_of(root->hash, 32));
        for (unsigned i = 0; i < SOTTO_AERO_VALUES; i++)
            sotto_write_uint(&w, root->v[i].v, 8);
    }
    SOTTO_TRY(sotto_writer_finish(&w, "summed", err));
    return sotto_aero_post(&s->base, effects, SOTTO_AERO_SUMMED, sotto_buf_bytes(&out), err);
}

/* ---- what is read ------------------------------------------------------------------------------------------- */

static sotto_status answer_complaint(sotto_aero_aggregator *s, const sotto_message *complaint,
                                     sotto_effects *effects, sotto_err *err)
{
    const sotto_aero_view *view = s->base.view;
    sotto_reader in = sotto_reader_over(complaint->body);
    uint64_t what = sotto_read_uint(&in, 1), group = sotto_read_uint(&in, 1);
    uint64_t position = sotto_read_uint(&in, 4);

    if (what != SOTTO_AERO_NO_ANSWER || !(s->posted & SOTTO_AERO_POSTED_SUMMED))
        return SOTTO_OK;
    for (uint32_t i = 0; i < view->challenge_count; i++) {
        const sotto_aero_challenge *c = &view->challenges[i];

        if (!c->is_answered && c->group == group && c->position == position)
            return sotto_aero_server_answer_all(s, c->group, c->position, effects, err);
    }
    return SOTTO_OK;
}

/* Nobody waits for a deadline where everybody has spoken. */
static sotto_status react(sotto_aero_aggregator *s, const sotto_message *known,
                          sotto_effects *effects, sotto_err *err)
{
    const sotto_aero_view *view = s->base.view;
    const sotto_aero_plan *plan = s->base.plan;

    switch (known->kind) {
    case SOTTO_AERO_SEAL:
        if (sotto_aero_count_sealed(view) == plan->members)
            return post_mark(s, SOTTO_AERO_POSTED_SEALED, SOTTO_AERO_SEALED, effects, err);
        return SOTTO_OK;
    case SOTTO_AERO_KEY:
        if (view->dealers == sotto_aero_count_sealed(view))
            return post_keyed(s, effects, err);
        return SOTTO_OK;
    case SOTTO_AERO_HAND:
    case SOTTO_AERO_HANDED:
    case SOTTO_AERO_PROBE:
        return sotto_aero_server_hand_on(s, effects, err);
    case SOTTO_AERO_TAKEN:
        sotto_aero_server_blame_dealers(s);
        return SOTTO_OK;
    case SOTTO_AERO_VALUE:
        if (sotto_aero_opened(view, view->next) == plan->terms.committee)
            return post_summed(s, effects, err);
        return SOTTO_OK;
    case SOTTO_AERO_SUMMED:
        if (s->posted & SOTTO_AERO_SENT_ROOTS)
            return SOTTO_OK;
        s->posted |= SOTTO_AERO_SENT_ROOTS;
        return sotto_aero_server_roots(s, effects, err);
    case SOTTO_AERO_COMPLAINT:
        return answer_complaint(s, known, effects, err);
    case SOTTO_AERO_VERDICT:
        return sotto_aero_server_try(s, effects, err);
    case SOTTO_AERO_CLEAR:
        return view->clears == plan->terms.clears ? sotto_aero_server_try(s, effects, err)
                                                  : SOTTO_OK;
    case SOTTO_AERO_DEALT:
        return sotto_aero_server_hand_out(s, effects, err);
    default:
        return SOTTO_OK;
    }
}

/* ---- the machine -------------------------------------------------------------------------------------------- */

/* Bytes of what one device reveals, and of its places in the trees. */
static size_t weight_of(const sotto_aero_plan *plan)
{
    size_t all = sizeof(sotto_aero_revealed);

    for (uint32_t g = 0; g < plan->groups; g++) {
        const sotto_aero_proof_size_of of = {plan->aero.ring.set, plan->profile,
                                             sotto_aero_group_size(plan, g), plan->terms.bits};

        all += sotto_aero_group_bytes(plan, g) + sotto_aero_proof_bytes(&of) +
               sizeof(sotto_aero_revealed) + 4 * sizeof(sotto_aero_sum) + 256;
    }
    return all;
}

/* What was promised is revealed by all at once, and held until the sum is opened. So no more promises are taken than there is room for, by the
 * ceiling alone: after a restart there are as many. */
static uint32_t most_entrants(const sotto_aero_aggregator *s)
{
    const sotto_aero_plan *plan = s->base.plan;
    const uint64_t noise = plan->terms.noise_members, most = noise + plan->round->largest,
                   fit = s->base.arena->ceiling / 4 * 3 / weight_of(plan);

    if (SOTTO_RULE(aero_reveals_fit) && most > fit)
        return (uint32_t)(fit > noise ? fit : noise);
    return (uint32_t)most;
}

static sotto_status make_room(sotto_aero_aggregator *s, sotto_err *err)
{
    const sotto_aero_plan *plan = s->base.plan;
    const sotto_round *r = plan->round;
    sotto_arena *arena = s->base.arena;
    uint32_t noise = plan->terms.noise_members;

    s->most = most_entrants(s);
    s->entrants = sotto_arena_take_array(arena, (size_t)s->most + 1, sizeof *s->entrants);
    s->place = sotto_arena_take_array(arena, r->registered, sizeof *s->place);
    s->asked = sotto_arena_take_array(arena, r->registered, sizeof *s->asked);
    s->counted = sotto_arena_take_array(arena, r->largest + 1, sizeof *s->counted);
    s->blamed = sotto_arena_take_array(arena, r->registered, sizeof *s->blamed);
    s->sum = sotto_arena_take_array(arena, r->length, 8);
    if (!s->entrants || !s->place || !s->asked || !s->counted || !s->blamed || !s->sum)
        return sotto_aero_no_memory(err);
    for (uint32_t i = 0; i < noise; i++) {
        sotto_aero_entrant *e = &s->entrants[i];

        e->promise.role = SOTTO_AERO_NOISE;
        e->promise.index = plan->noise[i];
        e->groups = sotto_arena_take_array(arena, plan->groups, sizeof *e->groups);
        if (!e->groups)
            return sotto_aero_no_memory(err);
    }
    s->count = noise;
    memset(s->attempts, SOTTO_AERO_NOT_OPENING, sizeof s->attempts);
    return SOTTO_OK;
}

static sotto_status join(sotto_machine **out, const sotto_round *round, const sotto_self *self,
                         sotto_arena *arena, sotto_err *err)
{
    sotto_aero_aggregator *s = sotto_arena_take(arena, sizeof *s);

    *out = NULL;
    if (!s)
        return sotto_aero_no_memory(err);
    SOTTO_TRY(sotto_aero_join(&s->base, &sotto_aero_server, round, self, arena, err));
    SOTTO_TRY(make_room(s, err));
    *out = &s->base.machine;
    return SOTTO_OK;
}

static sotto_status deliver_one(sotto_aero_aggregator *s, const sotto_message *message,
                                sotto_status *verdict, sotto_effects *effects, sotto_err *err)
{
    sotto_message known;

    *verdict = SOTTO_STALE;
    if (s->posted & (SOTTO_AERO_RELEASED | SOTTO_AERO_FAILED))
        return SOTTO_OK;
    switch (message->kind) {
    case SOTTO_AERO_ENTRY:
        SOTTO_TRY(sotto_aero_take_entry(&s->base, &known, message, verdict, effects, err));
        return *verdict == SOTTO_OK ? react(s, &known, effects, err) : SOTTO_OK;
    case SOTTO_AERO_COMMIT:
        SOTTO_TRY(sotto_aero_server_commit(s, message, verdict, err));
        break;
    case SOTTO_AERO_REVEAL:
        SOTTO_TRY(sotto_aero_server_reveal(s, message, false, verdict, err));
        break;
    case SOTTO_AERO_ASK:
        return sotto_aero_server_answer(s, message, verdict, effects, err);
    case SOTTO_AERO_PART:
        SOTTO_TRY(sotto_aero_server_part(s, message, verdict, err));
        if (*verdict != SOTTO_OK)
            return SOTTO_OK;
        SOTTO_TRY(sotto_effects_keep(effects, message, err));
        return sotto_aero_server_open(s, effects, err);
    case SOTTO_AERO_NOISES:
    case SOTTO_AERO_POINT:
        SOTTO_TRY(sotto_aero_server_dealt(s, message, verdict, err));
        if (*verdict != SOTTO_OK)
            return SOTTO_OK;
        SOTTO_TRY(sotto_effects_keep(effects, message, err));
        return sotto_aero_server_deal_on(s, false, effects, err);
    default:
        *verdict = SOTTO_REJECTED;
        return SOTTO_OK;
    }
    return *verdict == SOTTO_OK ? sotto_effects_keep(effects, message, err) : SOTTO_OK;
}

static sotto_status deliver(sotto_machine *machine, const sotto_message *messages, size_t count,
                            sotto_status *verdicts, sotto_effects *effects, sotto_err *err)
{
    for (size_t i = 0; i < count; i++)
        SOTTO_TRY(deliver_one((sotto_aero_aggregator *)machine, &messages[i], &verdicts[i], effects,
                              err));
    return SOTTO_OK;
}

/* Deadlines that a round does not name: the set-up has a quarter, then half of the time before promises are due. A hand-over has the second
 * quarter, and a new key, where that failed, the third. Values have a third of the time for verification. Each attempt to open has a
 * twelfth of the time for release. */
typedef struct deadline {
    uint64_t at;
    unsigned what;
} deadline;

enum { HANDED = 256, TAKEN }; /* of the hand-over: not among the flags */

static sotto_status meet(sotto_aero_aggregator *s, unsigned what, sotto_effects *effects,
                         sotto_err *err)
{
    const bool hands_over = s->base.plan->old_members != 0;

    switch (what) {
    case HANDED:
        return hands_over ? sotto_aero_server_handed(s, effects, err) : SOTTO_OK;
    case TAKEN:
        return hands_over ? sotto_aero_server_taken(s, effects, err) : SOTTO_OK;
    case SOTTO_AERO_POSTED_SEALED:
        return post_mark(s, SOTTO_AERO_POSTED_SEALED, SOTTO_AERO_SEALED, effects, err);
    case SOTTO_AERO_POSTED_KEYED:
        return s->base.view->handing.has_passed ? SOTTO_OK : post_keyed(s, effects, err);
    case SOTTO_AERO_POSTED_COMMITTED:
        return post_committed(s, effects, err);
    case SOTTO_AERO_POSTED_ADDED:
        return post_added(s, effects, err);
    default:
        return post_summed(s, effects, err);
    }
}

static sotto_status try_to_open(sotto_aero_aggregator *s, uint64_t now_ms, sotto_effects *effects,
                                sotto_err *err)
{
    const sotto_round *r = s->base.round;
    uint64_t step = (r->release_by - r->verify_by) / 12 + 1;

    if (now_ms < r->verify_by + step) {
        sotto_effects_wake(effects, r->verify_by + step);
        return SOTTO_OK;
    }
    if (now_ms >= r->release_by)
        return fail(s, effects,
                    sotto_aero_is_clear(s->base.view)
                        ? "the sum was not opened in time"
                        : "too few devices said that they found nothing wrong");
    sotto_effects_wake(effects, now_ms + step < r->release_by ? now_ms + step : r->release_by);
    return sotto_aero_server_late(s, effects, err);
}

static sotto_status tick(sotto_machine *machine, uint64_t now_ms, sotto_effects *effects,
                         sotto_err *err)
{
    sotto_aero_aggregator *s = (sotto_aero_aggregator *)machine;
    const sotto_round *r = s->base.round;
    uint64_t setup = r->commit_by - r->opens;
    const deadline all[] = {
        {r->opens + setup / 4, SOTTO_AERO_POSTED_SEALED},
        {r->opens + setup * 3 / 8, HANDED},
        {r->opens + setup / 2, TAKEN},
        {r->opens + (s->base.plan->old_members ? setup * 3 / 4 : setup / 2),
         SOTTO_AERO_POSTED_KEYED},
        {r->commit_by, SOTTO_AERO_POSTED_COMMITTED},
        {r->closes, SOTTO_AERO_POSTED_ADDED},
        {r->closes + (r->verify_by - r->closes) / 3, SOTTO_AERO_POSTED_SUMMED},
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (s->posted & (SOTTO_AERO_RELEASED | SOTTO_AERO_FAILED))
            return SOTTO_OK;
        if (now_ms < all[i].at) {
            sotto_effects_wake(effects, all[i].at);
            return SOTTO_OK;
        }
        SOTTO_TRY(meet(s, all[i].what, effects, err));
    }
    if (s->posted & (SOTTO_AERO_RELEASED | SOTTO_AERO_FAILED))
        return SOTTO_OK;
    return try_to_open(s, now_ms, effects, err);
}

static sotto_status result(const sotto_machine *machine, sotto_round_result *out, sotto_err *err)
{
    const sotto_aero_aggregator *s = (const sotto_aero_aggregator *)machine;

    SOTTO_TRY(sotto_machine_outcome(out, s->blamed, s->blamed_count,
                                    (s->posted & SOTTO_AERO_FAILED) != 0,
                                    (s->posted & SOTTO_AERO_RELEASED) != 0, err));
    out->contributions = s->counted_count;
    out->counted = s->counted;
    out->counted_count = s->counted_count;
    out->opening = sotto_bytes_of(s->sum, 8 * (size_t)s->base.round->length);
    return SOTTO_OK;
}

enum {
    ATTEMPTS = 1 + 8,
    SET = ATTEMPTS + SOTTO_AERO_MOST_COMMITTEES,
    MISSED = SET + SOTTO_AERO_MOST_COMMITTEE,
    HAND = MISSED + SOTTO_AERO_MOST_COMMITTEE,
    SAVED = HAND + 1
};

static sotto_status save(const sotto_machine *machine, sotto_buf *out, sotto_err *err)
{
    const sotto_aero_aggregator *s = (const sotto_aero_aggregator *)machine;
    uint8_t own[SAVED];

    own[0] = s->posted;
    sotto_store64(own + 1, s->before);
    memcpy(own + ATTEMPTS, s->attempts, sizeof s->attempts);
    memcpy(own + SET, s->set, sizeof s->set);
    memcpy(own + MISSED, s->missed, sizeof s->missed);
    own[HAND] = s->hand;
    return sotto_aero_save(&s->base, out, sotto_bytes_of(own, sizeof own), err);
}

static sotto_status take_again(sotto_aero_aggregator *s, const sotto_message *kept, sotto_err *err)
{
    sotto_message known;
    sotto_status verdict;

    switch (kept->kind) {
    case SOTTO_AERO_COMMIT:
        return sotto_aero_server_commit(s, kept, &verdict, err);
    case SOTTO_AERO_REVEAL:
        if (!(s->posted & SOTTO_AERO_POSTED_COMMITTED)) {
            s->posted |= SOTTO_AERO_POSTED_COMMITTED;
            SOTTO_TRY(sotto_aero_server_order(s, err));
        }
        return sotto_aero_server_reveal(s, kept, true, &verdict, err);
    case SOTTO_AERO_PART:
        return sotto_aero_server_part(s, kept, &verdict, err);
    case SOTTO_AERO_NOISES:
    case SOTTO_AERO_POINT:
        return sotto_aero_server_dealt(s, kept, &verdict, err);
    default:
        SOTTO_TRY(sotto_aero_read_again(&s->base, &known, kept, err));
        if (known.kind == SOTTO_AERO_TAKEN)
            sotto_aero_server_blame_dealers(s);
        return SOTTO_OK;
    }
}

/* What the flags say was posted is made again. */
static sotto_status build_again(sotto_aero_aggregator *s, uint8_t posted, sotto_err *err)
{
    if ((posted & SOTTO_AERO_POSTED_COMMITTED) && !(s->posted & SOTTO_AERO_POSTED_COMMITTED))
        SOTTO_TRY(sotto_aero_server_order(s, err));
    if (posted & SOTTO_AERO_POSTED_ADDED)
        SOTTO_TRY(sotto_aero_server_add(s, err));
    if (posted & SOTTO_AERO_POSTED_SUMMED)
        SOTTO_TRY(sotto_aero_server_sum(s, err));
    s->posted = posted;
    return SOTTO_OK;
}

static sotto_status restore(sotto_machine **out, const sotto_round *round, const sotto_self *self,
                            sotto_bytes saved, const sotto_message *kept, size_t count,
                            sotto_arena *arena, sotto_err *err)
{
    sotto_machine *machine = NULL;
    sotto_effects none;
    uint8_t own[SAVED];

    *out = NULL;
    SOTTO_TRY(join(&machine, round, self, arena, err));
    if (!machine)
        return sotto_aero_no_memory(err);
    sotto_aero_aggregator *s = (sotto_aero_aggregator *)machine;
    SOTTO_TRY(sotto_aero_saved(&s->base, saved, own, sizeof own, err));
    s->before = sotto_load64(own + 1);
    memcpy(s->attempts, own + ATTEMPTS, sizeof s->attempts);
    memcpy(s->set, own + SET, sizeof s->set);
    memcpy(s->missed, own + MISSED, sizeof s->missed);
    s->hand = own[HAND];
    for (size_t i = 0; i < count; i++)
        SOTTO_TRY(take_again(s, &kept[i], err));
    SOTTO_TRY(build_again(s, own[0], err));
    sotto_effects_init(&none, arena);
    if (s->posted & SOTTO_AERO_RELEASED)
        SOTTO_TRY(sotto_aero_server_open(s, &none, err));
    *out = machine;
    return SOTTO_OK;
}

static void leave(sotto_machine *machine)
{
    sotto_wipe(machine, sizeof(sotto_aero_aggregator));
}

const sotto_machine_ops sotto_aero_server = {
    .join = join,
    .offer = sotto_machine_offers_nothing,
    .check = sotto_aero_check,
    .deliver = deliver,
    .tick = tick,
    .result = result,
    .save = save,
    .restore = restore,
    .leave = leave,
};
