/* The ring of HPKE keys: rows in the database, and a copy in memory. */
#define _POSIX_C_SOURCE 200809L
#include "serve/host/keys_internal.h"

#include "base/alloc.h"
#include "base/log.h"
#include "sotto/random.h"

#include <string.h>

enum { RING = 0 }; /* what a rotation guards */

static const sotto_key_times DEFAULT_TIMES = {3600, 84 * 86400, 7 * 86400, 0};

const char *sotto_key_state_name(sotto_key_state state)
{
    static const char *const names[] = {"deleted", "pending", "active", "expired"};

    return names[state <= SOTTO_KEY_EXPIRED ? state : 0];
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static sotto_column_place place_of(const uint8_t *id)
{
    return (sotto_column_place){"hpke_key", "secret", sotto_bytes_of(id, 1)};
}

static sotto_status read_key(sotto_ring_key *out, const sotto_column_keys *columns,
                             const sotto_sql *q, sotto_err *err)
{
    uint8_t secret[SOTTO_HPKE_MAX_PRIVATE_KEY];
    sotto_buf plain = sotto_buf_over(secret, sizeof secret);
    sotto_column_place place = place_of(&out->id);
    sotto_status status;

    out->id = (uint8_t)sotto_sql_column_int(q, 0);
    out->state = (sotto_key_state)sotto_sql_column_int(q, 1);
    out->since = sotto_sql_column_int(q, 3);
    out->use.from = sotto_sql_column_int(q, 4);
    out->use.until = sotto_sql_column_int(q, 5);
    out->use.next = sotto_sql_column_int(q, 6);
    out->named = sotto_sql_column_int(q, 7) != 0;
    status = sotto_column_unseal(&plain, columns, &place, sotto_sql_column_bytes(q, 2), err);
    if (status == SOTTO_OK)
        status =
            sotto_hpke_key_decode(&out->key, sotto_keys_suite.kem, sotto_buf_bytes(&plain), err);
    sotto_wipe(secret, sizeof secret);
    return status;
}

sotto_status sotto_ring_read(sotto_tx *tx, sotto_ring *out, const sotto_column_keys *columns,
                             const sotto_key_times *times, sotto_err *err)
{
    sotto_sql q;
    bool row;

    out->count = 0;
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT config_id, state, secret, since, use_from, use_until,"
                                " use_next, named FROM hpke_key ORDER BY since DESC, config_id"
                                " LIMIT ?1",
                                err));
    sotto_sql_int(&q, 1, SOTTO_KEYS_MOST);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row && out->count < SOTTO_KEYS_MOST) {
        SOTTO_TRY(read_key(&out->keys[out->count], columns, &q, err));
        sotto_ring_date(&out->keys[out->count], times);
        out->count++;
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    sotto_ring_sort(out);
    return SOTTO_OK;
}

static sotto_status insert_key(sotto_tx *tx, const sotto_ring_key *key,
                               const sotto_column_keys *columns, sotto_err *err)
{
    uint8_t bytes[SOTTO_HPKE_MAX_PRIVATE_KEY + SOTTO_COLUMN_OVERHEAD];
    sotto_buf sealed = sotto_buf_over(bytes, sizeof bytes);
    sotto_column_place place = place_of(&key->id);
    sotto_sql q;

    SOTTO_TRY(sotto_column_seal(&sealed, columns, &place,
                                sotto_bytes_of(key->key.private_key, key->key.private_key_len),
                                err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO hpke_key (config_id, state, secret, since, use_from,"
                                " use_until, use_next) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                                err));
    sotto_sql_int(&q, 1, key->id);
    sotto_sql_int(&q, 2, (int64_t)key->state);
    sotto_sql_bytes(&q, 3, sotto_buf_bytes(&sealed));
    sotto_sql_int(&q, 4, key->since);
    sotto_sql_int(&q, 5, key->use.from);
    sotto_sql_int(&q, 6, key->use.until);
    sotto_sql_int(&q, 7, key->use.next);
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status move_key(sotto_tx *tx, const sotto_ring_key *key, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q,
        "UPDATE hpke_key SET state = ?2, since = ?3, use_from = ?4, use_until = ?5, use_next = ?6"
        " WHERE config_id = ?1",
        err));
    sotto_sql_int(&q, 1, key->id);
    sotto_sql_int(&q, 2, (int64_t)key->state);
    sotto_sql_int(&q, 3, key->since);
    sotto_sql_int(&q, 4, key->use.from);
    sotto_sql_int(&q, 5, key->use.until);
    sotto_sql_int(&q, 6, key->use.next);
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_keys_name(sotto_tx *tx, uint8_t config_id, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE hpke_key SET named = 1 WHERE config_id = ?1", err));
    sotto_sql_int(&q, 1, config_id);
    return sotto_sql_run(&q, NULL, err);
}

sotto_hpke_config sotto_ring_config(const sotto_ring_key *key)
{
    return sotto_hpke_config_of(&key->key, key->id, sotto_keys_suite.kdf, sotto_keys_suite.aead);
}

/* The configuration of a deleted key is kept. Otherwise tasks that name it would look as if they named a stranger's key. */
static sotto_status remember_key(sotto_tx *tx, const sotto_ring_key *key, int64_t now,
                                 sotto_err *err)
{
    uint8_t memory[SOTTO_KEY_CONFIG];
    sotto_buf wire = sotto_buf_over(memory, sizeof memory);
    const sotto_hpke_config config = sotto_ring_config(key);
    sotto_sql q;

    SOTTO_TRY(sotto_hpke_config_encode(&wire, &config, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO hpke_former (config, since, use_from, use_until,"
                                " use_next) VALUES (?1, {now}, ?2, ?3, ?4)"
                                " ON CONFLICT (config) DO NOTHING",
                                err));
    sotto_sql_bytes(&q, 1, sotto_buf_bytes(&wire));
    sotto_sql_int(&q, 2, key->use.from);
    sotto_sql_int(&q, 3, key->use.until < now ? key->use.until : now); /* it opens no more */
    sotto_sql_int(&q, 4, key->use.next);
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status delete_key(sotto_tx *tx, const sotto_ring_key *key, int64_t now, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(remember_key(tx, key, now, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "DELETE FROM hpke_key WHERE config_id = ?1", err));
    sotto_sql_int(&q, 1, key->id);
    return sotto_sql_erase(&q, NULL, err);
}

/* ---- rotation ----------------------------------------------------------------------------------------- */

typedef struct rotation {
    const sotto_column_keys *columns;
    const sotto_key_times *times;
    int64_t now;
    bool renew;      /* a successor is wanted, whatever the time  */
    uint8_t leaving; /* of delete_early alone: the key that is to go */
    bool waits;      /* ... once its successor is known             */
    sotto_ring after;
} rotation;

/* Ids that a parties file may have: a report sealed to a deleted key must not be opened with a new key of the same
 * id. */
static sotto_status take_ids(sotto_tx *tx, bool taken[SOTTO_KEY_IDS], const rotation *r,
                             sotto_err *err)
{
    sotto_sql q;
    bool row;

    for (size_t i = 0; i < r->after.count; i++)
        taken[r->after.keys[i].id] = true;
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT config FROM hpke_former ORDER BY use_until DESC LIMIT ?1", err));
    sotto_sql_int(&q, 1, SOTTO_KEYS_MOST);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        const sotto_bytes config = sotto_sql_column_bytes(&q, 0);

        if (config.len > 0)
            taken[config.data[0]] = true;
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

static sotto_status fresh_key(sotto_tx *tx, sotto_ring_key *out, const rotation *r, sotto_err *err)
{
    bool taken[SOTTO_KEY_IDS] = {false};
    uint8_t ikm[32];
    sotto_status status;

    SOTTO_TRY(take_ids(tx, taken, r, err));
    do
        SOTTO_TRY(sotto_random_bytes(&out->id, 1, err));
    while (taken[out->id]); /* twice SOTTO_KEYS_MOST are far fewer than SOTTO_KEY_IDS */
    SOTTO_TRY(sotto_random_bytes(ikm, sizeof ikm, err));
    status = sotto_hpke_key_derive(&out->key, sotto_keys_suite.kem, sotto_bytes_of(ikm, sizeof ikm),
                                   err);
    sotto_wipe(ikm, sizeof ikm);
    return status;
}

static bool has_held(const rotation *r, const sotto_ring_key *key, uint64_t seconds)
{
    return r->now - key->since >= (int64_t)seconds;
}

/* Moves one key on if its time has come; *gone if it was deleted. Its times of use stay as they were exported. */
static sotto_status age(sotto_tx *tx, const rotation *r, sotto_ring_key *key, bool has_newer,
                        bool *gone, sotto_err *err)
{
    *gone = false;
    if (key->state == SOTTO_KEY_PENDING && r->now >= key->use.from) {
        key->state = SOTTO_KEY_ACTIVE;
    } else if (key->state == SOTTO_KEY_ACTIVE && r->now >= key->use.until && has_newer) {
        key->state = SOTTO_KEY_EXPIRED;
    } else if (key->state == SOTTO_KEY_EXPIRED && has_held(r, key, r->times->expired)) {
        *gone = true;
        return delete_key(tx, key, r->now, err);
    } else {
        return SOTTO_OK;
    }
    key->since = r->now;
    return move_key(tx, key, err);
}

/* Makes what has to be there by now; the latest to be used stays the first. */
static sotto_status make_keys(sotto_tx *tx, rotation *r, sotto_err *err)
{
    sotto_key_use use;

    for (bool fresh = false; r->after.count < SOTTO_KEYS_MOST &&
                             sotto_ring_plan(&r->after, &use, r->times, r->now, r->renew, fresh);
         fresh = true) {
        sotto_ring_key *key = &r->after.keys[r->after.count];

        SOTTO_TRY(fresh_key(tx, key, r, err));
        /* The very first key is used at once: no client can have an older list. */
        key->state = r->after.count == 0 ? SOTTO_KEY_ACTIVE : SOTTO_KEY_PENDING;
        key->since = r->now;
        key->use = use;
        key->named = false;
        SOTTO_TRY(insert_key(tx, key, r->columns, err));
        r->after.count++;
        sotto_ring_sort(&r->after);
    }
    return SOTTO_OK;
}

static sotto_status rotate(sotto_tx *tx, void *context, sotto_err *err)
{
    rotation *r = context;
    bool gone, has_newer = false;
    size_t kept = 0;

    /* Locking rows is not enough: a replica that waited for them would not see the key that was added meanwhile, and would
     * add another. */
    SOTTO_TRY(sotto_tx_guard(tx, RING, true, err));
    SOTTO_TRY(sotto_ring_read(tx, &r->after, r->columns, r->times, err));
    /* The newest first: the last published key stays in use, however old it is. */
    for (size_t i = 0; i < r->after.count; i++) {
        SOTTO_TRY(age(tx, r, &r->after.keys[i], has_newer, &gone, err));
        has_newer = has_newer || r->after.keys[i].state == SOTTO_KEY_ACTIVE;
        if (!gone)
            r->after.keys[kept++] = r->after.keys[i];
    }
    r->after.count = kept;
    return make_keys(tx, r, err);
}

/* ---- a key that goes before its time --------------------------------------------------------------------- */

/* Every replica has read the ring since then, at least once more than needed. */
static uint64_t known_after(const rotation *r)
{
    uint64_t looks = 2 * (uint64_t)SOTTO_KEYS_EVERY_S;

    return looks < r->times->pending ? looks : r->times->pending;
}

/* A server always publishes a key that all its replicas know. So the last published key is deleted only when another takes
 * its place. */
static sotto_status make_way(sotto_tx *tx, rotation *r, const sotto_ring_key *leaving,
                             sotto_err *err)
{
    sotto_ring_key *next = NULL;

    if (leaving->state != SOTTO_KEY_ACTIVE)
        return SOTTO_OK;
    for (size_t i = 0; i < r->after.count; i++) {
        sotto_ring_key *k = &r->after.keys[i];

        if (k->state == SOTTO_KEY_ACTIVE && k != leaving)
            return SOTTO_OK;
        if (k->state == SOTTO_KEY_PENDING)
            next = k; /* in the end, the one that would be used first */
    }
    r->renew = !next;
    r->waits = !next || !has_held(r, next, known_after(r));
    if (r->waits)
        return SOTTO_OK;
    next->state = SOTTO_KEY_ACTIVE;
    next->since = next->use.from = r->now;
    return move_key(tx, next, err);
}

static bool has_pending(const sotto_ring *r)
{
    bool found = false;

    for (size_t i = 0; !found && i < r->count; i++)
        found = r->keys[i].state == SOTTO_KEY_PENDING;
    return found;
}

static sotto_status delete_early(sotto_tx *tx, void *context, sotto_err *err)
{
    rotation *r = context;
    const sotto_ring_key *leaving = NULL;

    r->renew = r->waits = false;
    SOTTO_TRY(sotto_tx_guard(tx, RING, true, err));
    SOTTO_TRY(sotto_ring_read(tx, &r->after, r->columns, r->times, err));
    for (size_t i = 0; i < r->after.count; i++)
        if (r->after.keys[i].id == r->leaving)
            leaving = &r->after.keys[i];
    if (!leaving)
        return sotto_fail(err, SOTTO_MISSING, "no HPKE configuration %u", r->leaving);
    SOTTO_TRY(make_way(tx, r, leaving, err));
    if (!r->waits)
        SOTTO_TRY(delete_key(tx, leaving, r->now, err));
    SOTTO_TRY(rotate(tx, r, err));
    if (r->waits && !has_pending(&r->after))
        return sotto_fail(err, SOTTO_DENIED,
                          "there are as many keys as there can be, and none to take its place:"
                          " delete an expired one first");
    return SOTTO_OK;
}

/* ---- what this process knows ----------------------------------------------------------------------------- */

/* Workers open their keys anew only when something has changed. */
static bool is_same(const sotto_ring *a, const sotto_ring *b)
{
    bool same = a->count == b->count;

    for (size_t i = 0; same && i < a->count; i++)
        same = a->keys[i].id == b->keys[i].id && a->keys[i].state == b->keys[i].state &&
               a->keys[i].since == b->keys[i].since && a->keys[i].named == b->keys[i].named;
    return same;
}

static bool has(const sotto_ring *r, const sotto_ring_key *key)
{
    bool found = false;

    for (size_t i = 0; !found && i < r->count; i++)
        found = r->keys[i].id == key->id && r->keys[i].state == key->state;
    return found;
}

static void tell_state(const sotto_keys *keys, uint8_t id, sotto_key_state state)
{
    sotto_log(keys->log, SOTTO_LOG_INFO, "hpke_key.state", sotto_log_uint("config_id", id),
              sotto_log_text("state", sotto_key_state_name(state)));
}

/* Each key whose state is new to this process, whoever changed it; at its start that is every key. */
static void tell(const sotto_keys *keys, const sotto_ring *before, const sotto_ring *after)
{
    bool kept[SOTTO_KEY_IDS] = {false};

    for (size_t i = 0; i < after->count; i++) {
        kept[after->keys[i].id] = true;
        if (!has(before, &after->keys[i]))
            tell_state(keys, after->keys[i].id, after->keys[i].state);
    }
    for (size_t i = 0; i < before->count; i++)
        if (!kept[before->keys[i].id])
            tell_state(keys, before->keys[i].id, (sotto_key_state)0);
}

static sotto_status run_turn(sotto_keys *keys, sotto_db_fn *turn, rotation *r, sotto_err *err)
{
    sotto_status status;
    sotto_ring before = {0};

    r->columns = keys->columns;
    r->times = &keys->times;
    status = sotto_db_run(keys->db, turn, r, err);
    if (status == SOTTO_OK) {
        (void)pthread_rwlock_wrlock(&keys->lock);
        before = keys->now;
        if (!is_same(&keys->now, &r->after)) {
            keys->now = r->after;
            atomic_fetch_add(&keys->version, 1);
        }
        (void)pthread_rwlock_unlock(&keys->lock);
        tell(keys, &before, &r->after);
    }
    sotto_wipe(&before, sizeof before);
    sotto_wipe(&r->after, sizeof r->after);
    return status;
}

sotto_status sotto_keys_rotate(sotto_keys *keys, int64_t now, sotto_err *err)
{
    return run_turn(keys, rotate, &(rotation){.now = now}, err);
}

/* If the clock was set back, the ring is read now: that does no harm. */
sotto_status sotto_keys_tick(sotto_keys *keys, int64_t now, sotto_err *err)
{
    if (now >= keys->ticked && now < keys->ticked + SOTTO_KEYS_EVERY_S)
        return SOTTO_OK;
    keys->ticked = now;
    return sotto_keys_rotate(keys, now, err);
}

sotto_status sotto_keys_renew(sotto_keys *keys, int64_t now, sotto_err *err)
{
    return run_turn(keys, rotate, &(rotation){.now = now, .renew = true}, err);
}

sotto_status sotto_keys_delete(sotto_keys *keys, uint8_t config_id, int64_t now, sotto_err *err)
{
    rotation r = {.now = now, .leaving = config_id};

    SOTTO_TRY(run_turn(keys, delete_early, &r, err));
    return r.waits ? sotto_fail(err, SOTTO_AGAIN, "not every replica knows its successor yet")
                   : SOTTO_OK;
}

uint64_t sotto_keys_cache_seconds(const sotto_keys *keys)
{
    enum { DAY = 86400 };
    uint64_t half = keys->times.expired / 2;

    return half < DAY ? half : DAY;
}

const sotto_key_times *sotto_keys_times(const sotto_keys *keys)
{
    return &keys->times;
}

/* ---- the ring ------------------------------------------------------------------------------------------- */

sotto_status sotto_keys_open(sotto_keys **out, sotto_db *db, const sotto_column_keys *columns,
                             sotto_bytes info, const sotto_key_times *times, int64_t now,
                             const sotto_log_sink *log, sotto_err *err)
{
    sotto_keys *keys;
    sotto_status status;

    if (info.len > sizeof keys->info)
        return sotto_fail(err, SOTTO_BUG, "the info of HPKE keys is too long");
    keys = sotto_alloc(sizeof *keys);
    if (!keys)
        return sotto_fail(err, SOTTO_NO_MEMORY, "HPKE keys");
    keys->db = db;
    keys->columns = columns;
    if (info.len > 0)
        memcpy(keys->info, info.data, info.len);
    keys->info_len = info.len;
    keys->ticked = now;
    keys->log = log;
    keys->times.pending = times->pending ? times->pending : DEFAULT_TIMES.pending;
    keys->times.active = times->active ? times->active : DEFAULT_TIMES.active;
    keys->times.expired = times->expired ? times->expired : DEFAULT_TIMES.expired;
    keys->times.lead = times->lead ? times->lead : keys->times.active;
    (void)pthread_rwlock_init(&keys->lock, NULL);
    status = sotto_keys_rotate(keys, now, err);
    if (status != SOTTO_OK) {
        sotto_keys_close(keys);
        return status;
    }
    *out = keys;
    return SOTTO_OK;
}

void sotto_keys_info_by(sotto_keys *keys, sotto_keys_info_fn *info)
{
    keys->info_by = info;
}

void sotto_keys_close(sotto_keys *keys)
{
    if (!keys)
        return;
    (void)pthread_rwlock_destroy(&keys->lock);
    sotto_release(keys, sizeof *keys);
}

sotto_status sotto_keys_publish(sotto_keys *keys, sotto_buf *out, sotto_err *err)
{
    sotto_hpke_config configs[SOTTO_KEYS_MOST];
    size_t count = 0;
    sotto_status status;

    (void)pthread_rwlock_rdlock(&keys->lock);
    for (size_t i = 0; i < keys->now.count; i++)
        if (keys->now.keys[i].state == SOTTO_KEY_ACTIVE)
            configs[count++] = sotto_ring_config(&keys->now.keys[i]);
    status = sotto_hpke_config_list_encode(out, configs, count, err);
    (void)pthread_rwlock_unlock(&keys->lock);
    return status;
}

sotto_status sotto_keys_list(sotto_keys *keys, sotto_key_line_fn *show, void *context,
                             sotto_err *err)
{
    sotto_status status = SOTTO_OK;

    (void)pthread_rwlock_rdlock(&keys->lock);
    for (size_t i = 0; status == SOTTO_OK && i < keys->now.count; i++) {
        const sotto_ring_key *k = &keys->now.keys[i];
        sotto_key_line line = {k->state, k->since, k->use, k->named, sotto_ring_config(k)};

        status = show(context, &line, err);
    }
    (void)pthread_rwlock_unlock(&keys->lock);
    return status;
}

sotto_status sotto_keys_own(sotto_tx *tx, sotto_own_keys *out, const sotto_column_keys *columns,
                            sotto_err *err)
{
    sotto_status status;
    sotto_ring r;

    out->count = 0;
    status = sotto_ring_read(tx, &r, columns, &DEFAULT_TIMES, err);
    for (size_t i = 0; status == SOTTO_OK && i < r.count; i++) {
        sotto_hpke_config config = sotto_ring_config(&r.keys[i]);
        sotto_buf wire = sotto_buf_over(out->config[i], sizeof out->config[i]);

        status = sotto_hpke_config_encode(&wire, &config, err);
        out->len[i] = wire.len;
        out->count++;
    }
    sotto_wipe(&r, sizeof r);
    return status;
}
