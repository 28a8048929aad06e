#include "serve/witness/beacon_duty.h"

#include "aggregate/shared/decryptors.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/rule.h"
#include "db/store.h"
#include "serve/host/pool.h"
#include "sotto/random.h"

#include <string.h>

enum { BEACON_GUARD = 12 };

/* ---- the witnesses -------------------------------------------------------------------------------------------------- */

static sotto_status read_witnesses(sotto_beacon_duty *duty, const char *path,
                                   const sotto_note_key *own, sotto_err *err)
{
    sotto_key_file file;
    bool found = false;

    SOTTO_TRY(sotto_key_file_read(&file, path, err));
    for (size_t i = 0; i < file.count; i++) {
        const uint8_t *key = file.keys[i].public_key;

        if (file.keys[i].kind != SOTTO_NOTE_COSIGNATURE)
            return sotto_fail(err, SOTTO_DENIED, "%.80s: key %zu is of no witness", path, i + 1);
        /* Whoever is there twice counts twice, and fewer than a third lie only where nobody does. */
        for (size_t j = 0; j < i; j++)
            if (SOTTO_RULE(beacon_listed_once) &&
                memcmp(duty->keys[j], key, SOTTO_SIGN_PUBLIC) == 0)
                return sotto_fail(err, SOTTO_DENIED, "%.80s: keys %zu and %zu are the same", path,
                                  j + 1, i + 1);
        memcpy(duty->keys[i], key, SOTTO_SIGN_PUBLIC);
        if (memcmp(key, own->public_key, SOTTO_SIGN_PUBLIC) == 0) {
            duty->place = (uint32_t)i;
            found = true;
        }
    }
    duty->count = (uint32_t)file.count;
    if (duty->count < SOTTO_DECRYPTORS_LEAST)
        return sotto_fail(err, SOTTO_DENIED, "%.80s: a beacon has at least %d witnesses", path,
                          SOTTO_DECRYPTORS_LEAST);
    return found ? SOTTO_OK
                 : sotto_fail(err, SOTTO_DENIED, "%.80s: this witness is not among them", path);
}

sotto_status sotto_beacon_duty_open(sotto_beacon_duty *duty, sotto_host *host,
                                    const char *witnesses, const char *token,
                                    const sotto_note_signer *key, sotto_err *err)
{
    duty->host = host;
    duty->signer = &key->signer;
    if (!witnesses)
        return SOTTO_OK;
    if (!token)
        return sotto_fail(err, SOTTO_MISSING,
                          "a witness of a beacon needs the option beacon_token");
    SOTTO_TRY(sotto_bearer_read(&duty->asker, token, err));
    SOTTO_TRY(read_witnesses(duty, witnesses, &key->key, err));
    duty->is_on = true;
    return SOTTO_OK;
}

void sotto_beacon_duty_clear(sotto_beacon_duty *duty)
{
    sotto_wipe(&duty->asker, sizeof duty->asker);
}

bool sotto_beacon_duty_admits(const sotto_beacon_duty *duty, sotto_http_request *request)
{
    unsigned refused = 0;

    if (!duty->is_on)
        refused = 404;
    /* Anybody else could settle an epoch on a session that nobody has, or begin a meeting that nobody ends. */
    else if (SOTTO_RULE(beacon_asked_by_token) && !sotto_bearer_is(&duty->asker, request))
        refused = 401;
    if (refused)
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = refused});
    return refused == 0;
}

/* ---- one input in an epoch --------------------------------------------------------------------------------------------- */

typedef struct question {
    sotto_beacon_duty *duty;
    sotto_http_request *request;
    sotto_beacon_input input;
    uint8_t share[SOTTO_P256_SCALAR];
    bool is_another;
    sotto_db_job job;
} question;

/* What was answered in this epoch is found, or stored before the part is made. */
static sotto_status decide(sotto_tx *tx, void *context, sotto_err *err)
{
    question *q = context;
    uint8_t session[32], registry[32];
    sotto_sql sql;
    bool row;

    q->is_another = false; /* a transaction may be run again */
    SOTTO_TRY(sotto_tx_guard(tx, BEACON_GUARD, true, err));
    SOTTO_TRY(sotto_beacon_key_share(tx, q->duty, q->share, err));
    SOTTO_TRY(
        sotto_sql_prepare(tx, &sql, "SELECT session, registry FROM beacon WHERE epoch = ?1", err));
    sotto_sql_int(&sql, 1, (int64_t)q->input.epoch);
    SOTTO_TRY(sotto_sql_step(&sql, &row, err));
    if (row) {
        SOTTO_TRY(sotto_sql_column_fixed(&sql, 0, session, sizeof session, err));
        SOTTO_TRY(sotto_sql_column_fixed(&sql, 1, registry, sizeof registry, err));
        if (SOTTO_RULE(beacon_one_session) &&
            (memcmp(session, q->input.session, sizeof session) != 0 ||
             memcmp(registry, q->input.registry, sizeof registry) != 0))
            q->is_another = true;
        return SOTTO_OK;
    }
    SOTTO_TRY(sotto_sql_prepare(
        tx, &sql, "INSERT INTO beacon (epoch, session, registry) VALUES (?1, ?2, ?3)", err));
    sotto_sql_int(&sql, 1, (int64_t)q->input.epoch);
    sotto_sql_bytes(&sql, 2, sotto_bytes_of(q->input.session, sizeof q->input.session));
    sotto_sql_bytes(&sql, 3, sotto_bytes_of(q->input.registry, sizeof q->input.registry));
    return sotto_sql_run(&sql, NULL, err);
}

/* ---- the answer --------------------------------------------------------------------------------------------------------- */

static sotto_status make_part(question *q, sotto_beacon_part *part, sotto_err *err)
{
    sotto_scalar share;
    uint8_t nonce[32];
    sotto_tdh2 t;

    SOTTO_TRY(sotto_random_bytes(nonce, sizeof nonce, err));
    sotto_status status = sotto_tdh2_init(&t, err);
    if (status == SOTTO_OK && !sotto_scalar_decode(&t.group, &share, q->share))
        status = sotto_fail(err, SOTTO_BUG, "a share that is no scalar");
    if (status == SOTTO_OK)
        status = sotto_beacon_give(&t, part->bytes, &q->input, &share, nonce, err);
    sotto_tdh2_clear(&t);
    sotto_wipe(&share, sizeof share);
    sotto_wipe(nonce, sizeof nonce);
    part->place = q->duty->place;
    return status;
}

static void forget(question *q)
{
    sotto_wipe(q->share, sizeof q->share);
    sotto_release(q, sizeof *q);
}

/* On a compute thread: the epoch is settled on this input, and on disk. */
static void give(void *context, sotto_worker *worker)
{
    static const sotto_http_field type = {"Content-Type", "application/octet-stream"};
    question *q = context;
    sotto_beacon_part part = {0};
    uint8_t bytes[SOTTO_BEACON_PLACED];
    sotto_buf out = sotto_buf_over(bytes, sizeof bytes);

    (void)worker;
    if (make_part(q, &part, NULL) == SOTTO_OK &&
        sotto_beacon_part_encode(&out, &part, NULL) == SOTTO_OK) {
        atomic_fetch_add(&q->duty->given, 1);
        sotto_http_answer(q->request, &(sotto_http_reply){200, &type, 1, sotto_buf_bytes(&out)});
    } else {
        (void)sotto_http_refuse(q->request, &(sotto_http_problem){.status = 503});
    }
    forget(q);
}

/* Where the compute threads have no place, the server asks again, and finds the epoch settled on what it asks for. */
static void on_decided(void *context, sotto_status status, const sotto_err *err)
{
    question *q = context;

    (void)err;
    if (status == SOTTO_OK && !q->is_another &&
        sotto_pool_post(q->duty->host->pool, give, q, NULL) == SOTTO_OK)
        return;
    if (status == SOTTO_OK && q->is_another) {
        atomic_fetch_add(&q->duty->refused, 1);
        sotto_log(&q->duty->host->options.log, SOTTO_LOG_WARNING, "witness.second_session",
                  sotto_log_uint("epoch", q->input.epoch));
        (void)sotto_http_refuse(q->request, &(sotto_http_problem){.status = 409});
    } else {
        (void)sotto_http_refuse(
            q->request, &(sotto_http_problem){.status = status == SOTTO_MISSING ? 404 : 503});
    }
    forget(q);
}

void sotto_beacon_duty_answer(sotto_beacon_duty *duty, sotto_http_request *request)
{
    question *q = sotto_alloc(sizeof *q);

    if (!q) {
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 503});
        return;
    }
    q->duty = duty;
    q->request = request;
    if (sotto_beacon_input_decode(&q->input, sotto_http_request_body(request), NULL) != SOTTO_OK ||
        q->input.epoch > INT64_MAX) {
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 400});
        forget(q);
        return;
    }
    q->job = (sotto_db_job){decide, q, on_decided, q, NULL, SOTTO_OK, {0}};
    sotto_db_post(duty->host->db, &q->job);
}
