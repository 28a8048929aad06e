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

#include "noise/entropy.h"
#include "sotto/device.h"
#include "sotto/recipe.h"

enum { SOTTO_REPORT_LEADER, SOTTO_REPORT_HELPER, SOTTO_REPORT_SHARES };

/* Everything that a report is sealed from, and can be sealed from again. */
typedef struct sotto_report_parts {
    uint8_t id[SOTTO_REPORT_ID_SIZE];
    uint64_t time; /* in units of the task's precision */
    uint8_t task[SOTTO_TASK_ID_SIZE];
    sotto_bytes configuration;                /* the task's                                     */
    sotto_bytes parties[SOTTO_REPORT_SHARES]; /* names                                          */
    sotto_bytes keys[SOTTO_REPORT_SHARES];    /* encoded HpkeConfigs that it was sealed to first */
    sotto_bytes public_share;
    sotto_bytes shares[SOTTO_REPORT_SHARES]; /* as the VDAF made them                           */
} sotto_report_parts;

/* Bytes of the parts when kept, and of the report sealed to these keys. */
size_t sotto_report_parts_size(const sotto_report_parts *parts);
size_t sotto_report_size(const sotto_report_parts *parts);

/* As the outbox keeps them until the report is acknowledged. */
SOTTO_MUST_USE sotto_status sotto_report_parts_encode(sotto_buf *out,
                                                      const sotto_report_parts *parts,
                                                      sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_report_parts_decode(sotto_report_parts *out, sotto_bytes kept,
                                                      sotto_err *err);

/* Appends the report, sealed to these encoded HpkeConfigs. Extensions are empty: they are reserved for tokens. */
SOTTO_MUST_USE sotto_status sotto_report_seal(sotto_buf *out, const sotto_report_parts *parts,
                                              const sotto_bytes keys[SOTTO_REPORT_SHARES],
                                              sotto_entropy *entropy, sotto_arena *scratch,
                                              sotto_err *err);

#endif
