#include "dap/token_stock.h"

#include "support/tokens.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TAKEN = 40 };

static const uint8_t challenge[SOTTO_TOKEN_DIGEST] = {7};

static sotto_token_draft take(sotto_test *t, sotto_token_stock *stock, sotto_test_issuer *issuer,
                              const uint8_t asked[SOTTO_TOKEN_DIGEST])
{
    sotto_token_draft out;

    CHECK_OK(t, sotto_token_stock_take(stock, &out, &issuer->key, asked, &t->err));
    return out;
}

/* What the device would have made of the same randomness. */
static void check_made_of_it(sotto_test *t, sotto_test_issuer *issuer,
                             const sotto_token_draft *asked, const uint8_t of[SOTTO_TOKEN_DIGEST])
{
    uint8_t request[SOTTO_TYPE2_REQUEST], nonce[SOTTO_TOKEN_NONCE];
    sotto_type2_pending pending;

    CHECK_OK(t, sotto_admission_nonce(nonce, asked->seed, &t->err));
    CHECK_BYTES(t, nonce, asked->random.nonce, sizeof nonce);
    CHECK_OK(t, sotto_type2_request(&issuer->key, &pending, request, of, &asked->random, &t->err));
    CHECK_BYTES(t, request, asked->request, sizeof request);
    CHECK_BYTES(t, pending.input, asked->pending.input, sizeof pending.input);
    CHECK_BYTES(t, pending.inverse, asked->pending.inverse, sizeof pending.inverse);
}

static void each_request_is_its_own_and_gets_a_token(sotto_test *t)
{
    static sotto_token_draft all[TAKEN];
    uint8_t response[SOTTO_TYPE2_RESPONSE], token[SOTTO_TYPE2_TOKEN];
    sotto_token_stock *stock = sotto_token_stock_new();
    sotto_test_issuer issuer;

    CHECK(t, stock != NULL);
    sotto_test_issuer_open(t, &issuer, 0);
    for (size_t i = 0; i < TAKEN; i++) {
        all[i] = take(t, stock, &issuer, challenge);
        check_made_of_it(t, &issuer, &all[i], challenge);
        for (size_t j = 0; j < i; j++)
            CHECK(t, memcmp(all[i].seed, all[j].seed, sizeof all[i].seed) != 0 &&
                         memcmp(&all[i].random, &all[j].random, sizeof all[i].random) != 0);
    }
    CHECK_OK(t, sotto_type2_issue(&issuer.secret, issuer.key.id, response,
                                  sotto_bytes_of(all[0].request, sizeof all[0].request), &t->err));
    CHECK_OK(t, sotto_type2_finish(&issuer.key, token, &all[0].pending,
                                   sotto_bytes_of(response, sizeof response), &t->err));
    sotto_test_issuer_close(&issuer);
    sotto_token_stock_free(stock);
    sotto_token_stock_free(NULL);
}

static void another_key_or_challenge_has_its_own(sotto_test *t)
{
    const uint8_t later[SOTTO_TOKEN_DIGEST] = {8};
    sotto_token_stock *stock = sotto_token_stock_new();
    sotto_test_issuer issuers[2];
    sotto_token_draft asked;

    sotto_test_issuer_open(t, &issuers[0], 0);
    sotto_test_issuer_open(t, &issuers[1], 1);
    for (unsigned i = 0; i < 6; i++) {
        asked = take(t, stock, &issuers[i % 2], i % 3 ? challenge : later);
        check_made_of_it(t, &issuers[i % 2], &asked, i % 3 ? challenge : later);
    }
    sotto_test_issuer_close(&issuers[0]);
    sotto_test_issuer_close(&issuers[1]);
    sotto_token_stock_free(stock);
}

/* A device then makes its own request, which says the same. */
static void a_modulus_of_small_factors_is_refused(sotto_test *t)
{
    static const uint8_t e[] = {1, 0, 1};
    uint8_t modulus[SOTTO_TYPE2_NUMBER];
    sotto_token_stock *stock = sotto_token_stock_new();
    sotto_type2_key key = {.id = {1}};
    sotto_token_draft asked;

    memset(modulus, 0xff, sizeof modulus); /* 2^2048 - 1, which 3, 5 and 17 divide */
    CHECK_OK(t, sotto_rsa_public_init(&key.rsa, sotto_bytes_of(modulus, sizeof modulus),
                                      sotto_bytes_of(e, sizeof e), &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_token_stock_take(stock, &asked, &key, challenge, &t->err));
    sotto_type2_key_clear(&key);
    sotto_token_stock_free(stock);
}

/* Both take one from what was one stock. */
static void a_child_has_requests_of_its_own(sotto_test *t)
{
    sotto_token_stock *stock = sotto_token_stock_new();
    sotto_token_draft mine, first;
    sotto_test_issuer issuer;
    uint8_t seed[SOTTO_ONCE_SEED];
    int pipes[2], status = -1;

    sotto_test_issuer_open(t, &issuer, 0);
    first = take(t, stock, &issuer, challenge);
    CHECK(t, pipe(pipes) == 0);
    const pid_t child = fork();
    CHECK(t, child >= 0);
    if (child == 0) {
        const bool taken =
            sotto_token_stock_take(stock, &mine, &issuer.key, challenge, NULL) == SOTTO_OK;

        _exit(taken && write(pipes[1], mine.seed, sizeof seed) == sizeof seed ? 0 : 1);
    }
    CHECK(t, waitpid(child, &status, 0) == child && status == 0);
    CHECK(t, read(pipes[0], seed, sizeof seed) == sizeof seed);
    mine = take(t, stock, &issuer, challenge);
    CHECK(t, memcmp(seed, mine.seed, sizeof seed) != 0);
    CHECK(t, memcmp(first.seed, mine.seed, sizeof seed) != 0);
    (void)close(pipes[0]);
    (void)close(pipes[1]);
    sotto_test_issuer_close(&issuer);
    sotto_token_stock_free(stock);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(each_request_is_its_own_and_gets_a_token),
        CASE(another_key_or_challenge_has_its_own),
        CASE(a_modulus_of_small_factors_is_refused),
        CASE(a_child_has_requests_of_its_own),
    };

    return RUN_TESTS(argc, argv, cases);
}
