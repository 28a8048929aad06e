/* Pairings as rows, and what of a task must agree with its pairing. */
#include "serve/tasks/tasks_internal.h"

#include "base/rule.h"
#include "dap/dap.h"

#include <stdio.h>
#include <string.h>

enum { PAIRING_FILE = 8192 };

static sotto_column_place pairing_place(const char *fingerprint)
{
    return (sotto_column_place){"pairing", "secrets",
                                sotto_bytes_of(fingerprint, strlen(fingerprint))};
}

typedef struct putting {
    const sotto_pairing *pairing;
    sotto_bytes sealed;
    char parties[SOTTO_PARTIES_TEXT];
} putting;

void sotto_pairing_parties(char out[SOTTO_PARTIES_TEXT], const char *leader, const char *helper)
{
    (void)snprintf(out, SOTTO_PARTIES_TEXT, "%s\n%s", leader, helper);
}

/* Only bare tasks, for other implementations, may have a pairing without a collector's key. Such a pairing can't be used for a
 * recipe's sums. */
static bool agrees(const sotto_pairing *pairing, const sotto_server_task *task)
{
    return pairing->foreign ? task->recipe == NULL
                            : sotto_pairing_is_for(pairing, &task->collector);
}

static bool names(const sotto_pairing *pairing, const sotto_server_task *task)
{
    return strcmp(pairing->leader, task->leader) == 0 && strcmp(pairing->helper, task->helper) == 0;
}

static bool same_urls(const sotto_pairing *pairing, const sotto_server_task *task)
{
    return sotto_pairing_url_is(pairing->leader_url, task->dap.leader_url) &&
           sotto_pairing_url_is(pairing->helper_url, task->dap.helper_url);
}

static bool mentions(sotto_bytes text, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i + len <= text.len; i++)
        if (memcmp(text.data + i, name, len) == 0)
            return true;
    return false;
}

/* Compiling takes a while, and uploads wait for this transaction. So only recipes whose text has the names are compiled. A recipe
 * that spells them with JSON escapes is found when a server loads it. */
static bool may_name(const sotto_sql *q, const sotto_pairing *pairing)
{
    sotto_bytes recipe = sotto_sql_column_bytes(q, 1), parties = sotto_sql_column_bytes(q, 2);
    sotto_bytes text = recipe.len > 0 ? recipe : parties; /* a bare task has them there */

    return mentions(text, pairing->leader) && mentions(text, pairing->helper);
}

/* A task of these parties that was added first. */
static sotto_status compare_waiting(const sotto_server_task *task, const sotto_pairing *pairing,
                                    sotto_err *err)
{
    if (SOTTO_RULE(collector_key_waits) && !agrees(pairing, task))
        return sotto_fail(err, SOTTO_DENIED,
                          "a task was added with another collector key than this file's: find out"
                          " which is the collector's, and add the task again");
    /* Its id covers the URLs: with the right ones it is another task. */
    if (SOTTO_RULE(urls_wait) && !same_urls(pairing, task))
        return sotto_fail(err, SOTTO_DENIED,
                          "a task was added with other server URLs than this file's: find out which"
                          " are right; if the file's, `sotto admin task delete` the task");
    return SOTTO_OK;
}

/* Cohorts of a recipe have the same parties. A row that does not compile is none that could be served. */
static sotto_status check_waiting(const sotto_sql *q, const sotto_pairing *pairing, sotto_err *err)
{
    sotto_mistakes mistakes = {0};
    sotto_status status = SOTTO_OK;
    sotto_task_entry *e;

    if (!may_name(q, pairing))
        return SOTTO_OK;
    e = sotto_task_entry_new();
    if (!e)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a task");
    if (sotto_task_entry_compile(e, (sotto_role)sotto_sql_column_int(q, 0),
                                 sotto_sql_column_bytes(q, 1), sotto_sql_column_bytes(q, 2), 0,
                                 &mistakes, NULL) == SOTTO_OK &&
        names(pairing, &e->task))
        status = compare_waiting(&e->task, pairing, err);
    sotto_task_entry_free(e);
    return status;
}

/* What was added before could not be compared with the pairing then. */
static sotto_status check_tasks(sotto_tx *tx, const sotto_pairing *pairing, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT role, recipe, parties FROM task WHERE cohort = 0"
                                " AND n NOT IN (SELECT task FROM retired)",
                                err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        SOTTO_TRY(check_waiting(&q, pairing, err));
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

static sotto_status put_pairing(sotto_tx *tx, void *context, sotto_err *err)
{
    putting *p = context;
    const char *there;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_tx_guard(tx, SOTTO_PROVISIONING, true, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT fingerprint FROM pairing WHERE peer = ?1", err));
    sotto_sql_text(&q, 1, p->parties);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    there = row ? sotto_sql_column_text(&q, 0) : "";
    if (row && strcmp(there, p->pairing->fingerprint) == 0)
        return SOTTO_OK; /* its tasks were compared with it as they were added */
    if (row)
        return sotto_fail(err, SOTTO_DENIED, "these parties are paired already, as %.64s", there);
    SOTTO_TRY(check_tasks(tx, p->pairing, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO pairing (fingerprint, peer, secrets, added)"
                                " VALUES (?1, ?2, ?3, {now})",
                                err));
    sotto_sql_text(&q, 1, p->pairing->fingerprint);
    sotto_sql_text(&q, 2, p->parties);
    sotto_sql_bytes(&q, 3, p->sealed);
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_pairing_put(sotto_db *db, const sotto_column_keys *keys,
                               const sotto_pairing *pairing, sotto_err *err)
{
    uint8_t plain[PAIRING_FILE], sealed[PAIRING_FILE + SOTTO_COLUMN_OVERHEAD];
    sotto_buf json = sotto_buf_over(plain, sizeof plain),
              out = sotto_buf_over(sealed, sizeof sealed);
    sotto_column_place place = pairing_place(pairing->fingerprint);
    putting p = {.pairing = pairing};
    sotto_status status;

    if (!pairing->leader_token[0])
        return sotto_fail(err, SOTTO_DENIED, "this is a collector's file, not a server's");
    status = sotto_pairing_encode(&json, pairing, err);

    if (status == SOTTO_OK)
        status = sotto_column_seal(&out, keys, &place, sotto_buf_bytes(&json), err);
    sotto_wipe(plain, sizeof plain);
    if (status != SOTTO_OK)
        return status;
    p.sealed = sotto_buf_bytes(&out);
    sotto_pairing_parties(p.parties, pairing->leader, pairing->helper);
    return sotto_db_run(db, put_pairing, &p, err);
}

/* No task's id covers the collector's key. So two servers with the same ids could seal to two keys, or both to a stranger's. */
static sotto_status check_collector(const sotto_task_entry *e, sotto_err *err)
{
    if (agrees(&e->pairing, &e->task))
        return SOTTO_OK;
    if (e->pairing.foreign)
        return sotto_fail(err, SOTTO_DENIED, "pairing %s has no collector key, as recipes need it",
                          e->pairing.fingerprint);
    return sotto_fail(err, SOTTO_DENIED,
                      "the parties file has another collector key than pairing %s: compare its"
                      " config with what `sotto collect key` printed",
                      e->pairing.fingerprint);
}

static sotto_status other_url(const sotto_task_entry *e, const char *whose, sotto_err *err)
{
    return sotto_fail(err, SOTTO_DENIED,
                      "the task has another %s URL than pairing %s: compare the parties file with"
                      " `sotto admin pair show`",
                      whose, e->pairing.fingerprint);
}

/* The leader's token opens every task of the pairing at the helper. The id of a task says only that both servers have the
 * same URLs: whoever wrote one parties file for both could have put in his own. */
static sotto_status check_urls(const sotto_task_entry *e, sotto_err *err)
{
    const sotto_task *dap = &e->task.dap;

    if (SOTTO_RULE(leader_url_paired) &&
        !sotto_pairing_url_is(e->pairing.leader_url, dap->leader_url))
        return other_url(e, "leader", err);
    if (SOTTO_RULE(helper_url_paired) &&
        !sotto_pairing_url_is(e->pairing.helper_url, dap->helper_url))
        return other_url(e, "helper", err);
    return SOTTO_OK;
}

sotto_status sotto_pairing_unseal(sotto_pairing *out, const sotto_column_keys *keys,
                                  const char *fingerprint, sotto_bytes sealed, sotto_err *err)
{
    uint8_t plain[PAIRING_FILE];
    sotto_buf json = sotto_buf_over(plain, sizeof plain);
    sotto_column_place place = pairing_place(fingerprint);
    sotto_status status = sotto_column_unseal(&json, keys, &place, sealed, err);
    sotto_err why = {0};

    if (status == SOTTO_OK) {
        status = sotto_pairing_decode(out, sotto_buf_bytes(&json), &why);
        if (status != SOTTO_OK)
            (void)sotto_fail(err, status, "pairing %.30s: %s", fingerprint, why.reason);
    }
    sotto_wipe(plain, sizeof plain);
    return status;
}

/* The row alone has the names by which it was found; the names for which it was made are sealed. */
static sotto_status check_names(const sotto_task_entry *e, sotto_err *err)
{
    if (SOTTO_RULE(pairing_of_its_parties) && !names(&e->pairing, &e->task))
        return sotto_fail(err, SOTTO_REJECTED, "pairing %s is stored as that of other parties",
                          e->pairing.fingerprint);
    return SOTTO_OK;
}

sotto_status sotto_task_entry_pair(sotto_task_entry *e, sotto_tx *tx, const sotto_column_keys *keys,
                                   sotto_err *err)
{
    char parties[SOTTO_PARTIES_TEXT];
    sotto_sql q;
    bool row;

    e->task.pairing = NULL;
    sotto_pairing_parties(parties, e->task.leader, e->task.helper);
    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "SELECT fingerprint, secrets FROM pairing WHERE peer = ?1", err));
    sotto_sql_text(&q, 1, parties);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return SOTTO_OK;
    SOTTO_TRY(sotto_pairing_unseal(&e->pairing, keys, sotto_sql_column_text(&q, 0),
                                   sotto_sql_column_bytes(&q, 1), err));
    SOTTO_TRY(check_names(e, err));
    SOTTO_TRY(check_collector(e, err));
    SOTTO_TRY(check_urls(e, err));
    if (!e->has_verify_key)
        SOTTO_TRY(sotto_dap_verify_key_derive(
            e->task.verifier.verify_key,
            sotto_bytes_of(e->pairing.verify_seed, sizeof e->pairing.verify_seed), e->task.dap.id,
            SOTTO_DAP_SALT_DAP, err));
    e->task.pairing = &e->pairing;
    return SOTTO_OK;
}
