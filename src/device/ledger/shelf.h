/* device/ledger/shelf.h - the recipes that this device knows, as they were published, in the ledger's file.
 *
 * Callers:  sotto_device_offer puts; ticks and `why` look.
 * Memory:   what is found is copied; its text into the caller's arena.
 */
#ifndef SOTTO_DEVICE_SHELF_H
#define SOTTO_DEVICE_SHELF_H

#include "device/ledger/ledger.h"
#include "recipe/model.h"
#include "recipe/policy_tables.h"

typedef struct sotto_shelved {
    int64_t id;
    char name[SOTTO_BUDGET_MAX_NAME + 1];
    uint64_t version;
    int64_t opens, closes;
    uint8_t judged[SOTTO_RECIPE_HASH_SIZE]; /* by what: sotto_shelf_judge */
    sotto_known_epsilon known;              /* what the judge found      */
    uint8_t hash[SOTTO_RECIPE_HASH_SIZE];   /* of its published bytes    */
} sotto_shelved;

/* Stands for a policy and the version of this library: after a change of either, recipes are judged again. */
void sotto_shelf_judge(uint8_t out[SOTTO_RECIPE_HASH_SIZE], const sotto_policy *policy);

/* What the record keeps of a recipe when the recipe is gone. */
sotto_asked sotto_shelf_asked(const sotto_recipe *recipe);

/* Keeps a recipe that was judged so, in place of an earlier version, and records that it was seen.
 *   SOTTO_STALE      a later version is known
 *   SOTTO_REJECTED   this version is known with other bytes
 *   SOTTO_TOO_LARGE  no room, as sotto/device.h says
 */
SOTTO_MUST_USE sotto_status sotto_shelf_put(sotto_ledger *ledger, const sotto_recipe *recipe,
                                            const uint8_t judged[SOTTO_RECIPE_HASH_SIZE],
                                            sotto_known_epsilon known, int64_t now, sotto_err *err);

SOTTO_MUST_USE sotto_status sotto_shelf_find(sotto_ledger *ledger, sotto_shelved *out, bool *found,
                                             const char *name, sotto_err *err);
/* The first one with an id above `after`. */
SOTTO_MUST_USE sotto_status sotto_shelf_next(sotto_ledger *ledger, sotto_shelved *out, bool *found,
                                             int64_t after, sotto_err *err);
/* Its published bytes. SOTTO_MISSING: it is gone; another recipe may have its row. */
SOTTO_MUST_USE sotto_status sotto_shelf_text(sotto_ledger *ledger, sotto_bytes *out,
                                             const sotto_shelved *shelved, sotto_arena *arena,
                                             sotto_err *err);
/* One that is gone already is fine. */
SOTTO_MUST_USE sotto_status sotto_shelf_remove(sotto_ledger *ledger, const sotto_shelved *shelved,
                                               sotto_err *err);

#endif
