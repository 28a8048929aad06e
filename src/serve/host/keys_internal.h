/* serve/host/keys_internal.h - the ring of HPKE keys, as the files share it that use it.
 *
 *     keys.c           rows, rotation, what is published
 *     keys_calendar.c  when keys are made, used and replaced
 *     keys_export.c    what the parties file has
 *     receivers.c      an opened copy for each worker
 */
#ifndef SOTTO_SERVE_HOST_KEYS_INTERNAL_H
#define SOTTO_SERVE_HOST_KEYS_INTERNAL_H

#include "serve/host/keys.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SOTTO_KEY_IDS = 256 };

typedef struct sotto_ring_key {
    uint8_t id;
    sotto_key_state state;
    int64_t since;
    sotto_key_use use;
    bool named;
    sotto_hpke_key key;
} sotto_ring_key;

typedef struct sotto_ring {
    size_t count;
    sotto_ring_key keys[SOTTO_KEYS_MOST];
} sotto_ring;

struct sotto_keys {
    sotto_db *db;
    const sotto_column_keys *columns;
    uint8_t info[SOTTO_KEYS_INFO];
    size_t info_len;
    sotto_keys_info_fn *info_by; /* NULL: `info` is every key's */
    int64_t ticked;              /* when sotto_keys_tick last rotated */
    sotto_key_times times;
    const sotto_log_sink *log;
    pthread_rwlock_t lock;
    sotto_ring now;
    atomic_uint_fast64_t version; /* of `now` */
};

/* ---- keys_calendar.c ---- */

/* Gives times to a key of an earlier version, which has none, as that version exported them. For an expired key they are
 * not known any more, and it stays without. */
void sotto_ring_date(sotto_ring_key *key, const sotto_key_times *times);
/* The latest to be used first. */
void sotto_ring_sort(sotto_ring *ring);
/* Whether a key has to be made now, and when it is used.
 *   renew  a successor is wanted at once, unless one comes into use within times->pending
 *   fresh  others were made in this same call, so no file names them yet */
bool sotto_ring_plan(const sotto_ring *ring, sotto_key_use *out, const sotto_key_times *times,
                     int64_t now, bool renew, bool fresh);

/* ---- keys.c ---- */

/* Dated and sorted. Wipe it. */
SOTTO_MUST_USE sotto_status sotto_ring_read(sotto_tx *tx, sotto_ring *out,
                                            const sotto_column_keys *columns,
                                            const sotto_key_times *times, sotto_err *err);
sotto_hpke_config sotto_ring_config(const sotto_ring_key *key);

/* Of every key that a server makes. */
static const sotto_hpke_suite sotto_keys_suite = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256,
                                                  SOTTO_HPKE_AEAD_AES128_GCM};

#endif
