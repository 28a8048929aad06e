/* The file limit: what it leaves for connections, and a server whose clients take all of them. */
#define _GNU_SOURCE
#include "serve/host/descriptors.h"
#include "serve/host/operations.h"
#include "support/http.h"
#include "support/steps.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

/* ---- arithmetic ---------------------------------------------------------------------------------- */

static sotto_status plan_for(sotto_descriptors *plan, const sotto_server_options *o, uint64_t limit,
                             sotto_err *err)
{
    return sotto_descriptors_plan(plan, sotto_role_service(o->role), &o->host, limit, err);
}

static void the_usual_limits_leave_so_many(sotto_test *t)
{
    sotto_server_options leader = {.role = SOTTO_LEADER, .host.loops = 1},
                         helper = {.role = SOTTO_HELPER, .host.loops = 1};
    sotto_descriptors plan;

    /* docs/operating.md has these numbers. */
    CHECK_OK(t, plan_for(&plan, &leader, 1024, &t->err));
    CHECK_EQUAL(t, 426, plan.reserve);
    CHECK_EQUAL(t, 598, plan.connections);
    CHECK_OK(t, plan_for(&plan, &helper, 1024, &t->err));
    CHECK_EQUAL(t, 170, plan.reserve);
    CHECK_EQUAL(t, 854, plan.connections);
    /* The units' limit has room for the usual number, whatever the other options are. */
    leader.host.loops = 64;
    CHECK_OK(t, plan_for(&plan, &leader, 16384, &t->err));
    CHECK_EQUAL(t, 10000, plan.connections);
    CHECK_OK(t, plan_for(&plan, &leader, UINT64_MAX, &t->err));
    CHECK_EQUAL(t, 10000, plan.connections);
}

static void an_option_beyond_the_file_limit_is_refused(sotto_test *t)
{
    sotto_server_options o = {.role = SOTTO_HELPER, .host.loops = 1, .host.connections = 854};
    sotto_descriptors plan;

    CHECK_OK(t, plan_for(&plan, &o, 1024, &t->err));
    CHECK_EQUAL(t, 854, plan.connections);
    o.host.connections = 855;
    CHECK_STATUS(t, SOTTO_DENIED, plan_for(&plan, &o, 1024, &t->err));
    CHECK_REASON(t, "connections = 855: the file limit of 1024 leaves 854");
    CHECK_REASON(t, "LimitNOFILE");
    o.host.connections = 20;
    CHECK_OK(t, plan_for(&plan, &o, 1024, &t->err));
    CHECK_EQUAL(t, 20, plan.connections);
}

static void a_limit_that_serves_nobody_is_refused(sotto_test *t)
{
    sotto_server_options o = {.role = SOTTO_HELPER, .host.loops = 1};
    sotto_descriptors plan;

    CHECK_OK(t, plan_for(&plan, &o, 186, &t->err));
    CHECK_EQUAL(t, 16, plan.connections);
    CHECK_STATUS(t, SOTTO_DENIED, plan_for(&plan, &o, 185, &t->err));
    CHECK_REASON(t, "a file limit of 185 is too low: 170 are for the server itself");
    CHECK_STATUS(t, SOTTO_DENIED, plan_for(&plan, &o, 3, &t->err));
}

static void a_soft_limit_is_raised_to_the_hard_one(sotto_test *t)
{
    struct rlimit limit;

    CHECK_EQUAL(t, 0, getrlimit(RLIMIT_NOFILE, &limit));
    limit.rlim_cur = 100;
    CHECK_EQUAL(t, 0, setrlimit(RLIMIT_NOFILE, &limit));
    CHECK_EQUAL(t, limit.rlim_max, sotto_descriptors_raise());
    CHECK_EQUAL(t, limit.rlim_max, sotto_descriptors_raise());
    CHECK_EQUAL(t, 0, getrlimit(RLIMIT_NOFILE, &limit));
    CHECK_EQUAL(t, limit.rlim_max, limit.rlim_cur);
}

/* ---- a full server, in a process of its own -------------------------------------------------------- */

enum { FILES = 512, CAP = FILES - 426, CLIENTS = 700, REPORTS = 25 };

typedef struct ports {
    uint16_t main, operations;
} ports;

typedef struct child {
    pid_t id;
    int to, from;
    ports at;
} child;

/* 'u': uploads some reports; 's': their sum; 'q': the end. */
static void serve(sotto_test *t, int asked, int told)
{
    const struct rlimit few = {FILES / 2, FILES}; /* the soft one is raised */
    sotto_test_service s;
    ports at;
    char wish;

    (void)alarm(100); /* a test that fails does not end its child */
    if (setrlimit(RLIMIT_NOFILE, &few) != 0)
        _exit(1);
    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    at = (ports){(uint16_t)sotto_server_port(s.leader),
                 (uint16_t)sotto_operations_port(s.leader->host->operations)};
    if (write(told, &at, sizeof at) != sizeof at)
        _exit(1);
    while (read(asked, &wish, 1) == 1 && wish != 'q') {
        if (wish == 'u')
            sotto_test_upload_some(t, &s, REPORTS, 1, SOTTO_TEST_SOUND);
        else
            sotto_test_check_sum(t, &s, 2 * REPORTS);
        if (write(told, &wish, 1) != 1)
            break;
    }
    sotto_test_service_close(&s);
    _exit(0);
}

/* A check that fails in the child ends it, so that the parent reads nothing. */
static void wish(sotto_test *t, const child *c, char what)
{
    char done = 0;

    CHECK_EQUAL(t, 1, write(c->to, &what, 1));
    CHECK_EQUAL(t, 1, read(c->from, &done, 1));
    CHECK_EQUAL(t, what, done);
}

static child start(sotto_test *t)
{
    struct rlimit own;
    int to[2], from[2];
    child c;

    CHECK_EQUAL(t, 0, getrlimit(RLIMIT_NOFILE, &own));
    own.rlim_cur = own.rlim_max;
    CHECK_EQUAL(t, 0, setrlimit(RLIMIT_NOFILE, &own));
    CHECK(t, pipe(to) == 0 && pipe(from) == 0);
    c = (child){.id = fork(), .to = to[1], .from = from[0]};
    CHECK(t, c.id >= 0);
    if (c.id == 0) {
        (void)close(to[1]);
        (void)close(from[0]);
        serve(t, to[0], from[1]);
    }
    (void)close(to[0]);
    (void)close(from[1]);
    CHECK_EQUAL(t, sizeof c.at, read(c.from, &c.at, sizeof c.at));
    return c;
}

static void end(sotto_test *t, const child *c)
{
    CHECK_EQUAL(t, 1, write(c->to, "q", 1));
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

/* A metric of the leader's, which also shows that its page is answered. */
static long metric(sotto_test *t, const child *c, const char *name)
{
    static char page[1 << 17];
    const int fd = sotto_test_dial(t, c->at.operations);
    char line[80];
    const char *found;
    size_t len = 0;
    ssize_t got;

    sotto_test_send_text(t, fd, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    while ((got = read(fd, page + len, sizeof page - 1 - len)) > 0)
        len += (size_t)got;
    (void)close(fd);
    page[len] = 0;
    CHECK(t, strncmp(page, "HTTP/1.1 200 ", 13) == 0);
    (void)snprintf(line, sizeof line, "\n%s ", name);
    found = strstr(page, line);
    CHECK(t, found != NULL);
    return strtol(found + strlen(line), NULL, 10);
}

static void operations_answer_while_the_main_port_is_full(sotto_test *t)
{
    static int fds[CLIENTS];
    child c = start(t);
    uint64_t before;

    CHECK_EQUAL(t, FILES, metric(t, &c, "sotto_descriptors_max"));
    CHECK_EQUAL(t, CAP, metric(t, &c, "sotto_http_connections_max"));
    wish(t, &c, 'u');
    for (unsigned i = 0; i < CLIENTS; i++)
        fds[i] = sotto_test_dial(t, c.at.main);
    for (unsigned i = 0; i < 20; i++)
        CHECK_EQUAL(t, 200, sotto_test_ask(t, c.at.operations, GET("/healthz")).status);
    for (uint64_t until = 0;
         metric(t, &c, "sotto_http_connections") < CAP && sotto_test_waits(&until, 20);)
        ;
    CHECK_EQUAL(t, CAP, metric(t, &c, "sotto_http_connections"));
    before = cpu_ms(t, c.id);
    sotto_test_sleep_ms(1000);
    CHECK(t, cpu_ms(t, c.id) - before < 700);
    /* Two seconds later those that said nothing make room. */
    sotto_test_sleep_ms(1200);
    wish(t, &c, 'u');
    CHECK(t, metric(t, &c, "sotto_http_connections_evicted_total") > 0);
    CHECK_EQUAL(t, 200, sotto_test_ask(t, c.at.operations, GET("/healthz")).status);
    for (unsigned i = 0; i < CLIENTS; i++)
        (void)close(fds[i]);
    wish(t, &c, 's');
    CHECK_EQUAL(t, 200, sotto_test_ask(t, c.at.operations, GET("/healthz")).status);
    end(t, &c);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_usual_limits_leave_so_many),
        CASE(an_option_beyond_the_file_limit_is_refused),
        CASE(a_limit_that_serves_nobody_is_refused),
        CASE(a_soft_limit_is_raised_to_the_hard_one),
        CASE(operations_answer_while_the_main_port_is_full),
    };

    return RUN_TESTS(argc, argv, cases);
}
