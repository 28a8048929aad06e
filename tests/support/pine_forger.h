/* support/pine_forger.h - a client of PINE without checks: it may prove what is not so.
 *
 * Callers:  tests of servers and of PINE (support/pine.h), and sotto-vectors, which keeps such reports.
 * Memory:   the caller's for shares; all else lies in the arena.
 */
#ifndef SOTTO_TESTS_SUPPORT_PINE_FORGER_H
#define SOTTO_TESTS_SUPPORT_PINE_FORGER_H

#include "vdaf/pine/joint.h"
#include "vdaf/pine/pine.h"

/* What a forger claims. */
typedef struct sotto_test_lie {
    uint64_t norm;    /* the squared norm that it spells                                      */
    bool all_succeed; /* marks every dot product as small, whatever it is                     */
    void (*edit)(const sotto_pine *pine, uint8_t *meas); /* may be NULL; runs before it is split */
    bool edit_dots; /* the edit runs over bits of dot products, after the others were agreed on */
} sotto_test_lie;

/* Writes shares of a vector, of any length, that say what the lie says. rand: as of sotto_pine_shard. */
SOTTO_MUST_USE sotto_status sotto_pine_forge(sotto_pine_report *out, const sotto_pine_scene *scene,
                                             const uint8_t *rand, const int64_t *vector,
                                             const sotto_test_lie *lie, sotto_arena *arena,
                                             sotto_err *err);

#endif
