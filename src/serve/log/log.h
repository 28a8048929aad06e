/* serve/log/log.h - what the files of a log's service share.
 *
 *   log_service.c  the row of the table: options, opening, health
 *   appends.c      entries that arrive, signed together
 *   static_files.c the checkpoint and the tiles
 *   witnesses.c    asks each witness for its cosignature until it has it, and for a later one now and then
 *
 * Threads:  `lock` guards the store and the state of witnesses; workers hold it, loops never do.
 */
#ifndef SOTTO_SERVE_LOG_LOG_H
#define SOTTO_SERVE_LOG_LOG_H

#include "serve/host/bearer.h"
#include "serve/host/host.h"
#include "serve/host/last_seen.h"
#include "serve/host/peers.h"
#include "serve/log/log_service.h"
#include "tlog/key_file.h"
#include "tlog/store.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct sotto_log_server sotto_log_server;

/* What a witness has cosigned, as far as this process knows. */
typedef struct sotto_log_witness {
    sotto_log_server *log;
    size_t number;
    atomic_bool lost;   /* the call ended, and no worker could take its answer */
    bool busy;          /* a call is under way                 */
    bool done;          /* it cosigned the tree of `size`      */
    uint64_t size;      /* of the last tree that it cosigned   */
    int64_t not_before; /* seconds since 1970: the next try    */
    int64_t renew;      /* done: when it is asked to cosign the same tree once more */
    uint64_t asked;     /* the size that the call is about     */
    uint64_t old;       /* the size that the call went from    */
    uint64_t claimed;   /* a size above ours that it named, and has not shown yet; 0: none */
    bool hurried;       /* the last try did not wait           */
    char line[SOTTO_NOTE_LINE_MAX + 1];
} sotto_log_witness;

/* Why each witness did not cosign when it was asked last; empty: it did, or was not asked. */
typedef struct sotto_log_refusals {
    char why[SOTTO_KEY_FILE_KEYS][120];
} sotto_log_refusals;

typedef struct sotto_log_append sotto_log_append;

struct sotto_log_server {
    sotto_host *host;
    sotto_log_config config;
    sotto_signer_file key;
    sotto_key_file witness_keys;
    sotto_bearer token; /* of whoever may append */
    pthread_mutex_t lock;
    sotto_log_store *store;
    sotto_log_witness witnesses[SOTTO_KEY_FILE_KEYS];
    char numbers[SOTTO_KEY_FILE_KEYS][4]; /* of witnesses, from 1, for health */
    sotto_peers *peers;                   /* are they there, also while nothing is signed? */
    sotto_log_refusals refusals;          /* under lock */
    sotto_last_seen *seen; /* a copy of refusals, for health, which takes no lock of ours */
    pthread_mutex_t queue_lock;
    sotto_log_append *first, **end; /* wait to be signed */
    bool signing;
    bool stopping;
    atomic_bool draining; /* nothing is held back any more */
    atomic_uint asking;   /* witnesses whose answer is awaited */
    atomic_uint_fast64_t signed_ms;
    sotto_checkpoint remembered;                          /* what the database has; size 0: none */
    atomic_uint_fast64_t size, added, cosigned, unproved; /* for health and metrics */
    atomic_bool confirmed;   /* a witness cosigned since the start, or there is none to ask */
    atomic_bool rolled_back; /* a witness showed a larger tree that this log signed */
};

/* appends.c */
bool sotto_log_admit(void *state, const sotto_route *route, sotto_http_request *request,
                     size_t *max_body);
void sotto_log_take_entries(void *state, const sotto_route *route, sotto_http_request *request);
/* Signs what waits, unless witnesses are yet to be heard about the tree before. */
void sotto_log_sign_waiting(sotto_log_server *log);
/* Refuses what waits: the server closes. */
void sotto_log_refuse_waiting(sotto_log_server *log);
/* What the database remembers of the last tree; size 0: nothing. */
SOTTO_MUST_USE sotto_status sotto_log_known(sotto_log_server *log, sotto_checkpoint *known,
                                            sotto_err *err);

/* static_files.c */
void sotto_log_get(void *state, const sotto_route *route, sotto_http_request *request);

/* witnesses.c: starts a call to each witness that has not cosigned the last tree, or not for long, and is due. */
void sotto_log_ask_witnesses(sotto_log_server *log);

#endif
