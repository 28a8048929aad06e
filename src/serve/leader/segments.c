/* Records, segments and their keys. */
#include "serve/leader/segments.h"

#include "base/arena.h"
#include "base/rule.h"
#include "dap/job.h"
#include "serve/leader/sealed_shares.h"
#include "serve/tasks/schema.h"
#include "sotto/random.h"

#include <string.h>

/* ---- records ------------------------------------------------------------------------------------------------ */

size_t sotto_record_size(const sotto_dap_report *r)
{
    return 64 + r->metadata.public_extensions.len + r->public_share.len + r->helper.enc.len +
           r->helper.payload.len + r->leader.payload.len;
}

sotto_status sotto_record_begin(sotto_buf *out, const sotto_dap_report *report, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_report_share_write(&w, &report->metadata, report->public_share, &report->helper);
    return sotto_writer_finish(&w, "record", err);
}

static void read_record(sotto_reader *in, sotto_vdaf_report *out, sotto_bytes *report_share)
{
    const uint8_t *start = in->at;
    sotto_report_metadata metadata;
    sotto_hpke_ciphertext helper;

    sotto_report_share_read(in, &metadata, &out->public_share, &helper);
    *report_share = sotto_bytes_of(start, (size_t)(in->at - start));
    memcpy(out->nonce, metadata.report_id, sizeof out->nonce);
    out->input_share = sotto_read_opaque32(in);
}

bool sotto_record_next(sotto_reader *in, sotto_bytes *record)
{
    const uint8_t *start = in->at;
    sotto_vdaf_report report;
    sotto_bytes report_share;

    if (sotto_reader_left(in) == 0)
        return false;
    read_record(in, &report, &report_share);
    *record = sotto_bytes_of(start, (size_t)(in->at - start));
    return !in->short_read;
}

sotto_status sotto_record_read(sotto_vdaf_report *out, sotto_bytes *report_share,
                               sotto_bytes record, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(record);

    read_record(&in, out, report_share);
    return sotto_reader_finish(&in, "record", err);
}

/* ---- sealing -------------------------------------------------------------------------------------------------- */

/* What the row of a segment's key has: the key, and, if shares stand behind the body, how long the body is without them. */
enum { KEY = SOTTO_COLUMN_KEY_SIZE, KEY_AND_LENGTH = KEY + 8 };

static sotto_status seal_key(sotto_segment *segment, const sotto_column_keys *columns,
                             const sotto_column_keys *own, sotto_bytes row, sotto_arena *arena,
                             sotto_err *err)
{
    sotto_column_place place = {"segment_key", "secret", row};
    uint8_t plain[KEY_AND_LENGTH];
    sotto_buf text = sotto_buf_over(plain, sizeof plain), key;
    sotto_writer w = sotto_writer_on(&text);
    sotto_status status;

    SOTTO_TRY(sotto_buf_take(&key, arena, sizeof plain + SOTTO_COLUMN_OVERHEAD, err));
    sotto_write_bytes(&w, sotto_bytes_of(own->key[0], KEY));
    if (segment->share_count > 0)
        sotto_write_uint(&w, segment->body.len, 8);
    status = sotto_column_seal(&key, columns, &place, sotto_buf_bytes(&text), err);
    sotto_wipe(plain, sizeof plain);
    segment->key = sotto_buf_bytes(&key);
    return status;
}

static sotto_status seal(sotto_segment *segment, const sotto_column_keys *columns,
                         const sotto_bytes *pieces, size_t count, sotto_arena *arena,
                         sotto_err *err)
{
    size_t len = 0;
    sotto_column_keys own = {.count = 1};
    uint8_t row[8];
    sotto_column_place place = {"segment", "body", {row, sizeof row}};
    sotto_buf body;
    uint64_t n;
    sotto_status status;

    for (size_t i = 0; i < count; i++)
        len += pieces[i].len;
    SOTTO_TRY(sotto_buf_take(&body, arena, len + SOTTO_COLUMN_OVERHEAD, err));
    SOTTO_TRY(sotto_random_bytes(&n, sizeof n, err));
    SOTTO_TRY(sotto_random_bytes(own.key[0], sizeof own.key[0], err));
    segment->n = (int64_t)(n >> 1);
    sotto_row_name(row, segment->n);
    status = sotto_column_seal_pieces(&body, &own, &place, pieces, count, err);
    segment->body = sotto_buf_bytes(&body);
    if (status == SOTTO_OK)
        status = seal_key(segment, columns, &own, place.row, arena, err);
    sotto_wipe(&own, sizeof own);
    return status;
}

sotto_status sotto_segment_seal(sotto_segment *segment, const sotto_column_keys *columns,
                                const sotto_bytes *records, size_t count, sotto_arena *arena,
                                sotto_err *err)
{
    segment->share_count = 0;
    return seal(segment, columns, records, count, arena, err);
}

sotto_status sotto_segment_seal_heads(sotto_segment *segment, const sotto_column_keys *columns,
                                      const sotto_bytes *heads, const sotto_bytes *shares,
                                      size_t count, sotto_arena *arena, sotto_err *err)
{
    segment->shares = shares;
    segment->share_count = count;
    return seal(segment, columns, heads, count, arena, err);
}

size_t sotto_segment_size(const sotto_segment *segment)
{
    size_t size = segment->body.len;

    for (size_t i = 0; i < segment->share_count; i++)
        size += segment->shares[i].len;
    return size;
}

sotto_status sotto_segment_join(sotto_segment *segment, sotto_arena *arena, sotto_err *err)
{
    sotto_buf all;
    sotto_writer w;

    if (segment->share_count == 0)
        return SOTTO_OK;
    SOTTO_TRY(sotto_buf_take(&all, arena, sotto_segment_size(segment), err));
    w = sotto_writer_on(&all);
    sotto_write_bytes(&w, segment->body);
    for (size_t i = 0; i < segment->share_count; i++)
        sotto_write_bytes(&w, segment->shares[i]);
    SOTTO_TRY(sotto_writer_finish(&w, "a segment's body", err));
    segment->body = sotto_buf_bytes(&all);
    segment->share_count = 0;
    return SOTTO_OK;
}

/* The reports are there, and can be read once the datastore key is put back, or the disk reads again. */
static sotto_status not_now(sotto_err *err)
{
    if (err)
        err->status = SOTTO_DENIED;
    return SOTTO_DENIED;
}

/* Its key is present. If the body names another key, the name is damaged, and no datastore key is missing. */
static sotto_status open_body(sotto_buf *out, const sotto_column_keys *own,
                              const sotto_column_place *place, sotto_bytes sealed, sotto_err *err)
{
    sotto_err found = {0};
    sotto_status status = sotto_column_unseal(out, own, place, sealed, &found);

    if (SOTTO_RULE(damaged_body_is_noted) && status == SOTTO_MISSING)
        return sotto_fail(err, SOTTO_REJECTED, "a segment's body does not open");
    return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "%s", found.reason);
}

/* The key, and how much of the body it seals; shares follow. */
typedef struct opening {
    sotto_column_keys own;
    size_t sealed;
    bool has_shares;
} opening;

static sotto_status open_key(opening *out, const sotto_column_keys *columns, sotto_bytes sealed_key,
                             size_t body_len, sotto_bytes row, sotto_err *err)
{
    sotto_column_place place = {"segment_key", "secret", row};
    uint8_t plain[KEY_AND_LENGTH];
    sotto_buf text = sotto_buf_over(plain, sizeof plain);
    sotto_status status = sotto_column_unseal(&text, columns, &place, sealed_key, err);
    sotto_reader in = sotto_reader_over(sotto_buf_bytes(&text));

    *out = (opening){.own = {.count = 1}, .sealed = body_len};
    if (SOTTO_RULE(lost_key_is_not_gone) && status == SOTTO_MISSING)
        status = not_now(err);
    if (status == SOTTO_OK) {
        sotto_read_fixed(&in, out->own.key[0], KEY);
        out->has_shares = sotto_reader_left(&in) > 0;
        if (out->has_shares)
            out->sealed = (size_t)sotto_read_uint(&in, 8);
        status = sotto_reader_finish(&in, "a segment's key", err);
    }
    sotto_wipe(plain, sizeof plain);
    if (status == SOTTO_OK && out->sealed > body_len)
        return sotto_fail(err, SOTTO_MALFORMED, "a segment's body is shorter than it was");
    return status;
}

static sotto_status open_segment(sotto_segment *segment, const sotto_column_keys *columns,
                                 sotto_bytes sealed_body, sotto_bytes sealed_key,
                                 sotto_arena *arena, sotto_err *err)
{
    uint8_t row[8];
    sotto_column_place place = {"segment", "body", {row, sizeof row}};
    opening with;
    sotto_buf opened, body;
    sotto_status status;

    sotto_row_name(row, segment->n);
    status = open_key(&with, columns, sealed_key, sealed_body.len, place.row, err);
    if (status == SOTTO_OK)
        status = sotto_buf_take(&opened, arena, with.sealed, err);
    if (status == SOTTO_OK)
        status = open_body(&opened, &with.own, &place,
                           sotto_bytes_of(sealed_body.data, with.sealed), err);
    if (status == SOTTO_OK && with.has_shares)
        status = sotto_buf_take(&body, arena, sealed_body.len, err);
    if (status == SOTTO_OK && with.has_shares)
        status = sotto_sealed_shares_open(
            &body, sotto_buf_bytes(&opened),
            sotto_bytes_of(sealed_body.data + with.sealed, sealed_body.len - with.sealed), err);
    if (status == SOTTO_OK)
        segment->body = sotto_buf_bytes(with.has_shares ? &body : &opened);
    sotto_wipe(&with, sizeof with);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static size_t skip_bytes(size_t reports)
{
    return (reports + 7) / 8;
}

/* INSERT INTO a table of two columns: the segment's number, and bytes. */
static sotto_status put_bytes(sotto_tx *tx, const char *sql, int64_t n, sotto_bytes bytes,
                              sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, sql, err));
    sotto_sql_int(&q, 1, n);
    sotto_sql_bytes(&q, 2, bytes);
    return sotto_sql_run(&q, NULL, err);
}

/* Where a body would be, a row may have its place in the spool: nothing that was sealed is as short. */
_Static_assert((int)SOTTO_SPOOL_SHARED_PLACE_SIZE < (int)SOTTO_COLUMN_OVERHEAD,
               "a place is no body");

sotto_status sotto_segment_put(sotto_tx *tx, const sotto_segment *s, sotto_err *err)
{
    uint8_t place[SOTTO_SPOOL_SHARED_PLACE_SIZE];
    size_t place_size = sotto_spool_place_write(place, &s->place);
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO segment (n, task, bucket, reports, skip, owner,"
                                " added) VALUES (?1, ?2, ?3, ?4, ?5, ?6, {now})",
                                err));
    sotto_sql_int(&q, 1, s->n);
    sotto_sql_int(&q, 2, s->task);
    sotto_sql_int(&q, 3, (int64_t)s->bucket);
    sotto_sql_int(&q, 4, (int64_t)s->reports);
    sotto_sql_bytes(&q, 5, sotto_bytes_of(s->skip, skip_bytes(s->reports)));
    sotto_sql_int(&q, 6, s->owner);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    SOTTO_TRY(put_bytes(tx, "INSERT INTO segment_body (segment, body) VALUES (?1, ?2)", s->n,
                        s->place.len > 0 ? sotto_bytes_of(place, place_size) : s->body, err));
    return put_bytes(tx, "INSERT INTO segment_key (segment, secret) VALUES (?1, ?2)", s->n, s->key,
                     err);
}

size_t sotto_segment_skipped(sotto_bytes skip)
{
    size_t count = 0;

    for (size_t i = 0; i < 8 * skip.len; i++)
        count += (unsigned)skip.data[i / 8] >> (i % 8) & 1u;
    return count;
}

sotto_status sotto_place_follow(sotto_spool_place *place, sotto_bytes *wire, const char *what,
                                uint64_t most, sotto_spool *spool, sotto_arena *arena,
                                sotto_err *err)
{
    sotto_status status;
    sotto_buf room;

    SOTTO_TRY(sotto_spool_place_read(place, *wire, err));
    if (!spool && place->file == 0)
        return sotto_fail(err, SOTTO_BUG, "its %s is in a spool that is not open", what);
    if (!spool) /* it waits until the directory is given again */
        return sotto_fail(err, SOTTO_DENIED,
                          "its %s is in a directory that this leader was not given (option bodies)",
                          what);
    if (place->len > most) /* or it would be retried for ever, without enough memory */
        return sotto_fail(err, SOTTO_MALFORMED, "a %s that is longer than any", what);
    SOTTO_TRY(sotto_buf_take(&room, arena, (size_t)place->len + 1, err));
    status = sotto_spool_get(spool, &room, place, err);
    /* Often a bad sector: the database and other bodies are fine. */
    if (SOTTO_RULE(bad_disk_is_unreadable) && status == SOTTO_IO)
        status = not_now(err);
    SOTTO_TRY(status);
    *wire = sotto_buf_bytes(&room);
    return SOTTO_OK;
}

/* The sealed body of a row, wherever it is. */
static sotto_status find_body(sotto_segment *s, sotto_bytes *body, sotto_spool *spool,
                              sotto_arena *arena, sotto_err *err)
{
    s->place = (sotto_spool_place){0};
    if (body->len != SOTTO_SPOOL_PLACE_SIZE && body->len != SOTTO_SPOOL_SHARED_PLACE_SIZE)
        return SOTTO_OK;
    return sotto_place_follow(&s->place, body, "body", SOTTO_SEGMENT_MAX_BODY, spool, arena, err);
}

sotto_status sotto_segments_claim_places(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_spool *spool = context;
    sotto_spool_place place;
    sotto_status status;
    sotto_err why = {0};
    sotto_sql q;
    bool row;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "SELECT body FROM segment_body WHERE length(body) = ?1", err));
    sotto_sql_int(&q, 1, SOTTO_SPOOL_PLACE_SIZE);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        status = sotto_spool_place_read(&place, sotto_sql_column_bytes(&q, 0), &why);
        if (status == SOTTO_OK)
            status = sotto_spool_claim(spool, &place, &why);
        /* A damaged row keeps no leader from starting: it is noted when it is read. */
        if (status != SOTTO_OK && status != SOTTO_MALFORMED)
            return sotto_fail(err, status, "%s", why.reason);
        why = (sotto_err){0};
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

_Static_assert((int)SOTTO_SPOOL_PLACE_SIZE == 16, "where the file stands in a place");

sotto_status sotto_segments_name_file(sotto_tx *tx, void *context, sotto_err *err)
{
    uint8_t place[SOTTO_SPOOL_SHARED_PLACE_SIZE];
    sotto_segments_of_file *find = context;
    size_t size = sotto_spool_place_write(place, &(const sotto_spool_place){.file = find->file});
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT 1 FROM segment_body WHERE length(body) = ?1"
                                " AND substr(body, 17) = ?2"
                                " UNION ALL SELECT 1 FROM job WHERE length(request) = ?1"
                                " AND substr(request, 17) = ?2 LIMIT 1",
                                err));
    sotto_sql_int(&q, 1, (int64_t)size);
    sotto_sql_bytes(&q, 2,
                    sotto_bytes_of(place + SOTTO_SPOOL_PLACE_SIZE, size - SOTTO_SPOOL_PLACE_SIZE));
    return sotto_sql_any(&q, &find->named, err);
}

sotto_status sotto_segment_get(sotto_tx *tx, sotto_segment *s, const sotto_column_keys *columns,
                               sotto_spool *spool, sotto_arena *arena, sotto_err *err)
{
    sotto_bytes skip, body;
    sotto_sql q;
    bool row;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q,
                          "SELECT s.task, s.bucket, s.reports, s.skip, b.body, k.secret, s.owner,"
                          " s.job, s.unreadable"
                          " FROM segment s LEFT JOIN segment_body b ON b.segment = s.n"
                          " LEFT JOIN segment_key k ON k.segment = s.n WHERE s.n = ?1",
                          err));
    sotto_sql_int(&q, 1, s->n);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_MISSING, "no such segment");
    s->task = sotto_sql_column_int(&q, 0);
    s->bucket = (uint64_t)sotto_sql_column_int(&q, 1);
    s->reports = (size_t)sotto_sql_column_int(&q, 2);
    s->owner = sotto_sql_column_int(&q, 6);
    s->claimed = !sotto_sql_column_null(&q, 7);
    s->noted = !sotto_sql_column_null(&q, 8);
    skip = sotto_sql_column_bytes(&q, 3);
    s->skipped = sotto_segment_skipped(skip);
    if (skip.len != skip_bytes(s->reports) || s->skipped > s->reports)
        return sotto_fail(err, SOTTO_MALFORMED, "a segment's list of skips is not its own");
    s->skip = sotto_arena_take(arena, skip.len + 1);
    if (!s->skip)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a segment");
    memcpy(s->skip, skip.data, skip.len);
    /* The three rows are added and deleted together, but a repair of a damaged file may have lost
     * one of them. */
    if (sotto_sql_column_null(&q, 4) || sotto_sql_column_null(&q, 5))
        return sotto_fail(err, SOTTO_MALFORMED, "a segment's body or its key is gone");
    body = sotto_sql_column_bytes(&q, 4);
    SOTTO_TRY(find_body(s, &body, spool, arena, err));
    SOTTO_TRY(open_segment(s, columns, body, sotto_sql_column_bytes(&q, 5), arena, err));
    return sotto_sql_run(&q, NULL, err);
}

/* The rows of a query for n, task, bucket, reports and skip. */
static sotto_status read_waiting(sotto_sql *q, sotto_segment *out, size_t most, size_t *count,
                                 int64_t owner, sotto_err *err)
{
    bool row;

    *count = 0;
    SOTTO_TRY(sotto_sql_step(q, &row, err));
    while (row && *count < most) {
        size_t reports = (size_t)sotto_sql_column_int(q, 3);
        size_t skipped = sotto_segment_skipped(sotto_sql_column_bytes(q, 4));

        /* A list that names more records than there are is damaged, which shows when the segment is
         * read. */
        out[(*count)++] = (sotto_segment){.n = sotto_sql_column_int(q, 0),
                                          .task = sotto_sql_column_int(q, 1),
                                          .bucket = (uint64_t)sotto_sql_column_int(q, 2),
                                          .owner = owner,
                                          .reports = reports,
                                          .skipped = skipped < reports ? skipped : reports};
        SOTTO_TRY(sotto_sql_step(q, &row, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_segments_adopt(sotto_tx *tx, sotto_segment *out, size_t most, size_t *count,
                                  int64_t owner, int64_t age_ms, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q,
                          "SELECT n, task, bucket, reports, skip FROM segment"
                          " WHERE job IS NULL AND owner <> ?1 AND (?2 = 0 OR added <= {now} - ?2)"
                          " ORDER BY n LIMIT ?3 {skip_locked}",
                          err));
    sotto_sql_int(&q, 1, owner);
    sotto_sql_int(&q, 2, age_ms);
    sotto_sql_int(&q, 3, (int64_t)most);
    SOTTO_TRY(read_waiting(&q, out, most, count, owner, err));
    for (size_t i = 0; i < *count; i++) {
        SOTTO_TRY(sotto_sql_prepare(
            tx, &q, "UPDATE segment SET owner = ?2, added = {now} WHERE n = ?1", err));
        sotto_sql_int(&q, 1, out[i].n);
        sotto_sql_int(&q, 2, owner);
        SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_segments_of(sotto_tx *tx, sotto_segment *out, size_t most, size_t *count,
                               int64_t owner, int64_t age_ms, int64_t after, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT n, task, bucket, reports, skip FROM segment"
                                " WHERE job IS NULL AND owner = ?1 AND added <= {now} - ?2"
                                " AND n > ?3 ORDER BY n LIMIT ?4",
                                err));
    sotto_sql_int(&q, 1, owner);
    sotto_sql_int(&q, 2, age_ms);
    sotto_sql_int(&q, 3, after);
    sotto_sql_int(&q, 4, (int64_t)most);
    return read_waiting(&q, out, most, count, owner, err);
}

sotto_status sotto_segment_claim(sotto_tx *tx, int64_t segment, int64_t job, sotto_err *err)
{
    sotto_sql q;
    uint64_t changed;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "UPDATE segment SET job = ?2, unreadable = NULL WHERE n = ?1 AND job IS NULL",
        err));
    sotto_sql_int(&q, 1, segment);
    sotto_sql_int(&q, 2, job);
    SOTTO_TRY(sotto_sql_run(&q, &changed, err));
    return changed == 1 ? SOTTO_OK : sotto_fail(err, SOTTO_STALE, "another job has this segment");
}

/* The keys are erased; the bodies without them are noise, and are only deleted. */
sotto_status sotto_segments_destroy(sotto_tx *tx, int64_t job, sotto_err *err)
{
    static const char *const statements[] = {
        "DELETE FROM segment_key WHERE segment IN (SELECT n FROM segment WHERE job = ?1)",
        "DELETE FROM segment_body WHERE segment IN (SELECT n FROM segment WHERE job = ?1)",
        "DELETE FROM segment WHERE job = ?1",
    };

    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        sotto_sql q;

        SOTTO_TRY(sotto_sql_prepare(tx, &q, statements[i], err));
        sotto_sql_int(&q, 1, job);
        SOTTO_TRY(i == 0 ? sotto_sql_erase(&q, NULL, err) : sotto_sql_run(&q, NULL, err));
    }
    return SOTTO_OK;
}
