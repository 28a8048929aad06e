#include "serve/tasks/admitting_keys.h"

#include "base/arena.h"
#include "base/rule.h"
#include "serve/tasks/spent_tokens.h"

#include <stdio.h>
#include <string.h>

/* ---- what may be added ------------------------------------------------------------------------------------------- */

static sotto_status read_id(uint8_t id[SOTTO_TOKEN_KEY_ID], const sotto_admitting_key *key,
                            sotto_err *err)
{
    sotto_type2_key read = {0};

    const sotto_status status =
        sotto_type2_key_decode(&read, sotto_bytes_of(key->spki, sizeof key->spki), err);
    memcpy(id, read.id, sizeof read.id);
    sotto_type2_key_clear(&read);
    return status;
}

/* The same in every task. Two keys with one number would share one set of spent nonces. */
static int64_t number_of(const uint8_t id[SOTTO_TOKEN_KEY_ID])
{
    sotto_reader in = sotto_reader_over(sotto_bytes_of(id, SOTTO_TOKEN_KEY_ID));

    return (int64_t)(sotto_read_uint(&in, 8) >> 1);
}

sotto_status sotto_admitting_keys_check(const sotto_admitting_keys *keys, const sotto_task *task,
                                        sotto_err *err)
{
    uint64_t end = task->opens;
    uint8_t id[SOTTO_TOKEN_KEY_ID];

    if (!keys->issuer || !keys->issuer[0] || strlen(keys->issuer) > SOTTO_ISSUER_NAME)
        return sotto_fail(err, SOTTO_DENIED, "token keys: the issuer has no name");
    if (keys->count == 0)
        return sotto_fail(err, SOTTO_DENIED,
                          "token keys: none of the recipe's analysis and schedule. Give the "
                          "issuer's list (--token-keys), with a collection of that analysis");
    if (keys->count > SOTTO_ADMITTING_KEYS_MOST)
        return sotto_fail(err, SOTTO_DENIED, "token keys: 1 to %d are taken for a task, not %zu",
                          SOTTO_ADMITTING_KEYS_MOST, keys->count);
    for (size_t i = 0; i < keys->count; i++) {
        const sotto_admitting_key *key = &keys->list[i];

        if (SOTTO_RULE(token_windows) &&
            (key->opens != end || key->closes <= key->opens || key->opens % task->precision != 0 ||
             key->closes % task->precision != 0))
            return sotto_fail(err, SOTTO_DENIED,
                              "token keys: key %zu is not for the time behind the one before it",
                              i + 1);
        SOTTO_TRY(read_id(id, key, err));
        end = key->closes;
    }
    if (SOTTO_RULE(token_windows) && end != task->closes)
        return sotto_fail(err, SOTTO_DENIED, "token keys: the last does not end with the task");
    return SOTTO_OK;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static sotto_status insert(sotto_tx *tx, const sotto_admitting_keys *keys,
                           const sotto_admitting_key *key, int64_t task, sotto_err *err)
{
    uint8_t id[SOTTO_TOKEN_KEY_ID];
    sotto_sql q;

    SOTTO_TRY(read_id(id, key, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO token_key (n, task, issuer, spki, opens, closes)"
                                " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                                err));
    sotto_sql_int(&q, 1, number_of(id));
    sotto_sql_int(&q, 2, task);
    sotto_sql_text(&q, 3, keys->issuer);
    sotto_sql_bytes(&q, 4, sotto_bytes_of(key->spki, sizeof key->spki));
    sotto_sql_int(&q, 5, (int64_t)key->opens);
    sotto_sql_int(&q, 6, (int64_t)key->closes);
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status select_keys(sotto_tx *tx, sotto_sql *q, int64_t task, sotto_err *err)
{
    SOTTO_TRY(sotto_sql_prepare(tx, q,
                                "SELECT n, issuer, spki, opens, closes, (SELECT count(*) FROM spent"
                                " WHERE spent.token_key = token_key.n AND spent.nonce = ?3)"
                                " FROM token_key WHERE task = ?1 ORDER BY opens LIMIT ?2",
                                err));
    sotto_sql_int(q, 1, task);
    sotto_sql_int(q, 2, SOTTO_ADMITTING_KEYS_MOST);
    sotto_sql_bytes(q, 3, SOTTO_NO_NONCE);
    return SOTTO_OK;
}

static bool is_same(const sotto_sql *q, const sotto_admitting_keys *keys,
                    const sotto_admitting_key *key)
{
    return strcmp(sotto_sql_column_text(q, 1), keys->issuer) == 0 &&
           sotto_bytes_equal_vartime(sotto_sql_column_bytes(q, 2),
                                     sotto_bytes_of(key->spki, sizeof key->spki)) &&
           sotto_sql_column_int(q, 3) == (int64_t)key->opens &&
           sotto_sql_column_int(q, 4) == (int64_t)key->closes;
}

sotto_status sotto_admitting_keys_put(sotto_tx *tx, const sotto_admitting_keys *keys, int64_t task,
                                      sotto_err *err)
{
    size_t stored = 0, same = 0;
    sotto_sql q;
    bool row;

    SOTTO_TRY(select_keys(tx, &q, task, err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    for (; row; stored++) {
        same += stored < keys->count && is_same(&q, keys, &keys->list[stored]);
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    if (SOTTO_RULE(token_keys_kept) && stored > 0 && (same != stored || same != keys->count))
        return sotto_fail(err, SOTTO_DENIED,
                          "token keys: this task was added before with others; a second key would"
                          " be a second token for each device");
    for (size_t i = 0; stored == 0 && i < keys->count; i++)
        SOTTO_TRY(insert(tx, keys, &keys->list[i], task, err));
    return SOTTO_OK;
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

static sotto_status read_key(sotto_admitting_key *key, const sotto_sql *q, sotto_err *err)
{
    const char *issuer = sotto_sql_column_text(q, 1);
    sotto_admission_collection collection = {.issuer = {(const uint8_t *)issuer, strlen(issuer)}};

    SOTTO_TRY(sotto_sql_column_fixed(q, 2, key->spki, sizeof key->spki, err));
    key->opens = collection.opens = (uint64_t)sotto_sql_column_int(q, 3);
    key->closes = collection.closes = (uint64_t)sotto_sql_column_int(q, 4);
    key->cleared = sotto_sql_column_int(q, 5) > 0;
    SOTTO_TRY(read_id(key->id, key, err));
    key->n = number_of(key->id);
    memcpy(collection.key_id, key->id, sizeof collection.key_id);
    return sotto_admission_challenge(key->challenge, &collection, err);
}

static sotto_status count_keys(sotto_tx *tx, size_t *out, int64_t task, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT count(*) FROM token_key WHERE task = ?1", err));
    sotto_sql_int(&q, 1, task);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *out = row ? (size_t)sotto_sql_column_int(&q, 0) : 0;
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_admitting_keys_load(sotto_tx *tx, sotto_admitting_keys *out, int64_t task,
                                       sotto_arena *arena, sotto_err *err)
{
    sotto_admitting_key *list;
    size_t stored;
    char *issuer = NULL;
    sotto_sql q;
    bool row;

    out->count = 0;
    SOTTO_TRY(count_keys(tx, &stored, task, err));
    if (SOTTO_RULE(tokens_need_keys) && (stored == 0 || stored > SOTTO_ADMITTING_KEYS_MOST))
        return sotto_fail(err, SOTTO_MISSING, "the task asks for tokens, and has no token keys");
    list = sotto_arena_take_array(arena, stored, sizeof *list);
    issuer = sotto_arena_take(arena, SOTTO_ISSUER_NAME + 1);
    if (!list || !issuer)
        return sotto_fail(err, SOTTO_NO_MEMORY, "token keys");
    SOTTO_TRY(select_keys(tx, &q, task, err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row && out->count < stored) {
        (void)snprintf(issuer, SOTTO_ISSUER_NAME + 1, "%s", sotto_sql_column_text(&q, 1));
        SOTTO_TRY(read_key(&list[out->count++], &q, err));
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    out->issuer = issuer;
    out->list = list;
    return SOTTO_OK;
}
