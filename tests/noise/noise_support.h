/* noise_support.h - sources of randomness that tests control. */
#ifndef SOTTO_TESTS_PRIVACY_NOISE_SUPPORT_H
#define SOTTO_TESTS_PRIVACY_NOISE_SUPPORT_H

#include "noise/entropy.h"
#include "sim/random.h"

#include <string.h>

/* The same stream for the same seed, eight bytes at a time. */
static inline sotto_status noise_fill_sim(void *context, void *out, size_t len, sotto_err *err)
{
    sotto_sim_random *random = context;

    (void)err;
    for (size_t at = 0; at < len; at += 8) {
        uint64_t word = sotto_sim_random_u64(random);

        memcpy((uint8_t *)out + at, &word, len - at < 8 ? len - at : 8);
    }
    return SOTTO_OK;
}

/* Words that a function of their position gives. */
typedef struct noise_words {
    uint64_t position;
    uint64_t (*word)(uint64_t position);
} noise_words;

static inline sotto_status noise_fill_words(void *context, void *out, size_t len, sotto_err *err)
{
    noise_words *words = context;

    (void)err;
    for (size_t at = 0; at < len; at += 8) {
        uint64_t word = words->word(words->position++);

        memcpy((uint8_t *)out + at, &word, len - at < 8 ? len - at : 8);
    }
    return SOTTO_OK;
}

static inline sotto_status noise_fill_nothing(void *context, void *out, size_t len, sotto_err *err)
{
    (void)context;
    (void)out;
    (void)len;
    return sotto_fail(err, SOTTO_IO, "no randomness today");
}

#endif
