/* serve/host/keys.h - a server's HPKE keys: pending, active, expired, deleted. For services that have the tables hpke_key and
 * hpke_former (tasks/schema.c, or SOTTO_KEYS_SCHEMA).
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
#include "seal/hpke/agreed.h"
#include "sotto/log.h"
#include "sotto/seal.h"

typedef enum sotto_key_state {
    SOTTO_KEY_PENDING = 1, /* made; exported for parties files; not used   */
    SOTTO_KEY_ACTIVE,      /* published, and used                          */
    SOTTO_KEY_EXPIRED,     /* no longer published, still opens             */
} sotto_key_state;         /* deleted ones have no row                     */

/* For the first migration of a service; leader and helper came to the same by steps. */
#define SOTTO_KEYS_SCHEMA                                                                          \
    "CREATE TABLE hpke_key (config_id {int} PRIMARY KEY, state {int} NOT NULL,"                    \
    " secret {bytes} NOT NULL, since {int} NOT NULL, use_from {int} NOT NULL,"                     \
    " use_until {int} NOT NULL, use_next {int} NOT NULL, named {int} NOT NULL DEFAULT 0);"         \
    "CREATE TABLE hpke_former (config {bytes} PRIMARY KEY, since {int} NOT NULL,"                  \
    " use_from {int} NOT NULL, use_until {int} NOT NULL, use_next {int} NOT NULL);"

enum { SOTTO_KEYS_EVERY_S = 10 }; /* every server looks at its ring so often */
enum { SOTTO_KEYS_INFO = 64 };

/* "pending", ...; 0: "deleted" */
const char *sotto_key_state_name(sotto_key_state state);

typedef struct sotto_keys sotto_keys;

/* Seconds. All replicas look at the ring more often than a key is pending; clients cache a configuration for a day, and a
 * report may wait on a device for days. Zero takes the default given here.
 *
 * A key is used for `active`; the next one comes into use when half of that is over, so that two overlap for as long. Each
 * is made `lead` before its use, since parties files travel with applications: a file names every key that will be in use
 * within `lead` of its export. */
typedef struct sotto_key_times {
    uint64_t pending; /* an hour: the least from being made to being used, by `rotate` */
    uint64_t active;  /* 84 days; at least four times as long as pending               */
    uint64_t expired; /* 7 days                                                        */
    uint64_t lead;    /* as long as active                                             */
} sotto_key_times;

/* Seconds since 1970, as the parties file has them. They never change once they were exported, or a new file would make
 * other tasks of the recipes that run (recipe/task.c). */
typedef struct sotto_key_use {
    int64_t from, until;
    int64_t
        next; /* no key that is not made yet comes into use before; `rotate` and `delete` alone break that */
} sotto_key_use;

/*   info  of HPKE, for what is sealed to these keys; copied, SOTTO_KEYS_INFO bytes at most
 *   now   seconds since 1970: the ring is brought up to then, and its first key is made
 *   log   hears of every key's state, and of each change; kept; may be NULL */
SOTTO_MUST_USE sotto_status sotto_keys_open(sotto_keys **keys, sotto_db *db,
                                            const sotto_column_keys *columns, sotto_bytes info,
                                            const sotto_key_times *times, int64_t now,
                                            const sotto_log_sink *log, sotto_err *err);
void sotto_keys_close(sotto_keys *keys);
/* Before the first receiver: the info is another for each key, as OHTTP has it. Writes it and returns its length, at most
 * SOTTO_KEYS_INFO. */
typedef size_t sotto_keys_info_fn(uint8_t out[SOTTO_KEYS_INFO], uint8_t config_id,
                                  sotto_hpke_suite suite);
void sotto_keys_info_by(sotto_keys *keys, sotto_keys_info_fn *info);
/* Appends the HpkeConfigList to publish. */
SOTTO_MUST_USE sotto_status sotto_keys_publish(sotto_keys *keys, sotto_buf *out, sotto_err *err);
/* Moves keys on as their times come, makes a new one where one will be needed. */
SOTTO_MUST_USE sotto_status sotto_keys_rotate(sotto_keys *keys, int64_t now, sotto_err *err);
/* The same, if the last time was SOTTO_KEYS_EVERY_S ago, or in the future. For one thread. */
SOTTO_MUST_USE sotto_status sotto_keys_tick(sotto_keys *keys, int64_t now, sotto_err *err);
/* Rotates, and makes a successor now, unless one is pending. For after a key may have leaked. */
SOTTO_MUST_USE sotto_status sotto_keys_renew(sotto_keys *keys, int64_t now, sotto_err *err);
/* Deletes a key before its time, after it leaked: once a replica has read the ring again, it opens nothing with that key. The
 * last one that is published stays until a successor is published in its place.
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

/* What is wrong with times that are right one by one; NULL: nothing. */
const char *sotto_key_times_check(const sotto_key_times *times);

/* For `sotto admin keys`: every key, without its secret half. Not to be called back from. */
typedef struct sotto_key_line {
    sotto_key_state state; /* 0: deleted */
    int64_t since;
    sotto_key_use use;
    bool named;               /* by the parties file of a task that was added */
    sotto_hpke_config config; /* borrowed until the callback returns */
} sotto_key_line;
typedef sotto_status sotto_key_line_fn(void *context, const sotto_key_line *line, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_keys_list(sotto_keys *keys, sotto_key_line_fn *show,
                                            void *context, sotto_err *err);

/* What a parties file has of this server at `now`, by the times of use. That is every key that is in use or will be, and
 * those that ended less than times.active ago, since recipes may be open that began before. At most SOTTO_KEYS_EXPORTED, the
 * latest. */
enum { SOTTO_KEYS_EXPORTED = 16 }; /* as many as a party may have (recipe/schema_rows.h) */
SOTTO_MUST_USE sotto_status sotto_keys_export(sotto_keys *keys, int64_t now,
                                              sotto_key_line_fn *show, void *context,
                                              sotto_err *err);

/* Until when published parties files name every key of this server. */
typedef struct sotto_keys_known {
    bool named;    /* a task's parties file names one; else the rest is 0    */
    int64_t until; /* seconds since 1970                                     */
    bool soon;     /* less than half of times.lead is left: publish another   */
    uint8_t next;  /* the first key that comes into use and is in no file     */
} sotto_keys_known;
sotto_keys_known sotto_keys_known_until(sotto_keys *keys, int64_t now);
/* In the transaction that adds a task: its parties file names this configuration. */
SOTTO_MUST_USE sotto_status sotto_keys_name(sotto_tx *tx, uint8_t config_id, sotto_err *err);

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
/* Whether this configuration is known: pending keys are, deleted ones aren't, which is SOTTO_MISSING. Other statuses
 * mean that the worker's keys could not be opened now, whatever the configuration. */
SOTTO_MUST_USE sotto_status sotto_receivers_know(sotto_receivers *receivers, uint8_t config_id,
                                                 sotto_err *err);
/* The opened key itself, until the next call with these receivers. The same statuses. */
SOTTO_MUST_USE sotto_status sotto_receivers_find(sotto_receivers *receivers,
                                                 sotto_hpke_receiver **out, uint8_t config_id,
                                                 sotto_err *err);
/* Agrees with the senders of many shares at once, which is faster than one by one. The caller sets each peer to the
 * share's enc, or to nothing if that share is not to be opened. What can't be agreed here (an unknown configuration, a
 * malformed enc) is left for sotto_receivers_unseal to refuse. */
void sotto_receivers_agree(sotto_receivers *receivers, sotto_agreement *all,
                           const uint8_t *config_ids, size_t count);
/* Appends the plaintext of an input share.
 *   with             the share's enc as its peer, agreed beforehand or not
 *   SOTTO_MISSING    unknown configuration
 *   SOTTO_REJECTED   does not open
 */
SOTTO_MUST_USE sotto_status sotto_receivers_unseal(sotto_receivers *receivers, sotto_buf *out,
                                                   uint8_t config_id, const sotto_agreement *with,
                                                   sotto_bytes aad, sotto_bytes payload,
                                                   sotto_err *err);
/* As above; *key opens the same share again, whatever becomes of the configuration (seal/hpke/agreed.h). */
SOTTO_MUST_USE sotto_status sotto_receivers_unseal_keyed(sotto_receivers *receivers, sotto_buf *out,
                                                         uint8_t config_id,
                                                         const sotto_agreement *with,
                                                         sotto_bytes aad, sotto_bytes payload,
                                                         sotto_message_key *key, sotto_err *err);

#endif
