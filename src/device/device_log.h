/* device/device_log.h - what a device takes only from a public log: recipes, parties files, lists of issuers' keys.
 *
 * Callers:  device.c, device_parties.c, device_feed.c; whatever judges a list of issuers' keys.
 * Memory:   what is found is borrowed from the bytes that came.
 * Secrets:  none.
 */
#ifndef SOTTO_DEVICE_LOG_H
#define SOTTO_DEVICE_LOG_H

#include "device/device_internal.h"
#include "tlog/bundle.h"

typedef struct sotto_logged {
    sotto_bytes
        object; /* the recipe, parties file or list itself; also of a bundle that was refused */
    uint64_t serial; /* as its entry says; 0: none */
    const sotto_policy_log
        *log; /* where it is; NULL: the policy names no log, and none was asked */
} sotto_logged;

/* Whether these bytes are in a log that the policy names, under an entry of this type: the one question before anything of them is
 * used. Where the policy names no log, everything is taken as it comes, a bundle without its proof. The tree that it is in becomes the
 * last one that this device saw of that log, in a transaction of its own.
 *   steps            that show the log's growth (tlog/growth.h); empty: none came
 *   SOTTO_MALFORMED  a malformed bundle, or one of another type
 *   SOTTO_DENIED     the policy names logs and this is no bundle, it is of a log that it does not name, too few of its witnesses
 *                    cosigned, or the log forked
 *   SOTTO_REJECTED   not included: a digest, a signature or a proof does not hold; or the log forked just now
 *   SOTTO_STALE      a smaller tree than was seen
 *   SOTTO_MISSING    a larger one, and nothing shows that it continues what was seen
 */
SOTTO_MUST_USE sotto_status sotto_device_logged(sotto_device *device, sotto_logged *out,
                                                sotto_bytes bytes, sotto_entry_type type,
                                                sotto_bytes steps, sotto_err *err);

/* The same of something that was taken before: its proof alone, since the tree may be older than the last one that was seen. */
SOTTO_MUST_USE sotto_status sotto_device_logged_before(const sotto_policy *policy,
                                                       sotto_logged *out, sotto_bytes bytes,
                                                       sotto_entry_type type, sotto_err *err);

/* A log's signed checkpoint by itself: checks its signature, and that it continues the last tree. Statuses as
 * above. */
SOTTO_MUST_USE sotto_status sotto_device_saw(sotto_device *device, const sotto_policy_log **log,
                                             sotto_bytes note, sotto_bytes steps, sotto_err *err);

/* device.c: sotto_device_offer, of a bundle of a feed. */
SOTTO_MUST_USE sotto_status sotto_device_offer_from(sotto_device *device, sotto_bytes recipe,
                                                    sotto_bytes steps, sotto_err *err);

/* device_feed.c: fetches each log's feed that is due, through the relay. */
SOTTO_MUST_USE sotto_status sotto_device_fetch(sotto_device *device, int64_t now, sotto_err *err);

#endif
