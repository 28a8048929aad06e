/* dap/job.h - the messages of an aggregation job, between leader and helper.
 *
 * Memory, threads, statuses: as dap/dap.h says.
 *
 * All three end in a list that runs to the end of the body (for Janus, behind a 32-bit length). A decoder walks it
 * once and counts; the caller then reads it item by item. An encoder begins a list, adds items for as long as they
 * fit, and ends it. "Not ready yet" is no message: an empty body, with Retry-After and Location.
 */
#ifndef SOTTO_DAP_JOB_H
#define SOTTO_DAP_JOB_H

#include "dap/dap.h"

/* A list being written. */
typedef struct sotto_dap_list {
    sotto_buf *out;
    size_t start;   /* where the message begins, to undo it on failure */
    size_t items;   /* of the list                                */
    bool prefixed;  /* a length stands before it                  */
    uint32_t count; /* items so far                               */
} sotto_dap_list;

/* Ends any of the three. SOTTO_TOO_LARGE: the list is too long for its length; the message is taken back. */
SOTTO_MUST_USE sotto_status sotto_dap_list_end(sotto_dap_list *list, sotto_err *err);

/* ---- aggregation-job-init-req -------------------------------------------------------------------- */

typedef struct sotto_dap_job_init_req {
    uint8_t verification_key_id;
    sotto_bytes agg_param;                 /* borrowed; empty for Prio3 */
    bool has_batch_id;                     /* leader selected only      */
    uint8_t batch_id[SOTTO_BATCH_ID_SIZE]; /* extension 1               */
    size_t count;                          /* decoding: how many        */
    sotto_bytes verify_inits;              /* decoding: borrowed        */
} sotto_dap_job_init_req;

typedef struct sotto_dap_verify_init {
    sotto_report_metadata metadata;
    sotto_bytes public_share;
    sotto_hpke_ciphertext encrypted_input_share; /* the helper's                */
    sotto_bytes payload;                         /* ping-pong; never empty      */
} sotto_dap_verify_init;

/* DAP's ReportShare, which a VerifyInit begins with and a leader keeps encoded until it sends it: the id of the report first.
 * For decoders and encoders of what it is part of. */
void sotto_report_share_read(sotto_reader *in, sotto_report_metadata *metadata,
                             sotto_bytes *public_share, sotto_hpke_ciphertext *helper);
void sotto_report_share_write(sotto_writer *w, const sotto_report_metadata *metadata,
                              sotto_bytes public_share, const sotto_hpke_ciphertext *helper);

/* The caller checks that report ids are distinct. */
SOTTO_MUST_USE sotto_status sotto_dap_job_init_req_decode(sotto_dap_job_init_req *out,
                                                          sotto_bytes wire,
                                                          sotto_dap_profile profile,
                                                          sotto_err *err);
/* From sotto_reader_over(req.verify_inits); false at the end. */
bool sotto_dap_job_init_req_next(sotto_reader *in, sotto_dap_verify_init *out);

SOTTO_MUST_USE sotto_status sotto_dap_job_init_req_begin(sotto_dap_list *list, sotto_buf *out,
                                                         const sotto_dap_job_init_req *req,
                                                         sotto_dap_profile profile, sotto_err *err);
/* SOTTO_TOO_LARGE: this one does not fit; those before it stand, and the list can be ended. */
SOTTO_MUST_USE sotto_status sotto_dap_job_init_req_add(sotto_dap_list *list,
                                                       const sotto_dap_verify_init *init,
                                                       sotto_err *err);
/* The same of an encoded ReportShare. */
SOTTO_MUST_USE sotto_status sotto_dap_job_init_req_add_share(sotto_dap_list *list,
                                                             sotto_bytes report_share,
                                                             sotto_bytes payload, sotto_err *err);

/* ---- aggregation-job-continue-req ---------------------------------------------------------------- */

typedef struct sotto_dap_job_continue_req {
    uint16_t step;                /* never 0            */
    size_t count;                 /* decoding: how many */
    sotto_bytes verify_continues; /* decoding: borrowed */
} sotto_dap_job_continue_req;

typedef struct sotto_dap_verify_continue {
    uint8_t report_id[SOTTO_REPORT_ID_SIZE];
    sotto_bytes payload; /* never empty */
} sotto_dap_verify_continue;

/* SOTTO_MALFORMED also for step 0. */
SOTTO_MUST_USE sotto_status sotto_dap_job_continue_req_decode(sotto_dap_job_continue_req *out,
                                                              sotto_bytes wire,
                                                              sotto_dap_profile profile,
                                                              sotto_err *err);
bool sotto_dap_job_continue_req_next(sotto_reader *in, sotto_dap_verify_continue *out);
SOTTO_MUST_USE sotto_status sotto_dap_job_continue_req_begin(sotto_dap_list *list, sotto_buf *out,
                                                             uint16_t step,
                                                             sotto_dap_profile profile,
                                                             sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_dap_job_continue_req_add(sotto_dap_list *list,
                                                           const sotto_dap_verify_continue *item,
                                                           sotto_err *err);

/* ---- aggregation-job-resp ------------------------------------------------------------------------ */

typedef enum sotto_dap_verify_resp_type {
    SOTTO_DAP_VERIFY_CONTINUE = 0,
    SOTTO_DAP_VERIFY_FINISH = 1,
    SOTTO_DAP_VERIFY_REJECT = 2,
} sotto_dap_verify_resp_type;

typedef struct sotto_dap_verify_resp {
    uint8_t report_id[SOTTO_REPORT_ID_SIZE];
    sotto_dap_verify_resp_type type;
    sotto_bytes payload; /* continue: ping-pong, never empty */
    uint8_t error;       /* reject: SOTTO_REPORT_...         */
} sotto_dap_verify_resp;

typedef struct sotto_dap_job_resp {
    size_t count;
    sotto_bytes verify_resps; /* borrowed */
} sotto_dap_job_resp;

SOTTO_MUST_USE sotto_status sotto_dap_job_resp_decode(sotto_dap_job_resp *out, sotto_bytes wire,
                                                      sotto_dap_profile profile, sotto_err *err);
bool sotto_dap_job_resp_next(sotto_reader *in, sotto_dap_verify_resp *out);
SOTTO_MUST_USE sotto_status sotto_dap_job_resp_begin(sotto_dap_list *list, sotto_buf *out,
                                                     sotto_dap_profile profile, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_dap_job_resp_add(sotto_dap_list *list,
                                                   const sotto_dap_verify_resp *resp,
                                                   sotto_err *err);

#endif
