/* support/wallet.h - a phone that asks for tokens, and an attester and an issuer of this test's own.
 *
 * The phone stands ten days before its collection opens, enrolled, and knows neither key nor recipe.
 */
#ifndef SOTTO_TESTS_SUPPORT_WALLET_H
#define SOTTO_TESTS_SUPPORT_WALLET_H

#include "support/devices.h"
#include "support/tokens.h"

#define SOTTO_TEST_ANALYSIS "com.example.keyboard-ngrams"
#define SOTTO_TEST_LISTED   (SOTTO_TEST_OPENS - 10 * 86400)
/* In place of a recipe's key "schedule". */
#define SOTTO_TEST_TOKENS                                                                          \
    "\"anonymity\": {\"tokens\": \"type-2\", \"attester\": \"key:attester\","                      \
    " \"issuer\": \"key:issuer\"}, \"schedule\""

enum { SOTTO_TEST_ISSUER_SEED = 7, SOTTO_TEST_ASKS = 64 };

/* Counts one request for the phone, in front of the issuer. */
typedef struct sotto_test_attester {
    bool down;     /* no answer, but the request arrived */
    bool portal;   /* a page in the attester's place     */
    bool off;      /* the host wants no exchange now     */
    bool any_key;  /* only counts, under whichever key   */
    unsigned says; /* another status than 200; 0: none   */
    size_t asks, tokens;
    sotto_bytes bodies[SOTTO_TEST_ASKS]; /* in the test's arena */
    bool counted;
    uint8_t digest[32];
} sotto_test_attester;

extern sotto_test_phone sotto_test_wallet_phone;
extern sotto_test_issuer sotto_test_wallet_issuer;
extern sotto_test_attester sotto_test_wallet_attester;

/* ---- lists ---- */

sotto_bytes sotto_test_sign_list(sotto_test *t, uint8_t seed, const char *list);
/* The same with another serial than 1. */
sotto_bytes sotto_test_sign_list_as(sotto_test *t, uint8_t seed, uint64_t serial, const char *list);
/* One key of a list; returns its length. */
int sotto_test_list_entry(char *out, size_t size, const uint8_t spki[SOTTO_TYPE2_SPKI],
                          const char *analysis, int64_t opens, int64_t closes);
/* A list with this key for the example's collection. */
const char *sotto_test_list_of(sotto_test *t, const uint8_t spki[SOTTO_TYPE2_SPKI], int64_t closes);
/* The one that the policy's issuer signed. */
sotto_bytes sotto_test_the_list(sotto_test *t);
sotto_status sotto_test_wallet_take(sotto_test *t, sotto_bytes file);
/* Lists a collection of its own under this key. */
void sotto_test_wallet_take_another(sotto_test *t, const sotto_test_issuer *issuer, int64_t opens);

/* ---- the phone ---- */

/* The policy with the issuer as "key:issuer"; the generous one. */
const char *sotto_test_token_policy_of(sotto_test *t, const char *policy);
const char *sotto_test_token_policy(sotto_test *t);
sotto_bytes sotto_test_token_parties(sotto_test *t, unsigned generations);
sotto_bytes sotto_test_token_recipe(sotto_test *t, const char *name);
/* Not open yet; open, with consent and an event; both. */
void sotto_test_wallet_init(sotto_test *t);
void sotto_test_wallet_begin(sotto_test *t);
void sotto_test_wallet_start(sotto_test *t, bool files);

/* A sotto_token_line_fn: the last one, without its names, is *context. */
sotto_status sotto_test_take_line(void *context, const sotto_token_line *line, sotto_err *err);
/* Of the one row that there is. */
sotto_token_line sotto_test_token_line(sotto_test *t);
bool sotto_test_token_is(sotto_test *t, sotto_token_state state);
/* A tick at the time that was drawn. */
void sotto_test_token_ask(sotto_test *t);
/* Whatever it takes until the token may be used, and the recipe is open. */
void sotto_test_token_get(sotto_test *t);

#endif
