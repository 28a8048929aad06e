/* A leader and a helper that follow a script, over real HTTP. */
#include "base/clock.h"
#include "dap/rejections.h"
#include "support/collection.h"
#include "transport/http_server.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 8, SEEN = 16 };

#define COLLECTOR_TOKEN "collector-token"
#define REJECTION_TOKEN "rejection-token"

/* What the leader does at each request about collection jobs. The last step is repeated. */
typedef struct step {
    unsigned status;
    const char *location; /* "JOB": where ours are; else as it stands; NULL: none */
    const char *retry_after;
    const char *type; /* NULL: collection-job-resp, or a problem for a status of 400 and more */
    bool ready;       /* with the answer */
    const char *body; /* else this one; may be NULL */
} step;

typedef struct seen {
    sotto_http_method method;
    char path[256], authorization[128], type[64];
} seen;

typedef struct stage {
    sotto_test_collection c;
    sotto_http_server *server;
    pthread_mutex_t lock;
    step steps[STEPS];
    size_t step_count, at;
    seen requests[SEEN];
    size_t seen_count;
    sotto_bytes answer;
    char job_path[256], share_path[256], leader_url[64];
    unsigned rejections_status;
    const char *rejections;
    sotto_collector_options options;
} stage;

static stage s;

static bool on_head(void *context, sotto_http_request *request, size_t *max_body)
{
    (void)context;
    (void)request;
    *max_body = 4096;
    return true;
}

static void copy_text(char *out, size_t size, sotto_bytes text)
{
    size_t len = text.len < size - 1 ? text.len : size - 1;

    memcpy(out, text.data, len);
    out[len] = 0;
}

static seen *record(sotto_http_request *request)
{
    seen *r = &s.requests[s.seen_count < SEEN ? s.seen_count++ : SEEN - 1];
    sotto_bytes value;
    size_t len = 0;

    memset(r, 0, sizeof *r);
    r->method = sotto_http_request_method(request);
    for (size_t i = 0; i < sotto_http_request_segments(request); i++) {
        sotto_bytes part = sotto_http_request_segment(request, i);

        len += (size_t)snprintf(r->path + len, sizeof r->path - len, "/%.*s", (int)part.len,
                                (const char *)part.data);
    }
    if (sotto_http_request_field(request, "authorization", &value))
        copy_text(r->authorization, sizeof r->authorization, value);
    if (sotto_http_request_field(request, "content-type", &value))
        copy_text(r->type, sizeof r->type, value);
    return r;
}

static void follow(sotto_http_request *request, const step *now)
{
    sotto_http_field fields[3];
    size_t count = 0;
    char problem[160];
    sotto_bytes body = {NULL, 0};

    if (now->location)
        fields[count++] = (sotto_http_field){
            "Location", strcmp(now->location, "JOB") == 0 ? s.job_path : now->location};
    if (now->retry_after)
        fields[count++] = (sotto_http_field){"Retry-After", now->retry_after};
    if (now->ready) {
        body = s.answer;
        fields[count++] = (sotto_http_field){
            "Content-Type",
            now->type ? now->type : sotto_dap_media_type(SOTTO_DAP_COLLECTION_JOB_RESP)};
    } else if (now->body) {
        (void)snprintf(problem, sizeof problem, "{\"type\":\"%s\"}", now->body);
        body = sotto_bytes_of(problem, strlen(problem));
        fields[count++] = (sotto_http_field){"Content-Type", SOTTO_HTTP_PROBLEM_TYPE};
    }
    sotto_http_answer(request, &(sotto_http_reply){now->status, fields, count, body});
}

static void on_body(void *context, sotto_http_request *request)
{
    sotto_http_field json[] = {{"Content-Type", "application/json"}};
    const seen *r;
    step now;

    (void)context;
    (void)pthread_mutex_lock(&s.lock);
    r = record(request);
    now = s.steps[s.at];
    if (strstr(r->path, "/rejections/") || strstr(r->path, "/helper/")) {
        unsigned status = s.rejections_status;
        bool known = strstr(r->path, "/helper/") == NULL || strcmp(r->path, s.share_path) == 0;

        (void)pthread_mutex_unlock(&s.lock);
        sotto_http_answer(request,
                          &(sotto_http_reply){known ? status : 404, json, 1,
                                              sotto_bytes_of(s.rejections, strlen(s.rejections))});
        return;
    }
    if (s.at + 1 < s.step_count)
        s.at++;
    (void)pthread_mutex_unlock(&s.lock);
    follow(request, &now);
}

static const sotto_http_handler handler = {.head = on_head, .body = on_body};

static void set(sotto_test *t, const step *steps, size_t count)
{
    char task[SOTTO_DAP_ID_TEXT_MAX], id[SOTTO_DAP_ID_TEXT_MAX];
    uint8_t share[SOTTO_RESOURCE_ID_SIZE];
    static char leader[64], helper[64];
    unsigned port;

    memset(&s, 0, sizeof s);
    (void)pthread_mutex_init(&s.lock, NULL);
    memcpy(s.steps, steps, count * sizeof *steps);
    s.step_count = count;
    s.rejections_status = 200;
    s.rejections = "{\"rejections\":{\"report_replayed\":3}}";
    sotto_test_collection_init(t, &s.c);
    s.answer = sotto_test_collection_answer(t, &s.c);
    CHECK_OK(t, sotto_http_server_open(&s.server, &(sotto_http_server_options){.port = 0}, &handler,
                                       NULL, &t->err));
    port = sotto_http_server_port(s.server);
    (void)snprintf(leader, sizeof leader, "http://127.0.0.1:%u/leader/", port);
    (void)snprintf(helper, sizeof helper, "http://127.0.0.1:%u/helper", port);
    s.c.task.leader_url = sotto_bytes_of(leader, strlen(leader));
    s.c.task.helper_url = sotto_bytes_of(helper, strlen(helper));
    sotto_dap_id_encode(task, sotto_bytes_of(s.c.task.id, sizeof s.c.task.id));
    (void)snprintf(s.job_path, sizeof s.job_path,
                   "/leader/tasks/%s/collection_jobs/AAAAAAAAAAAAAAAAAAAAAA", task);
    sotto_dap_rejections_id(share, sotto_test_collection_share(t, s.answer));
    sotto_dap_id_encode(id, sotto_bytes_of(share, sizeof share));
    (void)snprintf(s.share_path, sizeof s.share_path, "/helper/tasks/%s/rejections/%s", task, id);
    s.options = (sotto_collector_options){
        .task = &s.c.task,
        .key = &s.c.key,
        .collector_token = COLLECTOR_TOKEN,
        .rejection_token = REJECTION_TOKEN,
        .deadline_ms = 60000,
    };
}

static sotto_collection got;
static uint64_t asked_ms; /* how long that took */

static sotto_status ask(sotto_test *t, sotto_err *err)
{
    uint64_t began = sotto_clock_monotonic(&sotto_clock_system);
    sotto_collector *collector;
    sotto_status status;

    t->err = (sotto_err){0};
    SOTTO_TRY(sotto_collector_open(&collector, &s.options, err));
    status = sotto_collector_ask(collector, &got, &s.c.query, &t->arena, err);
    asked_ms = (sotto_clock_monotonic(&sotto_clock_system) - began) / 1000000;
    sotto_collector_close(collector);
    return status;
}

static void end(void)
{
    sotto_http_server_close(s.server);
    (void)pthread_mutex_destroy(&s.lock);
}

#define SET(t, ...)                                                                                \
    set(t, (const step[]){__VA_ARGS__}, sizeof((const step[]){__VA_ARGS__}) / sizeof(step))

static void an_answer_that_is_ready_is_taken_at_once(sotto_test *t)
{
    SET(t, {.status = 201, .location = "JOB", .ready = true});
    CHECK_OK(t, ask(t, &t->err));
    CHECK_EQUAL(t, 100, got.reports);
    CHECK_EQUAL(t, s.c.sums[7], got.sums[7].low);
    CHECK_EQUAL(t, SOTTO_HTTP_POST, s.requests[0].method);
    CHECK(t, strcmp("Bearer " COLLECTOR_TOKEN, s.requests[0].authorization) == 0);
    CHECK(t, sotto_dap_media_type_is(SOTTO_DAP_COLLECTION_JOB_REQ, s.requests[0].type));
    end();
}

static void a_job_is_polled_where_the_leader_says(sotto_test *t)
{
    SET(t, {.status = 201, .location = "JOB"}, {.status = 202}, {.status = 200},
        {.status = 200, .ready = true});
    CHECK_OK(t, ask(t, &t->err));
    CHECK_EQUAL(t, SOTTO_HTTP_GET, s.requests[1].method);
    CHECK(t, strcmp(s.job_path, s.requests[1].path) == 0);
    CHECK(t, strcmp(s.job_path, s.requests[3].path) == 0);
    CHECK(t, strstr(got.job, s.job_path) != NULL);
    end();
}

static void counts_come_from_both_servers_with_a_token_each(sotto_test *t)
{
    SET(t, {.status = 201, .location = "JOB", .ready = true});
    CHECK_OK(t, ask(t, &t->err));
    CHECK(t, got.leader.known && got.helper.known);
    CHECK_EQUAL(t, 3, got.leader.items[0].reports);
    CHECK_EQUAL(t, 3, got.helper.items[0].reports);
    CHECK_EQUAL(t, 3, s.seen_count);
    /* Both are asked at the same time. */
    const size_t helper = strcmp(s.share_path, s.requests[1].path) == 0 ? 1 : 2;
    CHECK(t, strcmp("Bearer " COLLECTOR_TOKEN, s.requests[3 - helper].authorization) == 0);
    CHECK(t, strcmp("Bearer " REJECTION_TOKEN, s.requests[helper].authorization) == 0);
    CHECK(t, strcmp(s.share_path, s.requests[helper].path) == 0);
    end();
}

static void servers_that_do_not_count_are_said_not_to(sotto_test *t)
{
    SET(t, {.status = 201, .location = "JOB", .ready = true});
    s.rejections_status = 404;
    CHECK_OK(t, ask(t, &t->err));
    CHECK(t, !got.leader.known && !got.helper.known);
    CHECK(t, strstr(got.helper.why, "does not tell") != NULL);
    s.rejections_status = 200;
    s.rejections = "{\"rejections\":{\"\\u001b\":1}}";
    CHECK_OK(t, ask(t, &t->err));
    CHECK(t, !got.helper.known && got.helper.count == 0);
    s.options.rejection_token = NULL;
    CHECK_OK(t, ask(t, &t->err));
    CHECK(t, strstr(got.helper.why, "not asked") != NULL);
    end();
}

/* Nobody asks for counts of a result that could not be opened. */
static void without_a_result_there_are_no_counts(sotto_test *t)
{
    SET(t, {.status = 201, .location = "JOB", .ready = true});
    s.c.apart = true;
    s.answer = sotto_test_collection_answer(t, &s.c);
    CHECK_STATUS(t, SOTTO_REJECTED, ask(t, &t->err));
    CHECK_EQUAL(t, 1, s.seen_count);
    CHECK(t, !got.leader.known && !got.helper.known);
    end();
}

static void a_batch_that_stays_unready_ends_at_the_deadline(sotto_test *t)
{
    SET(t, {.status = 201, .location = "JOB"}, {.status = 202});
    s.options.deadline_ms = 3000;
    CHECK_STATUS(t, SOTTO_AGAIN, ask(t, &t->err));
    CHECK(t, s.seen_count >= 3);
    CHECK(t, asked_ms >= 3000);
    end();
}

/* All the time that there is, and one question at the end of it. */
static void a_wait_beyond_the_deadline_ends_with_it(sotto_test *t)
{
    SET(t, {.status = 201, .location = "JOB", .retry_after = "600"});
    s.options.deadline_ms = 700;
    CHECK_STATUS(t, SOTTO_AGAIN, ask(t, &t->err));
    CHECK_EQUAL(t, 2, s.seen_count);
    CHECK(t, asked_ms >= 700 && asked_ms < 60000);
    end();
    SET(t, {.status = 201, .location = "JOB", .retry_after = "600"},
        {.status = 200, .ready = true});
    s.options.deadline_ms = 700;
    CHECK_OK(t, ask(t, &t->err));
    CHECK_EQUAL(t, 100, got.reports);
    end();
}

static void who_asks_once_does_not_wait(sotto_test *t)
{
    SET(t, {.status = 201, .location = "JOB"}, {.status = 200, .ready = true});
    s.options.once = true;
    CHECK_STATUS(t, SOTTO_AGAIN, ask(t, &t->err));
    CHECK_EQUAL(t, 1, s.seen_count);
    CHECK_OK(t, ask(t, &t->err)); /* it was ready by the second time */
    CHECK_EQUAL(t, 100, got.reports);
    end();
}

static void retry_after_is_kept_to(sotto_test *t)
{
    SET(t, {.status = 201, .location = "JOB", .retry_after = "1"}, {.status = 200, .ready = true});
    s.options.deadline_ms = 60000;
    CHECK_OK(t, ask(t, &t->err));
    CHECK(t, asked_ms >= 1000);
    CHECK_EQUAL(t, SOTTO_HTTP_GET, s.requests[1].method);
    CHECK(t, strstr(s.requests[2].path, "/rejections/") != NULL);
    end();
}

static void problems_are_told_apart(sotto_test *t)
{
    static const struct {
        unsigned status;
        const char *body;
        sotto_status wanted;
    } cases[] = {
        {400, "urn:ietf:params:ppm:dap:error:invalidBatchSize", SOTTO_DENIED},
        {400, "urn:ietf:params:ppm:dap:error:batchOverlap", SOTTO_STALE},
        {400, "urn:ietf:params:ppm:dap:error:batchMismatch", SOTTO_REJECTED},
        {400, "urn:ietf:params:ppm:dap:error:batchInvalid", SOTTO_MALFORMED},
        {404, "urn:ietf:params:ppm:dap:error:unrecognizedTask", SOTTO_MISSING},
        {400, "urn:other", SOTTO_MALFORMED},
        {401, "about:blank", SOTTO_MISSING},
        {403, NULL, SOTTO_MISSING},
        {404, NULL, SOTTO_MISSING},
        {500, NULL, SOTTO_IO},
        {302, NULL, SOTTO_MALFORMED},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        SET(t, {.status = cases[i].status, .body = cases[i].body});
        s.options.deadline_ms = 1000;
        CHECK_STATUS(t, cases[i].wanted, ask(t, &t->err));
        end();
        sotto_arena_reset(&t->arena);
    }
}

/* Which one, so that it can be compared with the operators' lists; and what makes two of them differ. */
static void a_task_that_is_not_known_is_named(sotto_test *t)
{
    char id[SOTTO_DAP_ID_TEXT_MAX];

    SET(t, {.status = 404, .body = "urn:ietf:params:ppm:dap:error:unrecognizedTask"});
    CHECK_STATUS(t, SOTTO_MISSING, ask(t, &t->err));
    sotto_dap_id_encode(id, sotto_bytes_of(s.c.task.id, sizeof s.c.task.id));
    CHECK(t, strstr(t->err.reason, id) != NULL);
    CHECK(t, strstr(t->err.reason,
                    "recipe and servers' URLs must be byte for byte what the operators added") !=
                 NULL);
    end();
}

/* A server looks for a task when somebody asks for it. */
static void a_task_that_was_just_added_is_asked_for_again(sotto_test *t)
{
    SET(t, {.status = 404, .body = "urn:ietf:params:ppm:dap:error:unrecognizedTask"},
        {.status = 404, .body = "urn:ietf:params:ppm:dap:error:unrecognizedTask"},
        {.status = 201, .location = "JOB", .ready = true});
    CHECK_OK(t, ask(t, &t->err));
    CHECK_EQUAL(t, 100, got.reports);
    end();
}

static void a_job_that_fails_while_it_is_polled_is_told(sotto_test *t)
{
    SET(t, {.status = 201, .location = "JOB"},
        {.status = 400, .body = "urn:ietf:params:ppm:dap:error:invalidBatchSize"});
    CHECK_STATUS(t, SOTTO_DENIED, ask(t, &t->err));
    end();
}

/* Or it would be handed to whoever the leader names. */
static void the_token_goes_to_no_other_place(sotto_test *t)
{
    static const char *const places[] = {"http://127.0.0.2:1/leader/x", "//127.0.0.2/x", "x", "",
                                         "http://127.0.0.1"};

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        SET(t, {.status = 201, .location = places[i]});
        CHECK_STATUS(t, SOTTO_MALFORMED, ask(t, &t->err));
        CHECK_EQUAL(t, 1, s.seen_count);
        end();
        sotto_arena_reset(&t->arena);
    }
}

static void a_whole_url_of_the_leaders_own_is_followed(sotto_test *t)
{
    char place[320];

    SET(t, {.status = 201}, {.status = 200, .ready = true});
    (void)snprintf(place, sizeof place, "http://127.0.0.1:%u%s",
                   (unsigned)sotto_http_server_port(s.server), s.job_path);
    s.steps[0].location = place;
    CHECK_OK(t, ask(t, &t->err));
    end();
}

static void a_job_without_a_place_can_not_be_waited_for(sotto_test *t)
{
    SET(t, {.status = 201});
    CHECK_STATUS(t, SOTTO_MALFORMED, ask(t, &t->err));
    end();
}

static void another_kind_of_message_is_refused(sotto_test *t)
{
    SET(t, {.status = 200, .location = "JOB", .ready = true, .type = "text/html"});
    CHECK_STATUS(t, SOTTO_MALFORMED, ask(t, &t->err));
    end();
}

static void a_leader_that_is_down_is_told(sotto_test *t)
{
    static const char nobody[] =
        "http://127.0.0.1:1/leader/"; /* a closed port may be another's soon */

    SET(t, {.status = 200});
    s.c.task.leader_url = sotto_bytes_of(nobody, sizeof nobody - 1);
    s.options.deadline_ms = 1000;
    CHECK_STATUS(t, SOTTO_IO, ask(t, &t->err));
    CHECK_REASON(t, "the leader");
    end();
}

static void an_answer_longer_than_the_task_allows_is_cut_off(sotto_test *t)
{
    size_t size = 2 * 65536;
    uint8_t *big;

    SET(t, {.status = 200, .location = "JOB", .ready = true});
    size += 2 * s.c.task.sizes.out_share;
    big = sotto_arena_take(&t->arena, size);
    s.answer = sotto_bytes_of(big, size);
    CHECK_STATUS(t, SOTTO_MALFORMED, ask(t, &t->err));
    end();
}

static sotto_status withdraw(sotto_test *t)
{
    sotto_collector *collector;
    sotto_status status;

    t->err = (sotto_err){0};
    SOTTO_TRY(sotto_collector_open(&collector, &s.options, &t->err));
    status = sotto_collector_withdraw(collector, &s.c.query, &t->err);
    sotto_collector_close(collector);
    return status;
}

/* Nothing is asked: a question that does not stand would be asked then, and might close the batch. */
static void a_question_that_waits_is_withdrawn(sotto_test *t)
{
    SET(t, {.status = 202}, {.status = 204}, {.status = 404});
    CHECK_OK(t, withdraw(t));
    CHECK_EQUAL(t, 3, s.seen_count);
    CHECK_EQUAL(t, SOTTO_HTTP_GET, s.requests[0].method);
    CHECK_EQUAL(t, SOTTO_HTTP_DELETE, s.requests[1].method);
    CHECK_EQUAL(t, SOTTO_HTTP_GET, s.requests[2].method);
    CHECK(t, strcmp(s.requests[0].path, s.requests[1].path) == 0);
    CHECK(t, strcmp("Bearer " COLLECTOR_TOKEN, s.requests[1].authorization) == 0);
    end();
}

/* Where the leader selects its batches, deleting an answer that nobody saw would lose it. */
static void an_answer_is_not_withdrawn(sotto_test *t)
{
    SET(t, {.status = 200, .ready = true});
    CHECK_STATUS(t, SOTTO_STALE, withdraw(t));
    CHECK_EQUAL(t, 1, s.seen_count);
    end();
    SET(t, {.status = 202}, {.status = 204}, {.status = 202});
    CHECK_STATUS(t, SOTTO_STALE, withdraw(t));
    CHECK_EQUAL(t, 3, s.seen_count);
    end();
}

static void what_can_not_be_withdrawn_is_told_apart(sotto_test *t)
{
    SET(t, {.status = 404});
    CHECK_STATUS(t, SOTTO_MISSING, withdraw(t));
    CHECK_REASON(t, "no such request");
    end();
    SET(t, {.status = 404, .body = "urn:ietf:params:ppm:dap:error:unrecognizedTask"});
    CHECK_STATUS(t, SOTTO_MISSING, withdraw(t));
    CHECK_REASON(t, "task");
    end();
    SET(t, {.status = 202}, {.status = 403});
    CHECK_STATUS(t, SOTTO_MISSING, withdraw(t));
    CHECK_REASON(t, "token");
    end();
    SET(t, {.status = 202});
    s.options.janus = true;
    CHECK_STATUS(t, SOTTO_MISSING, withdraw(t));
    s.options.janus = false;
    s.c.task.batch_mode = SOTTO_DAP_LEADER_SELECTED;
    CHECK_STATUS(t, SOTTO_DENIED, withdraw(t));
    CHECK_EQUAL(t, 0, s.seen_count);
    end();
}

static void tokens_that_could_break_a_header_are_refused(sotto_test *t)
{
    sotto_collector *collector;

    SET(t, {.status = 200});
    s.options.collector_token = "a\r\nb: c";
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_collector_open(&collector, &s.options, &t->err));
    s.options.collector_token = "";
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_collector_open(&collector, &s.options, &t->err));
    end();
}

static void a_forgotten_job_is_deleted_where_it_is(sotto_test *t)
{
    sotto_collector *collector;

    SET(t, {.status = 201, .location = "JOB", .ready = true}, {.status = 204});
    CHECK_OK(t, sotto_collector_open(&collector, &s.options, &t->err));
    CHECK_OK(t, sotto_collector_ask(collector, &got, &s.c.query, &t->arena, &t->err));
    CHECK_OK(t, sotto_collector_forget(collector, &got, &t->err));
    CHECK_EQUAL(t, SOTTO_HTTP_DELETE, s.requests[3].method);
    CHECK(t, strcmp(s.job_path, s.requests[3].path) == 0);
    sotto_collector_close(collector);
    end();
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(an_answer_that_is_ready_is_taken_at_once),
        CASE(a_job_is_polled_where_the_leader_says),
        CASE(counts_come_from_both_servers_with_a_token_each),
        CASE(servers_that_do_not_count_are_said_not_to),
        CASE(without_a_result_there_are_no_counts),
        CASE(a_batch_that_stays_unready_ends_at_the_deadline),
        CASE(a_wait_beyond_the_deadline_ends_with_it),
        CASE(who_asks_once_does_not_wait),
        CASE(retry_after_is_kept_to),
        CASE(problems_are_told_apart),
        CASE(a_task_that_is_not_known_is_named),
        CASE(a_task_that_was_just_added_is_asked_for_again),
        CASE(a_job_that_fails_while_it_is_polled_is_told),
        CASE(the_token_goes_to_no_other_place),
        CASE(a_whole_url_of_the_leaders_own_is_followed),
        CASE(a_job_without_a_place_can_not_be_waited_for),
        CASE(another_kind_of_message_is_refused),
        CASE(a_leader_that_is_down_is_told),
        CASE(an_answer_longer_than_the_task_allows_is_cut_off),
        CASE(a_question_that_waits_is_withdrawn),
        CASE(an_answer_is_not_withdrawn),
        CASE(what_can_not_be_withdrawn_is_told_apart),
        CASE(tokens_that_could_break_a_header_are_refused),
        CASE(a_forgotten_job_is_deleted_where_it_is),
    };

    return RUN_TESTS(argc, argv, cases);
}
