/* serve/host/keys_internal.h - the ring of HPKE keys, as the two files share it that use it.
 *
 *     keys.c       rows, rotation, what is published
 *     receivers.c  an opened copy for each worker
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
    int64_t ticked; /* when sotto_keys_tick last rotated */
    sotto_key_times times;
    const sotto_log_sink *log;
    pthread_rwlock_t lock;
    sotto_ring now;
    atomic_uint_fast64_t version; /* of `now` */
};

/* Of every key that a server makes. */
static const sotto_hpke_suite sotto_keys_suite = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256,
                                                  SOTTO_HPKE_AEAD_AES128_GCM};

#endif
