/* One worker's opened keys: opening a share is faster with a key that is set up already. */
#define _POSIX_C_SOURCE 200809L
#include "serve/host/keys_internal.h"

#include "base/alloc.h"

struct sotto_receivers {
    sotto_keys *keys;
    uint_fast64_t version;
    sotto_hpke_receiver *by_id[SOTTO_KEY_IDS];
};

static void forget(sotto_receivers *r)
{
    for (size_t i = 0; i < SOTTO_KEY_IDS; i++) {
        sotto_hpke_receiver_free(r->by_id[i]);
        r->by_id[i] = NULL;
    }
}

static sotto_status open_key(sotto_receivers *r, const sotto_ring_key *k, sotto_err *err)
{
    uint8_t own[SOTTO_KEYS_INFO];
    sotto_bytes info = sotto_bytes_of(r->keys->info, r->keys->info_len);

    if (r->keys->info_by)
        info = sotto_bytes_of(own, r->keys->info_by(own, k->id, sotto_keys_suite));
    return sotto_hpke_receiver_new(&r->by_id[k->id], &k->key, sotto_keys_suite, info, err);
}

/* Brings the worker up to date; what fails to open is tried again with the next share. */
static sotto_status update(sotto_receivers *r, sotto_err *err)
{
    uint_fast64_t version = atomic_load(&r->keys->version);
    sotto_status status = SOTTO_OK;

    if (version == r->version)
        return SOTTO_OK;
    forget(r);
    (void)pthread_rwlock_rdlock(&r->keys->lock);
    for (size_t i = 0; status == SOTTO_OK && i < r->keys->now.count; i++)
        status = open_key(r, &r->keys->now.keys[i], err);
    (void)pthread_rwlock_unlock(&r->keys->lock);
    if (status == SOTTO_OK)
        r->version = version;
    return status;
}

sotto_status sotto_receivers_new(sotto_receivers **out, sotto_keys *keys, sotto_err *err)
{
    sotto_receivers *r = sotto_alloc(sizeof *r);

    if (!r)
        return sotto_fail(err, SOTTO_NO_MEMORY, "opened HPKE keys");
    r->keys = keys;
    *out = r;
    return SOTTO_OK;
}

void sotto_receivers_free(sotto_receivers *r)
{
    if (!r)
        return;
    forget(r);
    sotto_release(r, sizeof *r);
}

sotto_status sotto_receivers_know(sotto_receivers *r, uint8_t config_id, sotto_err *err)
{
    SOTTO_TRY(update(r, err));
    if (!r->by_id[config_id])
        return sotto_fail(err, SOTTO_MISSING, "no HPKE configuration %u", config_id);
    return SOTTO_OK;
}

sotto_status sotto_receivers_find(sotto_receivers *r, sotto_hpke_receiver **out, uint8_t config_id,
                                  sotto_err *err)
{
    SOTTO_TRY(sotto_receivers_know(r, config_id, err));
    *out = r->by_id[config_id];
    return SOTTO_OK;
}

void sotto_receivers_agree(sotto_receivers *r, sotto_agreement *all, const uint8_t *config_ids,
                           size_t count)
{
    /* Once for all of them: updating the keys frees those that earlier agreements point to. */
    bool known = update(r, NULL) == SOTTO_OK;

    for (size_t i = 0; i < count; i++) {
        const sotto_hpke_receiver *receiver = known ? r->by_id[config_ids[i]] : NULL;

        all[i].own = receiver ? sotto_hpke_receiver_key(receiver) : NULL;
    }
    sotto_agree_many(all, count);
    for (size_t i = 0; i < count; i++)
        all[i].own = NULL;
}

sotto_status sotto_receivers_unseal(sotto_receivers *r, sotto_buf *out, uint8_t config_id,
                                    const sotto_agreement *with, sotto_bytes aad,
                                    sotto_bytes payload, sotto_err *err)
{
    SOTTO_TRY(sotto_receivers_know(r, config_id, err));
    return sotto_hpke_receiver_unseal_with(r->by_id[config_id], out, with, aad, payload, err);
}

sotto_status sotto_receivers_unseal_keyed(sotto_receivers *r, sotto_buf *out, uint8_t config_id,
                                          const sotto_agreement *with, sotto_bytes aad,
                                          sotto_bytes payload, sotto_message_key *key,
                                          sotto_err *err)
{
    SOTTO_TRY(sotto_receivers_know(r, config_id, err));
    return sotto_hpke_receiver_unseal_keyed(r->by_id[config_id], out, with, aad, payload, key, err);
}
