/* bench/sync_probe.h - how long the disk takes for a sync, beside whatever else happens on it.
 *
 * Callers:  the pipeline group, while reports are offered at a rate: their latency is that of a few syncs.
 * Threads:  one of its own, which appends 32 KiB to a file and syncs it every ten milliseconds.
 */
#ifndef SOTTO_BENCH_SYNC_PROBE_H
#define SOTTO_BENCH_SYNC_PROBE_H

#include <stddef.h>

typedef struct sotto_sync_probe sotto_sync_probe;

/* directory: on the file system in question. NULL: no file, memory or thread. */
sotto_sync_probe *sotto_sync_probe_start(const char *directory);
/* Milliseconds; ends the probe. */
void sotto_sync_probe_stop(sotto_sync_probe *probe, double *p50, double *p99);

#endif
