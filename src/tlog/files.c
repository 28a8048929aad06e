#define _POSIX_C_SOURCE 200809L
#include "tlog/files.h"

#include "base/directory.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sotto_status join(char out[SOTTO_LOG_PATH], const char *directory, const char *name,
                         sotto_err *err)
{
    const int len = snprintf(out, SOTTO_LOG_PATH, "%s/%s", directory, name);

    if (len < 0 || len >= SOTTO_LOG_PATH)
        return sotto_fail(err, SOTTO_TOO_LARGE, "%.100s: too long a path", name);
    return SOTTO_OK;
}

static sotto_status failed(const char *what, const char *path, sotto_err *err)
{
    return sotto_fail(err, SOTTO_IO, "%s %.100s: %s", what, path, strerror(errno));
}

sotto_status sotto_log_file_read(sotto_buf *out, const char *directory, const char *name,
                                 sotto_err *err)
{
    char path[SOTTO_LOG_PATH];
    sotto_err why = {0};
    sotto_status status;

    SOTTO_TRY(join(path, directory, name, err));
    status = sotto_file_append(out, path, &why);
    return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "%.60s: %s", name, why.reason);
}

sotto_status sotto_log_file_replace(const char *directory, const char *name, sotto_bytes bytes,
                                    sotto_err *err)
{
    char path[SOTTO_LOG_PATH];

    SOTTO_TRY(join(path, directory, name, err));
    return sotto_file_write(path, bytes, NULL, NULL, err);
}

/* ---- many files, synced together ------------------------------------------------------------------------------- */

/* Makes each folder on the way to a file; a new one is synced into its parent. */
static sotto_status make_folders(char *path, size_t from, sotto_err *err)
{
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        bool good;

        *slash = 0;
        good = sotto_directory_make(path, 0755);
        if (!good)
            (void)failed("make", path, err);
        *slash = '/';
        if (!good)
            return SOTTO_IO;
    }
    return SOTTO_OK;
}

static bool same_folder(const char *a, const char *b)
{
    const char *x = strrchr(a, '/'), *y = strrchr(b, '/');

    return x && y && x - a == y - b && memcmp(a, b, (size_t)(x - a)) == 0;
}

static sotto_status sync_last(sotto_log_files *files, sotto_err *err)
{
    if (files->last[0] && !sotto_directory_sync(files->last))
        return failed("sync the folder of", files->last, err);
    files->last[0] = 0;
    return SOTTO_OK;
}

sotto_status sotto_log_files_write(sotto_log_files *files, const char *path, sotto_bytes bytes,
                                   sotto_err *err)
{
    char full[SOTTO_LOG_PATH];
    int fd;

    if (files->count == SOTTO_LOG_UNSYNCED)
        SOTTO_TRY(sotto_log_files_sync(files, err));
    SOTTO_TRY(join(full, files->directory, path, err));
    if (!same_folder(full, files->last)) {
        SOTTO_TRY(sync_last(files, err));
        SOTTO_TRY(make_folders(full, strlen(files->directory) + 1, err));
        memcpy(files->last, full, sizeof full);
    }
    fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return failed("open", path, err);
    files->fds[files->count++] = fd;
    if (!sotto_file_put(fd, bytes))
        return failed("write", path, err);
    return SOTTO_OK;
}

void sotto_log_files_drop(sotto_log_files *files)
{
    while (files->count > 0)
        (void)close(files->fds[--files->count]);
}

sotto_status sotto_log_files_sync(sotto_log_files *files, sotto_err *err)
{
    bool good = true;

    for (size_t i = 0; i < files->count; i++)
        good = good && fsync(files->fds[i]) == 0;
    if (!good)
        return failed("sync", "tiles", err);
    sotto_log_files_drop(files);
    return sync_last(files, err);
}

void sotto_log_folder_remove(const char *directory, const char *path)
{
    char full[SOTTO_LOG_PATH];
    struct dirent *entry;
    DIR *folder;

    if (join(full, directory, path, NULL) != SOTTO_OK)
        return;
    folder = opendir(full);
    while (folder && (entry = readdir(folder)) != NULL)
        if (entry->d_name[0] != '.')
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        (void)closedir(folder);
    (void)rmdir(full);
}
