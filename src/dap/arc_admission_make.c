/* Presentations on a report that is about to be sealed. */
#include "dap/arc_admission.h"

#include "base/arena.h"

#include <string.h>

/* key id | presentation */
static sotto_status show(sotto_group *g, sotto_buf *out, const sotto_arc_holding *held,
                         sotto_bytes context, sotto_bytes once_key, sotto_err *err)
{
    sotto_scalar random[SOTTO_ARC_ONCE_RANDOM];
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, sotto_bytes_of(held->key_id, sizeof held->key_id));
    SOTTO_TRY(sotto_writer_finish(&w, "admission", err));
    sotto_status status = sotto_scalar_random(g, random, SOTTO_ARC_ONCE_RANDOM, err);
    if (status == SOTTO_OK)
        status = sotto_arc_present_bound(g, out, &held->credential, context, once_key, random, err);
    sotto_wipe(random, sizeof random);
    return status;
}

static sotto_status show_both(sotto_buf *out, const sotto_arc_holding held[SOTTO_REPORT_SHARES],
                              const sotto_arc_collection *collection, sotto_bytes once_key,
                              sotto_err *err)
{
    uint8_t context[SOTTO_ARC_CONTEXT];
    sotto_group g;

    sotto_arc_presentation_context(context, collection);
    sotto_status status = sotto_group_init(&g, &sotto_p256, err);
    for (unsigned who = 0; status == SOTTO_OK && who < SOTTO_REPORT_SHARES; who++)
        status = show(&g, out, &held[who], sotto_bytes_of(context, sizeof context), once_key, err);
    sotto_group_clear(&g);
    return status;
}

sotto_status sotto_arc_attach(sotto_report_draft *draft,
                              const sotto_arc_holding held[SOTTO_REPORT_SHARES],
                              const sotto_arc_collection *collection,
                              const uint8_t seed[SOTTO_ONCE_SEED],
                              const sotto_hpke_config to[SOTTO_REPORT_SHARES], sotto_arena *arena,
                              sotto_err *err)
{
    uint8_t key[SOTTO_ONCE_KEY];
    sotto_buf list;

    SOTTO_TRY(sotto_admission_bare(draft, err));
    SOTTO_TRY(sotto_admission_once_key(key, sotto_bytes_of(seed, SOTTO_ONCE_SEED), err));
    SOTTO_TRY(sotto_buf_take(&list, arena, 4 + SOTTO_ARC_ADMISSION_DATA, err));
    sotto_writer w = sotto_writer_on(&list);
    sotto_write_uint(&w, SOTTO_EXTENSION_TOKEN, 2);
    sotto_write_uint(&w, SOTTO_ARC_ADMISSION_DATA, 2);
    sotto_write_uint(&w, SOTTO_TOKEN_ARC, 2);
    sotto_write_bytes(&w, sotto_bytes_of(key, sizeof key));
    SOTTO_TRY(sotto_writer_finish(&w, "admission", err));
    SOTTO_TRY(show_both(&list, held, collection, sotto_bytes_of(key, sizeof key), err));
    draft->metadata.public_extensions = sotto_buf_bytes(&list);
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++)
        SOTTO_TRY(sotto_admission_bind(draft, who, sotto_bytes_of(seed, SOTTO_ONCE_SEED), &to[who],
                                       arena, err));
    return SOTTO_OK;
}
