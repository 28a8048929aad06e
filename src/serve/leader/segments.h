/* serve/leader/segments.h - reports that wait for their job: many in one sealed blob, under a key of its own.
 *
 * Callers:  the intake writes them, jobs read and destroy them.
 * Secrets:  the leader's input shares; sealed in the database, wiped with the arena elsewhere.
 *
 * Destroying the key's row erases the reports of the segment.
 */
#ifndef SOTTO_SERVE_LEADER_SEGMENTS_H
#define SOTTO_SERVE_LEADER_SEGMENTS_H

#include "aggregate/two_server.h"
#include "dap/report.h"
#include "db/sealed.h"
#include "db/spool.h"
#include "db/sql.h"

/* Of a sealed body. A longer one, sealed and open, would take all the memory of a job. */
enum { SOTTO_SEGMENT_MAX_BODY = 128 << 20 };

/* The leader keeps a report as its record. It is DAP's ReportShare as it will be sent to the helper, then the length of the
 * leader's own input share in four bytes, then that share, open. So a record begins with the report's id. */

/* At least what the record of this report takes. */
size_t sotto_record_size(const sotto_dap_report *report);
/* Appends the record up to the leader's share. */
SOTTO_MUST_USE sotto_status sotto_record_begin(sotto_buf *out, const sotto_dap_report *report,
                                               sotto_err *err);
/* The next record of several; false at the end, or at bytes that are invalid. */
bool sotto_record_next(sotto_reader *in, sotto_bytes *record);
/* What the leader's first step takes, and the ReportShare; both borrowed from the record.
 *   SOTTO_MALFORMED  it is no record */
SOTTO_MUST_USE sotto_status sotto_record_read(sotto_vdaf_report *out, sotto_bytes *report_share,
                                              sotto_bytes record, sotto_err *err);

typedef struct sotto_segment {
    int64_t n;
    int64_t task;
    uint64_t bucket;
    int64_t owner;    /* the process that forms its job                            */
    bool claimed;     /* after reading: some job has it                             */
    bool noted;       /* ... and it could not be read before: serve/leader/unreadable.h    */
    size_t reports;   /* records in the body                                        */
    size_t skipped;   /* of them, those that were taken before: bits set in `skip`   */
    uint8_t *skip;    /* a bit for each record, the lowest first                      */
    sotto_bytes body; /* sealed; or, after reading, open                             */
    const sotto_bytes *shares; /* behind the body, as their clients sealed them; borrowed     */
    size_t share_count;
    sotto_bytes key;         /* sealed                                                      */
    sotto_spool_place place; /* of the sealed body; none: it stands in the row       */
} sotto_segment;

/* How many records a list of skips names. */
size_t sotto_segment_skipped(sotto_bytes skip);

/* Seals the records under a fresh key; fills in n, body and key, in the arena. */
SOTTO_MUST_USE sotto_status sotto_segment_seal(sotto_segment *segment,
                                               const sotto_column_keys *columns,
                                               const sotto_bytes *records, size_t count,
                                               sotto_arena *arena, sotto_err *err);
/* The same of long reports: `heads` (sealed_shares.h) are sealed, and the shares stay where and as they are. */
SOTTO_MUST_USE sotto_status sotto_segment_seal_heads(sotto_segment *segment,
                                                     const sotto_column_keys *columns,
                                                     const sotto_bytes *heads,
                                                     const sotto_bytes *shares, size_t count,
                                                     sotto_arena *arena, sotto_err *err);
/* Bytes of the body with its shares. */
size_t sotto_segment_size(const sotto_segment *segment);
/* One piece of body and shares, in the arena: for a row. */
SOTTO_MUST_USE sotto_status sotto_segment_join(sotto_segment *segment, sotto_arena *arena,
                                               sotto_err *err);
/* The body itself goes into the row unless it has a place. */
SOTTO_MUST_USE sotto_status sotto_segment_put(sotto_tx *tx, const sotto_segment *segment,
                                              sotto_err *err);
/* Reads and opens a segment whose n is given; everything lies in the arena. spool: NULL if there is none.
 *   SOTTO_MISSING  it is gone
 *   SOTTO_DENIED   it is sealed with a datastore key that we do not have */
SOTTO_MUST_USE sotto_status sotto_segment_get(sotto_tx *tx, sotto_segment *segment,
                                              const sotto_column_keys *columns, sotto_spool *spool,
                                              sotto_arena *arena, sotto_err *err);
/* Reads what a row's place names: `wire` is the place, and then these bytes, in the arena. what: a word for errors.
 *   SOTTO_DENIED     its file is not to be had, and may come back
 *   SOTTO_MALFORMED  it is no place, or one of more than `most` bytes */
SOTTO_MUST_USE sotto_status sotto_place_follow(sotto_spool_place *place, sotto_bytes *wire,
                                               const char *what, uint64_t most, sotto_spool *spool,
                                               sotto_arena *arena, sotto_err *err);
/* Claims the places of all bodies in a spool that was just opened. */
sotto_status sotto_segments_claim_places(sotto_tx *tx, void *spool, sotto_err *err);

typedef struct sotto_segments_of_file {
    uint64_t file; /* of a directory: db/spool_shared.h */
    bool named;    /* a row names it: a segment's, or a job's */
} sotto_segments_of_file;
/* context: a sotto_segments_of_file */
sotto_status sotto_segments_name_file(sotto_tx *tx, void *context, sotto_err *err);
/* Takes over up to `most` segments that wait with no job and whose owner, another process, has been silent for
 * longer than age_ms since they came. With 0 the time does not matter, since the clock may have been set back.
 * *count is how many, with n, task, bucket, reports and skipped filled in. */
SOTTO_MUST_USE sotto_status sotto_segments_adopt(sotto_tx *tx, sotto_segment *out, size_t most,
                                                 size_t *count, int64_t owner, int64_t age_ms,
                                                 sotto_err *err);
/* Reads segments of this owner that have waited with no job for age_ms, those whose numbers follow `after`, the lowest
 * first; otherwise as above. */
SOTTO_MUST_USE sotto_status sotto_segments_of(sotto_tx *tx, sotto_segment *out, size_t most,
                                              size_t *count, int64_t owner, int64_t age_ms,
                                              int64_t after, sotto_err *err);
/* Gives a segment that no job has, and that could be read, to this one. SOTTO_STALE: it is another's, or gone. */
SOTTO_MUST_USE sotto_status sotto_segment_claim(sotto_tx *tx, int64_t segment, int64_t job,
                                                sotto_err *err);
/* Destroys the keys and bodies of a job's segments. */
SOTTO_MUST_USE sotto_status sotto_segments_destroy(sotto_tx *tx, int64_t job, sotto_err *err);

#endif
