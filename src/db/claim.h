/* db/claim.h - an SQLite file belongs to one server process at a time.
 *
 *     PATH-lock     empty; locked for as long as a server has PATH
 *
 * Callers:  serve/ when it has opened the store, before it reads or writes anything.
 * Memory:   a plain value.
 *
 * SQLite itself lets any number of processes in, and admin verbs beside a server need that; but a server keeps things in
 * memory that another would change beneath it. The kernel lets go of the lock when the process ends, however it ends.
 * A file apart: whoever closes any descriptor of a database file loses the locks that SQLite has on it.
 */
#ifndef SOTTO_DB_CLAIM_H
#define SOTTO_DB_CLAIM_H

#include "sotto/base.h"

/* All zero: none is held. */
typedef struct sotto_db_claim {
    int fd; /* one more than the descriptor */
} sotto_db_claim;

/* address: of a store that is open; any but "sqlite:PATH" needs no claim, and none is held then.
 *   SOTTO_STALE  another server has it
 *   SOTTO_IO     the lock can't be had
 */
SOTTO_MUST_USE sotto_status sotto_db_claim_take(sotto_db_claim *claim, const char *address,
                                                sotto_err *err);
/* Once the store is closed. */
void sotto_db_claim_release(sotto_db_claim *claim);

#endif
