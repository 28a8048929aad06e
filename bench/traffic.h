/* bench/traffic.h - uploads over many kept-alive connections, and an own record of what was acknowledged.
 *
 * Callers:  sotto-bench's pipeline group; the fault runs.
 * Memory:   requests in flight are ours; the record is the caller's.
 * Threads:  one, which waits on all connections at once.
 *
 * A request that got no answer (connection lost, time out, 5xx) is sent again. Whether the first one was stored is then
 * unknown to the client, so report_replayed in answer to the repetition means that it was: acknowledged.
 */
#ifndef SOTTO_BENCH_TRAFFIC_H
#define SOTTO_BENCH_TRAFFIC_H

#include "sotto/base.h"
#include "sotto/seal.h"

enum { SOTTO_TRAFFIC_PORTS = 4, SOTTO_TRAFFIC_CONNECTIONS = 256 };

/* What became of a report, by its own number, and what was said of it on the way. */
enum {
    SOTTO_FATE_UNKNOWN = 0,
    SOTTO_FATE_ACKNOWLEDGED = 1,
    SOTTO_FATE_REFUSED = 2, /* plus the report error */
    SOTTO_FATE = 0x1f,
    SOTTO_FATE_UNSURE = 0x20,  /* came perhaps more often than anybody was told */
    SOTTO_FATE_EARLY = 0x40,   /* was called too early                          */
    SOTTO_FATE_REPLAYED = 0x80 /* was called replayed                           */
};

/* The field of a request that names the first of its reports by its number. */
#define SOTTO_TRAFFIC_FIRST "Sotto-First-Report"

/* The reports `first` up to first + count, one after the other. */
typedef struct sotto_traffic_body {
    uint64_t first;
    size_t count;
    sotto_bytes reports; /* in `room`, or borrowed until the traffic ends */
    sotto_buf room;
} sotto_traffic_body;

typedef struct sotto_traffic_options {
    uint16_t ports[SOTTO_TRAFFIC_PORTS]; /* connections are spread over them          */
    size_t port_count;
    unsigned connections;
    double rate; /* requests a second, whether answers come or not; 0: the next follows an answer */
    unsigned timeout_ms; /* for one answer; 0: 30,000                                 */
    double replays;      /* of all requests, those that are sent again after their answer */
    uint64_t seed;       /* of the maker: ids are the record's key                    */
    uint8_t task[SOTTO_TASK_ID_SIZE];
    size_t room; /* bytes of a body that `next` writes                        */
    /* The next request; false: no more. */
    bool (*next)(void *context, sotto_traffic_body *out);
    /* May be NULL: called every few milliseconds. */
    void (*tick)(void *context);
    void *context;
    uint8_t *fates;   /* the record, zeroed before the first run: one for each report */
    float *latencies; /* may be NULL: milliseconds, by request    */
    size_t latency_room;
} sotto_traffic_options;

typedef struct sotto_traffic {
    uint64_t requests, answered;
    uint64_t
        unanswered; /* sent in part or whole, and lost                                          */
    uint64_t
        refused_whole; /* 5xx or 429: tried again                                                  */
    uint64_t
        replayed; /* reports that were sent again on purpose, and answered                    */
    uint64_t
        taken_twice, /* of them, those that a server took as new: must stay 0                    */
        kept_unsaid; /* reports called replayed as they came for the first time: must stay 0    */
    uint64_t
        acknowledged; /* reports, each once                                                       */
    uint64_t wrong;   /* invalid answers: other statuses, unknown reports                   */
    double seconds, cpu_seconds; /* of this thread */
    size_t latency_count;
} sotto_traffic;

/* Until every request is answered. */
SOTTO_MUST_USE sotto_status sotto_traffic_run(sotto_traffic *out,
                                              const sotto_traffic_options *options, sotto_err *err);

#endif
