/* serve/host/keys.h - a server's HPKE keys: pending, active, expired, deleted. For services that have the tables hpke_key and
 * hpke_former (tasks/schema.c).
 *
 * Callers:  upload and aggregation open shares; the hpke_config handler publishes; a timer rotates.
 * Memory:   the ring is the server's; receivers belong to one worker each.
 * Threads:  the published list is read without waiting; rotation is one transaction, safe with replicas.
 * Secrets:  private keys, sealed at rest with the datastore key.
 */
#ifndef SOTTO_SERVE_HOST_KEYS_H
#define SOTTO_SERVE_HOST_KEYS_H

#include "db/sealed.h"
#include "db/store.h"
#include "sotto/log.h"
#include "sotto/seal.h"

typedef enum sotto_key_state {
    SOTTO_KEY_PENDING = 1, /* all replicas learn it before anyone is told  */
    SOTTO_KEY_ACTIVE,      /* published                                    */
    SOTTO_KEY_EXPIRED,     /* no longer published, still opens             */
} sotto_key_state;         /* deleted ones have no row                     */

enum { SOTTO_KEYS_EVERY_S = 10 }; /* every server looks at its ring so often */
enum { SOTTO_KEYS_INFO = 64 };

/* "pending", ...; 0: "deleted" */
const char *sotto_key_state_name(sotto_key_state state);

typedef struct sotto_keys sotto_keys;

/* Seconds. All replicas look at the ring more often than a key is pending; clients cache a configuration for a day, and a
 * report may wait on a device for days. Zero takes the default given here. */
typedef struct sotto_key_times {
    uint64_t pending; /* an hour                                         */
    uint64_t active;  /* 84 days; at least four times as long as pending */
    uint64_t expired; /* 7 days                                          */
} sotto_key_times;

/*   info  of HPKE, for what is sealed to these keys; copied, SOTTO_KEYS_INFO bytes at most
 *   now   seconds since 1970: the ring is brought up to then, and its first key is made
 *   log   hears of every key's state, and of each change; kept; may be NULL */
SOTTO_MUST_USE sotto_status sotto_keys_open(sotto_keys **keys, sotto_db *db,
                                            const sotto_column_keys *columns, sotto_bytes info,
                                            const sotto_key_times *times, int64_t now,
                                            const sotto_log_sink *log, sotto_err *err);
void sotto_keys_close(sotto_keys *keys);
/* Appends the HpkeConfigList to publish. */
SOTTO_MUST_USE sotto_status sotto_keys_publish(sotto_keys *keys, sotto_buf *out, sotto_err *err);
/* Moves keys on as their times come, makes a new one where one will be needed. */
SOTTO_MUST_USE sotto_status sotto_keys_rotate(sotto_keys *keys, int64_t now, sotto_err *err);
/* The same, if the last time was SOTTO_KEYS_EVERY_S ago, or in the future. For one thread. */
SOTTO_MUST_USE sotto_status sotto_keys_tick(sotto_keys *keys, int64_t now, sotto_err *err);
/* Rotates, and makes a successor now, unless one is pending: after a key may have been seen. */
SOTTO_MUST_USE sotto_status sotto_keys_renew(sotto_keys *keys, int64_t now, sotto_err *err);
/* Ends a key before its time, after it was seen: from the next look on no replica opens anything with it. The last one that is
 * published stays until a successor is published in its place.
 *   SOTTO_AGAIN    a successor was made, or is there, and not every replica knows it yet: call again in a second
 *   SOTTO_MISSING  there is no such key
 *   SOTTO_DENIED   it is the last one that is published, and there is no room for a successor
 */
SOTTO_MUST_USE sotto_status sotto_keys_delete(sotto_keys *keys, uint8_t config_id, int64_t now,
                                              sotto_err *err);
/* How long a client may keep the published list: a day, but never so long that a key of it is deleted within twice that. */
uint64_t sotto_keys_cache_seconds(const sotto_keys *keys);
/* As given, or the defaults. */
const sotto_key_times *sotto_keys_times(const sotto_keys *keys);

/* For `sotto admin keys`: every key, without its secret half. Not to be called back from. */
typedef struct sotto_key_line {
    sotto_key_state state;
    int64_t since;
    sotto_hpke_config config; /* borrowed until the callback returns */
} sotto_key_line;
typedef sotto_status sotto_key_line_fn(void *context, const sotto_key_line *line, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_keys_list(sotto_keys *keys, sotto_key_line_fn *show,
                                            void *context, sotto_err *err);

/* The configurations of all keys in the ring, encoded, as of this transaction. */
enum { SOTTO_KEYS_MOST = 32, SOTTO_KEY_CONFIG = 64 };
typedef struct sotto_own_keys {
    size_t count;
    uint8_t config[SOTTO_KEYS_MOST][SOTTO_KEY_CONFIG];
    size_t len[SOTTO_KEYS_MOST];
} sotto_own_keys;
SOTTO_MUST_USE sotto_status sotto_keys_own(sotto_tx *tx, sotto_own_keys *out,
                                           const sotto_column_keys *columns, sotto_err *err);

/* One worker's opened keys, brought up to date when the ring changes. */
typedef struct sotto_receivers sotto_receivers;
SOTTO_MUST_USE sotto_status sotto_receivers_new(sotto_receivers **out, sotto_keys *keys,
                                                sotto_err *err);
void sotto_receivers_free(sotto_receivers *receivers);
/* Whether this configuration is known: pending keys are, deleted ones aren't, which is SOTTO_MISSING. Anything else says
 * nothing of the configuration: the worker's keys could not be opened now. */
SOTTO_MUST_USE sotto_status sotto_receivers_know(sotto_receivers *receivers, uint8_t config_id,
                                                 sotto_err *err);
/* Appends the plaintext of an input share. SOTTO_MISSING: unknown configuration. SOTTO_REJECTED: does not open. */
SOTTO_MUST_USE sotto_status sotto_receivers_unseal(sotto_receivers *receivers, sotto_buf *out,
                                                   uint8_t config_id, sotto_bytes enc,
                                                   sotto_bytes aad, sotto_bytes payload,
                                                   sotto_err *err);

#endif
