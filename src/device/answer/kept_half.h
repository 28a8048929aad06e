/* device/answer/kept_half.h - the half of a report that its device can seal again.
 *
 * Callers:  device/answer/answer.c keeps it with every report; the outbox, through the device, when a key is outdated.
 * Memory:   a decoded half borrows from its bytes.
 * Secrets:  an input share, and the seed of a token's one-time key. Sealing it takes a time that depends on its length alone.
 *
 * The report itself is made by dap/report.h.
 */
#ifndef SOTTO_DEVICE_KEPT_HALF_H
#define SOTTO_DEVICE_KEPT_HALF_H

#include "dap/admission.h"
#include "noise/entropy.h"

/* What is kept beside a sealed report, so that one half of it can be sealed to another key: that half's share in plain.
 * A device keeps the leader's alone. The leader is the one who says that a key is outdated. Suppose its word made a
 * device seal the helper's half again. Then a leader with a key of its own in the parties file would read both halves. */
typedef struct sotto_kept_half {
    unsigned half; /* SOTTO_REPORT_LEADER */
    uint8_t task[SOTTO_TASK_ID_SIZE];
    sotto_bytes configuration; /* the task's                                         */
    sotto_bytes party;         /* whose half it is: a name in the parties file       */
    sotto_bytes key;           /* the encoded HpkeConfig that it was sealed to first */
    sotto_bytes seed;          /* of its token's one-time key, or empty              */
    sotto_bytes share;
} sotto_kept_half;

/* Borrows from all that it is given. */
sotto_kept_half sotto_kept_half_of(const sotto_report_draft *draft, unsigned half,
                                   sotto_bytes party, sotto_bytes key, sotto_bytes seed);
size_t sotto_kept_half_size(const sotto_kept_half *kept);
/* As the outbox keeps it until the report is acknowledged. Version 1 of the format, which had both shares, and version 2,
 * which had no seed, are still read; the helper's share is passed over. */
SOTTO_MUST_USE sotto_status sotto_kept_half_encode(sotto_buf *out, const sotto_kept_half *kept,
                                                   sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_kept_half_decode(sotto_kept_half *out, sotto_bytes bytes,
                                                   sotto_err *err);

/* Appends the report `sealed` with its leader's half sealed to another key; all else stays byte for byte.
 *   SOTTO_DENIED  what was kept is the helper's half
 */
SOTTO_MUST_USE sotto_status sotto_kept_half_seal(sotto_buf *out, sotto_bytes sealed,
                                                 const sotto_kept_half *kept, sotto_bytes key,
                                                 sotto_entropy *entropy, sotto_arena *scratch,
                                                 sotto_err *err);

#endif
