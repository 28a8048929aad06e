/* The feed of a log: the same file for everybody, fetched at a random time, only through the relay. */
#include "device/device_log.h"

#include "base/arena.h"
#include "base/rule.h"
#include "device/ledger/log_seen.h"
#include "device/oblivious.h"
#include "tlog/feed.h"

#include <string.h>

enum {
    PERIOD = 86400, /* each log's feed is fetched once in it ...                                 */
    AGAIN = 3600 /* ... and after a failure not before so many seconds, while the process lives */
};

/* ---- taking one ------------------------------------------------------------------------------------------- */

/* A recipe that is refused does not fail the others: `why` and the record say so. */
static sotto_status take_one(sotto_device *device, sotto_bytes bytes, sotto_bytes steps)
{
    sotto_tlog_entry entry;
    sotto_bundle bundle;

    SOTTO_TRY(sotto_bundle_decode(&bundle, bytes, NULL));
    SOTTO_TRY(sotto_tlog_entry_decode(&entry, bundle.entry, NULL));
    switch (entry.type) {
    case SOTTO_ENTRY_RECIPE:
        return sotto_device_offer_from(device, bytes, steps, NULL);
    case SOTTO_ENTRY_PARTIES:
        return sotto_device_replace_parties(device, bytes, NULL);
    case SOTTO_ENTRY_ISSUER_KEYS:
        return sotto_device_take_issuer_keys(device, bytes, NULL);
    default:
        return SOTTO_MISSING; /* nothing that this device takes */
    }
}

sotto_status sotto_device_feed(sotto_device *device, sotto_bytes bytes, uint64_t *taken,
                               sotto_err *err)
{
    sotto_err_clear(err);

    const char *closed = sotto_ledger_closed(device->ledger);
    const sotto_policy_log *log;
    uint64_t count = 0;
    sotto_bytes one;
    sotto_feed feed;

    if (closed)
        return sotto_fail(err, SOTTO_DENIED, "%s", closed);
    SOTTO_TRY(sotto_feed_decode(&feed, bytes, err));
    SOTTO_TRY(sotto_device_saw(device, &log, feed.note, feed.steps, err));
    while (sotto_feed_next(&one, &feed.bundles))
        count += take_one(device, one, feed.steps) == SOTTO_OK;
    if (taken)
        *taken = count;
    return SOTTO_OK;
}

/* ---- fetching it ------------------------------------------------------------------------------------------ */

/* A time in the next period, drawn from nothing that the device knows. */
static sotto_status draw_time(const sotto_device *device, int64_t now, int64_t *due, sotto_err *err)
{
    sotto_entropy entropy;
    uint64_t random = 0;

    sotto_device_entropy(device, &entropy);
    sotto_status status = sotto_entropy_take(&entropy, &random, sizeof random, err);
    sotto_entropy_clear(&entropy);
    *due = (now / PERIOD + 1) * PERIOD + (int64_t)(random % PERIOD);
    return status;
}

static sotto_status carry(sotto_device *device, const sotto_policy_log *log, sotto_buf *feed,
                          int64_t now)
{
    const sotto_exchange request = {.method = "GET", .url = log->feed};
    sotto_exchange_answer answer = {0};
    sotto_entropy entropy;
    sotto_oblivious way;

    /* Without the relay, whoever serves the feed would see which devices take part. */
    if (sotto_oblivious_find(&way, device->terms.parties, now, NULL) != SOTTO_OK ||
        sotto_buf_take(&answer.body, &device->work, SOTTO_FEED_MAX, NULL) != SOTTO_OK)
        return SOTTO_IO;
    sotto_device_entropy(device, &entropy);
    sotto_status status =
        sotto_oblivious_carry(&device->host, &way, &request, sotto_bytes_of(NULL, 0), now, &entropy,
                              &device->work, &answer);
    sotto_entropy_clear(&entropy);
    *feed = answer.body;
    return status == SOTTO_OK && answer.status != 200 ? SOTTO_IO : status;
}

/* The feed is copied out of the way: what it brings is judged in the same memory. A feed that is refused is no failure of the
 * fetch. */
static sotto_status fetch(sotto_device *device, const sotto_policy_log *log, int64_t now)
{
    sotto_arena arena;
    sotto_buf feed, copy;

    sotto_arena_init(&arena, 2 * SOTTO_FEED_MAX);
    sotto_status status = carry(device, log, &feed, now);
    if (status == SOTTO_OK)
        status = sotto_buf_take(&copy, &arena, feed.len + 1, NULL);
    if (status == SOTTO_OK && feed.len > 0)
        memcpy(copy.data, feed.data, feed.len);
    sotto_arena_reset(&device->work);
    if (status == SOTTO_OK)
        (void)!sotto_device_feed(device, sotto_bytes_of(copy.data, feed.len), NULL, NULL);
    sotto_arena_clear(&arena);
    return status;
}

/* The next time is drawn even if the feed was refused: a log that serves invalid feeds is not asked more often than
 * others. */
static sotto_status fetch_if_due(sotto_device *device, const sotto_policy_log *log, int64_t now,
                                 sotto_err *err)
{
    sotto_log_seen seen;
    int64_t due;

    sotto_status status =
        sotto_log_seen_get(device->ledger, &seen, log->key.name, &device->work, err);
    sotto_arena_reset(&device->work);
    SOTTO_TRY(status);
    if (SOTTO_RULE(forked_log_is_not_fetched) && seen.forked)
        return SOTTO_OK;
    /* A clock that was set back must not lengthen the wait. */
    if (SOTTO_RULE(fetched_at_its_time) && seen.due > now && seen.due - now <= 2 * PERIOD)
        return SOTTO_OK;
    status = fetch(device, log, now);
    device->called_off = status == SOTTO_AGAIN;
    if (status != SOTTO_OK) {
        device->fetch_again = now + AGAIN;
        return SOTTO_OK;
    }
    SOTTO_TRY(draw_time(device, now, &due, err));
    return sotto_log_seen_fetched(device->ledger, log->key.name, due, now, &device->work, err);
}

sotto_status sotto_device_fetch(sotto_device *device, int64_t now, sotto_err *err)
{
    const sotto_policy *policy = device->terms.policy;

    if (!device->host.exchange || (device->fetch_again > now && device->fetch_again - now <= AGAIN))
        return SOTTO_OK;
    for (size_t i = 0; i < policy->log_count && !device->called_off; i++)
        if (policy->logs[i].feed)
            SOTTO_TRY(fetch_if_due(device, &policy->logs[i], now, err));
    return SOTTO_OK;
}
