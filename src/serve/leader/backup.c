#define _POSIX_C_SOURCE 200809L
#include "serve/leader/backup.h"

#include "base/alloc.h"
#include "db/spool.h"
#include "serve/leader/segments.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 600 };

/* One segment of the copy whose body is elsewhere. */
typedef struct stray {
    int64_t segment;
    sotto_spool_place place;
    uint64_t reports;
    bool found;      /* there is one */
    bool alive;      /* the running server still has it, after its body was read */
    const char *why; /* its body can't be read; NULL: it can */
    sotto_buf body;
} stray;

static sotto_status find_stray(sotto_tx *tx, void *context, sotto_err *err)
{
    stray *s = context;
    uint64_t skipped;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT b.segment, b.body, s.reports, s.skip FROM segment_body b"
                                " LEFT JOIN segment s ON s.n = b.segment"
                                " WHERE length(b.body) = ?1 LIMIT 1",
                                err));
    sotto_sql_int(&q, 1, SOTTO_SPOOL_PLACE_SIZE);
    SOTTO_TRY(sotto_sql_step(&q, &s->found, err));
    if (!s->found)
        return SOTTO_OK;
    s->segment = sotto_sql_column_int(&q, 0);
    s->reports = (uint64_t)sotto_sql_column_int(&q, 2);
    skipped = sotto_segment_skipped(sotto_sql_column_bytes(&q, 3));
    s->reports -= skipped < s->reports ? skipped : s->reports;
    if (sotto_spool_place_read(&s->place, sotto_sql_column_bytes(&q, 1), NULL) != SOTTO_OK ||
        s->place.len > SOTTO_SEGMENT_MAX_BODY)
        s->why = "the row does not say where it is";
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status is_alive(sotto_tx *tx, void *context, sotto_err *err)
{
    stray *s = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT 1 FROM segment_body WHERE segment = ?1", err));
    sotto_sql_int(&q, 1, s->segment);
    return sotto_sql_any(&q, &s->alive, err);
}

/* Its reports were acknowledged, so the copy lists them. A server that runs from the copy finds a segment that can't be
 * read, and its batch waits until the operator abandons it, as it does now. */
static sotto_status leave_gap(sotto_tx *tx, const stray *s, sotto_err *err)
{
    char why[sizeof err->reason];
    sotto_sql q;

    (void)snprintf(why, sizeof why, "not in the backup: %s", s->why);
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "DELETE FROM segment_body WHERE segment = ?1", err));
    sotto_sql_int(&q, 1, s->segment);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE segment SET unreadable = ?2 WHERE n = ?1", err));
    sotto_sql_int(&q, 1, s->segment);
    sotto_sql_text(&q, 2, why);
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status take_in(sotto_tx *tx, void *context, sotto_err *err)
{
    static const char *const gone[] = {"DELETE FROM segment_body WHERE segment = ?1",
                                       "DELETE FROM segment_key WHERE segment = ?1",
                                       "DELETE FROM segment WHERE n = ?1"};
    const stray *s = context;
    sotto_sql q;

    if (s->alive && s->why)
        return leave_gap(tx, s, err);
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

/* What can't be read is noted in s, and is no failure of the copy. */
static sotto_status read_body(int spool, stray *s, sotto_err *err)
{
    uint64_t at = s->place.block * SOTTO_SPOOL_BLOCK;

    if (s->why)
        return SOTTO_OK;
    s->body = sotto_buf_over(sotto_alloc((size_t)s->place.len + 1), (size_t)s->place.len);
    if (!s->body.data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a body");
    while (s->body.len < s->body.cap) {
        ssize_t got = pread(spool, s->body.data + s->body.len, s->body.cap - s->body.len,
                            (off_t)at + (off_t)s->body.len);

        if (got <= 0) {
            s->why = got < 0 ? "the disk does not read it" : "the file of bodies ends before it";
            return SOTTO_OK;
        }
        s->body.len += (size_t)got;
    }
    return SOTTO_OK;
}

/* The order matters: a place is used again only after its row has gone. So a body whose row is still there after the
 * body was read is the one that the row names. */
static sotto_status fill_copy(sotto_db *copy, sotto_db *db, int spool, sotto_backup_gap_fn *gap,
                              void *context, sotto_err *err)
{
    for (;;) {
        stray s = {0};
        sotto_status status;

        SOTTO_TRY(sotto_db_read(copy, find_stray, &s, err));
        if (!s.found)
            return SOTTO_OK;
        if (spool < 0) /* not one body's fault: most likely the caller may not read the file */
            return sotto_fail(err, SOTTO_IO, "the bodies beside the database can't be opened");
        status = read_body(spool, &s, err);
        if (status == SOTTO_OK)
            status = sotto_db_read(db, is_alive, &s, err);
        if (status == SOTTO_OK)
            status = sotto_db_run(copy, take_in, &s, err);
        if (status == SOTTO_OK && s.alive && s.why)
            gap(context, s.segment, s.reports, s.why);
        sotto_release(s.body.data, s.body.cap + 1);
        SOTTO_TRY(status);
    }
}

sotto_status sotto_server_backup(sotto_db *db, const char *address, const char *path,
                                 sotto_backup_gap_fn *gap, void *context, sotto_err *err)
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
        status = fill_copy(copy, db, spool, gap, context, err);
    sotto_db_close(copy);
    if (spool >= 0)
        (void)close(spool);
    if (status != SOTTO_OK)
        (void)unlink(path); /* an incomplete copy is of no use */
    return status;
}
