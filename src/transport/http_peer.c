#define _GNU_SOURCE

#include "transport/http_peer.h"

#include "base/alloc.h"
#include "sotto/random.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

sotto_status sotto_http_peers_init(sotto_http_peers *peers, sotto_err *err)
{
    (void)pthread_mutex_init(&peers->lock, NULL);
    return sotto_random_bytes(&peers->seed, sizeof peers->seed, err);
}

void sotto_http_peers_clear(sotto_http_peers *peers)
{
    (void)pthread_mutex_destroy(&peers->lock);
}

void sotto_http_peer_key(uint64_t key[2], const struct sockaddr *address)
{
    static const uint64_t mapped = 0xffff00000000; /* ::ffff:0:0/96 is IPv4 on an IPv6 socket */
    uint64_t half[2] = {0, 0};

    key[0] = key[1] = 0;
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;

        memcpy(&v4, address, sizeof v4);
        key[1] = mapped | ntohl(v4.sin_addr.s_addr);
    } else if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;

        memcpy(&v6, address, sizeof v6);
        for (int i = 0; i < 16; i++)
            half[i / 8] = half[i / 8] << 8 | v6.sin6_addr.s6_addr[i];
        key[0] = half[0];
        if (half[0] == 0 && half[1] >> 32 == mapped >> 32)
            key[1] = half[1];
    }
}

static sotto_http_peer **bucket_of(sotto_http_peers *peers, const uint64_t key[2])
{
    uint64_t mixed = (key[0] ^ peers->seed) * UINT64_C(0x9e3779b97f4a7c15);

    mixed = (mixed ^ mixed >> 32 ^ key[1]) * (peers->seed | 1);
    return &peers->buckets[(mixed ^ mixed >> 29) >> 32 & (SOTTO_HTTP_PEER_BUCKETS - 1)];
}

/* Under the lock. */
static sotto_http_peer *find_or_add(sotto_http_peers *peers, const uint64_t key[2])
{
    sotto_http_peer **bucket = bucket_of(peers, key), *peer = *bucket;

    while (peer && (peer->key[0] != key[0] || peer->key[1] != key[1]))
        peer = peer->next;
    if (!peer) {
        peer = sotto_alloc(sizeof *peer);
        if (!peer)
            return NULL;
        peer->key[0] = key[0];
        peer->key[1] = key[1];
        peer->next = *bucket;
        *bucket = peer;
    }
    atomic_fetch_add(&peer->refs, 1);
    return peer;
}

sotto_http_peer *sotto_http_peer_find(sotto_http_peers *peers, int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in6 v6;
        struct sockaddr_storage most;
    } address = {.most = {0}};
    socklen_t len = sizeof address;
    sotto_http_peer *peer;
    uint64_t key[2];

    /* A client that has gone already has no address: all of those share one entry. */
    if (getpeername(fd, &address.any, &len) != 0)
        address.any.sa_family = AF_UNSPEC;
    sotto_http_peer_key(key, &address.any);
    (void)pthread_mutex_lock(&peers->lock);
    peer = find_or_add(peers, key);
    (void)pthread_mutex_unlock(&peers->lock);
    return peer;
}

void sotto_http_peer_keep(sotto_http_peer *peer)
{
    atomic_fetch_add(&peer->refs, 1);
}

void sotto_http_peer_leave(sotto_http_peers *peers, sotto_http_peer *peer)
{
    size_t refs;

    if (!peer)
        return;
    refs = atomic_load(&peer->refs);
    /* The last reference is dropped under the lock, so that nobody finds the entry meanwhile. */
    while (refs > 1)
        if (atomic_compare_exchange_weak(&peer->refs, &refs, refs - 1))
            return;
    (void)pthread_mutex_lock(&peers->lock);
    if (atomic_fetch_sub(&peer->refs, 1) == 1) {
        sotto_http_peer **at = bucket_of(peers, peer->key);

        while (*at != peer)
            at = &(*at)->next;
        *at = peer->next;
        sotto_release(peer, sizeof *peer);
    }
    (void)pthread_mutex_unlock(&peers->lock);
}
