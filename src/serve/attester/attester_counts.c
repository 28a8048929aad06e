#include "serve/attester/attester_counts.h"

#include "base/rule.h"
#include "crypto/hash.h"
#include "db/sql.h"

#include <stdlib.h>
#include <string.h>

enum { COUNTED, DROPPING, DROPPED }; /* listed.state */
enum { AT_ONCE = 5000 };             /* rows, so that no transaction lasts long */
enum { POINTER = sizeof(void *) };

typedef struct row {
    sotto_bytes device;
    bool enrolled, found;
} row;

static sotto_status enrol(sotto_tx *tx, void *context, sotto_err *err)
{
    const row *r = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                r->enrolled
                                    ? "INSERT INTO device (id) VALUES (?1) ON CONFLICT DO NOTHING"
                                    : "DELETE FROM device WHERE id = ?1",
                                err));
    sotto_sql_bytes(&q, 1, r->device);
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_attester_enrol(sotto_db *db, const uint8_t id[SOTTO_ATTESTER_ID], bool enrolled,
                                  sotto_err *err)
{
    row r = {.device = sotto_bytes_of(id, SOTTO_ATTESTER_ID), .enrolled = enrolled};

    return sotto_db_run(db, enrol, &r, err);
}

typedef struct many {
    const uint8_t *ids;
    size_t count;
} many;

static sotto_status enrol_all(sotto_tx *tx, void *context, sotto_err *err)
{
    const many *m = context;

    for (size_t i = 0; i < m->count; i++) {
        row r = {.device = sotto_bytes_of(m->ids + i * SOTTO_ATTESTER_ID, SOTTO_ATTESTER_ID),
                 .enrolled = true};

        SOTTO_TRY(enrol(tx, &r, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_attester_enrol_many(sotto_db *db, const uint8_t *ids, size_t count,
                                       sotto_err *err)
{
    many m = {ids, count};

    return sotto_db_run(db, enrol_all, &m, err);
}

static sotto_status look(sotto_tx *tx, void *context, sotto_err *err)
{
    row *r = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT id FROM device WHERE id = ?1", err));
    sotto_sql_bytes(&q, 1, r->device);
    return sotto_sql_any(&q, &r->found, err);
}

sotto_status sotto_attester_is_enrolled(sotto_db *db, const uint8_t id[SOTTO_ATTESTER_ID],
                                        sotto_err *err)
{
    row r = {.device = sotto_bytes_of(id, SOTTO_ATTESTER_ID)};

    SOTTO_TRY(sotto_db_read(db, look, &r, err));
    return r.found ? SOTTO_OK : sotto_fail(err, SOTTO_MISSING, "attester: not an enrolled device");
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

typedef struct batch {
    sotto_attester_request **all;
    size_t count;
} batch;

/* Inserts the row if there is none, then reads it. Of two transactions at once, the second waits for the first. */
static sotto_status note_key(sotto_tx *tx, const sotto_attester_key *key, bool *counted,
                             sotto_err *err)
{
    const sotto_bytes id = sotto_bytes_of(key->id, sizeof key->id);
    sotto_sql q;
    bool there;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO listed (id, closes, state) VALUES (?1, ?2, 0)"
                                " ON CONFLICT DO NOTHING",
                                err));
    sotto_sql_bytes(&q, 1, id);
    sotto_sql_int(&q, 2, key->closes);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT state FROM listed WHERE id = ?1", err));
    sotto_sql_bytes(&q, 1, id);
    SOTTO_TRY(sotto_sql_step(&q, &there, err));
    *counted = !there || sotto_sql_column_int(&q, 0) == COUNTED;
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status count_one(sotto_tx *tx, sotto_attester_request *asked, sotto_err *err)
{
    const sotto_bytes device = sotto_bytes_of(asked->device, sizeof asked->device);
    const sotto_bytes id = sotto_bytes_of(asked->key.id, sizeof asked->key.id);
    uint8_t digest[32];
    sotto_sql q;
    bool there, same;

    sotto_hash_once(digest, SOTTO_SHA256, sotto_bytes_of(asked->request, sizeof asked->request));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO issuance (device, key_id, request)"
                                " VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                                err));
    sotto_sql_bytes(&q, 1, device);
    sotto_sql_bytes(&q, 2, id);
    sotto_sql_bytes(&q, 3, sotto_bytes_of(digest, sizeof digest));
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT request FROM issuance WHERE device = ?1 AND key_id = ?2", err));
    sotto_sql_bytes(&q, 1, device);
    sotto_sql_bytes(&q, 2, id);
    SOTTO_TRY(sotto_sql_step(&q, &there, err));
    same = there &&
           sotto_bytes_equal(sotto_sql_column_bytes(&q, 0), sotto_bytes_of(digest, sizeof digest));
    asked->status = SOTTO_OK;
    if (SOTTO_RULE(one_token_a_key) && !same)
        asked->status = SOTTO_DENIED;
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status count_all(sotto_tx *tx, void *context, sotto_err *err)
{
    const batch *b = context;
    bool counted;

    SOTTO_TRY(note_key(tx, &b->all[0]->key, &counted, err));
    for (size_t i = 0; i < b->count; i++) {
        if (SOTTO_RULE(dropped_keys_stay_closed) && !counted) {
            b->all[i]->status = SOTTO_STALE;
            continue;
        }
        SOTTO_TRY(count_one(tx, b->all[i], err));
    }
    return SOTTO_OK;
}

static int by_device(const void *a, const void *b)
{
    const sotto_attester_request *const *x = a, *const *y = b;

    return memcmp((*x)->device, (*y)->device, SOTTO_ATTESTER_ID);
}

sotto_status sotto_attester_count(sotto_db *db, sotto_attester_request **all, size_t count,
                                  sotto_err *err)
{
    batch b = {all, count};

    if (count == 0)
        return SOTTO_OK;
    qsort(all, count, POINTER, by_device);
    return sotto_db_run(db, count_all, &b, err);
}

/* ---- dropping ---------------------------------------------------------------------------------------------------- */

typedef struct drop {
    int64_t before;
    uint8_t key_id[SOTTO_ATTESTER_ID];
    uint64_t rows;
    bool found;
} drop;

static sotto_status find_closed(sotto_tx *tx, drop *d, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT id FROM listed WHERE closes < ?1 AND state < ?2"
                                " ORDER BY closes LIMIT 1",
                                err));
    sotto_sql_int(&q, 1, d->before);
    sotto_sql_int(&q, 2, DROPPED);
    SOTTO_TRY(sotto_sql_step(&q, &d->found, err));
    if (d->found)
        SOTTO_TRY(sotto_sql_column_fixed(&q, 0, d->key_id, sizeof d->key_id, err));
    return sotto_sql_run(&q, NULL, err);
}

/* The key is refused as soon as the first row is deleted. It is finished when a pass deletes fewer
 * rows than it may. */
static sotto_status drop_some(sotto_tx *tx, void *context, sotto_err *err)
{
    drop *d = context;
    const sotto_bytes id = sotto_bytes_of(d->key_id, sizeof d->key_id);
    sotto_sql q;

    SOTTO_TRY(find_closed(tx, d, err));
    if (!d->found)
        return SOTTO_OK;
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "DELETE FROM issuance WHERE key_id = ?1 AND device IN"
                                " (SELECT device FROM issuance WHERE key_id = ?1 LIMIT ?2)",
                                err));
    sotto_sql_bytes(&q, 1, id);
    sotto_sql_int(&q, 2, AT_ONCE);
    SOTTO_TRY(sotto_sql_run(&q, &d->rows, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE listed SET state = ?2 WHERE id = ?1", err));
    sotto_sql_bytes(&q, 1, id);
    sotto_sql_int(&q, 2, d->rows < AT_ONCE ? DROPPED : DROPPING);
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_attester_drop(sotto_db *db, int64_t before, uint64_t *dropped, bool *more,
                                 sotto_err *err)
{
    drop d = {.before = before};

    SOTTO_TRY(sotto_db_run(db, drop_some, &d, err));
    *dropped += d.found ? d.rows : 0;
    *more = d.found;
    return SOTTO_OK;
}
