/* What strangers can hold with bodies that come slowly: memory for what has come, for a bounded time, and a share of it. The
 * attacker has addresses of its own: 127.0.0.2 and up. */
#define _GNU_SOURCE

#include "support/http.h"
#include "transport/http_peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BUDGET = 8 << 20, BODY = 1000000 };

static sotto_test_http http;
static char bytes[BODY];

static sotto_http_server_counts counts(void)
{
    sotto_http_server_counts now;

    sotto_http_server_count(http.server, &now);
    return now;
}

static int begin_body(sotto_test *t, const char *from, unsigned len)
{
    const int fd = sotto_test_dial_from(t, http.port, from);
    char head[200];

    (void)snprintf(head, sizeof head,
                   "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %u\r\n\r\n", len);
    sotto_test_send_text(t, fd, head);
    return fd;
}

static unsigned upload(sotto_test *t, const char *from, unsigned len)
{
    const int fd = begin_body(t, from, len);
    unsigned status;

    sotto_test_send(t, fd, bytes, len);
    status = sotto_test_hear(t, fd).status;
    (void)close(fd);
    return status;
}

/* Until all that was sent has been read: nothing changes any more. */
static void settle(void)
{
    uint64_t before, now = counts().bytes_in_flight_now;

    do {
        before = now;
        sotto_test_sleep_ms(20);
        now = counts().bytes_in_flight_now;
    } while (now != before);
}

static void close_all(int *fds, int count)
{
    for (int i = 0; i < count; i++)
        (void)close(fds[i]);
}

/* Fifty bodies of a megabyte, of which little has come and little more comes: about as much as the least rate asks for. */
static void honest_uploads_succeed_beside_slow_bodies(sotto_test *t)
{
    enum { SLOW = 50, FIRST = 66000, MORE = 4000, ROUNDS = 30 };
    unsigned refused = 0;
    int fds[SLOW];

    sotto_test_http_open(t, &http,
                         (sotto_http_server_options){.max_bytes_in_flight = BUDGET, .loops = 2});
    for (int i = 0; i < SLOW; i++) {
        fds[i] = begin_body(t, "127.0.0.2", BODY);
        sotto_test_send(t, fds[i], bytes, FIRST);
    }
    settle();
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SLOW; i++)
            sotto_test_send(t, fds[i], bytes, MORE);
        refused += upload(t, "127.0.0.1", 500000) != 200;
        refused += upload(t, "127.0.0.3", BODY) != 200;
    }
    CHECK_EQUAL(t, 0, refused);
    close_all(fds, SLOW);
    sotto_test_http_close(&http);
}

/* Until each of so many clients, which sent all of a body but its last byte, is held or refused. */
static void wait_until_decided(unsigned clients)
{
    uint64_t until = 0;

    while (counts().overloaded + counts().bytes_in_flight_now / (BODY - 1) < clients &&
           sotto_test_waits(&until, 1))
        ;
}

static void a_body_is_charged_for_what_has_come(sotto_test *t)
{
    enum { SLOW = 20, COME = 70000 };
    int fds[SLOW];

    sotto_test_http_open(t, &http, (sotto_http_server_options){.max_bytes_in_flight = BUDGET});
    for (int i = 0; i < SLOW; i++) {
        fds[i] = begin_body(t, "127.0.0.2", BODY);
        sotto_test_send(t, fds[i], bytes, COME);
    }
    while (counts().bytes_in_flight_now < SLOW * COME)
        sotto_test_sleep_ms(1);
    settle();
    /* A head with its fields is a few kilobytes. */
    CHECK(t, counts().bytes_in_flight_now < SLOW * (COME + 12000));
    close_all(fds, SLOW);
    sotto_test_http_close(&http);
}

/* ---- a share for each address ---------------------------------------------------------------------- */

static void an_address_has_its_share_of_the_bytes(sotto_test *t)
{
    enum { HELD = 12 };
    int fds[HELD];

    sotto_test_http_open(t, &http, (sotto_http_server_options){.max_bytes_in_flight = BUDGET});
    for (int i = 0; i < HELD; i++) { /* all but the last byte of each */
        fds[i] = begin_body(t, "127.0.0.2", BODY);
        sotto_test_send(t, fds[i], bytes, BODY - 1);
        wait_until_decided((unsigned)i + 1);
    }
    CHECK(t, counts().bytes_in_flight_now <= BUDGET * 3 / 4);
    CHECK(t, counts().overloaded > 0);
    for (int i = 0; i < 8; i++) {
        CHECK_EQUAL(t, 200, upload(t, "127.0.0.1", BODY));
        CHECK_EQUAL(t, 200, upload(t, "127.0.0.3", BODY));
    }
    close_all(fds, HELD);
    sotto_test_http_close(&http);
}

/* Half of the budget is for whoever comes first, and an address's only body is never too much. */
static void a_share_counts_once_half_of_the_budget_is_taken(sotto_test *t)
{
    int fds[6], far[2];

    sotto_test_http_open(
        t, &http, (sotto_http_server_options){.max_bytes_in_flight = BUDGET, .address_share = 5});
    for (int i = 0; i < 4; i++) {
        fds[i] = begin_body(t, "127.0.0.2", BODY);
        sotto_test_send(t, fds[i], bytes, BODY - 1);
        wait_until_decided((unsigned)i + 1);
    }
    CHECK_EQUAL(t, 0, counts().overloaded);
    for (int i = 0; i < 2;
         i++) { /* past the half: the first fits, though it is longer than the share */
        far[i] = begin_body(t, "127.0.0.3", BODY);
        sotto_test_send(t, far[i], bytes, BODY - 1);
        wait_until_decided(4 + (unsigned)i + 1);
        CHECK_EQUAL(t, i, counts().overloaded);
    }
    sotto_test_send(t, far[0], bytes, 1);
    CHECK_EQUAL(t, 200, sotto_test_hear(t, far[0]).status);
    CHECK_EQUAL(t, 503, sotto_test_hear(t, far[1]).status);
    close_all(fds, 4);
    close_all(far, 2);
    sotto_test_http_close(&http);
}

static void a_share_of_all_is_no_limit(sotto_test *t)
{
    int fds[7];

    sotto_test_http_open(
        t, &http, (sotto_http_server_options){.max_bytes_in_flight = BUDGET, .address_share = 100});
    for (int i = 0; i < 7; i++) {
        fds[i] = begin_body(t, "127.0.0.2", BODY);
        sotto_test_send(t, fds[i], bytes, BODY - 1);
        wait_until_decided((unsigned)i + 1);
    }
    CHECK_EQUAL(t, 0, counts().overloaded);
    close_all(fds, 7);
    sotto_test_http_close(&http);
}

/* One whom the handler knows, by a token for example, stands for many: a leader, a gateway. */
static void one_who_is_vouched_for_has_no_share(sotto_test *t)
{
    int fds[7];

    sotto_test_http_open(t, &http, (sotto_http_server_options){.max_bytes_in_flight = BUDGET});
    for (int i = 0; i < 7; i++) {
        fds[i] = sotto_test_dial_from(t, http.port, "127.0.0.2");
        sotto_test_send_text(t, fds[i],
                             "POST /known HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
        sotto_test_send(t, fds[i], bytes, BODY - 1);
        wait_until_decided((unsigned)i + 1);
    }
    CHECK_EQUAL(t, 0, counts().overloaded);
    close_all(fds, 7);
    sotto_test_http_close(&http);
}

static void an_address_has_its_share_of_the_connections(sotto_test *t)
{
    enum { MOST = 40 };
    int fds[MOST];

    sotto_test_http_open(t, &http,
                         (sotto_http_server_options){.max_connections = MOST, .grace_ms = 1});
    for (int i = 0; i < MOST; i++)
        fds[i] = begin_body(t, "127.0.0.2", 1000);
    while (atomic_load(&http.heads) < MOST)
        sotto_test_sleep_ms(1);
    CHECK(t, counts().overloaded >= 15);
    close_all(fds + 21, MOST - 21); /* those who were told to go */
    for (uint64_t until = 0; counts().connections_now > 21 && sotto_test_waits(&until, 1);)
        ;
    for (int i = 0; i < 10; i++)
        CHECK_EQUAL(t, 200, upload(t, "127.0.0.1", 1000));
    /* Those who have begun go on. */
    sotto_test_send(t, fds[0], bytes, 1000);
    CHECK_EQUAL(t, 200, sotto_test_hear(t, fds[0]).status);
    close_all(fds, 21);
    sotto_test_http_close(&http);
}

static void key_of(sotto_test *t, uint64_t key[2], const char *text)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};

    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        sotto_http_peer_key(key, (const struct sockaddr *)&v4);
        return;
    }
    CHECK(t, inet_pton(AF_INET6, text, &v6.sin6_addr) == 1);
    sotto_http_peer_key(key, (const struct sockaddr *)&v6);
}

/* ---- time ------------------------------------------------------------------------------------------ */

static void an_upload_has_its_time(sotto_test *t)
{
    const uint64_t begin = sotto_test_now_ms(), patience = sotto_test_rule_is_off() ? 10000 : 60000;
    bool told = false;
    int fd;

    /* At many times the least rate, which a busy machine keeps too, and still too long. */
    sotto_test_http_open(
        t, &http, (sotto_http_server_options){.body_ms = 60000, .min_rate = 1, .upload_ms = 400});
    fd = begin_body(t, "127.0.0.1", BODY);
    while (!told && sotto_test_now_ms() - begin < patience) {
        sotto_test_send(t, fd, bytes, 1000);
        sotto_test_sleep_ms(10);
        told = counts().timed_out > 0;
    }
    CHECK(t, told);
    CHECK_EQUAL(t, 408, sotto_test_hear(t, fd).status);
    CHECK(t, sotto_test_now_ms() - begin >= 400);
    CHECK_EQUAL(t, 1, counts().timed_out);
    (void)close(fd);
    CHECK_EQUAL(t, 200, upload(t, "127.0.0.1", BODY));
    sotto_test_http_close(&http);
}

/* One customer has all of an IPv6 network of /64; IPv4 is the same however it comes. */
static void addresses_are_told_apart_by_network(sotto_test *t)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"192.0.2.1", "192.0.2.1", true},
        {"192.0.2.1", "192.0.2.2", false},
        {"::ffff:192.0.2.1", "192.0.2.1", true},
        {"::ffff:192.0.2.1", "::ffff:192.0.2.2", false},
        {"2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true},
        {"2001:db8:1:2::1", "2001:db8:1:3::1", false},
        {"::1", "127.0.0.1", false},
        {"::1", "2001:db8::1", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t a[2], b[2];

        key_of(t, a, rows[i].a);
        key_of(t, b, rows[i].b);
        CHECK_EQUAL(t, rows[i].same, memcmp(a, b, sizeof a) == 0);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(honest_uploads_succeed_beside_slow_bodies),
        CASE(a_body_is_charged_for_what_has_come),
        CASE(an_address_has_its_share_of_the_bytes),
        CASE(a_share_counts_once_half_of_the_budget_is_taken),
        CASE(a_share_of_all_is_no_limit),
        CASE(one_who_is_vouched_for_has_no_share),
        CASE(an_address_has_its_share_of_the_connections),
        CASE(an_upload_has_its_time),
        CASE(addresses_are_told_apart_by_network),
    };

    return RUN_TESTS(argc, argv, cases);
}
