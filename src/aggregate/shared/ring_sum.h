/* aggregate/shared/ring_sum.h - tally and bulk of methods that add vectors modulo 2^32 or 2^64.
 *
 * Memory:   a tally's entries live in the arena given to init.
 */
#ifndef SOTTO_AGGREGATE_SHARED_RING_SUM_H
#define SOTTO_AGGREGATE_SHARED_RING_SUM_H

#include "aggregate/method.h"

size_t sotto_ring_sum_size(const sotto_round *round);
SOTTO_MUST_USE sotto_status sotto_ring_sum_init(sotto_tally *tally, const sotto_round *round,
                                                sotto_arena *arena, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_ring_sum_merge(sotto_tally *tally, const sotto_tally *other,
                                                 sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_ring_sum_add(sotto_tally *tally, size_t first,
                                               const int64_t *values, size_t count, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_ring_sum_encode(const sotto_tally *tally, sotto_buf *out,
                                                  sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_ring_sum_decode(sotto_tally *tally, sotto_bytes wire,
                                                  uint64_t contributions, sotto_err *err);
/* parts[0] alone, read into the arena; the number of contributions is checked. What is to be taken away from it is the
 * method's own matter. */
SOTTO_MUST_USE sotto_status sotto_ring_sum_open(sotto_vector *sum, const sotto_round *round,
                                                const sotto_bytes *parts, size_t count,
                                                uint64_t contributions, sotto_arena *arena,
                                                sotto_err *err);

extern const sotto_bulk_ops sotto_ring_bulk;

/* A tally whose sum is masked: open takes it, and the server machine's opening with rows of masks to take away. */
extern const sotto_tally_ops sotto_masked_tally;

#endif
