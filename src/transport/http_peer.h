/* transport/http_peer.h - what each address holds with its bodies, so that none holds all.
 *
 * Callers:  the server's connections alone; nothing of this reaches a handler or a log.
 * Memory:   one entry for each address that has a connection open or a body held, in the server's table.
 * Threads:  entries are found and freed under the table's lock; what they count is atomic.
 *
 * An address is all of an IPv4 address, or the first 64 bits of an IPv6 address: one customer has all of such a network.
 */
#ifndef SOTTO_TRANSPORT_HTTP_PEER_H
#define SOTTO_TRANSPORT_HTTP_PEER_H

#include "sotto/base.h"

#include <pthread.h>
#include <stdatomic.h>

struct sockaddr;

typedef struct sotto_http_peer sotto_http_peer;
struct sotto_http_peer {
    sotto_http_peer *next;
    uint64_t key[2];
    atomic_size_t refs;  /* connections, and requests with a body */
    atomic_size_t bytes; /* of bodies, held                       */
    atomic_uint bodies;  /* under way: connections that read one  */
};

enum { SOTTO_HTTP_PEER_BUCKETS = 1024 };

typedef struct sotto_http_peers {
    pthread_mutex_t lock;
    uint64_t seed; /* strangers can't choose addresses that share a bucket */
    sotto_http_peer *buckets[SOTTO_HTTP_PEER_BUCKETS];
} sotto_http_peers;

SOTTO_MUST_USE sotto_status sotto_http_peers_init(sotto_http_peers *peers, sotto_err *err);
void sotto_http_peers_clear(sotto_http_peers *peers);

void sotto_http_peer_key(uint64_t key[2], const struct sockaddr *address);

/* The entry of whoever is at the other end of a socket, to be left once. NULL: no memory. */
sotto_http_peer *sotto_http_peer_find(sotto_http_peers *peers, int fd);
void sotto_http_peer_keep(sotto_http_peer *peer); /* once more, by one who has it */
void sotto_http_peer_leave(sotto_http_peers *peers, sotto_http_peer *peer); /* NULL is fine */

#endif
