/* support/tokens.h - an issuer of tokens of type 2 within a test.
 *
 * Memory:   an issuer holds keys until it is closed.
 */
#ifndef SOTTO_TESTS_SUPPORT_TOKENS_H
#define SOTTO_TESTS_SUPPORT_TOKENS_H

#include "dap/admission.h"
#include "support/test.h"

typedef struct sotto_test_issuer {
    sotto_rsa_private secret;
    sotto_type2_key key;
    uint8_t spki[SOTTO_TYPE2_SPKI];
} sotto_test_issuer;

/* Two issuers, 0 and 1, or the same issuer's keys of two collections. */
void sotto_test_issuer_open(sotto_test *t, sotto_test_issuer *issuer, unsigned which);
void sotto_test_issuer_close(sotto_test_issuer *issuer);

/* A token for this collection, from the test's arena, whose one-time key has this seed. */
sotto_bytes sotto_test_token(sotto_test *t, sotto_test_issuer *issuer,
                             const sotto_admission_collection *collection,
                             const uint8_t seed[SOTTO_ONCE_SEED]);

#endif
