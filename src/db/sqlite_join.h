/* db/sqlite_join.h - a VFS that hands a commit's pages to the system at once.
 *
 * Callers:  sqlite_open.c, for every connection; sqlite.c when a transaction begins or was taken back.
 * Threads:  a connection's own, as with SQLite.
 *
 * SQLite writes a page of the WAL in two calls, its head and itself. Here, bytes that follow on those written before wait in memory
 * until the WAL is synced. SQLite syncs it before a commit counts: synchronous is FULL or more (sqlite_open.c sees to it). Nobody
 * else reads a page before that, and a read through this VFS writes it first. All other files pass through unchanged. So does a WAL
 * on a disk that may tear sectors, where SQLite writes behind the sync, too.
 */
#ifndef SOTTO_DB_SQLITE_JOIN_H
#define SOTTO_DB_SQLITE_JOIN_H

#include <sqlite3.h>

/* The name of such a VFS over another; NULL: over SQLite's own. The answer is `vfs` where there can be none. */
const char *sotto_lite_joined(const char *vfs);

/* Outside a transaction, and right behind one that was taken back: what it left in memory must never be written, since other processes may commit in
 * its place. */
void sotto_lite_join_forget(sqlite3 *db);

#endif
