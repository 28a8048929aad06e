/* What a host may do to an exchange, and what comes of it: in doubt the report waits, and the same bytes go again. */
#include "dap/dap.h"
#include "support/devices.h"

#include <string.h>

static const char list_type[] = "application/ppm-dap;message=upload-errors";

/* What the host at hand does with an exchange. */
typedef struct habits {
    sotto_status returns;
    uint64_t skip_at;  /* a byte of the body that it never reads; UINT64_MAX: it reads all       */
    uint64_t read_to;  /* where it stops reading                                                 */
    bool reads_on;     /* past the end                                                           */
    bool twice;        /* it reads the whole body again, as on another connection                */
    bool headless;     /* it hands over a body without a head                                    */
    bool late_head;    /* it hands over the body first                                           */
    bool unsized;      /* it forgets to say which head it knows                                  */
    unsigned first;    /* the status of a head before the true one; 0: none                      */
    unsigned status;   /* of the head                                                            */
    const char *type;  /* its media type                                                         */
    const char *retry; /* its Retry-After                                                        */
    const uint8_t
        *body; /* of the answer                                                          */
    size_t body_len;
    size_t piece;   /* bytes of it handed over at a time                                         */
    bool deaf;      /* it goes on and returns SOTTO_OK where the device wants no more            */
    uint64_t calls; /* of the callback                                                           */
    size_t taken;   /* bytes of the answer that the device took                                  */
    sotto_status
        saw; /* the first status other than SOTTO_OK                                      */
} habits;

static const habits good = {
    .skip_at = UINT64_MAX, .read_to = UINT64_MAX, .status = 200, .piece = 5, .returns = SOTTO_OK};

static sotto_test_phone phone;

static sotto_status heed(habits *h, sotto_status status)
{
    if (h->saw == SOTTO_OK)
        h->saw = status;
    return h->deaf ? SOTTO_OK : status;
}

static sotto_status read_request(habits *h, sotto_exchange *exchange)
{
    uint64_t at = h->skip_at == 0 ? 1 : 0;
    uint8_t piece[1000];
    size_t len = 1;

    while (len > 0 && at < h->read_to) {
        const uint64_t stop = at < h->skip_at && h->skip_at < h->read_to ? h->skip_at : h->read_to;
        const size_t room = stop - at < sizeof piece ? (size_t)(stop - at) : sizeof piece;

        SOTTO_TRY(heed(h, exchange->read(exchange, at, piece, room, &len)));
        at += len;
        if (at == h->skip_at)
            at++;
    }
    return h->reads_on
               ? heed(h, exchange->read(exchange, exchange->body_length + 1, piece, 1, &len))
               : SOTTO_OK;
}

static sotto_status give_head(habits *h, sotto_exchange *exchange)
{
    sotto_exchange_head head = {.size = h->unsized ? 0 : sizeof head,
                                .status = h->first,
                                .media_type = h->type,
                                .retry_after = h->retry};

    if (h->first > 0)
        SOTTO_TRY(heed(h, exchange->begin(exchange, &head)));
    head.status = h->status;
    return h->headless ? SOTTO_OK : heed(h, exchange->begin(exchange, &head));
}

static sotto_status give_body(habits *h, sotto_exchange *exchange)
{
    for (size_t at = 0; at < h->body_len; at += h->piece) {
        const size_t left = h->body_len - at, len = left < h->piece ? left : h->piece;
        const sotto_status status = exchange->take(exchange, h->body + at, len);

        h->taken += status == SOTTO_OK ? len : 0;
        SOTTO_TRY(heed(h, status));
    }
    return SOTTO_OK;
}

static sotto_status carry(void *context, sotto_exchange *exchange)
{
    habits *h = phone.hook_context;

    (void)context;
    h->calls++;
    SOTTO_TRY(read_request(h, exchange));
    if (h->twice)
        SOTTO_TRY(read_request(h, exchange));
    if (h->late_head)
        SOTTO_TRY(give_body(h, exchange));
    SOTTO_TRY(give_head(h, exchange));
    if (!h->late_head)
        SOTTO_TRY(give_body(h, exchange));
    return h->returns;
}

/* A phone with `reports` reports made, none of which left yet. */
static void start(sotto_test *t, habits *h, unsigned reports)
{
    static const char *const names[] = {"50001", "50002", "50003"};

    sotto_test_phone_init(t, &phone, sotto_test_generous_policy);
    phone.hook_context = h;
    phone.options.host.exchange = carry;
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_OK(t, sotto_test_phone_type(&phone, 1, 35, "i went home"));
    for (unsigned i = 0; i < reports; i++)
        CHECK_OK(t, sotto_device_offer(phone.device,
                                       sotto_test_sure_recipe(t, names[i], NULL, NULL), &t->err));
}

static uint64_t acknowledged(void)
{
    return sotto_test_lines(&phone, NULL, SOTTO_RECORD_ACKNOWLEDGED);
}

static uint64_t given_up(void)
{
    return sotto_test_lines(&phone, NULL, SOTTO_RECORD_GIVEN_UP);
}

/* A host with these habits moves a report nowhere, and the next one, a good one, delivers it. */
static void check_waits(sotto_test *t, habits h, sotto_status saw)
{
    habits next = good;

    start(t, &h, 1);
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 1, h.calls);
    CHECK_EQUAL(t, saw, h.saw);
    CHECK_EQUAL(t, 0, acknowledged() + given_up());
    phone.hook_context = &next;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 1, acknowledged());
    sotto_test_phone_close(&phone);
}

static void check_delivers(sotto_test *t, habits h)
{
    start(t, &h, 1);
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 1, acknowledged());
    CHECK_EQUAL(t, SOTTO_OK, h.saw);
    sotto_test_phone_close(&phone);
}

/* ---- the request ------------------------------------------------------------------------------------------ */

static sotto_test *looking;

static sotto_status look_at(void *context, sotto_exchange *exchange)
{
    sotto_test *t = looking;

    CHECK_EQUAL(t, sizeof *exchange, exchange->size);
    CHECK(t, strcmp(exchange->method, "POST") == 0);
    CHECK(t, strncmp(exchange->url, "https://leader.example.com/tasks/", 33) == 0);
    CHECK_EQUAL(t, 33 + 43 + 8, strlen(exchange->url));
    CHECK(t, strcmp(exchange->url + 33 + 43, "/reports") == 0);
    CHECK(t, strcmp(exchange->media_type, "application/ppm-dap;message=upload-req") == 0);
    CHECK_EQUAL(t, 0, exchange->field_count);
    CHECK_EQUAL(t, 0, exchange->redirects);
    CHECK_EQUAL(t, 5880, exchange->body_length);
    CHECK_EQUAL(t, 4096, exchange->most_answer);
    CHECK(t, strcmp(exchange->recipe, "50001") == 0);
    return carry(context, exchange);
}

static void a_request_says_all_that_a_host_needs(sotto_test *t)
{
    habits h = good;

    looking = t;
    start(t, &h, 1);
    phone.options.host.exchange = look_at;
    sotto_test_phone_open(&phone); /* in memory: all of it anew */
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_OK(t, sotto_device_offer(phone.device, sotto_test_sure_recipe(t, "50001", NULL, NULL),
                                   &t->err));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 1, h.calls);
    sotto_test_phone_close(&phone);
}

static void a_body_may_be_read_again(sotto_test *t)
{
    habits h = good;

    h.twice = true;
    check_delivers(t, h);
}

static void a_body_that_was_not_read_whole_is_not_acknowledged(sotto_test *t)
{
    static const uint64_t ends[] = {0, 1, 16, 1000, 5879};
    habits h = good;

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        h.read_to = ends[i];
        check_waits(t, h, SOTTO_OK);
    }
    /* Nor refused: who knows what the leader has seen. */
    h.status = 400;
    check_waits(t, h, SOTTO_OK);
}

static void a_body_is_read_without_gaps(sotto_test *t)
{
    static const uint64_t gaps[] = {0, 1, 1000, 5878};
    habits h = good;

    for (size_t i = 0; i < sizeof gaps / sizeof gaps[0]; i++) {
        h.skip_at = gaps[i];
        h.deaf = i % 2 == 0;
        check_waits(t, h, SOTTO_BUG);
    }
}

static void a_body_is_not_read_past_its_end(sotto_test *t)
{
    habits h = good;

    h.reads_on = true;
    check_waits(t, h, SOTTO_BUG);
    h.deaf = true;
    check_waits(t, h, SOTTO_BUG);
}

/* ---- the answer ------------------------------------------------------------------------------------------- */

static void an_answer_may_come_in_pieces(sotto_test *t)
{
    uint8_t others[4096 / 17 * 17];
    habits h = good;

    memset(others, SOTTO_REPORT_INVALID_MESSAGE, sizeof others);
    h.type = list_type;
    h.body = others;
    h.body_len = sizeof others;
    for (h.piece = 1; h.piece < 5000; h.piece = 3 * h.piece + 1)
        check_delivers(t, h);
}

/* The list of other reports would acknowledge ours, as far as the device reads it. */
static void an_answer_longer_than_its_ceiling_acknowledges_nothing(sotto_test *t)
{
    uint8_t others[2 * 4096 / 17 * 17];
    habits h = good;

    memset(others, SOTTO_REPORT_INVALID_MESSAGE, sizeof others);
    h.type = list_type;
    h.body = others;
    h.body_len = sizeof others;
    for (unsigned deaf = 0; deaf < 2; deaf++) {
        h.deaf = deaf;
        h.piece = 17;
        check_waits(t, h, SOTTO_TOO_LARGE);
        h.piece = 4096 / 17 * 17;
        check_waits(t, h, SOTTO_TOO_LARGE);
        h.piece = sizeof others;
        check_waits(t, h, SOTTO_TOO_LARGE);
    }
    /* Cut at its ceiling it is a list: only the count tells. */
    h.deaf = true;
    h.piece = 4096;
    h.body_len = 4096 + 17 * 2;
    check_waits(t, h, SOTTO_TOO_LARGE);
}

static void an_answer_needs_its_head_first_and_once(sotto_test *t)
{
    habits h = good;

    h.headless = true;
    check_waits(t, h, SOTTO_OK);
    h = good;
    h.first = 503;
    check_waits(t, h, SOTTO_BUG);
    h.deaf = true;
    check_waits(t, h, SOTTO_BUG);
}

static void a_piece_before_the_head_spoils_the_answer(sotto_test *t)
{
    uint8_t others[17];
    habits h = good;

    memset(others, SOTTO_REPORT_INVALID_MESSAGE, sizeof others);
    h.type = list_type;
    h.body = others;
    h.body_len = sizeof others;
    h.late_head = true;
    check_waits(t, h, SOTTO_BUG);
    h.deaf = true;
    check_waits(t, h, SOTTO_BUG);
}

static void a_head_without_its_size_is_not_read(sotto_test *t)
{
    habits h = good;

    h.unsized = true;
    check_waits(t, h, SOTTO_BUG);
}

static void a_long_media_type_is_none_that_we_know(sotto_test *t)
{
    char type[4096];
    habits h = good;

    memset(type, ' ', sizeof type);
    memcpy(type, list_type, sizeof list_type - 1);
    type[127] = '\0';
    h.type = type;
    check_delivers(t, h);
    type[127] = ' ';
    type[sizeof type - 1] = '\0';
    check_waits(t, h, SOTTO_OK);
}

/* ---- failure ---------------------------------------------------------------------------------------------- */

/* Whatever its head said. */
static void nothing_is_delivered_by_an_exchange_that_failed(sotto_test *t)
{
    static const unsigned statuses[] = {200, 400};
    habits h = good;

    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        for (int status = SOTTO_AGAIN; status <= SOTTO_BUG + 1; status++) {
            h.status = statuses[i];
            h.returns = (sotto_status)status;
            check_waits(t, h, SOTTO_OK);
        }
}

static void a_host_that_calls_off_an_exchange_gets_no_other_in_this_tick(sotto_test *t)
{
    habits h = good;

    h.returns = SOTTO_AGAIN;
    start(t, &h, 3);
    CHECK_EQUAL(t, 3, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 1, h.calls);
    /* The record tells of those that a host had in its hands, and of no other. */
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, NULL, SOTTO_RECORD_LEFT));
    h.returns = SOTTO_IO;
    CHECK_EQUAL(t, 3, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 4, h.calls);
    h.returns = SOTTO_OK;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 3, acknowledged());
    sotto_test_phone_close(&phone);
}

/* ---- pauses ----------------------------------------------------------------------------------------------- */

static void a_leader_that_asks_for_time_gets_it(sotto_test *t)
{
    habits h = good;

    h.status = 503;
    h.retry = "7200";
    start(t, &h, 3);
    CHECK_EQUAL(t, 3, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 1, h.calls);
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, NULL, SOTTO_RECORD_LEFT));
    h.status = 200;
    phone.now += 7199;
    CHECK_EQUAL(t, 3, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 1, h.calls);
    phone.now += 1;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 3, acknowledged());
    sotto_test_phone_close(&phone);
}

static void no_leader_gets_more_than_a_day(sotto_test *t)
{
    static const char *const asked[] = {"86401", "999999999999999999999999", "4294967297"};

    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        habits h = good;

        h.status = 429;
        h.retry = asked[i];
        start(t, &h, 1);
        CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting);
        h.status = 200;
        phone.now += 86399;
        CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting);
        phone.now += 1;
        CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
        sotto_test_phone_close(&phone);
    }
}

/* A pause that the clock takes far into the future ends with the day that it may last. */
static void a_clock_that_is_set_back_makes_no_pause_longer(sotto_test *t)
{
    habits h = good;

    h.status = 503;
    h.retry = "3600";
    start(t, &h, 1);
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting);
    h.status = 200;
    phone.now -= 86400;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    sotto_test_phone_close(&phone);
}

static void what_is_no_number_of_seconds_asks_for_nothing(sotto_test *t)
{
    static const char *const asked[] = {"",   "0", "-1", "1h", "Fri, 20 Nov 2026 07:28:00 GMT",
                                        " 60"};
    habits h = good;

    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        h.status = 503;
        h.retry = asked[i];
        check_waits(t, h, SOTTO_OK);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_request_says_all_that_a_host_needs),
        CASE(a_body_may_be_read_again),
        CASE(a_body_that_was_not_read_whole_is_not_acknowledged),
        CASE(a_body_is_read_without_gaps),
        CASE(a_body_is_not_read_past_its_end),
        CASE(an_answer_may_come_in_pieces),
        CASE(an_answer_longer_than_its_ceiling_acknowledges_nothing),
        CASE(an_answer_needs_its_head_first_and_once),
        CASE(a_piece_before_the_head_spoils_the_answer),
        CASE(a_head_without_its_size_is_not_read),
        CASE(a_long_media_type_is_none_that_we_know),
        CASE(nothing_is_delivered_by_an_exchange_that_failed),
        CASE(a_host_that_calls_off_an_exchange_gets_no_other_in_this_tick),
        CASE(a_leader_that_asks_for_time_gets_it),
        CASE(no_leader_gets_more_than_a_day),
        CASE(a_clock_that_is_set_back_makes_no_pause_longer),
        CASE(what_is_no_number_of_seconds_asks_for_nothing),
    };
    return RUN_TESTS(argc, argv, cases);
}
