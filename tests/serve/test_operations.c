/* The operations port, and the end of a server. */
#define _POSIX_C_SOURCE 200809L
#include "serve/host/health.h"
#include "serve/host/operations.h"
#include "serve/tasks/metrics.h"
#include "support/database.h"
#include "support/steps.h"
#include "transport/http_server.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void nap(void)
{
    struct timespec moment = {0, 20000000};

    (void)nanosleep(&moment, NULL);
}

static sotto_http_response ask(sotto_test *t, sotto_http_client *client, const sotto_server *server,
                               sotto_http_method method, const char *page, const char *token)
{
    sotto_http_response response = {0};
    char url[128], bearer[128];
    sotto_http_field field = {"Authorization", bearer};

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/%s",
                   sotto_operations_port(server->host->operations), page);
    (void)snprintf(bearer, sizeof bearer, "Bearer %s", token ? token : "");
    CHECK_OK(t, sotto_http_call_wait(client, &response,
                                     &(sotto_http_call){.method = method,
                                                        .url = url,
                                                        .fields = &field,
                                                        .field_count = token ? 1 : 0,
                                                        .attempts = 1},
                                     &t->arena, &t->err));
    return response;
}

/* What a page says a moment later: a thread looks once a second. */
static bool soon_says(sotto_test *t, sotto_test_service *s, const sotto_server *server,
                      const char *page, const char *text)
{
    uint64_t until = 0;

    do {
        sotto_http_response r = ask(t, s->client, server, SOTTO_HTTP_GET, page, NULL);

        if (sotto_test_says(&r, text))
            return true;
    } while (sotto_test_waits(&until, 20));
    return false;
}

/* ---- health ------------------------------------------------------------------------------------------------------ */

static atomic_bool go_on;

static void block(void *context, sotto_worker *worker)
{
    (void)context, (void)worker;
    while (!atomic_load(&go_on))
        nap();
}

static void health_answers_while_every_worker_is_busy(sotto_test *t)
{
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    atomic_store(&go_on, false);
    for (int i = 0; i < 8; i++)
        CHECK_OK(t, sotto_pool_post(s.leader->pool, block, NULL, &t->err));
    CHECK_EQUAL(t, 200, ask(t, s.client, s.leader, SOTTO_HTTP_GET, "healthz", NULL).status);
    CHECK_EQUAL(t, 200, ask(t, s.client, s.leader, SOTTO_HTTP_GET, "metrics", NULL).status);
    CHECK_EQUAL(t, 404, ask(t, s.client, s.leader, SOTTO_HTTP_GET, "tasks", NULL).status);
    CHECK_EQUAL(t, 405, ask(t, s.client, s.leader, SOTTO_HTTP_POST, "healthz", NULL).status);
    atomic_store(&go_on, true);
    sotto_test_service_close(&s);
}

static void readiness_says_what_is_missing(sotto_test *t)
{
    sotto_test_service s;
    sotto_server *empty;
    uint8_t memory[64];
    sotto_buf ids = sotto_buf_over(memory, sizeof memory);
    static sotto_mistakes mistakes;
    sotto_http_response r;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    CHECK(t, soon_says(t, &s, s.helper, "readyz", "rate check: off for 1 task without"));
    empty = sotto_test_helper_twin(t, &s);
    r = ask(t, s.client, empty, SOTTO_HTTP_GET, "readyz", NULL);
    CHECK_EQUAL(t, 200, r.status);
    CHECK(t, sotto_test_says(&r, "tasks: none yet"));
    CHECK_OK(t, sotto_tasks_add(empty->db, empty->columns, SOTTO_HELPER,
                                sotto_bytes_of(s.recipe_text, strlen(s.recipe_text)),
                                sotto_bytes_of(s.parties_text, strlen(s.parties_text)), 1000,
                                sotto_bytes_of(NULL, 0), &ids, &mistakes, &t->err));
    CHECK(t, soon_says(t, &s, empty, "readyz", "pairing: 1 task waits"));
    r = ask(t, s.client, empty, SOTTO_HTTP_GET, "readyz", NULL);
    CHECK(t, !sotto_test_says(&r, "rate check"));
    CHECK_OK(t, sotto_pairing_put(empty->db, empty->columns, &s.pairing, &t->err));
    CHECK(t, soon_says(t, &s, empty, "metrics", "sotto_tasks{state=\"paired\"} 1"));
    sotto_server_close(empty);
    sotto_test_service_close(&s);
}

static void count_broken(void *context, const sotto_log_event *event)
{
    atomic_uint *count = context;

    if (strcmp(event->name, "task.broken") == 0)
        atomic_fetch_add(count, 1);
}

/* Rows that this version can't read, older than all others: they are passed over, said once, and shown. */
static void a_task_that_does_not_compile_keeps_no_other_from_being_served(sotto_test *t)
{
    static const char bad[] =
        "INSERT INTO task (n, id, role, recipe, parties, cohort, population, added) VALUES"
        " (1, CAST('one' AS {bytes}), 2, CAST('no recipe' AS {bytes}), CAST('' AS {bytes}), 0, 5, "
        "1),"
        " (2, CAST('two' AS {bytes}), 2, CAST('' AS {bytes}), CAST('no task' AS {bytes}), 0, 5, 1)";
    atomic_uint broken = 0;
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    s.leader_options.host.log = (sotto_log_sink){.write = count_broken, .context = &broken};
    sotto_test_do(t, s.leader->db, bad);
    sotto_test_leader_restart(t, &s);
    CHECK(t, sotto_tasks_find(s.leader->tasks, s.task.id) != NULL);
    CHECK_EQUAL(t, 2, sotto_tasks_broken(s.leader->tasks));
    CHECK(t, soon_says(t, &s, s.leader, "readyz",
                       "tasks: 2 can't be read, or do not go with their pairing"));
    CHECK(t, soon_says(t, &s, s.leader, "metrics", "sotto_tasks{state=\"broken\"} 2\n"));
    CHECK(t, soon_says(t, &s, s.leader, "metrics", "sotto_tasks{state=\"paired\"} 1\n"));
    sotto_test_pause_ms(2500); /* in which the thread looks twice and reads nothing */
    CHECK_EQUAL(t, 2, atomic_load(&broken));
    CHECK_OK(t, sotto_tasks_refresh(s.leader->tasks, &t->err));
    CHECK_EQUAL(t, 2, atomic_load(&broken));
    sotto_test_service_close(&s);
}

static void a_view_without_a_database_is_not_ready(sotto_test *t)
{
    uint8_t memory[512];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);

    CHECK(t, !sotto_health_view_describe(&(sotto_health_view){0}, &out));
    CHECK(t, sotto_health_view_describe(&(sotto_health_view){.database = true}, &out));
    CHECK(t, !sotto_health_view_describe(&(sotto_health_view){.database = true, .draining = true},
                                         &out));
}

typedef struct reader {
    sotto_db *db;
    pthread_t thread;
    atomic_bool began;
    sotto_status status;
} reader;

static sotto_status keep_reading(sotto_tx *tx, void *context, sotto_err *err)
{
    reader *r = context;

    (void)tx, (void)err;
    atomic_store(&r->began, true);
    while (!atomic_load(&go_on))
        nap();
    return SOTTO_OK;
}

static void *read_on(void *context)
{
    reader *r = context;

    r->status = sotto_db_read(r->db, keep_reading, r, NULL);
    return NULL;
}

/* A look that does not come back, as when the database is gone and the store is still patient: here, since others have all
 * connections that read. */
static void a_database_that_does_not_answer_is_not_called_reachable(sotto_test *t)
{
    enum { READERS = 2 };
    reader readers[READERS] = {{0}};
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    CHECK(t, soon_says(t, &s, s.helper, "metrics", "sotto_database_reachable 1"));
    atomic_store(&go_on, false);
    for (size_t i = 0; i < READERS; i++) {
        readers[i].db = s.helper->db;
        CHECK_EQUAL(t, 0, pthread_create(&readers[i].thread, NULL, read_on, &readers[i]));
        while (!atomic_load(&readers[i].began))
            nap();
    }
    CHECK(t, soon_says(t, &s, s.helper, "readyz", "database: can't be reached"));
    CHECK_EQUAL(t, 503, ask(t, s.client, s.helper, SOTTO_HTTP_GET, "readyz", NULL).status);
    CHECK(t, soon_says(t, &s, s.helper, "metrics", "sotto_database_reachable 0"));
    atomic_store(&go_on, true);
    for (size_t i = 0; i < READERS; i++) {
        CHECK_EQUAL(t, 0, pthread_join(readers[i].thread, NULL));
        CHECK_EQUAL(t, SOTTO_OK, readers[i].status);
    }
    CHECK(t, soon_says(t, &s, s.helper, "metrics", "sotto_database_reachable 1"));
    CHECK_EQUAL(t, 200, ask(t, s.client, s.helper, SOTTO_HTTP_GET, "readyz", NULL).status);
    sotto_test_service_close(&s);
}

/* ---- a helper that does not answer ----------------------------------------------------------------------------------- */

typedef struct retries {
    atomic_uint seen, with_task, hinted;
    char task[SOTTO_DAP_ID_TEXT_MAX];
} retries;

static void note_retry(void *context, const sotto_log_event *event)
{
    retries *r = context;

    if (strcmp(event->name, "job.retried") != 0)
        return;
    for (size_t i = 0; i < event->count; i++) {
        const sotto_log_field *f = &event->fields[i];

        if (strcmp(f->key, "task") == 0 && strcmp(f->value.text, r->task) == 0)
            atomic_fetch_add(&r->with_task, 1);
        if (strcmp(f->key, "reason") == 0 && strstr(f->value.text, "404: does it have the task?"))
            atomic_fetch_add(&r->hinted, 1);
    }
    atomic_fetch_add(&r->seen, 1);
}

static void add_to_helper(sotto_test *t, sotto_test_service *s)
{
    uint8_t memory[64];
    sotto_buf ids = sotto_buf_over(memory, sizeof memory);
    static sotto_mistakes mistakes;

    CHECK_OK(t, sotto_tasks_add(s->helper->db, s->helper->columns, SOTTO_HELPER,
                                sotto_bytes_of(s->recipe_text, strlen(s->recipe_text)),
                                sotto_bytes_of(s->parties_text, strlen(s->parties_text)), 1000,
                                sotto_bytes_of(NULL, 0), &ids, &mistakes, &t->err));
}

/* Twelve reports are acknowledged that nobody can verify: who looks must see it, and see why. */
static void a_leader_says_that_its_helper_lacks_the_task(sotto_test *t)
{
    static retries seen;
    sotto_test_service s;
    sotto_http_response r;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = 5});
    sotto_dap_id_encode(seen.task, sotto_bytes_of(s.task.id, sizeof s.task.id));
    s.leader_options.host.log = (sotto_log_sink){.write = note_retry, .context = &seen};
    sotto_test_leader_restart(t, &s);
    r = ask(t, s.client, s.leader, SOTTO_HTTP_GET, "readyz", NULL);
    CHECK(t, !sotto_test_says(&r, "jobs: "));
    CHECK_OK(t, sotto_db_run(s.helper->db, sotto_test_say,
                             (void *)(uintptr_t) "DELETE FROM task WHERE role = 3", &t->err));
    sotto_test_helper_restart(t, &s);
    CHECK_EQUAL(
        t, 200,
        sotto_test_upload(t, &s, sotto_test_sealed_reports(t, &s, 12, 1, SOTTO_TEST_SOUND)).status);
    CHECK(t, soon_says(t, &s, s.leader, "readyz",
                       "jobs: 1 wait for another try, the last since: the helper said 404: does it "
                       "have the task?"));
    r = ask(t, s.client, s.leader, SOTTO_HTTP_GET, "readyz", NULL);
    CHECK_EQUAL(t, 200, r.status); /* uploads are taken, and none is lost */
    CHECK(t, soon_says(t, &s, s.leader, "metrics", "sotto_jobs_unanswered 1\n"));
    CHECK(t, soon_says(t, &s, s.leader, "metrics", "sotto_reports_in_jobs 12\n"));
    CHECK(t, atomic_load(&seen.seen) > 0);
    CHECK_EQUAL(t, atomic_load(&seen.seen), atomic_load(&seen.with_task));
    CHECK_EQUAL(t, atomic_load(&seen.seen), atomic_load(&seen.hinted));
    add_to_helper(t, &s);
    for (int i = 0; i < 10 && !soon_says(t, &s, s.leader, "metrics", "sotto_jobs_unanswered 0\n");)
        i++;
    CHECK(t, soon_says(t, &s, s.leader, "metrics", "sotto_reports_in_jobs 0\n"));
    r = ask(t, s.client, s.leader, SOTTO_HTTP_GET, "readyz", NULL);
    CHECK(t, !sotto_test_says(&r, "jobs: "));
    sotto_test_service_close(&s);
}

static void a_leader_says_that_its_helper_is_away(sotto_test *t)
{
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = 5});
    sotto_test_helper_stop(t, &s);
    sotto_test_upload_some(t, &s, 12, 1, SOTTO_TEST_SOUND);
    CHECK(t, soon_says(t, &s, s.leader, "readyz",
                       "jobs: 1 wait for another try, the last since: the helper does not answer"));
    sotto_test_helper_start(t, &s);
    for (int i = 0; i < 10 && !soon_says(t, &s, s.leader, "metrics", "sotto_jobs_unanswered 0\n");)
        i++;
    CHECK(t, soon_says(t, &s, s.leader, "metrics", "sotto_reports_aggregated_total 12\n"));
    sotto_test_service_close(&s);
}

/* ---- metrics --------------------------------------------------------------------------------------------------------- */

static void metrics_say_what_runs_and_what_it_uses(sotto_test *t)
{
    sotto_test_service s;
    sotto_http_response r;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    r = ask(t, s.client, s.helper, SOTTO_HTTP_GET, "metrics", NULL);
    CHECK(t,
          sotto_test_says(&r, "sotto_build_info{version=\"" SOTTO_VERSION "\",service=\"helper\""));
    CHECK(t, sotto_test_says(&r, sotto_test_on_postgres() ? "database=\"postgres\"} 1\n"
                                                          : "database=\"sqlite\"} 1\n"));
    CHECK(t, sotto_test_says(&r, "\nprocess_start_time_seconds "));
    CHECK(t, sotto_test_says(&r, "\nprocess_cpu_seconds_total "));
    CHECK(t, sotto_test_says(&r, "\nprocess_resident_memory_bytes "));
    CHECK(t, sotto_test_says(&r, "\nprocess_open_fds "));
    CHECK(t, sotto_test_says(&r, "\nprocess_max_fds "));
    CHECK(t, !sotto_test_says(&r, "sotto_certificate_expiry_seconds")); /* it has none */
    sotto_test_service_close(&s);
}

static void metrics_count_reports_by_cause(sotto_test *t)
{
    sotto_http_server_counts http;
    sotto_test_service s;
    uint64_t reports, counts[16];
    char line[96];

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_delay_ms = 5});
    for (int i = 0; i < 20; i++)
        CHECK_EQUAL(
            t, 200,
            sotto_test_upload(t, &s, sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND)).status);
    (void)sotto_test_upload(t, &s, sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_BAD_LEADER_SEAL));
    (void)sotto_test_upload(t, &s, sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_BAD_PROOF));
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK(t, soon_says(t, &s, s.leader, "metrics", "sotto_reports_accepted_total 21\n"));
    CHECK(t, soon_says(t, &s, s.leader, "metrics", "sotto_reports_aggregated_total 20\n"));
    CHECK(t,
          soon_says(
              t, &s, s.leader, "metrics",
              "sotto_reports_rejected_total{cause=\"hpke_decrypt_error\",found_by=\"self\"} 1\n"));
    CHECK(t,
          soon_says(
              t, &s, s.leader, "metrics",
              "sotto_reports_rejected_total{cause=\"vdaf_verify_error\",found_by=\"helper\"} 1\n"));
    CHECK(t,
          soon_says(t, &s, s.leader, "metrics", "sotto_collection_jobs_total{event=\"done\"} 1\n"));
    CHECK(t, soon_says(t, &s, s.helper, "metrics", "sotto_reports_accepted_total 20\n"));
    /* 22 uploads and a collection, which may be there with the first request. */
    sotto_http_server_count(s.leader->host->http, &http);
    CHECK(t, http.answers[0] >= 23 && http.answers[2] == 0);
    CHECK_EQUAL(t, 404,
                sotto_test_request(t, &s, true, SOTTO_HTTP_GET, "nothing", SOTTO_DAP_MESSAGES, NULL,
                                   sotto_bytes_of(NULL, 0))
                    .status);
    CHECK(t,
          soon_says(t, &s, s.leader, "metrics", "sotto_http_responses_total{status=\"4xx\"} 1\n"));
    CHECK(t,
          soon_says(t, &s, s.leader, "metrics", "# TYPE sotto_http_request_seconds histogram\n"));
    sotto_http_server_count(s.leader->host->http, &http);
    (void)snprintf(line, sizeof line, "sotto_http_request_seconds_bucket{le=\"+Inf\"} %llu\n",
                   (unsigned long long)(http.answers[0] + http.answers[2]));
    CHECK(t, soon_says(t, &s, s.leader, "metrics", line));
    CHECK(t, soon_says(t, &s, s.leader, "metrics", "# TYPE sotto_step_seconds histogram\n"));
    (void)snprintf(
        line, sizeof line, "sotto_step_seconds_bucket{queue=\"jobs\",le=\"+Inf\"} %llu\n",
        (unsigned long long)sotto_metrics_get(s.leader->metrics, SOTTO_METRIC_JOBS_SENT));
    CHECK(t, soon_says(t, &s, s.leader, "metrics", line));
    CHECK(t,
          soon_says(t, &s, s.leader, "metrics", "sotto_step_seconds_sum{queue=\"collections\"}"));
    CHECK_EQUAL(t, sotto_metrics_get(s.leader->metrics, SOTTO_METRIC_JOBS_FORMED),
                sotto_metrics_get(s.leader->metrics, SOTTO_METRIC_JOBS_FINISHED));
    CHECK(t, sotto_metrics_get(s.helper->metrics, SOTTO_METRIC_JOBS_ANSWERED) > 0);
    sotto_test_service_close(&s);
}

/* ---- the end --------------------------------------------------------------------------------------------------------- */

typedef struct answers {
    atomic_uint given, good;
} answers;

static void on_answer(void *context, sotto_status status, const sotto_http_response *response,
                      const sotto_err *err)
{
    answers *a = context;

    (void)err;
    if (status == SOTTO_OK && response->status == 200)
        (void)atomic_fetch_add(&a->good, 1);
    (void)atomic_fetch_add(&a->given, 1);
}

static void draining_finishes_what_was_accepted(sotto_test *t)
{
    enum { UPLOADS = 40 };
    static answers a;
    sotto_test_service s;
    sotto_http_response r;
    char url[512], id[SOTTO_DAP_ID_TEXT_MAX];
    sotto_http_field type = {"Content-Type", sotto_dap_media_type(SOTTO_DAP_UPLOAD_REQ)};

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    sotto_dap_id_encode(id, sotto_bytes_of(s.task.id, sizeof s.task.id));
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/tasks/%s/reports",
                   sotto_server_port(s.leader), id);
    for (int i = 0; i < UPLOADS; i++) {
        sotto_bytes body = sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND);

        CHECK_OK(t, sotto_http_call_start(s.client,
                                          &(sotto_http_call){.method = SOTTO_HTTP_POST,
                                                             .url = url,
                                                             .fields = &type,
                                                             .field_count = 1,
                                                             .body = body,
                                                             .attempts = 1},
                                          on_answer, &a, &t->err));
    }
    while (atomic_load(&a.good) == 0)
        nap();
    CHECK_OK(t, sotto_server_drain(s.leader, 10000, &t->err));
    r = ask(t, s.client, s.leader, SOTTO_HTTP_GET, "readyz", NULL);
    CHECK_EQUAL(t, 503, r.status);
    CHECK(t, sotto_test_says(&r, "draining"));
    CHECK_EQUAL(t, 200, ask(t, s.client, s.leader, SOTTO_HTTP_GET, "healthz", NULL).status);
    while (atomic_load(&a.given) < UPLOADS)
        nap();
    /* Whatever was taken in was answered, and nothing else was. */
    CHECK_EQUAL(t, atomic_load(&a.good),
                sotto_test_ask_number(t, s.leader->db, "SELECT count(*) FROM mark"));
    sotto_test_service_close(&s);
}

static void set_flag(void *context)
{
    atomic_store((atomic_bool *)context, true);
}

static void draining_takes_the_datastore_key(sotto_test *t)
{
    static atomic_bool asked;
    char token[SOTTO_DRAIN_TOKEN];
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){0});
    s.leader->host->options.on_drain = set_flag;
    s.leader->host->options.drain_context = &asked;
    sotto_operations_token(token, s.leader->columns);
    CHECK_EQUAL(t, 401, ask(t, s.client, s.leader, SOTTO_HTTP_POST, "drain", NULL).status);
    token[0] ^= 1;
    CHECK_EQUAL(t, 401, ask(t, s.client, s.leader, SOTTO_HTTP_POST, "drain", token).status);
    CHECK(t, !atomic_load(&asked));
    token[0] ^= 1;
    CHECK_EQUAL(t, 202, ask(t, s.client, s.leader, SOTTO_HTTP_POST, "drain", token).status);
    CHECK(t, atomic_load(&asked));
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(health_answers_while_every_worker_is_busy),
        CASE(readiness_says_what_is_missing),
        CASE(a_task_that_does_not_compile_keeps_no_other_from_being_served),
        CASE(a_view_without_a_database_is_not_ready),
        CASE(a_database_that_does_not_answer_is_not_called_reachable),
        CASE(a_leader_says_that_its_helper_lacks_the_task),
        CASE(a_leader_says_that_its_helper_is_away),
        CASE(metrics_say_what_runs_and_what_it_uses),
        CASE(metrics_count_reports_by_cause),
        CASE(draining_finishes_what_was_accepted),
        CASE(draining_takes_the_datastore_key),
    };

    return RUN_TESTS(argc, argv, cases);
}
