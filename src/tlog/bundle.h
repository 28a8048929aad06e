/* tlog/bundle.h - all that a device needs to verify an entry of a log offline.
 *
 *     "sotto-bundle-1\n", entry opaque<2>, object opaque<4>, proof opaque<4>
 *
 * entry: tlog/entry.h. object: the bytes that its digest is of; empty for entries of other types. proof: tlog/inclusion.h.
 *
 * Callers:  devices verify; `sotto recipe publish` writes.
 * Memory:   nothing is allocated; everything borrows the bundle's bytes.
 * Secrets:  none.
 */
#ifndef SOTTO_TLOG_BUNDLE_H
#define SOTTO_TLOG_BUNDLE_H

#include "tlog/entry.h"
#include "tlog/inclusion.h"

enum { SOTTO_BUNDLE_OBJECT_MAX = 1 << 20, SOTTO_BUNDLE_MAX = SOTTO_BUNDLE_OBJECT_MAX + (1 << 18) };

typedef struct sotto_bundle {
    sotto_bytes entry, object, proof;
} sotto_bundle;

/* What a bundle that was verified says. */
typedef struct sotto_bundle_facts {
    sotto_tlog_entry entry;
    sotto_bytes object;
    uint64_t index;
    sotto_checkpoint checkpoint;
    sotto_bytes note; /* the checkpoint with its signatures */
} sotto_bundle_facts;

/* Whether these bytes begin as a bundle does; no JSON does. */
bool sotto_bundle_is(sotto_bytes wire);
SOTTO_MUST_USE sotto_status sotto_bundle_decode(sotto_bundle *out, sotto_bytes wire,
                                                sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_bundle_encode(sotto_buf *out, const sotto_bundle *bundle,
                                                sotto_err *err);

/* The one function that a device calls: form, digest, log, witnesses, inclusion.
 *   SOTTO_MALFORMED  it is no bundle
 *   SOTTO_REJECTED   the object is not the entry's, or a signature or the proof does not hold
 *   SOTTO_DENIED     too few witnesses cosigned its checkpoint
 */
SOTTO_MUST_USE sotto_status sotto_bundle_verify(sotto_bundle_facts *out, sotto_bytes wire,
                                                const sotto_log_trust *trust, sotto_err *err);

#endif
