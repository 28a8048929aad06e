/* What a verifier looks at, one question after the other. Every answer follows from what is on the board and in the sample, so that
 * whoever reads a complaint comes to the same one. */
#include "aggregate/aero/leaf.h"
#include "aggregate/aero/proof_known.h"

#include "base/rule.h"
#include "crypto/hash.h"

#include <string.h>

const char *sotto_aero_fault_name(sotto_aero_fault fault)
{
    static const char *const names[] = {"sound",      "not posted",   "unordered",
                                        "ineligible", "not promised", "not signed",
                                        "edited",     "not proved",   "added wrongly"};

    return (size_t)fault < sizeof names / sizeof names[0] ? names[fault] : "?";
}

static sotto_aero_sum plain(const uint8_t hash[32])
{
    sotto_aero_sum node = {.hash = {0}};

    memcpy(node.hash, hash, sizeof node.hash);
    return node;
}

static bool is_posted(const sotto_aero_posted *posted, uint32_t group, const sotto_aero_leaf *leaf,
                      uint32_t position, const sotto_aero_sum_path *path)
{
    uint8_t digest[32];

    sotto_aero_leaf_digest(digest, leaf);
    const sotto_aero_sum node = plain(digest);
    return sotto_aero_sum_holds(path, &node, position, posted->leaves, &posted->added[group],
                                false);
}

static bool comes_before(const sotto_aero_leaf *a, const sotto_aero_leaf *b)
{
    return a->role != b->role ? a->role < b->role : a->index < b->index;
}

/* Leaves of noise members come first, each in its place, whether it is there or not: so nobody can leave them out. */
static bool is_eligible(const sotto_aero_plan *plan, const sotto_aero_leaf *leaf, uint32_t position)
{
    if (position < plan->terms.noise_members)
        return leaf->role == SOTTO_AERO_NOISE && leaf->index == plan->noise[position];
    return leaf->role == SOTTO_AERO_CONTRIBUTOR &&
           sotto_aero_may(plan, SOTTO_AERO_CONTRIBUTOR, leaf->index);
}

static bool is_promised(const sotto_aero_posted *posted, const sotto_aero_sample *s)
{
    uint8_t digest[32];

    sotto_aero_promise_digest(digest, &s->promise);
    const sotto_aero_sum node = plain(digest);
    return sotto_aero_sum_holds(&s->promise_path, &node, s->position, posted->leaves,
                                &posted->promises, false);
}

static bool is_signed(const sotto_aero_plan *plan, const sotto_aero_sample *s)
{
    const uint8_t *key = sotto_registry_key(plan->round->keys, s->leaf.index);
    uint8_t body[33];
    sotto_message m = sotto_aero_commit_message(plan->round, body, s->leaf.role, s->leaf.index,
                                                s->promise.promise);

    m.signature = sotto_bytes_of(s->promise.signature, SOTTO_SIGNATURE);
    return key && sotto_message_check(&m, key, NULL) == SOTTO_OK;
}

/* From the ciphertexts' bytes to the promise. */
static bool is_as_promised(const sotto_aero_plan *plan, const sotto_aero_sample *s)
{
    uint8_t sealed[32], proof[32], promise[32];

    sotto_aero_seal_group(sealed, plan, s->leaf.role, s->leaf.index, s->group, s->nonce,
                          s->ciphers);
    sotto_hash_once(proof, SOTTO_SHA256, s->proof);
    sotto_aero_promise_of(promise, plan, &s->of);
    return memcmp(sealed, s->of.sealed[s->group], 32) == 0 &&
           memcmp(proof, s->of.proofs[s->group], 32) == 0 &&
           memcmp(sealed, s->leaf.sealed, 32) == 0 && memcmp(proof, s->leaf.proof, 32) == 0 &&
           memcmp(promise, s->promise.promise, 32) == 0;
}

static sotto_status is_proved(bool *proved, const sotto_aero_plan *plan,
                              const sotto_aero_posted *posted, const sotto_aero_sample *s,
                              const sotto_aero_cipher *ciphers, sotto_arena *scratch,
                              sotto_err *err)
{
    uint8_t commitment[32];

    sotto_aero_commitment_of(commitment, plan, &s->of);
    const sotto_aero_statement of =
        sotto_aero_statement_of(plan, &posted->b[sotto_aero_committee_of_group(plan, s->group)],
                                s->leaf.role, s->leaf.index, s->group, commitment, ciphers);
    sotto_status status =
        sotto_aero_verify_known(sotto_aero_known_of(plan), &of, s->proof, scratch, NULL);
    *proved = status == SOTTO_OK;
    if (status == SOTTO_NO_MEMORY)
        return sotto_fail(err, status, "sample: no memory");
    return SOTTO_OK;
}

static bool is_added(const sotto_aero_plan *plan, const sotto_aero_posted *posted,
                     const sotto_aero_sample *s, const sotto_aero_cipher *ciphers)
{
    sotto_aero_sum node = {.hash = {0}};

    sotto_aero_leaf_digest(node.hash, &s->leaf);
    if (ciphers) {
        sotto_aero_value_of(node.v, ciphers, sotto_aero_group_size(plan, s->group), posted->points);
        node.v[SOTTO_AERO_COUNT] = sotto_f64_one();
    }
    return sotto_aero_sum_holds(&s->sum_path, &node, s->position, posted->leaves,
                                &posted->summed[s->group], true);
}

static sotto_aero_fault check_place(const sotto_aero_plan *plan, const sotto_aero_posted *posted,
                                    const sotto_aero_sample *s)
{
    bool is_last = s->position + 1 == posted->leaves;

    if (SOTTO_RULE(aero_leaves_posted) &&
        (!is_posted(posted, s->group, &s->leaf, s->position, &s->leaf_path) ||
         s->has_next == is_last))
        return SOTTO_AERO_NOT_POSTED;
    if (s->has_next && !is_posted(posted, s->group, &s->next, s->position + 1, &s->next_path))
        return SOTTO_AERO_NOT_POSTED;
    if (SOTTO_RULE(aero_leaves_ordered) && s->has_next && !comes_before(&s->leaf, &s->next))
        return SOTTO_AERO_UNORDERED;
    if (SOTTO_RULE(aero_leaves_eligible) && !is_eligible(plan, &s->leaf, s->position))
        return SOTTO_AERO_INELIGIBLE;
    return SOTTO_AERO_SOUND;
}

static sotto_aero_fault check_promise(const sotto_aero_plan *plan, const sotto_aero_posted *posted,
                                      const sotto_aero_sample *s)
{
    if (SOTTO_RULE(aero_leaves_promised) && !is_promised(posted, s))
        return SOTTO_AERO_UNCOMMITTED;
    if (SOTTO_RULE(aero_promises_signed) && !is_signed(plan, s))
        return SOTTO_AERO_UNSIGNED;
    if (SOTTO_RULE(aero_leaves_unedited) && !is_as_promised(plan, s))
        return SOTTO_AERO_EDITED;
    return SOTTO_AERO_SOUND;
}

static sotto_status check_content(sotto_aero_fault *fault, const sotto_aero_plan *plan,
                                  const sotto_aero_posted *posted, const sotto_aero_sample *s,
                                  sotto_arena *scratch, sotto_err *err)
{
    sotto_aero_cipher *ciphers = NULL;
    bool proved = true;

    if (s->leaf.is_there) {
        *fault = check_promise(plan, posted, s);
        if (*fault != SOTTO_AERO_SOUND)
            return SOTTO_OK;
        sotto_status status =
            sotto_aero_group_decode(&ciphers, plan, s->group, s->ciphers, scratch, NULL);
        if (status == SOTTO_NO_MEMORY)
            return sotto_fail(err, status, "sample: no memory");
        *fault = SOTTO_AERO_UNPROVED;
        if (status != SOTTO_OK)
            return SOTTO_OK;
        SOTTO_TRY(is_proved(&proved, plan, posted, s, ciphers, scratch, err));
        if (SOTTO_RULE(aero_leaves_proved) && !proved)
            return SOTTO_OK;
    }
    *fault = SOTTO_AERO_SOUND;
    if (SOTTO_RULE(aero_leaves_added) && !is_added(plan, posted, s, ciphers))
        *fault = SOTTO_AERO_MISADDED;
    return SOTTO_OK;
}

sotto_status sotto_aero_sample_check(sotto_aero_fault *fault, const sotto_aero_plan *plan,
                                     const sotto_aero_posted *posted, const sotto_aero_sample *s,
                                     sotto_arena *scratch, sotto_err *err)
{
    *fault = SOTTO_AERO_NOT_POSTED;
    if (s->position >= posted->leaves || s->group >= plan->groups)
        return SOTTO_OK;
    *fault = check_place(plan, posted, s);
    if (*fault != SOTTO_AERO_SOUND)
        return SOTTO_OK;
    sotto_arena_mark mark = sotto_arena_here(scratch);
    sotto_status status = check_content(fault, plan, posted, s, scratch, err);
    sotto_arena_rollback(scratch, mark);
    return status;
}
