/* A gateway on its host, before a server of the test's own: what it opens, what it refuses, and how it says so. */
#define _POSIX_C_SOURCE 200809L
#include "serve/gateway/gateway.h"
#include "serve/gateway/gateway_service.h"
#include "serve/host/operations.h"
#include "support/database.h"
#include "support/oblivious.h"
#include "support/unknown_key.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char REQUEST[] = SOTTO_OHTTP_REQUEST_TYPE;
static const uint64_t SECOND = 1000000000;
static const char DATE_PROBLEM[] = "http-problem-types#date\"";
static const char KEY_PROBLEM[] = "\"type\":\"https://iana.org/assignments/"
                                  "http-problem-types#ohttp-key\"";

typedef struct scene {
    sotto_test_http target;
    sotto_test_gateway gateway;
    sotto_hpke_config key;
    unsigned port;
} scene;

static void open_scene(sotto_test *t, scene *s, const char *more)
{
    if (sotto_test_on_postgres())
        NOT_FOR_THIS_DATABASE(t, "a gateway has an SQLite file");
    sotto_test_http_open(t, &s->target, (sotto_http_server_options){0});
    sotto_test_gateway_open(t, &s->gateway, s->target.port, more);
    s->port = sotto_host_port(s->gateway.host);
    s->key = sotto_test_gateway_key(t, s->port);
}

static const sotto_gateway *gateway_of(const scene *s)
{
    return s->gateway.host->state;
}

static void close_scene(scene *s)
{
    sotto_host_close(s->gateway.host);
    sotto_test_http_close(&s->target);
}

static sotto_test_sealed seal(sotto_test *t, const scene *s, const char *path, const char *content,
                              uint32_t seed)
{
    return sotto_test_seal(t, &s->key, path, content, sotto_test_gateway_now(&s->gateway), seed);
}

static sotto_bhttp ask(sotto_test *t, const scene *s, const sotto_test_sealed *sealed)
{
    const sotto_test_answer answer = sotto_test_post(t, s->port, NULL, REQUEST, sealed->wire);

    return sotto_test_unseal(t, sealed, &answer);
}

static void says(sotto_test *t, sotto_bytes content, const char *text)
{
    char copy[1024] = "";

    memcpy(copy, content.data, content.len < sizeof copy ? content.len : sizeof copy - 1);
    CHECK(t, strstr(copy, text) != NULL);
}

static void a_request_gets_to_its_target_and_back(sotto_test *t)
{
    sotto_test_sealed sealed;
    scene s;
    sotto_bhttp m;

    open_scene(t, &s, "");
    sealed = seal(t, &s, "/echo", "hello", 1);
    m = ask(t, &s, &sealed);
    CHECK_EQUAL(t, 200, m.status);
    CHECK_EQUAL(t, 5, m.content.len);
    CHECK_BYTES(t, "hello", m.content.data, 5);
    sealed = seal(t, &s, "/nowhere", "hello", 2); /* the target's own refusals are sealed as well */
    CHECK_EQUAL(t, 404, ask(t, &s, &sealed).status);
    close_scene(&s);
}

static void answers_of_one_pad_have_one_length(sotto_test *t)
{
    const sotto_test_answer *last = NULL;
    static sotto_test_answer answers[3];
    static const char *const contents[] = {"", "short", "somewhat longer than the others are"};
    scene s;

    open_scene(t, &s, "");
    for (uint32_t i = 0; i < 3; i++) {
        const sotto_test_sealed sealed = seal(t, &s, i == 2 ? "/nowhere" : "/echo", contents[i], i);

        answers[i] = sotto_test_post(t, s.port, NULL, REQUEST, sealed.wire);
        CHECK(t, !last || last->body_len == answers[i].body_len);
        last = &answers[i];
    }
    CHECK_EQUAL(t, 16 + 1024 + 16, last->body_len);
    close_scene(&s);
}

static void unknown_keys_are_named_in_plain(sotto_test *t)
{
    uint8_t other[512];
    scene s;

    open_scene(t, &s, "");
    const uint8_t unknown = sotto_test_unknown_key(t, gateway_of(&s)->keys);
    const sotto_test_sealed sealed = seal(t, &s, "/echo", "hello", 1);
    for (size_t at = 0; at < 7; at += 2) { /* the key's id, KEM, KDF, AEAD */
        memcpy(other, sealed.wire.data, sealed.wire.len);
        other[at] = at == 0 ? unknown : (uint8_t)(other[at] ^ 2);
        const sotto_test_answer answer =
            sotto_test_post(t, s.port, NULL, REQUEST, sotto_bytes_of(other, sealed.wire.len));
        CHECK_EQUAL(t, 400, answer.status);
        CHECK(t, strstr(answer.head, "application/problem+json") != NULL);
        CHECK(t, strstr(answer.body, KEY_PROBLEM) != NULL);
        CHECK(t, strstr(answer.body, "key identifier unknown") != NULL);
    }
    close_scene(&s);
}

static void damaged_requests_are_refused_in_plain(sotto_test *t)
{
    uint8_t other[512];
    scene s;

    open_scene(t, &s, "");
    const sotto_test_sealed sealed = seal(t, &s, "/echo", "hello", 1);
    for (size_t len = 0; len < 7 + 32 + 16; len += 9) { /* truncated */
        const sotto_test_answer answer =
            sotto_test_post(t, s.port, NULL, REQUEST, sotto_bytes_of(sealed.wire.data, len));
        CHECK_EQUAL(t, 400, answer.status);
        CHECK(t, strstr(answer.body, "\"detail\":\"not an encapsulated request\"") != NULL);
    }
    for (size_t at = 7; at < sealed.wire.len;
         at += 11) { /* a flipped bit, and the last byte gone */
        memcpy(other, sealed.wire.data, sealed.wire.len);
        other[at] ^= 4;
        const sotto_test_answer answer = sotto_test_post(
            t, s.port, NULL, REQUEST, sotto_bytes_of(other, sealed.wire.len - at % 2));
        CHECK_EQUAL(t, 400, answer.status);
        CHECK(t, strstr(answer.body, "the encapsulated request does not open") != NULL);
    }
    CHECK_EQUAL(t, 0, s.target.heads);
    close_scene(&s);
}

static void oversized_requests_are_refused_before_they_are_read(sotto_test *t)
{
    static uint8_t large[2048];
    scene s;

    open_scene(t, &s, "max_request = 1K\n");
    const sotto_test_answer answer =
        sotto_test_post(t, s.port, NULL, REQUEST, sotto_bytes_of(large, sizeof large));
    CHECK_EQUAL(t, 413, answer.status);
    CHECK(t, strstr(answer.head, "413 Content Too Large") != NULL);
    CHECK_EQUAL(t, 0, s.target.heads);
    close_scene(&s);
}

static void other_media_types_are_not_taken(sotto_test *t)
{
    scene s;

    open_scene(t, &s, "");
    const sotto_test_sealed sealed = seal(t, &s, "/echo", "hello", 1);
    CHECK_EQUAL(t, 415, sotto_test_post(t, s.port, NULL, "text/plain", sealed.wire).status);
    close_scene(&s);
}

static void a_request_is_opened_once(sotto_test *t)
{
    scene s;
    sotto_bhttp m;

    open_scene(t, &s, "");
    const sotto_test_sealed sealed = seal(t, &s, "/echo", "hello", 1);
    CHECK_EQUAL(t, 200, ask(t, &s, &sealed).status);
    m = ask(t, &s, &sealed);
    CHECK_EQUAL(t, 409, m.status);
    says(t, m.content, "this request was opened before");
    CHECK_EQUAL(t, 1, s.target.heads);
    close_scene(&s);
}

static void a_request_has_its_date(sotto_test *t)
{
    static const int64_t off[] = {-601, 61, -3000}, near[] = {-600, 60};
    scene s;
    sotto_bhttp m;

    open_scene(t, &s, "");
    const int64_t now = sotto_test_gateway_now(&s.gateway);
    for (uint32_t i = 0; i < 3; i++) {
        const sotto_test_sealed sealed =
            sotto_test_seal(t, &s.key, "/echo", "hello", i == 2 ? 0 : now + off[i], i);

        m = ask(t, &s, &sealed);
        CHECK_EQUAL(t, 400, m.status);
        says(t, m.content, DATE_PROBLEM);
    }
    for (uint32_t i = 0; i < 2; i++) {
        const sotto_test_sealed sealed =
            sotto_test_seal(t, &s.key, "/echo", "hello", now + near[i], 10 + i);

        CHECK_EQUAL(t, 200, ask(t, &s, &sealed).status);
    }
    close_scene(&s);
}

/* What it remembered is gone with the process, so nothing that one may have opened is opened again. */
static void a_gateway_that_starts_again_opens_nothing_old(sotto_test *t)
{
    scene s;
    sotto_bhttp m;

    open_scene(t, &s, "");
    const sotto_test_sealed sealed = seal(t, &s, "/echo", "hello", 1);
    CHECK_EQUAL(t, 200, ask(t, &s, &sealed).status);
    sotto_sim_clock_advance(&s.gateway.time, 5 * SECOND);
    sotto_test_gateway_again(t, &s.gateway, s.target.port, "");
    s.port = sotto_host_port(s.gateway.host);
    m = ask(t, &s, &sealed);
    CHECK_EQUAL(t, 400, m.status);
    says(t, m.content, DATE_PROBLEM);
    sotto_sim_clock_advance(&s.gateway.time, 61 * SECOND);
    const sotto_test_sealed later = seal(t, &s, "/echo", "hello", 2);
    CHECK_EQUAL(t, 200, ask(t, &s, &later).status);
    close_scene(&s);
}

/* By a client whose clock is fast; the key is no older than the gateway that starts again. */
static void a_gateway_that_starts_again_opens_nothing_dated_ahead(sotto_test *t)
{
    scene s;
    sotto_bhttp m;

    open_scene(t, &s, "");
    const sotto_test_sealed sealed =
        sotto_test_seal(t, &s.key, "/echo", "hello", sotto_test_gateway_now(&s.gateway) + 60, 1);
    CHECK_EQUAL(t, 200, ask(t, &s, &sealed).status);
    for (int i = 0; i < 2; i++) { /* at once, and some time later */
        sotto_test_gateway_again(t, &s.gateway, s.target.port, "");
        s.port = sotto_host_port(s.gateway.host);
        m = ask(t, &s, &sealed);
        CHECK_EQUAL(t, 400, m.status);
        says(t, m.content, DATE_PROBLEM);
        sotto_sim_clock_advance(&s.gateway.time, 30 * SECOND);
    }
    CHECK_EQUAL(t, 1, s.target.heads);
    close_scene(&s);
}

static void a_full_memory_opens_nothing(sotto_test *t)
{
    scene s;

    open_scene(t, &s, "replay_most = 2\n");
    for (uint32_t i = 0; i < 3; i++) {
        const sotto_test_sealed sealed = seal(t, &s, "/echo", "hello", i);

        CHECK_EQUAL(t, i < 2 ? 200 : 503, ask(t, &s, &sealed).status);
    }
    close_scene(&s);
}

static sotto_bhttp ask_for(sotto_test *t, const scene *s, const char *method, const char *authority,
                           const char *path, uint32_t seed)
{
    uint8_t lines[64];
    sotto_buf fields = sotto_buf_over(lines, sizeof lines);
    sotto_writer w = sotto_writer_on(&fields);
    static const char date[] = "Fri, 15 Jan 2027 08:00:00 GMT"; /* where the clock stands */
    sotto_bhttp m = {.method = sotto_bytes_of(method, strlen(method)),
                     .scheme = sotto_bytes_of("https", 5),
                     .authority = sotto_bytes_of(authority, strlen(authority)),
                     .path = sotto_bytes_of(path, strlen(path))};

    sotto_bhttp_field_write(&w, "date", sotto_bytes_of(date, 29));
    CHECK_OK(t, sotto_writer_finish(&w, "fields", &t->err));
    m.fields = sotto_buf_bytes(&fields);
    const sotto_test_sealed sealed = sotto_test_seal_message(t, &s->key, &m, seed);
    return ask(t, s, &sealed);
}

static void only_targets_are_asked(sotto_test *t)
{
    static const char *const others[] = {"other.example", "target.example.org", "",
                                         "target.example:1", "x@target.example"};
    scene s;
    sotto_bhttp m;

    open_scene(t, &s, "");
    CHECK_EQUAL(t, 200, ask_for(t, &s, "GET", "target.example", "/ok", 1).status);
    for (uint32_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        m = ask_for(t, &s, "GET", others[i], "/ok", 2 + i);
        CHECK_EQUAL(t, 403, m.status);
        says(t, m.content, "no target of this gateway");
    }
    CHECK_EQUAL(t, 1, s.target.heads);
    close_scene(&s);
}

static void a_path_stays_below_its_target(sotto_test *t)
{
    static const char *const paths[] = {"/../ok",     "/a/../ok", "/a/%2e%2e/ok", "//ok",
                                        "/a\\..\\ok", "/ok#x",    "/a%2Fok",      "/..%5cok"};
    scene s;
    sotto_bhttp m;

    open_scene(t, &s, "");
    for (uint32_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        m = ask_for(t, &s, "GET", "target.example", paths[i], i);
        CHECK_EQUAL(t, 403, m.status);
        says(t, m.content, "a path that could leave its target");
    }
    close_scene(&s);
}

static void other_methods_are_not_forwarded(sotto_test *t)
{
    scene s;

    open_scene(t, &s, "");
    CHECK_EQUAL(t, 405, ask_for(t, &s, "DELETE", "target.example", "/ok", 1).status);
    CHECK_EQUAL(t, 405, ask_for(t, &s, "get", "target.example", "/ok", 2).status);
    CHECK_EQUAL(t, 0, s.target.heads);
    close_scene(&s);
}

static void requests_that_go_nowhere_take_no_memory(sotto_test *t)
{
    scene s;

    open_scene(t, &s, "replay_most = 1\n");
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_EQUAL(t, 403, ask_for(t, &s, "GET", "other.example", "/ok", 2 * i).status);
        CHECK_EQUAL(t, 405, ask_for(t, &s, "DELETE", "target.example", "/ok", 2 * i + 1).status);
    }
    CHECK_EQUAL(t, 200, ask_for(t, &s, "GET", "target.example", "/ok", 10).status);
    close_scene(&s);
}

/* Devices give no report up for these, and for a target's they may. */
static void what_the_gateway_says_itself_is_marked(sotto_test *t)
{
    sotto_bytes mark;
    scene s;

    open_scene(t, &s, "");
    const sotto_test_sealed sealed = seal(t, &s, "/nowhere", "hello", 1);
    const sotto_test_sealed old = sotto_test_seal(t, &s.key, "/echo", "hello", 0, 2);
    const sotto_bhttp answers[] = {ask(t, &s, &sealed), /* the target's */
                                   ask(t, &s, &sealed), ask(t, &s, &old),
                                   ask_for(t, &s, "GET", "other.example", "/ok", 3),
                                   ask_for(t, &s, "DELETE", "target.example", "/ok", 4)};
    static const unsigned statuses[] = {404, 409, 400, 403, 405};
    for (size_t i = 0; i < 5; i++) {
        CHECK_EQUAL(t, statuses[i], answers[i].status);
        CHECK_EQUAL(t, i > 0,
                    sotto_bhttp_field(answers[i].fields, SOTTO_OHTTP_GATEWAY_FIELD, &mark));
    }
    close_scene(&s);
}

/* Begins a body and waits for the gateway's word: 100 if it reads on, 503 if this address has its share. */
static unsigned begin_body(sotto_test *t, const scene *s, int *fd)
{
    *fd = sotto_test_dial(t, (uint16_t)s->port);
    sotto_test_send_text(t, *fd,
                         "POST /" SOTTO_GATEWAY_PATH " HTTP/1.1\r\nHost: h\r\nContent-Type: "
                         "message/ohttp-req\r\nContent-Length: 900\r\n"
                         "Expect: 100-continue\r\n\r\n");
    return sotto_test_hear_head(t, *fd).status;
}

/* Anybody can send the media type: it makes nobody a relay. */
static void one_address_has_its_share(sotto_test *t)
{
    enum { CONNECTIONS = 16, MOST = CONNECTIONS / 2 + 1 };
    int fds[MOST];
    size_t begun = 0;
    unsigned status = 100;
    scene s;

    open_scene(t, &s, "connections = 16\naddress_share = 1\n");
    while (status == 100 && begun < MOST)
        status = begin_body(t, &s, &fds[begun++]);
    CHECK_EQUAL(t, 503, status);
    for (size_t i = 0; i < begun; i++)
        (void)close(fds[i]);
    close_scene(&s);
}

static void what_no_worker_can_take_is_refused(sotto_test *t)
{
    scene s;

    open_scene(t, &s, "");
    const sotto_test_sealed sealed = seal(t, &s, "/echo", "hello", 1);
    sotto_pool_stop(s.gateway.host->pool);
    for (int i = 0; i < 2; i++) {
        const sotto_test_answer answer = sotto_test_post(t, s.port, NULL, REQUEST, sealed.wire);

        CHECK_EQUAL(t, 503, answer.status);
        CHECK(t, strstr(answer.body, "this gateway is busy") != NULL);
    }
    close_scene(&s);
}

static void what_is_no_message_is_refused_sealed(sotto_test *t)
{
    uint8_t ikm[32] = {4};
    static const char junk[] = "\x09 not a message";
    uint8_t memory[256];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_test_sealed sealed;
    scene s;
    sotto_bhttp m;

    open_scene(t, &s, "");
    CHECK_OK(t, sotto_ohttp_request_seal(&sealed.exchange, &out, &s.key, sotto_bytes_of(ikm, 32),
                                         sotto_bytes_of(junk, sizeof junk - 1), &t->err));
    sealed.wire = sotto_buf_bytes(&out);
    m = ask(t, &s, &sealed);
    CHECK_EQUAL(t, 400, m.status);
    says(t, m.content, "not a binary HTTP request");
    close_scene(&s);
}

static void a_target_that_is_down_is_said_sealed(sotto_test *t)
{
    scene s;

    open_scene(t, &s, "");
    sotto_test_gateway_again(t, &s.gateway, 1, ""); /* nobody listens there */
    s.port = sotto_host_port(s.gateway.host);
    sotto_sim_clock_advance(&s.gateway.time, 61 * SECOND);
    const sotto_test_sealed sealed = seal(t, &s, "/echo", "hello", 1);
    CHECK_EQUAL(t, 502, ask(t, &s, &sealed).status);
    close_scene(&s);
}

/* Many at once, and answers in whatever order: each client opens its own. */
static void many_requests_at_once_get_their_own_answers(sotto_test *t)
{
    enum { MANY = 40 };
    static sotto_test_sealed sealed[MANY];
    int fds[MANY];
    char text[32];
    scene s;

    open_scene(t, &s, "");
    for (uint32_t i = 0; i < MANY; i++) {
        (void)snprintf(text, sizeof text, "request %u", i);
        sealed[i] = seal(t, &s, "/echo", text, i);
    }
    for (size_t i = MANY; i-- > 0;)
        fds[i] = sotto_test_post_begin(t, s.port, NULL, REQUEST, "", sealed[i].wire);
    for (size_t i = 0; i < MANY; i++) {
        const sotto_test_answer answer = sotto_test_hear(t, fds[i]);
        const sotto_bhttp m = sotto_test_unseal(t, &sealed[i], &answer);

        (void)snprintf(text, sizeof text, "request %zu", i);
        CHECK_EQUAL(t, strlen(text), m.content.len);
        CHECK_BYTES(t, text, m.content.data, m.content.len);
        (void)close(fds[i]);
    }
    close_scene(&s);
}

/* Waits for the gateway's own clock thread, which looks about every second. */
static unsigned status_of(sotto_test *t, scene *s, const sotto_test_sealed *sealed)
{
    const sotto_test_answer answer = sotto_test_post(t, s->port, NULL, REQUEST, sealed->wire);

    return answer.status == 200 ? sotto_test_unseal(t, sealed, &answer).status : answer.status;
}

static void a_key_opens_until_it_is_deleted(sotto_test *t)
{
    uint32_t seed = 1;
    unsigned status = 0;
    sotto_test_answer answer = {0};
    scene s;

    open_scene(t, &s, "key_pending = 1m\nkey_active = 1h\nkey_expired = 30m\n");
    const sotto_hpke_config first = s.key;
    sotto_sim_clock_advance(&s.gateway.time, 3601 * SECOND);
    for (uint64_t until = 0; s.key.id == first.id && sotto_test_waits(&until, 50);)
        s.key = sotto_test_gateway_key(t, s.port); /* another is published ... */
    CHECK(t, s.key.id != first.id);
    sotto_test_sealed sealed =
        sotto_test_seal(t, &first, "/echo", "hello", sotto_test_gateway_now(&s.gateway), seed++);
    CHECK_EQUAL(t, 200, status_of(t, &s, &sealed)); /* ... and the first still opens */
    sotto_sim_clock_advance(&s.gateway.time, 1900 * SECOND);
    for (uint64_t until = 0; status != 400 && sotto_test_waits(&until, 50);) {
        sealed = sotto_test_seal(t, &first, "/echo", "hello", sotto_test_gateway_now(&s.gateway),
                                 seed++);
        answer = sotto_test_post(t, s.port, NULL, REQUEST, sealed.wire);
        status = answer.status; /* in plain: what was opened has 200 here */
    }
    CHECK_EQUAL(t, 400, status);
    CHECK(t, strstr(answer.body, KEY_PROBLEM) != NULL);
    CHECK(t, strstr(answer.body, "key identifier unknown") != NULL);
    close_scene(&s);
}

static void a_gateway_has_a_database_of_its_own(sotto_test *t)
{
    sotto_gateway_config own = {.targets = "/dev/null"};
    sotto_host *host = NULL;
    char key[300], table[300];
    FILE *file;

    if (!sotto_test_on_postgres())
        NOT_FOR_THIS_DATABASE(t, "PostgreSQL is what several replicas would share");
    (void)snprintf(key, sizeof key, "%s/datastore.key", sotto_test_directory(t));
    (void)snprintf(table, sizeof table, "%s/targets", sotto_test_directory(t));
    file = fopen(table, "w");
    CHECK(t, file && fputs("https://a.example/ http://127.0.0.1/\n", file) >= 0);
    CHECK_EQUAL(t, 0, fclose(file));
    own.targets = table;
    own.replay_window = 600;
    own.replay_most = 100;
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_host_open(&host, &sotto_gateway_service,
                                 &(sotto_host_options){.listen = "127.0.0.1:0",
                                                       .database = sotto_test_address(t),
                                                       .datastore_key = key},
                                 &own, &t->err));
    CHECK_REASON(t, "its database is an SQLite file");
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_request_gets_to_its_target_and_back),
        CASE(answers_of_one_pad_have_one_length),
        CASE(unknown_keys_are_named_in_plain),
        CASE(damaged_requests_are_refused_in_plain),
        CASE(oversized_requests_are_refused_before_they_are_read),
        CASE(other_media_types_are_not_taken),
        CASE(a_request_is_opened_once),
        CASE(a_request_has_its_date),
        CASE(a_gateway_that_starts_again_opens_nothing_old),
        CASE(a_gateway_that_starts_again_opens_nothing_dated_ahead),
        CASE(a_full_memory_opens_nothing),
        CASE(requests_that_go_nowhere_take_no_memory),
        CASE(what_the_gateway_says_itself_is_marked),
        CASE(one_address_has_its_share),
        CASE(what_no_worker_can_take_is_refused),
        CASE(only_targets_are_asked),
        CASE(a_path_stays_below_its_target),
        CASE(other_methods_are_not_forwarded),
        CASE(what_is_no_message_is_refused_sealed),
        CASE(a_target_that_is_down_is_said_sealed),
        CASE(many_requests_at_once_get_their_own_answers),
        CASE(a_key_opens_until_it_is_deleted),
        CASE(a_gateway_has_a_database_of_its_own),
    };

    if (!sotto_test_at_end(sotto_test_oblivious_forget))
        return 1;
    return RUN_TESTS(argc, argv, cases);
}
