#include "serve/host/peers.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "serve/host/health.h"
#include "serve/host/host_metrics.h"
#include "serve/host/url_table.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ANSWER = 64 << 10, TIMEOUT_MS = 5000, REASON = 120 };
enum { MOST_AT_ONCE = 8, FIRST_WAIT_MS = 1000 }; /* devices' requests need the same calls */

typedef enum peer_state { UNHEARD, ANSWERS, AWAY } peer_state;

typedef struct peer {
    sotto_peers *peers;
    const char *role, *name, *url;
    peer_state state;
    bool busy;           /* a call is under way                  */
    uint64_t due;        /* by sotto_clock_ms: the next question */
    uint64_t wait_ms;    /* AWAY: from its end to the next       */
    char reason[REASON]; /* AWAY: why                            */
} peer;

struct sotto_peers {
    sotto_host *host;
    uint64_t check_ms;
    pthread_mutex_t lock; /* over all that follows */
    size_t count, asking;
    size_t next; /* where the search for a peer begins */
    peer all[SOTTO_URL_ROWS];
};

/* Answers of a proxy that can't reach the server behind it. */
static bool is_from_proxy(unsigned status)
{
    return status == 502 || status == 503 || status == 504;
}

static void ask_some(sotto_peers *peers);

/* Under the lock. Whoever stays away is asked less and less often. */
static void put_off(peer *p)
{
    const uint64_t most = p->peers->check_ms;

    p->wait_ms = p->wait_ms == 0 ? FIRST_WAIT_MS : 2 * p->wait_ms;
    p->wait_ms = p->wait_ms < most ? p->wait_ms : most;
    p->due = sotto_clock_ms() + p->wait_ms;
}

/* Any other answer will do: the question is whether somebody is there, and a stranger's 404 says that, too. */
static void on_answer(void *context, sotto_status status, const sotto_http_response *response,
                      const sotto_err *err)
{
    peer *p = context;
    sotto_peers *peers = p->peers;
    const bool proxy = status == SOTTO_OK && is_from_proxy(response->status);

    (void)pthread_mutex_lock(&peers->lock);
    p->busy = false;
    peers->asking--;
    p->state = (status == SOTTO_OK && !proxy) || status == SOTTO_TOO_LARGE ? ANSWERS : AWAY;
    if (proxy)
        (void)snprintf(p->reason, sizeof p->reason, "status %u", response->status);
    else
        (void)snprintf(p->reason, sizeof p->reason, "%.*s", REASON - 1, err ? err->reason : "");
    if (p->state == AWAY)
        put_off(p);
    else
        p->wait_ms = 0;
    ask_some(peers);
    (void)pthread_mutex_unlock(&peers->lock);
}

/* Under the lock. Nothing of any client goes along. */
static void ask(peer *p)
{
    sotto_peers *peers = p->peers;

    p->busy = true;
    peers->asking++;
    p->due = sotto_clock_ms() + peers->check_ms;
    if (sotto_host_call(peers->host,
                        &(sotto_http_call){.method = SOTTO_HTTP_GET,
                                           .url = p->url,
                                           .attempts = 1,
                                           .timeout_ms = TIMEOUT_MS,
                                           .max_response = MOST_ANSWER},
                        on_answer, p, NULL) != SOTTO_OK) {
        p->busy = false;
        peers->asking--;
        put_off(p);
    }
}

/* Under the lock. Each of those whose turn it is, one after the other, as far as the calls go. */
static void ask_some(sotto_peers *peers)
{
    const uint64_t now = sotto_clock_ms();
    const size_t first = peers->next;

    for (size_t i = 0; i < peers->count && peers->asking < MOST_AT_ONCE; i++) {
        const size_t at = (first + i) % peers->count;
        peer *p = &peers->all[at];

        if (!p->busy && now >= p->due) {
            ask(p);
            peers->next = at + 1;
        }
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
        peers->all[peers->count++] = (peer){.peers = peers, .role = role, .name = name, .url = url};
        ask_some(peers);
    }
    (void)pthread_mutex_unlock(&peers->lock);
}

void sotto_peers_tick(sotto_peers *peers)
{
    (void)pthread_mutex_lock(&peers->lock);
    ask_some(peers);
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
