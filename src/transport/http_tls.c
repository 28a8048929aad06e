#include "transport/http_tls.h"

#include "base/alloc.h"
#include "base/secret_file.h"
#include "transport/http_server_internal.h"

#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <unistd.h>

struct sotto_http_tls {
    pthread_mutex_t lock;
    SSL_CTX *current; /* of connections to come */
};

/* A client that offers protocols gets the one we speak, or none at all. */
static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                           const unsigned char *in, unsigned in_len, void *context)
{
    static const unsigned char ours[] = "\x08http/1.1";
    unsigned char *chosen;

    (void)ssl;
    (void)context;
    if (SSL_select_next_proto(&chosen, out_len, ours, sizeof ours - 1, in, in_len) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static sotto_status load(SSL_CTX *tls, const char *certificate, const char *private_key,
                         sotto_err *err)
{
    sotto_err why = {0};
    sotto_status status;

    if (access(certificate, R_OK) != 0)
        return sotto_fail(err, SOTTO_MISSING, "certificate %s can't be read", certificate);
    if (access(private_key, R_OK) != 0)
        return sotto_fail(err, SOTTO_MISSING, "private key %s can't be read", private_key);
    status = sotto_secret_file_check(private_key, SOTTO_SECRET_GIVEN, &why);
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "private key %.80s %s", private_key, why.reason);
    if (SSL_CTX_use_certificate_chain_file(tls, certificate) != 1)
        return sotto_fail(err, SOTTO_REJECTED, "%s holds no certificate", certificate);
    if (SSL_CTX_use_PrivateKey_file(tls, private_key, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(tls) != 1)
        return sotto_fail(err, SOTTO_REJECTED, "%s holds no private key for %s", private_key,
                          certificate);
    return SOTTO_OK;
}

static sotto_status make(SSL_CTX **out, const char *certificate, const char *private_key,
                         sotto_err *err)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    sotto_status status;

    *out = NULL;
    if (!context || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) {
        SSL_CTX_free(context);
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for TLS");
    }
    if (SSL_CTX_set_cipher_list(context, SOTTO_HTTP_TLS12_SUITES) != 1) {
        SSL_CTX_free(context);
        return sotto_fail(err, SOTTO_IO, "OpenSSL has none of the TLS 1.2 suites that we allow");
    }
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                     SSL_OP_CIPHER_SERVER_PREFERENCE);
    /* The buffers of idle connections are given back: 34 KiB each. */
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
    status = load(context, certificate, private_key, err);
    ERR_clear_error();
    if (status != SOTTO_OK)
        SSL_CTX_free(context);
    else
        *out = context;
    return status;
}

sotto_status sotto_http_tls_open(sotto_http_tls **tls, const char *certificate,
                                 const char *private_key, sotto_err *err)
{
    sotto_http_tls *made = sotto_alloc(sizeof *made);
    sotto_status status;

    *tls = NULL;
    if (!made)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for TLS");
    status = make(&made->current, certificate, private_key, err);
    if (status != SOTTO_OK) {
        sotto_release(made, sizeof *made);
        return status;
    }
    (void)pthread_mutex_init(&made->lock, NULL);
    *tls = made;
    return SOTTO_OK;
}

void sotto_http_tls_close(sotto_http_tls *tls)
{
    if (!tls)
        return;
    SSL_CTX_free(tls->current);
    (void)pthread_mutex_destroy(&tls->lock);
    sotto_release(tls, sizeof *tls);
}

sotto_status sotto_http_server_reload(sotto_http_server *server, const char *certificate,
                                      const char *private_key, sotto_err *err)
{
    SSL_CTX *fresh, *old;

    if (!server->tls)
        return sotto_fail(err, SOTTO_STALE, "the server speaks plain HTTP");
    SOTTO_TRY(make(&fresh, certificate, private_key, err));
    (void)pthread_mutex_lock(&server->tls->lock);
    old = server->tls->current;
    server->tls->current = fresh;
    (void)pthread_mutex_unlock(&server->tls->lock);
    SSL_CTX_free(old); /* connections hold it on */
    return SOTTO_OK;
}

/* A counted reference: a reload may put another in its place meanwhile. */
static SSL_CTX *hold(sotto_http_tls *tls)
{
    SSL_CTX *context;

    (void)pthread_mutex_lock(&tls->lock);
    context = tls->current;
    (void)SSL_CTX_up_ref(context);
    (void)pthread_mutex_unlock(&tls->lock);
    return context;
}

bool sotto_http_server_certificate_end(sotto_http_server *server, int64_t *seconds)
{
    SSL_CTX *context = server->tls ? hold(server->tls) : NULL;
    const X509 *certificate = context ? SSL_CTX_get0_certificate(context) : NULL;
    ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
    int days = 0, rest = 0;
    bool known = certificate && epoch &&
                 ASN1_TIME_diff(&days, &rest, epoch, X509_get0_notAfter(certificate)) == 1;

    *seconds = known ? (int64_t)days * 86400 + rest : 0;
    ASN1_TIME_free(epoch);
    SSL_CTX_free(context);
    return known;
}

struct bufferevent *sotto_http_tls_accept(sotto_http_tls *tls, struct event_base *base, int fd)
{
    SSL_CTX *context = hold(tls);
    SSL *ssl = SSL_new(context);
    struct bufferevent *bev = NULL;

    SSL_CTX_free(context);
    /* Deferred: OpenSSL may find the end of a connection while we write to it, and whoever writes must not find it gone. */
    if (ssl)
        bev = bufferevent_openssl_socket_new(base, fd, ssl, BUFFEREVENT_SSL_ACCEPTING,
                                             BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
    if (!bev)
        SSL_free(ssl);
    return bev;
}

void sotto_http_tls_finish(struct bufferevent *bev)
{
    SSL *ssl = bufferevent_openssl_get_ssl(bev);

    if (ssl && SSL_is_init_finished(ssl))
        (void)SSL_shutdown(ssl);
    ERR_clear_error();
}
