/* A device that fetches the feed of its log by itself: through the relay alone, once a day, at a time that follows from nothing. */
#include "device/device_internal.h"
#include "device/device_log.h"
#include "device/ledger/log_seen.h"
#include "device/oblivious.h"
#include "seal/ohttp/ohttp.h"
#include "support/devices.h"
#include "support/logs.h"
#include "support/powerloss_vfs.h"
#include "support/relayed.h"
#include "tlog/feed.h"

#include <stdio.h>
#include <string.h>

enum { ROOM = 2 * SOTTO_FEED_MAX, DAY = 86400, CALLS = 64 };

static sotto_test_phone phone;
static sotto_test_log logs;

/* Relay, gateway and whoever serves the feed, in one. */
typedef struct network {
    sotto_bytes feed;
    unsigned status; /* of whoever serves it; 0: 200 */
    bool down;       /* the relay does not answer    */
    bool called_off; /* the host wants no exchange   */
    size_t calls;
    int64_t at[CALLS];
    size_t length[CALLS];
    char method[8], url[128], inner_url[SOTTO_TEST_RELAYED_URL];
} network;

static network net;

static void answer(sotto_test *t, sotto_buf *out, sotto_bytes wire)
{
    sotto_test_relayed asked = {.status = net.status, .content = net.feed};

    sotto_test_relayed_answer(t, out, wire, &asked);
    (void)snprintf(net.method, sizeof net.method, "%s", asked.method);
    (void)snprintf(net.inner_url, sizeof net.inner_url, "%s", asked.url);
}

static sotto_status carry(void *context, sotto_exchange *exchange)
{
    static uint8_t body[8192], memory[ROOM];
    sotto_buf out = sotto_buf_over(memory, ROOM);
    const sotto_exchange_head head = {
        .size = sizeof head, .status = 200, .media_type = SOTTO_OHTTP_RESPONSE_TYPE};
    sotto_test *t = phone.t;
    size_t len;

    (void)context;
    if (exchange->body_length > 2048)
        return SOTTO_IO; /* a report: not of interest here */
    net.at[net.calls % CALLS] = phone.now;
    net.length[net.calls++ % CALLS] = (size_t)exchange->body_length;
    (void)snprintf(net.url, sizeof net.url, "%s", exchange->url);
    if (net.called_off)
        return SOTTO_AGAIN;
    if (net.down)
        return SOTTO_IO;
    CHECK_EQUAL(t, SOTTO_OK, exchange->read(exchange, 0, body, sizeof body, &len));
    CHECK_EQUAL(t, exchange->body_length, len);
    answer(t, &out, sotto_bytes_of(body, len));
    SOTTO_TRY(exchange->begin(exchange, &head));
    return exchange->take(exchange, memory, out.len);
}

static sotto_bytes parties(sotto_test *t)
{
    return sotto_test_relayed_parties(t, sotto_test_server_parties(t, 1));
}

static void start(sotto_test *t, sotto_bytes with)
{
    net = (network){0};
    sotto_test_log_init(t, &logs);
    sotto_test_log_grow(t, &logs, 3);
    (void)sotto_test_log_add(t, &logs, SOTTO_ENTRY_RECIPE, 0,
                             sotto_test_sure_recipe(t, "a", NULL, NULL));
    net.feed = sotto_test_log_feed(t, &logs, NULL, 0, (const uint64_t[]){3}, 1);
    sotto_test_phone_init(t, &phone,
                          sotto_test_log_policy(t, &logs, sotto_test_generous_policy,
                                                ", \"feed\": \"https://log.example/feed\""));
    sotto_test_phone_in_files(&phone);
    phone.options.host.exchange = carry;
    phone.options.parties = with;
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
}

static void end(void)
{
    sotto_test_phone_close(&phone);
    sotto_test_log_clear(&logs);
}

static sotto_status copy_known(void *context, const sotto_known_log *log, sotto_err *err)
{
    (void)err;
    *(sotto_known_log *)context = *log;
    return SOTTO_OK;
}

static sotto_known_log known(sotto_test *t)
{
    sotto_known_log out = {0};

    CHECK_OK(t, sotto_device_logs(phone.device, copy_known, &out, &t->err));
    return out;
}

static void a_feed_is_fetched_and_its_recipes_are_answered_later(sotto_test *t)
{
    start(t, parties(t));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made); /* not on the heels of the fetch */
    CHECK_EQUAL(t, 1, net.calls);
    CHECK(t, strcmp(net.url, "https://relay.example/g") == 0);
    CHECK(t, strcmp(net.method, "GET") == 0);
    CHECK(t, strcmp(net.inner_url, "https://log.example/feed") == 0);
    CHECK_EQUAL(t, 4, known(t).entries);
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 1, net.calls);
    end();
}

/* Once each day, not before its time, each day at another one; all requests have one length. */
static void once_a_day_at_a_time_of_its_own(sotto_test *t)
{
    int64_t earliest = DAY, latest = 0;

    start(t, parties(t));
    (void)sotto_test_tick(&phone);
    for (size_t i = 1; i <= 20; i++) {
        const int64_t due = known(t).fetch, of_day = due % DAY;

        CHECK_EQUAL(t, phone.now / DAY + 1, due / DAY);
        phone.now = due - 1;
        (void)sotto_test_tick(&phone);
        CHECK_EQUAL(t, i, net.calls);
        phone.now = due;
        (void)sotto_test_tick(&phone);
        CHECK_EQUAL(t, i + 1, net.calls);
        CHECK_EQUAL(t, net.length[0], net.length[i]);
        earliest = of_day < earliest ? of_day : earliest;
        latest = of_day > latest ? of_day : latest;
    }
    CHECK(t, latest - earliest > DAY / 4); /* 20 times within a quarter: a chance of 10^-10 */
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, NULL, SOTTO_RECORD_LOG));
    end();
}

/* The time is drawn when the last feed came, and kept: a device that is restarted fetches no sooner. */
static void a_restart_fetches_no_sooner(sotto_test *t)
{
    start(t, parties(t));
    (void)sotto_test_tick(&phone);
    const int64_t due = known(t).fetch;
    CHECK(t, due / DAY == phone.now / DAY + 1);
    sotto_test_phone_open(&phone);
    (void)sotto_test_tick(&phone);
    CHECK_EQUAL(t, 1, net.calls);
    phone.now = due;
    (void)sotto_test_tick(&phone);
    CHECK_EQUAL(t, 2, net.calls);
    end();
}

static void without_a_relay_nothing_is_fetched(sotto_test *t)
{
    start(t, sotto_test_server_parties(t, 1));
    (void)sotto_test_tick(&phone);
    CHECK_EQUAL(t, 0, net.calls);
    CHECK_OK(t,
             sotto_device_feed(phone.device, net.feed, NULL, &t->err)); /* the host may bring it */
    CHECK_EQUAL(t, 4, known(t).entries);
    end();
}

static void without_consent_nothing_is_fetched(sotto_test *t)
{
    start(t, parties(t));
    CHECK_OK(t, sotto_device_consent(phone.device, false, &t->err));
    (void)sotto_test_tick(&phone);
    CHECK_EQUAL(t, 0, net.calls);
    end();
}

static void what_fails_is_tried_again_after_an_hour(sotto_test *t)
{
    start(t, parties(t));
    net.down = true;
    (void)sotto_test_tick(&phone);
    (void)sotto_test_tick(&phone);
    CHECK_EQUAL(t, 1, net.calls);
    net.down = false;
    net.status = 503;
    phone.now += 3600;
    (void)sotto_test_tick(&phone);
    CHECK_EQUAL(t, 2, net.calls);
    net.status = 0;
    net.called_off = true;
    phone.now += 3600;
    (void)sotto_test_tick(&phone);
    CHECK_EQUAL(t, 3, net.calls);
    net.called_off = false;
    phone.now += 3600;
    (void)sotto_test_tick(&phone);
    CHECK_EQUAL(t, 4, net.calls);
    CHECK_EQUAL(t, 4, known(t).entries);
    end();
}

/* Nonsense, or the feed of a log that forked, is fetched no more often than any other. */
static void what_is_refused_waits_for_its_time(sotto_test *t)
{
    static const uint8_t nonsense[100];

    start(t, parties(t));
    net.feed = sotto_bytes_of(nonsense, sizeof nonsense);
    (void)sotto_test_tick(&phone);
    phone.now = known(t).fetch - 1;
    (void)sotto_test_tick(&phone);
    CHECK_EQUAL(t, 1, net.calls);
    phone.now++;
    (void)sotto_test_tick(&phone);
    CHECK_EQUAL(t, 2, net.calls);
    CHECK_EQUAL(t, 0, known(t).entries);
    end();
}

static void a_log_that_forked_is_not_fetched(sotto_test *t)
{
    start(t, parties(t));
    (void)sotto_test_tick(&phone);
    sotto_test_log other = logs;
    other.size = 3;
    sotto_test_log_grow(t, &other, 4);
    net.feed = sotto_test_log_feed(t, &other, NULL, 0, NULL, 0);
    phone.now += 2 * DAY;
    (void)sotto_test_tick(&phone);
    CHECK_EQUAL(t, 2, net.calls);
    CHECK(t, known(t).forked);
    phone.now += 2 * DAY;
    (void)sotto_test_tick(&phone);
    CHECK_EQUAL(t, 2, net.calls);
    CHECK(t, known(t).forked); /* and what was drawn then has not resolved it */
    end();
}

/* ---- the power goes ----------------------------------------------------------------------------------------------- */

/* Files on a disk that loses power, with the tree of four entries seen. */
static void start_on_disk(sotto_test *t)
{
    start(t, sotto_test_server_parties(t, 1));
    sotto_test_phone_close(&phone);
    sotto_powerloss_start();
    phone.options.events = sotto_test_temp(t, "power-events.db");
    phone.options.ledger = sotto_test_temp(t, "power-ledger.db");
    phone.options.storage = &sotto_powerloss_storage;
    phone.options.host.counter = (sotto_device_counter){NULL, NULL};
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_feed(phone.device, net.feed, NULL, &t->err));
}

/* The power goes at each step of taking a feed in turn. What the device said that it saw, it finds again; and whatever it finds, it
 * goes on from there. */
static void check_power(sotto_test *t, bool fork)
{
    const uint64_t sizes[] = {4};
    bool done = false;

    for (int64_t at = 0; !done; at++) {
        start_on_disk(t);
        sotto_test_log later = logs;
        if (fork) {
            later.size = 3;
            sotto_test_log_grow(t, &later, 4);
        }
        sotto_test_log_grow(t, &later, 7);
        const sotto_bytes next = sotto_test_log_feed(t, &later, sizes, 1, NULL, 0);
        const uint64_t before = sotto_powerloss_steps();
        sotto_powerloss_at((int64_t)before + at);
        const sotto_status status = sotto_device_feed(phone.device, next, NULL, &t->err);
        done = sotto_powerloss_steps() < before + (uint64_t)at; /* it was over by then */
        sotto_powerloss_at(-1);
        sotto_device_close(phone.device);
        phone.device = NULL;
        sotto_powerloss_restore((uint64_t)at % 2);
        sotto_test_phone_open(&phone);
        CHECK(t, !sotto_device_closed(phone.device));
        CHECK(t, known(t).entries == 4 || (!fork && known(t).entries == 7));
        if (status == SOTTO_OK)
            CHECK_EQUAL(t, 7, known(t).entries);
        if (status == SOTTO_REJECTED)
            CHECK(t, known(t).forked);
        const sotto_status again = sotto_device_feed(phone.device, next, NULL, &t->err);
        CHECK(t, fork ? again == SOTTO_REJECTED || again == SOTTO_DENIED : again == SOTTO_OK);
        CHECK_EQUAL(t, fork, known(t).forked);
        CHECK_EQUAL(t, 1, sotto_test_lines(&phone, NULL, SOTTO_RECORD_LOG));
        end();
        CHECK(t, at < 200);
    }
}

static void a_power_loss_at_any_step_loses_no_tree(sotto_test *t)
{
    check_power(t, false);
}

static void a_power_loss_at_any_step_loses_no_fork(sotto_test *t)
{
    check_power(t, true);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_feed_is_fetched_and_its_recipes_are_answered_later),
        CASE(once_a_day_at_a_time_of_its_own),
        CASE(a_restart_fetches_no_sooner),
        CASE(without_a_relay_nothing_is_fetched),
        CASE(without_consent_nothing_is_fetched),
        CASE(what_fails_is_tried_again_after_an_hour),
        CASE(what_is_refused_waits_for_its_time),
        CASE(a_log_that_forked_is_not_fetched),
        CASE(a_power_loss_at_any_step_loses_no_tree),
        CASE(a_power_loss_at_any_step_loses_no_fork),
    };

    return RUN_TESTS(argc, argv, cases);
}
