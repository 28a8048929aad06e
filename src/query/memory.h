/* query/memory.h - how much memory SQLite holds, for the limit on what a query may take.
 *
 * Callers:  the query runner; device/shared for whoever has many devices in one process.
 * Threads:  as each function says.
 *
 * SQLite counts for the whole process, behind one lock that every allocation takes. It may be built or configured not to
 * count at all. The meter counts for each thread and takes no lock. A query runs on one thread, so what the thread holds
 * more than before is the query's.
 */
#ifndef SOTTO_QUERY_MEMORY_H
#define SOTTO_QUERY_MEMORY_H

#include "sotto/base.h"

/* Puts the meter around SQLite's allocator and ends SQLite's own counting, for the rest of the process. While nothing else
 * uses SQLite, on any thread: sqlite3_config asks for that. A second call changes nothing.
 *   SOTTO_STALE  SQLite runs already
 */
SOTTO_MUST_USE sotto_status sotto_memory_meter(sotto_err *err);

/* Bytes: only differences between two calls on one thread mean anything. */
int64_t sotto_memory_held(void);
/* Whether sotto_memory_held counts: not where SQLite does not and there is no meter. */
bool sotto_memory_counted(void);

#endif
