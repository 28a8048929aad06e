/* bench/cpu_time.h - seconds of CPU that processes took which the benchmark did not start.
 *
 * Callers:  the pipeline group.
 * Threads:  any.
 */
#ifndef SOTTO_BENCH_CPU_TIME_H
#define SOTTO_BENCH_CPU_TIME_H

/* All processes of the machine, since it started; 0: not known. */
double sotto_cpu_of_machine(void);
/* The PostgreSQL server of tests/support/postgres.sh, with all of its processes, since it started; 0: there is none, or it is not
 * known. */
double sotto_cpu_of_postgres(void);

#endif
