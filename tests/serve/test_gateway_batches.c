/* Requests that come to a gateway in one call, and reports that leave it in one. */
#define _GNU_SOURCE
#include "dap/report.h"
#include "dap/upload.h"
#include "seal/ohttp/date.h"
#include "seal/ohttp/ohttp_batch.h"
#include "serve/gateway/gateway.h"
#include "serve/gateway/gateway_service.h"
#include "support/oblivious.h"
#include "support/unknown_key.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CALLS = 64, ODD_ERROR = SOTTO_REPORT_HPKE_DECRYPT_ERROR, SPOILT = 0xff };

/* Stands for a leader: it refuses reports whose ids begin with an odd number, and whole calls that have one of SPOILT. Where a path
 * has "slow", it answers when it is told to. */
typedef struct leader {
    sotto_http_server *server;
    unsigned port;
    pthread_mutex_t lock;
    size_t calls;
    size_t reports[MOST_CALLS]; /* of each call */
    bool twins;                 /* of one call */
    sotto_http_request *slow;
} leader;

static bool on_head(void *context, sotto_http_request *request, size_t *max_body)
{
    (void)context;
    (void)request;
    *max_body = 1 << 20;
    return true;
}

static void count_call(leader *l, uint8_t ids[][SOTTO_REPORT_ID_SIZE], size_t count)
{
    (void)pthread_mutex_lock(&l->lock);
    if (l->calls < MOST_CALLS)
        l->reports[l->calls++] = count;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            l->twins = l->twins || memcmp(ids[i], ids[j], sizeof ids[i]) == 0;
    (void)pthread_mutex_unlock(&l->lock);
}

static void judge(leader *l, sotto_http_request *request)
{
    static const sotto_http_field type = {"Content-Type",
                                          "application/ppm-dap;message=upload-errors"};
    uint8_t ids[MOST_CALLS][SOTTO_REPORT_ID_SIZE], text[MOST_CALLS * 17];
    sotto_buf errors = sotto_buf_over(text, sizeof text);
    sotto_reader in = sotto_reader_over(sotto_http_request_body(request));
    sotto_dap_report report;
    size_t count = 0;
    bool good = true;

    while (count < MOST_CALLS && sotto_dap_upload_req_next(&in, &report)) {
        sotto_dap_upload_status status = {.error = ODD_ERROR};

        memcpy(ids[count++], report.metadata.report_id, SOTTO_REPORT_ID_SIZE);
        memcpy(status.report_id, report.metadata.report_id, SOTTO_REPORT_ID_SIZE);
        good = good && status.report_id[0] != SPOILT;
        if (status.report_id[0] % 2 == 1)
            good = good && sotto_dap_upload_errors_add(&errors, &status, SOTTO_DAP_DRAFT18, NULL) ==
                               SOTTO_OK;
    }
    count_call(l, ids, count);
    if (!good || sotto_reader_finish(&in, "upload", NULL) != SOTTO_OK)
        sotto_http_answer(request, &(sotto_http_reply){.status = 400});
    else
        sotto_http_answer(request, &(sotto_http_reply){200, &type, errors.len > 0 ? 1 : 0,
                                                       sotto_buf_bytes(&errors)});
}

static void on_body(void *context, sotto_http_request *request)
{
    leader *l = context;

    if (!sotto_http_request_segment_is(request, 0, "slow")) {
        judge(l, request);
        return;
    }
    (void)pthread_mutex_lock(&l->lock);
    l->slow = request;
    (void)pthread_mutex_unlock(&l->lock);
}

typedef struct scene {
    leader leader;
    sotto_test_gateway gateway;
    sotto_hpke_config key;
    unsigned port;
} scene;

static void open_scene(sotto_test *t, scene *s, const char *more)
{
    static const sotto_http_handler handler = {.head = on_head, .body = on_body};

    memset(s, 0, sizeof *s);
    (void)pthread_mutex_init(&s->leader.lock, NULL);
    CHECK_OK(t, sotto_http_server_open(&s->leader.server, &(sotto_http_server_options){0}, &handler,
                                       &s->leader, &t->err));
    s->leader.port = sotto_http_server_port(s->leader.server);
    sotto_test_gateway_open(t, &s->gateway, s->leader.port, more);
    s->port = sotto_host_port(s->gateway.host);
    s->key = sotto_test_gateway_key(t, s->port);
}

static void close_scene(scene *s)
{
    sotto_host_close(s->gateway.host);
    sotto_http_server_close(s->leader.server);
    (void)pthread_mutex_destroy(&s->leader.lock);
}

/* ---- what clients send ----------------------------------------------------------------------------------------------- */

static sotto_bytes report_of(sotto_test *t, uint8_t first, uint8_t second)
{
    static const uint8_t sealed[] = "sealed";
    sotto_buf out = sotto_buf_over(sotto_arena_take(&t->arena, 512), 512);
    sotto_dap_report r = {.metadata = {.report_id = {first, second}, .time = 7},
                          .leader = {.config_id = 1,
                                     .enc = sotto_bytes_of(sealed, 6),
                                     .payload = sotto_bytes_of(sealed, 6)}};

    r.helper = r.leader;
    CHECK_OK(t, sotto_dap_report_encode(&out, &r, &t->err));
    return sotto_buf_bytes(&out);
}

static sotto_test_sealed seal(sotto_test *t, const scene *s, const char *path, sotto_bytes content,
                              uint32_t seed)
{
    const char *type = sotto_dap_media_type(SOTTO_DAP_UPLOAD_REQ);
    uint8_t lines[160];
    sotto_buf fields = sotto_buf_over(lines, sizeof lines);
    sotto_writer w = sotto_writer_on(&fields);
    char text[SOTTO_HTTP_DATE];

    sotto_http_date_write(text, sotto_test_gateway_now(&s->gateway));
    sotto_bhttp_field_write(&w, "date", sotto_bytes_of(text, sizeof text));
    sotto_bhttp_field_write(&w, "content-type", sotto_bytes_of(type, strlen(type)));
    CHECK_OK(t, sotto_writer_finish(&w, "fields", &t->err));
    return sotto_test_seal_message(t, &s->key,
                                   &(sotto_bhttp){.method = sotto_bytes_of("POST", 4),
                                                  .scheme = sotto_bytes_of("https", 5),
                                                  .authority = sotto_bytes_of("target.example", 14),
                                                  .path = sotto_bytes_of(path, strlen(path)),
                                                  .fields = sotto_buf_bytes(&fields),
                                                  .content = content},
                                   seed);
}

static sotto_bytes batch_of(sotto_test *t, const sotto_test_sealed *sealed, size_t count)
{
    const size_t room = 1 << 18;
    sotto_buf out = sotto_buf_over(sotto_arena_take(&t->arena, room), room);

    for (size_t i = 0; i < count; i++)
        CHECK_OK(t, sotto_ohttp_batch_request_add(&out, sealed[i].wire, &t->err));
    return sotto_buf_bytes(&out);
}

static sotto_test_answer post(sotto_test *t, const scene *s, sotto_bytes body)
{
    return sotto_test_post(t, s->port, NULL, SOTTO_OHTTP_BATCH_REQUEST_TYPE, body);
}

/* Posts a batch, and gets an answer for each. */
static void ask(sotto_test *t, const scene *s, const sotto_test_sealed *sealed, size_t count,
                sotto_ohttp_batch_answer *out)
{
    const sotto_test_answer answer = post(t, s, batch_of(t, sealed, count));
    uint8_t *kept = sotto_arena_take(&t->arena, answer.body_len + 1);

    CHECK_EQUAL(t, 200, answer.status);
    CHECK(t, strstr(answer.head, "Content-Type: application/sotto-ohttp-responses\r\n") != NULL);
    memcpy(kept, answer.body, answer.body_len);
    CHECK_OK(t, sotto_ohttp_batch_answers_read(out, count, sotto_bytes_of(kept, answer.body_len),
                                               &t->err));
}

static sotto_bhttp unseal(sotto_test *t, const sotto_test_sealed *sealed,
                          const sotto_ohttp_batch_answer *answer)
{
    const size_t room = answer->body.len + 1;
    sotto_buf plain = sotto_buf_over(sotto_arena_take(&t->arena, room), room);
    sotto_bhttp m;

    CHECK_EQUAL(t, 200, answer->status);
    CHECK_OK(t, sotto_ohttp_response_unseal(&sealed->exchange, &plain, answer->body, &t->err));
    CHECK_OK(t, sotto_bhttp_decode(&m, plain.data, plain.len, &t->err));
    return m;
}

/* ---- reports that leave together ------------------------------------------------------------------------------------- */

static void reports_go_together_and_each_sender_hears_of_its_own(sotto_test *t)
{
    enum { MANY = 8 };
    sotto_test_sealed sealed[MANY];
    sotto_ohttp_batch_answer answers[MANY];
    scene s;

    open_scene(t, &s, "");
    for (uint8_t i = 0; i < MANY; i++)
        sealed[i] = seal(t, &s, "/tasks/x/reports", report_of(t, i, 40 + i), i);
    ask(t, &s, sealed, MANY, answers);
    CHECK_EQUAL(t, 1, s.leader.calls);
    CHECK_EQUAL(t, MANY, s.leader.reports[0]);
    for (uint8_t i = 0; i < MANY; i++) {
        const sotto_bhttp m = unseal(t, &sealed[i], &answers[i]);
        sotto_bytes type;

        CHECK_EQUAL(t, 200, m.status);
        CHECK_EQUAL(t, i % 2 ? 17 : 0, m.content.len);
        CHECK(t, sotto_bhttp_field(m.fields, "content-type", &type) == (i % 2 == 1));
        if (i % 2 == 1)
            CHECK(t, m.content.data[0] == i && m.content.data[1] == 40 + i &&
                         m.content.data[16] == ODD_ERROR);
    }
    close_scene(&s);
}

static void half_a_report_goes_alone(sotto_test *t)
{
    enum { MANY = 4 };
    sotto_test_sealed sealed[MANY];
    sotto_ohttp_batch_answer answers[MANY];
    scene s;

    open_scene(t, &s, "");
    for (uint8_t i = 0; i < MANY; i++) {
        sotto_bytes report = report_of(t, 2 * i, 9);

        report.len -= i == 1 ? 5 : 0;
        sealed[i] = seal(t, &s, "/tasks/x/reports", report, i);
    }
    ask(t, &s, sealed, MANY, answers);
    for (uint8_t i = 0; i < MANY; i++)
        CHECK_EQUAL(t, i == 1 ? 400 : 200, unseal(t, &sealed[i], &answers[i]).status);
    CHECK_EQUAL(t, 2, s.leader.calls);
    CHECK_EQUAL(t, MANY - 1, s.leader.reports[0] + s.leader.reports[1]);
    close_scene(&s);
}

static void reports_of_one_id_do_not_go_together(sotto_test *t)
{
    enum { MANY = 4 };
    sotto_test_sealed sealed[MANY];
    sotto_ohttp_batch_answer answers[MANY];
    scene s;

    open_scene(t, &s, "");
    for (uint8_t i = 0; i < MANY; i++)
        sealed[i] = seal(t, &s, "/tasks/x/reports", report_of(t, 2 * (i / 2), 9), i);
    ask(t, &s, sealed, MANY, answers);
    for (uint8_t i = 0; i < MANY; i++)
        CHECK_EQUAL(t, 200, unseal(t, &sealed[i], &answers[i]).status);
    CHECK(t, !s.leader.twins);
    CHECK_EQUAL(t, 2, s.leader.calls);
    close_scene(&s);
}

static void nobody_spoils_a_neighbours_report(sotto_test *t)
{
    enum { MANY = 5 };
    sotto_test_sealed sealed[MANY];
    sotto_ohttp_batch_answer answers[MANY];
    scene s;

    open_scene(t, &s, "");
    for (uint8_t i = 0; i < MANY; i++)
        sealed[i] = seal(t, &s, "/tasks/x/reports", report_of(t, i == 3 ? SPOILT : 2 * i, 9), i);
    ask(t, &s, sealed, MANY, answers);
    for (uint8_t i = 0; i < MANY; i++)
        CHECK_EQUAL(t, i == 3 ? 400 : 200, unseal(t, &sealed[i], &answers[i]).status);
    CHECK_EQUAL(t, 1 + MANY, s.leader.calls); /* together, then each alone */
    close_scene(&s);
}

static void reports_for_two_tasks_go_apart(sotto_test *t)
{
    enum { MANY = 6 };
    sotto_test_sealed sealed[MANY];
    sotto_ohttp_batch_answer answers[MANY];
    scene s;

    open_scene(t, &s, "");
    for (uint8_t i = 0; i < MANY; i++)
        sealed[i] =
            seal(t, &s, i % 2 ? "/tasks/x/reports" : "/tasks/y/reports", report_of(t, 2 * i, 9), i);
    ask(t, &s, sealed, MANY, answers);
    for (uint8_t i = 0; i < MANY; i++)
        CHECK_EQUAL(t, 200, unseal(t, &sealed[i], &answers[i]).status);
    CHECK_EQUAL(t, 2, s.leader.calls);
    CHECK(t, s.leader.reports[0] == 3 && s.leader.reports[1] == 3);
    close_scene(&s);
}

/* ---- requests that come together ------------------------------------------------------------------------------------- */

/* One is damaged, one for an unknown key, one too long, one comes twice: the others don't notice. */
static void each_request_of_a_batch_is_judged_alone(sotto_test *t)
{
    enum { MANY = 7, DAMAGED = 1, UNKNOWN = 2, LONG = 4, TWICE = 6 };
    static uint8_t large[1200];
    sotto_test_sealed sealed[MANY];
    sotto_ohttp_batch_answer answers[MANY];
    scene s;

    open_scene(t, &s, "max_request = 1K\n");
    const uint8_t unknown =
        sotto_test_unknown_key(t, ((const sotto_gateway *)s.gateway.host->state)->keys);
    for (uint8_t i = 0; i < MANY; i++)
        sealed[i] =
            seal(t, &s, "/tasks/x/reports",
                 i == LONG ? sotto_bytes_of(large, sizeof large) : report_of(t, 2 * i, 9), i);
    sealed[DAMAGED].wire.len--;
    ((uint8_t *)(uintptr_t)sealed[UNKNOWN].wire.data)[0] = unknown;
    sealed[TWICE] = sealed[0];
    ask(t, &s, sealed, MANY, answers);
    CHECK_EQUAL(t, 400, answers[DAMAGED].status);
    CHECK_EQUAL(t, 400, answers[UNKNOWN].status);
    CHECK(t, memmem(answers[UNKNOWN].body.data, answers[UNKNOWN].body.len, "#ohttp-key", 10));
    CHECK_EQUAL(t, 413, answers[LONG].status);
    CHECK_EQUAL(t, 200, unseal(t, &sealed[0], &answers[0]).status);
    CHECK_EQUAL(t, 200, unseal(t, &sealed[3], &answers[3]).status);
    CHECK_EQUAL(t, 200, unseal(t, &sealed[5], &answers[5]).status);
    CHECK_EQUAL(t, 409, unseal(t, &sealed[TWICE], &answers[TWICE]).status);
    close_scene(&s);
}

static void what_is_no_batch_is_refused(sotto_test *t)
{
    static uint8_t zeros[SOTTO_OHTTP_BATCH_BYTES + 1];
    static const uint8_t short_one[] = {0, 0, 0, 9, 1, 2, 3};
    scene s;

    open_scene(t, &s, "");
    CHECK_EQUAL(t, 400, post(t, &s, sotto_bytes_of(short_one, sizeof short_one)).status);
    CHECK_EQUAL(t, 400, post(t, &s, sotto_bytes_of(zeros, 0)).status);
    CHECK_EQUAL(t, 400, post(t, &s, sotto_bytes_of(zeros, 3)).status);
    CHECK_EQUAL(t, 400, post(t, &s, sotto_bytes_of(zeros, 4 * (SOTTO_OHTTP_BATCH + 1))).status);
    CHECK_EQUAL(t, 413, post(t, &s, sotto_bytes_of(zeros, sizeof zeros)).status);
    CHECK_EQUAL(t, 0, s.leader.calls);
    close_scene(&s);
}

static sotto_http_request *slow_one(sotto_test *t, leader *l)
{
    sotto_http_request *slow = NULL;

    for (size_t i = 0; !slow && i < 1000; i++) {
        sotto_test_sleep_ms(10);
        (void)pthread_mutex_lock(&l->lock);
        slow = l->calls == 1 ? l->slow : NULL;
        (void)pthread_mutex_unlock(&l->lock);
    }
    CHECK(t, slow != NULL);
    return slow;
}

/* What the leader answered before has come to the gateway when this is over. One thread hears all answers: the second of these comes in
 * a later turn of it than the first, and the first in none before those that were sent earlier. */
static void let_answers_pass(sotto_test *t, const scene *s)
{
    for (uint8_t i = 0; i < 2; i++) {
        const sotto_test_sealed one = seal(t, s, "/tasks/x/reports", report_of(t, 6, i), 70 + i);
        const sotto_test_answer answer =
            sotto_test_post(t, s->port, NULL, SOTTO_OHTTP_REQUEST_TYPE, one.wire);

        CHECK_EQUAL(t, 200, sotto_test_unseal(t, &one, &answer).status);
    }
}

/* A target that does not answer holds up the others for five seconds. Then the sender whose request it has hears 503. */
static void a_slow_target_does_not_hold_up_the_others(sotto_test *t)
{
    sotto_test_sealed sealed[2];
    sotto_ohttp_batch_answer answers[2];
    sotto_test_answer answer;
    sotto_http_request *slow;
    scene s;

    open_scene(t, &s, "");
    sealed[0] = seal(t, &s, "/slow", report_of(t, 2, 9), 1);
    sealed[1] = seal(t, &s, "/tasks/x/reports", report_of(t, 4, 9), 2);
    const int fd = sotto_test_post_begin(t, s.port, NULL, SOTTO_OHTTP_BATCH_REQUEST_TYPE, "",
                                         batch_of(t, sealed, 2));
    slow = slow_one(t, &s.leader);
    let_answers_pass(t, &s);
    sotto_gateway *gateway = s.gateway.host->state;
    sotto_gateway_batch_tick(gateway, sotto_gateway_batch_ms(gateway) + SOTTO_GATEWAY_BATCH_MS);
    answer = sotto_test_hear(t, fd);
    (void)close(fd);
    CHECK_OK(t, sotto_ohttp_batch_answers_read(
                    answers, 2, sotto_bytes_of(answer.body, answer.body_len), &t->err));
    CHECK_EQUAL(t, 503, answers[0].status);
    CHECK_EQUAL(t, 200, unseal(t, &sealed[1], &answers[1]).status);
    judge(&s.leader, slow); /* too late: nobody hears it, and nothing is leaked */
    sotto_test_sleep_ms(100);
    close_scene(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(reports_go_together_and_each_sender_hears_of_its_own),
        CASE(half_a_report_goes_alone),
        CASE(reports_of_one_id_do_not_go_together),
        CASE(nobody_spoils_a_neighbours_report),
        CASE(reports_for_two_tasks_go_apart),
        CASE(each_request_of_a_batch_is_judged_alone),
        CASE(what_is_no_batch_is_refused),
        CASE(a_slow_target_does_not_hold_up_the_others),
    };

    if (!sotto_test_at_end(sotto_test_oblivious_forget))
        return 1;
    return RUN_TESTS(argc, argv, cases);
}
