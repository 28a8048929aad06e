/* db/sqlite_memory.h - large blocks of SQLite's out of those that a server keeps (base/alloc.h).
 *
 * Callers:  serve/host, once, before anything in the process uses SQLite.
 * Threads:  any may call.
 * Secrets:  none: values of such a length were sealed before SQLite got them.
 *
 * A share of 100,000 bins has 1.6 MB. SQLite takes a block of that size for each row that it reads or writes. From the C library
 * each is a mapping of its own, whose pages are zeroed one by one when they are touched, and unmapped right after.
 */
#ifndef SOTTO_DB_SQLITE_MEMORY_H
#define SOTTO_DB_SQLITE_MEMORY_H

#include <stdbool.h>

/* False: SQLite is in use already, and allocates as before. A second call changes nothing. */
bool sotto_sqlite_memory_keep(void);

#endif
