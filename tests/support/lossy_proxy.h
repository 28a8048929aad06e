/* support/lossy_proxy.h - stands between a store and PostgreSQL, and can lose the answer to a commit.
 *
 * One a process. It runs a thread of its own.
 */
#ifndef SOTTO_TESTS_SUPPORT_LOSSY_PROXY_H
#define SOTTO_TESTS_SUPPORT_LOSSY_PROXY_H

#include "support/test.h"

/* Listens in `directory`, where libpq finds it by host=directory, for the server whose directory is `server`. */
void sotto_proxy_start(sotto_test *t, const char *directory, const char *server);
void sotto_proxy_stop(sotto_test *t);

typedef enum sotto_proxy_loss {
    SOTTO_PROXY_LOSES_NOTHING,
    SOTTO_PROXY_LOSES_COMMIT, /* the next COMMIT never reaches the server                  */
    SOTTO_PROXY_LOSES_ANSWER  /* the next COMMIT does, and its answer never reaches the store */
} sotto_proxy_loss;
/* `then`, if there is one, runs before the store hears that the connection is gone. */
void sotto_proxy_lose(sotto_proxy_loss what, void (*then)(void));
/* How many were lost. */
unsigned sotto_proxy_lost(void);

#endif
