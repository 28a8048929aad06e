/* device/report.h - a DAP report (draft 18): two input shares, sealed to leader and helper.
 *
 * Callers:  device/answer.c; the outbox, through the device, when a key is outdated.
 * Memory:   decoded parts are borrowed from their bytes.
 * Secrets:  input shares. Sealing them takes a time that depends on their lengths alone.
 *
 * What the standard lays down is in the first half of report.c and knows nothing of devices.
 */
#ifndef SOTTO_DEVICE_REPORT_H
#define SOTTO_DEVICE_REPORT_H

#include "dap/report.h"
#include "noise/entropy.h"
#include "sotto/device.h"
#include "sotto/recipe.h"

/* Everything that a report is sealed from. */
typedef struct sotto_report_parts {
    uint8_t id[SOTTO_REPORT_ID_SIZE];
    uint64_t time; /* in units of the task's precision */
    uint8_t task[SOTTO_TASK_ID_SIZE];
    sotto_bytes configuration;                /* the task's                      */
    sotto_bytes parties[SOTTO_REPORT_SHARES]; /* names                           */
    sotto_bytes keys[SOTTO_REPORT_SHARES];    /* encoded HpkeConfigs to seal to  */
    sotto_bytes public_share;
    sotto_bytes shares[SOTTO_REPORT_SHARES]; /* as the VDAF made them           */
} sotto_report_parts;

/* Bytes of the report sealed to these keys, at most. */
size_t sotto_report_size(const sotto_report_parts *parts);
/* Appends the report. Extensions are empty: they are reserved for tokens. */
SOTTO_MUST_USE sotto_status sotto_report_seal(sotto_buf *out, const sotto_report_parts *parts,
                                              sotto_entropy *entropy, sotto_arena *scratch,
                                              sotto_err *err);

/* What is kept beside a sealed report, so that one half of it can be sealed to another key: that half's share in plain.
 * A device keeps the leader's alone. The leader is the one who says that a key is outdated; if its word made a device
 * seal the helper's half again, a leader that had got a key of its own into the parties file would read both. */
typedef struct sotto_report_kept {
    unsigned half; /* SOTTO_REPORT_LEADER */
    uint8_t task[SOTTO_TASK_ID_SIZE];
    sotto_bytes configuration; /* the task's                                         */
    sotto_bytes party;         /* whose half it is: a name in the parties file       */
    sotto_bytes key;           /* the encoded HpkeConfig that it was sealed to first */
    sotto_bytes share;
} sotto_report_kept;

sotto_report_kept sotto_report_keep(const sotto_report_parts *parts, unsigned half);
size_t sotto_report_kept_size(const sotto_report_kept *kept);
/* As the outbox keeps it until the report is acknowledged. Version 1 of the format, which had both shares, is still
 * read; the helper's is passed over. */
SOTTO_MUST_USE sotto_status sotto_report_kept_encode(sotto_buf *out, const sotto_report_kept *kept,
                                                     sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_report_kept_decode(sotto_report_kept *out, sotto_bytes bytes,
                                                     sotto_err *err);

/* Appends the report `sealed` with its leader's half sealed to another key; all else stays byte for byte.
 *   SOTTO_DENIED  what was kept is the helper's half
 */
SOTTO_MUST_USE sotto_status sotto_report_seal_again(sotto_buf *out, sotto_bytes sealed,
                                                    const sotto_report_kept *kept, sotto_bytes key,
                                                    sotto_entropy *entropy, sotto_arena *scratch,
                                                    sotto_err *err);

#endif
