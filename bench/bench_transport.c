/* What a small request costs the server: parsing alone, and whole round trips over loopback.
 *
 * The round trips count the CPU time of the server's own thread, since the machine's other load, and the client here, must
 * not be mistaken for it. 64 connections are kept alive, each with one request under way.
 */
#define _GNU_SOURCE
#include "bench.h"

#include "transport/http_parse.h"
#include "transport/http_server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS = 64, BODY = 512 };

static const char HEAD[] =
    "PUT /tasks/8BY0RzZMzxvA46_8ymhzycOB9krN-QIGYvg_RsByGec/reports HTTP/1.1\r\n"
    "Host: leader.example.org:8080\r\nUser-Agent: device/1.0\r\nAccept: */*\r\n"
    "Content-Type: application/dap-upload-req\r\nContent-Length: 512\r\n\r\n";

typedef struct exchange {
    sotto_http_server *server;
    int fds[CLIENTS];
    char request[sizeof HEAD - 1 + BODY];
    bool broken;
    atomic_bool clock_known;
    clockid_t server_clock;
} exchange;

static exchange bench;

static void parse_head(void *state)
{
    static sotto_http_head head;
    static uint8_t text[sizeof HEAD];

    (void)state;
    memcpy(text, HEAD, sizeof HEAD - 1);
    const size_t end = sotto_http_head_end(sotto_bytes_of(text, sizeof HEAD - 1), 0);
    if (sotto_http_head_parse(&head, text, end, SOTTO_HTTP_MAX_FIELDS) != 0)
        bench.broken = true;
}

static bool on_head(void *context, sotto_http_request *request, size_t *max_body)
{
    (void)context;
    (void)request;
    *max_body = BODY;
    if (!atomic_load(&bench.clock_known)) {
        (void)pthread_getcpuclockid(pthread_self(), &bench.server_clock);
        atomic_store(&bench.clock_known, true);
    }
    return true;
}

static void on_body(void *context, sotto_http_request *request)
{
    (void)context;
    sotto_http_answer(request, &(sotto_http_reply){.status = 200});
}

static bool read_answer(int fd)
{
    char text[1024];
    size_t len = 0;

    while (len < 4 || memcmp(text + len - 4, "\r\n\r\n", 4) != 0) {
        const ssize_t n = recv(fd, text + len, sizeof text - len, 0);

        if (n <= 0)
            return false;
        len += (size_t)n;
    }
    return memcmp(text, "HTTP/1.1 200", 12) == 0;
}

/* Every client sends, then every client reads: the server meets many requests at each wake-up. */
static void round_trips(void)
{
    for (size_t i = 0; i < CLIENTS; i++)
        if (send(bench.fds[i], bench.request, sizeof bench.request, MSG_NOSIGNAL) !=
            (ssize_t)sizeof bench.request)
            bench.broken = true;
    for (size_t i = 0; i < CLIENTS && !bench.broken; i++)
        if (!read_answer(bench.fds[i]))
            bench.broken = true;
}

static double seconds_of(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void dial(sotto_err *err)
{
    static const sotto_http_handler handler = {.head = on_head, .body = on_body};
    struct sockaddr_in to = {.sin_family = AF_INET};
    const int one = 1;

    sotto_bench_expect(sotto_http_server_open(&bench.server, &(sotto_http_server_options){0},
                                              &handler, NULL, err) == SOTTO_OK,
                       err->reason);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(sotto_http_server_port(bench.server));
    for (size_t i = 0; i < CLIENTS; i++) {
        bench.fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sotto_bench_expect(connect(bench.fds[i], (const struct sockaddr *)&to, sizeof to) == 0,
                           strerror(errno));
        (void)setsockopt(bench.fds[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
}

static void measure_round_trips(const sotto_bench *b)
{
    sotto_err err = {0};
    double begin, cpu;
    size_t rounds = 0;

    memcpy(bench.request, HEAD, sizeof HEAD - 1);
    memset(bench.request + sizeof HEAD - 1, 'r', BODY);
    dial(&err);
    round_trips();
    begin = seconds_of(CLOCK_MONOTONIC);
    cpu = seconds_of(bench.server_clock);
    while (!bench.broken && seconds_of(CLOCK_MONOTONIC) - begin < b->seconds) {
        round_trips();
        rounds++;
    }
    cpu = seconds_of(bench.server_clock) - cpu;
    sotto_bench_expect(!bench.broken && rounds > 0, "a request was not answered");
    sotto_bench_note(b, "transport/requests-per-server-core", "/s",
                     (double)(rounds * CLIENTS) / cpu);
    for (size_t i = 0; i < CLIENTS; i++)
        (void)close(bench.fds[i]);
    sotto_http_server_close(bench.server);
}

void sotto_bench_transport(const sotto_bench *b)
{
    (void)sotto_bench_run(b, "transport/parse-head", parse_head, NULL, 1);
    if (sotto_bench_wanted(b, "transport/requests-per-server-core"))
        measure_round_trips(b);
    sotto_bench_expect(!bench.broken, "a head was refused");
}
