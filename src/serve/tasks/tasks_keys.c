/* Whether a parties file names keys under this server's name that it does not have. */
#include "serve/tasks/tasks_internal.h"

#include "base/clock.h"
#include "base/rule.h"
#include "recipe/calendar.h"
#include "recipe/model.h"

static bool has(const sotto_own_keys *own, sotto_bytes config)
{
    for (size_t i = 0; i < own->count; i++)
        if (sotto_bytes_equal_vartime(config, sotto_bytes_of(own->config[i], own->len[i])))
            return true;
    return false;
}

/* Whether a key with this configuration was in the ring and is deleted: it opens nothing any more. */
static sotto_status had(sotto_tx *tx, bool *found, sotto_bytes config, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT 1 FROM hpke_former WHERE config = ?1", err));
    sotto_sql_bytes(&q, 1, config);
    return sotto_sql_any(&q, found, err);
}

static sotto_status refuse(const sotto_party_entry *us, const sotto_party_key *key, sotto_err *err)
{
    char from[SOTTO_CALENDAR_TEXT], until[SOTTO_CALENDAR_TEXT];

    sotto_calendar_format_time(from, key->from);
    sotto_calendar_format_time(until, key->until);
    return sotto_fail(err, SOTTO_DENIED,
                      "%.24s: config %u (%s to %s) is no key of this server: correct the parties"
                      " file (`sotto admin keys export`)",
                      us->name, key->config.len > 0 ? key->config.data[0] : 0, from, until);
}

/* All of them, not only the one that devices use first. Which one that is changes with time and with the file's order
 * of listing, and each is one that somebody else may open. */
sotto_status sotto_task_entry_keys(const sotto_task_entry *e, sotto_tx *tx,
                                   const sotto_own_keys *own, bool stored, sotto_err *err)
{
    int64_t now = (int64_t)(sotto_clock_wall(&sotto_clock_system) / 1000000000);
    const sotto_party_entry *us = e->us;

    for (size_t i = 0; us && i < us->key_count; i++) {
        const sotto_party_key *key = &us->keys[i];
        bool ours = has(own, key->config);

        if (!sotto_party_key_used(key, now, e->task.recipe->closes + SOTTO_SEAL_GRACE))
            continue;
        if (!ours && stored)
            SOTTO_TRY(had(tx, &ours, key->config, err));
        if (SOTTO_RULE(own_keys_only) && !ours)
            return refuse(us, key, err);
    }
    return SOTTO_OK;
}

sotto_status sotto_task_entry_name(const sotto_task_entry *e, sotto_tx *tx,
                                   const sotto_own_keys *own, sotto_err *err)
{
    for (size_t i = 0; e->us && i < e->us->key_count; i++) {
        const sotto_bytes config = e->us->keys[i].config;

        if (has(own, config))
            SOTTO_TRY(sotto_keys_name(tx, config.data[0], err)); /* its first byte is its id */
    }
    return SOTTO_OK;
}
