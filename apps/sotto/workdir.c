#define _DEFAULT_SOURCE
#include "workdir.h"

#include "db/sealed.h"
#include "sotto/random.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

sotto_status sotto_workdir_make(char path[SOTTO_WORKDIR], const char *kind, sotto_err *err)
{
    const char *base = getenv("TMPDIR");

    (void)snprintf(path, SOTTO_WORKDIR, "%.80s/sotto-%.10s-XXXXXX", base ? base : "/tmp", kind);
    if (mkdtemp(path))
        return SOTTO_OK;
    path[0] = 0;
    return sotto_fail(err, SOTTO_IO, "no temporary directory: %s", strerror(errno));
}

void sotto_workdir_remove(const char *path)
{
    DIR *files = path[0] ? opendir(path) : NULL;
    struct dirent *entry;
    char file[SOTTO_WORKDIR + 280];

    while (files && (entry = readdir(files)) != NULL) {
        (void)snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            (void)unlink(file);
    }
    if (files)
        (void)closedir(files);
    if (path[0])
        (void)rmdir(path);
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
