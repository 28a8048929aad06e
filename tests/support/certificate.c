#define _GNU_SOURCE

#include "support/certificate.h"

#include <stdio.h>
#include <sys/stat.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

static void add_names(sotto_test *t, X509 *cert, const char *names)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, names);

    CHECK(t, extension && X509_add_ext(cert, extension, -1) == 1);
    X509_EXTENSION_free(extension);
}

void sotto_test_certificate(sotto_test *t, const char *cert_path, const char *key_path,
                            const char *names)
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
