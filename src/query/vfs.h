/* query/vfs.h - where files live: a VFS by name, and the two things that SQLite's VFS can't do.
 *
 * Callers:  query/sqlite.c, device/store*.c, and the ledger.
 * A host that brings a VFS of its own registers it with SQLite and names it here.
 */
#ifndef SOTTO_QUERY_VFS_H
#define SOTTO_QUERY_VFS_H

#include "sotto/events.h"

/* The longest path, with room for "-journal" and ".corrupt". */
enum { SOTTO_VFS_PATH = 512 };

/* Creates the file with mode 0600 if it does not exist; otherwise takes all rights of others away from it
 * and from its -wal, -shm and -journal. Without it SQLite would follow the umask; the files beside it get
 * the mode of the database. */
SOTTO_MUST_USE sotto_status sotto_vfs_make_private(const sotto_storage *storage, const char *path,
                                                   sotto_err *err);

SOTTO_MUST_USE sotto_status sotto_vfs_exists(const sotto_storage *storage, const char *path,
                                             bool *exists, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_vfs_rename(const sotto_storage *storage, const char *from,
                                             const char *to, sotto_err *err);
/* Overwrites a file with zeros, syncs and deletes it. One that is not there is fine. */
SOTTO_MUST_USE sotto_status sotto_vfs_erase(const sotto_storage *storage, const char *path,
                                            sotto_err *err);

#endif
