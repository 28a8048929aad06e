/* Runs one fuzz target over files, and over the files in directories, without libFuzzer. */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "target.h"

static long replayed;

/* A copy of exactly the right size, so that a sanitizer sees the first byte read past its end. */
static int replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size ? size : 1);
    int failed = !file || !data || fread(data, 1, size, file) != size;

    if (failed)
        (void)fprintf(stderr, "replay: can't read %s\n", path);
    else
        (void)LLVMFuzzerTestOneInput(data, size);
    replayed++;
    free(data);
    if (file)
        (void)fclose(file);
    return failed;
}

static int replay_directory(const char *path);

static int replay(const char *path)
{
    struct stat info;

    if (stat(path, &info) != 0) {
        (void)fprintf(stderr, "replay: no such file: %s\n", path);
        return 1;
    }
    return S_ISDIR(info.st_mode) ? replay_directory(path) : replay_file(path, (size_t)info.st_size);
}

static int replay_directory(const char *path)
{
    DIR *directory = opendir(path);
    int failed = !directory;

    for (struct dirent *entry; directory && (entry = readdir(directory)) != NULL;) {
        char inside[4096];

        if (entry->d_name[0] == '.')
            continue;
        if (snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name) >= (int)sizeof inside)
            failed = 1;
        else
            failed |= replay(inside);
    }
    if (directory)
        (void)closedir(directory);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;

    for (int i = 1; i < argc; i++)
        failed |= replay(argv[i]);
    (void)printf("%ld inputs replayed\n", replayed);
    return failed || replayed == 0; /* an empty corpus tests nothing */
}
