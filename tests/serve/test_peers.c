/* Health names the servers behind a service that do not answer. */
#define _POSIX_C_SOURCE 200809L
#include "support/attested.h"
#include "support/database.h"
#include "support/health.h"
#include "support/oblivious.h"

#include <stdio.h>
#include <string.h>

static const sotto_log_sink silent = {0};
static const char AWAY[] = "does not answer", CHECKED[] = "peer_check = 1\n";

/* A test that is left out must have nothing open: it would stay open. So this comes first. */
static void open_gateway(sotto_test *t, sotto_test_http *gateway)
{
    if (sotto_test_on_postgres())
        NOT_FOR_THIS_DATABASE(t, "a relay keeps nothing");
    sotto_test_http_open(t, gateway, (sotto_http_server_options){0});
}

static sotto_host *open_relay(sotto_test *t, const char *table, const char *more)
{
    sotto_host *relay = NULL;

    CHECK_OK(t, sotto_test_host_open(t, &relay, sotto_test_directory(t), "relay", table, more, NULL,
                                     silent));
    return relay;
}

/* It takes requests all the same: "ready" says that. */
static void a_relay_names_the_gateway_that_is_away(sotto_test *t)
{
    sotto_test_http gateway;
    sotto_host *relay;
    char table[200];

    open_gateway(t, &gateway);
    (void)snprintf(table, sizeof table,
                   "here http://127.0.0.1:%u/ok\ngone http://127.0.0.1:1/gateway\n", gateway.port);
    relay = open_relay(t, table, CHECKED);
    sotto_test_health_await(t, relay, "gateway gone: does not answer: 127.0.0.1: ", true);
    sotto_test_health_await(t, relay, "gateway here", false);
    CHECK(t, sotto_test_health_says(relay, "ready\ngateways: 2\n"));
    sotto_test_http_close(&gateway);
    sotto_test_health_await(t, relay, "gateway here: does not answer: 127.0.0.1: ", true);
    sotto_host_close(relay);
}

/* A proxy before it says that nobody is behind it; once somebody is, health forgets it. */
static void a_proxy_s_answer_is_not_a_gateway_s(sotto_test *t)
{
    sotto_test_http gateway;
    sotto_host *relay;
    char table[200];

    open_gateway(t, &gateway);
    (void)snprintf(table, sizeof table, "g http://127.0.0.1:%u/fail/2/503/0\n", gateway.port);
    relay = open_relay(t, table, CHECKED);
    sotto_test_health_await(t, relay, "gateway g: does not answer: status 503\n", true);
    sotto_test_health_await(t, relay, AWAY, false);
    sotto_host_close(relay);
    sotto_test_http_close(&gateway);
}

static void without_a_check_nobody_is_asked(sotto_test *t)
{
    sotto_test_http gateway;
    sotto_host *relay;
    char table[200];

    open_gateway(t, &gateway);
    (void)snprintf(table, sizeof table, "g http://127.0.0.1:%u/ok\ngone http://127.0.0.1:1/g\n",
                   gateway.port);
    relay = open_relay(t, table, "peer_check = 0\n");
    sotto_test_sleep_ms(1200); /* a tick */
    CHECK_EQUAL(t, 0, gateway.heads);
    CHECK(t, sotto_test_health_says(relay, "ready\ngateways: 2\n"));
    CHECK(t, !sotto_test_health_says(relay, AWAY));
    sotto_host_close(relay);
    sotto_test_http_close(&gateway);
}

/* Of 17 gateways 16 hold their answers back. Ticks pass meanwhile; then the first eight are due again, but others come first. */
static void few_are_asked_at_once_and_each_has_its_turn(sotto_test *t)
{
    enum { SILENT = 16, AT_ONCE = 8 };
    sotto_test_http gateway;
    sotto_host *relay;
    char table[2000];
    size_t len = 0;

    open_gateway(t, &gateway);
    for (unsigned i = 0; i < SILENT; i++)
        len += (size_t)snprintf(table + len, sizeof table - len, "g%u http://127.0.0.1:%u/hold\n",
                                i, gateway.port);
    (void)snprintf(table + len, sizeof table - len, "last http://127.0.0.1:1/gateway\n");
    relay = open_relay(t, table, CHECKED);
    for (unsigned turn = 1; turn <= SILENT / AT_ONCE; turn++) {
        sotto_test_http_wait_held(t, &gateway, AT_ONCE);
        sotto_test_sleep_ms(1200);
        CHECK_EQUAL(t, turn * AT_ONCE, gateway.heads);
        CHECK(t, sotto_test_health_says(relay, "gateway last: not heard yet"));
        sotto_test_http_release(&gateway);
    }
    sotto_test_health_await(t, relay, "gateway last: does not answer: 127.0.0.1: ", true);
    sotto_host_close(relay);
    sotto_test_http_close(&gateway);
}

/* At first, and after 1 and 3 seconds, each up to a second later; not each second. */
static void who_stays_away_is_asked_less_often(sotto_test *t)
{
    sotto_test_http gateway;
    sotto_host *relay;
    char table[200];

    open_gateway(t, &gateway);
    (void)snprintf(table, sizeof table, "g http://127.0.0.1:%u/fail/100/503/0\n", gateway.port);
    relay = open_relay(t, table, "peer_check = 60\n");
    sotto_test_sleep_ms(4500);
    CHECK(t, gateway.heads >= 1 && gateway.heads <= 3); /* a busy machine asks later */
    CHECK(t, sotto_test_health_says(relay, "gateway g: does not answer: status 503\n"));
    sotto_host_close(relay);
    sotto_test_http_close(&gateway);
}

static void a_gateway_names_the_target_that_is_away(sotto_test *t)
{
    static const char line[] = "target https://target.example/: does not answer: 127.0.0.1: ";
    sotto_test_http target;
    sotto_test_gateway gateway;

    if (sotto_test_on_postgres())
        NOT_FOR_THIS_DATABASE(t, "a gateway has an SQLite file");
    sotto_test_http_open(t, &target, (sotto_http_server_options){0});
    sotto_test_gateway_open(t, &gateway, target.port, CHECKED);
    sotto_test_health_await(t, gateway.host, "target ", false); /* 404 is an answer */
    sotto_test_http_close(&target);
    sotto_test_health_await(t, gateway.host, line, true);
    CHECK(t, sotto_test_health_says(gateway.host, "ready\ntargets: 1\n"));
    sotto_host_close(gateway.host);
}

static void an_attester_names_the_issuer_that_is_away(sotto_test *t)
{
    sotto_test_attested d;

    sotto_test_attested_open_with(t, &d, NULL, CHECKED);
    sotto_test_health_await(t, d.attester, "issuer", false);
    sotto_host_close(d.issuer);
    d.issuer = NULL;
    sotto_test_health_await(t, d.attester, "issuer: does not answer: 127.0.0.1: ", true);
    sotto_test_attested_close(&d);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_relay_names_the_gateway_that_is_away),
        CASE(a_proxy_s_answer_is_not_a_gateway_s),
        CASE(without_a_check_nobody_is_asked),
        CASE(few_are_asked_at_once_and_each_has_its_turn),
        CASE(who_stays_away_is_asked_less_often),
        CASE(a_gateway_names_the_target_that_is_away),
        CASE(an_attester_names_the_issuer_that_is_away),
    };

    if (!sotto_test_at_end(sotto_test_oblivious_forget))
        return 1;
    return RUN_TESTS(argc, argv, cases);
}
