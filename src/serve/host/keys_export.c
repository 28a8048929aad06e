/* What parties files have of a server's keys, and for how long that is enough. */
#define _POSIX_C_SOURCE 200809L
#include "serve/host/keys_internal.h"

#include "base/rule.h"

#include <string.h>

/* ---- exporting ---------------------------------------------------------------------------------------- */

/* Encoded, since of a deleted key only its encoded configuration is kept. */
typedef struct exported {
    sotto_key_state state;
    int64_t since;
    sotto_key_use use;
    bool named;
    uint8_t config[SOTTO_KEY_CONFIG];
    size_t len;
} exported;

/* The latest, by the times of use, in that order. */
typedef struct export_list {
    const sotto_column_keys *columns;
    const sotto_key_times *times;
    int64_t now;
    size_t count;
    exported items[SOTTO_KEYS_EXPORTED];
} export_list;

static void insert(export_list *l, const exported *item)
{
    size_t at = 0;

    while (at < l->count && l->items[at].use.from <= item->use.from)
        at++;
    if (l->count == SOTTO_KEYS_EXPORTED) {
        if (at == 0)
            return;
        memmove(&l->items[0], &l->items[1], (l->count - 1) * sizeof l->items[0]);
        l->count--;
        at--;
    }
    memmove(&l->items[at + 1], &l->items[at], (l->count - at) * sizeof l->items[0]);
    l->items[at] = *item;
    l->count++;
}

/* A key that ended stays in the file while older recipes may be open: without it their task ids would change. */
static bool is_wanted(const export_list *l, const sotto_key_use *use)
{
    if (SOTTO_RULE(dated_keys_exported) && use->until <= use->from)
        return false; /* unknown times, or a key that was never used */
    return use->until > l->now - (int64_t)l->times->active;
}

static sotto_status take_ring(sotto_tx *tx, export_list *l, sotto_err *err)
{
    sotto_status status;
    sotto_ring ring;

    status = sotto_ring_read(tx, &ring, l->columns, l->times, err);
    for (size_t i = 0; status == SOTTO_OK && i < ring.count; i++) {
        const sotto_ring_key *key = &ring.keys[i];
        const sotto_hpke_config config = sotto_ring_config(key);
        exported item = {key->state, key->since, key->use, key->named, {0}, 0};
        sotto_buf wire = sotto_buf_over(item.config, sizeof item.config);

        status = sotto_hpke_config_encode(&wire, &config, err);
        item.len = wire.len;
        if (status == SOTTO_OK && is_wanted(l, &key->use))
            insert(l, &item);
    }
    sotto_wipe(&ring, sizeof ring);
    return status;
}

static sotto_status take_former(sotto_tx *tx, export_list *l, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT config, since, use_from, use_until, use_next FROM"
                                " hpke_former WHERE use_until > ?1",
                                err));
    sotto_sql_int(&q, 1, l->now - (int64_t)l->times->active);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        const sotto_bytes config = sotto_sql_column_bytes(&q, 0);
        exported item = {.since = sotto_sql_column_int(&q, 1),
                         .use = {sotto_sql_column_int(&q, 2), sotto_sql_column_int(&q, 3),
                                 sotto_sql_column_int(&q, 4)},
                         .len = config.len};

        if (config.len <= sizeof item.config && is_wanted(l, &item.use)) {
            memcpy(item.config, config.data, config.len);
            insert(l, &item);
        }
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

static sotto_status take_all(sotto_tx *tx, void *context, sotto_err *err)
{
    export_list *l = context;

    l->count = 0;
    SOTTO_TRY(take_former(tx, l, err));
    return take_ring(tx, l, err);
}

sotto_status sotto_keys_export(sotto_keys *keys, int64_t now, sotto_key_line_fn *show,
                               void *context, sotto_err *err)
{
    export_list l = {.columns = keys->columns, .times = &keys->times, .now = now};

    SOTTO_TRY(sotto_db_run(keys->db, take_all, &l, err));
    for (size_t i = 0; i < l.count; i++) {
        const exported *item = &l.items[i];
        sotto_key_line line = {item->state, item->since, item->use, item->named, {0}};

        SOTTO_TRY(
            sotto_hpke_config_decode(&line.config, sotto_bytes_of(item->config, item->len), err));
        SOTTO_TRY(show(context, &line, err));
    }
    return SOTTO_OK;
}

/* ---- for how long that is enough ---------------------------------------------------------------------- */

sotto_keys_known sotto_keys_known_until(sotto_keys *keys, int64_t now)
{
    sotto_keys_known known = {0};
    bool all = true;

    (void)pthread_rwlock_rdlock(&keys->lock);
    for (size_t i = 0; i < keys->now.count; i++) {
        const sotto_ring_key *key = &keys->now.keys[i];

        if (key->state == SOTTO_KEY_EXPIRED)
            continue;
        known.named = known.named || key->named;
        if (i == 0) /* the latest */
            known.until = key->use.next;
        if (!key->named) { /* in the end, the earliest of them */
            all = false;
            known.until = key->use.from;
            known.next = key->id;
        }
    }
    (void)pthread_rwlock_unlock(&keys->lock);
    if (!known.named) /* no published file could stop working */
        return (sotto_keys_known){0};
    known.soon = !all && now >= known.until - (int64_t)(keys->times.lead / 2);
    return known;
}
