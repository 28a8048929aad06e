/* base/sqlite_status.h - the status that callers act on for SQLite's result code.
 *
 * Callers:  device/ and db/, which use SQLite each in its own way and must not know of each other.
 * A header alone: what links base needs no SQLite.
 */
#ifndef SOTTO_BASE_SQLITE_STATUS_H
#define SOTTO_BASE_SQLITE_STATUS_H

#include "sotto/base.h"

#include <sqlite3.h>

/* SOTTO_BUG: what should not happen. A broken constraint is among it, unless the caller expects one. */
static inline sotto_status sotto_status_of_sqlite(int code)
{
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_DONE:
    case SQLITE_ROW:
        return SOTTO_OK;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return SOTTO_MALFORMED;
    case SQLITE_AUTH:
    case SQLITE_PERM:
    case SQLITE_READONLY:
        return SOTTO_DENIED;
    case SQLITE_NOMEM:
        return SOTTO_NO_MEMORY;
    case SQLITE_TOOBIG:
        return SOTTO_TOO_LARGE;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_PROTOCOL:
        return SOTTO_IO;
    default:
        return SOTTO_BUG;
    }
}

#endif
