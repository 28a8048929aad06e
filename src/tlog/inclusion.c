#include "tlog/inclusion.h"

#include "base/base64.h"
#include "base/writer.h"
#include "tlog/lines.h"

#include <inttypes.h>
#include <string.h>

static const char first_line[] = "c2sp.org/tlog-proof@v1";

sotto_status sotto_inclusion_decode(sotto_inclusion *out, sotto_bytes text, sotto_err *err)
{
    sotto_bytes line, extra;

    if (!sotto_tlog_line(&line, &text) ||
        !sotto_bytes_equal_vartime(line, sotto_bytes_of(first_line, sizeof first_line - 1)))
        return sotto_fail(err, SOTTO_MALFORMED, "no proof of a log");
    if (sotto_tlog_word_line(&extra, &text, "extra") &&
        !sotto_base64_decode(NULL, sotto_base64_decoded(SOTTO_BASE64_STANDARD, extra),
                             SOTTO_BASE64_STANDARD, extra))
        return sotto_fail(err, SOTTO_MALFORMED, "proof of a log: an extra line without base64");
    if (!sotto_tlog_word_line(&line, &text, "index") || !sotto_tlog_decimal(&out->index, line))
        return sotto_fail(err, SOTTO_MALFORMED, "proof of a log: no index");
    if (!sotto_tlog_hashes(&out->proof, &text))
        return sotto_fail(err, SOTTO_MALFORMED, "proof of a log: no list of hashes");
    out->checkpoint = text;
    return SOTTO_OK;
}

sotto_status sotto_inclusion_encode(sotto_buf *out, const sotto_inclusion *inclusion,
                                    sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_format(&w, "%s\nindex %" PRIu64 "\n", first_line, inclusion->index);
    sotto_tlog_write_hashes(&w, &inclusion->proof);
    sotto_write_format(&w, "\n");
    sotto_write_bytes(&w, inclusion->checkpoint);
    return sotto_writer_finish(&w, "proof of a log", err);
}

sotto_status sotto_inclusion_check(const sotto_inclusion *inclusion, sotto_checkpoint *checkpoint,
                                   sotto_bytes entry, const sotto_log_trust *trust, sotto_err *err)
{
    sotto_merkle_hash leaf;

    SOTTO_TRY(sotto_checkpoint_open(checkpoint, inclusion->checkpoint, trust, err));
    sotto_merkle_leaf(&leaf, entry);
    return sotto_merkle_check_inclusion(&inclusion->proof, &leaf, inclusion->index,
                                        checkpoint->size, &checkpoint->root, err);
}
