#define _POSIX_C_SOURCE 200809L
#include "tokens.h"

#include "base/alloc.h"
#include "sim/random.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { MOST_THREADS = 16, DER = 4096 };

sotto_status sotto_load_tokens_init(sotto_load_tokens *t, uint64_t opens, uint64_t closes,
                                    uint64_t seed, sotto_err *err)
{
    static const char issuer[] = SOTTO_LOAD_ISSUER;
    sotto_admission_collection c = {
        .opens = opens, .closes = closes, .issuer = sotto_bytes_of(issuer, sizeof issuer - 1)};
    sotto_type2_key key = {0};

    *t = (sotto_load_tokens){.key = {.opens = opens, .closes = closes}, .seed = seed};
    SOTTO_TRY(sotto_rsa_private_generate(&t->secret, SOTTO_TYPE2_BITS, err));
    SOTTO_TRY(sotto_type2_key_encode(t->key.spki, &t->secret.public_key, err));
    sotto_status status =
        sotto_type2_key_decode(&key, sotto_bytes_of(t->key.spki, sizeof t->key.spki), err);
    memcpy(t->key.id, key.id, sizeof key.id);
    memcpy(c.key_id, key.id, sizeof key.id);
    sotto_type2_key_clear(&key);
    return status == SOTTO_OK ? sotto_admission_challenge(t->key.challenge, &c, err) : status;
}

void sotto_load_tokens_clear(sotto_load_tokens *t)
{
    sotto_release(t->tokens, t->count * sizeof *t->tokens);
    sotto_rsa_private_clear(&t->secret);
    *t = (sotto_load_tokens){0};
}

static void seed_of(uint8_t out[SOTTO_ONCE_SEED], const sotto_load_tokens *t, uint64_t number)
{
    sotto_sim_random all, one;

    sotto_sim_random_init(&all, t->seed);
    one = sotto_sim_random_fork(&all, number);
    sotto_sim_random_bytes(&one, out, SOTTO_ONCE_SEED);
}

/* ---- issuing ---------------------------------------------------------------------------------------------------- */

typedef struct share {
    sotto_load_tokens *all;
    size_t first, step;
    sotto_rsa_private secret; /* a key is used by one thread at a time */
    sotto_type2_key key;
    pthread_t thread;
    sotto_status status;
} share;

static sotto_status issue_one(share *s, size_t i, sotto_err *err)
{
    uint8_t seed[SOTTO_ONCE_SEED], request[SOTTO_TYPE2_REQUEST], response[SOTTO_TYPE2_RESPONSE];
    sotto_type2_pending pending;
    sotto_type2_random random;

    seed_of(seed, s->all, i);
    SOTTO_TRY(sotto_type2_draw(&random, &s->key, err));
    SOTTO_TRY(sotto_admission_nonce(random.nonce, seed, err));
    SOTTO_TRY(sotto_type2_request(&s->key, &pending, request, s->all->key.challenge, &random, err));
    SOTTO_TRY(sotto_type2_issue(&s->secret, s->key.id, response,
                                sotto_bytes_of(request, sizeof request), err));
    return sotto_type2_finish(&s->key, s->all->tokens[i], &pending,
                              sotto_bytes_of(response, sizeof response), err);
}

static void *issue(void *context)
{
    share *s = context;

    for (size_t i = s->first; s->status == SOTTO_OK && i < s->all->count; i += s->step)
        s->status = issue_one(s, i, NULL);
    return NULL;
}

static sotto_status set_up(share *s, sotto_load_tokens *t, size_t first, size_t step,
                           sotto_err *err)
{
    uint8_t memory[DER];
    sotto_buf der = sotto_buf_over(memory, sizeof memory);

    *s = (share){.all = t, .first = first, .step = step};
    SOTTO_TRY(sotto_rsa_private_encode(&t->secret, &der, err));
    SOTTO_TRY(sotto_rsa_private_decode(&s->secret, sotto_buf_bytes(&der), err));
    return sotto_type2_key_decode(&s->key, sotto_bytes_of(t->key.spki, sizeof t->key.spki), err);
}

sotto_status sotto_load_tokens_issue(sotto_load_tokens *t, size_t count, sotto_err *err)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t threads = cores < 1 ? 1 : cores > MOST_THREADS ? MOST_THREADS : (size_t)cores;
    static share shares[MOST_THREADS];
    sotto_status status = SOTTO_OK;
    size_t started = 0, ready = 0;

    t->tokens = sotto_alloc(count * sizeof *t->tokens);
    t->count = t->tokens ? count : 0;
    if (!t->tokens)
        return sotto_fail(err, SOTTO_NO_MEMORY, "tokens");
    while (status == SOTTO_OK && ready < threads) {
        status = set_up(&shares[ready], t, ready, threads, err);
        ready++;
    }
    for (; status == SOTTO_OK && started < threads; started++)
        if (pthread_create(&shares[started].thread, NULL, issue, &shares[started]) != 0) {
            status = sotto_fail(err, SOTTO_IO, "no thread to issue tokens");
            break;
        }
    for (size_t i = 0; i < started; i++) {
        (void)pthread_join(shares[i].thread, NULL);
        if (status == SOTTO_OK && shares[i].status != SOTTO_OK)
            status = sotto_fail(err, shares[i].status, "a token was not issued");
    }
    for (size_t i = 0; i < ready; i++) {
        sotto_type2_key_clear(&shares[i].key);
        sotto_rsa_private_clear(&shares[i].secret);
    }
    return status;
}

sotto_status sotto_load_tokens_attach(void *context, uint64_t number, sotto_report_draft *draft,
                                      const sotto_hpke_config to[SOTTO_REPORT_SHARES],
                                      sotto_arena *arena, sotto_err *err)
{
    const sotto_load_tokens *t = context;
    uint8_t seed[SOTTO_ONCE_SEED];

    if (number >= t->count)
        return sotto_fail(err, SOTTO_BUG, "no token was issued for this report");
    seed_of(seed, t, number);
    return sotto_admission_attach(draft, sotto_bytes_of(t->tokens[number], SOTTO_TYPE2_TOKEN), seed,
                                  to, arena, err);
}
