/* TLS both ways, with certificates made here. */
#define _GNU_SOURCE

#include "support/http.h"
#include "transport/http_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

static sotto_test_http http;
static char directory[] = "/tmp/sotto-http-tls-XXXXXX";
static char paths[4][128];

static const char *path(sotto_test *t, int which, const char *name)
{
    (void)t;
    (void)snprintf(paths[which], sizeof paths[which], "%s/%s", directory, name);
    return paths[which];
}

static void add_names(sotto_test *t, X509 *cert, const char *names)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, names);

    CHECK(t, extension && X509_add_ext(cert, extension, -1) == 1);
    X509_EXTENSION_free(extension);
}

/* A certificate for these names, signed by itself. */
static void make(sotto_test *t, const char *cert_path, const char *key_path, const char *names)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    FILE *file;

    CHECK(t, key && cert);
    (void)X509_set_version(cert, 2);
    (void)ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
    (void)X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
    (void)X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
    (void)X509_set_pubkey(cert, key);
    (void)X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
                                     (const unsigned char *)"sotto test", -1, -1, 0);
    (void)X509_set_issuer_name(cert, X509_get_subject_name(cert));
    add_names(t, cert, names);
    CHECK(t, X509_sign(cert, key, EVP_sha256()) > 0);
    file = fopen(cert_path, "w");
    CHECK(t, file && PEM_write_X509(file, cert) == 1);
    (void)fclose(file);
    (void)umask(077);
    file = fopen(key_path, "w");
    CHECK(t, file && PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1);
    (void)fclose(file);
    X509_free(cert);
    EVP_PKEY_free(key);
}

static void begin(sotto_test *t)
{
    (void)snprintf(directory, sizeof directory, "/tmp/sotto-http-tls-XXXXXX");
    CHECK(t, mkdtemp(directory) != NULL);
    make(t, path(t, 0, "cert.pem"), path(t, 1, "key.pem"), "IP:127.0.0.1,DNS:localhost");
    make(t, path(t, 2, "other.pem"), path(t, 3, "other-key.pem"), "DNS:elsewhere.example");
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
        CASE(old_suites_are_not_spoken),
        CASE(a_key_that_others_may_read_is_refused),
        CASE(certificate_and_key_belong_together),
        CASE(plain_words_to_a_tls_port_are_cut_off),
    };

    return RUN_TESTS(argc, argv, cases);
}
