/* dap/dap.h - the words that all DAP messages share (DAP draft 18).
 *
 * Callers:  serve/, collect/, analyse/ and the programs.
 * Memory:   nothing is allocated. Decoded messages borrow from the wire bytes, whatever lengths they claim:
 *           lists are walked with a reader, never unfolded. Encoders append to the caller's buffer.
 * Threads:  calls on different outputs never interfere.
 * Secrets:  the seed and key of sotto_dap_verify_key_derive.
 *
 * The messages are in dap/upload.h, dap/job.h and dap/collect.h, each encoded and decoded in a file of its own
 * name. A report and its parts are in dap/report.h, the task configuration in dap/task_configuration.h,
 * HpkeConfigList in sotto/seal.h.
 *
 * Statuses common to all decoders:
 *   SOTTO_MALFORMED  too short, trailing bytes, extensions out of order, a value that DAP does not have: a peer
 *                    is told invalidMessage
 *   SOTTO_MISSING    it parses, but an extension is not one of ours: unsupportedExtension
 * and to all encoders: SOTTO_TOO_LARGE: out would pass its limit; out is unchanged.
 */
#ifndef SOTTO_DAP_DAP_H
#define SOTTO_DAP_DAP_H

#include "dap/report.h"

/* ---- which DAP ----------------------------------------------------------------------------------- */

/* Janus speaks draft 18 but for four things. The codecs know three of them: a PartialBatchSelector in place of job
 * extensions, lists of a job behind a 32-bit length, no report error 11. The fourth, resources made by PUT under
 * ids that the client chose, is left to the code that sends requests. */
typedef enum sotto_dap_profile {
    SOTTO_DAP_DRAFT18 = 0,
    SOTTO_DAP_JANUS,
} sotto_dap_profile;

/* ---- media types --------------------------------------------------------------------------------- */

typedef enum sotto_dap_message {
    SOTTO_DAP_HPKE_CONFIG_LIST = 0,
    SOTTO_DAP_UPLOAD_REQ,
    SOTTO_DAP_UPLOAD_ERRORS,
    SOTTO_DAP_AGGREGATION_JOB_INIT_REQ,
    SOTTO_DAP_AGGREGATION_JOB_RESP,
    SOTTO_DAP_AGGREGATION_JOB_CONTINUE_REQ,
    SOTTO_DAP_AGGREGATE_SHARE_REQ,
    SOTTO_DAP_AGGREGATE_SHARE,
    SOTTO_DAP_COLLECTION_JOB_REQ,
    SOTTO_DAP_COLLECTION_JOB_RESP,
    SOTTO_DAP_REPAIR_REQ, /* private use: see dap/repair.h */
    SOTTO_DAP_REPAIR_RESP,
    SOTTO_DAP_MESSAGES
} sotto_dap_message;

/* "application/ppm-dap;message=upload-req", ... */
const char *sotto_dap_media_type(sotto_dap_message message);
/* Whether a Content-Type names this message: in any case, with spaces around ";" and a quoted value, as HTTP
 * allows (RFC 9110, 8.3.1); other parameters are ignored. NULL: false. */
bool sotto_dap_media_type_is(sotto_dap_message message, const char *content_type);

/* ---- problems ------------------------------------------------------------------------------------ */

typedef enum sotto_dap_problem {
    SOTTO_DAP_INVALID_MESSAGE = 0,
    SOTTO_DAP_UNRECOGNIZED_TASK,
    SOTTO_DAP_UNRECOGNIZED_AGGREGATION_JOB,
    SOTTO_DAP_BATCH_INVALID,
    SOTTO_DAP_INVALID_BATCH_SIZE,
    SOTTO_DAP_INVALID_AGGREGATION_PARAMETER,
    SOTTO_DAP_BATCH_MISMATCH,
    SOTTO_DAP_STEP_MISMATCH,
    SOTTO_DAP_BATCH_OVERLAP,
    SOTTO_DAP_UNSUPPORTED_EXTENSION,
    SOTTO_DAP_INVALID_EXTENSION,
    SOTTO_DAP_PROBLEMS /* how many; also: not one of DAP's */
} sotto_dap_problem;

/* "urn:ietf:params:ppm:dap:error:invalidMessage", ... */
const char *sotto_dap_problem_type(sotto_dap_problem problem);
/* What DAP says of it, for the title. */
const char *sotto_dap_problem_title(sotto_dap_problem problem);
/* 404 for a task or job that is not there, else 400. */
int sotto_dap_problem_status(sotto_dap_problem problem);
/* SOTTO_DAP_PROBLEMS for a type that is not DAP's. */
sotto_dap_problem sotto_dap_problem_of(const char *type);
/* The problem that a decoder's status stands for; what a peer is told comes from the status alone. */
sotto_dap_problem sotto_dap_problem_of_status(sotto_status status);

/* ---- report errors ------------------------------------------------------------------------------- */

/* A byte, as on the wire: an unknown code does not make the whole list malformed. */
enum {
    SOTTO_REPORT_BATCH_COLLECTED = 1,
    SOTTO_REPORT_REPLAYED = 2,
    SOTTO_REPORT_DROPPED = 3,
    SOTTO_REPORT_HPKE_UNKNOWN_CONFIG_ID = 4,
    SOTTO_REPORT_HPKE_DECRYPT_ERROR = 5,
    SOTTO_REPORT_VDAF_VERIFY_ERROR = 6,
    SOTTO_REPORT_TASK_EXPIRED = 7,
    SOTTO_REPORT_INVALID_MESSAGE = 8,
    SOTTO_REPORT_TOO_EARLY = 9,
    SOTTO_REPORT_TASK_NOT_STARTED = 10,
    SOTTO_REPORT_OUTDATED_CONFIG = 11, /* of uploads only */
    /* Private use: draft 18 ends before them. For devices both are final. */
    SOTTO_REPORT_TOKEN_INVALID = 12, /* no token, or one that is not for this report */
    SOTTO_REPORT_TOKEN_SPENT = 13,   /* ... that another report had before           */
    SOTTO_REPORT_ERRORS              /* one past the last that we name               */
};
/* "batch_collected", ...; "unknown" for what is not named above. */
const char *sotto_dap_report_error_name(uint8_t error);

/* ---- time ---------------------------------------------------------------------------------------- */

/* Counts of the task's precision, from start and up to but without start + duration. */
typedef struct sotto_dap_interval {
    uint64_t start;
    uint64_t duration;
} sotto_dap_interval;

/* precision: in seconds, not 0. */
uint64_t sotto_dap_time_of(uint64_t seconds, uint64_t precision);
/* The first second of a time; false where it does not fit 64 bits. */
bool sotto_dap_seconds_of(uint64_t *seconds, uint64_t time, uint64_t precision);
/* Holds at least one bucket, and its end fits 64 bits. */
bool sotto_dap_interval_valid(sotto_dap_interval interval);
/* Both intervals must be valid. */
bool sotto_dap_interval_holds(sotto_dap_interval interval, uint64_t time);
bool sotto_dap_interval_within(sotto_dap_interval inner, sotto_dap_interval outer);
void sotto_dap_interval_read(sotto_reader *in, sotto_dap_interval *out);
void sotto_dap_interval_write(sotto_writer *w, sotto_dap_interval interval);

/* ---- batches ------------------------------------------------------------------------------------- */

enum { SOTTO_BATCH_ID_SIZE = 32, SOTTO_CHECKSUM_SIZE = 32, SOTTO_DAP_VERIFY_KEY_SIZE = 32 };

typedef enum sotto_dap_batch_mode {
    SOTTO_DAP_TIME_INTERVAL = 1,
    SOTTO_DAP_LEADER_SELECTED = 2,
} sotto_dap_batch_mode;

/* The mode says which of these fields count. */
typedef struct sotto_dap_query {
    sotto_dap_batch_mode mode;
    sotto_dap_interval interval; /* time interval */
} sotto_dap_query;

typedef struct sotto_dap_batch_selector {
    sotto_dap_batch_mode mode;
    sotto_dap_interval interval;           /* time interval   */
    uint8_t batch_id[SOTTO_BATCH_ID_SIZE]; /* leader selected */
} sotto_dap_batch_selector;

/* SOTTO_MALFORMED: an unknown mode, or a config that is not of its mode. Whether an interval is valid is not
 * checked here: that has its own problem, batchInvalid. */
SOTTO_MUST_USE sotto_status sotto_dap_query_decode(sotto_dap_query *out, sotto_bytes wire,
                                                   sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_dap_query_encode(sotto_buf *out, const sotto_dap_query *query,
                                                   sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_dap_batch_selector_decode(sotto_dap_batch_selector *out,
                                                            sotto_bytes wire, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_dap_batch_selector_encode(
    sotto_buf *out, const sotto_dap_batch_selector *selector, sotto_err *err);
/* Within a larger message; a bad one makes the reader fail at its end. */
void sotto_dap_query_read(sotto_reader *in, sotto_dap_query *out);
void sotto_dap_query_write(sotto_writer *w, const sotto_dap_query *query);
void sotto_dap_batch_selector_read(sotto_reader *in, sotto_dap_batch_selector *out);
void sotto_dap_batch_selector_write(sotto_writer *w, const sotto_dap_batch_selector *selector);
/* Same mode, and for intervals the selector's within the query's: the helper answers no other. */
bool sotto_dap_batch_selector_fits(const sotto_dap_batch_selector *selector,
                                   const sotto_dap_query *query);

/* XOR of SHA-256 over the ids of a batch's reports; starts as zeros. */
void sotto_dap_checksum_add(uint8_t checksum[SOTTO_CHECKSUM_SIZE],
                            const uint8_t report_id[SOTTO_REPORT_ID_SIZE]);
void sotto_dap_checksum_merge(uint8_t checksum[SOTTO_CHECKSUM_SIZE],
                              const uint8_t other[SOTTO_CHECKSUM_SIZE]);

/* ---- the verification key ------------------------------------------------------------------------ */

/* Two specifications derive it, with different salts. */
typedef enum sotto_dap_key_salt {
    SOTTO_DAP_SALT_DAP = 0,  /* "verify_key"            */
    SOTTO_DAP_SALT_TASKPROV, /* SHA-256("dap-taskprov") */
} sotto_dap_key_salt;

/* From the secret seed that both aggregators hold and the task id, so that no report can have been made
 * before the key. SOTTO_MALFORMED: the seed has less than 32 bytes. */
SOTTO_MUST_USE sotto_status sotto_dap_verify_key_derive(uint8_t out[SOTTO_DAP_VERIFY_KEY_SIZE],
                                                        sotto_bytes seed,
                                                        const uint8_t task_id[SOTTO_TASK_ID_SIZE],
                                                        sotto_dap_key_salt salt, sotto_err *err);

/* ---- ids and resources --------------------------------------------------------------------------- */

enum { SOTTO_RESOURCE_ID_SIZE = 16, SOTTO_DAP_ID_TEXT_MAX = 43 + 1 };

/* Base64url without padding, and a terminating zero; out has room for (4 len + 2) / 3 + 1 characters. */
void sotto_dap_id_encode(char *out, sotto_bytes id);
/* Exactly size bytes. SOTTO_MALFORMED: padding, another alphabet or length, or bits left over that are set: an id
 * has one spelling. */
SOTTO_MUST_USE sotto_status sotto_dap_id_decode(uint8_t *out, size_t size, sotto_bytes text,
                                                sotto_err *err);

/* The id that a sotto server gives to what was created by these bytes: the same bytes have the same id. So a collector can
 * name its request without making it again. kind: what the server calls it, as below or its own. */
#define SOTTO_DAP_COLLECTION_KIND "collection job"
void sotto_dap_resource_id(uint8_t out[SOTTO_RESOURCE_ID_SIZE], const char *kind,
                           const uint8_t task_id[SOTTO_TASK_ID_SIZE], sotto_bytes body);

typedef enum sotto_dap_resource {
    SOTTO_DAP_HPKE_CONFIG = 0,
    SOTTO_DAP_REPORTS,
    SOTTO_DAP_AGGREGATION_JOBS,
    SOTTO_DAP_COLLECTION_JOBS,
    SOTTO_DAP_AGGREGATE_SHARES,
    SOTTO_DAP_RESOURCES
} sotto_dap_resource;

/* "/tasks/{task}/aggregation_jobs/{id}?step=3", below an aggregator's URL. */
typedef struct sotto_dap_path {
    sotto_dap_resource resource;
    uint8_t task_id[SOTTO_TASK_ID_SIZE]; /* but for the HPKE configuration     */
    bool has_id;                         /* false: where resources are created */
    uint8_t id[SOTTO_RESOURCE_ID_SIZE];
    bool has_step; /* of aggregation jobs */
    uint16_t step;
} sotto_dap_path;

/* Appends base, without a slash at its end, and the path. */
SOTTO_MUST_USE sotto_status sotto_dap_path_encode(sotto_buf *out, sotto_bytes base,
                                                  const sotto_dap_path *path, sotto_err *err);
/* What follows the aggregator's own path in a request: "/tasks/...". Ids are read as they are spelled.
 *   SOTTO_MISSING    no such resource
 *   SOTTO_MALFORMED  an invalid id or step; out->resource is what it would have been of */
SOTTO_MUST_USE sotto_status sotto_dap_path_decode(sotto_dap_path *out, sotto_bytes target,
                                                  sotto_err *err);

#endif
