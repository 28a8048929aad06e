/* sotto-vectors/dap_task.h - a whole DAP task as a transcript: from the configuration to the answer.
 *
 * Every check takes its input from the file, never from the check before it, so that one wrong value is
 * reported once, where it arises.
 */
#ifndef SOTTO_VECTORS_DAP_TASK_H
#define SOTTO_VECTORS_DAP_TASK_H

#include "dap/collect.h"
#include "dap/job.h"
#include "dap/task_configuration.h"
#include "dap/upload.h"
#include "families.h"

/* One who can open what is sealed to it. */
typedef struct sotto_dap_holder {
    sotto_hpke_key key;
    sotto_hpke_config config; /* borrows the file's bytes */
} sotto_dap_holder;

/* One report, all as the file has it; by aggregator where there are two. */
typedef struct sotto_dap_transcript_report {
    sotto_dap_report report; /* decoded */
    sotto_bytes wire, rand, public_share, aad;
    sotto_bytes input_share[2], ephemeral[2], ping_pong[2];
    uint64_t time;
    bool accepted, tampered;
} sotto_dap_transcript_report;

typedef struct sotto_dap_transcript {
    const json_t *root;
    sotto_arena *arena;
    sotto_bytes configuration, task_id, context, verify_key;
    sotto_task_configuration task;
    sotto_prio3 vdaf;
    sotto_dap_holder holders[3]; /* leader, helper, collector */
    size_t count;
    sotto_dap_transcript_report *reports;
} sotto_dap_transcript;

SOTTO_MUST_USE sotto_status sotto_dap_transcript_read(sotto_dap_transcript *t, const json_t *root,
                                                      sotto_arena *arena, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_dap_transcript_hex(const sotto_dap_transcript *t,
                                                     sotto_bytes *out, const char *key,
                                                     sotto_err *err);

/* Seals under the ephemeral key of the file, and opens again.
 *   got  what goes on the wire; borrows from the arena */
SOTTO_MUST_USE sotto_status sotto_dap_transcript_seal(
    const sotto_dap_transcript *t, sotto_hpke_ciphertext *got, const sotto_dap_holder *to,
    sotto_bytes ephemeral, sotto_bytes info, sotto_bytes aad, sotto_bytes plain, sotto_err *err);

/* ---- steps ----------------------------------------------------------------------------------- */

const uint8_t *sotto_dap_transcript_id(const sotto_dap_transcript_report *report);
/* The report as it was before it was sealed, by the values that stand in the file. */
sotto_report_draft sotto_dap_transcript_draft(const sotto_dap_transcript *t,
                                              const sotto_dap_transcript_report *report);
/* Of the measurement that stands in the file; then tampered with, if it says so. */
SOTTO_MUST_USE sotto_status sotto_dap_transcript_shard(const sotto_dap_transcript *t, size_t index,
                                                       sotto_report_draft *draft, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_dap_transcript_seal_share(
    const sotto_dap_transcript *t, sotto_hpke_ciphertext *out,
    const sotto_dap_transcript_report *report, unsigned to, sotto_err *err);

/* All reports at both aggregators. */
typedef struct sotto_dap_verification {
    sotto_prio3_verification *states[2];
    sotto_prio3_report *reports[2];
    sotto_bytes *outbound[2];
} sotto_dap_verification;

SOTTO_MUST_USE sotto_status sotto_dap_transcript_verify(const sotto_dap_transcript *t,
                                                        sotto_dap_verification *v, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_dap_transcript_aggregate(const sotto_dap_transcript *t,
                                                           sotto_buf *out,
                                                           const sotto_dap_verification *v,
                                                           unsigned aggregator, sotto_err *err);
/* Of the aggregate share, request and additional data that stand in the file. */
SOTTO_MUST_USE sotto_status sotto_dap_transcript_seal_aggregate(const sotto_dap_transcript *t,
                                                                sotto_hpke_ciphertext *out,
                                                                bool helper, sotto_err *err);

#endif
