#define _POSIX_C_SOURCE 200809L
#include "base/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool sotto_directory_sync(const char *path)
{
    char directory[4096];
    const char *slash = strrchr(path, '/');
    int len = snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - path) + 1 : 1,
                       slash ? path : ".");
    int fd = len > 0 && (size_t)len < sizeof directory
                 ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                 : -1;
    bool good = fd >= 0 && fsync(fd) == 0;

    if (fd >= 0)
        (void)close(fd);
    return good;
}

bool sotto_directory_make(const char *path, mode_t mode)
{
    char name[4096];
    size_t len = strlen(path);

    if (mkdir(path, mode) != 0)
        return errno == EEXIST;
    while (len > 1 && path[len - 1] == '/') /* "a/b/" is a name in a, not in b */
        len--;
    if (len >= sizeof name)
        return false;
    memcpy(name, path, len);
    name[len] = 0;
    return sotto_directory_sync(name) || errno == EACCES;
}
