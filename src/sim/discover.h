/* sim/discover.h - a search for words among made-up devices, by the fast path of sim/trial.h; and plainly, with the same noise.
 *
 * Callers:  tests, benchmarks. `sotto analysis discover --simulate` does the same through the program.
 * Memory:   in the search's arena.
 */
#ifndef SOTTO_SIM_DISCOVER_H
#define SOTTO_SIM_DISCOVER_H

#include "sim/random.h"
#include "study/search.h"

typedef struct sotto_sim_words {
    const char *const *words;
    size_t word_count;
    const uint32_t *of; /* of each device, its word */
    size_t devices;
} sotto_sim_words;

/* Asks all rounds of the search, of frame and policy, whose query reads one stream with one text. */
SOTTO_MUST_USE sotto_status sotto_sim_discover(sotto_search *search, const sotto_sim_words *devices,
                                               sotto_bytes frame, sotto_bytes policy, uint64_t seed,
                                               sotto_err *err);

/* The same rounds without recipe, devices or servers: counts of cells, and rounded normal noise of the same deviation. */
SOTTO_MUST_USE sotto_status sotto_sim_discover_plainly(sotto_search *search,
                                                       const sotto_sim_words *devices,
                                                       uint64_t seed, sotto_err *err);

/* Of the words that most devices have, `most` of them, the part that was found; and how many were found that no device has. */
SOTTO_MUST_USE sotto_status sotto_sim_recall(double *recall, size_t *wrong,
                                             const sotto_search *search,
                                             const sotto_sim_words *devices, size_t most,
                                             sotto_err *err);

#endif
