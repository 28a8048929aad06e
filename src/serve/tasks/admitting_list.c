#include "serve/tasks/admitting_list.h"

#include "base/arena.h"
#include "base/rule.h"
#include "recipe/listed_keys.h"
#include "recipe/signed_parties.h"

#include <stdlib.h>
#include <string.h>

static sotto_status open_bundle(sotto_bytes *list, sotto_bytes file, const sotto_log_trust *log,
                                sotto_err *err)
{
    sotto_bundle_facts facts;

    if (!log)
        return sotto_fail(err, SOTTO_DENIED, "token keys: a bundle, but no key of a log");
    SOTTO_TRY(sotto_bundle_verify(&facts, file, log, err));
    if (facts.entry.type != SOTTO_ENTRY_ISSUER_KEYS)
        return sotto_fail(err, SOTTO_MALFORMED, "token keys: the bundle is of another entry");
    *list = facts.object;
    return SOTTO_OK;
}

static sotto_status unwrap(sotto_bytes *list, const sotto_recipe *recipe, sotto_bytes file,
                           const sotto_log_trust *log, sotto_err *err)
{
    sotto_signed_parties signed_list;

    *list = file;
    if (sotto_bundle_is(file))
        SOTTO_TRY(open_bundle(list, file, log, err));
    else if (SOTTO_RULE(token_keys_logged) && (recipe->anonymity.log || log))
        return sotto_fail(err, SOTTO_DENIED,
                          "token keys: the log has them, so they are taken as its bundle only");
    if (list->len > 0 && list->data[0] == '{')
        return SOTTO_OK;
    SOTTO_TRY(sotto_signed_keys_decode(&signed_list, *list, err));
    *list = signed_list.parties;
    return SOTTO_OK;
}

static int by_opening(const void *a, const void *b)
{
    const sotto_admitting_key *one = a, *other = b;

    return (one->opens > other->opens) - (one->opens < other->opens);
}

sotto_status sotto_admitting_keys_of_list(sotto_admitting_keys *out, const sotto_recipe *recipe,
                                          sotto_bytes file, const sotto_log_trust *log,
                                          sotto_arena *arena, sotto_err *err)
{
    const sotto_listed_key *listed;
    sotto_admitting_key *keys;
    sotto_bytes list;
    size_t count;

    *out = (sotto_admitting_keys){.issuer = recipe->anonymity.issuer};
    SOTTO_TRY(unwrap(&list, recipe, file, log, err));
    SOTTO_TRY(sotto_listed_keys_read(&listed, &count, list, arena, err));
    keys = sotto_arena_take_array(arena, count + 1, sizeof *keys);
    if (!keys)
        return sotto_fail(err, SOTTO_NO_MEMORY, "token keys");
    for (size_t i = 0; i < count; i++) {
        const sotto_listed_key *from = &listed[i];
        sotto_admitting_key *key = &keys[out->count];

        if (strcmp(from->analysis, recipe->analysis) != 0 || from->opens < recipe->opens ||
            from->closes > recipe->closes)
            continue;
        *key =
            (sotto_admitting_key){.opens = (uint64_t)from->opens, .closes = (uint64_t)from->closes};
        memcpy(key->spki, from->spki, sizeof key->spki);
        out->count++;
    }
    qsort(keys, out->count, sizeof *keys, by_opening);
    out->list = keys;
    return SOTTO_OK;
}
