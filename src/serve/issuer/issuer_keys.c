#include "serve/issuer/issuer_keys.h"

#include "base/hex.h"
#include "base/writer.h"
#include "db/sql.h"

#include <string.h>

static sotto_column_place place_of(const uint8_t id[SOTTO_TOKEN_KEY_ID])
{
    return (sotto_column_place){"token_key", "secret", sotto_bytes_of(id, SOTTO_TOKEN_KEY_ID)};
}

/* ---- one key a collection ---------------------------------------------------------------------------------------- */

typedef struct put {
    const sotto_issuer_collection *collection;
    const sotto_issuer_key *fresh; /* NULL: only look */
    sotto_bytes sealed;
    sotto_issuer_key *out;
    int64_t erase_before;
    bool made;
} put;

static sotto_status erase_closed(sotto_tx *tx, int64_t before, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "UPDATE token_key SET secret = ?2 WHERE closes < ?1 AND length(secret) > 0", err));
    sotto_sql_int(&q, 1, before);
    sotto_sql_bytes(&q, 2, sotto_bytes_of("", 0));
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status insert(sotto_tx *tx, put *p, sotto_err *err)
{
    uint64_t changed;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO token_key (id, analysis, opens, closes, spki, secret)"
                                " VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
                                " ON CONFLICT (analysis, opens) DO NOTHING",
                                err));
    sotto_sql_bytes(&q, 1, sotto_bytes_of(p->fresh->id, sizeof p->fresh->id));
    sotto_sql_text(&q, 2, p->collection->analysis);
    sotto_sql_int(&q, 3, p->collection->opens);
    sotto_sql_int(&q, 4, p->collection->closes);
    sotto_sql_bytes(&q, 5, sotto_bytes_of(p->fresh->spki, sizeof p->fresh->spki));
    sotto_sql_bytes(&q, 6, p->sealed);
    SOTTO_TRY(sotto_sql_run(&q, &changed, err));
    p->made = changed > 0;
    return SOTTO_OK;
}

static sotto_status put_key(sotto_tx *tx, void *context, sotto_err *err)
{
    put *p = context;
    sotto_sql q;
    bool row;

    p->made = false;
    if (p->fresh) {
        SOTTO_TRY(erase_closed(tx, p->erase_before, err));
        SOTTO_TRY(insert(tx, p, err));
    }
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT id, spki, closes FROM token_key WHERE analysis = ?1 AND opens = ?2", err));
    sotto_sql_text(&q, 1, p->collection->analysis);
    sotto_sql_int(&q, 2, p->collection->opens);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_MISSING, "token key: none for this collection");
    SOTTO_TRY(sotto_sql_column_fixed(&q, 0, p->out->id, sizeof p->out->id, err));
    SOTTO_TRY(sotto_sql_column_fixed(&q, 1, p->out->spki, sizeof p->out->spki, err));
    p->out->closes = sotto_sql_column_int(&q, 2);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    if (p->out->closes != p->collection->closes)
        return sotto_fail(err, SOTTO_DENIED, "token key: the collection closes at another time");
    return SOTTO_OK;
}

sotto_status sotto_issuer_key_find(sotto_db *db, sotto_issuer_key *out,
                                   const sotto_issuer_collection *collection, sotto_err *err)
{
    put p = {.collection = collection, .out = out};

    return sotto_db_read(db, put_key, &p, err);
}

sotto_status sotto_issuer_key_put(sotto_db *db, sotto_issuer_key *out, bool *made,
                                  const sotto_issuer_collection *collection,
                                  const sotto_rsa_private *secret, const sotto_column_keys *columns,
                                  int64_t erase_before, sotto_err *err)
{
    uint8_t der[SOTTO_RSA_DER_MAX], sealed[SOTTO_RSA_DER_MAX + SOTTO_COLUMN_OVERHEAD];
    sotto_buf plain = sotto_buf_over(der, sizeof der),
              out_sealed = sotto_buf_over(sealed, sizeof sealed);
    sotto_issuer_key fresh = {.closes = collection->closes};
    put p = {.collection = collection, .fresh = &fresh, .out = out, .erase_before = erase_before};
    sotto_type2_key key = {0};
    sotto_status status = sotto_type2_key_encode(fresh.spki, &secret->public_key, err);

    if (status == SOTTO_OK)
        status = sotto_type2_key_decode(&key, sotto_bytes_of(fresh.spki, sizeof fresh.spki), err);
    memcpy(fresh.id, key.id, sizeof fresh.id);
    sotto_type2_key_clear(&key);
    if (status == SOTTO_OK)
        status = sotto_rsa_private_encode(secret, &plain, err);
    const sotto_column_place place = place_of(fresh.id);
    if (status == SOTTO_OK)
        status = sotto_column_seal(&out_sealed, columns, &place, sotto_buf_bytes(&plain), err);
    sotto_wipe(der, sizeof der);
    p.sealed = sotto_buf_bytes(&out_sealed);
    if (status == SOTTO_OK)
        status = sotto_db_run(db, put_key, &p, err);
    *made = p.made;
    return status;
}

/* ---- by its id --------------------------------------------------------------------------------------------------- */

typedef struct get {
    const uint8_t *id;
    sotto_buf sealed;
    int64_t closes;
} get;

static sotto_status get_key(sotto_tx *tx, void *context, sotto_err *err)
{
    get *g = context;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT secret, closes FROM token_key WHERE id = ?1", err));
    sotto_sql_bytes(&q, 1, sotto_bytes_of(g->id, SOTTO_TOKEN_KEY_ID));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_MISSING, "token key: there is none of this id");
    g->sealed.len = 0;
    g->closes = sotto_sql_column_int(&q, 1);
    sotto_writer w = sotto_writer_on(&g->sealed);
    sotto_write_bytes(&w, sotto_sql_column_bytes(&q, 0));
    SOTTO_TRY(sotto_writer_finish(&w, "a sealed token key", err));
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_issuer_key_get(sotto_db *db, sotto_rsa_private *secret, int64_t *closes,
                                  const uint8_t id[SOTTO_TOKEN_KEY_ID],
                                  const sotto_column_keys *columns, sotto_err *err)
{
    uint8_t der[SOTTO_RSA_DER_MAX], sealed[SOTTO_RSA_DER_MAX + SOTTO_COLUMN_OVERHEAD];
    sotto_buf plain = sotto_buf_over(der, sizeof der);
    get g = {.id = id, .sealed = sotto_buf_over(sealed, sizeof sealed)};
    const sotto_column_place place = place_of(id);

    memset(secret, 0, sizeof *secret);
    SOTTO_TRY(sotto_db_read(db, get_key, &g, err));
    *closes = g.closes;
    if (g.sealed.len == 0)
        return sotto_fail(err, SOTTO_STALE, "token key: closed long ago, and erased");
    sotto_status status =
        sotto_column_unseal(&plain, columns, &place, sotto_buf_bytes(&g.sealed), err);
    if (status == SOTTO_OK)
        status = sotto_rsa_private_decode(secret, sotto_buf_bytes(&plain), err);
    sotto_wipe(der, sizeof der);
    return status;
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

typedef struct listing {
    sotto_buf *out;
    int64_t since;
} listing;

static sotto_status list_keys(sotto_tx *tx, void *context, sotto_err *err)
{
    const listing *l = context;
    sotto_buf *out = l->out;
    char id[2 * SOTTO_TOKEN_KEY_ID + 1], spki[2 * SOTTO_TYPE2_SPKI + 1];
    uint8_t bytes[SOTTO_TYPE2_SPKI];
    const char *between = "";
    sotto_sql q;
    bool row;

    out->len = 0;
    sotto_writer w = sotto_writer_on(out);
    sotto_write_format(&w, "{\"keys\":[");
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT id, spki, analysis, opens, closes FROM token_key"
                                " WHERE closes >= ?1 ORDER BY n",
                                err));
    sotto_sql_int(&q, 1, l->since);
    for (;;) {
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        if (!row)
            break;
        SOTTO_TRY(sotto_sql_column_fixed(&q, 0, bytes, SOTTO_TOKEN_KEY_ID, err));
        sotto_hex_encode(id, sotto_bytes_of(bytes, SOTTO_TOKEN_KEY_ID));
        SOTTO_TRY(sotto_sql_column_fixed(&q, 1, bytes, SOTTO_TYPE2_SPKI, err));
        sotto_hex_encode(spki, sotto_bytes_of(bytes, SOTTO_TYPE2_SPKI));
        sotto_write_format(&w, "%s\n{\"analysis\":\"%s\",\"opens\":%lld,\"closes\":%lld,", between,
                           sotto_sql_column_text(&q, 2), (long long)sotto_sql_column_int(&q, 3),
                           (long long)sotto_sql_column_int(&q, 4));
        sotto_write_format(&w, "\"id\":\"%s\",\"token_key\":\"%s\"}", id, spki);
        between = ",";
    }
    sotto_write_format(&w, "]}\n");
    return sotto_writer_finish(&w, "the list of token keys", err);
}

sotto_status sotto_issuer_keys_list(sotto_db *db, sotto_buf *out, int64_t since, sotto_err *err)
{
    listing l = {out, since};

    return sotto_db_read(db, list_keys, &l, err);
}
