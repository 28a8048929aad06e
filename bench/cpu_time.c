#define _GNU_SOURCE
#include "cpu_time.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 1024, PATH = 512 };

static bool read_line(char out[LINE], const char *path)
{
    FILE *file = fopen(path, "r");
    const bool read = file && fgets(out, LINE, file);

    if (file)
        (void)fclose(file);
    return read;
}

double sotto_cpu_of_machine(void)
{
    enum { USER, NICE, SYSTEM, IDLE, WAIT, IRQ, SOFT, FIELDS };
    unsigned long long ticks[FIELDS] = {0};
    char line[LINE] = "";
    const bool known = read_line(line, "/proc/stat") && strncmp(line, "cpu ", 4) == 0;
    char *at = line + strcspn(line, " ");

    for (size_t i = 0; known && i < FIELDS; i++)
        ticks[i] = strtoull(at, &at, 10);
    return (double)(ticks[USER] + ticks[NICE] + ticks[SYSTEM] + ticks[IRQ] + ticks[SOFT]) /
           (double)sysconf(_SC_CLK_TCK);
}

/* ---- PostgreSQL ------------------------------------------------------------------------------------------------ */

typedef struct process {
    long parent;
    unsigned long long own, ended; /* ticks: its own, and of children that ended */
} process;

/* Numbers of the fields behind the name, which may hold spaces and brackets: proc_pid_stat(5). */
static bool read_process(process *out, const char *pid)
{
    enum { PARENT = 1, USER = 11, SYSTEM, ENDED_USER, ENDED_SYSTEM, FIELDS };
    unsigned long long fields[FIELDS] = {0};
    char path[PATH], line[LINE];

    (void)snprintf(path, sizeof path, "/proc/%.32s/stat", pid);
    if (!read_line(line, path))
        return false;
    char *at = strrchr(line, ')');
    if (!at || strlen(at) < 4)
        return false;
    at += 3; /* ") S": the state is a letter */
    for (size_t i = PARENT; i < FIELDS; i++)
        fields[i] = strtoull(at, &at, 10);
    *out = (process){(long)fields[PARENT], fields[USER] + fields[SYSTEM],
                     fields[ENDED_USER] + fields[ENDED_SYSTEM]};
    return true;
}

/* The number of its first process as text, in its own file. */
static bool find_postmaster(char out[LINE])
{
    const char *directory = getenv("SOTTO_POSTGRES_DIR");
    char path[PATH];

    if (!directory)
        return false;
    (void)snprintf(path, sizeof path, "%.400s/data/postmaster.pid", directory);
    if (!read_line(out, path))
        return false;
    out[strcspn(out, "\n")] = 0;
    return true;
}

double sotto_cpu_of_postgres(void)
{
    char first[LINE];
    process p;

    if (!find_postmaster(first) || !read_process(&p, first))
        return 0;
    unsigned long long ticks = p.own + p.ended;
    const long parent = strtol(first, NULL, 10);
    DIR *all = opendir("/proc");
    const struct dirent *entry;

    while (all && (entry = readdir(all)) != NULL)
        if (strspn(entry->d_name, "0123456789") == strlen(entry->d_name) &&
            read_process(&p, entry->d_name) && p.parent == parent)
            ticks += p.own;
    if (all)
        (void)closedir(all);
    return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}
