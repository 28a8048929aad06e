/* A batch that more reports came for than there are devices is held, on each side by its own operator's figure. */
#define _POSIX_C_SOURCE 200809L
#include "held.h"

#include "recipe/model.h"
#include "serve/tasks/rate.h"
#include "serve/tasks/schema.h"
#include "serve/tasks/task_health.h"
#include "support/database.h"
#include "support/recipes.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* What the collector is told for ever of the one batch that went. */
static void is_told(sotto_test *t, sotto_server *server, sotto_rate_checking wanted)
{
    static sotto_rejections told;

    sotto_test_told_refusals(t, server, &told);
    CHECK_EQUAL(t, wanted, told.rate);
}

/* A leader that holds the reports of twice as many devices as there are, and one more. */
static void open_held(sotto_test *t, sotto_test_service *s)
{
    sotto_test_service_open(t, s, &(sotto_test_service_options){0});
    held_population(t, s, true, 20);
    sotto_test_upload_some(t, s, 41, 1, SOTTO_TEST_SOUND);
    held_stays(t, s, 10);
}

/* A helper that does. */
static sotto_test_job open_held_helper(sotto_test *t, sotto_test_service *s)
{
    sotto_test_job job;
    sotto_http_response response;

    sotto_test_service_open(t, s, &(sotto_test_service_options){0});
    held_population(t, s, false, 20);
    job = held_send_job(t, s, 41, 0);
    response = sotto_test_ask_share(t, s, 1, 41, job.checksum);
    CHECK_EQUAL(t, 503, response.status);
    CHECK(t, response.retry_after_s > 0);
    return job;
}

/* A leader of 20 devices, with a task of either kind, whose jobs wait until all is there. */
static void open_either(sotto_test *t, sotto_test_service *s, bool leader_selected)
{
    sotto_test_service_open(t, s,
                            &(sotto_test_service_options){.leader_selected = leader_selected,
                                                          .job_delay_ms = 1000,
                                                          .job_reports = 100});
    held_population(t, s, true, 20);
}

static void twice_the_expected_number_is_released(sotto_test *t)
{
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    held_population(t, &s, true, 20);
    held_population(t, &s, false, 20);
    sotto_test_upload_some(t, &s, 40, 1, SOTTO_TEST_SOUND);
    held_is_released(t, &s, 40);
    is_told(t, s.leader, SOTTO_RATE_PASSED);
    is_told(t, s.helper, SOTTO_RATE_PASSED);
    sotto_test_service_close(&s);
}

/* Ten slots of an hour each, the first of them now. */
static const char *donations_from_now(sotto_test *t)
{
    enum { TEXT = 160 };
    char start[32], *text = sotto_arena_take(&t->arena, TEXT);
    const time_t now = time(NULL);
    struct tm tm;

    (void)strftime(start, sizeof start, "%Y-%m-%dT%H:00:00Z", gmtime_r(&now, &tm));
    (void)snprintf(text, TEXT,
                   "{\"type\": \"donation\", \"slots\": 10, \"start\": \"%s\", \"slot\": \"1h\"}",
                   start);
    return text;
}

static int64_t held(sotto_test *t, sotto_test_service *s)
{
    return sotto_test_ask_number(t, s->leader->db, "SELECT count(*) FROM held");
}

static void a_batch_of_one_slot_is_held_by_what_a_slot_explains(sotto_test *t)
{
    sotto_test_service s;
    uint64_t reports, counts[16];

    sotto_test_service_open(t, &s,
                            &(sotto_test_service_options){.participation = donations_from_now(t)});
    held_population(t, &s, false, 100); /* one slot of ten: 10 are expected, 20 may come */
    sotto_test_upload_some(t, &s, 20, 1, SOTTO_TEST_SOUND);
    held_population(t, &s, true, 100);
    held_is_released(t, &s, 20);
    sotto_test_service_close(&s);
    sotto_test_service_open(t, &s,
                            &(sotto_test_service_options){.participation = donations_from_now(t)});
    held_population(t, &s, true, 100);
    sotto_test_upload_some(t, &s, 21, 1, SOTTO_TEST_SOUND);
    s.patience = 10;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    for (uint64_t until = 0; held(t, &s) == 0 && sotto_test_waits(&until, 20);)
        ;
    CHECK_EQUAL(t, 1, held(t, &s));
    sotto_test_service_close(&s);
}

/* Another recipe of the same analysis, with the first `old` replaced. */
static sotto_status add_another(sotto_test *t, sotto_test_service *s, const char *old,
                                const char *new)
{
    const sotto_bytes named = sotto_test_replace(t, s->recipe_text, "\"recipe\": \"7\"",
                                                 "\"recipe\": \"8\""),
                      text = sotto_test_replace(t, (const char *)named.data, old, new);
    sotto_mistakes *mistakes = sotto_arena_take(&t->arena, sizeof *mistakes);
    sotto_buf ids = sotto_test_buf(t, 64);

    memset(mistakes, 0, sizeof *mistakes);
    return sotto_tasks_add(s->leader->db, s->leader->columns, SOTTO_LEADER, text,
                           sotto_bytes_of(s->parties_text, strlen(s->parties_text)), 0,
                           sotto_bytes_of(NULL, 0), &ids, mistakes, &t->err);
}

/* Devices draw once for all of them, and would not answer one with others. */
static void tasks_of_an_analysis_have_the_same_slots(sotto_test *t)
{
    sotto_test_service s;

    sotto_test_service_open(t, &s,
                            &(sotto_test_service_options){.participation = donations_from_now(t)});
    CHECK_STATUS(t, SOTTO_DENIED, add_another(t, &s, "\"slot\": \"1h\"", "\"slot\": \"2h\""));
    CHECK_REASON(t, "participation.slot");
    CHECK_STATUS(t, SOTTO_DENIED, add_another(t, &s, "\"slots\": 10", "\"slots\": 11"));
    CHECK_OK(t, add_another(t, &s, "com.example.likes", "com.example.others"));
    CHECK_OK(t, add_another(t, &s, "\"version\": 1", "\"version\": 2"));
    sotto_test_service_close(&s);
}

static void one_more_is_held_until_the_leaders_operator_gives_a_reason(sotto_test *t)
{
    sotto_test_service s;

    open_held(t, &s);
    held_let_go(t, &s, s.leader, "", SOTTO_DENIED);
    held_let_go(t, &s, s.leader, "a campaign made more people take part", SOTTO_OK);
    held_is_released(t, &s, 41);
    is_told(t, s.leader, SOTTO_RATE_RELEASED);
    is_told(t, s.helper, SOTTO_RATE_OFF);
    sotto_test_service_close(&s);
}

static void the_helper_holds_by_its_own_figure(sotto_test *t)
{
    sotto_test_service s;
    sotto_test_job job = open_held_helper(t, &s);

    held_let_go(t, &s, s.helper, "counted by hand", SOTTO_OK);
    CHECK_EQUAL(t, 201, sotto_test_ask_share(t, &s, 1, 41, job.checksum).status);
    is_told(t, s.helper, SOTTO_RATE_RELEASED);
    sotto_test_service_close(&s);
}

/* The reason was given for 41 reports, not for whatever comes after it. */
static void a_reason_covers_no_more_than_it_was_given_for(sotto_test *t)
{
    sotto_test_service s;
    sotto_test_job job = open_held_helper(t, &s);

    held_let_go(t, &s, s.helper, "counted by hand", SOTTO_OK);
    sotto_dap_checksum_merge(job.checksum, held_send_job(t, &s, 1, 0).checksum);
    CHECK_EQUAL(t, 503, sotto_test_ask_share(t, &s, 1, 42, job.checksum).status);
    sotto_test_service_close(&s);
}

/* Anybody can send what the leader refuses at the door, at no cost. */
static void junk_holds_no_batch(sotto_test *t)
{
    static const sotto_test_flaw junk[] = {SOTTO_TEST_BAD_LEADER_SEAL, SOTTO_TEST_UNKNOWN_KEY,
                                           SOTTO_TEST_EXTENSION};
    sotto_test_service s;
    sotto_bytes sound;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    held_population(t, &s, true, 20);
    held_population(t, &s, false, 20);
    sound = sotto_test_sealed_reports(t, &s, 30, 1, SOTTO_TEST_SOUND);
    for (size_t i = 0; i < sizeof junk / sizeof junk[0]; i++)
        sotto_test_upload_some(t, &s, 20, 1, junk[i]);
    for (unsigned i = 0; i < 3; i++) /* twice as a replay */
        CHECK_EQUAL(t, 200, sotto_test_upload(t, &s, sound).status);
    held_is_released(t, &s, 30);
    sotto_test_service_close(&s);
}

/* What it acknowledged counts, though its proof fails later: whoever fills a batch need not fill it well. */
static void acknowledged_reports_count_though_they_fail_later(sotto_test *t)
{
    sotto_test_service s;

    for (unsigned selected = 0; selected < 2; selected++) {
        open_either(t, &s, selected);
        sotto_test_upload_some(t, &s, 30, 1, SOTTO_TEST_SOUND);
        sotto_test_upload_some(t, &s, 6, 1, SOTTO_TEST_BAD_HELPER_SEAL);
        sotto_test_upload_some(t, &s, 5, 1, SOTTO_TEST_BAD_PROOF);
        held_is_found(t, &s, s.leader);
        CHECK_EQUAL(t, 41, sotto_test_ask_number(t, s.leader->db, "SELECT arrived FROM held"));
        sotto_test_service_close(&s);
    }
}

/* No restart, no wait: the next look at the batch uses the figure that the row has then. */
static void a_corrected_population_counts_at_once(sotto_test *t)
{
    sotto_test_service s;

    open_held(t, &s);
    held_population(t, &s, true, 0); /* no figure given: the old one stays */
    held_stays(t, &s, 10);
    held_population(t, &s, true, 21);
    held_is_released(t, &s, 41);
    is_told(t, s.leader, SOTTO_RATE_PASSED);
    sotto_test_service_close(&s);
}

typedef struct listed {
    unsigned lines;
    bool held, reason;
} listed;

static sotto_status take_line(void *context, const sotto_held *held, sotto_err *err)
{
    listed *l = context;

    (void)err;
    l->lines++;
    l->held = held->held;
    l->reason = held->reason[0] != 0;
    return SOTTO_OK;
}

static sotto_status read_list(sotto_tx *tx, void *context, sotto_err *err)
{
    *(listed *)context = (listed){0};
    return sotto_rate_list(tx, take_line, context, err);
}

static void is_listed(sotto_test *t, sotto_server *server, bool held, bool reason)
{
    listed l;

    held_await(t, server);
    CHECK_OK(t, sotto_db_read(server->db, read_list, &l, &t->err));
    CHECK_EQUAL(t, 1, l.lines);
    CHECK_EQUAL(t, held, l.held);
    CHECK_EQUAL(t, reason, l.reason);
}

/* By the leader's collection and by the helper's share, of a batch of either kind. */
static void what_was_collected_is_not_released_again(sotto_test *t)
{
    sotto_test_service s;
    sotto_test_job job = open_held_helper(t, &s);

    is_listed(t, s.helper, true, false);
    held_population(t, &s, false, 21);
    is_listed(t, s.helper, true, false); /* until the leader asks again */
    CHECK_EQUAL(t, 201, sotto_test_ask_share(t, &s, 1, 41, job.checksum).status);
    is_listed(t, s.helper, false, false);
    held_let_go(t, &s, s.helper, "too late", SOTTO_MISSING);
    CHECK(t, strstr(t->err.reason, "was collected"));
    is_listed(t, s.helper, false, false);
    sotto_test_service_close(&s);
}

static void a_list_says_held_no_longer_than_it_is(sotto_test *t)
{
    sotto_test_service s;

    for (unsigned selected = 0; selected < 2; selected++) {
        open_either(t, &s, selected);
        sotto_test_upload_some(t, &s, 41, 1, SOTTO_TEST_SOUND);
        held_is_found(t, &s, s.leader);
        is_listed(t, s.leader, true, false);
        held_population(t, &s, true, 21);
        held_is_released(t, &s, 41);
        is_listed(t, s.leader, false, false);
        sotto_test_service_close(&s);
    }
}

static void a_reason_is_given_once(sotto_test *t)
{
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    held_population(t, &s, true, 20);
    held_let_go(t, &s, s.leader, "nothing yet", SOTTO_MISSING);
    CHECK(t, strstr(t->err.reason, "no such batch"));
    sotto_test_upload_some(t, &s, 41, 1, SOTTO_TEST_SOUND);
    held_stays(t, &s, 10);
    held_let_go(t, &s, s.leader, "a campaign", SOTTO_OK);
    is_listed(t, s.leader, false, true);
    held_let_go(t, &s, s.leader, "another", SOTTO_MISSING);
    CHECK(t, strstr(t->err.reason, "released before"));
    sotto_test_service_close(&s);
}

static sotto_status all_in_order(void *context, const sotto_held *held, sotto_err *err)
{
    listed *l = context;

    (void)err;
    if (held->range.first_bucket == l->lines + 1)
        l->lines++;
    l->held = held->held;
    return SOTTO_OK;
}

static sotto_status read_in_order(sotto_tx *tx, void *context, sotto_err *err)
{
    *(listed *)context = (listed){0};
    return sotto_rate_list(tx, all_in_order, context, err);
}

/* Whoever looks for the one that is held must find it, however many went before. Half of them have the same time. */
static void however_many_were_held_all_are_listed(sotto_test *t)
{
    static char rows[] =
        "INSERT INTO held (task, first_bucket, end_bucket, batch, arrived, expected, reason, since)"
        " WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE"
        " i < 2001) SELECT n, i, i + 1, substr(id, 1, 0), 3, 1, CASE WHEN i < 2001 THEN 'because'"
        " ELSE NULL END, CASE WHEN i < 1001 THEN 7 ELSE i END FROM task, numbers";
    sotto_test_service s;
    listed l;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    CHECK_OK(t, sotto_db_run(s.helper->db, sotto_test_say, rows, &t->err));
    CHECK_OK(t, sotto_db_read(s.helper->db, read_in_order, &l, &t->err));
    CHECK_EQUAL(t, 2001, l.lines);
    CHECK(t, l.held);
    sotto_test_service_close(&s);
}

enum { HELD, LET_GO, LINES };

static void count_lines(void *context, const sotto_log_event *event)
{
    static const char *const names[LINES] = {"batch.held", "batch.let_go"};
    atomic_uint *counts = context;

    for (unsigned i = 0; i < LINES; i++)
        if (strcmp(event->name, names[i]) == 0)
            atomic_fetch_add(&counts[i], 1);
}

/* Whether the server's own view comes to have so many; a thread looks once a second. */
static bool soon_holds(sotto_server *server, uint64_t held)
{
    sotto_task_health_view view = {0};
    uint64_t until = 0;

    do {
        (void)sotto_last_seen_look(server->health, &view);
        if (view.held == held)
            return true;
    } while (sotto_test_waits(&until, 20));
    return false;
}

static void says_that_it_holds(sotto_test *t, sotto_server *server)
{
    bool ready;
    const char *text = sotto_test_pages(t, server, &ready);

    CHECK(t, ready);
    CHECK(t, strstr(text, "batches: 1 is held"));
    CHECK(t, strstr(text, "sotto_batches_held 1\n"));
}

/* Nobody would think of looking: the log says it once, health and the metrics until it is over. */
static void the_leaders_operator_is_told_of_a_held_batch(sotto_test *t)
{
    sotto_test_service s;
    atomic_uint told[LINES] = {0};

    for (unsigned corrected = 0; corrected < 2; corrected++) {
        atomic_store(&told[HELD], 0);
        atomic_store(&told[LET_GO], 0);
        sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
        s.leader_options.host.log = (sotto_log_sink){.write = count_lines, .context = told};
        sotto_test_leader_restart(t, &s);
        held_population(t, &s, true, 20);
        sotto_test_upload_some(t, &s, 41, 1, SOTTO_TEST_SOUND);
        CHECK(t, soon_holds(s.leader, 0));
        held_stays(t, &s, 10);
        CHECK(t, soon_holds(s.leader, 1));
        says_that_it_holds(t, s.leader);
        held_stays(t, &s, 60); /* looks again, more than once */
        CHECK_EQUAL(t, 1, atomic_load(&told[HELD]));
        if (corrected)
            held_population(t, &s, true, 21);
        else
            held_let_go(t, &s, s.leader, "a campaign", SOTTO_OK);
        held_is_released(t, &s, 41);
        CHECK_EQUAL(t, corrected ? 0 : 1, atomic_load(&told[LET_GO]));
        CHECK(t, soon_holds(s.leader, 0));
        sotto_test_service_close(&s);
    }
}

static void the_helpers_operator_is_told_of_a_held_batch(sotto_test *t)
{
    sotto_test_service s;
    sotto_test_job job;
    atomic_uint told[LINES] = {0};

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    s.helper_options.host.log = (sotto_log_sink){.write = count_lines, .context = told};
    sotto_test_helper_restart(t, &s);
    held_population(t, &s, false, 20);
    job = held_send_job(t, &s, 41, 0);
    for (unsigned i = 0; i < 2; i++)
        CHECK_EQUAL(t, 503, sotto_test_ask_share(t, &s, 1, 41, job.checksum).status);
    CHECK_EQUAL(t, 1, atomic_load(&told[HELD]));
    CHECK(t, soon_holds(s.helper, 1));
    says_that_it_holds(t, s.helper);
    held_population(t, &s, false, 21);
    CHECK(t, soon_holds(s.helper, 1)); /* until the leader asks again */
    CHECK_EQUAL(t, 201, sotto_test_ask_share(t, &s, 1, 41, job.checksum).status);
    CHECK(t, soon_holds(s.helper, 0));
    sotto_test_service_close(&s);
}

/* At the helper, where reports arrive in jobs of the leader's alone. */
static void refused_reports_count_too(sotto_test *t)
{
    sotto_test_service s;
    sotto_test_job job;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    held_population(t, &s, false, 20);
    job = held_send_job(t, &s, 30, 11);
    CHECK_EQUAL(t, 503, sotto_test_ask_share(t, &s, 1, 30, job.checksum).status);
    sotto_test_service_close(&s);
}

typedef struct question {
    sotto_server *server;
    const sotto_server_task *task;
    uint64_t first, end, verified;
    bool history;
    sotto_rate found;
} question;

static sotto_status ask_rate(sotto_tx *tx, void *context, sotto_err *err)
{
    question *q = context;
    sotto_batch_range range = {false, q->first, q->end, {{0}, 0}};

    return sotto_rate_check(tx, &q->found, q->task, &range, q->verified, q->history, err);
}

static sotto_rate rate_of(sotto_test *t, question q)
{
    CHECK_OK(t, sotto_db_run(q.server->db, ask_rate, &q, &t->err));
    return q.found;
}

/* An option: without a population, or below it, what earlier batches of the task had. */
static void a_batch_is_compared_with_earlier_ones(sotto_test *t)
{
    sotto_test_service s;
    char sql[300];
    question q = {.history = true};

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    q.server = s.helper;
    q.task = sotto_tasks_find(s.helper->tasks, s.task.id);
    q.first = s.bucket, q.end = s.bucket + 1, q.verified = 21;
    CHECK_EQUAL(t, SOTTO_RATE_OFF, rate_of(t, q).checking); /* none went yet */
    (void)snprintf(
        sql, sizeof sql,
        "INSERT INTO release (n, task, id, state, first_bucket, end_bucket, batch, query,"
        " reports, added) VALUES (7, %lld, CAST('x' AS {bytes}), %d, %llu, %llu,"
        " CAST('' AS {bytes}), CAST('' AS {bytes}), 20, 1)",
        (long long)q.task->n, (int)SOTTO_RELEASE_DONE, (unsigned long long)(s.bucket - 4),
        (unsigned long long)(s.bucket - 2));
    sotto_test_do(t, s.helper->db, sql); /* ten a bucket */
    CHECK(t, rate_of(t, q).held && rate_of(t, q).expected == 10);
    q.verified = 20;
    CHECK(t, !rate_of(t, q).held && rate_of(t, q).checking == SOTTO_RATE_PASSED);
    q.end = s.bucket + 3,
    q.verified = 60; /* a batch of three buckets may have three times as many */
    CHECK(t, !rate_of(t, q).held && rate_of(t, q).expected == 30);
    held_population(t, &s, false, 5);
    CHECK(t, rate_of(t, q).held && rate_of(t, q).expected == 5);
    held_population(t, &s, false, 1000);
    q.verified = 61;
    CHECK(t, rate_of(t, q).held);
    q.history = false;
    CHECK(t, !rate_of(t, q).held);
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_batch_is_compared_with_earlier_ones),
        CASE(twice_the_expected_number_is_released),
        CASE(tasks_of_an_analysis_have_the_same_slots),
        CASE(a_batch_of_one_slot_is_held_by_what_a_slot_explains),
        CASE(one_more_is_held_until_the_leaders_operator_gives_a_reason),
        CASE(the_helper_holds_by_its_own_figure),
        CASE(a_reason_covers_no_more_than_it_was_given_for),
        CASE(refused_reports_count_too),
        CASE(junk_holds_no_batch),
        CASE(acknowledged_reports_count_though_they_fail_later),
        CASE(a_corrected_population_counts_at_once),
        CASE(what_was_collected_is_not_released_again),
        CASE(a_list_says_held_no_longer_than_it_is),
        CASE(a_reason_is_given_once),
        CASE(however_many_were_held_all_are_listed),
        CASE(the_leaders_operator_is_told_of_a_held_batch),
        CASE(the_helpers_operator_is_told_of_a_held_batch),
    };

    return RUN_TESTS(argc, argv, cases);
}
