#include "serve/host/peers.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "serve/host/health.h"
#include "serve/host/host_metrics.h"
#include "serve/host/url_table.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ANSWER = 64 << 10, TIMEOUT_MS = 5000, REASON = 120 };

typedef enum peer_state { UNHEARD, ANSWERS, AWAY } peer_state;

typedef struct peer {
    sotto_peers *peers;
    const char *role, *name, *url;
    peer_state state;
    bool busy;           /* a call is under way                  */
    uint64_t due;        /* by sotto_clock_ms: the next question */
    char reason[REASON]; /* AWAY: why                            */
} peer;

struct sotto_peers {
    sotto_host *host;
    uint64_t check_ms;
    pthread_mutex_t lock; /* over all that follows */
    size_t count;
    peer all[SOTTO_URL_ROWS];
};

/* Answers of a proxy that can't reach the server behind it. */
static bool is_proxy_s(unsigned status)
{
    return status == 502 || status == 503 || status == 504;
}

/* Any other answer will do: the question is whether somebody is there, and a stranger's 404 says that, too. */
static void on_answer(void *context, sotto_status status, const sotto_http_response *response,
                      const sotto_err *err)
{
    peer *p = context;
    sotto_peers *peers = p->peers;
    const bool proxy = status == SOTTO_OK && is_proxy_s(response->status);

    (void)pthread_mutex_lock(&peers->lock);
    p->busy = false;
    p->state = (status == SOTTO_OK && !proxy) || status == SOTTO_TOO_LARGE ? ANSWERS : AWAY;
    if (proxy)
        (void)snprintf(p->reason, sizeof p->reason, "status %u", response->status);
    else
        (void)snprintf(p->reason, sizeof p->reason, "%.*s", REASON - 1, err ? err->reason : "");
    (void)pthread_mutex_unlock(&peers->lock);
}

/* Under the lock. Nothing of any client goes along. */
static void ask(peer *p)
{
    sotto_peers *peers = p->peers;

    p->busy = true;
    p->due = sotto_clock_ms() + peers->check_ms;
    if (sotto_host_call(peers->host,
                        &(sotto_http_call){.method = SOTTO_HTTP_GET,
                                           .url = p->url,
                                           .attempts = 1,
                                           .timeout_ms = TIMEOUT_MS,
                                           .max_response = MOST_ANSWER},
                        on_answer, p, NULL) != SOTTO_OK) {
        p->busy = false;
        p->due = 0;
    }
}

sotto_status sotto_peers_new(sotto_peers **out, sotto_host *host, uint64_t check_s, sotto_err *err)
{
    sotto_peers *peers = sotto_alloc(sizeof *peers);

    if (!peers || pthread_mutex_init(&peers->lock, NULL) != 0) {
        sotto_release(peers, peers ? sizeof *peers : 0);
        return sotto_fail(err, SOTTO_NO_MEMORY, "the servers behind this one");
    }
    peers->host = host;
    peers->check_ms = check_s * 1000;
    *out = peers;
    return SOTTO_OK;
}

void sotto_peers_free(sotto_peers *peers)
{
    if (!peers)
        return;
    (void)pthread_mutex_destroy(&peers->lock);
    sotto_release(peers, sizeof *peers);
}

void sotto_peers_add(sotto_peers *peers, const char *role, const char *name, const char *url)
{
    (void)pthread_mutex_lock(&peers->lock);
    if (peers->check_ms > 0 && peers->count < SOTTO_URL_ROWS) {
        peer *p = &peers->all[peers->count++];

        *p = (peer){.peers = peers, .role = role, .name = name, .url = url};
        ask(p);
    }
    (void)pthread_mutex_unlock(&peers->lock);
}

void sotto_peers_tick(sotto_peers *peers)
{
    const uint64_t now = sotto_clock_ms();

    (void)pthread_mutex_lock(&peers->lock);
    for (size_t i = 0; i < peers->count; i++) {
        peer *p = &peers->all[i];

        if (!p->busy && (p->state != ANSWERS || now >= p->due))
            ask(p);
    }
    (void)pthread_mutex_unlock(&peers->lock);
}

/* ---- what is told ------------------------------------------------------------------------------------------------- */

void sotto_peers_describe(sotto_peers *peers, sotto_buf *out)
{
    (void)pthread_mutex_lock(&peers->lock);
    for (size_t i = 0; i < peers->count; i++) {
        const peer *p = &peers->all[i];

        if (p->state == ANSWERS)
            continue;
        sotto_health_say(out, p->role);
        sotto_health_say(out, p->name ? " " : "");
        sotto_health_say(out, p->name ? p->name : "");
        sotto_health_say(out, p->state == AWAY ? ": does not answer: " : ": not heard yet");
        sotto_health_say(out, p->reason);
        sotto_health_say(out, "\n");
    }
    (void)pthread_mutex_unlock(&peers->lock);
}

void sotto_peers_metric(sotto_peers *peers, sotto_writer *w)
{
    uint64_t away = 0;

    (void)pthread_mutex_lock(&peers->lock);
    for (size_t i = 0; i < peers->count; i++)
        away += peers->all[i].state == AWAY;
    (void)pthread_mutex_unlock(&peers->lock);
    sotto_metric_one(w, "sotto_peers_away", "gauge", "Servers behind this one that do not answer.",
                     away);
}
