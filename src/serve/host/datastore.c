#define _POSIX_C_SOURCE 200809L
#include "serve/host/datastore.h"

#include "base/directory.h"
#include "base/hex.h"
#include "base/rule.h"
#include "base/secret_file.h"
#include "db/migrate.h"
#include "sotto/random.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

sotto_status sotto_datastore_key_read(sotto_column_keys *out, const char *path, sotto_err *err)
{
    uint8_t bytes[SOTTO_COLUMN_KEYS * SOTTO_COLUMN_KEY_SIZE + 1];
    sotto_buf all = sotto_buf_over(bytes, sizeof bytes);
    sotto_err why = {0};
    sotto_status status = sotto_secret_file_read(&all, path, SOTTO_SECRET_GIVEN, &why);

    memset(out, 0, sizeof *out);
    if (status == SOTTO_OK && all.len > 0 && all.len % SOTTO_COLUMN_KEY_SIZE == 0) {
        out->count = all.len / SOTTO_COLUMN_KEY_SIZE;
        memcpy(out->key, bytes, all.len);
    }
    sotto_wipe(bytes, sizeof bytes);
    if (status != SOTTO_OK && status != SOTTO_TOO_LARGE)
        return sotto_fail(err, status, "the datastore key %.60s %s", path, why.reason);
    return out->count ? SOTTO_OK
                      : sotto_fail(err, SOTTO_MALFORMED,
                                   "%.100s: a datastore key has 32 bytes, 1 to 8 of them", path);
}

/* Written whole under another name first: a crash leaves either no key or all of one. That name is this process's alone, so
 * that replicas that start together don't link what another is still writing. link(2) replaces nothing, so all of them end
 * up with the first one's. */
static sotto_status make_key(const char *path, bool *made, sotto_err *err)
{
    uint8_t key[SOTTO_COLUMN_KEY_SIZE], mine[8];
    char draft[PATH_BYTES], name[2 * sizeof mine + 1];
    bool good;
    int fd;

    SOTTO_TRY(sotto_random_bytes(mine, sizeof mine, err));
    sotto_hex_encode(name, sotto_bytes_of(mine, sizeof mine));
    if ((size_t)snprintf(draft, sizeof draft, "%s.%s", path, name) >= sizeof draft)
        return sotto_fail(err, SOTTO_TOO_LARGE, "the datastore key's path");
    SOTTO_TRY(sotto_random_bytes(key, sizeof key, err));
    fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    good = fd >= 0 && write(fd, key, sizeof key) == (ssize_t)sizeof key && fsync(fd) == 0;
    if (fd >= 0)
        (void)close(fd);
    sotto_wipe(key, sizeof key);
    *made = good && link(draft, path) == 0;
    good = good && (*made || errno == EEXIST) && sotto_directory_sync(path);
    (void)unlink(draft);
    return good ? SOTTO_OK : sotto_fail(err, SOTTO_IO, "can't make the datastore key %.100s", path);
}

sotto_status sotto_datastore_key_open(sotto_column_keys *out, bool *made, const char *path,
                                      sotto_db *db, sotto_err *err)
{
    sotto_status status = sotto_datastore_key_read(out, path, NULL);
    int64_t version;

    *made = false;
    if (status != SOTTO_MISSING)
        return sotto_datastore_key_read(out, path, err);
    SOTTO_TRY(sotto_db_version(db, &version, err));
    if (SOTTO_RULE(datastore_key_kept) && version > 0)
        /* The file may have been made meanwhile, by the replica that filled the database. */
        return sotto_datastore_key_read(out, path, NULL) == SOTTO_OK
                   ? SOTTO_OK
                   : sotto_fail(err, SOTTO_MISSING,
                                "the datastore key %.80s is missing, and this database needs it",
                                path);
    SOTTO_TRY(make_key(path, made, err));
    return sotto_datastore_key_read(out, path, err);
}
