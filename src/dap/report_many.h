/* dap/report_many.h - sealing a report with keys that were agreed on beforehand, for many reports at a time.
 *
 * Callers:  dap/report.h's own code, and the device: it seals with keys of its own, or in a simulation with ones from outside.
 * Memory:   as dap/report.h.
 * Secrets:  ephemeral keys; wipe them. Each seals one share.
 */
#ifndef SOTTO_DAP_REPORT_MANY_H
#define SOTTO_DAP_REPORT_MANY_H

#include "dap/report.h"
#include "seal/hpke/sender.h"

/* As sotto_report_seal_both, with ephemeral keys for the leader and the helper; NULL: they come of ikm. */
SOTTO_MUST_USE sotto_status sotto_report_seal_both_with(
    sotto_dap_report *out, const sotto_report_draft *draft,
    const sotto_hpke_config to[SOTTO_REPORT_SHARES], const sotto_ephemeral *with, sotto_bytes ikm,
    sotto_arena *arena, sotto_err *err);

/* The first half of sotto_report_make: fills the draft; *ikm is what is left of `random`, to seal with. */
SOTTO_MUST_USE sotto_status sotto_report_shard_from(sotto_report_draft *draft, sotto_bytes *ikm,
                                                    const sotto_vdaf *vdaf,
                                                    sotto_measurement measurement,
                                                    sotto_bytes random, sotto_arena *arena,
                                                    sotto_err *err);
/* sotto_report_make, sealing with two ephemeral keys (the leader's first) and not with what `random` has for that. NULL: as
 * sotto_report_make. */
SOTTO_MUST_USE sotto_status sotto_report_make_with(sotto_dap_report *out, sotto_report_draft *draft,
                                                   const sotto_vdaf *vdaf,
                                                   sotto_measurement measurement,
                                                   const sotto_hpke_config to[SOTTO_REPORT_SHARES],
                                                   const sotto_ephemeral *with, sotto_bytes random,
                                                   sotto_arena *arena, sotto_err *err);

#endif
