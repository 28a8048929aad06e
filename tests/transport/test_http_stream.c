/* Bodies that are taken in pieces: at flat memory, at the handler's pace, and to a clean end whatever happens. */
#define _GNU_SOURCE

#include "base/alloc.h"
#include "stream_server.h"
#include "support/certificate.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/ssl.h>

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

enum { MIB = 1 << 20, PIECE = 64 << 10 };

static stream_server server;
static uint8_t piece[PIECE];
static char directory[64], certificate[96], key[96];

static void fill(uint64_t at, size_t len)
{
    for (size_t i = 0; i < len; i++)
        piece[i] = stream_byte(at + i);
}

/* What the server says to `len` bytes of ours. */
static void check_sum(sotto_test *t, const sotto_test_answer *answer, uint64_t len)
{
    char wanted[64];
    uint64_t sum = 0;

    for (uint64_t at = 0; at < len; at += PIECE) {
        const size_t part = len - at < PIECE ? (size_t)(len - at) : PIECE;

        fill(at, part);
        sum = stream_sum(sum, at, piece, part);
    }
    (void)snprintf(wanted, sizeof wanted, "%llu %llu", (unsigned long long)len,
                   (unsigned long long)sum);
    CHECK_EQUAL(t, 200, answer->status);
    CHECK(t, strcmp(answer->body, wanted) == 0);
}

static int begin_upload(sotto_test *t, const char *route, uint64_t len)
{
    const int fd = sotto_test_dial(t, server.port);
    char head[200];

    (void)snprintf(head, sizeof head, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %llu\r\n\r\n",
                   route, (unsigned long long)len);
    sotto_test_send_text(t, fd, head);
    return fd;
}

static void send_part(sotto_test *t, int fd, uint64_t from, uint64_t to)
{
    for (uint64_t at = from; at < to; at += PIECE) {
        const size_t part = to - at < PIECE ? (size_t)(to - at) : PIECE;

        fill(at, part);
        sotto_test_send(t, fd, piece, part);
    }
}

static void wait_until_taken(sotto_test *t, uint64_t wanted)
{
    for (uint64_t until = 0; atomic_load(&server.taken) < wanted && sotto_test_waits(&until, 1);)
        ;
    CHECK(t, atomic_load(&server.taken) >= wanted);
}

static uint64_t memory_kib(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[200];
    unsigned long long kib = 0;

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %llu", &kib) == 1)
            break;
    if (file)
        (void)fclose(file);
    return kib;
}

static void check_flat(sotto_test *t, uint64_t before)
{
    CHECK(t, stream_server_counts(&server).bytes_in_flight_now <= 256 << 10);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    CHECK(t, memory_kib() <= before + 8192);
#else /* which keep what is freed, to find its uses */
    (void)before;
#endif
}

/* ---- length -------------------------------------------------------------------------------------- */

static void a_long_upload_takes_no_memory(sotto_test *t)
{
    const uint64_t len = 64 * MIB;
    uint64_t before;
    int fd;

    /* Longer than all that may be in flight. */
    stream_server_open(t, &server, (sotto_http_server_options){.max_bytes_in_flight = MIB});
    fd = begin_upload(t, "/count", len);
    send_part(t, fd, 0, 2 * MIB);
    wait_until_taken(t, 1 * MIB);
    before = memory_kib();
    for (uint64_t at = 2 * MIB; at < len; at += 2 * MIB) {
        send_part(t, fd, at, at + 2 * MIB);
        check_flat(t, before);
    }
    const sotto_test_answer answer = sotto_test_hear(t, fd);
    check_sum(t, &answer, len);
    CHECK(t, atomic_load(&server.largest) <= PIECE);
    (void)close(fd);
    stream_server_wait_quiet(t, &server);
    stream_server_close(&server);
}

static void make_certificate(sotto_test *t)
{
    (void)snprintf(directory, sizeof directory, "/tmp/sotto-http-stream-XXXXXX");
    CHECK(t, mkdtemp(directory) != NULL);
    (void)snprintf(certificate, sizeof certificate, "%s/cert.pem", directory);
    (void)snprintf(key, sizeof key, "%s/key.pem", directory);
    sotto_test_certificate(t, certificate, key, "IP:127.0.0.1");
}

static void remove_certificate(void)
{
    (void)unlink(certificate);
    (void)unlink(key);
    (void)rmdir(directory);
}

static void a_long_upload_over_tls_takes_no_memory(sotto_test *t)
{
    static const char head[] =
        "POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: 67108864\r\n\r\n";
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *ssl = SSL_new(context);
    sotto_test_answer answer = {0};
    uint64_t before = 0;
    char text[2048] = "";
    size_t len = 0;
    int fd;

    make_certificate(t);
    stream_server_open(t, &server,
                       (sotto_http_server_options){.max_bytes_in_flight = MIB,
                                                   .certificate = certificate,
                                                   .private_key = key});
    fd = sotto_test_dial(t, server.port);
    CHECK(t, ssl && SSL_set_fd(ssl, fd) == 1 && SSL_connect(ssl) == 1);
    CHECK(t, SSL_write(ssl, head, sizeof head - 1) > 0);
    for (uint64_t at = 0; at < 64 * MIB; at += PIECE) {
        fill(at, PIECE);
        CHECK(t, SSL_write(ssl, piece, PIECE) == PIECE);
        if (at == 2 * MIB)
            before = memory_kib();
        if (at > 2 * MIB && at % (4 * MIB) == 0)
            check_flat(t, before);
    }
    while (len < sizeof text - 1 && !strstr(answer.body, " ")) {
        const int n = SSL_read(ssl, text + len, (int)(sizeof text - 1 - len));

        CHECK(t, n > 0);
        len += (size_t)n;
        if (strstr(text, "\r\n\r\n"))
            (void)snprintf(answer.body, sizeof answer.body, "%s", strstr(text, "\r\n\r\n") + 4);
    }
    CHECK(t, sscanf(text, "HTTP/1.1 %u", &answer.status) == 1);
    check_sum(t, &answer, 64 * MIB);
    SSL_free(ssl);
    SSL_CTX_free(context);
    (void)close(fd);
    stream_server_close(&server);
    remove_certificate();
}

static void chunks_are_taken_in_pieces_too(sotto_test *t)
{
    const uint64_t len = 3 * MIB + 5;
    int fd;

    stream_server_open(t, &server, (sotto_http_server_options){.max_bytes_in_flight = MIB});
    fd = sotto_test_dial(t, server.port);
    sotto_test_send_text(t, fd,
                         "POST /count HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (uint64_t at = 0; at < len; at += 40000) {
        const size_t part = len - at < 40000 ? (size_t)(len - at) : 40000;
        char line[32];

        (void)snprintf(line, sizeof line, "%zx\r\n", part);
        sotto_test_send_text(t, fd, line);
        fill(at, part);
        sotto_test_send(t, fd, piece, part);
        sotto_test_send_text(t, fd, "\r\n");
    }
    sotto_test_send_text(t, fd, "0\r\n\r\n");
    const sotto_test_answer answer = sotto_test_hear(t, fd);
    check_sum(t, &answer, len);
    (void)close(fd);
    stream_server_wait_quiet(t, &server);
    stream_server_close(&server);
}

static void a_body_over_its_limit_is_refused_before_it_is_taken(sotto_test *t)
{
    int fd;

    stream_server_open(t, &server, (sotto_http_server_options){0});
    fd = begin_upload(t, "/limit/9", 10);
    CHECK_EQUAL(t, 413, sotto_test_hear(t, fd).status);
    (void)close(fd);
    /* By what a chunk announces, not by what has come of it. */
    fd = sotto_test_dial(t, server.port);
    sotto_test_send_text(t, fd,
                         "POST /limit/9 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                         "4\r\n1234\r\n6\r\n");
    CHECK_EQUAL(t, 413, sotto_test_hear(t, fd).status);
    (void)close(fd);
    CHECK_EQUAL(t, 2, atomic_load(&server.lost));
    CHECK_EQUAL(t, 4, atomic_load(&server.taken));
    CHECK_EQUAL(t, 2, stream_server_counts(&server).too_large);
    CHECK_EQUAL(t, 200,
                sotto_test_ask(t, server.port,
                               "POST /limit/9 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked"
                               "\r\n\r\n4\r\n1234\r\n5\r\n56789\r\n0\r\n\r\n")
                    .status);
    stream_server_close(&server);
}

static void requests_in_a_pipe_follow_a_streamed_one(sotto_test *t)
{
    int fd;

    stream_server_open(t, &server, (sotto_http_server_options){0});
    fd = sotto_test_dial(t, server.port);
    sotto_test_send_text(
        t, fd,
        "POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
        "POST /count HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"
        "POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n" GET("/made/10")
            GET("/made/0") "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
    CHECK(t, strcmp(sotto_test_hear(t, fd).body, "3 590") == 0);
    CHECK(t, strcmp(sotto_test_hear(t, fd).body, "2 293") == 0);
    CHECK(t, strcmp(sotto_test_hear(t, fd).body, "0 0") == 0);
    CHECK_EQUAL(t, 10, sotto_test_hear(t, fd).body_len);
    CHECK_EQUAL(t, 0, sotto_test_hear(t, fd).body_len);
    CHECK(t, strcmp(sotto_test_hear(t, fd).body, "hi") == 0);
    (void)close(fd);
    stream_server_close(&server);
}

static void one_who_expects_to_be_asked_is_asked(sotto_test *t)
{
    int fd;

    stream_server_open(t, &server, (sotto_http_server_options){0});
    fd = sotto_test_dial(t, server.port);
    sotto_test_send_text(
        t, fd,
        "POST /count HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    CHECK_EQUAL(t, 100, sotto_test_hear(t, fd).status);
    sotto_test_send_text(t, fd, "abc");
    CHECK(t, strcmp(sotto_test_hear(t, fd).body, "3 590") == 0);
    sotto_test_send_text(
        t, fd,
        "POST /limit/2 HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    CHECK_EQUAL(t, 413, sotto_test_hear(t, fd).status);
    (void)close(fd);
    stream_server_close(&server);
}

/* ---- pace ---------------------------------------------------------------------------------------- */

/* Sends as much as the other side takes; returns how much that is. */
static uint64_t send_until_stuck(int fd, uint64_t len)
{
    uint64_t sent = 0;

    for (int quiet = 0; sent < len && quiet < 100;) {
        const size_t part = len - sent < PIECE ? (size_t)(len - sent) : PIECE;
        ssize_t n;

        fill(sent, part);
        n = send(fd, piece, part, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0) {
            sent += (uint64_t)n;
            quiet = 0;
        } else {
            sotto_test_sleep_ms(2);
            quiet++;
        }
    }
    return sent;
}

static void a_handler_that_waits_holds_its_client_back(sotto_test *t)
{
    const uint64_t len = 64 * MIB;
    uint64_t sent, taken;
    int fd;

    /* Far longer than the client may be silent: its time stands still while the handler waits. */
    stream_server_open(t, &server, (sotto_http_server_options){.body_ms = 1000, .idle_ms = 1000});
    stream_server_shut(&server);
    fd = begin_upload(t, "/gate", len);
    sent = send_until_stuck(fd, len);
    taken = atomic_load(&server.taken);
    CHECK(t, sent < len);
    CHECK(t, taken <= PIECE);
    CHECK_EQUAL(t, 1, atomic_load(&server.called_while_shut));
    CHECK(t, stream_server_counts(&server).bytes_in_flight_now <= 256 << 10);
    sotto_test_sleep_ms(2000);
    CHECK_EQUAL(t, taken, atomic_load(&server.taken));
    CHECK_EQUAL(t, 0, stream_server_counts(&server).timed_out);
    stream_server_unshut(&server);
    send_part(t, fd, sent, len);
    const sotto_test_answer answer = sotto_test_hear(t, fd);
    check_sum(t, &answer, len);
    (void)close(fd);
    stream_server_wait_quiet(t, &server);
    stream_server_close(&server);
}

static void a_handler_may_wait_after_the_last_piece(sotto_test *t)
{
    static const char *const texts[] = {
        "POST /gate HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
        "POST /gate HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
        "chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"};

    stream_server_open(t, &server, (sotto_http_server_options){0});
    for (int i = 0; i < 2; i++) {
        const int fd = sotto_test_dial(t, server.port);

        stream_server_shut(&server);
        sotto_test_send_text(t, fd, texts[i]);
        wait_until_taken(t, 3 * ((uint64_t)i + 1));
        sotto_test_sleep_ms(20);
        CHECK_EQUAL(t, i, atomic_load(&server.bodies));
        stream_server_unshut(&server);
        CHECK(t, strcmp(sotto_test_hear(t, fd).body, "3 590") == 0);
        (void)close(fd);
    }
    stream_server_close(&server);
}

static void a_slow_body_is_cut(sotto_test *t)
{
    int fd;

    stream_server_open(t, &server, (sotto_http_server_options){.body_ms = 200});
    fd = begin_upload(t, "/count", 1000);
    sotto_test_send_text(t, fd, "a little");
    CHECK_EQUAL(t, 408, sotto_test_hear(t, fd).status);
    (void)close(fd);
    CHECK_EQUAL(t, 1, atomic_load(&server.lost));
    stream_server_close(&server);
}

/* Never more than there is room for, and where it is not plain HTTP, pieces come elsewhere. */
static void a_piece_is_read_to_where_it_belongs(sotto_test *t)
{
    static const char *const routes[] = {"/place/1", "/place/1000", "/place/65536"};

    stream_server_open(t, &server, (sotto_http_server_options){0});
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        const uint64_t len = i == 0 ? 5000 : 3 * MIB + 1;
        const unsigned before = atomic_load(&server.placed);
        const int fd = begin_upload(t, routes[i], len);

        send_part(t, fd, 0, len);
        const sotto_test_answer answer = sotto_test_hear(t, fd);
        check_sum(t, &answer, len);
        CHECK(t, i == 0 || atomic_load(&server.placed) > before);
        (void)close(fd);
    }
    stream_server_wait_quiet(t, &server);
    stream_server_close(&server);
}

/* What bounds one that is not held is the least rate, which its length bounds in turn. */
static void a_body_in_pieces_has_no_deadline(sotto_test *t)
{
    const uint64_t begin = sotto_test_now_ms();
    uint64_t sent = 0;
    int fd;

    stream_server_open(
        t, &server,
        (sotto_http_server_options){.body_ms = 2000, .min_rate = 1000, .upload_ms = 100});
    fd = begin_upload(t, "/count", MIB);
    while (sotto_test_now_ms() - begin < 500) {
        send_part(t, fd, sent, sent + 1000);
        sent += 1000;
        sotto_test_sleep_ms(10);
    }
    send_part(t, fd, sent, MIB);
    const sotto_test_answer answer = sotto_test_hear(t, fd);
    check_sum(t, &answer, MIB);
    (void)close(fd);
    stream_server_close(&server);
}

/* ---- ends ---------------------------------------------------------------------------------------- */

static void a_client_that_goes_away_is_lost_once(sotto_test *t)
{
    int fd;

    stream_server_open(t, &server, (sotto_http_server_options){.loops = 2});
    fd = begin_upload(t, "/count", 10 * MIB);
    send_part(t, fd, 0, MIB);
    wait_until_taken(t, MIB);
    (void)close(fd);
    stream_server_wait(t, &server.lost, 1);
    /* While its handler waits: found when there is nothing left to read, or once the handler is woken. */
    stream_server_shut(&server);
    fd = begin_upload(t, "/gate", 10 * MIB);
    send_part(t, fd, 0, 1000);
    wait_until_taken(t, MIB + 1000);
    (void)close(fd);
    stream_server_wait(t, &server.lost, 2);
    stream_server_unshut(&server);
    fd = sotto_test_dial(t, server.port);
    sotto_test_send_text(
        t, fd, "POST /gate HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    wait_until_taken(t, MIB + 1003);
    (void)close(fd);
    stream_server_wait(t, &server.lost, 3);
    CHECK_EQUAL(t, 0, atomic_load(&server.bodies));
    stream_server_wait_quiet(t, &server);
    stream_server_close(&server);
}

static void one_that_went_while_its_handler_waited_is_lost_at_once(sotto_test *t)
{
    uint64_t begin;
    int fd;

    stream_server_open(t, &server, (sotto_http_server_options){.body_ms = 120000});
    stream_server_shut(&server);
    fd = begin_upload(t, "/gate", 10 * MIB);
    send_part(t, fd, 0, 40000);
    wait_until_taken(t, 1);
    sotto_test_sleep_ms(50);
    (void)close(fd);
    sotto_test_sleep_ms(50); /* its end is seen, behind bytes that nobody wants yet */
    CHECK_EQUAL(t, 0, atomic_load(&server.lost));
    begin = sotto_test_now_ms();
    stream_server_unshut(&server);
    stream_server_wait(t, &server.lost, 1);
    CHECK(t, sotto_test_now_ms() - begin < 60000);
    CHECK_EQUAL(t, 40000, atomic_load(&server.taken));
    stream_server_close(&server);
}

/* Another thread wakes a request over and over while its client leaves. */
static void waking_and_leaving_may_meet(sotto_test *t)
{
    stream_server_open(t, &server, (sotto_http_server_options){.loops = 2});
    for (unsigned i = 0; i < 200; i++) {
        int fd;

        stream_server_shut(&server);
        fd = begin_upload(t, "/gate", 100000);
        send_part(t, fd, 0, 1 + i * 100);
        (void)close(fd);
        for (unsigned j = 0; j < 20 && atomic_load(&server.lost) <= i; j++) {
            stream_server_unshut(&server);
            stream_server_shut(&server);
        }
        stream_server_unshut(&server);
        stream_server_wait(t, &server.lost, i + 1);
    }
    stream_server_wait_quiet(t, &server);
    stream_server_close(&server);
}

static void a_handler_that_fails_ends_the_upload(sotto_test *t)
{
    int fd;

    stream_server_open(t, &server, (sotto_http_server_options){0});
    fd = begin_upload(t, "/fail/100000", 10 * MIB);
    send_part(t, fd, 0, MIB);
    CHECK_EQUAL(t, 500, sotto_test_hear(t, fd).status);
    (void)close(fd);
    fd = begin_upload(t, "/answer/100000", 10 * MIB);
    send_part(t, fd, 0, MIB);
    const sotto_test_answer answer = sotto_test_hear(t, fd);
    CHECK_EQUAL(t, 422, answer.status);
    CHECK(t, strstr(answer.head, "Connection: close"));
    (void)close(fd);
    CHECK_EQUAL(t, 422,
                sotto_test_ask(t, server.port,
                               "POST /answer/2 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked"
                               "\r\n\r\n3\r\nabc\r\n3\r\nabc\r\n0\r\n\r\n")
                    .status);
    /* The rest of a short body is thrown away, and the connection goes on. */
    fd = begin_upload(t, "/answer/10", 30000);
    send_part(t, fd, 0, 30000);
    CHECK_EQUAL(t, 422, sotto_test_hear(t, fd).status);
    sotto_test_send_text(t, fd, "POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
    CHECK(t, strcmp(sotto_test_hear(t, fd).body, "3 590") == 0);
    (void)close(fd);
    CHECK_EQUAL(t, 0, atomic_load(&server.lost));
    stream_server_wait_quiet(t, &server);
    stream_server_close(&server);
}

static void *drain(void *context)
{
    sotto_err err = {0};

    *(sotto_status *)context = sotto_http_server_drain(server.server, 60000, &err);
    return NULL;
}

static void a_drain_lets_an_upload_come_to_its_end(sotto_test *t)
{
    sotto_status status = SOTTO_BUG;
    pthread_t thread;
    int fd;

    stream_server_open(t, &server, (sotto_http_server_options){.loops = 2});
    fd = begin_upload(t, "/count", 2 * MIB);
    send_part(t, fd, 0, MIB);
    wait_until_taken(t, MIB);
    CHECK(t, pthread_create(&thread, NULL, drain, &status) == 0);
    sotto_test_sleep_ms(50);
    send_part(t, fd, MIB, 2 * MIB);
    const sotto_test_answer answer = sotto_test_hear(t, fd);
    check_sum(t, &answer, 2 * MIB);
    CHECK(t, strstr(answer.head, "Connection: close"));
    (void)pthread_join(thread, NULL);
    CHECK_EQUAL(t, SOTTO_OK, status);
    (void)close(fd);
    stream_server_close(&server);
}

static void a_server_that_closes_gives_uploads_up(sotto_test *t)
{
    int fds[2];

    stream_server_open(t, &server, (sotto_http_server_options){0});
    stream_server_shut(&server);
    fds[0] = begin_upload(t, "/count", 2 * MIB);
    fds[1] = begin_upload(t, "/gate", 2 * MIB);
    send_part(t, fds[0], 0, 1000);
    send_part(t, fds[1], 0, 1000);
    wait_until_taken(t, 2000);
    stream_server_close(&server);
    CHECK_EQUAL(t, 2, atomic_load(&server.lost));
    for (int i = 0; i < 2; i++)
        (void)close(fds[i]);
}

static void memory_that_runs_out_costs_a_request_and_no_more(sotto_test *t)
{
    unsigned served = 0;

    for (long n = 0; n < 12; n++) {
        int fd;

        stream_server_open(t, &server, (sotto_http_server_options){0});
        fd = begin_upload(t, "/count", 200000);
        sotto_alloc_fail_after(n);
        send_part(t, fd, 0, 200000);
        served += sotto_test_hear(t, fd).status == 200;
        sotto_alloc_fail_after(-1);
        (void)close(fd);
        CHECK_EQUAL(t, 200, sotto_test_ask(t, server.port, GET("/made/100000")).status);
        stream_server_wait_quiet(t, &server);
        stream_server_close(&server);
    }
    CHECK(t, served > 0 && served < 12);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_long_upload_takes_no_memory),
        CASE(a_long_upload_over_tls_takes_no_memory),
        CASE(chunks_are_taken_in_pieces_too),
        CASE(a_body_over_its_limit_is_refused_before_it_is_taken),
        CASE(requests_in_a_pipe_follow_a_streamed_one),
        CASE(one_who_expects_to_be_asked_is_asked),
        CASE(a_handler_that_waits_holds_its_client_back),
        CASE(a_handler_may_wait_after_the_last_piece),
        CASE(a_slow_body_is_cut),
        CASE(a_piece_is_read_to_where_it_belongs),
        CASE(a_body_in_pieces_has_no_deadline),
        CASE(a_client_that_goes_away_is_lost_once),
        CASE(one_that_went_while_its_handler_waited_is_lost_at_once),
        CASE(waking_and_leaving_may_meet),
        CASE(a_handler_that_fails_ends_the_upload),
        CASE(a_drain_lets_an_upload_come_to_its_end),
        CASE(a_server_that_closes_gives_uploads_up),
        CASE(memory_that_runs_out_costs_a_request_and_no_more),
    };

    return RUN_TESTS(argc, argv, cases);
}
