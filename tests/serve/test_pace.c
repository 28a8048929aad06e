/* Reports that come one by one share commits: the next one begins a few milliseconds after the last, or with enough reports. */
#include "serve/leader/pace.h"

#include "serve/leader/leader.h"
#include "support/database.h"
#include "support/steps.h"

#include <pthread.h>

/* Soon is long enough that the second report surely comes within it, however busy the machine: else nothing would wait. */
enum { HOUR_MS = 3600000, SOON_MS = 5000, ENOUGH = 128 };

/* A century: longer than any machine has been up, so the first report shows that it waits for nothing. */
static const uint64_t NEVER_MS = UINT64_C(100) * 365 * 24 * HOUR_MS;

static sotto_test_service s;

#define SEGMENTS "SELECT count(*) FROM segment"

typedef struct sender {
    sotto_test *t;
    sotto_bytes body;
    unsigned status;
    pthread_t thread;
} sender;

static void *send(void *context)
{
    sender *one = context;

    one->status = sotto_test_upload(one->t, &s, one->body).status;
    return NULL;
}

/* A report that waits for company, since another was stored before it. `own` is the arena of that thread's answer. */
static void open_with_one_waiting(sotto_test *t, sotto_test *own, sender *one, uint64_t pace_ms)
{
    *own = (sotto_test){0};
    sotto_arena_init(&own->arena, 1 << 20);
    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = HOUR_MS});
    sotto_pace_set(sotto_intake_pace(sotto_leader_of(s.leader)->intake), pace_ms);
    sotto_test_upload_some(t, &s, 1, 1, SOTTO_TEST_SOUND); /* after a pause: at once */
    *one = (sender){.t = own, .body = sotto_test_sealed_reports(t, &s, 1, 1, SOTTO_TEST_SOUND)};
    CHECK_EQUAL(t, 0, pthread_create(&one->thread, NULL, send, one));
}

static void await_waiting(void)
{
    while (sotto_intake_waiting(sotto_leader_of(s.leader)->intake) == 0)
        sotto_test_pause_ms(2);
}

static void end(sotto_test *t, sotto_test *own, sender *one)
{
    CHECK_EQUAL(t, 0, pthread_join(one->thread, NULL));
    CHECK_EQUAL(t, 200, one->status);
    sotto_arena_clear(&own->arena);
}

static void enough_reports_do_not_wait_and_take_the_others_along(sotto_test *t)
{
    sotto_test own;
    sender one;

    open_with_one_waiting(t, &own, &one, NEVER_MS);
    await_waiting();
    sotto_test_upload_some(t, &s, ENOUGH - 1, 1, SOTTO_TEST_SOUND);
    end(t, &own, &one);
    CHECK_EQUAL(t, 2, sotto_test_ask_number(t, s.leader->db, SEGMENTS));
    sotto_test_check_sum(t, &s, 1 + ENOUGH);
    sotto_test_service_close(&s);
}

static void a_report_waits_for_company_no_longer_than_that(sotto_test *t)
{
    sotto_test own;
    sender one;

    open_with_one_waiting(t, &own, &one, SOON_MS);
    end(t, &own, &one);
    CHECK_EQUAL(t, 2, sotto_test_ask_number(t, s.leader->db, SEGMENTS));
    sotto_test_service_close(&s);
}

/* A server that ends stores what waits, and answers. */
static void nothing_waits_for_company_in_a_drain(sotto_test *t)
{
    sotto_test own;
    sender one;

    open_with_one_waiting(t, &own, &one, NEVER_MS);
    await_waiting();
    CHECK_OK(t, sotto_server_drain(s.leader, 60000, &t->err));
    end(t, &own, &one);
    sotto_test_service_close(&s);
}

/* ---- the pace alone -------------------------------------------------------------------------------------------------- */

typedef struct counter {
    pthread_mutex_t lock;
    unsigned calls;
} counter;

static void count(void *context)
{
    counter *c = context;

    (void)pthread_mutex_lock(&c->lock);
    c->calls++;
    (void)pthread_mutex_unlock(&c->lock);
}

static unsigned calls_of(counter *c)
{
    unsigned calls;

    (void)pthread_mutex_lock(&c->lock);
    calls = c->calls;
    (void)pthread_mutex_unlock(&c->lock);
    return calls;
}

static void whoever_may_not_begin_is_told_when(sotto_test *t)
{
    counter c = {.lock = PTHREAD_MUTEX_INITIALIZER};
    sotto_pace *pace;

    CHECK_OK(t, sotto_pace_open(&pace, NEVER_MS, count, &c, &t->err));
    CHECK(t, sotto_pace_begin(pace, true)); /* a machine may be up for less than an hour */
    CHECK(t, !sotto_pace_begin(pace, false));
    CHECK(t, !sotto_pace_begin(pace, false));
    CHECK(t, sotto_pace_begin(pace, true));
    CHECK(t, !sotto_pace_begin(pace, false));
    CHECK_EQUAL(t, 0, calls_of(&c));
    sotto_pace_set(pace, 0);
    while (calls_of(&c) == 0)
        sotto_test_pause_ms(2);
    CHECK(t, sotto_pace_begin(pace, false));
    CHECK_EQUAL(t, 1, calls_of(&c)); /* once for both */
    sotto_pace_close(pace);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(enough_reports_do_not_wait_and_take_the_others_along),
        CASE(a_report_waits_for_company_no_longer_than_that),
        CASE(nothing_waits_for_company_in_a_drain),
        CASE(whoever_may_not_begin_is_told_when),
    };

    return RUN_TESTS(argc, argv, cases);
}
