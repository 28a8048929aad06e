/* db/store_internal.h - a store, as its own files see it.
 *
 * store.c opens and closes, and keeps the queue; store_worker.c runs what is in it; store_wake.c wakes those who wait
 * for work.
 */
#ifndef SOTTO_DB_STORE_INTERNAL_H
#define SOTTO_DB_STORE_INTERNAL_H

#include "db/driver.h"

#include <pthread.h>

enum { SOTTO_DB_WRITERS = 64, SOTTO_DB_READERS = 64 };

typedef struct sotto_db_worker {
    sotto_db *db;
    sotto_conn *conn;
    pthread_t thread;
    bool running;
    bool gave_up;    /* under the store's lock: no connection could be had, and its thread ends */
    uint64_t syncs;  /* of the connection, when last counted */
    uint32_t wakes;  /* channels that its transaction wakes  */
    bool in_doubt;   /* a commit was sent and its answer lost */
    uint32_t jitter; /* spreads retries; nothing secret */
} sotto_db_worker;

typedef struct sotto_channels {
    pthread_mutex_t lock;
    pthread_cond_t woken;
    char names[SOTTO_DB_CHANNELS][SOTTO_DB_CHANNEL_NAME];
    uint64_t counts[SOTTO_DB_CHANNELS];
    size_t used;
    bool closing;
} sotto_channels;

struct sotto_db {
    sotto_db_options options;
    char *address;
    size_t address_size;
    const sotto_driver *driver;

    pthread_mutex_t lock; /* over what follows */
    pthread_cond_t work;
    pthread_cond_t reader_free;
    sotto_db_job *first, **last;
    uint64_t idle; /* workers that wait for a job, or connect and will ask for one */
    sotto_db_stats stats;
    bool closing;
    sotto_conn *readers[SOTTO_DB_READERS];
    bool reader_busy[SOTTO_DB_READERS];

    sotto_db_worker workers[SOTTO_DB_WRITERS];
    sotto_channels channels;
    pthread_t listener;
    sotto_conn *listener_conn;
    int stop[2]; /* a pipe that tells the listener to end; -1: none */
    bool listening;
};

/* Whether this thread is inside a function or a `done`, and would wait for itself. */
bool sotto_db_is_inside(void);

void *sotto_db_worker_main(void *worker);
void *sotto_db_worker_late_main(void *worker); /* connects first */
/* Runs one function on a connection, again and again while that may help. */
sotto_status sotto_db_worker_read(sotto_db *db, sotto_conn *conn, sotto_db_fn *fn, void *context,
                                  sotto_err *err);

SOTTO_MUST_USE bool sotto_channels_init(sotto_channels *channels);
void sotto_channels_clear(sotto_channels *channels);
void sotto_channels_end(sotto_channels *channels); /* everybody stops waiting */
/* The bits of what the connection's function wants woken, and the waking. */
uint32_t sotto_channels_bits(sotto_channels *channels, const sotto_conn *conn);
void sotto_channels_wake(sotto_channels *channels, uint32_t bits);
void *sotto_listener_main(void *db);

#endif
