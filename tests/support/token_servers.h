/* support/token_servers.h - a leader and a helper for tests with devices: support/service.h behind a few functions, since its names
 * and those of support/devices.h do not go together.
 */
#ifndef SOTTO_TESTS_SUPPORT_TOKEN_SERVERS_H
#define SOTTO_TESTS_SUPPORT_TOKEN_SERVERS_H

#include "seal/token/type2.h"
#include "support/test.h"

/* A small recipe and its parties, which a test changes and hands back. */
typedef struct sotto_test_token_servers {
    const char *recipe, *parties;
    int64_t opens, closes; /* of the recipe                                    */
    int64_t now;           /* within the hour whose reports are collected       */
} sotto_test_token_servers;

void sotto_test_token_servers_open(sotto_test *t, sotto_test_token_servers *out,
                                   unsigned min_cohort);
void sotto_test_token_servers_close(void);
/* Both add a recipe that asks for tokens, whose one collection has this key. */
void sotto_test_token_servers_add(sotto_test *t, sotto_bytes recipe, sotto_bytes parties,
                                  const uint8_t spki[SOTTO_TYPE2_SPKI]);
/* Both make a key of ARC for this epoch, under which an attester with this bearer token has credentials issued; then both add a recipe that
 * asks for ARC. */
void sotto_test_token_servers_add_arc(sotto_test *t, sotto_bytes recipe, sotto_bytes parties,
                                      int64_t opens, int64_t closes, const char *bearer);
/* The leader's host, or the helper's. */
struct sotto_host *sotto_test_token_servers_host(unsigned which);
/* How many reports the batch of that hour has. */
uint64_t sotto_test_token_servers_collect(sotto_test *t);

#endif
