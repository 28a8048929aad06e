/* More clients than connections, or than descriptors: who makes room, who is told, and that nothing spins. */
#define _GNU_SOURCE

#include "support/http.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

static sotto_test_http http;

static sotto_http_server_counts counts(void)
{
    sotto_http_server_counts now;

    sotto_http_server_count(http.server, &now);
    return now;
}

static void wait_for_connections(sotto_test *t, unsigned count)
{
    for (uint64_t until = 0; counts().connections_now != count && sotto_test_waits(&until, 1);)
        ;
    CHECK_EQUAL(t, count, counts().connections_now);
}

static unsigned held(void)
{
    unsigned count;

    (void)pthread_mutex_lock(&http.lock);
    count = http.held_count;
    (void)pthread_mutex_unlock(&http.lock);
    return count;
}

static int dial_and_ask(sotto_test *t, const char *text)
{
    int fd = sotto_test_dial(t, http.port);

    sotto_test_send_text(t, fd, text);
    return fd;
}

static int dial_and_hear(sotto_test *t)
{
    int fd = dial_and_ask(t, GET("/ok"));

    CHECK_EQUAL(t, 200, sotto_test_hear(t, fd).status);
    return fd;
}

static void close_all(const int *fds, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        (void)close(fds[i]);
}

/* ---- the cap ------------------------------------------------------------------------------------- */

static void the_connection_that_was_idle_longest_makes_room(sotto_test *t)
{
    int fds[4];

    sotto_test_http_open(t, &http, (sotto_http_server_options){.max_connections = 3});
    for (unsigned i = 0; i < 3; i++)
        fds[i] = dial_and_hear(t);
    /* Asking again makes the first the last that was used. */
    sotto_test_send_text(t, fds[0], GET("/ok"));
    CHECK_EQUAL(t, 200, sotto_test_hear(t, fds[0]).status);
    fds[3] = dial_and_hear(t);
    CHECK(t, sotto_test_is_closed(fds[1]));
    for (unsigned i = 0; i < 4; i += i == 0 ? 2 : 1) {
        sotto_test_send_text(t, fds[i], GET("/ok"));
        CHECK_EQUAL(t, 200, sotto_test_hear(t, fds[i]).status);
    }
    CHECK_EQUAL(t, 0, counts().connections_refused);
    CHECK_EQUAL(t, 1, counts().connections_made_room);
    CHECK_EQUAL(t, 3, counts().connections_most);
    close_all(fds, 4);
    wait_for_connections(t, 0);
    sotto_test_http_close(&http);
}

/* Silent ones and half a head alike: they have their grace, and then they go, the oldest first. */
static void one_without_a_head_has_its_grace_and_then_makes_room(sotto_test *t)
{
    int fds[3];

    sotto_test_http_open(t, &http,
                         (sotto_http_server_options){.max_connections = 2, .grace_ms = 2000});
    fds[0] = dial_and_ask(t, "GET /ok HTTP/1.1\r\nHo");
    while (counts().bytes_in_flight_now == 0) /* its time begins with its first byte */
        sotto_test_sleep_ms(1);
    fds[1] = sotto_test_dial(t, http.port);
    wait_for_connections(t, 2);
    CHECK_EQUAL(t, 503, sotto_test_ask(t, http.port, GET("/ok")).status);
    CHECK_EQUAL(t, 1, counts().connections_refused);
    CHECK_EQUAL(t, 0, counts().connections_made_room);
    sotto_test_sleep_ms(2200);
    fds[2] = dial_and_hear(t);
    CHECK(t, sotto_test_is_closed(fds[0]));
    /* The other is untouched, and is served though it is late. */
    sotto_test_send_text(t, fds[1], GET("/ok"));
    CHECK_EQUAL(t, 200, sotto_test_hear(t, fds[1]).status);
    close_all(fds, 3);
    sotto_test_http_close(&http);
}

static void a_request_under_way_makes_no_room(sotto_test *t)
{
    enum { CAP = 3 };
    int fds[CAP + 1];

    sotto_test_http_open(
        t, &http,
        (sotto_http_server_options){
            .max_connections = CAP, .grace_ms = 1, .retry_after_s = 9, .idle_ms = 5000});
    fds[0] = dial_and_ask(t, GET("/hold"));
    fds[1] = dial_and_ask(t, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nab");
    /* It takes nothing of an answer that is larger than what the kernel holds for it. */
    fds[2] = dial_and_ask(t, GET("/big/20000000"));
    sotto_test_http_wait_held(t, &http, 1);
    while (atomic_load(&http.heads) < CAP || counts().bytes_in_flight_now < 1000000)
        sotto_test_sleep_ms(1);
    sotto_test_sleep_ms(50);
    fds[CAP] = sotto_test_dial(t, http.port);
    const sotto_test_answer answer = sotto_test_hear(t, fds[CAP]);
    CHECK_EQUAL(t, 503, answer.status);
    CHECK(t, strstr(answer.head, "Retry-After: 9\r\n"));
    CHECK(t, sotto_test_is_closed(fds[CAP]));
    sotto_test_send_text(t, fds[1], "c");
    CHECK_EQUAL(t, 200, sotto_test_hear(t, fds[1]).status);
    sotto_test_http_release(&http);
    CHECK_EQUAL(t, 200, sotto_test_hear(t, fds[0]).status);
    CHECK_EQUAL(t, 20000000, sotto_test_hear(t, fds[2]).body_len);
    CHECK_EQUAL(t, 0, counts().connections_made_room);
    close_all(fds, CAP + 1);
    sotto_test_http_close(&http);
}

/* What the first loop has not, others are asked for: whoever comes again finds it. */
static void every_loop_makes_room(sotto_test *t)
{
    enum { LOOPS = 3, CAP = 6, LATER = 30 };
    int fds[CAP + LATER];
    unsigned served = 0;

    sotto_test_http_open(t, &http,
                         (sotto_http_server_options){.max_connections = CAP, .loops = LOOPS});
    for (unsigned i = 0; i < CAP; i++)
        fds[i] = dial_and_hear(t);
    for (unsigned i = 0; i < LATER; i++) {
        fds[CAP + i] = dial_and_ask(t, GET("/hold"));
        /* Until it is held or refused; then loops that were asked for room have time to make it. */
        for (uint64_t until = 0;
             counts().connections_refused + held() <= i && sotto_test_waits(&until, 1);)
            ;
        sotto_test_sleep_ms(20);
    }
    sotto_test_http_wait_held(t, &http, CAP);
    for (unsigned i = 0; i < CAP; i++)
        CHECK(t, sotto_test_is_closed(fds[i]));
    sotto_test_http_release(&http);
    for (unsigned i = 0; i < LATER; i++)
        served += sotto_test_hear(t, fds[CAP + i]).status == 200;
    CHECK_EQUAL(t, CAP, served);
    CHECK_EQUAL(t, LATER - CAP, counts().connections_refused);
    close_all(fds, CAP + LATER);
    wait_for_connections(t, 0);
    sotto_test_http_close(&http);
}

/* ---- no descriptors ------------------------------------------------------------------------------- */

enum { FILES = 48, CLIENTS = 64 };

static void raise_own_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

typedef struct child {
    pid_t id;
    int to, from;
} child;

static bool told(int asked)
{
    char byte;

    return read(asked, &byte, 1) == 1;
}

/* A server with few descriptors, in a process of its own. At the first byte that it reads it answers what it holds and has
 * the limit that it began with, at the second it ends. */
static void serve(sotto_test *t, rlim_t before, rlim_t after, int asked, int tells)
{
    struct rlimit limit;

    (void)alarm(60); /* a test that fails does not end its child */
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        _exit(1);
    limit.rlim_cur = before;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        _exit(1);
    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    limit.rlim_cur = after;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        write(tells, &http.port, sizeof http.port) != sizeof http.port || !told(asked))
        _exit(1);
    limit.rlim_cur = before;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        _exit(1);
    sotto_test_http_release(&http);
    _exit(told(asked) ? 0 : 1);
}

static child start(sotto_test *t, rlim_t before, rlim_t after)
{
    int to[2], from[2];
    child c;

    raise_own_limit();
    CHECK(t, pipe(to) == 0 && pipe(from) == 0);
    c = (child){.id = fork(), .to = to[1], .from = from[0]};
    CHECK(t, c.id >= 0);
    if (c.id == 0)
        serve(t, before, after, to[0], from[1]);
    (void)close(to[0]);
    (void)close(from[1]);
    CHECK_EQUAL(t, sizeof http.port, read(c.from, &http.port, sizeof http.port));
    return c;
}

static void tell(sotto_test *t, const child *c)
{
    CHECK_EQUAL(t, 1, write(c->to, "x", 1));
}

static void end(sotto_test *t, const child *c)
{
    tell(t, c);
    CHECK_EQUAL(t, c->id, waitpid(c->id, NULL, 0));
    (void)close(c->to);
    (void)close(c->from);
}

static uint64_t cpu_ms(sotto_test *t, pid_t process)
{
    clockid_t clock;
    struct timespec used = {0, 0};

    CHECK_EQUAL(t, 0, clock_getcpuclockid(process, &clock));
    CHECK_EQUAL(t, 0, clock_gettime(clock, &used));
    return (uint64_t)used.tv_sec * 1000 + (uint64_t)used.tv_nsec / 1000000;
}

/* A server that spins takes its whole share of two seconds, which is a tenth of a core on a machine with many busy neighbours.
 * One that rests takes a few milliseconds. The first sleep is for requests that are still being answered. */
static void check_idle_cpu(sotto_test *t, pid_t process)
{
    uint64_t before;

    sotto_test_sleep_ms(200);
    before = cpu_ms(t, process);
    sotto_test_sleep_ms(2000);
    CHECK(t, cpu_ms(t, process) - before < 100);
}

static void without_descriptors_clients_are_told(sotto_test *t)
{
    const child c = start(t, FILES, FILES);
    int fds[CLIENTS];
    unsigned refused = 0, status = 0;

    for (unsigned i = 0; i < CLIENTS; i++)
        fds[i] = dial_and_ask(t, GET("/hold"));
    check_idle_cpu(t, c.id);
    /* Those who came last are told, while the others are still held. */
    CHECK_EQUAL(t, 503, sotto_test_hear(t, fds[CLIENTS - 1]).status);
    tell(t, &c);
    for (unsigned i = 0; i + 1 < CLIENTS; i++)
        refused += sotto_test_hear(t, fds[i]).status == 503;
    CHECK(t, refused + 1 >= CLIENTS - FILES);
    close_all(fds, CLIENTS);
    for (uint64_t until = 0; status != 200 && sotto_test_waits(&until, 20);)
        status = sotto_test_ask(t, http.port, GET("/ok")).status;
    CHECK_EQUAL(t, 200, status);
    end(t, &c);
}

/* Every descriptor that the server has is above its limit now: giving up the spare one helps nobody. */
static void without_even_a_spare_the_listener_rests(sotto_test *t)
{
    const child c = start(t, FILES, 3);
    const int fd = dial_and_ask(t, GET("/ok"));

    check_idle_cpu(t, c.id);
    tell(t, &c);
    CHECK_EQUAL(t, 200, sotto_test_hear(t, fd).status);
    (void)close(fd);
    end(t, &c);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_connection_that_was_idle_longest_makes_room),
        CASE(one_without_a_head_has_its_grace_and_then_makes_room),
        CASE(a_request_under_way_makes_no_room),
        CASE(every_loop_makes_room),
        CASE(without_descriptors_clients_are_told),
        CASE(without_even_a_spare_the_listener_rests),
    };

    return RUN_TESTS(argc, argv, cases);
}
