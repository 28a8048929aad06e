#include "serve/witness/beacon_duty.h"

#include "aggregate/shared/decryptors.h"
#include "base/alloc.h"
#include "base/hex.h"
#include "base/log.h"
#include "base/rule.h"
#include "base/secret_file.h"
#include "db/store.h"
#include "serve/host/pool.h"
#include "sotto/random.h"

#include <string.h>

enum { BEACON_GUARD = 12, SHARE_LINE = 128 };

/* ---- the share -------------------------------------------------------------------------------------------------------- */

/* PLACE, a space, and 64 digits. */
static bool read_share(sotto_beacon_duty *duty, sotto_bytes line)
{
    uint8_t bytes[SOTTO_P256_SCALAR] = {0};
    uint32_t place = 0;
    size_t at = 0;
    sotto_group g;

    for (; at < line.len && at < 3 && line.data[at] >= '0' && line.data[at] <= '9'; at++)
        place = 10 * place + (uint32_t)(line.data[at] - '0');
    bool right = at > 0 && at < line.len && line.data[at] == ' ' && place < SOTTO_DECRYPTORS_MOST &&
                 sotto_hex_decode(bytes, sizeof bytes,
                                  sotto_bytes_of(line.data + at + 1, line.len - at - 1));
    if (right) {
        right = sotto_group_init(&g, &sotto_p256, NULL) == SOTTO_OK &&
                sotto_scalar_decode(&g, &duty->share, bytes);
        sotto_group_clear(&g);
    }
    duty->place = place;
    sotto_wipe(bytes, sizeof bytes);
    return right;
}

sotto_status sotto_beacon_duty_open(sotto_beacon_duty *duty, sotto_host *host, const char *share,
                                    const char *token, sotto_err *err)
{
    uint8_t bytes[SHARE_LINE];
    sotto_buf line = sotto_buf_over(bytes, sizeof bytes);
    sotto_err why = {0};

    duty->host = host;
    if (!share)
        return SOTTO_OK;
    if (!token)
        return sotto_fail(err, SOTTO_MISSING,
                          "a witness of a beacon needs the option beacon_token");
    SOTTO_TRY(sotto_bearer_read(&duty->asker, token, err));
    const sotto_status status = sotto_secret_file_read(&line, share, SOTTO_SECRET_GIVEN, &why);
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "%.80s %s", share, why.reason);
    while (line.len > 0 && line.data[line.len - 1] == '\n')
        line.len--;
    duty->is_on = read_share(duty, sotto_buf_bytes(&line));
    sotto_wipe(bytes, sizeof bytes);
    return duty->is_on
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_MALFORMED,
                            "%.80s: not a witness's place and share of a beacon's key", share);
}

void sotto_beacon_duty_clear(sotto_beacon_duty *duty)
{
    sotto_wipe(&duty->share, sizeof duty->share);
    sotto_wipe(&duty->asker, sizeof duty->asker);
}

/* ---- one input in an epoch --------------------------------------------------------------------------------------------- */

typedef struct question {
    sotto_beacon_duty *duty;
    sotto_http_request *request;
    sotto_beacon_input input;
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
    uint8_t nonce[32];
    sotto_tdh2 t;

    SOTTO_TRY(sotto_random_bytes(nonce, sizeof nonce, err));
    sotto_status status = sotto_tdh2_init(&t, err);
    if (status == SOTTO_OK)
        status = sotto_beacon_give(&t, part->bytes, &q->input, &q->duty->share, nonce, err);
    sotto_tdh2_clear(&t);
    sotto_wipe(nonce, sizeof nonce);
    part->place = q->duty->place;
    return status;
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
    sotto_release(q, sizeof *q);
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
        (void)sotto_http_refuse(q->request, &(sotto_http_problem){.status = 503});
    }
    sotto_release(q, sizeof *q);
}

void sotto_beacon_duty_answer(sotto_beacon_duty *duty, sotto_http_request *request)
{
    question *q;
    unsigned refused = 0;

    if (!duty->is_on)
        refused = 404;
    /* Anybody else could settle an epoch on a session that nobody has. */
    else if (SOTTO_RULE(beacon_asked_by_token) && !sotto_bearer_is(&duty->asker, request))
        refused = 401;
    if (refused) {
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = refused});
        return;
    }
    q = sotto_alloc(sizeof *q);
    if (!q) {
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 503});
        return;
    }
    q->duty = duty;
    q->request = request;
    if (sotto_beacon_input_decode(&q->input, sotto_http_request_body(request), NULL) != SOTTO_OK ||
        q->input.epoch > INT64_MAX) {
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 400});
        sotto_release(q, sizeof *q);
        return;
    }
    q->job = (sotto_db_job){decide, q, on_decided, q, NULL, SOTTO_OK, {0}};
    sotto_db_post(duty->host->db, &q->job);
}
