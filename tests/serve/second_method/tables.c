/* This program's tables in place of the product's: a row each. */
#include "account/trust.h"
#include "aggregate/methods.h"
#include "second_method/second_method.h"

#define ROWS(row) row(clear)

SOTTO_METHOD_TABLE(ROWS);

enum { CLEAR = SOTTO_TRUST_CENTRAL + 1 };

const sotto_trust_model sotto_trust_models[] = {
    [0] = {.name = "none"},
    [CLEAR] = {.name = "clear",
               .keys = "split",
               .method = "clear",
               .gains = SOTTO_GAIN_SHUFFLE,
               .noise = SOTTO_NOISE_BY_SERVERS,
               .two_servers = true},
};
const sotto_trust_words sotto_trust_sentences[] = {
    [0] = {.assumes = {"nothing is known"}},
    [CLEAR] = {.assumes = {"everybody honest"},
               .honest = "Everybody must be honest.",
               .sees = "The leader sees every report.",
               .noise = "Each server adds all of the noise.",
               .inputs = "Nothing is proved."},
};
const size_t sotto_trust_count = CLEAR + 1;
