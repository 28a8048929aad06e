/* support/attested.h - an issuer and an attester in this process, over loopback, and requests to them.
 *
 * Memory:   everything lives in the test's arena or the deployment.
 */
#ifndef SOTTO_TESTS_SUPPORT_ATTESTED_H
#define SOTTO_TESTS_SUPPORT_ATTESTED_H

#include "serve/attester/attester_service.h"
#include "serve/host/options.h"
#include "sotto/device.h"
#include "support/test.h"
#include "transport/http_client.h"

#define SOTTO_TEST_OPERATOR "Bearer operator-of-the-test"

typedef struct sotto_test_attested {
    sotto_host *issuer, *attester;
    sotto_http_client *client;
} sotto_test_attested;

extern sotto_serve_config sotto_test_attester_config;

void sotto_test_write_file(sotto_test *t, char *path, const char *directory, const char *name,
                           const char *text);
/* attestation: NULL: enrolment keys. */
void sotto_test_attested_open(sotto_test *t, sotto_test_attested *d,
                              const sotto_attestation *attestation);
/* The same with more lines in the attester's file; beside it there is `arc`, with SOTTO_TEST_ARC_BEARER. */
#define SOTTO_TEST_ARC_BEARER "attester-at-the-servers"
void sotto_test_attested_open_with(sotto_test *t, sotto_test_attested *d,
                                   const sotto_attestation *attestation, const char *more);
/* Once more, over the same database. */
void sotto_test_attester_start(sotto_test *t, sotto_test_attested *d);
void sotto_test_attested_close(sotto_test_attested *d);

sotto_http_response sotto_test_attested_ask(sotto_test *t, const sotto_test_attested *d,
                                            const sotto_host *host, sotto_http_method method,
                                            const char *path, const char *who, sotto_bytes body);
/* The device with this seed. */
void sotto_test_attested_enrol(sotto_test *t, const sotto_test_attested *d,
                               const uint8_t seed[SOTTO_DEVICE_ENROLMENT]);
/* A collection's new key. */
void sotto_test_attested_collect(sotto_test *t, const sotto_test_attested *d, const char *analysis,
                                 int64_t opens, int64_t closes);
/* The issuer's list, ended by a zero. */
const char *sotto_test_attested_list(sotto_test *t, const sotto_test_attested *d);

/* Carries a device's exchange over HTTP, to whomever it is for. */
sotto_status sotto_test_attested_carry(sotto_test *t, const sotto_test_attested *d,
                                       sotto_exchange *exchange);

#endif
