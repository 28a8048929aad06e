/* A second server with the HPKE keys of the first. */
#include "support/database.h"
#include "support/service.h"

#include <string.h>

typedef struct ring_copy {
    uint64_t count;
    struct {
        int64_t id, state, since;
        uint8_t secret[256];
        size_t len;
    } row[8];
} ring_copy;

static sotto_status copy_ring(sotto_tx *tx, void *context, sotto_err *err)
{
    ring_copy *c = context;
    sotto_sql q;
    bool row;

    c->count = 0;
    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "SELECT config_id, state, since, secret FROM hpke_key", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row && c->count < 8) {
        sotto_bytes secret = sotto_sql_column_bytes(&q, 3);

        c->row[c->count].id = sotto_sql_column_int(&q, 0);
        c->row[c->count].state = sotto_sql_column_int(&q, 1);
        c->row[c->count].since = sotto_sql_column_int(&q, 2);
        c->row[c->count].len = secret.len;
        memcpy(c->row[c->count++].secret, secret.data, secret.len);
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

static sotto_status replace_ring(sotto_tx *tx, void *context, sotto_err *err)
{
    const ring_copy *c = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "DELETE FROM hpke_key", err));
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    for (size_t i = 0; i < c->count; i++) {
        SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                    "INSERT INTO hpke_key (config_id, state, since, secret)"
                                    " VALUES (?1, ?2, ?3, ?4)",
                                    err));
        sotto_sql_int(&q, 1, c->row[i].id);
        sotto_sql_int(&q, 2, c->row[i].state);
        sotto_sql_int(&q, 3, c->row[i].since);
        sotto_sql_bytes(&q, 4, sotto_bytes_of(c->row[i].secret, c->row[i].len));
        SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    }
    return SOTTO_OK;
}

sotto_server *sotto_test_helper_twin(sotto_test *t, sotto_test_service *s)
{
    sotto_server_options options = s->helper_options;
    sotto_server *twin = NULL;
    ring_copy ring;

    options.host.listen = "127.0.0.1:0";
    options.host.database = sotto_test_address(t);
    CHECK_OK(t, sotto_server_open(&twin, &options, &t->err));
    CHECK_OK(t, sotto_db_read(s->helper->db, copy_ring, &ring, &t->err));
    CHECK_OK(t, sotto_db_run(twin->db, replace_ring, &ring, &t->err));
    CHECK_OK(t, sotto_keys_rotate(twin->keys, sotto_host_seconds(twin->host), &t->err));
    return twin;
}
