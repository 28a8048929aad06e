/* A socket is a descriptor, and so is a file of the database: connections are capped, so that clients can't use up the
 * descriptors that the server itself needs. The reserve is the worst case of each part: */
#define _GNU_SOURCE

#include "serve/host/descriptors.h"

#include "base/rule.h"

#include <sys/resource.h>

enum {
    /* Standard streams, keys and certificates while they are read, name lookups, and clients that get 503. Also sockets of TLS
     * connections, which libevent closes a moment after they are counted out. */
    PROCESS = 48,
    /* SQLite: a writer, two readers and a backup, each with the database, its WAL and the WAL's index, is 12; the lock, the
     * file of bodies, directories and temporary files. PostgreSQL: 8 writers, 2 readers and one for long work, twice while
     * connections are made anew, is 22. */
    STORE = 48,
    EACH_LOOP = 3, /* epoll and eventfd, and one that a libevent may add         */
    EACH_PORT = 2, /* the listening socket, and the spare descriptor             */
    PORTS = 2,     /* `listen` and operations, which has one loop                    */
    /* A connected call has one socket, and one that connects has two (IPv6 and IPv4 at once). One whose name is looked up
     * has libcurl's pair of sockets and two of the resolver's. Idle connections that are kept are within the same count. */
    EACH_CALL = 4,
    LEAST = 16,   /* connections: fewer serve nobody                           */
    USUAL = 10000 /* connections, where the operator does not say              */
};

uint64_t sotto_descriptors_raise(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 1024;
    if (limit.rlim_cur < limit.rlim_max) {
        const struct rlimit raised = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};

        /* A sandbox may forbid raising it; then the present limit counts. */
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
            return raised.rlim_cur;
    }
    return limit.rlim_cur;
}

static uint64_t reserve_of(const sotto_service *service, const sotto_host_options *o)
{
    const uint64_t loops = (uint64_t)(o->loops > 0 ? o->loops : 1) + 1;

    return PROCESS + STORE + loops * EACH_LOOP + PORTS * EACH_PORT + SOTTO_OPERATIONS_CONNECTIONS +
           (uint64_t)service->calls * EACH_CALL;
}

sotto_status sotto_descriptors_plan(sotto_descriptors *plan, const sotto_service *service,
                                    const sotto_host_options *options, uint64_t limit,
                                    sotto_err *err)
{
    const uint64_t reserve = reserve_of(service, options);
    const uint64_t left = limit > reserve ? limit - reserve : 0;
    uint64_t connections = options->connections > 0 ? options->connections : USUAL;

    if (left < LEAST)
        return sotto_fail(err, SOTTO_DENIED,
                          "a file limit of %llu is too low: %llu are for the server itself, %d at "
                          "least for connections; raise LimitNOFILE or ulimit -n",
                          (unsigned long long)limit, (unsigned long long)reserve, LEAST);
    if (SOTTO_RULE(connections_checked) && options->connections > left)
        return sotto_fail(err, SOTTO_DENIED,
                          "connections = %u: the file limit of %llu leaves %llu (%llu are for the "
                          "server itself); raise LimitNOFILE or ulimit -n",
                          options->connections, (unsigned long long)limit, (unsigned long long)left,
                          (unsigned long long)reserve);
    if (SOTTO_RULE(connections_within_files) && connections > left)
        connections = left;
    *plan = (sotto_descriptors){
        .limit = limit, .reserve = reserve, .connections = (unsigned)connections};
    return SOTTO_OK;
}
