#define _POSIX_C_SOURCE 200809L
#include "serve/backup.h"

#include "base/alloc.h"
#include "db/spool.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 600 };

/* One segment of the copy whose body is elsewhere. */
typedef struct stray {
    int64_t segment;
    sotto_spool_place place;
    bool found; /* there is one */
    bool alive; /* the running server still has it, after its body was read */
    sotto_buf body;
} stray;

static sotto_status find_stray(sotto_tx *tx, void *context, sotto_err *err)
{
    stray *s = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT segment, body FROM segment_body WHERE length(body) = ?1 LIMIT 1", err));
    sotto_sql_int(&q, 1, SOTTO_SPOOL_PLACE_SIZE);
    SOTTO_TRY(sotto_sql_step(&q, &s->found, err));
    if (!s->found)
        return SOTTO_OK;
    s->segment = sotto_sql_column_int(&q, 0);
    SOTTO_TRY(sotto_spool_place_read(&s->place, sotto_sql_column_bytes(&q, 1), err));
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status is_alive(sotto_tx *tx, void *context, sotto_err *err)
{
    stray *s = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT 1 FROM segment_body WHERE segment = ?1", err));
    sotto_sql_int(&q, 1, s->segment);
    SOTTO_TRY(sotto_sql_step(&q, &s->alive, err));
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status take_in(sotto_tx *tx, void *context, sotto_err *err)
{
    static const char *const gone[] = {"DELETE FROM segment_body WHERE segment = ?1",
                                       "DELETE FROM segment_key WHERE segment = ?1",
                                       "DELETE FROM segment WHERE n = ?1"};
    const stray *s = context;
    sotto_sql q;

    if (s->alive) {
        SOTTO_TRY(
            sotto_sql_prepare(tx, &q, "UPDATE segment_body SET body = ?2 WHERE segment = ?1", err));
        sotto_sql_int(&q, 1, s->segment);
        sotto_sql_bytes(&q, 2, sotto_buf_bytes(&s->body));
        return sotto_sql_run(&q, NULL, err);
    }
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
        SOTTO_TRY(sotto_sql_prepare(tx, &q, gone[i], err));
        sotto_sql_int(&q, 1, s->segment);
        SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    }
    return SOTTO_OK;
}

static sotto_status read_body(int spool, stray *s, sotto_err *err)
{
    uint64_t at = s->place.block * SOTTO_SPOOL_BLOCK;

    s->body = sotto_buf_over(sotto_alloc((size_t)s->place.len + 1), (size_t)s->place.len);
    if (!s->body.data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a body");
    while (s->body.len < s->body.cap) {
        ssize_t got = pread(spool, s->body.data + s->body.len, s->body.cap - s->body.len,
                            (off_t)at + (off_t)s->body.len);

        if (got <= 0)
            return sotto_fail(err, SOTTO_IO, "the bodies beside the database can't be read");
        s->body.len += (size_t)got;
    }
    return SOTTO_OK;
}

/* The order matters: a place is used again only after its row has gone, so a body whose row is there after it was read
 * is the one that the row names. */
static sotto_status fill_copy(sotto_db *copy, sotto_db *db, int spool, sotto_err *err)
{
    for (;;) {
        stray s = {0};
        sotto_status status;

        SOTTO_TRY(sotto_db_read(copy, find_stray, &s, err));
        if (!s.found)
            return SOTTO_OK;
        status = read_body(spool, &s, err);
        if (status == SOTTO_OK)
            status = sotto_db_read(db, is_alive, &s, err);
        if (status == SOTTO_OK)
            status = sotto_db_run(copy, take_in, &s, err);
        sotto_release(s.body.data, s.body.cap + 1);
        SOTTO_TRY(status);
    }
}

sotto_status sotto_server_backup(sotto_db *db, const char *address, const char *path,
                                 sotto_err *err)
{
    char spool_path[PATH_BYTES], copy_address[PATH_BYTES];
    sotto_db *copy = NULL;
    sotto_status status;
    int spool;

    SOTTO_TRY(sotto_db_backup(db, path, err));
    (void)snprintf(spool_path, sizeof spool_path, "%s-bodies", address + strlen("sqlite:"));
    (void)snprintf(copy_address, sizeof copy_address, "sqlite:%s", path);
    spool = open(spool_path, O_RDONLY | O_CLOEXEC);
    status = sotto_db_open(&copy, &(sotto_db_options){.address = copy_address}, err);
    if (status == SOTTO_OK)
        status = fill_copy(copy, db, spool, err);
    sotto_db_close(copy);
    if (spool >= 0)
        (void)close(spool);
    if (status != SOTTO_OK)
        (void)unlink(path); /* half a copy is none */
    return status;
}
