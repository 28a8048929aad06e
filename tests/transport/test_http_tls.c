/* TLS both ways, with certificates made here. */
#define _GNU_SOURCE

#include "support/certificate.h"
#include "support/http.h"
#include "transport/http_client.h"
#include "transport/http_tls.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <openssl/ssl.h>

static sotto_test_http http;
static char directory[] = "/tmp/sotto-http-tls-XXXXXX";
static char paths[4][128];

static const char *path(sotto_test *t, int which, const char *name)
{
    (void)t;
    (void)snprintf(paths[which], sizeof paths[which], "%s/%s", directory, name);
    return paths[which];
}

static void begin(sotto_test *t)
{
    (void)snprintf(directory, sizeof directory, "/tmp/sotto-http-tls-XXXXXX");
    CHECK(t, mkdtemp(directory) != NULL);
    sotto_test_certificate(t, path(t, 0, "cert.pem"), path(t, 1, "key.pem"),
                           "IP:127.0.0.1,DNS:localhost");
    sotto_test_certificate(t, path(t, 2, "other.pem"), path(t, 3, "other-key.pem"),
                           "DNS:elsewhere.example");
}

static void end(void)
{
    for (int i = 0; i < 4; i++)
        (void)unlink(paths[i]);
    (void)rmdir(directory);
}

static sotto_status get(sotto_test *t, const char *ca, sotto_http_response *r, const char *what)
{
    sotto_http_client *client;
    sotto_status status;
    char url[128];

    CHECK_OK(t, sotto_http_client_open(&client,
                                       &(sotto_http_client_options){.ca_file = ca, .backoff_ms = 1},
                                       &t->err));
    (void)snprintf(url, sizeof url, "https://127.0.0.1:%u%s", http.port, what);
    status = sotto_http_call_wait(client, r, &(sotto_http_call){.url = url, .attempts = 2},
                                  &t->arena, &t->err);
    sotto_http_client_close(client);
    return status;
}

static void a_round_trip_over_tls(sotto_test *t)
{
    sotto_http_response r;
    sotto_http_client *client;
    char url[128];
    static uint8_t body[300000];

    begin(t);
    sotto_test_http_open(
        t, &http,
        (sotto_http_server_options){.certificate = paths[0], .private_key = paths[1], .loops = 2});
    CHECK_OK(t, get(t, paths[0], &r, "/ok"));
    CHECK_EQUAL(t, 200, r.status);
    CHECK_BYTES(t, "fine", r.body.data, 4);
    CHECK_OK(t, get(t, paths[0], &r, "/big/1000000"));
    CHECK_EQUAL(t, 1000000, r.body.len);
    CHECK_OK(t, sotto_http_client_open(&client, &(sotto_http_client_options){.ca_file = paths[0]},
                                       &t->err));
    memset(body, 'q', sizeof body);
    (void)snprintf(url, sizeof url, "https://127.0.0.1:%u/later", http.port);
    for (int i = 0; i < 5; i++) {
        CHECK_OK(t,
                 sotto_http_call_wait(client, &r,
                                      &(sotto_http_call){.url = url,
                                                         .method = SOTTO_HTTP_PUT,
                                                         .body = sotto_bytes_of(body, sizeof body)},
                                      &t->arena, &t->err));
        CHECK_EQUAL(t, sizeof body, r.body.len);
        CHECK_BYTES(t, body, r.body.data, sizeof body);
    }
    sotto_http_client_close(client);
    CHECK_OK(t, sotto_http_server_drain(http.server, 5000, &t->err));
    sotto_test_http_close(&http);
    end();
}

static void strangers_are_not_trusted(sotto_test *t)
{
    sotto_http_response r;

    begin(t);
    sotto_test_http_open(
        t, &http, (sotto_http_server_options){.certificate = paths[0], .private_key = paths[1]});
    CHECK_STATUS(t, SOTTO_REJECTED, get(t, NULL, &r, "/ok"));     /* the system's authorities  */
    CHECK_STATUS(t, SOTTO_REJECTED, get(t, paths[2], &r, "/ok")); /* another one than its own  */
    CHECK_EQUAL(t, 0, atomic_load(&http.heads));
    sotto_test_http_close(&http);
    sotto_test_http_open(
        t, &http, (sotto_http_server_options){.certificate = paths[2], .private_key = paths[3]});
    CHECK_STATUS(t, SOTTO_REJECTED, get(t, paths[2], &r, "/ok")); /* the wrong name            */
    CHECK_EQUAL(t, 0, atomic_load(&http.heads));
    sotto_test_http_close(&http);
    end();
}

static void a_certificate_that_is_not_believed_says_what_to_do(sotto_test *t)
{
    sotto_http_response r;

    begin(t);
    sotto_test_http_open(
        t, &http, (sotto_http_server_options){.certificate = paths[0], .private_key = paths[1]});
    CHECK_STATUS(t, SOTTO_REJECTED, get(t, NULL, &r, "/ok"));
    CHECK_REASON(t, "self-signed certificate; trust its issuer with --ca (a server: ca_file)");
    t->err = (sotto_err){0};
    CHECK_STATUS(t, SOTTO_REJECTED, get(t, paths[2], &r, "/ok"));
    CHECK_REASON(t, "is its issuer in --ca (a server: ca_file)?");
    sotto_test_http_close(&http);
    /* Believing another issuer does not mend a wrong name. */
    sotto_test_http_open(
        t, &http, (sotto_http_server_options){.certificate = paths[2], .private_key = paths[3]});
    t->err = (sotto_err){0};
    CHECK_STATUS(t, SOTTO_REJECTED, get(t, paths[2], &r, "/ok"));
    CHECK_REASON(t, "name");
    CHECK(t, !strstr(t->err.reason, "--ca"));
    sotto_test_http_close(&http);
    end();
}

/* Whether a client that offers TLS 1.2 with these suites alone, or 1.3, can shake hands. */
static bool shakes_hands(sotto_test *t, int version, const char *suites)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *ssl;
    bool agreed;
    int fd;

    CHECK(t, context && SSL_CTX_set_min_proto_version(context, version) == 1 &&
                 SSL_CTX_set_max_proto_version(context, version) == 1 &&
                 (!suites || SSL_CTX_set_cipher_list(context, suites) == 1));
    ssl = SSL_new(context);
    fd = sotto_test_dial(t, http.port);
    CHECK(t, ssl && SSL_set_fd(ssl, fd) == 1);
    agreed = SSL_connect(ssl) == 1;
    SSL_free(ssl);
    SSL_CTX_free(context);
    (void)close(fd);
    return agreed;
}

static void old_suites_are_not_spoken(sotto_test *t)
{
    begin(t);
    sotto_test_http_open(
        t, &http, (sotto_http_server_options){.certificate = paths[0], .private_key = paths[1]});
    CHECK(t, shakes_hands(t, TLS1_3_VERSION, NULL));
    CHECK(t, shakes_hands(t, TLS1_2_VERSION, "ECDHE-ECDSA-AES128-GCM-SHA256"));
    CHECK(t, shakes_hands(t, TLS1_2_VERSION, "ECDHE-ECDSA-CHACHA20-POLY1305"));
    CHECK(t, !shakes_hands(t, TLS1_2_VERSION, "ECDHE-ECDSA-AES128-SHA"));
    CHECK(t, !shakes_hands(t, TLS1_2_VERSION, "ECDHE-ECDSA-AES256-SHA384"));
    CHECK(t, !shakes_hands(t, TLS1_2_VERSION, "AES128-GCM-SHA256"));
    sotto_test_http_close(&http);
    end();
}

/* ---- a server that speaks TLS 1.2 with one suite alone -------------------------------------------------------------- */

typedef struct old_server {
    SSL_CTX *context;
    int listener;
    uint16_t port;
    bool agreed;
} old_server;

static void open_old_server(sotto_test *t, old_server *old, const char *suite)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t len = sizeof at;

    *old = (old_server){.context = SSL_CTX_new(TLS_server_method())};
    CHECK(t, old->context && SSL_CTX_set_max_proto_version(old->context, TLS1_2_VERSION) == 1);
    CHECK(t, SSL_CTX_set_cipher_list(old->context, suite) == 1);
    CHECK(t, SSL_CTX_use_certificate_chain_file(old->context, paths[0]) == 1);
    CHECK(t, SSL_CTX_use_PrivateKey_file(old->context, paths[1], SSL_FILETYPE_PEM) == 1);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    old->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(t, old->listener >= 0);
    CHECK(t, bind(old->listener, (const struct sockaddr *)&at, sizeof at) == 0);
    CHECK(t, listen(old->listener, 8) == 0);
    CHECK(t, getsockname(old->listener, (struct sockaddr *)&at, &len) == 0);
    old->port = ntohs(at.sin_port);
}

/* One connection: shakes hands if it can, and answers whatever is asked. */
static void *serve_once(void *context)
{
    static const char answer[] =
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    old_server *old = context;
    const int fd = accept(old->listener, NULL, NULL);
    SSL *ssl = SSL_new(old->context);
    char asked[2048];

    if (ssl && fd >= 0 && SSL_set_fd(ssl, fd) == 1 && SSL_accept(ssl) == 1) {
        old->agreed = true;
        if (SSL_read(ssl, asked, sizeof asked) > 0)
            (void)SSL_write(ssl, answer, sizeof answer - 1);
        (void)SSL_shutdown(ssl);
    }
    SSL_free(ssl);
    (void)close(fd);
    return NULL;
}

/* Whether our client and such a server agree. */
static bool client_agrees(sotto_test *t, const char *suite)
{
    old_server old;
    sotto_http_client *client;
    sotto_http_response r;
    sotto_status status;
    pthread_t thread;
    char url[64];

    open_old_server(t, &old, suite);
    CHECK(t, pthread_create(&thread, NULL, serve_once, &old) == 0);
    CHECK_OK(t, sotto_http_client_open(&client, &(sotto_http_client_options){.ca_file = paths[0]},
                                       &t->err));
    (void)snprintf(url, sizeof url, "https://127.0.0.1:%u/", old.port);
    status = sotto_http_call_wait(client, &r, &(sotto_http_call){.url = url, .attempts = 1},
                                  &t->arena, &(sotto_err){0});
    (void)pthread_join(thread, NULL);
    CHECK(t, old.agreed == (status == SOTTO_OK));
    sotto_http_client_close(client);
    SSL_CTX_free(old.context);
    (void)close(old.listener);
    return old.agreed;
}

static void the_client_speaks_no_old_suites_either(sotto_test *t)
{
    begin(t);
    CHECK(t, client_agrees(t, "ECDHE-ECDSA-AES128-GCM-SHA256"));
    CHECK(t, client_agrees(t, "ECDHE-ECDSA-CHACHA20-POLY1305"));
    CHECK(t, !client_agrees(t, "ECDHE-ECDSA-AES128-SHA"));
    CHECK(t, !client_agrees(t, "ECDHE-ECDSA-AES256-SHA384"));
    end();
}

static void a_key_that_others_may_read_is_refused(sotto_test *t)
{
    sotto_http_server_options options = {.certificate = path(t, 0, "cert.pem"),
                                         .private_key = path(t, 1, "key.pem")};
    sotto_http_server *server;

    begin(t);
    CHECK_EQUAL(t, 0, chmod(paths[1], 0644));
    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_http_server_open(&server, &options, sotto_test_http_handler(), NULL, &t->err));
    CHECK(t, strstr(t->err.reason, "others may read it") != NULL);
    end();
}

static void certificate_and_key_belong_together(sotto_test *t)
{
    const sotto_http_handler *handler = sotto_test_http_handler();
    sotto_http_server *server;
    sotto_http_client *client;

    begin(t);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_http_server_open(
                     &server,
                     &(sotto_http_server_options){.certificate = paths[0], .private_key = paths[3]},
                     handler, NULL, &t->err));
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_http_server_open(&server,
                                        &(sotto_http_server_options){.certificate = paths[0],
                                                                     .private_key = "/nowhere"},
                                        handler, NULL, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_http_server_open(&server,
                                        &(sotto_http_server_options){.certificate = paths[0]},
                                        handler, NULL, &t->err));
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_http_client_open(
                     &client, &(sotto_http_client_options){.ca_file = "/nowhere"}, &t->err));
    end();
}

static void a_certificate_is_changed_while_the_server_runs(sotto_test *t)
{
    sotto_http_response r;
    int64_t before, after;

    begin(t);
    sotto_test_http_open(
        t, &http, (sotto_http_server_options){.certificate = paths[2], .private_key = paths[3]});
    CHECK_STATUS(t, SOTTO_REJECTED, get(t, paths[0], &r, "/ok"));
    t->err = (sotto_err){0};
    CHECK_OK(t, sotto_http_server_reload(http.server, paths[0], paths[1], &t->err));
    CHECK_OK(t, get(t, paths[0], &r, "/ok"));
    CHECK(t, sotto_http_server_certificate_end(http.server, &before));
    CHECK(t, before > time(NULL) + 3000 && before <= time(NULL) + 3600);
    /* What can't be used changes nothing. */
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_http_server_reload(http.server, paths[2], paths[1], &t->err));
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_http_server_reload(http.server, "/nowhere", paths[1], &t->err));
    t->err = (sotto_err){0};
    CHECK_OK(t, get(t, paths[0], &r, "/ok"));
    CHECK(t, sotto_http_server_certificate_end(http.server, &after) && after == before);
    sotto_test_http_close(&http);
    end();
    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    CHECK(t, !sotto_http_server_certificate_end(http.server, &after));
    CHECK_STATUS(t, SOTTO_STALE, sotto_http_server_reload(http.server, NULL, NULL, &t->err));
    sotto_test_http_close(&http);
}

static void plain_words_to_a_tls_port_are_cut_off(sotto_test *t)
{
    begin(t);
    sotto_test_http_open(t, &http,
                         (sotto_http_server_options){
                             .certificate = paths[0], .private_key = paths[1], .head_ms = 200});
    for (int i = 0; i < 20; i++) {
        const int fd = sotto_test_dial(t, http.port);

        if (i % 2)
            sotto_test_send_text(t, fd, "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n");
        CHECK_EQUAL(t, 0, sotto_test_hear(t, fd).status);
        (void)close(fd);
    }
    CHECK_EQUAL(t, 0, atomic_load(&http.heads));
    sotto_test_http_close(&http);
    end();
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_round_trip_over_tls),
        CASE(strangers_are_not_trusted),
        CASE(a_certificate_that_is_not_believed_says_what_to_do),
        CASE(old_suites_are_not_spoken),
        CASE(the_client_speaks_no_old_suites_either),
        CASE(a_key_that_others_may_read_is_refused),
        CASE(certificate_and_key_belong_together),
        CASE(a_certificate_is_changed_while_the_server_runs),
        CASE(plain_words_to_a_tls_port_are_cut_off),
    };

    return RUN_TESTS(argc, argv, cases);
}
