/* The six operations of a VDAF vector file. */
#include "replay.h"

#include "base/arena.h"

#include <stdio.h>
#include <string.h>

/* ---- shard ----------------------------------------------------------------------------------- */

/* true and false are how multihot vectors are written. */
static sotto_status read_value(uint64_t *out, const json_t *value, sotto_err *err)
{
    sotto_uint128 number;

    if (json_is_boolean(value)) {
        *out = json_is_true(value) ? 1 : 0;
        return SOTTO_OK;
    }
    SOTTO_TRY(sotto_json_number(&number, value, "measurement", err));
    if (number.high != 0)
        return sotto_fail(err, SOTTO_DENIED, "measurement: more than 64 bits");
    *out = number.low;
    return SOTTO_OK;
}

/* SOTTO_DENIED for integers that no measurement has: negative ones, for example. */
static sotto_status read_measurement(sotto_measurement *out, const sotto_replay *replay,
                                     const json_t *entry, sotto_err *err)
{
    json_t *value;

    SOTTO_TRY(sotto_json_get(&value, entry, "measurement", err));
    bool is_vector = json_is_array(value);
    size_t count = is_vector ? json_array_size(value) : 1;
    uint64_t *values = sotto_arena_take_array(replay->arena, count, sizeof *values);
    if (values == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "measurement: too long");
    for (size_t i = 0; i < count; i++)
        SOTTO_TRY(read_value(&values[i], is_vector ? json_array_get(value, i) : value, err));
    *out = (sotto_measurement){values, count};
    return SOTTO_OK;
}

static sotto_status take_shares(sotto_buf *public_share, sotto_buf *input_shares,
                                const sotto_replay *replay, sotto_err *err)
{
    const sotto_prio3_sizes *sizes = &replay->vdaf.sizes;

    SOTTO_TRY(sotto_buf_take(public_share, replay->arena, sizes->public_share, err));
    for (unsigned i = 0; i < replay->shares; i++)
        SOTTO_TRY(sotto_buf_take(&input_shares[i], replay->arena,
                                 i == 0 ? sizes->leader_share : sizes->helper_share, err));
    return SOTTO_OK;
}

static sotto_status compare_shares(sotto_replay *replay, const json_t *entry,
                                   const sotto_buf *public_share, const sotto_buf *input_shares,
                                   sotto_err *err)
{
    sotto_bytes wanted;
    char what[32];

    SOTTO_TRY(sotto_json_get_hex(&wanted, entry, "public_share", replay->arena, err));
    SOTTO_TRY(sotto_vectors_compare(wanted, sotto_buf_bytes(public_share), "public_share", err));
    for (unsigned i = 0; i < replay->shares; i++) {
        snprintf(what, sizeof what, "input_shares[%u]", i);
        SOTTO_TRY(sotto_replay_entry(&wanted, replay, entry, "input_shares", i, err));
        SOTTO_TRY(sotto_vectors_compare(wanted, sotto_buf_bytes(&input_shares[i]), what, err));
    }
    replay->compared += 1 + replay->shares;
    return SOTTO_OK;
}

static sotto_status run_shard(sotto_replay *replay, const sotto_replay_step *step,
                              sotto_status *outcome, sotto_err *why, sotto_err *err)
{
    const json_t *entry = json_array_get(replay->reports, step->report);
    sotto_measurement measurement = {0};
    sotto_bytes nonce;
    sotto_bytes rand;
    sotto_buf public_share;
    sotto_buf *input_shares =
        sotto_arena_take_array(replay->arena, replay->shares, sizeof *input_shares);

    if (input_shares == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "shares: too many");
    *outcome = read_measurement(&measurement, replay, entry, why);
    if (*outcome == SOTTO_DENIED)
        return SOTTO_OK;
    if (*outcome != SOTTO_OK)
        return sotto_fail(err, *outcome, "%s", why->reason);
    SOTTO_TRY(sotto_json_get_hex(&nonce, entry, "nonce", replay->arena, err));
    if (nonce.len != SOTTO_PRIO3_NONCE_SIZE)
        return sotto_fail(err, SOTTO_MALFORMED, "nonce: %zu bytes", nonce.len);
    SOTTO_TRY(sotto_json_get_hex(&rand, entry, "rand", replay->arena, err));
    SOTTO_TRY(take_shares(&public_share, input_shares, replay, err));

    *outcome = sotto_prio3_shard(&replay->vdaf, &public_share, input_shares, replay->context,
                                 measurement, nonce.data, rand, replay->arena, why);
    if (*outcome == SOTTO_OK && step->success)
        return compare_shares(replay, entry, &public_share, input_shares, err);
    return SOTTO_OK;
}

/* ---- verify ---------------------------------------------------------------------------------- */

/* Where a file holds fewer verifier shares than aggregators, they are those of the aggregators that
 * started, in their order. */
static size_t place_among_started(const sotto_replay *replay, size_t report, unsigned aggregator)
{
    size_t place = 0;

    for (unsigned i = 0; i < aggregator; i++)
        if (replay->started[sotto_replay_at(replay, report, i)].status == SOTTO_AGAIN)
            place++;
    return place;
}

static sotto_status compare_verifier_share(sotto_replay *replay, const sotto_replay_step *step,
                                           sotto_bytes share, sotto_err *err)
{
    json_t *rounds;
    sotto_bytes wanted;
    char what[32];

    SOTTO_TRY(sotto_json_get_array(&rounds, json_array_get(replay->reports, step->report),
                                   "verifier_shares", err));
    const json_t *first = json_array_get(rounds, 0);
    size_t place = json_array_size(first) == replay->shares
                       ? step->aggregator
                       : place_among_started(replay, step->report, step->aggregator);
    const json_t *value = json_array_get(first, place);
    if (value == NULL)
        return sotto_fail(err, SOTTO_MALFORMED, "verifier_shares: entry %zu is missing", place);
    SOTTO_TRY(sotto_json_hex(&wanted, value, "verifier_shares", replay->arena, err));
    snprintf(what, sizeof what, "verifier_shares[0][%zu]", place);
    SOTTO_TRY(sotto_vectors_compare(wanted, share, what, err));
    replay->compared++;
    return SOTTO_OK;
}

static void explain(sotto_err *why, sotto_status status, const char *reason)
{
    if (status != SOTTO_OK && status != SOTTO_AGAIN)
        (void)sotto_fail(why, status, "%s", reason != NULL ? reason : "no reason given");
}

static sotto_status run_verify_init(sotto_replay *replay, const sotto_replay_step *step,
                                    sotto_status *outcome, sotto_err *why, sotto_err *err)
{
    sotto_prio3_verifier verifier;
    sotto_prio3_report report;
    sotto_prio3_verification *state =
        &replay->started[sotto_replay_at(replay, step->report, step->aggregator)];

    SOTTO_TRY(sotto_replay_verifier(&verifier, replay, step->aggregator, err));
    SOTTO_TRY(sotto_replay_report(&report, replay, step->report, step->aggregator, err));
    SOTTO_TRY(
        sotto_prio3_verify_init(&replay->vdaf, state, &verifier, &report, 1, replay->arena, err));
    explain(why, state->status, state->reason);
    *outcome = state->status == SOTTO_AGAIN ? SOTTO_OK : state->status;
    if (state->status == SOTTO_OK)
        return sotto_fail(err, SOTTO_BUG, "valid before its verifier message is known");
    if (*outcome == SOTTO_OK && step->success)
        return compare_verifier_share(replay, step, state->verifier_share, err);
    return SOTTO_OK;
}

static sotto_status run_shares_to_message(sotto_replay *replay, const sotto_replay_step *step,
                                          sotto_status *outcome, sotto_err *why, sotto_err *err)
{
    sotto_prio3_verdict *verdict = &replay->verdicts[step->report];
    sotto_bytes *shares = sotto_arena_take_array(replay->arena, replay->shares, sizeof *shares);
    sotto_bytes wanted;

    if (shares == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "shares: too many");
    SOTTO_TRY(sotto_replay_verifier_shares(shares, replay, step->report, err));
    SOTTO_TRY(sotto_prio3_verifier_shares_to_message(&replay->vdaf, verdict, replay->context,
                                                     shares, 1, replay->arena, err));
    *outcome = verdict->status;
    explain(why, verdict->status, verdict->reason);
    if (*outcome != SOTTO_OK || !step->success)
        return SOTTO_OK;
    SOTTO_TRY(sotto_replay_verifier_message(&wanted, replay, step->report, err));
    SOTTO_TRY(sotto_vectors_compare(
        wanted, sotto_bytes_of(verdict->message, replay->vdaf.sizes.verifier_message),
        "verifier_messages[0]", err));
    replay->compared++;
    return SOTTO_OK;
}

static sotto_status compare_out_share(sotto_replay *replay, const sotto_replay_step *step,
                                      const sotto_prio3_verification *state, sotto_err *err)
{
    sotto_buf share;
    sotto_bytes wanted;
    char what[32];

    SOTTO_TRY(sotto_buf_take(&share, replay->arena, replay->vdaf.sizes.out_share, err));
    SOTTO_TRY(sotto_prio3_out_share(&replay->vdaf, &share, state, err));
    SOTTO_TRY(sotto_replay_entry(&wanted, replay, json_array_get(replay->reports, step->report),
                                 "out_shares", step->aggregator, err));
    snprintf(what, sizeof what, "out_shares[%u]", step->aggregator);
    SOTTO_TRY(sotto_vectors_compare(wanted, sotto_buf_bytes(&share), what, err));
    replay->compared++;
    return SOTTO_OK;
}

static sotto_status run_verify_next(sotto_replay *replay, const sotto_replay_step *step,
                                    sotto_status *outcome, sotto_err *why, sotto_err *err)
{
    size_t at = sotto_replay_at(replay, step->report, step->aggregator);
    sotto_prio3_verification *state = &replay->ended[at];
    sotto_bytes message;

    if (replay->started[at].status != SOTTO_AGAIN)
        return sotto_fail(err, SOTTO_MALFORMED, "there was no verify_init to go on from");
    *state = replay->started[at];
    SOTTO_TRY(sotto_replay_verifier_message(&message, replay, step->report, err));
    SOTTO_TRY(sotto_prio3_verify_next(&replay->vdaf, state, &message, 1, err));
    *outcome = state->status;
    explain(why, state->status, state->reason);
    if (*outcome == SOTTO_OK && step->success)
        return compare_out_share(replay, step, state, err);
    return SOTTO_OK;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static bool has_out_shares(const sotto_replay *replay, size_t report)
{
    const json_t *entry = json_array_get(replay->reports, report);

    return json_array_size(json_object_get(entry, "out_shares")) > 0;
}

/* An out share is encoded as the aggregate share of one report. */
static sotto_status merge_out_share(sotto_replay *replay, sotto_prio3_agg *sum, size_t report,
                                    unsigned aggregator, sotto_status *outcome, sotto_err *why,
                                    sotto_err *err)
{
    sotto_prio3_agg one;
    sotto_bytes share;

    SOTTO_TRY(sotto_replay_entry(&share, replay, json_array_get(replay->reports, report),
                                 "out_shares", aggregator, err));
    SOTTO_TRY(sotto_prio3_agg_init(&replay->vdaf, &one, replay->arena, err));
    *outcome = sotto_prio3_agg_decode(&replay->vdaf, &one, share, 1, why);
    if (*outcome == SOTTO_OK)
        *outcome = sotto_prio3_merge(&replay->vdaf, sum, &one, why);
    return SOTTO_OK;
}

static sotto_status compare_agg_share(sotto_replay *replay, const sotto_prio3_agg *sum,
                                      unsigned aggregator, const char *how, sotto_err *err)
{
    sotto_buf share;
    sotto_bytes wanted;
    char what[48];

    SOTTO_TRY(sotto_buf_take(&share, replay->arena, replay->vdaf.sizes.out_share, err));
    SOTTO_TRY(sotto_prio3_agg_encode(&replay->vdaf, &share, sum, err));
    SOTTO_TRY(sotto_replay_entry(&wanted, replay, replay->root, "agg_shares", aggregator, err));
    snprintf(what, sizeof what, "agg_shares[%u] %s", aggregator, how);
    SOTTO_TRY(sotto_vectors_compare(wanted, sotto_buf_bytes(&share), what, err));
    replay->compared++;
    return SOTTO_OK;
}

/* The sum of the verifications that were replayed, if that is all of those the file has a share of. */
static sotto_status accumulate_states(sotto_replay *replay, const sotto_replay_step *step,
                                      sotto_status *outcome, sotto_err *why, sotto_err *err)
{
    sotto_prio3_agg sum;

    SOTTO_TRY(sotto_prio3_agg_init(&replay->vdaf, &sum, replay->arena, err));
    for (size_t i = 0; i < replay->report_count; i++) {
        const sotto_prio3_verification *state =
            &replay->ended[sotto_replay_at(replay, i, step->aggregator)];
        if (!has_out_shares(replay, i))
            continue;
        if (state->status != SOTTO_OK)
            return SOTTO_OK;
        *outcome = sotto_prio3_accumulate(&replay->vdaf, &sum, state, 1, why);
        if (*outcome != SOTTO_OK)
            return SOTTO_OK;
    }
    if (!step->success)
        return SOTTO_OK;
    return compare_agg_share(replay, &sum, step->aggregator, "accumulated", err);
}

static sotto_status run_aggregate(sotto_replay *replay, const sotto_replay_step *step,
                                  sotto_status *outcome, sotto_err *why, sotto_err *err)
{
    sotto_prio3_agg sum;

    *outcome = SOTTO_OK;
    SOTTO_TRY(sotto_prio3_agg_init(&replay->vdaf, &sum, replay->arena, err));
    for (size_t i = 0; i < replay->report_count && *outcome == SOTTO_OK; i++)
        if (has_out_shares(replay, i))
            SOTTO_TRY(merge_out_share(replay, &sum, i, step->aggregator, outcome, why, err));
    if (*outcome != SOTTO_OK)
        return SOTTO_OK;
    if (step->success)
        SOTTO_TRY(compare_agg_share(replay, &sum, step->aggregator, "merged", err));
    return accumulate_states(replay, step, outcome, why, err);
}

static sotto_status compare_result(sotto_replay *replay, const sotto_uint128 *result,
                                   sotto_err *err)
{
    json_t *wanted;
    sotto_uint128 number;

    SOTTO_TRY(sotto_json_get(&wanted, replay->root, "agg_result", err));
    bool is_list = json_is_array(wanted);
    size_t count = is_list ? json_array_size(wanted) : 1;
    if (count != replay->vdaf.sizes.outputs)
        return sotto_fail(err, SOTTO_REJECTED, "agg_result: %zu entries where the file has %zu",
                          replay->vdaf.sizes.outputs, count);
    for (size_t i = 0; i < count; i++) {
        SOTTO_TRY(sotto_json_number(&number, is_list ? json_array_get(wanted, i) : wanted,
                                    "agg_result", err));
        if (number.low != result[i].low || number.high != result[i].high)
            return sotto_fail(err, SOTTO_REJECTED, "agg_result: entry %zu differs from the file",
                              i);
    }
    replay->compared++;
    return SOTTO_OK;
}

/* Those that were added up; in a file that starts at the aggregate shares, all there are. */
static uint64_t count_reports(const sotto_replay *replay)
{
    uint64_t added = 0;

    for (size_t i = 0; i < replay->report_count; i++)
        added += has_out_shares(replay, i) ? 1 : 0;
    return added > 0 ? added : replay->report_count;
}

static sotto_status run_unshard(sotto_replay *replay, const sotto_replay_step *step,
                                sotto_status *outcome, sotto_err *why, sotto_err *err)
{
    size_t outputs = replay->vdaf.sizes.outputs;
    sotto_bytes *shares = sotto_arena_take_array(replay->arena, replay->shares, sizeof *shares);
    sotto_uint128 *result = sotto_arena_take_array(replay->arena, outputs, sizeof *result);

    if (shares == NULL || result == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "agg_shares: too large");
    for (unsigned i = 0; i < replay->shares; i++)
        SOTTO_TRY(sotto_replay_entry(&shares[i], replay, replay->root, "agg_shares", i, err));
    *outcome = sotto_prio3_unshard(&replay->vdaf, result, shares, count_reports(replay), why);
    if (*outcome == SOTTO_OK && step->success)
        return compare_result(replay, result, err);
    return SOTTO_OK;
}

/* ---- the table ------------------------------------------------------------------------------- */

const sotto_replay_operation *sotto_replay_operation_named(const char *name)
{
    static const sotto_replay_operation operations[] = {
        {"shard", true, false, -1, run_shard},
        {"verify_init", true, true, -1, run_verify_init},
        {"verifier_shares_to_message", true, false, 0, run_shares_to_message},
        {"verify_next", true, true, 1, run_verify_next},
        {"aggregate", false, true, -1, run_aggregate},
        {"unshard", false, false, -1, run_unshard},
    };

    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        if (strcmp(name, operations[i].name) == 0)
            return &operations[i];
    return NULL;
}
