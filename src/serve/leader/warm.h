/* serve/leader/warm.h - the reports of a segment that are still in memory, so that its job needs not read them back.
 *
 * Callers:  the intake makes them once a segment is on disk; lanes carry them; the job frees them.
 * Memory:   a sotto_warm keeps the uploads alive whose reports it has. How much there may be is bounded; what would be
 *           beyond that is read back, which costs time and nothing else.
 * Secrets:  the leader's input shares; wiped with the uploads.
 */
#ifndef SOTTO_SERVE_LEADER_WARM_H
#define SOTTO_SERVE_LEADER_WARM_H

#include "serve/leader/segments.h"

struct sotto_leader;
struct sotto_upload_request;

typedef struct sotto_warm {
    sotto_spool_place place; /* of the segment's body                            */
    sotto_bytes *records;    /* those that its job is to take, in the body's order */
    size_t count, room;
    struct sotto_upload_request **uploads;
    size_t upload_count, upload_room;
} sotto_warm;

/* NULL: no memory for it, or there is too much already. */
sotto_warm *sotto_warm_new(struct sotto_leader *leader, size_t records, size_t uploads);
/* At most as many as it was made for. */
void sotto_warm_add_upload(sotto_warm *warm, struct sotto_upload_request *upload);
void sotto_warm_add_record(sotto_warm *warm, sotto_bytes record);
/* NULL is fine. */
void sotto_warm_free(sotto_warm *warm);

#endif
