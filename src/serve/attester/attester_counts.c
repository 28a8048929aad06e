#include "serve/attester/attester_counts.h"

#include "base/rule.h"
#include "crypto/hash.h"
#include "db/sql.h"

#include <string.h>

typedef struct row {
    sotto_bytes device, key_id, digest;
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

/* Inserts where there is none, then reads what stands there: in two transactions at once the second waits for the first. */
static sotto_status count(sotto_tx *tx, void *context, sotto_err *err)
{
    const row *r = context;
    sotto_sql q;
    bool there, same;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO issuance (device, key_id, request)"
                                " VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                                err));
    sotto_sql_bytes(&q, 1, r->device);
    sotto_sql_bytes(&q, 2, r->key_id);
    sotto_sql_bytes(&q, 3, r->digest);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT request FROM issuance WHERE device = ?1 AND key_id = ?2", err));
    sotto_sql_bytes(&q, 1, r->device);
    sotto_sql_bytes(&q, 2, r->key_id);
    SOTTO_TRY(sotto_sql_step(&q, &there, err));
    same = there && sotto_bytes_equal(sotto_sql_column_bytes(&q, 0), r->digest);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    if (SOTTO_RULE(one_token_a_key) && !same)
        return sotto_fail(err, SOTTO_DENIED, "attester: the device has asked under this key");
    return SOTTO_OK;
}

sotto_status sotto_attester_count(sotto_db *db, const uint8_t device[SOTTO_ATTESTER_ID],
                                  const uint8_t key_id[SOTTO_ATTESTER_ID], sotto_bytes request,
                                  sotto_err *err)
{
    uint8_t digest[32];
    row r = {.device = sotto_bytes_of(device, SOTTO_ATTESTER_ID),
             .key_id = sotto_bytes_of(key_id, SOTTO_ATTESTER_ID),
             .digest = sotto_bytes_of(digest, sizeof digest)};

    sotto_hash_once(digest, SOTTO_SHA256, request);
    return sotto_db_run(db, count, &r, err);
}
