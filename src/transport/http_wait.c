/* What the client's thread waits for. libcurl names the sockets that it waits for, one by one: a wait costs what happened, and not what
 * is under way. */
#define _GNU_SOURCE
#include "transport/http_client_internal.h"

#include "base/clock.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { MS = 1000000, AT_ONCE = 64 };

/* No connection of http_direct.c has an odd address, wherever a program has its heap. */
static uint64_t mark_of(int fd)
{
    return (uint64_t)fd << 1 | 1;
}

/* ---- what libcurl asks for ----------------------------------------------------------------------------------------- */

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *known)
{
    const sotto_http_client *client = context;
    struct epoll_event event = {.data.u64 = mark_of(fd)};

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        (void)epoll_ctl(client->wait.epoll, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    if (what & CURL_POLL_IN)
        event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT)
        event.events |= EPOLLOUT;
    /* Of a socket that is known already, libcurl has the pointer that it was given. */
    const int how = known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(client->wait.epoll, how, fd, &event) != 0 &&
        (known || errno != EEXIST || epoll_ctl(client->wait.epoll, EPOLL_CTL_MOD, fd, &event) != 0))
        return -1;
    return known || curl_multi_assign(client->multi, fd, context) == CURLM_OK ? 0 : -1;
}

static int on_timer(CURLM *multi, long timeout_ms, void *context)
{
    sotto_http_wait *wait = context;

    (void)multi;
    wait->timed = timeout_ms >= 0;
    wait->due = sotto_clock_monotonic(&sotto_clock_system) +
                (timeout_ms > 0 ? (uint64_t)timeout_ms * MS : 0);
    return 0;
}

bool sotto_http_wait_open(sotto_http_client *client)
{
    sotto_http_wait *wait = &client->wait;
    struct epoll_event event = {.events = EPOLLIN};

    wait->epoll = epoll_create1(EPOLL_CLOEXEC);
    wait->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    event.data.u64 = mark_of(wait->wake);
    return wait->epoll >= 0 && wait->wake >= 0 &&
           epoll_ctl(wait->epoll, EPOLL_CTL_ADD, wait->wake, &event) == 0 &&
           curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, on_socket) == CURLM_OK &&
           curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client) == CURLM_OK &&
           curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, on_timer) == CURLM_OK &&
           curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, wait) == CURLM_OK;
}

void sotto_http_wait_close(sotto_http_client *client)
{
    if (client->wait.epoll >= 0)
        (void)close(client->wait.epoll);
    if (client->wait.wake >= 0)
        (void)close(client->wait.wake);
}

/* ---- waiting --------------------------------------------------------------------------------------------------------- */

void sotto_http_wait_wake(sotto_http_client *client)
{
    const uint64_t one = 1;

    /* It fails only where it was woken so often that it is awake. */
    (void)!write(client->wait.wake, &one, sizeof one);
}

/* ms, or fewer: until `due`. */
static int shorter(int timeout_ms, uint64_t due, uint64_t now)
{
    const uint64_t left = due <= now ? 0 : (due - now) / MS + 1;

    return left < (uint64_t)timeout_ms ? (int)left : timeout_ms;
}

static int until_due(const sotto_http_wait *wait, int timeout_ms)
{
    const uint64_t now = sotto_clock_monotonic(&sotto_clock_system);

    if (!wait->timed)
        return timeout_ms;
    return shorter(timeout_ms, wait->due, now);
}

static void on_event(sotto_http_client *client, const struct epoll_event *event)
{
    const uint64_t mark = event->data.u64;
    int mask = 0, running;
    uint64_t wakes;

    if ((mark & 1) == 0) {
        sotto_http_direct_on_event((void *)(uintptr_t)mark, event->events);
        return;
    }
    if (mark == mark_of(client->wait.wake)) {
        (void)!read(client->wait.wake, &wakes, sizeof wakes);
        return;
    }
    if (event->events & (EPOLLIN | EPOLLHUP))
        mask |= CURL_CSELECT_IN;
    if (event->events & EPOLLOUT)
        mask |= CURL_CSELECT_OUT;
    if (event->events & EPOLLERR)
        mask |= CURL_CSELECT_ERR;
    (void)curl_multi_socket_action(client->multi, (curl_socket_t)(mark >> 1), mask, &running);
}

void sotto_http_wait_run(sotto_http_client *client, int timeout_ms)
{
    sotto_http_wait *wait = &client->wait;
    struct epoll_event events[AT_ONCE];
    int running;

    if (client->direct_due < UINT64_MAX)
        timeout_ms =
            shorter(timeout_ms, client->direct_due, sotto_clock_monotonic(&sotto_clock_system));
    const int count = epoll_wait(wait->epoll, events, AT_ONCE, until_due(wait, timeout_ms));
    for (int i = 0; i < count; i++)
        on_event(client, &events[i]);
    if (wait->timed && until_due(wait, 1) == 0) {
        wait->timed = false; /* libcurl sets it again if it wants to */
        (void)curl_multi_socket_action(client->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    if (client->direct_due < UINT64_MAX)
        (void)sotto_http_direct_expire(client);
}
