/* bench/bench_device_meter.h - what the library asks of the machine: heap and syncs, counted where they arrive.
 *
 * The meter stands in for malloc and fsync of the whole program, the libraries' calls included. So nothing in
 * the library under test has to be changed to be measured. Under a sanitizer, which stands there itself, the
 * heap reads as 0.
 */
#ifndef SOTTO_BENCH_DEVICE_METER_H
#define SOTTO_BENCH_DEVICE_METER_H

#include "sotto/base.h"

/* Gives SQLite a page cache outside the heap, so that it isn't counted. Before SQLite's first use. */
void sotto_meter_keep_cache_apart(void);

size_t sotto_meter_heap(void);       /* bytes in use                      */
void sotto_meter_heap_restart(void); /* the peak is what is in use now    */
size_t sotto_meter_heap_peak(void);  /* since the restart                 */
void sotto_meter_heap_stop(void);    /* for good: counting costs time too */

typedef struct sotto_meter_syncs {
    uint64_t count;
    double wall_ns, cpu_ns; /* spent inside them */
} sotto_meter_syncs;
sotto_meter_syncs sotto_meter_synced(void); /* since the program began */

double sotto_meter_wall_ns(void);
double sotto_meter_cpu_ns(void);

#endif
