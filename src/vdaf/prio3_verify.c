/* The aggregators (draft-irtf-cfrg-vdaf-20, section 7.2.2): expand, query, decide, for batches of reports.
 *
 * A batch is worked on four reports at a time, since four XOFs in lockstep cost little more than one. Two such groups are
 * queried together. A report that is refused gives its lane to the next; nothing of it reaches the others.
 */
#include "vdaf/flp.h"
#include "vdaf/prio3_xof.h"

#include "base/declassify.h"

#include <string.h>

enum { SEED = SOTTO_PRIO3_SEED_SIZE };

/* Up to four reports in lockstep, and what they work with; reused for group after group. */
typedef struct group {
    const sotto_prio3 *vdaf;
    const sotto_circuit *c;
    const sotto_prio3_verifier *verifier;
    unsigned lanes;
    sotto_prio3_verification *out[SOTTO_LANES];
    uint8_t nonce[SOTTO_LANES][SOTTO_PRIO3_NONCE_SIZE];
    const uint8_t *public_share[SOTTO_LANES];
    const uint8_t *seed[SOTTO_LANES];     /* a helper's shares come from it       */
    uint8_t *expanded_meas[SOTTO_LANES];  /* and go here, to outlive the call     */
    uint8_t *verifier_share[SOTTO_LANES]; /* likewise                             */
    const uint8_t *blind[SOTTO_LANES];
    const uint8_t *proofs[SOTTO_LANES];
    uint8_t *expanded_proofs[SOTTO_LANES];
    uint8_t *parts[SOTTO_LANES];
    uint8_t *joint_rand[SOTTO_LANES];
    uint8_t *query_rand[SOTTO_LANES];
} group;

/* Groups that are queried together. */
enum { GROUPS = SOTTO_FLP_QUERIES / SOTTO_LANES };

_Static_assert(GROUPS == 2, "sotto_prio3_verify_init makes two");

typedef struct groups {
    group each[GROUPS];
    unsigned count; /* how many of them are used */
    void *query_scratch;
} groups;

static void refuse(sotto_prio3_verification *out, sotto_status status, const char *reason)
{
    out->status = status;
    out->reason = reason;
}

static sotto_prio3_xof group_xof(const group *g, sotto_prio3_usage usage)
{
    return (sotto_prio3_xof){
        .circuit = g->c, .usage = usage, .context = g->verifier->context, .lanes = g->lanes};
}

static void bind_byte(sotto_prio3_xof *x, unsigned byte)
{
    for (unsigned l = 0; l < x->lanes; l++)
        x->binder[l][x->binder_len] = (uint8_t)byte;
    x->binder_len++;
}

static void bind_nonces(sotto_prio3_xof *x, const group *g)
{
    for (unsigned l = 0; l < x->lanes; l++)
        memcpy(x->binder[l] + x->binder_len, g->nonce[l], SOTTO_PRIO3_NONCE_SIZE);
    x->binder_len += SOTTO_PRIO3_NONCE_SIZE;
}

/* ---- expanding ----------------------------------------------------------------------------------- */

/* How to compute the part that stands for this aggregator's share. It takes the place of what the client says it is: else a client
 * could choose the joint randomness. It ends in the verifier share. */
static sotto_prio3_xof own_parts(group *g, uint8_t *own[SOTTO_LANES])
{
    unsigned me = g->verifier->aggregator;
    sotto_prio3_xof x = group_xof(g, SOTTO_USAGE_JOINT_RAND_PART);

    bind_byte(&x, me);
    bind_nonces(&x, g);
    x.body_len = sotto_circuit_bytes(g->c, g->c->meas_len);
    for (unsigned l = 0; l < g->lanes; l++) {
        x.seeds[l] = g->blind[l];
        x.bodies[l] = g->out[l]->measurement_share;
        memcpy(g->parts[l], g->public_share[l], g->vdaf->sizes.public_share);
        own[l] = g->parts[l] + (size_t)me * SEED;
    }
    return x;
}

static void derive_own_parts(group *g)
{
    uint8_t *own[SOTTO_LANES];
    sotto_prio3_xof x = own_parts(g, own);

    sotto_prio3_derive_seed(&x, own);
}

/* With its own parts, where there are any. */
static void expand_helper_shares(group *g)
{
    const sotto_circuit *c = g->c;
    sotto_prio3_xof x = group_xof(g, SOTTO_USAGE_MEAS_SHARE);

    for (unsigned l = 0; l < g->lanes; l++)
        x.seeds[l] = g->seed[l];
    bind_byte(&x, g->verifier->aggregator);
    if (c->joint_rand_len) {
        uint8_t *own[SOTTO_LANES];
        sotto_prio3_xof parts = own_parts(g, own);

        sotto_prio3_expand_and_hash(&x, g->expanded_meas, c->meas_len, &parts, own);
    } else {
        sotto_prio3_expand(&x, g->expanded_meas, c->meas_len);
    }

    x.usage = SOTTO_USAGE_PROOF_SHARE;
    x.binder_len = 0;
    bind_byte(&x, c->proofs);
    bind_byte(&x, g->verifier->aggregator);
    sotto_prio3_expand(&x, g->expanded_proofs, c->proof_len * c->proofs);
    for (unsigned l = 0; l < g->lanes; l++)
        g->proofs[l] = g->expanded_proofs[l];
}

static void derive_joint_rand(group *g)
{
    static const uint8_t zeros[SEED];
    uint8_t *seeds[SOTTO_LANES];
    sotto_prio3_xof x = group_xof(g, SOTTO_USAGE_JOINT_RAND_SEED);

    x.body_len = g->vdaf->sizes.public_share;
    for (unsigned l = 0; l < g->lanes; l++) {
        x.seeds[l] = zeros;
        x.bodies[l] = g->parts[l];
        seeds[l] = g->out[l]->joint_rand_seed;
    }
    sotto_prio3_derive_seed(&x, seeds);

    x = group_xof(g, SOTTO_USAGE_JOINT_RANDOMNESS);
    bind_byte(&x, g->c->proofs);
    for (unsigned l = 0; l < g->lanes; l++)
        x.seeds[l] = seeds[l];
    sotto_prio3_expand(&x, g->joint_rand, g->c->joint_rand_len * g->c->proofs);
}

static void derive_query_rand(group *g)
{
    sotto_prio3_xof x = group_xof(g, SOTTO_USAGE_QUERY_RANDOMNESS);

    bind_byte(&x, g->c->proofs);
    bind_nonces(&x, g);
    for (unsigned l = 0; l < g->lanes; l++)
        x.seeds[l] = g->verifier->verify_key;
    sotto_prio3_expand(&x, g->query_rand, g->c->query_rand_len * g->c->proofs);
}

/* ---- querying ------------------------------------------------------------------------------------ */

static sotto_flp_query query_of(const group *g, unsigned lane, unsigned proof)
{
    const sotto_circuit *c = g->c;

    return (sotto_flp_query){
        .verifier = g->verifier_share[lane] + sotto_circuit_bytes(c, proof * c->verifier_len),
        .meas = g->out[lane]->measurement_share,
        .proof = g->proofs[lane] + sotto_circuit_bytes(c, proof * c->proof_len),
        .query_rand = g->query_rand[lane] + sotto_circuit_bytes(c, proof * c->query_rand_len),
        .joint_rand = g->joint_rand[lane] + sotto_circuit_bytes(c, proof * c->joint_rand_len),
    };
}

/* Ends the verifier share with this aggregator's own part, or takes it back. */
static void end_lane(const group *g, unsigned lane, bool usable)
{
    sotto_prio3_verification *out = g->out[lane];
    uint8_t *verifiers = g->verifier_share[lane];

    SOTTO_DECLASSIFY(&usable, sizeof usable);
    if (!usable) {
        refuse(out, SOTTO_REJECTED, "query randomness: the test point is a root of unity");
        sotto_wipe(verifiers, g->vdaf->sizes.verifier_share);
        out->verifier_share = sotto_bytes_of(NULL, 0);
        return;
    }
    if (g->c->joint_rand_len)
        memcpy(verifiers + g->vdaf->sizes.verifier_share - SEED,
               g->parts[lane] + (size_t)g->verifier->aggregator * SEED, SEED);
}

static void query_groups(const groups *all)
{
    const sotto_circuit *c = all->each[0].c;
    sotto_flp_query queries[SOTTO_FLP_QUERIES];
    bool usable[SOTTO_FLP_QUERIES];
    size_t count = 0;

    for (unsigned proof = 0; proof < c->proofs; proof++) {
        count = 0;
        for (unsigned i = 0; i < all->count; i++)
            for (unsigned l = 0; l < all->each[i].lanes; l++)
                queries[count++] = query_of(&all->each[i], l, proof);
        sotto_flp_checks_of(c)->queries(c, queries, count, all->query_scratch);
        for (size_t i = 0; i < count; i++)
            usable[i] = (proof == 0 || usable[i]) & queries[i].usable;
    }
    count = 0;
    for (unsigned i = 0; i < all->count; i++)
        for (unsigned l = 0; l < all->each[i].lanes; l++)
            end_lane(&all->each[i], l, usable[count++]);
}

static void derive_group(group *g)
{
    if (g->lanes == 0)
        return;
    if (g->verifier->aggregator)
        expand_helper_shares(g);
    else if (g->c->joint_rand_len)
        derive_own_parts(g);
    if (g->c->joint_rand_len)
        derive_joint_rand(g);
    derive_query_rand(g);
}

static void verify_groups(groups *all)
{
    for (unsigned i = 0; i < all->count; i++)
        derive_group(&all->each[i]);
    query_groups(all);
    for (unsigned i = 0; i < all->count; i++)
        all->each[i].lanes = 0;
}

/* ---- admitting reports to the group --------------------------------------------------------------- */

static void check_report(const sotto_prio3 *vdaf, unsigned aggregator,
                         const sotto_prio3_report *report, sotto_prio3_verification *out)
{
    const sotto_circuit *c = vdaf->circuit;
    size_t wanted = aggregator ? vdaf->sizes.helper_share : vdaf->sizes.leader_share;

    *out = (sotto_prio3_verification){.status = SOTTO_AGAIN, .circuit = c};
    if (report->public_share.len != vdaf->sizes.public_share)
        refuse(out, SOTTO_MALFORMED, "public share: wrong length");
    else if (report->input_share.len != wanted)
        refuse(out, SOTTO_MALFORMED, "input share: wrong length");
    else if (aggregator == 0) {
        uint64_t valid =
            c->flp->canonical(report->input_share.data, c->meas_len + c->proof_len * c->proofs);
        SOTTO_DECLASSIFY(&valid, sizeof valid);
        if (!valid)
            refuse(out, SOTTO_MALFORMED, "input share: an element is not below the modulus");
    }
}

/* The memory that outlives the call. */
static sotto_status make_room(const sotto_prio3 *vdaf, unsigned aggregator,
                              const sotto_prio3_report *report, sotto_prio3_verification *out,
                              sotto_arena *arena)
{
    const sotto_circuit *c = vdaf->circuit;
    const uint8_t *verifier_share = sotto_arena_take(arena, vdaf->sizes.verifier_share);

    out->measurement_share = aggregator
                                 ? sotto_arena_take(arena, sotto_circuit_bytes(c, c->meas_len))
                                 : report->input_share.data;
    if (!verifier_share || !out->measurement_share)
        return SOTTO_NO_MEMORY;
    out->verifier_share = sotto_bytes_of(verifier_share, vdaf->sizes.verifier_share);
    return SOTTO_OK;
}

/* Gives the report a lane. make_room took this memory for us; the struct shows it as const to callers. */
static void admit(group *g, const sotto_prio3_report *report, sotto_prio3_verification *out)
{
    const sotto_circuit *c = g->c;
    const uint8_t *share = report->input_share.data;
    size_t meas_bytes = sotto_circuit_bytes(c, c->meas_len);
    unsigned l = g->lanes;

    g->verifier_share[l] = (uint8_t *)(uintptr_t)out->verifier_share.data;
    if (g->verifier->aggregator) {
        g->expanded_meas[l] = (uint8_t *)(uintptr_t)out->measurement_share;
        g->seed[l] = share;
        g->blind[l] = share + SEED;
    } else {
        g->proofs[l] = share + meas_bytes;
        g->blind[l] = g->proofs[l] + sotto_circuit_bytes(c, c->proof_len * c->proofs);
    }
    memcpy(g->nonce[l], report->nonce, sizeof g->nonce[l]);
    g->public_share[l] = report->public_share.data;
    g->out[l] = out;
    g->lanes++;
}

/* Working memory for as many lanes as the batch can fill. */
static sotto_status lay_out(group *g, size_t count, sotto_arena *arena)
{
    const sotto_circuit *c = g->c;
    unsigned lanes = count < SOTTO_LANES ? (unsigned)count : SOTTO_LANES;
    bool complete = true;

    for (unsigned l = 0; l < lanes; l++) {
        g->parts[l] = sotto_arena_take(arena, g->vdaf->sizes.public_share);
        g->joint_rand[l] =
            sotto_arena_take(arena, sotto_circuit_bytes(c, c->joint_rand_len * c->proofs));
        g->query_rand[l] =
            sotto_arena_take(arena, sotto_circuit_bytes(c, c->query_rand_len * c->proofs));
        complete = complete && g->parts[l] && g->joint_rand[l] && g->query_rand[l];
        if (g->verifier->aggregator) {
            g->expanded_proofs[l] =
                sotto_arena_take(arena, sotto_circuit_bytes(c, c->proof_len * c->proofs));
            complete = complete && g->expanded_proofs[l];
        }
    }
    return complete ? SOTTO_OK : SOTTO_NO_MEMORY;
}

static sotto_status lay_out_all(groups *all, size_t count, sotto_arena *arena)
{
    const sotto_circuit *c = all->each[0].c;

    all->query_scratch = sotto_arena_take(arena, sotto_flp_checks_of(c)->query_scratch(c));
    if (!all->query_scratch)
        return SOTTO_NO_MEMORY;
    all->count = (unsigned)(sotto_flp_checks_of(c)->at_once(c) / SOTTO_LANES);
    for (size_t i = 0; i < all->count && i * SOTTO_LANES < count; i++)
        SOTTO_TRY(lay_out(&all->each[i], count - i * SOTTO_LANES, arena));
    return SOTTO_OK;
}

/* Those that are sound so far; working memory is not kept. */
static sotto_status verify_admitted(groups *all, sotto_prio3_verification *out,
                                    const sotto_prio3_report *reports, size_t count,
                                    sotto_arena *arena)
{
    sotto_arena_mark mark = sotto_arena_here(arena);

    SOTTO_TRY(lay_out_all(all, count, arena));
    for (size_t i = 0; i < count; i++) {
        unsigned at = 0;

        if (out[i].status != SOTTO_AGAIN)
            continue;
        while (all->each[at].lanes == SOTTO_LANES)
            at++;
        admit(&all->each[at], &reports[i], &out[i]);
        if (all->each[all->count - 1].lanes == SOTTO_LANES)
            verify_groups(all);
    }
    verify_groups(all);
    sotto_arena_rollback(arena, mark);
    return SOTTO_OK;
}

static sotto_status verify_all(groups *all, sotto_prio3_verification *out,
                               const sotto_prio3_report *reports, size_t count, sotto_arena *arena)
{
    const sotto_prio3 *vdaf = all->each[0].vdaf;
    unsigned aggregator = all->each[0].verifier->aggregator;

    for (size_t i = 0; i < count; i++) {
        check_report(vdaf, aggregator, &reports[i], &out[i]);
        if (out[i].status == SOTTO_AGAIN)
            SOTTO_TRY(make_room(vdaf, aggregator, &reports[i], &out[i], arena));
    }
    return verify_admitted(all, out, reports, count, arena);
}

/* Whatever stops a batch stops all of it: no state of an earlier one may be taken for this one's. */
static sotto_status refuse_all(sotto_prio3_verification *out, size_t count, sotto_status status)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = (sotto_prio3_verification){0};
        refuse(&out[i], status, "the batch could not be worked on");
    }
    return status;
}

static sotto_status check_verifier(const sotto_prio3 *vdaf, const sotto_prio3_verifier *verifier,
                                   sotto_err *err)
{
    if (verifier->aggregator >= vdaf->circuit->shares)
        return sotto_fail(err, SOTTO_BUG, "aggregator: %u of %u", verifier->aggregator,
                          vdaf->circuit->shares);
    return sotto_prio3_check_context(verifier->context, err);
}

sotto_status sotto_prio3_verify_init(const sotto_prio3 *vdaf, sotto_prio3_verification *out,
                                     const sotto_prio3_verifier *verifier,
                                     const sotto_prio3_report *reports, size_t count,
                                     sotto_arena *arena, sotto_err *err)
{
    group g = {.vdaf = vdaf, .c = vdaf->circuit, .verifier = verifier};
    groups all = {.each = {g, g}};
    sotto_arena_mark mark = sotto_arena_here(arena);
    sotto_status status = check_verifier(vdaf, verifier, err);

    if (status != SOTTO_OK)
        return refuse_all(out, count, status);
    if (count == 0 || verify_all(&all, out, reports, count, arena) == SOTTO_OK)
        return SOTTO_OK;
    sotto_arena_rollback(arena, mark);
    (void)refuse_all(out, count, SOTTO_NO_MEMORY);
    return sotto_fail(err, SOTTO_NO_MEMORY,
                      "verify_init: the arena's ceiling is too low for %zu reports", count);
}

/* ---- deciding ------------------------------------------------------------------------------------- */

static void decide_report(const sotto_prio3 *vdaf, sotto_prio3_verdict *out,
                          const sotto_bytes *shares)
{
    const sotto_circuit *c = vdaf->circuit;
    const uint8_t *verifiers[255];
    bool holds = true;

    *out = (sotto_prio3_verdict){.status = SOTTO_MALFORMED};
    for (unsigned s = 0; s < c->shares; s++) {
        if (shares[s].len != vdaf->sizes.verifier_share) {
            out->reason = "verifier share: wrong length";
            return;
        }
        verifiers[s] = shares[s].data;
        uint64_t valid = c->flp->canonical(verifiers[s], c->verifier_len * c->proofs);
        SOTTO_DECLASSIFY(&valid, sizeof valid);
        if (!valid) {
            out->reason = "verifier share: an element is not below the modulus";
            return;
        }
    }
    for (unsigned i = 0; i < c->proofs; i++)
        holds &= sotto_flp_checks_of(c)->decide(c, verifiers,
                                                sotto_circuit_bytes(c, i * c->verifier_len));
    SOTTO_DECLASSIFY(&holds, sizeof holds);
    out->status = holds ? SOTTO_OK : SOTTO_REJECTED;
    out->reason = holds ? NULL : "the proof does not hold";
}

/* The joint randomness seed that the aggregators' own parts give, for up to four accepted reports. */
typedef struct message_group {
    unsigned lanes;
    sotto_prio3_verdict *out[SOTTO_LANES];
    uint8_t *parts[SOTTO_LANES];
} message_group;

static void derive_messages(const sotto_prio3 *vdaf, sotto_bytes context, message_group *g)
{
    static const uint8_t zeros[SEED];
    uint8_t *messages[SOTTO_LANES];
    sotto_prio3_xof x = {.circuit = vdaf->circuit,
                         .usage = SOTTO_USAGE_JOINT_RAND_SEED,
                         .context = context,
                         .lanes = g->lanes,
                         .body_len = vdaf->sizes.public_share};

    if (g->lanes == 0)
        return;
    for (unsigned l = 0; l < g->lanes; l++) {
        x.seeds[l] = zeros;
        x.bodies[l] = g->parts[l];
        messages[l] = g->out[l]->message;
    }
    sotto_prio3_derive_seed(&x, messages);
    g->lanes = 0;
}

static void decide_all(const sotto_prio3 *vdaf, sotto_prio3_verdict *out, sotto_bytes context,
                       const sotto_bytes *verifier_shares, size_t count, message_group *g)
{
    const sotto_circuit *c = vdaf->circuit;
    size_t elements = sotto_circuit_bytes(c, c->verifier_len * c->proofs);

    for (size_t i = 0; i < count; i++) {
        const sotto_bytes *shares = verifier_shares + i * c->shares;

        decide_report(vdaf, &out[i], shares);
        if (out[i].status != SOTTO_OK || !c->joint_rand_len)
            continue;
        for (unsigned s = 0; s < c->shares; s++)
            memcpy(g->parts[g->lanes] + (size_t)s * SEED, shares[s].data + elements, SEED);
        g->out[g->lanes++] = &out[i];
        if (g->lanes == SOTTO_LANES)
            derive_messages(vdaf, context, g);
    }
    derive_messages(vdaf, context, g);
}

sotto_status sotto_prio3_verifier_shares_to_message(const sotto_prio3 *vdaf,
                                                    sotto_prio3_verdict *out, sotto_bytes context,
                                                    const sotto_bytes *verifier_shares,
                                                    size_t count, sotto_arena *scratch,
                                                    sotto_err *err)
{
    message_group g = {0};
    sotto_arena_mark mark = sotto_arena_here(scratch);
    sotto_status status = sotto_prio3_check_context(context, err);

    for (unsigned l = 0; l < SOTTO_LANES && status == SOTTO_OK; l++)
        if (!(g.parts[l] = sotto_arena_take(scratch, vdaf->sizes.public_share)))
            status = sotto_fail(err, SOTTO_NO_MEMORY, "verifier message: no memory");
    if (status == SOTTO_OK)
        decide_all(vdaf, out, context, verifier_shares, count, &g);
    for (size_t i = 0; i < count && status != SOTTO_OK; i++)
        out[i] =
            (sotto_prio3_verdict){.status = status, .reason = "the batch could not be worked on"};
    sotto_arena_rollback(scratch, mark);
    return status;
}

static void finish_report(const sotto_prio3 *vdaf, sotto_prio3_verification *state,
                          sotto_bytes message)
{
    sotto_bytes own = sotto_bytes_of(state->joint_rand_seed, vdaf->sizes.verifier_message);

    if (message.len != vdaf->sizes.verifier_message) {
        refuse(state, SOTTO_MALFORMED, "verifier message: wrong length");
        return;
    }
    /* The client's parts were used for the proof, the aggregators' own for the message: a client that
     * lied about a part is found out here. */
    bool same = sotto_bytes_equal(own, message);
    SOTTO_DECLASSIFY(&same, sizeof same);
    if (same)
        state->status = SOTTO_OK;
    else
        refuse(state, SOTTO_REJECTED, "the joint randomness is not the one the client used");
}

sotto_status sotto_prio3_verify_next(const sotto_prio3 *vdaf, sotto_prio3_verification *states,
                                     const sotto_bytes *messages, size_t count, sotto_err *err)
{
    for (size_t i = 0; i < count; i++)
        if (states[i].status == SOTTO_AGAIN && states[i].circuit != vdaf->circuit)
            return refuse_all(
                states, count,
                sotto_fail(err, SOTTO_BUG, "verify_next: a state of another instance"));
    for (size_t i = 0; i < count; i++)
        if (states[i].status == SOTTO_AGAIN)
            finish_report(vdaf, &states[i], messages[i]);
    return SOTTO_OK;
}
