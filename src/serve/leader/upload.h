/* serve/leader/upload.h - one upload request between its body and its answer. */
#ifndef SOTTO_SERVE_LEADER_UPLOAD_H
#define SOTTO_SERVE_LEADER_UPLOAD_H

#include "seal/hpke/agreed.h"
#include "serve/leader/segments.h"
#include "serve/tasks/resources.h"
#include "serve/tasks/server.h"

#include <stdatomic.h>

enum { SOTTO_UPLOAD_MAX_REPORTS = SOTTO_REQUEST_MAX_REPORTS };

/* POST /tasks/{id}/reports */
sotto_handler sotto_upload_handle;

/* One report of it. */
typedef struct sotto_uploaded {
    struct sotto_upload_request *upload;
    uint8_t id[SOTTO_REPORT_ID_SIZE];
    uint64_t bucket;
    uint8_t error;      /* 0: acceptable so far, else a report error  */
    sotto_bytes record; /* as it is kept (serve/leader/segments.h)            */
    /* Of a long one, in the request's body: */
    const sotto_dap_report *report;  /* as it came, until it is opened                */
    sotto_bytes head, share;         /* as it is kept (serve/leader/sealed_shares.h) */
    struct sotto_token_spend *spend; /* its token; NULL: its task asks for none */
} sotto_uploaded;

typedef struct sotto_upload_request {
    struct sotto_upload_request *next; /* of those that are opened, then stored, together */
    sotto_server *server;
    const sotto_server_task *task;
    struct sotto_http_request *request;
    size_t body_bytes;
    sotto_bytes unread; /* its encoded reports, until they are opened */
    sotto_uploaded *reports;
    size_t count;
    sotto_buf records; /* what `record` of each lies in, in the arena */
    sotto_dap_report
        *dap_reports; /* of a task with long reports: what `report` of each points to; else NULL */
    size_t put_off;   /* ... of them, those that are there */
    sotto_status failed; /* a report could not be looked at, through no fault of its own */
    sotto_arena arena;
    atomic_uint
        users; /* references: the request itself, and what holds its reports (serve/leader/cached_reports.h) */
    size_t cached_bytes; /* counted in the leader's cached_bytes; 0: not */
} sotto_upload_request;

/* How many agreements open a report's share and check its token, and whose keys they are with. */
enum { SOTTO_OPENED_WITH = 2 };
void sotto_upload_peers(const sotto_server_task *task, const sotto_dap_report *report,
                        sotto_agreement with[SOTTO_OPENED_WITH], uint8_t ids[SOTTO_OPENED_WITH]);
/* Opens a report that was put off, into `into`; its error says what is wrong with it. If nothing is, *input is what the first step
 * takes of it, and *report_share is DAP's ReportShare. aad: room for the associated data. */
void sotto_upload_open_long(sotto_uploaded *report, sotto_vdaf_report *input,
                            sotto_bytes *report_share, sotto_worker *worker, sotto_buf *aad,
                            sotto_buf *into, const sotto_agreement with[SOTTO_OPENED_WITH]);
/* Opens a chain of uploads, but for long reports; as serve/leader/arrivals.h wants it. */
void sotto_upload_open_many(sotto_upload_request *chain, sotto_worker *worker);

/* One more user of its reports. */
void sotto_upload_keep(sotto_upload_request *upload);
/* Drops one reference; the last one frees the memory. */
void sotto_upload_drop(sotto_upload_request *upload);

/* Tells the client what became of each report, and ends the upload. */
void sotto_upload_answer(sotto_upload_request *upload);
/* Tells the client to try again, and ends the upload. */
void sotto_upload_give_up(sotto_upload_request *upload, sotto_status status);

#endif
