#include "device/shared.h"

#include "base/alloc.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "device/ledger/shelf.h"
#include "query/memory.h"
#include "recipe/signed_parties.h"

#include <string.h>

enum { RECIPES = 16 }; /* a simulation asks few questions of many devices */

typedef struct shared_recipe {
    const sotto_recipe *recipe;
    bool passed;
    uint8_t judge[SOTTO_RECIPE_HASH_SIZE]; /* who let it pass */
    sotto_known_epsilon known;
} shared_recipe;

struct sotto_device_shared {
    sotto_arena arena;
    sotto_terms terms; /* of the first device; policy is NULL before */
    sotto_bytes policy, parties;
    shared_recipe recipes[RECIPES];
    size_t recipe_count;
    const sotto_prover *prover; /* or NULL */
    sotto_store *store;         /* blank, for the next device; or NULL */
    sotto_ledger *ledger;
    sotto_ephemeral_source ephemerals;
    sotto_token_source tokens;
};

sotto_device_shared *sotto_shared_within(size_t bytes)
{
    sotto_device_shared *shared = sotto_alloc(sizeof *shared);

    if (shared)
        sotto_arena_init(&shared->arena, bytes);
    return shared;
}

sotto_device_shared *sotto_device_shared_new(void)
{
    return sotto_shared_within(SOTTO_RECIPE_ARENA);
}

void sotto_device_shared_free(sotto_device_shared *shared)
{
    if (!shared)
        return;
    sotto_store_close(shared->store);
    sotto_ledger_close(shared->ledger);
    sotto_arena_clear(&shared->arena);
    sotto_release(shared, sizeof *shared);
}

sotto_status sotto_device_count_memory(sotto_err *err)
{
    sotto_err_clear(err);

    return sotto_memory_meter(err);
}

/* ---- policy and parties ----------------------------------------------------------------------------------- */

/* A signed file must be one that this policy's keys signed, whoever hands it over. */
static sotto_status open_parties(sotto_terms *out, sotto_bytes *parties, sotto_err *err)
{
    sotto_signed_parties file;

    if (!sotto_signed_parties_is(*parties))
        return SOTTO_OK;
    SOTTO_TRY(sotto_signed_parties_decode(&file, *parties, err));
    SOTTO_TRY(sotto_signed_parties_check(&file, out->policy, err));
    out->serial = file.serial;
    sotto_hash_once(out->signed_hash, SOTTO_SHA256, *parties);
    *parties = file.parties;
    return SOTTO_OK;
}

static sotto_status read_terms(sotto_terms *out, sotto_bytes policy, sotto_bytes parties,
                               sotto_arena *arena, sotto_err *err)
{
    sotto_mistakes *mistakes = sotto_alloc(sizeof *mistakes);

    *out = (sotto_terms){0};
    if (!mistakes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "policy");
    sotto_status status = sotto_policy_read(&out->policy, policy, arena, mistakes, err);
    if (status == SOTTO_OK)
        status = open_parties(out, &parties, err);
    if (status == SOTTO_OK)
        status = sotto_parties_read(&out->parties, parties, arena, mistakes, err);
    if (status == SOTTO_OK)
        status = sotto_policy_budgets(&out->budgets, out->policy, arena, err);
    if (status == SOTTO_OK)
        sotto_shelf_judge(out->judge, out->policy);
    sotto_release(mistakes, sizeof *mistakes);
    return status;
}

static sotto_status copy(sotto_bytes *out, sotto_bytes from, sotto_arena *arena, sotto_err *err)
{
    uint8_t *bytes = sotto_arena_take(arena, from.len + 1);

    if (!bytes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "what devices share");
    if (from.len)
        memcpy(bytes, from.data, from.len);
    *out = sotto_bytes_of(bytes, from.len);
    return SOTTO_OK;
}

static sotto_status read_first(sotto_device_shared *shared, sotto_bytes policy, sotto_bytes parties,
                               sotto_err *err)
{
    sotto_terms terms;

    SOTTO_TRY(copy(&shared->policy, policy, &shared->arena, err));
    SOTTO_TRY(copy(&shared->parties, parties, &shared->arena, err));
    SOTTO_TRY(read_terms(&terms, policy, parties, &shared->arena, err));
    shared->terms = terms;
    return SOTTO_OK;
}

/* Whether to read it outside of the shared memory, since it did not fit here; any other error would
 * occur there too. */
static sotto_status unless_full(sotto_device_shared *shared, sotto_arena_mark mark,
                                sotto_status status, const sotto_err *first, sotto_err *err)
{
    if (status == SOTTO_OK)
        return SOTTO_OK;
    sotto_arena_rollback(&shared->arena, mark);
    if (status == SOTTO_NO_MEMORY)
        return SOTTO_OK;
    return sotto_fail(err, status, "%s", first->reason);
}

static sotto_status keep_first(sotto_device_shared *shared, sotto_bytes policy, sotto_bytes parties,
                               sotto_err *err)
{
    sotto_arena_mark mark = sotto_arena_here(&shared->arena);
    sotto_err first = {0};
    sotto_status status = read_first(shared, policy, parties, &first);

    return unless_full(shared, mark, status, &first, err);
}

sotto_status sotto_terms_read(sotto_terms *out, sotto_device_shared *shared, sotto_bytes policy,
                              sotto_bytes parties, sotto_arena *arena, sotto_err *err)
{
    if (shared && !shared->terms.policy)
        SOTTO_TRY(keep_first(shared, policy, parties, err));
    if (shared && shared->terms.policy && sotto_bytes_equal_vartime(policy, shared->policy) &&
        sotto_bytes_equal_vartime(parties, shared->parties)) {
        *out = shared->terms;
        return SOTTO_OK;
    }
    return read_terms(out, policy, parties, arena, err);
}

/* ---- what was proved -------------------------------------------------------------------------------------- */

void sotto_shared_prove_with(sotto_device_shared *shared, const sotto_prover *prover)
{
    shared->prover = prover;
}

/* Another policy may trust other keys; the text that is kept is of this one alone. */
static const sotto_prover *prover_of(const sotto_device_shared *shared, const sotto_policy *policy)
{
    if (!shared)
        return NULL;
    if (SOTTO_RULE(proved_for_this_policy) && policy != shared->terms.policy)
        return NULL;
    return shared->prover;
}

sotto_status sotto_shared_bundle(sotto_device_shared *shared, sotto_bundle_facts *facts,
                                 sotto_bytes bytes, const sotto_policy *policy,
                                 const sotto_log_trust *trust, sotto_err *err)
{
    const sotto_prover *by = prover_of(shared, policy);

    if (by)
        return by->bundle(by->context, facts, shared->policy, bytes, trust, err);
    return sotto_bundle_verify(facts, bytes, trust, err);
}

sotto_status sotto_issuer_keys_read(sotto_issuer_keys *out, const sotto_policy *policy,
                                    sotto_bytes file, sotto_arena *arena, sotto_err *err)
{
    sotto_bytes list;

    SOTTO_TRY(sotto_listed_keys_judge(&out->issuer, &list, &out->serial, policy, file, err));
    return sotto_listed_keys_read(&out->keys, &out->count, list, arena, err);
}

sotto_status sotto_shared_keys(sotto_issuer_keys *out, sotto_device_shared *shared,
                               const sotto_policy *policy, sotto_bytes file, sotto_arena *arena,
                               sotto_err *err)
{
    const sotto_prover *by = prover_of(shared, policy);

    if (by)
        return by->keys(by->context, out, shared->policy, policy, file, arena, err);
    return sotto_issuer_keys_read(out, policy, file, arena, err);
}

/* ---- stores in memory ------------------------------------------------------------------------------------- */

sotto_store *sotto_shared_take_store(sotto_device_shared *shared)
{
    sotto_store *store = shared ? shared->store : NULL;

    if (shared)
        shared->store = NULL;
    return store;
}

sotto_ledger *sotto_shared_take_ledger(sotto_device_shared *shared)
{
    sotto_ledger *ledger = shared ? shared->ledger : NULL;

    if (shared)
        shared->ledger = NULL;
    return ledger;
}

/* Nothing of this device is left in them. */
void sotto_shared_leave(sotto_device_shared *shared, sotto_store *store, sotto_ledger *ledger)
{
    if (shared && store && !shared->store && sotto_store_blank(store)) {
        shared->store = store;
        store = NULL;
    }
    if (shared && ledger && !shared->ledger && sotto_ledger_blank(ledger)) {
        shared->ledger = ledger;
        ledger = NULL;
    }
    sotto_ledger_close(ledger);
    sotto_store_close(store);
}

/* ---- keys ------------------------------------------------------------------------------------------------- */

void sotto_shared_seal_with(sotto_device_shared *shared, sotto_ephemeral_source source)
{
    shared->ephemerals = source;
}

const sotto_ephemeral_source *sotto_shared_ephemerals(const sotto_device_shared *shared)
{
    return shared && shared->ephemerals.take ? &shared->ephemerals : NULL;
}

void sotto_shared_ask_with(sotto_device_shared *shared, sotto_token_source source)
{
    shared->tokens = source;
}

const sotto_token_source *sotto_shared_tokens(const sotto_device_shared *shared)
{
    return shared && shared->tokens.take ? &shared->tokens : NULL;
}

/* ---- recipes ---------------------------------------------------------------------------------------------- */

static sotto_status read_recipe(const sotto_recipe **out, sotto_bytes text, sotto_arena *arena,
                                sotto_err *err)
{
    sotto_mistakes *mistakes = sotto_alloc(sizeof *mistakes);

    if (!mistakes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "recipe");
    sotto_status status = sotto_recipe_read(out, text, arena, mistakes, err);
    sotto_release(mistakes, sizeof *mistakes);
    return status;
}

sotto_status sotto_shared_recipe(const sotto_recipe **out, sotto_device_shared *shared,
                                 sotto_bytes text, sotto_arena *arena, sotto_err *err)
{
    for (size_t i = 0; shared && i < shared->recipe_count; i++) {
        if (sotto_bytes_equal_vartime(shared->recipes[i].recipe->text, text)) {
            *out = shared->recipes[i].recipe;
            return SOTTO_OK;
        }
    }
    if (!shared || shared->recipe_count == RECIPES)
        return read_recipe(out, text, arena, err);
    sotto_arena_mark mark = sotto_arena_here(&shared->arena);
    sotto_err first = {0};
    sotto_status status = read_recipe(out, text, &shared->arena, &first);
    if (status == SOTTO_OK) {
        shared->recipes[shared->recipe_count++] = (shared_recipe){.recipe = *out};
        return SOTTO_OK;
    }
    SOTTO_TRY(unless_full(shared, mark, status, &first, err));
    return read_recipe(out, text, arena, err);
}

void sotto_shared_keep_recipe(sotto_device_shared *shared, const sotto_recipe *recipe)
{
    if (shared->recipe_count < RECIPES)
        shared->recipes[shared->recipe_count++] = (shared_recipe){.recipe = recipe};
}

/* A recipe that is shared is known by its address. */
static size_t find(const sotto_device_shared *shared, const sotto_recipe *recipe)
{
    size_t at = 0;

    while (at < shared->recipe_count && shared->recipes[at].recipe != recipe)
        at++;
    return at;
}

bool sotto_shared_passed(const sotto_device_shared *shared, sotto_known_epsilon *known,
                         const sotto_recipe *recipe, const uint8_t judge[SOTTO_RECIPE_HASH_SIZE])
{
    size_t at = shared ? find(shared, recipe) : 0;

    if (!shared || at == shared->recipe_count || !shared->recipes[at].passed)
        return false;
    if (SOTTO_RULE(shared_by_judge) &&
        memcmp(shared->recipes[at].judge, judge, SOTTO_RECIPE_HASH_SIZE) != 0)
        return false;
    *known = shared->recipes[at].known;
    return true;
}

void sotto_shared_pass(sotto_device_shared *shared, sotto_known_epsilon known,
                       const sotto_recipe *recipe, const uint8_t judge[SOTTO_RECIPE_HASH_SIZE])
{
    size_t at = shared ? find(shared, recipe) : 0;

    if (!shared || at == shared->recipe_count)
        return;
    shared->recipes[at].passed = true;
    shared->recipes[at].known = known;
    memcpy(shared->recipes[at].judge, judge, SOTTO_RECIPE_HASH_SIZE);
}
