/* What was acknowledged is added up in the end, whatever a leader forgets or is told on the way. */
#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"
#include "serve/leader/leader.h"
#include "serve/leader/leader_health.h"
#include "serve/leader/unreadable.h"
#include "support/database.h"
#include "support/steps.h"
#include "transport/http_server.h"

#include <stdio.h>
#include <string.h>

enum { LONG_MS = 3600000, REPORTS = 30 }; /* nothing leaves before a collection asks for it */

/* ---- what a process forgot ----------------------------------------------------------------------------------- */

/* As after a commit whose answer was lost, or without the memory for a place in a lane. */
static void forget_one(sotto_test *t, sotto_test_service *s)
{
    static sotto_job_segments load;
    uint64_t wait = 0;

    CHECK(t, sotto_lanes_take(sotto_leader_of(s->leader)->lanes, &load,
                              sotto_clock_ms() + 2 * LONG_MS, &wait));
    CHECK_EQUAL(t, 1, load.count);
    sotto_cached_reports_free(load.list[0].cached);
}

static void a_segment_that_its_own_process_forgot_is_found(sotto_test *t)
{
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = LONG_MS});
    sotto_test_upload_some(t, &s, REPORTS, 1, SOTTO_TEST_SOUND);
    forget_one(t, &s);
    CHECK_EQUAL(t, 0, sotto_lanes_reports(sotto_leader_of(s.leader)->lanes));
    sotto_test_check_sum(t, &s, REPORTS);
    sotto_test_service_close(&s);
}

static void a_segment_that_only_waits_is_left_alone(sotto_test *t)
{
    static const char oldest[] = "SELECT CAST(min(added) AS BIGINT) FROM segment";
    sotto_test_service s;
    int64_t added;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = LONG_MS});
    sotto_test_upload_some(t, &s, REPORTS, 1, SOTTO_TEST_SOUND);
    added = sotto_test_ask_number(t, s.leader->db, oldest);
    sotto_test_pause_ms(5000); /* two leases and more */
    CHECK_EQUAL(t, REPORTS, sotto_lanes_reports(sotto_leader_of(s.leader)->lanes));
    CHECK_EQUAL(t, added, sotto_test_ask_number(t, s.leader->db, oldest));
    sotto_test_check_sum(t, &s, REPORTS);
    sotto_test_service_close(&s);
}

/* ---- what a helper refuses ----------------------------------------------------------------------------------- */

static bool stray_head(void *context, sotto_http_request *request, size_t *max_body)
{
    (void)context;
    (void)request;
    *max_body = 4 << 20;
    return true;
}

static void stray_body(void *context, sotto_http_request *request)
{
    atomic_fetch_add((atomic_uint *)context, 1);
    (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 400});
}

/* Something in the helper's place that refuses whatever it gets, as a proxy in front of it might. */
static const sotto_http_handler stray = {.head = stray_head, .body = stray_body};

static const char let_go[] = "SELECT count(*) FROM sotto_lease WHERE held = 0 AND attempts > 0"
                             " AND ready_at > 0";
static const char now[] = "UPDATE sotto_lease SET ready_at = 0 WHERE held = 0";

/* A job that was sent while no helper was there. */
static uint16_t open_outage(sotto_test *t, sotto_test_service *s)
{
    uint16_t port;

    sotto_test_service_open(t, s, &(sotto_test_service_options){.job_delay_ms = 50});
    port = (uint16_t)sotto_server_port(s->helper);
    sotto_test_helper_stop(t, s);
    sotto_test_upload_some(t, s, REPORTS, 1, SOTTO_TEST_SOUND);
    CHECK(t, sotto_test_comes(t, s->leader->db, let_go));
    return port;
}

/* ... and the stray in its place. */
static sotto_http_server *open_stray(sotto_test *t, sotto_test_service *s, atomic_uint *refused)
{
    sotto_http_server_options options = {.port = open_outage(t, s)};
    sotto_http_server *server;

    CHECK_OK(t, sotto_http_server_open(&server, &options, &stray, refused, &t->err));
    return server;
}

static void one_refusal_after_an_outage_costs_nothing(sotto_test *t)
{
    atomic_uint refused = 0;
    sotto_test_service s;
    sotto_http_server *server = open_stray(t, &s, &refused);

    sotto_test_do(t, s.leader->db,
                  "UPDATE sotto_lease SET attempts = 20, ready_at = 0 WHERE held = 0");
    CHECK(t, sotto_test_comes(t, s.leader->db,
                              "SELECT count(*) FROM job WHERE refusals > 0 OR state <> 1"));
    sotto_http_server_close(server);
    sotto_test_helper_start(t, &s);
    CHECK(t, sotto_test_comes(t, s.leader->db, let_go));
    sotto_test_do(t, s.leader->db, now);
    sotto_test_check_sum(t, &s, REPORTS);
    sotto_test_service_close(&s);
}

/* A helper that means it: the batch must not wait for ever. */
static void a_job_that_is_refused_again_and_again_is_given_up(sotto_test *t)
{
    char sql[100];
    atomic_uint refused = 0;
    sotto_test_service s;
    sotto_http_server *server = open_stray(t, &s, &refused);

    for (unsigned i = 1; i <= 7; i++) {
        sotto_test_do(t, s.leader->db, now);
        (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM job WHERE refusals = %u", i);
        CHECK(t, sotto_test_comes(t, s.leader->db, sql));
    }
    sotto_test_do(t, s.leader->db, now);
    CHECK(t, sotto_test_comes(t, s.leader->db, "SELECT count(*) FROM job WHERE state = 3"));
    CHECK_EQUAL(t, 8, atomic_load(&refused));
    sotto_http_server_close(server);
    sotto_test_service_close(&s);
}

/* ---- what can't be read now ---------------------------------------------------------------------------------- */

/* Its first bytes are the id of the datastore key. */
static const sotto_test_damage key = {"SELECT segment, secret FROM segment_key",
                                      "UPDATE segment_key SET secret = ?2 WHERE segment = ?1",
                                      false};
static const sotto_test_damage body = {
    "SELECT segment, body FROM segment_body ORDER BY length(body) DESC",
    "UPDATE segment_body SET body = ?2 WHERE segment = ?1", true};

static void a_datastore_key_that_is_missing_destroys_nothing(sotto_test *t)
{
    sotto_test_service s;

    (void)open_outage(t, &s);
    sotto_test_flip(t, s.leader->db, &key);
    sotto_test_helper_start(t, &s);
    sotto_test_do(t, s.leader->db,
                  "UPDATE sotto_lease SET attempts = 1, ready_at = 0 WHERE held = 0");
    CHECK(t, sotto_test_comes(
                 t, s.leader->db,
                 "SELECT (SELECT count(*) FROM sotto_lease WHERE held = 0 AND attempts > 1) +"
                 " (SELECT count(*) FROM job WHERE state <> 1)"));
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM segment_key"));
    sotto_test_flip(t, s.leader->db, &key);
    sotto_test_do(t, s.leader->db, now);
    sotto_test_check_sum(t, &s, REPORTS);
    sotto_test_service_close(&s);
}

/* ---- what can't be stored ------------------------------------------------------------------------------------ */

typedef struct heard {
    atomic_uint lines;
    const char *event, *reason; /* a part of it */
} heard;

static void hear(void *context, const sotto_log_event *event)
{
    heard *h = context;

    if (strcmp(event->name, h->event) != 0 || event->level < SOTTO_LOG_WARNING)
        return;
    for (size_t i = 0; i < event->count; i++)
        if (strcmp(event->fields[i].key, "reason") == 0 &&
            strstr(event->fields[i].value.text, h->reason))
            atomic_fetch_add(&h->lines, 1);
}

static void a_disk_that_fails_is_told_once_a_second(sotto_test *t)
{
    heard h = {.event = "upload.not_stored", .reason = "segment_key"};
    sotto_test_service s;
    uint64_t began, lines;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = LONG_MS});
    s.leader_options.host.log = (sotto_log_sink){hear, &h, SOTTO_LOG_INFO};
    sotto_test_leader_restart(t, &s);
    sotto_test_do(t, s.leader->db, "ALTER TABLE segment_key RENAME TO away");
    began = sotto_clock_ms();
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQUAL(
            t, 500,
            sotto_test_upload(t, &s, sotto_test_sealed_reports(t, &s, 1, 1, SOTTO_TEST_SOUND))
                .status);
    lines = atomic_load(&h.lines);
    CHECK(t, lines > 0 && lines <= 1 + (sotto_clock_ms() - began) / 1000);
    sotto_test_pause_ms(1100);
    CHECK_EQUAL(
        t, 500,
        sotto_test_upload(t, &s, sotto_test_sealed_reports(t, &s, 1, 1, SOTTO_TEST_SOUND)).status);
    CHECK_EQUAL(t, lines + 1, atomic_load(&h.lines));
    sotto_test_do(t, s.leader->db, "ALTER TABLE away RENAME TO segment_key");
    sotto_test_service_close(&s);
}

/* The larger of two is damaged: the other is added up, and the batch waits until it is mended. */
static void a_damaged_segment_holds_up_no_other(sotto_test *t)
{
    enum { OTHERS = REPORTS - 5 };
    heard h = {.event = "segment.unreadable", .reason = "does not open"};
    uint64_t reports = 0, counts[16] = {0};
    uint64_t began, lines;
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = LONG_MS});
    s.leader_options.host.log = (sotto_log_sink){hear, &h, SOTTO_LOG_INFO};
    sotto_test_leader_restart(t, &s);
    atomic_fetch_add(&sotto_leader_of(s.leader)->cached_bytes,
                     (size_t)1 << 40); /* all is read back */
    sotto_test_upload_some(t, &s, REPORTS, 1, SOTTO_TEST_SOUND);
    sotto_test_upload_some(t, &s, OTHERS, 1, SOTTO_TEST_SOUND);
    sotto_test_flip(t, s.leader->db, &body);
    began = sotto_clock_ms();
    s.patience = 3;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK(t, sotto_test_comes(t, s.leader->db,
                              "SELECT CAST(sum(reports) AS BIGINT) FROM sub_aggregate"));
    while (sotto_clock_ms() - began < 1900)
        sotto_test_pause_ms(25);
    lines = atomic_load(&h.lines);
    /* Once a lease, of two seconds; not over and over, however long one that fails may rest. */
    CHECK(t, lines > 0 && lines <= 2 + (sotto_clock_ms() - began) / 2000);
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM segment"));
    sotto_test_flip(t, s.leader->db, &body);
    s.patience = sotto_test_patience();
    sotto_test_check_sum(t, &s, REPORTS + OTHERS);
    sotto_test_service_close(&s);
}

/* A database that stores no jobs, and a collection that wants one: a few attempts, not as many as there is time for. */
static void what_can_not_be_stored_is_tried_now_and_then(sotto_test *t)
{
    heard h = {.event = "job.unformed", .reason = "added"};
    uint64_t reports = 0, counts[16] = {0};
    sotto_test_service s;
    unsigned lines, most = 2;
    uint64_t began;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = LONG_MS});
    s.leader_options.host.log = (sotto_log_sink){hear, &h, SOTTO_LOG_INFO};
    sotto_test_leader_restart(t, &s);
    sotto_test_upload_some(t, &s, REPORTS, 1, SOTTO_TEST_SOUND);
    sotto_test_do(t, s.leader->db, "ALTER TABLE job RENAME COLUMN added TO away");
    began = sotto_clock_ms();
    s.patience = 40; /* two seconds, and more where the machine is busy */
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    lines = atomic_load(&h.lines);
    for (uint64_t ms = 100; ms < sotto_clock_ms() - began; ms = 2 * ms + 100)
        most++; /* it tries again after 100, 300, 700 and 1,500 ms ... */
    CHECK(t, lines >= 2 && lines <= most);
    sotto_test_do(t, s.leader->db, "ALTER TABLE job RENAME COLUMN away TO added");
    s.patience = sotto_test_patience();
    sotto_test_check_sum(t, &s, REPORTS);
    sotto_test_service_close(&s);
}

/* A job whose bytes are nowhere could not be sent again: the helper would have added up what the leader takes for new. */
static void a_job_that_is_not_stored_is_not_sent(sotto_test *t)
{
    heard h = {.event = "job.unformed", .reason = "added"};
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = 50});
    s.leader_options.host.log = (sotto_log_sink){hear, &h, SOTTO_LOG_INFO};
    sotto_test_leader_restart(t, &s);
    sotto_test_do(t, s.leader->db, "ALTER TABLE job RENAME COLUMN added TO away");
    sotto_test_upload_some(t, &s, REPORTS, 1, SOTTO_TEST_SOUND);
    for (uint64_t until = 0; atomic_load(&h.lines) == 0 && sotto_test_waits(&until, 10);)
        ;
    CHECK(t, atomic_load(&h.lines) > 0);
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, s.helper->db, "SELECT count(*) FROM job"));
    sotto_test_do(t, s.leader->db, "ALTER TABLE job RENAME COLUMN away TO added");
    sotto_test_check_sum(t, &s, REPORTS);
    sotto_test_service_close(&s);
}

/* ---- what is given up ---------------------------------------------------------------------------------------- */

static const char unreadable[] = "SELECT count(*) FROM segment WHERE unreadable IS NOT NULL";
static const char given_up[] = "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM rejection"
                               " WHERE cause = 129";

static sotto_giving_up doomed(sotto_test *t, sotto_test_service *s, const char *which)
{
    return (sotto_giving_up){.segment = sotto_test_ask_number(t, s->leader->db, which),
                             .reason = "the disk is gone"};
}

static sotto_status remember_line(void *context, const sotto_unreadable *line, sotto_err *err)
{
    sotto_unreadable *seen = context;

    (void)err;
    *seen = *line;
    seen->why = strstr(line->why, "does not open") ? "does not open" : "";
    seen->reason = strcmp(line->reason, "the disk is gone") == 0 ? "the disk is gone" : "";
    return SOTTO_OK;
}

static sotto_status list_one(sotto_tx *tx, void *context, sotto_err *err)
{
    return sotto_unreadable_list(tx, remember_line, context, err);
}

static sotto_unreadable listed(sotto_test *t, const sotto_test_service *s)
{
    sotto_unreadable seen = {.why = "", .reason = ""};

    CHECK_OK(t, sotto_db_read(s->leader->db, list_one, &seen, &t->err));
    return seen;
}

/* Two segments, of which the larger is damaged and noted, while a collection waits for both. */
static void open_damaged(sotto_test *t, sotto_test_service *s, size_t others, bool leader_selected)
{

    sotto_test_service_open(
        t, s,
        &(sotto_test_service_options){.job_delay_ms = LONG_MS, .leader_selected = leader_selected});
    atomic_fetch_add(&sotto_leader_of(s->leader)->cached_bytes,
                     (size_t)1 << 40); /* all is read back */
    sotto_test_upload_some(t, s, REPORTS, 1, SOTTO_TEST_SOUND);
    sotto_test_upload_some(t, s, others, 1, SOTTO_TEST_SOUND);
    sotto_test_flip(t, s->leader->db, &body);
    sotto_test_want(t, s);
    CHECK(t, sotto_test_comes(t, s->leader->db, unreadable));
    s->patience = sotto_test_patience();
}

static void is_told_of_it(sotto_test *t, sotto_server *server)
{
    sotto_leader_health_view view = {0};
    const char *text;
    bool ready;

    for (uint64_t until = 0; view.unreadable == 0 && sotto_test_waits(&until, 25);)
        (void)sotto_last_seen_look(sotto_leader_of(server)->health, &view);
    text = sotto_test_pages(t, server, &ready);
    CHECK(t, ready);
    CHECK(t, strstr(text, "segments: 1 can't be read"));
    CHECK(t, strstr(text, "sotto_segments_unreadable 1\n"));
}

static void what_can_be_read_is_not_given_up(sotto_test *t)
{
    sotto_test_service s;
    sotto_giving_up g;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = LONG_MS});
    sotto_test_upload_some(t, &s, REPORTS, 1, SOTTO_TEST_SOUND);
    g = doomed(t, &s, "SELECT n FROM segment");
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_db_run(s.leader->db, sotto_unreadable_give_up, &g, &t->err));
    g.segment = 1;
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_db_run(s.leader->db, sotto_unreadable_give_up, &g, &t->err));
    sotto_test_check_sum(t, &s, REPORTS);
    sotto_test_service_close(&s);
}

static void what_is_given_up_is_counted_and_the_rest_collected(sotto_test *t)
{
    enum { OTHERS = REPORTS - 5 };

    for (unsigned leader_selected = 0; leader_selected < 2; leader_selected++) {
        sotto_test_service s;
        sotto_giving_up g;

        open_damaged(t, &s, OTHERS, leader_selected);
        g = doomed(t, &s, "SELECT n FROM segment WHERE unreadable IS NOT NULL");
        is_told_of_it(t, s.leader);
        CHECK_EQUAL(t, REPORTS, listed(t, &s).reports);
        CHECK(t, strcmp(listed(t, &s).why, "does not open") == 0 && !listed(t, &s).sent);
        g.reason = "";
        CHECK_STATUS(t, SOTTO_DENIED,
                     sotto_db_run(s.leader->db, sotto_unreadable_give_up, &g, &t->err));
        g.reason = "the disk is gone";
        CHECK_OK(t, sotto_db_run(s.leader->db, sotto_unreadable_give_up, &g, &t->err));
        CHECK_EQUAL(t, REPORTS, g.reports);
        CHECK_STATUS(t, SOTTO_MISSING,
                     sotto_db_run(s.leader->db, sotto_unreadable_give_up, &g, &t->err));
        sotto_test_check_sum(t, &s, OTHERS);
        CHECK_EQUAL(t, REPORTS, sotto_test_ask_number(t, s.leader->db, given_up));
        CHECK_EQUAL(t, REPORTS, listed(t, &s).reports);
        CHECK(t, strcmp(listed(t, &s).reason, "the disk is gone") == 0);
        CHECK_EQUAL(t, 0,
                    sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM segment_key"));
        sotto_test_service_close(&s);
    }
}

/* What the helper added up goes at the collection, and the two agree on the rest. */
static void a_job_that_the_helper_has_is_given_up_on_both_sides(sotto_test *t)
{
    enum { OTHERS = REPORTS - 5 };
    static const char dropped[] = "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM rejection"
                                  " WHERE cause = 63";
    sotto_test_service s;
    sotto_giving_up g;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = 50});
    sotto_test_do(t, s.leader->db, "ALTER TABLE sub_aggregate RENAME COLUMN checksum TO away");
    sotto_test_upload_some(t, &s, REPORTS, 1, SOTTO_TEST_SOUND);
    CHECK(t, sotto_test_comes(t, s.leader->db, let_go)); /* the helper's answer can't be stored */
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, s.helper->db, "SELECT count(*) FROM job"));
    sotto_test_flip(t, s.leader->db, &body);
    sotto_test_do(t, s.leader->db, "ALTER TABLE sub_aggregate RENAME COLUMN away TO checksum");
    sotto_test_do(t, s.leader->db, now);
    CHECK(t, sotto_test_comes(t, s.leader->db, unreadable));
    g = doomed(t, &s, "SELECT n FROM segment");
    CHECK(t, listed(t, &s).sent);
    CHECK_OK(t, sotto_db_run(s.leader->db, sotto_unreadable_give_up, &g, &t->err));
    CHECK_EQUAL(t, REPORTS, g.reports);
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM sotto_lease"));
    sotto_test_upload_some(t, &s, OTHERS, 1, SOTTO_TEST_SOUND);
    sotto_test_check_sum(t, &s, OTHERS);
    CHECK_EQUAL(t, REPORTS, sotto_test_ask_number(t, s.leader->db, given_up));
    CHECK_EQUAL(t, REPORTS, sotto_test_ask_number(t, s.helper->db, dropped));
    sotto_test_service_close(&s);
}

/* A job whose request is damaged, and one that can be read again. */
static void a_job_that_can_be_read_again_is_none_to_give_up(sotto_test *t)
{
    sotto_test_service s;
    sotto_giving_up g;
    static const sotto_test_damage request = {"SELECT n, request FROM job",
                                              "UPDATE job SET request = ?2 WHERE n = ?1", true};
    static const sotto_test_damage *const damages[] = {&body, &request};

    for (size_t i = 0; i < 2; i++) {
        (void)open_outage(t, &s);
        sotto_test_flip(t, s.leader->db, damages[i]);
        sotto_test_do(t, s.leader->db, now);
        CHECK(t, sotto_test_comes(t, s.leader->db, unreadable));
        g = doomed(t, &s, "SELECT n FROM segment");
        sotto_test_flip(t, s.leader->db, damages[i]);
        CHECK(t, sotto_test_comes(t, s.leader->db, let_go));
        sotto_test_do(t, s.leader->db, now);
        CHECK(t, sotto_test_comes(t, s.leader->db,
                                  "SELECT count(*) FROM segment WHERE unreadable IS NULL"));
        CHECK_STATUS(t, SOTTO_DENIED,
                     sotto_db_run(s.leader->db, sotto_unreadable_give_up, &g, &t->err));
        sotto_test_helper_start(t, &s);
        sotto_test_do(t, s.leader->db,
                      "UPDATE sotto_lease SET attempts = 1, ready_at = 0 WHERE held = 0");
        sotto_test_check_sum(t, &s, REPORTS);
        sotto_test_service_close(&s);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_segment_that_its_own_process_forgot_is_found),
        CASE(a_segment_that_only_waits_is_left_alone),
        CASE(one_refusal_after_an_outage_costs_nothing),
        CASE(a_job_that_is_refused_again_and_again_is_given_up),
        CASE(a_datastore_key_that_is_missing_destroys_nothing),
        CASE(a_disk_that_fails_is_told_once_a_second),
        CASE(a_damaged_segment_holds_up_no_other),
        CASE(what_can_not_be_stored_is_tried_now_and_then),
        CASE(a_job_that_is_not_stored_is_not_sent),
        CASE(what_can_be_read_is_not_given_up),
        CASE(what_is_given_up_is_counted_and_the_rest_collected),
        CASE(a_job_that_the_helper_has_is_given_up_on_both_sides),
        CASE(a_job_that_can_be_read_again_is_none_to_give_up),
    };

    return RUN_TESTS(argc, argv, cases);
}
