/* tests/study/searching.h - a frame for searches, and answers to their rounds from a list of words, noise and all. */
#ifndef SOTTO_TESTS_STUDY_SEARCHING_H
#define SOTTO_TESTS_STUDY_SEARCHING_H

#include "sim/random.h"
#include "study/search.h"
#include "support/test.h"

typedef struct crowd {
    const char *word; /* of a search for phrases: word|phrase */
    unsigned devices;
} crowd;

sotto_bytes searching_frame(void);
/* Of phrases: a word and a phrase. */
sotto_bytes searching_phrases(void);
const sotto_recipe *searching_read(sotto_test *t, sotto_bytes text);
/* Words of a to z; epsilon 1, delta 1e-6, 8 rounds of 2,000 cells. */
sotto_search_options searching_options(void);
/* The counts of a round by the encoding of its recipe, each with a normal draw of the round's noise; 0 where quiet. */
double *searching_counts(sotto_test *t, const sotto_search *s, const sotto_search_round *r,
                         const crowd *people, size_t count, sotto_sim_random *random);
/* All rounds. */
void searching_run(sotto_test *t, sotto_search *s, const crowd *people, size_t count,
                   uint64_t seed);
/* What stands behind the |. */
const char *searching_phrase(const crowd *people);
bool searching_found(const sotto_search *s, const char *word);

#endif
