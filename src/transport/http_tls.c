#include "base/rule.h"
#include "base/secret_file.h"
#include "transport/http_server_internal.h"

#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <unistd.h>

/* TLS 1.2 without forward secrecy, or with CBC and a MAC, is not spoken. Suites of TLS 1.3 are all of this kind. */
#define TLS12_SUITES "ECDHE+AESGCM:ECDHE+CHACHA20"

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

sotto_status sotto_http_tls_open(struct ssl_ctx_st **tls, const char *certificate,
                                 const char *private_key, sotto_err *err)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    sotto_status status;

    *tls = NULL;
    if (!context || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) {
        SSL_CTX_free(context);
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for TLS");
    }
    if (SOTTO_RULE(tls_suites) && SSL_CTX_set_cipher_list(context, TLS12_SUITES) != 1) {
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
        *tls = context;
    return status;
}

void sotto_http_tls_close(struct ssl_ctx_st *tls)
{
    SSL_CTX_free(tls);
}

struct bufferevent *sotto_http_tls_accept(struct ssl_ctx_st *tls, struct event_base *base, int fd)
{
    SSL *ssl = SSL_new(tls);
    struct bufferevent *bev = NULL;

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
