#define _XOPEN_SOURCE 700
#include "workdir.h"

#include "db/sealed.h"
#include "sotto/random.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

sotto_status sotto_workdir_make(char path[SOTTO_WORKDIR], const char *kind, sotto_err *err)
{
    const char *base = getenv("TMPDIR");

    (void)snprintf(path, SOTTO_WORKDIR, "%.80s/sotto-%.10s-XXXXXX", base ? base : "/tmp", kind);
    if (mkdtemp(path))
        return SOTTO_OK;
    path[0] = 0;
    return sotto_fail(err, SOTTO_IO, "no temporary directory: %s", strerror(errno));
}

static int remove_one(const char *path, const struct stat *what, int kind, struct FTW *where)
{
    (void)what;
    (void)kind;
    (void)where;
    (void)remove(path); /* what can't go stays: there is nobody to tell */
    return 0;
}

void sotto_workdir_remove(const char *path)
{
    enum { DESCRIPTORS = 16 };

    if (path[0])
        (void)nftw(path, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

sotto_status sotto_workdir_key(const char *file, sotto_err *err)
{
    uint8_t key[SOTTO_COLUMN_KEY_SIZE];
    mode_t before = umask(077);
    FILE *out = fopen(file, "wb");
    bool written = false;

    (void)umask(before);
    if (out && sotto_random_bytes(key, sizeof key, err) == SOTTO_OK)
        written = fwrite(key, 1, sizeof key, out) == sizeof key;
    if (out && fclose(out) != 0)
        written = false;
    sotto_wipe(key, sizeof key);
    return written ? SOTTO_OK : sotto_fail(err, SOTTO_IO, "can't write %s", file);
}
