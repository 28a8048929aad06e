/* serve/leader/sealed_shares.h - how the body of a segment keeps long shares: as their clients sealed them.
 *
 *     body = sealed heads || share || share || ...
 *
 * A head has what a record has (segments.h) but the share, and the key with which the client sealed this one share. The heads are
 * sealed under the segment's own key, and with that key all of it is erased. Neither the share's key nor what the client sent
 * to agree on it is anywhere else. So a share is opened once, and nobody seals it again.
 *
 * Callers:  upload.c writes heads, segments.c seals and opens bodies.
 * Secrets:  heads, and the records that are opened.
 */
#ifndef SOTTO_SERVE_LEADER_SEALED_SHARES_H
#define SOTTO_SERVE_LEADER_SEALED_SHARES_H

#include "seal/hpke/agreed.h"
#include "serve/leader/segments.h"

/* At least the bytes of a head. */
size_t sotto_sealed_head_size(const sotto_dap_report *report, sotto_bytes aad);
/* Appends the head of a report. *report_share is what it begins with: DAP's ReportShare.
 *   key, aad  what opens the share */
SOTTO_MUST_USE sotto_status sotto_sealed_head_write(sotto_buf *out, sotto_bytes *report_share,
                                                    const sotto_dap_report *report,
                                                    const sotto_message_key *key, sotto_bytes aad,
                                                    sotto_err *err);
/* Appends the record of each head, with its share opened. out: as large as heads and shares together.
 *   SOTTO_MALFORMED, SOTTO_REJECTED  these are no shares of these heads */
SOTTO_MUST_USE sotto_status sotto_sealed_shares_open(sotto_buf *out, sotto_bytes heads,
                                                     sotto_bytes shares, sotto_err *err);

#endif
