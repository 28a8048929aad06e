/* support/relayed.h - a relay, its gateway and whoever is behind it, in one: a request of a device is opened, and answered.
 */
#ifndef SOTTO_TESTS_SUPPORT_RELAYED_H
#define SOTTO_TESTS_SUPPORT_RELAYED_H

#include "support/devices.h"

enum { SOTTO_TEST_RELAYED_URL = 256 };

typedef struct sotto_test_relayed {
    unsigned status;     /* of the answer; 0: 200 */
    sotto_bytes content; /* ... */
    /* What was asked. */
    char method[8], url[SOTTO_TEST_RELAYED_URL];
} sotto_test_relayed;

/* Parties with "relay", at https://relay.example/g, and "gateway" beside these. */
sotto_bytes sotto_test_relayed_parties(sotto_test *t, sotto_bytes servers);
/* Appends the sealed answer to a sealed request without content. */
void sotto_test_relayed_answer(sotto_test *t, sotto_buf *out, sotto_bytes wire,
                               sotto_test_relayed *relayed);

#endif
