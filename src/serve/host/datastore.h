/* serve/host/datastore.h - the file that holds the datastore keys.
 *
 * Callers:  the server and the admin verbs, when they open the database.
 * Secrets:  all of it; wipe sotto_column_keys.
 */
#ifndef SOTTO_SERVE_HOST_DATASTORE_H
#define SOTTO_SERVE_HOST_DATASTORE_H

#include "db/sealed.h"
#include "db/store.h"

/*   SOTTO_MISSING    there is no such file
 *   SOTTO_IO         it can't be read, or is no file
 *   SOTTO_DENIED     others may read it (base/secret_file.h)
 *   SOTTO_MALFORMED  not 1 to 8 keys of 32 bytes
 */
SOTTO_MUST_USE sotto_status sotto_datastore_key_read(sotto_column_keys *out, const char *path,
                                                     sotto_err *err);

/* The same; but if there is no such file and the database is empty, a fresh key is put there first, readable by its
 * owner alone, and *made is set. A database with contents and without its key is not opened: a new key would read
 * nothing, and hide that the right one is lost.
 *   SOTTO_MISSING  also: no file, and the database is not empty
 */
SOTTO_MUST_USE sotto_status sotto_datastore_key_open(sotto_column_keys *out, bool *made,
                                                     const char *path, sotto_db *db,
                                                     sotto_err *err);

#endif
