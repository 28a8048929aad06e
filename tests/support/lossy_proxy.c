#define _GNU_SOURCE /* memmem, accept4, pipe2 */

#include "support/lossy_proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PAIRS = 32, CHUNK = 65536 };

static struct {
    int listener;
    int stop[2];
    char server[80];
    pthread_t thread;
    int client[PAIRS], upstream[PAIRS];
    size_t count;
    void (*_Atomic then)(void);
    _Atomic int loss;
    _Atomic unsigned lost;
} proxy;

static struct sockaddr_un socket_in(const char *directory)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    (void)snprintf(address.sun_path, sizeof address.sun_path, "%.80s/.s.PGSQL.5432", directory);
    return address;
}

static void drop(size_t i)
{
    (void)close(proxy.client[i]);
    (void)close(proxy.upstream[i]);
    proxy.count--;
    proxy.client[i] = proxy.client[proxy.count];
    proxy.upstream[i] = proxy.upstream[proxy.count];
}

static void take_in(void)
{
    struct sockaddr_un address = socket_in(proxy.server);
    /* A server that `then` starts must not keep them open. */
    int client = accept4(proxy.listener, NULL, NULL, SOCK_CLOEXEC);
    int upstream = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (client < 0 || upstream < 0 || proxy.count == PAIRS ||
        connect(upstream, (const struct sockaddr *)&address, sizeof address) != 0) {
        (void)close(client);
        (void)close(upstream);
        return;
    }
    proxy.client[proxy.count] = client;
    proxy.upstream[proxy.count++] = upstream;
}

static bool pass(const char *bytes, size_t len, int to)
{
    while (len > 0) {
        ssize_t sent = send(to, bytes, len, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        bytes += sent;
        len -= (size_t)sent;
    }
    return true;
}

/* False: this pair is done with. */
static bool carry(size_t i, bool from_client)
{
    static char bytes[CHUNK];
    int from = from_client ? proxy.client[i] : proxy.upstream[i];
    int to = from_client ? proxy.upstream[i] : proxy.client[i];
    ssize_t got = recv(from, bytes, sizeof bytes, 0);

    if (got <= 0)
        return false;
    int loss = atomic_load(&proxy.loss);
    if (!from_client || loss == SOTTO_PROXY_LOSES_NOTHING ||
        !memmem(bytes, (size_t)got, "COMMIT", 7))
        return pass(bytes, (size_t)got, to);
    atomic_store(&proxy.loss, SOTTO_PROXY_LOSES_NOTHING);
    atomic_fetch_add(&proxy.lost, 1);
    /* The answer is waited for, so that the commit has happened, and then thrown away. */
    if (loss == SOTTO_PROXY_LOSES_ANSWER && pass(bytes, (size_t)got, to))
        (void)recv(to, bytes, sizeof bytes, 0);
    void (*then)(void) = atomic_load(&proxy.then);
    if (then)
        then();
    return false;
}

static void *work(void *context)
{
    (void)context;
    for (;;) {
        struct pollfd fds[2 + 2 * PAIRS] = {{.fd = proxy.stop[0], .events = POLLIN},
                                            {.fd = proxy.listener, .events = POLLIN}};
        size_t count = proxy.count;

        for (size_t i = 0; i < count; i++) {
            fds[2 + 2 * i] = (struct pollfd){.fd = proxy.client[i], .events = POLLIN};
            fds[3 + 2 * i] = (struct pollfd){.fd = proxy.upstream[i], .events = POLLIN};
        }
        if (poll(fds, 2 + 2 * count, -1) < 0 && errno != EINTR)
            return NULL;
        if (fds[0].revents)
            return NULL;
        for (size_t i = count; i-- > 0;) { /* backwards: dropping one moves the last */
            bool good = true;
            if (fds[2 + 2 * i].revents)
                good = carry(i, true);
            if (good && fds[3 + 2 * i].revents)
                good = carry(i, false);
            if (!good)
                drop(i);
        }
        if (fds[1].revents)
            take_in();
    }
}

void sotto_proxy_start(sotto_test *t, const char *directory, const char *server)
{
    struct sockaddr_un address = socket_in(directory);

    (void)snprintf(proxy.server, sizeof proxy.server, "%s", server);
    proxy.count = 0;
    proxy.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(t, proxy.listener >= 0 && pipe2(proxy.stop, O_CLOEXEC) == 0);
    CHECK(t, bind(proxy.listener, (const struct sockaddr *)&address, sizeof address) == 0);
    CHECK(t, listen(proxy.listener, 16) == 0);
    CHECK(t, pthread_create(&proxy.thread, NULL, work, NULL) == 0);
}

void sotto_proxy_stop(sotto_test *t)
{
    (void)close(proxy.stop[1]);
    CHECK(t, pthread_join(proxy.thread, NULL) == 0);
    (void)close(proxy.stop[0]);
    (void)close(proxy.listener);
    while (proxy.count > 0)
        drop(0);
}

void sotto_proxy_lose(sotto_proxy_loss what, void (*then)(void))
{
    atomic_store(&proxy.then, then);
    atomic_store(&proxy.loss, (int)what);
}

unsigned sotto_proxy_lost(void)
{
    return atomic_load(&proxy.lost);
}
