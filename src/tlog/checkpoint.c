#include "tlog/checkpoint.h"

#include "base/rule.h"
#include "base/writer.h"
#include "tlog/lines.h"

#include <inttypes.h>
#include <string.h>

/* ---- the text --------------------------------------------------------------------------------------------------- */

static bool no_empty_line(sotto_bytes lines)
{
    sotto_bytes line;

    while (sotto_tlog_line(&line, &lines))
        if (line.len == 0)
            return false;
    return lines.len == 0;
}

sotto_status sotto_checkpoint_decode(sotto_checkpoint *out, sotto_bytes text, sotto_err *err)
{
    sotto_bytes size, root;

    if (!sotto_tlog_line(&out->origin, &text) || out->origin.len == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "checkpoint: no origin");
    if (!sotto_tlog_line(&size, &text) || !sotto_tlog_decimal(&out->size, size))
        return sotto_fail(err, SOTTO_MALFORMED, "checkpoint: no size");
    if (!sotto_tlog_line(&root, &text) || !sotto_tlog_hash(&out->root, root))
        return sotto_fail(err, SOTTO_MALFORMED, "checkpoint: no root hash");
    if (!no_empty_line(text))
        return sotto_fail(err, SOTTO_MALFORMED, "checkpoint: an empty line, or one without an end");
    out->extensions = text;
    out->cosigned = 0;
    return SOTTO_OK;
}

sotto_status sotto_checkpoint_encode(sotto_buf *out, const sotto_checkpoint *checkpoint,
                                     sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, checkpoint->origin);
    sotto_write_format(&w, "\n%" PRIu64 "\n", checkpoint->size);
    sotto_tlog_write_hash(&w, &checkpoint->root);
    sotto_write_bytes(&w, checkpoint->extensions);
    return sotto_writer_finish(&w, "checkpoint", err);
}

/* ---- who signed it ------------------------------------------------------------------------------------------------ */

static sotto_status check_log(const sotto_checkpoint *checkpoint, const sotto_note *note,
                              const sotto_note_key *log, sotto_err *err)
{
    sotto_merkle_hash empty;
    sotto_err why = {0};
    sotto_status status;

    if (SOTTO_RULE(checkpoint_of_its_origin) &&
        !sotto_bytes_equal_vartime(checkpoint->origin, log->name))
        return sotto_fail(err, SOTTO_REJECTED, "checkpoint: of another log than %.*s",
                          (int)log->name.len, (const char *)log->name.data);
    status = sotto_note_check(note, log, NULL, &why);
    if (SOTTO_RULE(checkpoint_signed_by_its_log) && status != SOTTO_OK)
        return sotto_fail(err, SOTTO_REJECTED, "checkpoint: %s", why.reason);
    sotto_merkle_empty(&empty);
    if (SOTTO_RULE(empty_tree_has_one_root) && checkpoint->size == 0 &&
        !sotto_merkle_equal(&checkpoint->root, &empty))
        return sotto_fail(err, SOTTO_REJECTED, "checkpoint: no entry, but another root");
    return SOTTO_OK;
}

/* A cosignature does not cover its witness' name: a key that is listed under two names is one witness. */
static bool counted_before(const sotto_log_trust *trust, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (memcmp(trust->witnesses[i].public_key, trust->witnesses[j].public_key,
                   SOTTO_SIGN_PUBLIC) == 0)
            return true;
    return false;
}

/* The latest first. */
static void insert(uint64_t *times, size_t count, uint64_t time)
{
    while (count > 0 && times[count - 1] < time) {
        times[count] = times[count - 1];
        count--;
    }
    times[count] = time;
}

static sotto_status check_witnesses(sotto_checkpoint *out, const sotto_note *note,
                                    const sotto_log_trust *trust, sotto_err *err)
{
    uint64_t times[SOTTO_NOTE_SIGNATURES], time;
    size_t good = 0;

    for (size_t i = 0; i < trust->witness_count; i++) {
        sotto_err why = {0};
        const sotto_status status = sotto_note_check(note, &trust->witnesses[i], &time, &why);

        if (SOTTO_RULE(cosignatures_hold) && status != SOTTO_OK && status != SOTTO_MISSING)
            return sotto_fail(err, SOTTO_REJECTED, "checkpoint: %s", why.reason);
        if (SOTTO_RULE(only_cosignatures_count) &&
            trust->witnesses[i].kind != SOTTO_NOTE_COSIGNATURE)
            continue; /* a signature says nothing of consistency, and may be the log's own */
        if (SOTTO_RULE(witness_counts_once) && counted_before(trust, i))
            continue;
        if (status == SOTTO_OK && good < SOTTO_NOTE_SIGNATURES)
            insert(times, good++, time);
    }
    if (SOTTO_RULE(witnesses_reach_the_quorum) && good < trust->quorum)
        return sotto_fail(err, SOTTO_DENIED,
                          "checkpoint: cosigned by %zu witnesses; %zu are wanted", good,
                          trust->quorum);
    out->cosigned = trust->quorum > 0 && good >= trust->quorum ? times[trust->quorum - 1] : 0;
    return SOTTO_OK;
}

sotto_status sotto_checkpoint_open(sotto_checkpoint *out, sotto_bytes bytes,
                                   const sotto_log_trust *trust, sotto_err *err)
{
    sotto_note note;

    SOTTO_TRY(sotto_note_decode(&note, bytes, err));
    SOTTO_TRY(sotto_checkpoint_decode(out, note.text, err));
    SOTTO_TRY(check_log(out, &note, trust->log, err));
    return check_witnesses(out, &note, trust, err);
}

sotto_status sotto_checkpoint_continues(const sotto_checkpoint *now, const sotto_checkpoint *seen,
                                        const sotto_merkle_proof *proof, sotto_err *err)
{
    if (seen->size == 0)
        return SOTTO_OK;
    if (SOTTO_RULE(checkpoints_never_go_back) && now->size < seen->size)
        return sotto_fail(err, SOTTO_STALE,
                          "checkpoint: of %" PRIu64 " entries, and %" PRIu64 " were seen",
                          now->size, seen->size);
    return sotto_merkle_check_consistency(proof, seen->size, &seen->root, now->size, &now->root,
                                          err);
}

sotto_status sotto_checkpoint_fork(sotto_bytes note1, sotto_bytes note2, const sotto_note_key *log,
                                   sotto_err *err)
{
    const sotto_log_trust trust = {.log = log};
    sotto_checkpoint one, two;

    SOTTO_TRY(sotto_checkpoint_open(&one, note1, &trust, err));
    SOTTO_TRY(sotto_checkpoint_open(&two, note2, &trust, err));
    if (one.size != two.size || sotto_merkle_equal(&one.root, &two.root))
        return sotto_fail(err, SOTTO_MISSING, "these two checkpoints show no fork");
    return SOTTO_OK;
}
