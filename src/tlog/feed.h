/* tlog/feed.h - all that devices need of a log, in one file that is the same for everybody.
 *
 *     "sotto-feed-1\n", note opaque<4>, steps opaque<4>, bundles opaque<4>[], 0 uint32, zeros
 *
 * note: the signed checkpoint (tlog/checkpoint.h). steps: tlog/growth.h. bundles: tlog/bundle.h, none of them empty. Zeros at the end make
 * feeds of one length out of many.
 *
 * Callers:  devices; `sotto log feed` writes.
 * Memory:   nothing is allocated; everything borrows the feed's bytes.
 * Secrets:  none.
 */
#ifndef SOTTO_TLOG_FEED_H
#define SOTTO_TLOG_FEED_H

#include "sotto/base.h"

enum { SOTTO_FEED_MAX = 1 << 19, SOTTO_FEED_PAD = 1 << 14 };

typedef struct sotto_feed {
    sotto_bytes note, steps;
    sotto_bytes bundles; /* each with its length in front */
} sotto_feed;

/*   SOTTO_MALFORMED  not a feed, or not in canonical form (any number of zeros is fine)
 *   SOTTO_TOO_LARGE  more than SOTTO_FEED_MAX bytes
 */
SOTTO_MUST_USE sotto_status sotto_feed_decode(sotto_feed *out, sotto_bytes wire, sotto_err *err);
/* Appends it, padded to a multiple of SOTTO_FEED_PAD bytes. */
SOTTO_MUST_USE sotto_status sotto_feed_encode(sotto_buf *out, const sotto_feed *feed,
                                              sotto_err *err);
/* Takes the next bundle off the front. False: none is left. */
bool sotto_feed_next(sotto_bytes *bundle, sotto_bytes *bundles);

#endif
