#include "dap/report_many.h"

#include "base/arena.h"

enum { BATCH = 32, IKM = SOTTO_HPKE_MAX_PRIVATE_KEY };

/* Ephemeral keys of a batch, for one receiver after the other. */
typedef struct batch {
    sotto_hpke_sender senders[SOTTO_REPORT_SHARES];
    sotto_ephemeral keys[SOTTO_REPORT_SHARES][BATCH];
} batch;

static sotto_status shard_some(batch *b, sotto_report_draft *drafts,
                               const sotto_measurement *measurements, size_t count,
                               const sotto_vdaf *vdaf, sotto_bytes random, sotto_arena *arena,
                               sotto_err *err)
{
    const size_t size = random.len / count;
    sotto_bytes ikm;

    for (size_t i = 0; i < count; i++) {
        SOTTO_TRY(sotto_report_shard_from(&drafts[i], &ikm, vdaf, measurements[i],
                                          sotto_bytes_of(random.data + i * size, size), arena,
                                          err));
        for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++)
            SOTTO_TRY(sotto_hpke_sender_derive(&b->senders[who], &b->keys[who][i],
                                               sotto_bytes_of(ikm.data + who * IKM, IKM), err));
    }
    return SOTTO_OK;
}

static sotto_status seal_some(batch *b, sotto_dap_report *out, const sotto_report_draft *drafts,
                              size_t count, sotto_arena *arena, sotto_err *err)
{
    sotto_status status = SOTTO_OK;

    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++)
        sotto_hpke_sender_agree(&b->senders[who], b->keys[who], count);
    for (size_t i = 0; i < count && status == SOTTO_OK; i++) {
        sotto_ephemeral with[] = {b->keys[SOTTO_REPORT_LEADER][i], b->keys[SOTTO_REPORT_HELPER][i]};

        status = sotto_report_seal_with(&out[i], &drafts[i], b->senders, with, arena, err);
        sotto_wipe(with, sizeof with);
    }
    return status;
}

static sotto_status make_all(batch *b, sotto_dap_report *out, sotto_report_draft *drafts,
                             const sotto_measurement *measurements, size_t count,
                             const sotto_vdaf *vdaf, sotto_bytes random, sotto_arena *arena,
                             sotto_err *err)
{
    const size_t size = sotto_report_random_size(vdaf);

    if (random.len != count * size)
        return sotto_fail(err, SOTTO_BUG, "report: %zu random bytes", random.len);
    for (size_t at = 0; at < count; at += BATCH) {
        const size_t some = count - at < BATCH ? count - at : BATCH;

        SOTTO_TRY(shard_some(b, drafts + at, measurements + at, some, vdaf,
                             sotto_bytes_of(random.data + at * size, some * size), arena, err));
        SOTTO_TRY(seal_some(b, out + at, drafts + at, some, arena, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_report_make_many(sotto_dap_report *out, sotto_report_draft *drafts,
                                    const sotto_measurement *measurements, size_t count,
                                    const sotto_vdaf *vdaf,
                                    const sotto_hpke_config to[SOTTO_REPORT_SHARES],
                                    sotto_bytes random, sotto_arena *arena, sotto_err *err)
{
    batch b = {0};

    sotto_status status = SOTTO_OK;
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES && status == SOTTO_OK; who++)
        status = sotto_report_sender_init(&b.senders[who], who, &to[who], err);
    if (status == SOTTO_OK)
        status = make_all(&b, out, drafts, measurements, count, vdaf, random, arena, err);
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++)
        sotto_hpke_sender_clear(&b.senders[who]);
    sotto_wipe(b.keys, sizeof b.keys);
    return status;
}
