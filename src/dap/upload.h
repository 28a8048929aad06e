/* dap/upload.h - UploadRequest and UploadErrors: from a client to the leader and back.
 *
 * Memory, threads, statuses: as dap/dap.h says.
 */
#ifndef SOTTO_DAP_UPLOAD_H
#define SOTTO_DAP_UPLOAD_H

#include "dap/dap.h"

/* ---- upload-req ---------------------------------------------------------------------------------- */

/* Reports up to the end of the body. To make one, call sotto_dap_report_encode for each. */
typedef struct sotto_dap_upload_req {
    size_t count;
    sotto_bytes reports; /* borrowed: the whole body */
} sotto_dap_upload_req;

/* Walks over all of it once. Extensions are not checked here: a bad list only fails its own report. */
SOTTO_MUST_USE sotto_status sotto_dap_upload_req_decode(sotto_dap_upload_req *out, sotto_bytes wire,
                                                        sotto_err *err);
/* The next report of a decoded request, from sotto_reader_over(req.reports); false at the end. */
bool sotto_dap_upload_req_next(sotto_reader *in, sotto_dap_report *report);

/* ---- upload-errors ------------------------------------------------------------------------------- */

typedef struct sotto_dap_upload_status {
    uint8_t report_id[SOTTO_REPORT_ID_SIZE];
    uint8_t error; /* SOTTO_REPORT_... */
} sotto_dap_upload_status;

typedef struct sotto_dap_upload_errors {
    size_t count;
    sotto_bytes statuses; /* borrowed: the whole body */
} sotto_dap_upload_errors;

SOTTO_MUST_USE sotto_status sotto_dap_upload_errors_decode(sotto_dap_upload_errors *out,
                                                           sotto_bytes wire, sotto_err *err);
/* From sotto_reader_over(errors.statuses); false at the end. */
bool sotto_dap_upload_errors_next(sotto_reader *in, sotto_dap_upload_status *status);
/* Appends one; the message is nothing but these, in the order of the request. To Janus, whose list of errors
 * ends before outdated_config, that one goes as hpke_unknown_config_id. */
SOTTO_MUST_USE sotto_status sotto_dap_upload_errors_add(sotto_buf *out,
                                                        const sotto_dap_upload_status *status,
                                                        sotto_dap_profile profile, sotto_err *err);

#endif
