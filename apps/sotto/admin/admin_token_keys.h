/* apps/sotto/admin/admin_token_keys.h - the issuer's keys that `sotto admin task add` takes with a recipe. */
#ifndef SOTTO_APPS_ADMIN_TOKEN_KEYS_H
#define SOTTO_APPS_ADMIN_TOKEN_KEYS_H

#include "admin.h"
#include "log_source.h"

#define ADMIN_TOKEN_KEY_FLAGS "--token-keys", "--log", "--witness", "--quorum"

/* What --token-keys names, for this recipe; none without it. Lives in the arena. */
SOTTO_MUST_USE sotto_status sotto_admin_token_keys(sotto_admin *admin, sotto_admitting_keys *out,
                                                   const sotto_recipe *recipe, sotto_arena *arena);

#endif
