/* What the process is and uses, by the names that Prometheus' own clients give it. */
#define _DEFAULT_SOURCE
#include "serve/host/host_metrics.h"

#include "base/clock.h"
#include "transport/http_tls.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static double seconds_of(const struct timeval *t)
{
    return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static void write_cpu(sotto_writer *w)
{
    struct rusage used;

    if (getrusage(RUSAGE_SELF, &used) != 0)
        return;
    sotto_metric_head(w, "process_cpu_seconds_total", "counter",
                      "Processor time of the process, its own and the kernel's for it.");
    sotto_write_format(w, "process_cpu_seconds_total %.3f\n",
                       seconds_of(&used.ru_utime) + seconds_of(&used.ru_stime));
}

/* Pages, from /proc, which a sandbox may lack: then nothing is said. */
static void write_memory(sotto_writer *w)
{
    FILE *file = fopen("/proc/self/statm", "r");
    char text[128] = "", *end = text, *rest = text;
    long page = sysconf(_SC_PAGESIZE);
    bool known = file && page > 0 && fgets(text, sizeof text, file);
    unsigned long long all = strtoull(text, &end, 10), resident = strtoull(end, &rest, 10);

    if (file)
        (void)fclose(file);
    if (!known || rest == end)
        return;
    sotto_metric_one(w, "process_resident_memory_bytes", "gauge", "Memory that is in use.",
                     resident * (uint64_t)page);
    sotto_metric_one(w, "process_virtual_memory_bytes", "gauge", "Memory that is mapped.",
                     all * (uint64_t)page);
}

static void write_descriptors(sotto_writer *w, const sotto_host *host)
{
    DIR *open = opendir("/proc/self/fd");
    uint64_t count = 0;

    while (open && readdir(open))
        count++;
    if (open) {
        (void)closedir(open);
        /* Less ".", ".." and the one that looked. */
        sotto_metric_one(w, "process_open_fds", "gauge", "File descriptors that are open.",
                         count > 3 ? count - 3 : 0);
    }
    sotto_metric_one(w, "process_max_fds", "gauge", "File descriptors that may be open.",
                     host->descriptors.limit);
}

void sotto_process_metrics_write(sotto_writer *w, sotto_host *host)
{
    int64_t end;

    sotto_metric_head(w, "sotto_build_info", "gauge", "Always 1: what runs, and on what.");
    sotto_write_format(
        w, "sotto_build_info{version=\"" SOTTO_VERSION "\",service=\"%s\",database=\"%s\"} 1\n",
        host->service->name, sotto_db_kind(host->db));
    sotto_metric_one(w, "process_start_time_seconds", "gauge", "When it started, since 1970.",
                     (uint64_t)(host->started > 0 ? host->started : 0));
    write_cpu(w);
    write_memory(w);
    write_descriptors(w, host);
    if (sotto_http_server_certificate_end(host->http, &end))
        sotto_metric_one(w, "sotto_certificate_expiry_seconds", "gauge",
                         "When the TLS certificate ends, in seconds since 1970.",
                         (uint64_t)(end > 0 ? end : 0));
}
