/* serve/leader/arrivals.h - uploads that came and wait for a compute thread, which takes many small ones at once.
 *
 * Callers:  upload.c puts requests here, and opens what a compute thread takes.
 * Threads:  any may put.
 *
 * A device sends one report a request. Opened one by one, each report would pay alone for what many can share: the lanes of
 * X25519, a wake-up of a thread, a commit. Nobody waits for others to come: a thread takes what is there.
 */
#ifndef SOTTO_SERVE_LEADER_ARRIVALS_H
#define SOTTO_SERVE_LEADER_ARRIVALS_H

#include "serve/host/pool.h"
#include "serve/leader/upload.h"

/* Uploads that wait; one more gets 503 and is to retry. */
enum { SOTTO_ARRIVALS_MOST = 4096, SOTTO_ARRIVALS_AT_ONCE = 64 };

typedef struct sotto_arrivals sotto_arrivals;

/* open: opens a chain of uploads (by `next`), on a compute thread; they are its own. */
SOTTO_MUST_USE sotto_status sotto_arrivals_open(sotto_arrivals **arrivals, sotto_pool *pool,
                                                void (*open)(sotto_upload_request *chain,
                                                             sotto_worker *worker),
                                                sotto_err *err);
/* Once the pool has stopped. NULL is fine. */
void sotto_arrivals_close(sotto_arrivals *arrivals);

/* SOTTO_AGAIN: too many wait, or the compute threads are busy or gone; the upload stays the caller's. */
SOTTO_MUST_USE sotto_status sotto_arrivals_put(sotto_arrivals *arrivals,
                                               sotto_upload_request *upload, sotto_err *err);

#endif
