#include "serve/tasks/token_check.h"

#include "base/alloc.h"
#include "base/rule.h"
#include "recipe/learning_slots.h"
#include "serve/tasks/arc_keys.h"

#include <string.h>

/* A key that is set up verifies faster; tasks that are under way at once have few. */
enum { OPENED = 32 };

/* ARC's, for one task: what a presentation is shown for is part of it. */
typedef struct verifier {
    int64_t task;
    bool there;
    sotto_arc_verifier v;
} verifier;

typedef struct opened {
    int64_t n; /* of the key's row */
    bool there;
    sotto_type2_key key;
} opened;

struct sotto_token_checker {
    opened keys[OPENED];
    size_t next; /* which goes first */
    verifier verifiers[OPENED];
    size_t next_verifier;
};

sotto_status sotto_token_checker_new(sotto_token_checker **out, sotto_err *err)
{
    *out = sotto_alloc(sizeof **out);
    return *out ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "a checker of tokens");
}

void sotto_token_checker_free(sotto_token_checker *checker)
{
    if (!checker)
        return;
    for (size_t i = 0; i < OPENED; i++)
        sotto_type2_key_clear(&checker->keys[i].key);
    for (size_t i = 0; i < OPENED; i++)
        sotto_arc_verifier_clear(&checker->verifiers[i].v);
    sotto_release(checker, sizeof *checker);
}

static sotto_status open_key(sotto_token_checker *checker, sotto_type2_key **out,
                             const sotto_admitting_key *key, sotto_err *err)
{
    opened *o = NULL;

    for (size_t i = 0; i < OPENED; i++)
        if (checker->keys[i].there && checker->keys[i].n == key->n) {
            *out = &checker->keys[i].key;
            return SOTTO_OK;
        }
    o = &checker->keys[checker->next++ % OPENED];
    sotto_type2_key_clear(&o->key);
    o->n = key->n;
    o->there = sotto_type2_key_decode(&o->key, sotto_bytes_of(key->spki, sizeof key->spki), err) ==
               SOTTO_OK;
    *out = &o->key;
    /* It was decoded when the task was loaded, so nothing but memory was short. */
    return o->there ? SOTTO_OK : SOTTO_NO_MEMORY;
}

/* Whether what was spent of a key may be deleted soon, or is: see serve/tasks/spent_tokens.h. */
static sotto_status check_key_age(const sotto_token_question *q, uint64_t closes, bool cleared,
                                  sotto_err *err)
{
    if (SOTTO_RULE(token_key_late) && q->now >= closes + q->late_seconds)
        return sotto_fail(err, SOTTO_STALE, "token: its collection closed long ago");
    /* Or is deleted, and `late` was raised since. */
    if (SOTTO_RULE(cleared_keys_stay_closed) && cleared)
        return sotto_fail(err, SOTTO_STALE, "token: what was spent of its collection is cleared");
    return SOTTO_OK;
}

static sotto_status find_key(const sotto_admitting_key **out, const sotto_token_question *q,
                             const sotto_token *token, sotto_err *err)
{
    const sotto_admitting_keys *keys = &q->task->token_keys;
    const uint64_t precision = q->task->dap.precision;
    const sotto_admitting_key *key = NULL;
    uint64_t start;

    for (size_t i = 0; !key && i < keys->count; i++)
        if (memcmp(keys->list[i].id, token->key_id, SOTTO_TOKEN_KEY_ID) == 0)
            key = &keys->list[i];
    if (!key)
        return sotto_fail(err, SOTTO_REJECTED, "token: of a key that the task does not have");
    if (!sotto_dap_seconds_of(&start, q->metadata->time, precision))
        start = UINT64_MAX;
    if (SOTTO_RULE(token_window) && (start < key->opens || start >= key->closes))
        return sotto_fail(err, SOTTO_REJECTED, "token: for another window than the report's time");
    *out = key;
    return check_key_age(q, key->closes, key->cleared, err);
}

static sotto_status check_type2(sotto_token_checker *checker, sotto_token_spend *spend,
                                const sotto_token_question *q, const sotto_admission *admission,
                                sotto_err *err)
{
    const sotto_admitting_key *key = NULL;
    sotto_type2_key *opened_key;

    SOTTO_TRY(find_key(&key, q, &admission->token, err));
    SOTTO_TRY(open_key(checker, &opened_key, key, err));
    SOTTO_TRY(sotto_admission_check(admission, opened_key, key->challenge, err));
    spend->key = key->n;
    memcpy(spend->nonce, admission->token.nonce, sizeof spend->nonce);
    return SOTTO_OK;
}

/* ---- ARC --------------------------------------------------------------------------------------------------------- */

/* A task has one collection: its schedule. Rounds of which a device draws one are one collection together, so that a device shows
 * itself in one of them. */
static sotto_arc_collection collection_of(const sotto_server_task *task)
{
    sotto_arc_collection out = {.opens = task->dap.opens, .closes = task->dap.closes};

    if (SOTTO_RULE(one_report_a_session) && sotto_learning_once(task->learning)) {
        out.opens = (uint64_t)task->recipe->opens;
        out.closes = (uint64_t)task->recipe->closes;
    }
    memcpy(out.subject, task->recipe ? task->dap.recipe_hash : task->dap.id, sizeof out.subject);
    return out;
}

static sotto_status open_verifier(sotto_token_checker *checker, sotto_arc_verifier **out,
                                  const sotto_server_task *task, sotto_err *err)
{
    const sotto_arc_key *key = task->token_keys.own;
    const sotto_arc_collection collection = collection_of(task);
    uint8_t asked[SOTTO_ARC_CONTEXT], shown[SOTTO_ARC_CONTEXT];

    for (size_t i = 0; i < OPENED; i++)
        if (checker->verifiers[i].there && checker->verifiers[i].task == task->n) {
            *out = &checker->verifiers[i].v;
            return SOTTO_OK;
        }
    verifier *v = &checker->verifiers[checker->next_verifier++ % OPENED];
    sotto_arc_verifier_clear(&v->v);
    sotto_arc_request_context(asked, &key->epoch);
    sotto_arc_presentation_context(shown, &collection);
    v->task = task->n;
    v->there = sotto_arc_verifier_init(&v->v, &key->secret, key->public_key,
                                       sotto_bytes_of(asked, sizeof asked),
                                       sotto_bytes_of(shown, sizeof shown), 1, err) == SOTTO_OK;
    *out = &v->v;
    return v->there ? SOTTO_OK : SOTTO_NO_MEMORY;
}

static sotto_status check_arc(sotto_token_checker *checker, sotto_token_spend *spend,
                              const sotto_token_question *q, const sotto_admission *admission,
                              sotto_err *err)
{
    const sotto_arc_key *key = q->task->token_keys.own;
    sotto_arc_verifier *v;

    SOTTO_TRY(check_key_age(q, key->epoch.closes, key->cleared, err));
    SOTTO_TRY(open_verifier(checker, &v, q->task, err));
    spend->key = key->n;
    return sotto_arc_admission_check(admission, q->who, v, key->epoch.key_id, spend->nonce, err);
}

/* ---- either kind ------------------------------------------------------------------------------------------------- */

sotto_status sotto_token_checker_ask(sotto_token_checker *checker, sotto_token_spend *spend,
                                     const sotto_token_question *q, sotto_err *err)
{
    const bool arc = q->task->token_keys.arc;
    sotto_admission admission;

    *spend = (sotto_token_spend){.task = q->task->n};
    SOTTO_TRY(sotto_admission_find(&admission, q->metadata->public_extensions, err));
    if (admission.type != (arc ? SOTTO_TOKEN_ARC : SOTTO_TOKEN_BLIND_RSA))
        return sotto_fail(err, SOTTO_REJECTED, "token: of another type than the task's");
    SOTTO_TRY(arc ? check_arc(checker, spend, q, &admission, err)
                  : check_type2(checker, spend, q, &admission, err));
    const sotto_status bound =
        sotto_admission_check_share(q->who, q->receiver, q->once, q->aad, q->plain, err);
    if (SOTTO_RULE(token_bound) && bound != SOTTO_OK)
        return bound;
    memcpy(spend->report, q->metadata->report_id, sizeof spend->report);
    return SOTTO_OK;
}

sotto_bytes sotto_token_peer(const sotto_server_task *task, sotto_bytes public_extensions)
{
    sotto_admission admission;

    if (!task->token_keys.issuer ||
        sotto_admission_find(&admission, public_extensions, NULL) != SOTTO_OK)
        return sotto_bytes_of(NULL, 0);
    return sotto_bytes_of(admission.once_key, SOTTO_ONCE_KEY);
}

size_t sotto_task_extensions(const sotto_server_task *task)
{
    return task->token_keys.issuer ? SOTTO_ADMISSION_TYPES : 0;
}
