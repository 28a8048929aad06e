/* The reports of a file as batches: what comes out must not depend on a report's company. */
#include "replay.h"

#include "base/arena.h"

#include <stdio.h>
#include <string.h>

/* More than one full group of lockstep lanes and a remainder, however few reports the file has. */
enum { SMALLEST_BATCH = 6 };

typedef struct batch {
    size_t count;
    size_t *report; /* which report of the file stands at each place */
    sotto_prio3_report *reports;
    sotto_prio3_verification *states;
    sotto_bytes *messages;
} batch;

typedef bool (*wanted_report)(const sotto_replay *replay, size_t report, unsigned aggregator);

static bool was_started(const sotto_replay *replay, size_t report, unsigned aggregator)
{
    return replay->started[sotto_replay_at(replay, report, aggregator)].status != SOTTO_MISSING;
}

static bool was_ended(const sotto_replay *replay, size_t report, unsigned aggregator)
{
    return replay->ended[sotto_replay_at(replay, report, aggregator)].status != SOTTO_MISSING;
}

static bool was_decided(const sotto_replay *replay, size_t report, unsigned aggregator)
{
    (void)aggregator;
    return replay->verdicts[report].status != SOTTO_MISSING;
}

/* Lists the wanted reports, again and again until the batch is large enough. None: an empty batch. */
static sotto_status fill_batch(batch *b, const sotto_replay *replay, wanted_report wanted,
                               unsigned aggregator, sotto_err *err)
{
    size_t found = 0;

    b->count = 0;
    b->report = sotto_arena_take_array(replay->arena, replay->report_count + SMALLEST_BATCH,
                                       sizeof *b->report);
    if (b->report == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "reports: too many for a batch");
    for (size_t i = 0; i < replay->report_count; i++)
        if (wanted(replay, i, aggregator))
            b->report[found++] = i;
    b->count = found > 0 && found < SMALLEST_BATCH ? SMALLEST_BATCH : found;
    for (size_t i = found; i < b->count; i++)
        b->report[i] = b->report[i - found];

    b->reports = sotto_arena_take_array(replay->arena, b->count, sizeof *b->reports);
    b->states = sotto_arena_take_array(replay->arena, b->count, sizeof *b->states);
    b->messages = sotto_arena_take_array(replay->arena, b->count, sizeof *b->messages);
    if (b->reports == NULL || b->states == NULL || b->messages == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "reports: too many for a batch");
    return SOTTO_OK;
}

static sotto_status compare_status(sotto_status alone, sotto_status batched, const char *what,
                                   size_t report, sotto_err *err)
{
    if (alone == batched)
        return SOTTO_OK;
    return sotto_fail(err, SOTTO_REJECTED, "%s of report %zu: %s alone, %s in a batch", what,
                      report, sotto_status_name(alone), sotto_status_name(batched));
}

/* ---- verify_init and verify_next at one aggregator ------------------------------------------- */

static sotto_status start_batch(batch *b, const sotto_replay *replay, unsigned aggregator,
                                sotto_err *err)
{
    sotto_prio3_verifier verifier;

    SOTTO_TRY(sotto_replay_verifier(&verifier, replay, aggregator, err));
    for (size_t i = 0; i < b->count; i++)
        SOTTO_TRY(sotto_replay_report(&b->reports[i], replay, b->report[i], aggregator, err));
    return sotto_prio3_verify_init(&replay->vdaf, b->states, &verifier, b->reports, b->count,
                                   replay->arena, err);
}

static sotto_status check_started(const batch *b, const sotto_replay *replay, unsigned aggregator,
                                  sotto_err *err)
{
    for (size_t i = 0; i < b->count; i++) {
        const sotto_prio3_verification *alone =
            &replay->started[sotto_replay_at(replay, b->report[i], aggregator)];
        SOTTO_TRY(
            compare_status(alone->status, b->states[i].status, "verify_init", b->report[i], err));
        if (alone->status == SOTTO_AGAIN)
            SOTTO_TRY(sotto_vectors_compare(alone->verifier_share, b->states[i].verifier_share,
                                            "verifier share in a batch", err));
    }
    return SOTTO_OK;
}

static sotto_status encode_out_share(sotto_buf *out, const sotto_replay *replay,
                                     const sotto_prio3_verification *state, sotto_err *err)
{
    SOTTO_TRY(sotto_buf_take(out, replay->arena, replay->vdaf.sizes.out_share, err));
    return sotto_prio3_out_share(&replay->vdaf, out, state, err);
}

static sotto_status check_ended(const batch *b, const sotto_replay *replay, unsigned aggregator,
                                sotto_err *err)
{
    sotto_buf wanted;
    sotto_buf got;

    for (size_t i = 0; i < b->count; i++) {
        const sotto_prio3_verification *alone =
            &replay->ended[sotto_replay_at(replay, b->report[i], aggregator)];
        SOTTO_TRY(
            compare_status(alone->status, b->states[i].status, "verify_next", b->report[i], err));
        if (alone->status != SOTTO_OK)
            continue;
        SOTTO_TRY(encode_out_share(&wanted, replay, alone, err));
        SOTTO_TRY(encode_out_share(&got, replay, &b->states[i], err));
        SOTTO_TRY(sotto_vectors_compare(sotto_buf_bytes(&wanted), sotto_buf_bytes(&got),
                                        "out share in a batch", err));
    }
    return SOTTO_OK;
}

static sotto_status batch_verify_init(const sotto_replay *replay, unsigned aggregator,
                                      sotto_err *err)
{
    batch b;

    SOTTO_TRY(fill_batch(&b, replay, was_started, aggregator, err));
    if (b.count == 0)
        return SOTTO_OK;
    SOTTO_TRY(start_batch(&b, replay, aggregator, err));
    return check_started(&b, replay, aggregator, err);
}

static sotto_status batch_verify_next(const sotto_replay *replay, unsigned aggregator,
                                      sotto_err *err)
{
    batch b;

    SOTTO_TRY(fill_batch(&b, replay, was_ended, aggregator, err));
    if (b.count == 0)
        return SOTTO_OK;
    SOTTO_TRY(start_batch(&b, replay, aggregator, err));
    for (size_t i = 0; i < b.count; i++)
        SOTTO_TRY(sotto_replay_verifier_message(&b.messages[i], replay, b.report[i], err));
    SOTTO_TRY(sotto_prio3_verify_next(&replay->vdaf, b.states, b.messages, b.count, err));
    return check_ended(&b, replay, aggregator, err);
}

/* ---- verifier_shares_to_message -------------------------------------------------------------- */

static sotto_status batch_shares_to_message(const sotto_replay *replay, sotto_err *err)
{
    batch b;
    size_t len = replay->vdaf.sizes.verifier_message;

    SOTTO_TRY(fill_batch(&b, replay, was_decided, 0, err));
    if (b.count == 0)
        return SOTTO_OK;
    sotto_bytes *shares =
        sotto_arena_take_array(replay->arena, b.count, replay->shares * sizeof *shares);
    sotto_prio3_verdict *verdicts =
        sotto_arena_take_array(replay->arena, b.count, sizeof *verdicts);
    if (shares == NULL || verdicts == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "reports: too many for a batch");
    for (size_t i = 0; i < b.count; i++)
        SOTTO_TRY(
            sotto_replay_verifier_shares(shares + i * replay->shares, replay, b.report[i], err));
    SOTTO_TRY(sotto_prio3_verifier_shares_to_message(&replay->vdaf, verdicts, replay->context,
                                                     shares, b.count, replay->arena, err));
    for (size_t i = 0; i < b.count; i++) {
        const sotto_prio3_verdict *alone = &replay->verdicts[b.report[i]];
        SOTTO_TRY(compare_status(alone->status, verdicts[i].status, "verifier_shares_to_message",
                                 b.report[i], err));
        if (alone->status == SOTTO_OK)
            SOTTO_TRY(sotto_vectors_compare(sotto_bytes_of(alone->message, len),
                                            sotto_bytes_of(verdicts[i].message, len),
                                            "verifier message in a batch", err));
    }
    return SOTTO_OK;
}

sotto_status sotto_replay_batch(sotto_replay *replay, sotto_err *err)
{
    for (unsigned i = 0; i < replay->shares; i++) {
        SOTTO_TRY(batch_verify_init(replay, i, err));
        SOTTO_TRY(batch_verify_next(replay, i, err));
    }
    return batch_shares_to_message(replay, err);
}
