/* Values of a VDAF vector file in the shapes that the library takes. */
#include "replay.h"

#include <string.h>

sotto_status sotto_replay_entry(sotto_bytes *out, const sotto_replay *replay, const json_t *object,
                                const char *key, size_t index, sotto_err *err)
{
    json_t *array;

    SOTTO_TRY(sotto_json_get_array(&array, object, key, err));
    const json_t *value = json_array_get(array, index);
    if (value == NULL)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: entry %zu is missing", key, index);
    return sotto_json_hex(out, value, key, replay->arena, err);
}

sotto_status sotto_replay_report(sotto_prio3_report *out, const sotto_replay *replay, size_t report,
                                 unsigned aggregator, sotto_err *err)
{
    const json_t *entry = json_array_get(replay->reports, report);
    sotto_bytes nonce;

    SOTTO_TRY(sotto_json_get_hex(&nonce, entry, "nonce", replay->arena, err));
    if (nonce.len != sizeof out->nonce)
        return sotto_fail(err, SOTTO_MALFORMED, "nonce: %zu bytes", nonce.len);
    memcpy(out->nonce, nonce.data, nonce.len);
    SOTTO_TRY(sotto_json_get_hex(&out->public_share, entry, "public_share", replay->arena, err));
    return sotto_replay_entry(&out->input_share, replay, entry, "input_shares", aggregator, err);
}

sotto_status sotto_replay_verifier(sotto_prio3_verifier *out, const sotto_replay *replay,
                                   unsigned aggregator, sotto_err *err)
{
    if (replay->verify_key.len != sizeof out->verify_key)
        return sotto_fail(err, SOTTO_MALFORMED, "verify_key: %zu bytes", replay->verify_key.len);
    memcpy(out->verify_key, replay->verify_key.data, sizeof out->verify_key);
    out->context = replay->context;
    out->aggregator = aggregator;
    return SOTTO_OK;
}

sotto_status sotto_replay_verifier_shares(sotto_bytes *out, const sotto_replay *replay,
                                          size_t report, sotto_err *err)
{
    json_t *rounds;

    SOTTO_TRY(sotto_json_get_array(&rounds, json_array_get(replay->reports, report),
                                   "verifier_shares", err));
    const json_t *first = json_array_get(rounds, 0);
    if (!json_is_array(first) || json_array_size(first) != replay->shares)
        return sotto_fail(err, SOTTO_MALFORMED, "verifier_shares: not one for each aggregator");
    for (unsigned i = 0; i < replay->shares; i++)
        SOTTO_TRY(sotto_json_hex(&out[i], json_array_get(first, i), "verifier_shares",
                                 replay->arena, err));
    return SOTTO_OK;
}

sotto_status sotto_replay_verifier_message(sotto_bytes *out, const sotto_replay *replay,
                                           size_t report, sotto_err *err)
{
    return sotto_replay_entry(out, replay, json_array_get(replay->reports, report),
                              "verifier_messages", 0, err);
}
