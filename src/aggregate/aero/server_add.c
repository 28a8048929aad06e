/* Promises, what was promised, and the trees over both (Liu and Gupta 2023, Figure 4, lines 2, 3 and 5 to 7). */
#include "aggregate/aero/proof_known.h"
#include "aggregate/aero/server.h"

#include "base/rule.h"
#include "crypto/hash.h"

#include <stdlib.h>
#include <string.h>

/* NULL: nobody in this role. */
static sotto_aero_entrant *find(sotto_aero_aggregator *s, uint8_t role, uint32_t index)
{
    int place = -1;

    if (role == SOTTO_AERO_NOISE)
        place = sotto_aero_noise_place(s->base.plan, index);
    else if (role == SOTTO_AERO_CONTRIBUTOR)
        place = (int)s->place[index] - 1;
    return place < 0 ? NULL : &s->entrants[place];
}

static sotto_status new_contributor(sotto_aero_aggregator *s, sotto_aero_entrant **out,
                                    uint32_t index, sotto_err *err)
{
    *out = NULL;
    if (s->count == s->most || !s->entrants)
        return SOTTO_OK;
    sotto_aero_entrant *e = &s->entrants[s->count];
    e->groups = sotto_arena_take_array(s->base.arena, s->base.plan->groups, sizeof *e->groups);
    if (!e->groups)
        return sotto_aero_no_memory(err);
    s->place[index] = ++s->count;
    *out = e;
    return SOTTO_OK;
}

sotto_status sotto_aero_server_commit(sotto_aero_aggregator *s, const sotto_message *message,
                                      sotto_status *verdict, sotto_err *err)
{
    const uint8_t role = message->body.len == 33 ? message->body.data[0] : 0;

    *verdict = SOTTO_REJECTED;
    if (message->body.len != 33 || !sotto_aero_may(s->base.plan, role, message->from))
        return SOTTO_OK;
    *verdict = SOTTO_STALE;
    if (s->posted & SOTTO_AERO_POSTED_COMMITTED)
        return SOTTO_OK;
    sotto_aero_entrant *e = find(s, role, message->from);
    if (!e && role == SOTTO_AERO_CONTRIBUTOR)
        SOTTO_TRY(new_contributor(s, &e, message->from, err));
    if (!e || e->promise.is_there)
        return SOTTO_OK; /* the first counts */
    e->promise = (sotto_aero_promise){.role = role, .index = message->from, .is_there = true};
    memcpy(e->promise.promise, message->body.data + 1, 32);
    memcpy(e->promise.signature, message->signature.data, SOTTO_SIGNATURE);
    *verdict = SOTTO_OK;
    return SOTTO_OK;
}

/* ---- what was promised ------------------------------------------------------------------------------------ */

typedef struct revelation {
    uint8_t role;
    uint32_t group;
    sotto_aero_sealed of;
    sotto_aero_revealed what;
} revelation;

static bool read_reveal(const sotto_aero_plan *plan, revelation *r, sotto_bytes body)
{
    sotto_reader in = sotto_reader_over(body);

    memset(r, 0, sizeof *r);
    r->role = (uint8_t)sotto_read_uint(&in, 1);
    r->group = (uint32_t)sotto_read_uint(&in, 1);
    sotto_read_fixed(&in, r->what.nonce, 32);
    sotto_read_fixed(&in, r->of.sealed, (size_t)32 * plan->groups);
    sotto_read_fixed(&in, r->of.proofs, (size_t)32 * plan->groups);
    r->what.ciphers = sotto_read_opaque32(&in);
    r->what.proof = sotto_read_opaque32(&in);
    return sotto_reader_finish(&in, "reveal", NULL) == SOTTO_OK && r->group < plan->groups;
}

/* The same questions that a verifier asks later: whoever fails them has an empty leaf. */
static sotto_status is_as_promised(bool *right, sotto_aero_aggregator *s,
                                   const sotto_aero_entrant *e, const revelation *r,
                                   sotto_arena *scratch, sotto_err *err)
{
    const sotto_aero_plan *plan = s->base.plan;
    uint8_t sealed[32], proof[32], promise[32], commitment[32];
    sotto_aero_cipher *ciphers;

    *right = false;
    sotto_aero_seal_group(sealed, plan, r->role, e->promise.index, r->group, r->what.nonce,
                          r->what.ciphers);
    sotto_hash_once(proof, SOTTO_SHA256, r->what.proof);
    sotto_aero_promise_of(promise, plan, &r->of);
    sotto_aero_commitment_of(commitment, plan, &r->of);
    if (memcmp(promise, e->promise.promise, 32) != 0 ||
        memcmp(sealed, r->of.sealed[r->group], 32) != 0 ||
        memcmp(proof, r->of.proofs[r->group], 32) != 0)
        return SOTTO_OK;
    sotto_status status =
        sotto_aero_group_decode(&ciphers, plan, r->group, r->what.ciphers, scratch, NULL);
    if (status == SOTTO_OK) {
        const sotto_aero_statement of = sotto_aero_statement_of(
            plan, &s->base.view->b[sotto_aero_committee_of_group(plan, r->group)], r->role,
            e->promise.index, r->group, commitment, ciphers);
        status =
            sotto_aero_verify_known(sotto_aero_known_of(plan), &of, r->what.proof, scratch, NULL);
    }
    *right = status == SOTTO_OK;
    return status == SOTTO_NO_MEMORY ? sotto_aero_no_memory(err) : SOTTO_OK;
}

void sotto_aero_server_blame(sotto_aero_aggregator *s, uint32_t index)
{
    if (sotto_aero_place_of(s->blamed, s->blamed_count, index) < 0 &&
        s->blamed_count < s->base.round->registered)
        s->blamed[s->blamed_count++] = index;
}

sotto_status sotto_aero_server_reveal(sotto_aero_aggregator *s, const sotto_message *message,
                                      bool is_checked, sotto_status *verdict, sotto_err *err)
{
    sotto_arena scratch;
    revelation r;
    bool right = true;

    *verdict = SOTTO_REJECTED;
    if (!read_reveal(s->base.plan, &r, message->body))
        return SOTTO_OK;
    *verdict = s->posted & SOTTO_AERO_POSTED_COMMITTED ? SOTTO_STALE : SOTTO_AGAIN;
    if (*verdict == SOTTO_AGAIN || (s->posted & SOTTO_AERO_POSTED_ADDED))
        return SOTTO_OK;
    sotto_aero_entrant *e = find(s, r.role, message->from);
    if (!e || !e->promise.is_there || e->groups[r.group].is_there)
        return SOTTO_OK;
    sotto_arena_init(&scratch, SOTTO_AERO_SCRATCH);
    sotto_status status = is_checked ? SOTTO_OK : is_as_promised(&right, s, e, &r, &scratch, err);
    sotto_arena_clear(&scratch);
    SOTTO_TRY(status);
    *verdict = right ? SOTTO_OK : SOTTO_REJECTED;
    if (!right) {
        sotto_aero_server_blame(s, message->from);
        return SOTTO_OK;
    }
    /* What was kept outlives the machine: of megabytes for each device there is no second copy. */
    if (!is_checked) {
        SOTTO_TRY(sotto_aero_copied(&r.what.ciphers, r.what.ciphers, s->base.arena, err));
        SOTTO_TRY(sotto_aero_copied(&r.what.proof, r.what.proof, s->base.arena, err));
    }
    r.what.is_there = true;
    e->of = r.of;
    e->groups[r.group] = r.what;
    return SOTTO_OK;
}

/* ---- trees ------------------------------------------------------------------------------------------------ */

static int by_index(const void *a, const void *b)
{
    const sotto_aero_entrant *x = a, *y = b;

    return x->promise.index < y->promise.index ? -1 : x->promise.index > y->promise.index;
}

sotto_status sotto_aero_server_order(sotto_aero_aggregator *s, sotto_err *err)
{
    uint32_t noise = s->base.plan->terms.noise_members;
    sotto_aero_sum *at = sotto_arena_take_array(s->base.arena, s->count, sizeof *at);

    if (!at)
        return sotto_aero_no_memory(err);
    qsort(s->entrants + noise, s->count - noise, sizeof *s->entrants, by_index);
    for (uint32_t i = noise; i < s->count; i++)
        s->place[s->entrants[i].promise.index] = i + 1;
    for (uint32_t i = 0; i < s->count; i++)
        sotto_aero_promise_digest(at[i].hash, &s->entrants[i].promise);
    return sotto_aero_sum_build(&s->promises, at, s->count, false, s->base.arena, err);
}

static bool is_whole(const sotto_aero_aggregator *s, const sotto_aero_entrant *e)
{
    bool whole = true;

    for (uint32_t g = 0; g < s->base.plan->groups; g++)
        whole &= e->groups[g].is_there;
    return whole;
}

void sotto_aero_leaf_of(const sotto_aero_aggregator *s, sotto_aero_leaf *leaf, uint32_t group,
                        uint32_t position)
{
    const sotto_aero_entrant *e = &s->entrants[position];

    memset(leaf, 0, sizeof *leaf);
    leaf->role = e->promise.role;
    leaf->index = e->promise.index;
    leaf->is_there = is_whole(s, e);
    if (!leaf->is_there)
        return;
    memcpy(leaf->sealed, e->of.sealed[group], 32);
    memcpy(leaf->proof, e->of.proofs[group], 32);
}

static sotto_status total_up(sotto_aero_aggregator *s, uint32_t group, sotto_aero_sum *nodes,
                             const sotto_f64 *points, sotto_err *err)
{
    const sotto_aero_plan *plan = s->base.plan;
    size_t count = sotto_aero_group_size(plan, group);
    sotto_status status = SOTTO_OK;
    sotto_arena scratch;

    sotto_arena_init(&scratch, SOTTO_AERO_SCRATCH);
    for (uint32_t i = 0; i < s->count && status == SOTTO_OK; i++) {
        sotto_aero_cipher *c;

        if (!is_whole(s, &s->entrants[i]))
            continue;
        sotto_arena_reset(&scratch);
        status = sotto_aero_group_decode(&c, plan, group, s->entrants[i].groups[group].ciphers,
                                         &scratch, err);
        if (status == SOTTO_OK && points) {
            sotto_aero_value_of(nodes[i].v, c, count, points);
            nodes[i].v[SOTTO_AERO_COUNT] = sotto_f64_one();
        }
        for (size_t k = 0; k < count && status == SOTTO_OK && !points; k++)
            sotto_aero_total_add(&s->totals[group][k], &c[k]);
    }
    sotto_arena_clear(&scratch);
    return status;
}

static sotto_status grow(sotto_aero_aggregator *s, uint32_t group, const sotto_f64 *points,
                         sotto_err *err)
{
    sotto_aero_sum *at = sotto_arena_take_array(s->base.arena, s->count, sizeof *at);
    sotto_aero_leaf leaf;

    if (!at)
        return sotto_aero_no_memory(err);
    for (uint32_t i = 0; i < s->count; i++) {
        sotto_aero_leaf_of(s, &leaf, group, i);
        sotto_aero_leaf_digest(at[i].hash, &leaf);
    }
    SOTTO_TRY(total_up(s, group, at, points, err));
    return sotto_aero_sum_build(points ? &s->sums[group] : &s->leaves[group], at, s->count,
                                points != NULL, s->base.arena, err);
}

sotto_status sotto_aero_server_add(sotto_aero_aggregator *s, sotto_err *err)
{
    const sotto_aero_plan *plan = s->base.plan;

    s->present = s->noise = s->counted_count = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        bool whole = is_whole(s, &s->entrants[i]), is_noise = i < plan->terms.noise_members;

        s->present += whole;
        s->noise += whole && is_noise;
        if (whole && !is_noise)
            s->counted[s->counted_count++] = s->entrants[i].promise.index;
    }
    for (uint32_t g = 0; g < plan->groups; g++) {
        s->totals[g] = sotto_arena_take_array(s->base.arena, sotto_aero_group_size(plan, g),
                                              sizeof *s->totals[g]);
        if (!s->totals[g])
            return sotto_aero_no_memory(err);
        SOTTO_TRY(grow(s, g, NULL, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_aero_server_sum(sotto_aero_aggregator *s, sotto_err *err)
{
    sotto_f64 points[SOTTO_AERO_POINTS];

    sotto_aero_draw_points(s->base.view, s->before, points);
    for (uint32_t g = 0; g < s->base.plan->groups; g++)
        SOTTO_TRY(grow(s, g, points, err));
    return SOTTO_OK;
}
