#include "support/steps.h"

#include "dap/collect.h"
#include "db/sql.h"
#include "serve/host/health.h"
#include "serve/host/host_metrics.h"
#include "support/database.h"

#include <stdio.h>
#include <string.h>

void sotto_test_upload_some(sotto_test *t, sotto_test_service *s, size_t count, uint64_t bin,
                            sotto_test_flaw flaw)
{
    sotto_bytes reports = sotto_test_sealed_reports(t, s, count, bin, flaw);

    CHECK_EQUAL(t, 200, sotto_test_upload(t, s, reports).status);
}

void sotto_test_check_sum(sotto_test *t, sotto_test_service *s, uint64_t wanted)
{
    uint64_t reports = 0, counts[16] = {0};

    CHECK_EQUAL(t, 200, sotto_test_collect(t, s, 1, &reports, counts));
    CHECK_EQUAL(t, wanted, reports);
    CHECK_EQUAL(t, wanted, counts[1]);
}

static sotto_status put_stuck(sotto_tx *tx, void *context, sotto_err *err)
{
    static const uint8_t skip[1];
    const sotto_test_service *s = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO segment (n, task, bucket, reports, skip, owner, added)"
                                " SELECT 1, n, ?1, 1, ?2, 2, {now} + 1000000000 FROM task",
                                err));
    sotto_sql_int(&q, 1, (int64_t)s->bucket);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(skip, sizeof skip));
    return sotto_sql_run(&q, NULL, err);
}

void sotto_test_put_stuck(sotto_test *t, const sotto_test_service *s)
{
    CHECK_OK(t, sotto_db_run(s->leader->db, put_stuck, (void *)(uintptr_t)s, &t->err));
}

void sotto_test_want(sotto_test *t, sotto_test_service *s)
{
    uint64_t reports = 0, counts[16] = {0};
    unsigned patience = s->patience;

    s->patience = 1;
    (void)sotto_test_collect(t, s, 1, &reports, counts);
    s->patience = patience;
}

sotto_http_response sotto_test_ask_collection(sotto_test *t, sotto_test_service *s)
{
    sotto_dap_collection_req ask = {
        .query = {.mode = (sotto_dap_batch_mode)s->task.batch_mode, .interval = {s->bucket, 1}}};
    uint8_t memory[256];
    sotto_buf req = sotto_buf_over(memory, sizeof memory);

    CHECK_OK(t, sotto_dap_collection_req_encode(&req, &ask, &t->err));
    return sotto_test_post(t, s, true, "collection_jobs", SOTTO_DAP_COLLECTION_JOB_REQ,
                           s->pairing.collector_token, sotto_buf_bytes(&req));
}

void sotto_test_told_refusals(sotto_test *t, const sotto_server *server, sotto_rejections *out)
{
    sotto_bytes told = sotto_test_ask_bytes(t, server->db, "SELECT rejections FROM release");

    CHECK_OK(t, sotto_dap_rejections_decode(out, told, &t->err));
}

void sotto_test_helper_stop(sotto_test *t, sotto_test_service *s)
{
    enum { ROOM = 32 };
    char *listen = sotto_arena_take(&t->arena, ROOM);

    CHECK(t, listen != NULL);
    (void)snprintf(listen, ROOM, "127.0.0.1:%u", sotto_server_port(s->helper));
    s->helper_options.host.listen = listen;
    sotto_server_close(s->helper);
    s->helper = NULL;
}

void sotto_test_helper_start(sotto_test *t, sotto_test_service *s)
{
    CHECK_OK(t, sotto_server_open(&s->helper, &s->helper_options, &t->err));
}

const char *sotto_test_pages(sotto_test *t, sotto_server *server, bool *ready)
{
    size_t size = 64 << 10;
    char *text = sotto_arena_take(&t->arena, size);
    sotto_buf out = sotto_buf_over((uint8_t *)text, size - 1);

    CHECK(t, text != NULL);
    *ready = sotto_health_describe(server->host, &out);
    CHECK_OK(t, sotto_host_metrics_write(&out, server->host, &t->err));
    text[out.len] = 0;
    return text;
}

static sotto_status flip(sotto_tx *tx, void *context, sotto_err *err)
{
    static uint8_t bytes[1 << 16];
    const sotto_test_damage *d = context;
    int64_t n;
    size_t len;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, d->select, err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    len = row ? sotto_sql_column_bytes(&q, 1).len : 0;
    if (len == 0 || len > sizeof bytes)
        return sotto_fail(err, SOTTO_BUG, "nothing to change");
    n = sotto_sql_column_int(&q, 0);
    memcpy(bytes, sotto_sql_column_bytes(&q, 1).data, len);
    bytes[d->last ? len - 1 : 0] ^= 1;
    SOTTO_TRY(sotto_sql_prepare(tx, &q, d->update, err));
    sotto_sql_int(&q, 1, n);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(bytes, len));
    return sotto_sql_run(&q, NULL, err);
}

void sotto_test_flip(sotto_test *t, sotto_db *db, const sotto_test_damage *damage)
{
    sotto_test_damage copy = *damage;

    CHECK_OK(t, sotto_db_run(db, flip, &copy, &t->err));
}

int64_t sotto_test_refused(sotto_test *t, const sotto_test_service *s, unsigned cause)
{
    char sql[120];

    (void)snprintf(sql, sizeof sql,
                   "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM rejection"
                   " WHERE cause = %u",
                   cause);
    return sotto_test_ask_number(t, s->leader->db, sql);
}
