/* support/certificate.h - a certificate and its key, made on the spot. */
#ifndef SOTTO_TESTS_SUPPORT_CERTIFICATE_H
#define SOTTO_TESTS_SUPPORT_CERTIFICATE_H

#include "support/test.h"

/* Writes a certificate for these names ("IP:127.0.0.1,DNS:localhost"), signed by itself, and its key, as PEM files. */
void sotto_test_certificate(sotto_test *t, const char *cert_path, const char *key_path,
                            const char *names);

#endif
