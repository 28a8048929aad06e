#include "serve/tasks/arc_keys.h"

#include "base/hex.h"
#include "base/rule.h"
#include "base/writer.h"
#include "serve/tasks/spent_tokens.h"
#include "serve/tasks/tasks_internal.h"

#include <string.h>

enum { SEALED = SOTTO_ARC_PRIVATE + SOTTO_COLUMN_OVERHEAD };

#define COLUMNS "k.n, k.id, k.opens, k.closes, k.public_key, k.secret, k.attester"

static sotto_column_place place_of(const uint8_t id[SOTTO_TOKEN_KEY_ID])
{
    return (sotto_column_place){"arc_key", "secret", sotto_bytes_of(id, SOTTO_TOKEN_KEY_ID)};
}

/* The same in every task. */
static int64_t number_of(const uint8_t id[SOTTO_TOKEN_KEY_ID])
{
    sotto_reader in = sotto_reader_over(sotto_bytes_of(id, SOTTO_TOKEN_KEY_ID));

    return (int64_t)(sotto_read_uint(&in, 8) >> 1);
}

/* ---- making one -------------------------------------------------------------------------------------------------- */

typedef struct addition {
    sotto_arc_key *out;
    const sotto_arc_key *fresh;
    sotto_bytes sealed;
    const uint8_t *attester;
    bool made;
} addition;

static sotto_status generate(sotto_arc_key *key, sotto_buf *sealed,
                             const sotto_column_keys *columns, sotto_err *err)
{
    uint8_t plain[SOTTO_ARC_PRIVATE];
    sotto_scalar scalars[4];
    sotto_group g;

    sotto_status status = sotto_group_init(&g, &sotto_p256, err);
    if (status == SOTTO_OK)
        status = sotto_scalar_random(&g, scalars, 4, err);
    for (size_t i = 0; status == SOTTO_OK && i < 4; i++)
        memcpy(plain + i * SOTTO_ARC_SCALAR, scalars[i].be, SOTTO_ARC_SCALAR);
    if (status == SOTTO_OK)
        status = sotto_arc_private_decode(&g, &key->secret, plain, err);
    if (status == SOTTO_OK)
        status = sotto_arc_public(&g, key->public_key, &key->secret, err);
    if (status == SOTTO_OK) {
        sotto_arc_key_id(key->epoch.key_id, key->public_key);
        key->n = number_of(key->epoch.key_id);

        const sotto_column_place place = place_of(key->epoch.key_id);
        status =
            sotto_column_seal(sealed, columns, &place, sotto_bytes_of(plain, sizeof plain), err);
    }
    sotto_group_clear(&g);
    sotto_wipe(plain, sizeof plain);
    sotto_wipe(scalars, sizeof scalars);
    return status;
}

static sotto_status insert(sotto_tx *tx, addition *a, sotto_err *err)
{
    const sotto_arc_key *k = a->fresh;
    sotto_sql q;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q,
                          "INSERT INTO arc_key (n, id, opens, closes, public_key, secret, attester)"
                          " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                          err));
    sotto_sql_int(&q, 1, k->n);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(k->epoch.key_id, sizeof k->epoch.key_id));
    sotto_sql_int(&q, 3, (int64_t)k->epoch.opens);
    sotto_sql_int(&q, 4, (int64_t)k->epoch.closes);
    sotto_sql_bytes(&q, 5, sotto_bytes_of(k->public_key, sizeof k->public_key));
    sotto_sql_bytes(&q, 6, a->sealed);
    sotto_sql_bytes(&q, 7, sotto_bytes_of(a->attester, 32));
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    *a->out = *k;
    a->made = true;
    return SOTTO_OK;
}

static sotto_status renew(sotto_tx *tx, const addition *a, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE arc_key SET attester = ?2 WHERE n = ?1", err));
    sotto_sql_int(&q, 1, a->out->n);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(a->attester, 32));
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status read_public(sotto_arc_key *out, const sotto_sql *q, sotto_err *err)
{
    *out = (sotto_arc_key){.n = sotto_sql_column_int(q, 0)};
    SOTTO_TRY(sotto_sql_column_fixed(q, 1, out->epoch.key_id, sizeof out->epoch.key_id, err));
    out->epoch.opens = (uint64_t)sotto_sql_column_int(q, 2);
    out->epoch.closes = (uint64_t)sotto_sql_column_int(q, 3);
    SOTTO_TRY(sotto_sql_column_fixed(q, 6, out->attester, sizeof out->attester, err));
    return sotto_sql_column_fixed(q, 4, out->public_key, sizeof out->public_key, err);
}

static sotto_status add(sotto_tx *tx, void *context, sotto_err *err)
{
    addition *a = context;
    const sotto_arc_epoch *epoch = &a->fresh->epoch;
    sotto_sql q;
    bool row;

    a->made = false;
    SOTTO_TRY(sotto_tx_guard(tx, SOTTO_PROVISIONING, true, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT " COLUMNS " FROM arc_key AS k WHERE k.opens < ?2 AND"
                                " k.closes > ?1 ORDER BY k.opens LIMIT 1",
                                err));
    sotto_sql_int(&q, 1, (int64_t)epoch->opens);
    sotto_sql_int(&q, 2, (int64_t)epoch->closes);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (row)
        SOTTO_TRY(read_public(a->out, &q, err));
    SOTTO_TRY(row ? sotto_sql_run(&q, NULL, err) : SOTTO_OK);
    const bool same =
        row && a->out->epoch.opens == epoch->opens && a->out->epoch.closes == epoch->closes;
    if (SOTTO_RULE(arc_epochs_apart) && row && !same)
        return sotto_fail(err, SOTTO_DENIED, "ARC key: another epoch overlaps this one");
    return same ? renew(tx, a, err) : insert(tx, a, err);
}

sotto_status sotto_arc_key_add(sotto_db *db, sotto_arc_key *out, bool *made, uint64_t opens,
                               uint64_t closes, const uint8_t attester[32],
                               const sotto_column_keys *columns, sotto_err *err)
{
    uint8_t memory[SEALED];
    sotto_buf sealed = sotto_buf_over(memory, sizeof memory);
    sotto_arc_key fresh = {.epoch = {.opens = opens, .closes = closes}};
    addition a = {.out = out, .fresh = &fresh, .attester = attester};

    *made = false;
    if (opens >= closes || closes > INT64_MAX)
        return sotto_fail(err, SOTTO_MALFORMED, "ARC key: an epoch closes after it opens");
    sotto_status status = generate(&fresh, &sealed, columns, err);
    a.sealed = sotto_buf_bytes(&sealed);
    if (status == SOTTO_OK)
        status = sotto_db_run(db, add, &a, err);
    *made = a.made;
    sotto_wipe(&fresh.secret, sizeof fresh.secret);
    sotto_wipe(&out->secret, sizeof out->secret);
    return status;
}

/* ---- reading one ------------------------------------------------------------------------------------------------- */

/* An erased one is cleared. */
static sotto_status read_secret(sotto_arc_key *out, const sotto_column_keys *columns,
                                sotto_bytes sealed, sotto_err *err)
{
    uint8_t memory[SOTTO_ARC_PRIVATE];
    sotto_buf plain = sotto_buf_over(memory, sizeof memory);
    const sotto_column_place place = place_of(out->epoch.key_id);
    sotto_group g;

    out->cleared = sealed.len == 0;
    if (out->cleared)
        return SOTTO_OK;
    sotto_status status = sotto_group_init(&g, &sotto_p256, err);
    if (status == SOTTO_OK)
        status = sotto_column_unseal(&plain, columns, &place, sealed, err);
    if (status == SOTTO_OK && plain.len != sizeof memory)
        status = sotto_fail(err, SOTTO_MALFORMED, "ARC key: damaged");
    if (status == SOTTO_OK)
        status = sotto_arc_private_decode(&g, &out->secret, memory, err);
    sotto_group_clear(&g);
    sotto_wipe(memory, sizeof memory);
    return status;
}

typedef struct get {
    sotto_arc_key *out;
    const uint8_t *id, *attester;
    const sotto_column_keys *columns;
} get;

static sotto_status get_key(sotto_tx *tx, void *context, sotto_err *err)
{
    const get *g = context;
    sotto_sql q;
    bool row;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "SELECT " COLUMNS " FROM arc_key AS k WHERE k.id = ?1", err));
    sotto_sql_bytes(&q, 1, sotto_bytes_of(g->id, SOTTO_TOKEN_KEY_ID));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_MISSING, "ARC key: there is none of this id");
    SOTTO_TRY(read_public(g->out, &q, err));
    /* First of all: strangers cost a row, and no work with a private key. */
    if (SOTTO_RULE(arc_attester_only) &&
        !sotto_bytes_equal(sotto_bytes_of(g->attester, 32), sotto_bytes_of(g->out->attester, 32)))
        return sotto_fail(err, SOTTO_DENIED, "ARC request: not from the attester");
    SOTTO_TRY(read_secret(g->out, g->columns, sotto_sql_column_bytes(&q, 5), err));
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_arc_key_get(sotto_db *db, sotto_arc_key *out,
                               const uint8_t id[SOTTO_TOKEN_KEY_ID], const uint8_t attester[32],
                               const sotto_column_keys *columns, sotto_err *err)
{
    get g = {out, id, attester, columns};

    SOTTO_TRY(sotto_db_read(db, get_key, &g, err));
    if (out->cleared)
        return sotto_fail(err, SOTTO_STALE, "ARC key: its epoch closed long ago");
    return SOTTO_OK;
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

typedef struct listing {
    sotto_buf *out;
    uint64_t since;
} listing;

static sotto_status list_keys(sotto_tx *tx, void *context, sotto_err *err)
{
    const listing *l = context;
    char id[2 * SOTTO_TOKEN_KEY_ID + 1], text[2 * SOTTO_ARC_PUBLIC + 1];
    const char *between = "";
    sotto_arc_key key;
    sotto_sql q;
    bool row;

    l->out->len = 0;
    sotto_writer w = sotto_writer_on(l->out);
    sotto_write_format(&w, "{\"keys\":[");
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q,
        "SELECT " COLUMNS " FROM arc_key AS k WHERE k.closes > ?1 ORDER BY k.opens LIMIT ?2", err));
    sotto_sql_int(&q, 1, (int64_t)l->since);
    sotto_sql_int(&q, 2, SOTTO_ARC_EPOCHS_LISTED);
    for (;;) {
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        if (!row)
            break;
        SOTTO_TRY(read_public(&key, &q, err));
        sotto_hex_encode(id, sotto_bytes_of(key.epoch.key_id, sizeof key.epoch.key_id));
        sotto_hex_encode(text, sotto_bytes_of(key.public_key, sizeof key.public_key));
        sotto_write_format(&w, "%s\n{\"opens\":%llu,\"closes\":%llu,", between,
                           (unsigned long long)key.epoch.opens,
                           (unsigned long long)key.epoch.closes);
        sotto_write_format(&w, "\"id\":\"%s\",\"token_key\":\"%s\"}", id, text);
        between = ",";
    }
    sotto_write_format(&w, "]}\n");
    return sotto_writer_finish(&w, "the list of ARC keys", err);
}

sotto_status sotto_arc_keys_list(sotto_db *db, sotto_buf *out, uint64_t since, sotto_err *err)
{
    listing l = {out, since};

    return sotto_db_read(db, list_keys, &l, err);
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

/* Times in token_key are the epoch's: tags of all its tasks stand under one number, and go when the epoch does. */
sotto_status sotto_arc_key_bind(sotto_tx *tx, int64_t opens, int64_t closes, int64_t n,
                                sotto_err *err)
{
    sotto_sql q;
    bool there;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q,
                          "INSERT INTO token_key (n, task, issuer, spki, opens, closes)"
                          " SELECT k.n, ?1, '', k.public_key, k.opens, k.closes FROM arc_key AS k"
                          " WHERE k.opens <= ?2 AND k.closes >= ?3 AND length(k.secret) > 0"
                          " ON CONFLICT DO NOTHING",
                          err));
    sotto_sql_int(&q, 1, n);
    sotto_sql_int(&q, 2, opens);
    sotto_sql_int(&q, 3, closes);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT n FROM token_key WHERE task = ?1", err));
    sotto_sql_int(&q, 1, n);
    SOTTO_TRY(sotto_sql_any(&q, &there, err));
    if (SOTTO_RULE(arc_epoch_has_the_task) && !there)
        return sotto_fail(
            err, SOTTO_DENIED,
            "ARC key: no epoch of this server has the whole schedule of the task. Make "
            "one with `sotto admin arc`");
    return SOTTO_OK;
}

sotto_status sotto_arc_key_load(sotto_tx *tx, sotto_arc_key *out, int64_t task,
                                const sotto_column_keys *columns, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q,
        "SELECT " COLUMNS ", (SELECT count(*) FROM spent WHERE spent.token_key = k.n AND"
        " spent.nonce = ?2) FROM token_key AS t JOIN arc_key AS k ON k.n = t.n WHERE t.task = ?1",
        err));
    sotto_sql_int(&q, 1, task);
    sotto_sql_bytes(&q, 2, SOTTO_NO_NONCE);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_MISSING, "the task asks for ARC, and has no ARC key");
    SOTTO_TRY(read_public(out, &q, err));
    SOTTO_TRY(read_secret(out, columns, sotto_sql_column_bytes(&q, 5), err));
    out->cleared = out->cleared || sotto_sql_column_int(&q, 7) > 0;
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_arc_keys_erase(sotto_tx *tx, int64_t before, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "UPDATE arc_key SET secret = ?2 WHERE closes < ?1 AND length(secret) > 0", err));
    sotto_sql_int(&q, 1, before);
    sotto_sql_bytes(&q, 2, sotto_bytes_of("", 0));
    return sotto_sql_run(&q, NULL, err);
}
