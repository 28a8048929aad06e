/* A report that no device made: what a forger without the library sends, for the servers to reject. */
#include "demo.h"

#include "base/arena.h"
#include "dap/dap.h"
#include "sotto/random.h"

#include <string.h>
#include <time.h>

/* A report for which one person counts a thousandfold, if it weren't for its proof: it can't have one. */
sotto_status demo_forge(sotto_buf *out, const demo *d, sotto_arena *arena, sotto_err *err)
{
    const sotto_task *task = &d->task;
    uint64_t values[DEMO_CHOICES + 1] = {1};
    uint8_t ikm[SOTTO_REPORT_SHARES * SOTTO_HPKE_MAX_PRIVATE_KEY];
    sotto_report_draft draft = {.configuration = task->configuration,
                                .metadata = {.time = (uint64_t)time(NULL) / task->precision}};
    sotto_hpke_config to[SOTTO_REPORT_SHARES];
    sotto_dap_report report;
    sotto_buf rand;
    sotto_vdaf vdaf;

    SOTTO_TRY(sotto_hpke_config_decode(&to[SOTTO_REPORT_LEADER],
                                       sotto_bytes_of(d->leader.hpke, d->leader.hpke_len), err));
    SOTTO_TRY(sotto_hpke_config_decode(&to[SOTTO_REPORT_HELPER],
                                       sotto_bytes_of(d->helper.hpke, d->helper.hpke_len), err));
    SOTTO_TRY(sotto_vdaf_open(&vdaf, &task->vdaf, arena, err));
    SOTTO_TRY(sotto_buf_take(&rand, arena, vdaf.sizes.rand, err));
    SOTTO_TRY(sotto_random_bytes(rand.data, rand.cap, err));
    SOTTO_TRY(sotto_random_bytes(ikm, sizeof ikm, err));
    SOTTO_TRY(sotto_random_bytes(draft.metadata.report_id, SOTTO_REPORT_ID_SIZE, err));
    memcpy(draft.task_id, task->id, sizeof draft.task_id);
    SOTTO_TRY(sotto_report_shard(&draft, &vdaf, (sotto_measurement){values, (size_t)task->bins},
                                 sotto_bytes_of(rand.data, rand.cap), arena, err));
    ((uint8_t *)(uintptr_t)draft.shares[SOTTO_REPORT_LEADER].payload.data)[1] ^=
        4; /* 1,024 more for the first bin */
    SOTTO_TRY(
        sotto_report_seal_both(&report, &draft, to, sotto_bytes_of(ikm, sizeof ikm), arena, err));
    SOTTO_TRY(sotto_buf_take(out, arena, sotto_dap_report_size(&report), err));
    return sotto_dap_report_encode(out, &report, err);
}
