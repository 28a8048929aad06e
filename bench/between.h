/* bench/between.h - a relay and a gateway before a deployment's leader, each a process of its own, and requests sealed for them.
 *
 * Callers:  sotto-bench's pipeline group.
 * Memory:   a caller's struct; it borrows from its deployment.
 */
#ifndef SOTTO_BENCH_BETWEEN_H
#define SOTTO_BENCH_BETWEEN_H

#include "deployment.h"

typedef struct sotto_between {
    sotto_replica relay, gateway;
    const sotto_deployment *deployment;
    uint8_t keys[512]; /* the gateway's, as it publishes them */
    sotto_hpke_config to;
    uint64_t sealed; /* requests, so far */
} sotto_between;

/* Starts both. End it after a failure too.
 *   mix_least, mix_delay_ms  the relay's options */
SOTTO_MUST_USE sotto_status sotto_between_start(sotto_between *b, sotto_deployment *d,
                                                unsigned mix_least, unsigned mix_delay_ms,
                                                sotto_err *err);
void sotto_between_end(sotto_between *b);

/* Appends an upload of these reports, as a device sends it to the relay. */
SOTTO_MUST_USE sotto_status sotto_between_seal(sotto_between *b, sotto_buf *out,
                                               sotto_bytes reports, sotto_err *err);
/* Bytes that it appends at most for so many. */
size_t sotto_between_size(size_t reports);

/* The path that clients of the relay post to, and the type of what they post. */
#define SOTTO_BETWEEN_PATH "/g"

/* Such a process from inside, until its standard input ends: arguments as sotto_replica_main has them.
 * False: it is neither a relay, nor a gateway, nor an aggregator (bench_ingest.c). */
bool sotto_between_serve(int argc, char **argv);

#endif
