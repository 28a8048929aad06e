/* What a member looks at before it opens, and its part of the opening. */
#include "aggregate/aero/member.h"

#include "aggregate/shared/mask.h"
#include "base/rule.h"

#include <string.h>

/* ---- the sums ------------------------------------------------------------------------------------------ */

/* Every noise member has a leaf in its place: these are the first ones of the tree. So many may be empty, and no more: else noise was
 * dropped. */
static bool has_noise(const sotto_aero_committee_member *m, uint32_t group, sotto_reader *in,
                      sotto_aero_sum *nodes, uint32_t *there, bool *malformed)
{
    const sotto_aero_plan *plan = m->base.plan;
    const sotto_aero_posted *posted = &m->base.view->posted;
    const uint32_t count = plan->terms.noise_members;
    sotto_aero_sum_path path;
    bool in_place = true;

    *there = 0;
    for (uint32_t i = 0; i < count; i++) {
        sotto_aero_leaf leaf;

        sotto_aero_leaf_read(in, &leaf, malformed);
        sotto_aero_leaf_digest(nodes[i].hash, &leaf);
        in_place &= leaf.role == SOTTO_AERO_NOISE && leaf.index == plan->noise[i];
        *there += leaf.is_there;
    }
    sotto_aero_sum_path_read(in, &path, false, malformed);
    return count == 0 ||
           (in_place &&
            sotto_aero_sum_first_holds(&path, nodes, count, posted->leaves, &posted->added[group]));
}

/* The c1 of the sums is that of the tree: at both points, and by its digest, which was posted before the points were known. A member's part
 * is of c1 and of nothing else, so with any other c2 it opens the same sum of leaves or noise (decision 385). */
static bool is_total(const sotto_aero_committee_member *m, uint32_t group, sotto_bytes wire,
                     const uint8_t second[32], const sotto_aero_poly *c1)
{
    const sotto_aero_view *view = m->base.view;
    sotto_f64 v[SOTTO_AERO_HALF];
    uint8_t digest[32];
    bool equal = true;

    sotto_aero_total_digest(digest, wire, second);
    sotto_aero_half_of(v, c1, sotto_aero_group_size(m->base.plan, group), view->posted.points);
    for (unsigned i = 0; i < SOTTO_AERO_HALF; i++)
        equal &= v[i].v == view->posted.summed[group].v[i].v;
    return equal && memcmp(digest, view->totals[group], sizeof digest) == 0;
}

static bool judge_roots(const sotto_aero_committee_member *m, uint32_t group, uint32_t noise,
                        bool noise_posted, bool total)
{
    const sotto_aero_plan *plan = m->base.plan;
    const sotto_aero_view *view = m->base.view;
    const sotto_aero_terms *t = &plan->terms;

    if (SOTTO_RULE(aero_totals_added) && !total)
        return false;
    if (SOTTO_RULE(aero_noise_counted) &&
        (!noise_posted || noise + t->noise_missing < t->noise_members))
        return false;
    if (SOTTO_RULE(aero_leaves_counted) &&
        view->posted.summed[group].v[SOTTO_AERO_COUNT].v != view->present)
        return false;
    if (SOTTO_RULE(aero_cohort_least) &&
        (view->present < noise || view->present - noise < plan->round->least))
        return false;
    return true;
}

static sotto_status read_roots(sotto_aero_committee_member *m, const sotto_message *message,
                               sotto_status *verdict, sotto_arena *scratch, sotto_err *err)
{
    const sotto_aero_plan *plan = m->base.plan;
    sotto_reader in = sotto_reader_over(message->body);
    uint32_t group = (uint32_t)sotto_read_uint(&in, 1), noise = 0;
    const uint32_t leaves = m->base.view->posted.leaves;
    uint8_t second[32];
    bool malformed = false;

    *verdict = SOTTO_AGAIN;
    if (!m->base.view->is_summed)
        return SOTTO_OK;
    *verdict = SOTTO_REJECTED;
    if (group >= plan->groups || sotto_aero_committee_of_group(plan, group) != m->committee)
        return SOTTO_OK;
    sotto_aero_roots *roots = &m->roots[group];
    *verdict = SOTTO_STALE;
    if (roots->is_there)
        return SOTTO_OK;
    *verdict = SOTTO_REJECTED;
    sotto_read_fixed(&in, second, sizeof second);
    sotto_bytes wire = sotto_read_bytes(&in, sotto_aero_total_size(plan, group, leaves));
    sotto_aero_sum *nodes =
        sotto_arena_take_array(scratch, (size_t)plan->terms.noise_members + 1, sizeof *nodes);
    if (!nodes)
        return sotto_aero_no_memory(err);
    bool posted = has_noise(m, group, &in, nodes, &noise, &malformed);
    if (sotto_reader_finish(&in, "roots", NULL) != SOTTO_OK || malformed)
        return SOTTO_OK;
    roots->c1 = sotto_arena_take_array(m->base.arena, sotto_aero_group_size(plan, group),
                                       sizeof *roots->c1);
    if (!roots->c1)
        return sotto_aero_no_memory(err);
    if (sotto_aero_total_decode(roots->c1, plan, group, leaves, wire, NULL) != SOTTO_OK)
        return SOTTO_OK;
    roots->is_right =
        judge_roots(m, group, noise, posted, is_total(m, group, wire, second, roots->c1));
    roots->is_there = true;
    *verdict = SOTTO_OK;
    return SOTTO_OK;
}

sotto_status sotto_aero_member_roots(sotto_aero_committee_member *m, const sotto_message *message,
                                     sotto_status *verdict, sotto_err *err)
{
    sotto_arena scratch;

    sotto_arena_init(&scratch, SOTTO_AERO_SCRATCH);
    const sotto_status status = read_roots(m, message, verdict, &scratch, err);
    sotto_arena_clear(&scratch);
    return status;
}

/* ---- the opening ---------------------------------------------------------------------------------------- */

typedef struct opening {
    uint32_t members[SOTTO_AERO_MOST_COMMITTEE];
    uint8_t seeds[SOTTO_AERO_MOST_COMMITTEE][SOTTO_AERO_SEED];
    sotto_aero_weight weights[SOTTO_AERO_MOST_COMMITTEE];
    uint32_t count, own, attempt;
    sotto_noise smudge;
    sotto_aero_poly part, c1;
} opening;

/* Who opens: as many as the threshold, and all of them signed for these sums. SOTTO_AGAIN: somebody's verdict was not read yet. */
static sotto_status read_set(const sotto_aero_committee_member *m, opening *o, sotto_bytes body)
{
    const sotto_aero_plan *plan = m->base.plan;
    uint32_t voted[SOTTO_AERO_MOST_COMMITTEE];
    uint32_t votes = sotto_aero_verdicts(m->base.view, m->committee, voted);
    const uint32_t first = m->committee * plan->terms.committee;
    bool is_in = false, waits = false;

    if (body.len != 1 + (size_t)plan->terms.threshold)
        return SOTTO_REJECTED;
    o->attempt = body.data[0];
    o->count = plan->terms.threshold;
    for (uint32_t i = 0; i < o->count; i++) {
        o->members[i] = body.data[1 + i];
        if (o->members[i] >= plan->terms.committee || (i && o->members[i] <= o->members[i - 1]))
            return SOTTO_REJECTED;
        if (SOTTO_RULE(aero_openers_voted) &&
            sotto_aero_place_of(voted, votes, o->members[i]) < 0) {
            if (m->base.view->members[first + o->members[i]].has_verdict)
                return SOTTO_REJECTED;
            waits = true;
        }
        if (o->members[i] == m->place) {
            is_in = true;
            o->own = i;
        }
    }
    return !is_in ? SOTTO_REJECTED : waits ? SOTTO_AGAIN : SOTTO_OK;
}

static sotto_status pair_seeds(const sotto_aero_committee_member *m, opening *o, sotto_err *err)
{
    const sotto_aero_plan *plan = m->base.plan;
    uint8_t agreed[SOTTO_AERO_AGREED];

    for (uint32_t i = 0; i < o->count; i++) {
        uint32_t mine = m->base.self.index;
        uint32_t other = plan->committee[m->committee * plan->terms.committee + o->members[i]];

        if (i == o->own)
            continue;
        SOTTO_TRY(sotto_aero_pair_secret(agreed, m, other, false, err));
        sotto_status status = sotto_round_kdf(
            o->seeds[i], "sotto-aero-pair-2", sotto_bytes_of(agreed, sizeof agreed), plan->id,
            mine < other ? mine : other, mine < other ? other : mine, err);
        sotto_wipe(agreed, sizeof agreed);
        SOTTO_TRY(status);
    }
    return SOTTO_OK;
}

static sotto_status parts_of(sotto_aero_committee_member *m, opening *o, sotto_buf *out,
                             sotto_entropy *entropy, sotto_err *err)
{
    const sotto_aero_plan *plan = m->base.plan;
    const sotto_aero_place place = {o->members, o->count, o->own,
                                    (const uint8_t(*)[SOTTO_AERO_SEED])o->seeds};

    out->data[out->len++] = (uint8_t)o->attempt;
    for (uint32_t g = m->committee; g < plan->groups; g += plan->terms.committees)
        for (size_t i = 0; i < sotto_aero_group_size(plan, g); i++) {
            sotto_aero_total_reduce(&plan->aero, &o->c1, &m->roots[g].c1[i]);
            SOTTO_TRY(sotto_aero_partial(&plan->aero, &o->part, &m->share, o->weights[o->own],
                                         &place, &o->c1, &o->smudge, entropy, err));
            SOTTO_TRY(sotto_aero_poly_encode(&plan->aero, out, &o->part, err));
        }
    return SOTTO_OK;
}

/* Fresh noise for every attempt: members that are asked again with another set must not tell the same noise twice. */
static sotto_status answer(sotto_aero_committee_member *m, opening *o, sotto_arena *scratch,
                           sotto_effects *effects, sotto_err *err)
{
    const sotto_aero_plan *plan = m->base.plan;
    sotto_buf body = sotto_aero_buffer(scratch, 1 + sotto_aero_committee_opens(plan, m->committee) *
                                                        sotto_aero_poly_size(&plan->aero));
    sotto_aero_stream stream;

    if (!body.data)
        return sotto_aero_no_memory(err);
    SOTTO_TRY(sotto_noise_gaussian_wide(&o->smudge, plan->ledger.sigma, scratch, err));
    SOTTO_TRY(sotto_aero_weights_vartime(&plan->aero, o->weights, o->members, o->count, err));
    SOTTO_TRY(pair_seeds(m, o, err));
    sotto_status status =
        sotto_aero_stream_open(&stream, &m->base, SOTTO_AERO_FOR_SMUDGE, o->attempt, err);
    if (status == SOTTO_OK)
        status = parts_of(m, o, &body, &stream.entropy, err);
    sotto_aero_stream_close(&stream);
    SOTTO_TRY(status);
    return sotto_aero_send(effects, m->base.round, &m->base.self, SOTTO_TO_SERVER, SOTTO_AERO_PART,
                           sotto_buf_bytes(&body), err);
}

bool sotto_aero_member_may_open(const sotto_aero_committee_member *m, uint32_t attempt,
                                sotto_status *verdict)
{
    *verdict = SOTTO_AGAIN;
    if (!(m->done & SOTTO_AERO_HAS_JUDGED))
        return false;
    *verdict = SOTTO_REJECTED;
    /* A complaint may come after the verdict: who signed still opens nothing that it now knows to be wrong. */
    if (SOTTO_RULE(aero_opening_unrefuted) && m->base.view->is_refuted)
        return false;
    if (m->lacks)
        return false;
    if (SOTTO_RULE(aero_tries_limited) && attempt >= SOTTO_AERO_MOST_TRIES)
        return false;
    *verdict = SOTTO_STALE;
    if (SOTTO_RULE(aero_tries_ascend) && attempt < m->tries)
        return false;
    *verdict = SOTTO_OK;
    return true;
}

static sotto_status give_part(sotto_aero_committee_member *m, const sotto_message *message,
                              sotto_arena *scratch, sotto_status *verdict, sotto_effects *effects,
                              sotto_err *err)
{
    opening *o = sotto_arena_take(scratch, sizeof *o);

    if (!o)
        return sotto_aero_no_memory(err);
    *verdict = SOTTO_REJECTED;
    /* The noise is sized, and hints are counted, for one path. */
    if (SOTTO_RULE(aero_one_path) && m->base.plan->terms.opening != SOTTO_AERO_FAST)
        return SOTTO_OK;
    if (!sotto_aero_member_may_open(m, m->tries, verdict))
        return SOTTO_OK;
    *verdict = read_set(m, o, message->body);
    if (*verdict != SOTTO_OK || !sotto_aero_member_may_open(m, o->attempt, verdict))
        return SOTTO_OK;
    m->tries = (uint8_t)(o->attempt + 1);
    SOTTO_TRY(sotto_aero_vow(&m->base, effects, SOTTO_AERO_PART, o->attempt, message->body, err));
    return answer(m, o, scratch, effects, err);
}

sotto_status sotto_aero_member_part(sotto_aero_committee_member *m, const sotto_message *message,
                                    sotto_status *verdict, sotto_effects *effects, sotto_err *err)
{
    sotto_arena scratch;

    sotto_arena_init(&scratch, SOTTO_AERO_SCRATCH);
    sotto_status status = give_part(m, message, &scratch, verdict, effects, err);
    sotto_arena_clear(&scratch);
    return status;
}
