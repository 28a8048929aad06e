#include "tlog/witness.h"

#include "base/rule.h"
#include "base/writer.h"
#include "tlog/lines.h"

#include <inttypes.h>

sotto_status sotto_witness_request_decode(sotto_witness_request *out, sotto_bytes body,
                                          sotto_err *err)
{
    sotto_bytes old;
    sotto_note note;

    if (!sotto_tlog_word_line(&old, &body, "old") || !sotto_tlog_decimal(&out->old, old))
        return sotto_fail(err, SOTTO_MALFORMED, "add-checkpoint: no old size");
    if (!sotto_tlog_hashes(&out->proof, &body) || out->proof.count > SOTTO_WITNESS_PROOF)
        return sotto_fail(err, SOTTO_MALFORMED, "add-checkpoint: no list of %d hashes at most",
                          SOTTO_WITNESS_PROOF);
    out->note = body;
    SOTTO_TRY(sotto_note_decode(&note, body, err));
    return sotto_checkpoint_decode(&out->checkpoint, note.text, err);
}

sotto_status sotto_witness_request_encode(sotto_buf *out, const sotto_witness_request *request,
                                          sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_format(&w, "old %" PRIu64 "\n", request->old);
    sotto_tlog_write_hashes(&w, &request->proof);
    sotto_write_format(&w, "\n");
    sotto_write_bytes(&w, request->note);
    return sotto_writer_finish(&w, "add-checkpoint", err);
}

static sotto_witness_verdict refuse(unsigned http, bool fork, sotto_err *err, const char *why)
{
    (void)sotto_fail(err, SOTTO_REJECTED, "%s", why);
    return (sotto_witness_verdict){http, fork};
}

/* Every tree continues the empty tree, and no proof is needed. */
static sotto_status check_growth(const sotto_witness_request *r, const sotto_checkpoint *last,
                                 sotto_err *err)
{
    if (r->old > 0)
        return sotto_merkle_check_consistency(&r->proof, r->old, &last->root, r->checkpoint.size,
                                              &r->checkpoint.root, err);
    if (SOTTO_RULE(no_proof_from_an_empty_tree) && r->proof.count > 0)
        return sotto_fail(err, SOTTO_REJECTED, "consistency proof: hashes, where none are needed");
    return SOTTO_OK;
}

sotto_witness_verdict sotto_witness_judge(const sotto_witness_request *r, const sotto_note_key *log,
                                          const sotto_checkpoint *last, sotto_err *err)
{
    const sotto_checkpoint *now = &r->checkpoint;
    sotto_merkle_hash empty;
    sotto_err why = {0};
    sotto_note note;
    bool fork;

    if (sotto_note_decode(&note, r->note, &why) != SOTTO_OK)
        return refuse(400, false, err, why.reason);
    if (SOTTO_RULE(witness_checks_the_log_s_signature) &&
        sotto_note_check(&note, log, NULL, &why) != SOTTO_OK)
        return refuse(403, false, err, why.reason);
    if (r->old > now->size)
        return refuse(400, false, err, "the old size is larger than the checkpoint's");
    if (SOTTO_RULE(witness_goes_on_from_its_last) && r->old != last->size)
        return refuse(409, last->size == now->size && !sotto_merkle_equal(&last->root, &now->root),
                      err, "the old size is not that of the last checkpoint");
    sotto_merkle_empty(&empty);
    if (SOTTO_RULE(witness_knows_the_empty_tree) && now->size == 0 &&
        !sotto_merkle_equal(&now->root, &empty))
        return refuse(422, true, err, "no entry, but another root");
    fork = now->size > 0 && now->size == last->size && !sotto_merkle_equal(&last->root, &now->root);
    if (SOTTO_RULE(witness_demands_consistency) && check_growth(r, last, &why) != SOTTO_OK)
        return refuse(fork && r->proof.count == 0 ? 409 : 422, fork, err, why.reason);
    return (sotto_witness_verdict){200, false};
}
