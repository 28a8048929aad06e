/* What a tick lets leave: each waiting report goes to its leader by the host's exchange, and its answer is judged here. */
#include "device/device_internal.h"

#include "base/arena.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "dap/dap.h"
#include "device/answer/delivery.h"
#include "device/oblivious.h"

#include <string.h>

enum {
    MOST_ANSWER =
        4096, /* an answer to one report has 17 bytes at most, and a problem document some hundred */
    LONGEST_PAUSE = 86400 /* seconds that a leader can keep reports waiting by asking for it */
};

/* One tick's sending. */
typedef struct sending {
    sotto_device *device;
    int64_t now;
} sending;

/* Prefix of a destination that asks for a relay: a byte, and the name of the way. */
enum { ASKED_WAY = 1 + SOTTO_OBLIVIOUS_WAY };

/* A destination is the task's id, then what asks for a relay, if its recipe does, and the leader's URL. */
static bool asks_for_relay(const sotto_report *report)
{
    return report->destination.len > SOTTO_TASK_ID_SIZE &&
           report->destination.data[SOTTO_TASK_ID_SIZE] == SOTTO_DESTINATION_RELAY;
}

static sotto_bytes leader_url(const sotto_report *report)
{
    const size_t before = SOTTO_TASK_ID_SIZE + (asks_for_relay(report) ? ASKED_WAY : 0);

    if (before > report->destination.len) /* damaged: it does not leave */
        return sotto_bytes_of(NULL, 0);
    return sotto_bytes_of(report->destination.data + before, report->destination.len - before);
}

/* ---- leaders that ask for time ---------------------------------------------------------------------------- */

/* The first bytes of a hash: two leaders that share them share a pause, which does no harm. */
static uint64_t leader_of(const sotto_report *report)
{
    uint8_t digest[32];
    uint64_t leader;

    sotto_hash_once(digest, SOTTO_SHA256, leader_url(report));
    memcpy(&leader, digest, sizeof leader);
    return leader;
}

static bool is_paused(const sotto_device *device, uint64_t leader, int64_t now)
{
    for (size_t i = 0; i < SOTTO_DEVICE_PAUSES; i++) {
        const sotto_pause *pause = &device->pauses[i];

        /* A clock that was set back must not lengthen the pause. */
        if (pause->leader == leader && pause->until > now && pause->until - now <= LONGEST_PAUSE)
            return true;
    }
    return false;
}

/* In the place of the one that ends first. */
static void pause_leader(sotto_device *device, uint64_t leader, int64_t now, int64_t seconds)
{
    sotto_pause *place = device->pauses;

    for (size_t i = 1; i < SOTTO_DEVICE_PAUSES; i++)
        if (device->pauses[i].until < place->until)
            place = &device->pauses[i];
    if (SOTTO_RULE(pauses_end) && seconds > LONGEST_PAUSE)
        seconds = LONGEST_PAUSE;
    *place = (sotto_pause){leader, now + seconds};
}

static bool is_ready(void *context, const sotto_report *report)
{
    const sending *s = context;

    if (report->destination.len < SOTTO_TASK_ID_SIZE)
        return false;
    if (SOTTO_RULE(called_off_stops) && s->device->called_off)
        return false;
    if (SOTTO_RULE(leaders_get_their_pause) && is_paused(s->device, leader_of(report), s->now))
        return false;
    return true;
}

/* ---- one report ------------------------------------------------------------------------------------------- */

static sotto_status write_url(sotto_arena *arena, const char **out, const sotto_report *report)
{
    sotto_dap_path path = {.resource = SOTTO_DAP_REPORTS};
    sotto_buf url;

    memcpy(path.task_id, report->destination.data, sizeof path.task_id);
    /* Zeroed, so that it ends. */
    SOTTO_TRY(sotto_buf_take(&url, arena, report->destination.len + 64, NULL));
    url.cap--;
    *out = (const char *)url.data;
    return sotto_dap_path_encode(&url, leader_url(report), &path, NULL);
}

/* Other parties may have come since the report was made, or the same ones in another order. */
static bool is_another_way(const sotto_device *device, const sotto_report *report)
{
    return asks_for_relay(report) &&
           (report->destination.len < SOTTO_TASK_ID_SIZE + ASKED_WAY ||
            !sotto_oblivious_is(device->terms.parties,
                                report->destination.data + SOTTO_TASK_ID_SIZE + 1));
}

/* Through a relay where the parties name one, and then in no other way. */
static sotto_status carry_report(const sending *s, const sotto_exchange *request,
                                 const sotto_report *report, sotto_exchange_answer *answer)
{
    sotto_device *device = s->device;
    sotto_oblivious way;
    sotto_entropy entropy;

    sotto_status status = sotto_oblivious_find(&way, device->terms.parties, s->now, NULL);
    if (SOTTO_RULE(oblivious_or_not_at_all) && status != SOTTO_OK && status != SOTTO_MISSING)
        return status;
    if (SOTTO_RULE(asked_relay_or_not_at_all) && status != SOTTO_OK && asks_for_relay(report))
        return SOTTO_STALE;
    if (SOTTO_RULE(asked_relay_and_no_other) && status == SOTTO_OK &&
        is_another_way(device, report))
        return SOTTO_STALE;
    if (status != SOTTO_OK)
        return sotto_exchange_carry(&device->host, request, report->bytes, answer);
    way.ephemerals = device->ephemerals;
    sotto_device_entropy(device, &entropy);
    status = sotto_oblivious_carry(&device->host, &way, request, report->bytes, s->now, &entropy,
                                   &device->work, answer);
    sotto_entropy_clear(&entropy);
    return status;
}

static sotto_delivery exchange_report(sending *s, const sotto_report *report)
{
    sotto_device *device = s->device;
    sotto_exchange request = {.method = "POST",
                              .media_type = sotto_dap_media_type(SOTTO_DAP_UPLOAD_REQ),
                              .recipe = report->recipe};
    sotto_exchange_answer answer = {0};

    if (write_url(&device->work, &request.url, report) != SOTTO_OK ||
        sotto_buf_take(&answer.body, &device->work, MOST_ANSWER, NULL) != SOTTO_OK)
        return SOTTO_DELIVERY_LATER;
    const sotto_status status = carry_report(s, &request, report, &answer);
    device->called_off = status == SOTTO_AGAIN;
    const sotto_delivery delivery =
        status == SOTTO_OK
            ? sotto_delivery_of(sotto_bytes_of(report->id, SOTTO_REPORT_ID_SIZE), &answer)
            : SOTTO_DELIVERY_LATER;
    if (delivery == SOTTO_DELIVERY_LATER && answer.retry_after > 0)
        pause_leader(device, leader_of(report), s->now, answer.retry_after);
    return delivery;
}

static sotto_delivery send_one(void *context, const sotto_report *report)
{
    sending *s = context;
    const sotto_delivery delivery = exchange_report(s, report);

    sotto_arena_reset(&s->device->work);
    return delivery;
}

/* ---- another key ------------------------------------------------------------------------------------------ */

/* The key that the leader's half is sealed to now. SOTTO_AGAIN: the one that it was sealed to before. */
static sotto_status find_key(const sotto_device *device, sotto_bytes *out,
                             const sotto_kept_half *kept, int64_t now, sotto_err *err)
{
    const sotto_party_key *key = NULL;

    for (size_t i = 0; i < device->terms.parties->count; i++) {
        const sotto_party_entry *party = &device->terms.parties->entries[i];

        if (sotto_bytes_equal_vartime(kept->party,
                                      sotto_bytes_of(party->name, strlen(party->name))))
            key = sotto_party_key_at(party, now);
    }
    if (!key)
        return sotto_fail(err, SOTTO_MISSING, "the leader has no key that is used now");
    *out = key->config;
    return sotto_bytes_equal_vartime(key->config, kept->key)
               ? sotto_fail(err, SOTTO_AGAIN, "no other key is known yet")
               : SOTTO_OK;
}

/* The leader says that its key is outdated: its half alone is sealed again, and the helper's stays as it is. The same
 * share under the same id: new shares would be a second answer, which was not charged. */
static sotto_status seal_again(void *context, const sotto_report *report, sotto_buf *sealed,
                               sotto_err *err)
{
    sotto_device *device = ((const sending *)context)->device;
    sotto_kept_half kept;
    sotto_entropy entropy;
    sotto_bytes key;

    SOTTO_TRY(sotto_kept_half_decode(&kept, report->inputs, err));
    SOTTO_TRY(find_key(device, &key, &kept, sotto_device_now(device), err));
    sotto_device_entropy(device, &entropy);
    sotto_status status =
        sotto_kept_half_seal(sealed, report->bytes, &kept, key, &entropy, &device->work, err);
    sotto_entropy_clear(&entropy);
    sotto_arena_reset(&device->work);
    return status;
}

sotto_status sotto_device_send(sotto_device *device, int64_t now, uint64_t *waiting, sotto_err *err)
{
    sending s = {device, now};
    const sotto_transport transport = {is_ready, send_one, seal_again, &s};

    return sotto_outbox_send(device->ledger, &transport, now, waiting, err);
}
