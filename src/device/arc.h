/* device/arc.h - what a device does with credentials of ARC. A library that is linked without it stays silent where a recipe asks for ARC.
 *
 * Callers:  device_tokens.c asks with it, answer/answer.c shows with it.
 * Memory:   the caller's; what is attached lies in the arena.
 * Secrets:  those of the rows.
 *
 * libsotto-device has arc_absent.c, and so none of the group's arithmetic. libsotto-device-full has arc_linked.c.
 *
 * A row's secret: asked, the seven scalars that a request is made from; held, m1 32 | U 33 | U' 33 | X1 33.
 */
#ifndef SOTTO_DEVICE_ARC_H
#define SOTTO_DEVICE_ARC_H

#include "dap/arc_admission.h"
#include "device/ledger/wallet.h"
#include "seal/token/token.h"

#include <string.h>

typedef struct sotto_device_arc {
    /* All that a request is made from. */
    sotto_status (*draw)(sotto_wallet_row *row, sotto_err *err);
    /* The token request of a row that was drawn: the same bytes each time. */
    sotto_status (*request)(uint8_t request[SOTTO_TOKEN_ARC_REQUEST], const sotto_wallet_row *row,
                            sotto_err *err);
    /* The credential in the place of what it was asked with. The row is unchanged after a failure. */
    sotto_status (*hold)(sotto_wallet_row *row, sotto_bytes response, sotto_err *err);
    /* As sotto_arc_attach, with the rows of both credentials. */
    sotto_status (*attach)(sotto_report_draft *draft,
                           const sotto_wallet_row *const held[SOTTO_REPORT_SHARES],
                           const sotto_recipe *recipe, const uint8_t seed[SOTTO_ONCE_SEED],
                           const sotto_hpke_config to[SOTTO_REPORT_SHARES], sotto_arena *arena,
                           sotto_err *err);
} sotto_device_arc;

/* What credentials are shown for: the recipe and its schedule. */
static inline sotto_arc_collection sotto_arc_collection_of(const sotto_recipe *recipe)
{
    sotto_arc_collection out = {.opens = (uint64_t)recipe->opens,
                                .closes = (uint64_t)recipe->closes};

    memcpy(out.subject, recipe->hash, sizeof out.subject);
    return out;
}

/* NULL: this library has none. */
extern const sotto_device_arc *const sotto_linked_arc;

#endif
