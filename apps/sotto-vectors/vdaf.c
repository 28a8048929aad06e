/* VDAF vectors: a file's `operations` are replayed in order and each value on the way is compared. */
#include "replay.h"

#include <stdio.h>
#include <string.h>

/* ---- the file -------------------------------------------------------------------------------- */

static sotto_status take_tables(sotto_replay *replay, sotto_err *err)
{
    size_t states = replay->report_count * replay->shares;

    replay->started = sotto_arena_take_array(replay->arena, states, sizeof *replay->started);
    replay->ended = sotto_arena_take_array(replay->arena, states, sizeof *replay->ended);
    replay->verdicts =
        sotto_arena_take_array(replay->arena, replay->report_count, sizeof *replay->verdicts);
    if (replay->started == NULL || replay->ended == NULL || replay->verdicts == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "reports: too many");

    for (size_t i = 0; i < states; i++) {
        replay->started[i].status = SOTTO_MISSING;
        replay->ended[i].status = SOTTO_MISSING;
    }
    for (size_t i = 0; i < replay->report_count; i++)
        replay->verdicts[i].status = SOTTO_MISSING;
    return SOTTO_OK;
}

/* Prio3 has no aggregation parameter: absent, null or empty. */
static sotto_status check_agg_param(const json_t *root, sotto_err *err)
{
    const json_t *param = json_object_get(root, "agg_param");

    if (param == NULL || json_is_null(param) ||
        (json_is_string(param) && json_string_length(param) == 0))
        return SOTTO_OK;
    return sotto_fail(err, SOTTO_MALFORMED, "agg_param: Prio3 has none");
}

static sotto_status open_replay(sotto_replay *replay, const sotto_vector_file *file, sotto_err *err)
{
    json_t *reports;

    *replay = (sotto_replay){.arena = file->arena, .root = file->root};
    SOTTO_TRY(sotto_replay_instance(&replay->vdaf, file->kind, file->root, file->arena, err));
    replay->shares = replay->vdaf.config.shares;
    SOTTO_TRY(check_agg_param(file->root, err));
    SOTTO_TRY(sotto_json_get_hex(&replay->context, file->root, "ctx", file->arena, err));
    SOTTO_TRY(sotto_json_get_hex(&replay->verify_key, file->root, "verify_key", file->arena, err));
    SOTTO_TRY(sotto_json_get_array(&reports, file->root, "reports", err));
    replay->reports = reports;
    replay->report_count = json_array_size(reports);
    return take_tables(replay, err);
}

/* ---- operations ------------------------------------------------------------------------------ */

static sotto_status read_index(size_t *out, const json_t *entry, const char *key, size_t limit,
                               sotto_err *err)
{
    uint64_t value;

    SOTTO_TRY(sotto_json_get_uint(&value, entry, key, err));
    if (value >= limit)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: there are only %zu", key, limit);
    *out = (size_t)value;
    return SOTTO_OK;
}

static sotto_status read_step(sotto_replay_step *step, const sotto_replay *replay,
                              const sotto_replay_operation *operation, const json_t *entry,
                              sotto_err *err)
{
    json_t *success;
    size_t aggregator = 0;
    uint64_t round = 0;

    *step = (sotto_replay_step){0};
    SOTTO_TRY(sotto_json_get(&success, entry, "success", err));
    if (!json_is_boolean(success))
        return sotto_fail(err, SOTTO_MALFORMED, "success: not true or false");
    step->success = json_is_true(success);
    if (operation->has_report)
        SOTTO_TRY(read_index(&step->report, entry, "report_index", replay->report_count, err));
    if (operation->has_aggregator)
        SOTTO_TRY(read_index(&aggregator, entry, "aggregator_id", replay->shares, err));
    step->aggregator = (unsigned)aggregator;
    if (operation->round >= 0) {
        SOTTO_TRY(sotto_json_get_uint(&round, entry, "round", err));
        if (round != (uint64_t)operation->round)
            return sotto_fail(err, SOTTO_MALFORMED, "round: Prio3 has one round only");
    }
    return SOTTO_OK;
}

static bool is_refusal(sotto_status status)
{
    return status == SOTTO_MALFORMED || status == SOTTO_REJECTED || status == SOTTO_DENIED;
}

/* Whether the step ended as the file says it must. */
static sotto_status judge(const sotto_replay_step *step, sotto_status outcome, const sotto_err *why,
                          sotto_err *err)
{
    if (step->success && outcome != SOTTO_OK)
        return sotto_fail(err, SOTTO_REJECTED, "should succeed: %s: %s", sotto_status_name(outcome),
                          why->reason);
    if (!step->success && outcome == SOTTO_OK)
        return sotto_fail(err, SOTTO_REJECTED, "should fail, but succeeds");
    if (!step->success && !is_refusal(outcome))
        return sotto_fail(err, SOTTO_REJECTED, "should be refused, but ends as %s: %s",
                          sotto_status_name(outcome), why->reason);
    return SOTTO_OK;
}

static sotto_status play(sotto_replay *replay, const json_t *entry, const char **name,
                         sotto_err *err)
{
    sotto_replay_step step;
    sotto_status outcome = SOTTO_BUG;
    sotto_err why = {0};

    SOTTO_TRY(sotto_json_get_text(name, entry, "operation", err));
    const sotto_replay_operation *operation = sotto_replay_operation_named(*name);
    if (operation == NULL)
        return sotto_fail(err, SOTTO_MALFORMED, "operation: unknown");
    SOTTO_TRY(read_step(&step, replay, operation, entry, err));
    SOTTO_TRY(operation->run(replay, &step, &outcome, &why, err));
    SOTTO_TRY(judge(&step, outcome, &why, err));
    if (!step.success)
        replay->compared++;
    return SOTTO_OK;
}

static sotto_status play_all(sotto_replay *replay, sotto_err *err)
{
    json_t *operations;
    json_t *entry;
    size_t i;

    SOTTO_TRY(sotto_json_get_array(&operations, replay->root, "operations", err));
    json_array_foreach(operations, i, entry)
    {
        const char *name = "?";
        sotto_err inner = {0};
        sotto_status status = play(replay, entry, &name, &inner);
        if (status != SOTTO_OK)
            return sotto_fail(err, status, "operations[%zu] %.32s: %s", i, name, inner.reason);
    }
    return SOTTO_OK;
}

static sotto_status check_file(const sotto_vector_file *file, sotto_err *err)
{
    sotto_replay replay;

    SOTTO_TRY(open_replay(&replay, file, err));
    SOTTO_TRY(play_all(&replay, err));
    if (replay.compared == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "operations: nothing to compare");
    return sotto_replay_batch(&replay, err);
}

void sotto_vectors_vdaf(const sotto_vector_file *file)
{
    sotto_err err = {0};

    if (check_file(file, &err) == SOTTO_OK)
        sotto_tally_pass(file->tally, file->path, "");
    else
        sotto_tally_fail(file->tally, file->path, "", err.reason);
}
