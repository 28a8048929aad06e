/* Every file of http_hostile/ is refused with the status that expected.txt gives, whole or in single bytes; what follows
 * it on the connection is never taken for a request. */
#include "support/http.h"
#include "transport/http_parse.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sotto_test_http http;

static sotto_bytes read_file(sotto_test *t, const char *name)
{
    char path[512];
    uint8_t *data = sotto_arena_take(&t->arena, 1 << 14);
    FILE *file;

    (void)snprintf(path, sizeof path, SOTTO_TESTS "/http_hostile/%s", name);
    file = fopen(path, "rb");
    CHECK(t, file != NULL && data != NULL);
    const size_t len = fread(data, 1, 1 << 14, file);
    (void)fclose(file);
    return sotto_bytes_of(data, len);
}

static unsigned smuggled;

static bool watch_head(void *context, sotto_http_request *request, size_t *max_body)
{
    smuggled += sotto_http_request_segment_is(request, 0, "smuggled");
    return sotto_test_http_handler()->head(context, request, max_body);
}

static void check_file(sotto_test *t, const char *name, unsigned status, bool bytewise)
{
    const sotto_bytes text = read_file(t, name);
    const int fd = sotto_test_dial(t, http.port);
    sotto_test_answer answer;

    for (size_t i = 0; bytewise && i < text.len && i < 400; i++)
        sotto_test_send(t, fd, text.data + i, 1);
    if (!bytewise)
        sotto_test_send(t, fd, text.data, text.len);
    answer = sotto_test_hear(t, fd);
    if (answer.status != status)
        (void)fprintf(stderr, "%s: wanted %u, got %u\n", name, status, answer.status);
    CHECK_EQUAL(t, status, answer.status);
    CHECK(t, strstr(answer.head, "\r\nConnection: close\r\n") != NULL);
    CHECK(t, strstr(answer.body, "\"type\":\"about:blank\"") != NULL);
    CHECK(t, sotto_test_is_closed(fd));
    (void)close(fd);
}

static void every_hostile_file_is_refused(sotto_test *t)
{
    sotto_http_handler handler = *sotto_test_http_handler();
    FILE *list = fopen(SOTTO_TESTS "/http_hostile/expected.txt", "r");
    char line[256], name[200];
    unsigned status, files = 0;

    CHECK(t, list != NULL);
    handler.head = watch_head;
    memset(&http, 0, sizeof http);
    CHECK_OK(t, sotto_http_server_open(&http.server, &(sotto_http_server_options){0}, &handler,
                                       &http, &t->err));
    http.port = sotto_http_server_port(http.server);
    while (fgets(line, sizeof line, list)) {
        if (line[0] == '#')
            continue;
        CHECK(t, sscanf(line, "%199s | %u", name, &status) == 2);
        check_file(t, name, status, false);
        if (!strstr(name, "endless"))
            check_file(t, name, status, true);
        files++;
    }
    (void)fclose(list);
    CHECK(t, files >= 85);
    CHECK_EQUAL(t, 0, smuggled);
    sotto_http_server_close(http.server);
}

/* ---- the pure functions -------------------------------------------------------------------------- */

static unsigned parse(sotto_test *t, sotto_http_head *head, const char *text)
{
    const size_t len = strlen(text);
    uint8_t *copy = sotto_arena_take(&t->arena, len);

    CHECK(t, copy != NULL);
    memcpy(copy, text, len);
    return sotto_http_head_parse(head, copy, len, SOTTO_HTTP_MAX_FIELDS);
}

static void a_head_is_taken_apart(sotto_test *t)
{
    sotto_http_head head;

    CHECK_EQUAL(t, 0,
                parse(t, &head,
                      "PUT /tasks/a%2Fb/reports?step=1&x HTTP/1.1\r\nhOsT: h\r\n"
                      "Content-Length: 0012\r\nConnection: Keep-Alive\r\nEmpty:\r\n\r\n"));
    CHECK_EQUAL(t, SOTTO_HTTP_PUT, head.method);
    CHECK_EQUAL(t, 3, head.segment_count);
    CHECK_EQUAL(t, 3, head.segments[1].len);
    CHECK_BYTES(t, "a/b", head.segments[1].data, 3);
    CHECK_BYTES(t, "step=1&x", head.query.data, head.query.len);
    CHECK_EQUAL(t, 12, head.content_length);
    CHECK(t, head.keep_alive && !head.chunked && !head.expects_continue);
    CHECK(t, sotto_http_head_field(&head, "host") && !sotto_http_head_field(&head, "hos"));
    CHECK_EQUAL(t, 0, sotto_http_head_field(&head, "empty")->value.len);
    CHECK_EQUAL(t, 0, parse(t, &head, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    CHECK(t, head.keep_alive && head.segment_count == 0);
    CHECK_EQUAL(
        t, 0,
        parse(t, &head, "GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, close\r\n\r\n"));
    CHECK(t, !head.keep_alive);
}

static void the_end_of_a_head_is_found_wherever_reading_stopped(sotto_test *t)
{
    static const char text[] = "GET / HTTP/1.1\r\nX: y\r\n\r\nmore";
    const size_t end = sizeof text - 5;

    for (size_t len = 0; len < sizeof text; len++)
        for (size_t scanned = 0; scanned <= len && scanned < end; scanned++)
            CHECK_EQUAL(t, len < end ? 0 : end,
                        sotto_http_head_end(sotto_bytes_of(text, len), scanned));
}

static void loopback_is_told_from_the_rest(sotto_test *t)
{
    static const char *const here[] = {"localhost",   "LOCALHOST", "127.0.0.1",
                                       "127.255.0.9", "::1",       "[::1]"};
    static const char *const there[] = {"",
                                        "127.0.0.1.example.org",
                                        "127.1",
                                        "1270.0.0.1",
                                        "127.0.0.256",
                                        "0.0.0.0",
                                        "::",
                                        "[::]",
                                        "128.0.0.1",
                                        "localhost.",
                                        "127.0.0.",
                                        "127.0.0.1.1"};

    for (size_t i = 0; i < sizeof here / sizeof here[0]; i++)
        CHECK(t, sotto_http_host_is_loopback(sotto_bytes_of(here[i], strlen(here[i]))));
    for (size_t i = 0; i < sizeof there / sizeof there[0]; i++)
        CHECK(t, !sotto_http_host_is_loopback(sotto_bytes_of(there[i], strlen(there[i]))));
}

static void media_types_are_compared_without_parameters(sotto_test *t)
{
    static const char *const same[] = {"a/b", "A/B", "a/b;c=d", "a/b ; c"};
    static const char *const other[] = {"a/bc", "a/", "a", "", "a/b c"};

    for (size_t i = 0; i < 4; i++)
        CHECK(t, sotto_http_is_media_type(sotto_bytes_of(same[i], strlen(same[i])), "a/b"));
    for (size_t i = 0; i < 5; i++)
        CHECK(t, !sotto_http_is_media_type(sotto_bytes_of(other[i], strlen(other[i])), "a/b"));
}

/* A token goes along to wherever this leads. */
static void a_place_is_at_its_own_origin_or_none(sotto_test *t)
{
    static const struct {
        const char *base, *location, *wanted; /* NULL: none */
    } cases[] = {
        {"https://a.example/dap", "/x/y?step=0", "https://a.example/x/y?step=0"},
        {"https://a.example", "/x", "https://a.example/x"},
        {"https://a.example/dap/", "https://a.example/x", "https://a.example/x"},
        {"https://a.example/dap", "https://a.example", NULL},
        {"https://a.example/dap", "https://a.example.org/x", NULL},
        {"https://a.example/dap", "https://a.example@b.example/x", NULL},
        {"https://a.example/dap", "https://a.example:444/x", NULL},
        {"https://a.example/dap", "http://a.example/x", NULL},
        {"https://a.example/dap", "//b.example/x", NULL},
        {"https://a.example/dap", "x", NULL},
        {"https://a.example/dap", "", NULL},
        {"a.example/dap", "/x", NULL},
        {"https://", "/x", NULL},
        {"", "/x", NULL},
        {"https://a.example/dap", "/0123456789012345", NULL}, /* does not fit with its end */
        {"https://a.example/dap", "/012345678901234", "https://a.example/012345678901234"},
    };
    char out[34];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sotto_status status =
            sotto_http_locate(out, sizeof out, sotto_bytes_of(cases[i].base, strlen(cases[i].base)),
                              sotto_bytes_of(cases[i].location, strlen(cases[i].location)), NULL);

        CHECK_EQUAL(t, cases[i].wanted ? SOTTO_OK : SOTTO_MALFORMED, status);
        CHECK(t, !cases[i].wanted || strcmp(cases[i].wanted, out) == 0);
    }
}

static void a_problem_is_written_and_read(sotto_test *t)
{
    uint8_t memory[512];
    char type[64];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    static const char wanted[] =
        "{\"type\":\"urn:x\",\"title\":\"Bad Request\",\"detail\":\"a\\u0022b\\u005c\\u000a\","
        "\"taskid\":\"AAAA\",\"status\":400}";

    CHECK_OK(t, sotto_http_problem_encode(
                    &out,
                    &(sotto_http_problem){
                        .status = 400, .type = "urn:x", .detail = "a\"b\\\n", .taskid = "AAAA"},
                    &t->err));
    CHECK_EQUAL(t, sizeof wanted - 1, out.len);
    CHECK_BYTES(t, wanted, memory, out.len);
    CHECK_OK(t, sotto_http_problem_type(type, sizeof type, sotto_buf_bytes(&out), &t->err));
    CHECK(t, strcmp(type, "urn:x") == 0);
    CHECK_OK(t, sotto_http_problem_type(type, sizeof type, sotto_bytes_of("{}", 2), &t->err));
    CHECK(t, strcmp(type, "about:blank") == 0);
    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_http_problem_type(type, 5, sotto_buf_bytes(&out), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_http_problem_type(type, 64, sotto_bytes_of("[1]", 3), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_http_problem_type(type, 64, sotto_bytes_of("{\"type\":", 8), &t->err));
    out.cap = out.len + 10;
    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_http_problem_encode(&out, &(sotto_http_problem){.status = 400}, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_hostile_file_is_refused),
        CASE(a_head_is_taken_apart),
        CASE(the_end_of_a_head_is_found_wherever_reading_stopped),
        CASE(loopback_is_told_from_the_rest),
        CASE(media_types_are_compared_without_parameters),
        CASE(a_place_is_at_its_own_origin_or_none),
        CASE(a_problem_is_written_and_read),
    };

    return RUN_TESTS(argc, argv, cases);
}
