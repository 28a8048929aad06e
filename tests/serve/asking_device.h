/* A device that asks an attester for tokens, request by request. */
#ifndef SOTTO_TESTS_SERVE_ASKING_DEVICE_H
#define SOTTO_TESTS_SERVE_ASKING_DEVICE_H

#include "crypto/signature.h"
#include "seal/token/type2.h"
#include "support/attested.h"

enum { ASKING_BODY = 2 + 96 + SOTTO_TYPE2_REQUEST };

typedef struct asking_device {
    sotto_signer signer;
    sotto_type2_key key;
    sotto_type2_pending pending;
    uint8_t digest[32], body[ASKING_BODY];
    char path[100];
} asking_device;

/* first: of the seed of its key. */
void asking_make(sotto_test *t, asking_device *v, uint8_t first);
void asking_clear(asking_device *v);
/* PUT or DELETE, as `who`: the status. */
unsigned asking_enrol(sotto_test *t, const sotto_test_attested *d, const asking_device *v,
                      sotto_http_method method, const char *who);

/* A new request under the key of the collection that opens and closes then. */
void asking_prepare_until(sotto_test *t, const sotto_test_attested *d, asking_device *v,
                          unsigned opens, int64_t closes);
void asking_prepare(sotto_test *t, const sotto_test_attested *d, asking_device *v, unsigned opens);
/* wrong: the blinded number is not below the modulus, which the issuer alone sees. */
void asking_prepare_wrong(sotto_test *t, const sotto_test_attested *d, asking_device *v,
                          unsigned opens, bool wrong);
sotto_http_response asking_send(sotto_test *t, const sotto_test_attested *d,
                                const asking_device *v);

#endif
