/* support/unknown_key.h - the id of a key that a server does not have. Ids are one random byte, and a server has a key
 * that nobody sees yet beside the one it publishes. So flipping a bit of an id finds that key in 1 of 255 runs. */
#ifndef SOTTO_TESTS_SUPPORT_UNKNOWN_KEY_H
#define SOTTO_TESTS_SUPPORT_UNKNOWN_KEY_H

#include "serve/host/keys.h"
#include "support/test.h"

uint8_t sotto_test_unknown_key(sotto_test *t, sotto_keys *keys);

#endif
