/* dap/rejections.h - counts of rejected reports, from either server to the collector. Private use: DAP has no
 * such message, and a server of another make answers 404.
 *
 *     GET {aggregator}/tasks/{task}/rejections/{id}     application/json: {"rejections":{"report_replayed":3},
 *                                                            "rate_checked":true,"rate_released":false,"population":1000000}
 *
 * A newer version may add members and causes. rate_checked: whether the number of reports was compared with the population that
 * the operator stated; may be missing. rate_released, only if it was compared: whether there were too many reports, and the
 * operator released the batch. An older server leaves it out. population: as the operator stated it, if at all; the gain from
 * sampling depends on how small a share of it a batch is.
 *
 * The id is, at the leader, that of the collection job. The collector never learns the helper's ids. So there it is a
 * hash of the helper's sealed aggregate share as the collector received it. Nobody can ask about a batch whose result
 * they don't have, and one name does for both batch modes.
 *
 * Memory:   plain values.
 * Threads:  nothing is shared.
 */
#ifndef SOTTO_DAP_REJECTIONS_H
#define SOTTO_DAP_REJECTIONS_H

#include "dap/dap.h"
#include "sotto/rejections.h"

/* Longest document that is read or written. */
enum { SOTTO_DAP_REJECTIONS_MAX = 4096 };

/* share: an encoded HpkeCiphertext. */
void sotto_dap_rejections_id(uint8_t out[SOTTO_RESOURCE_ID_SIZE], sotto_bytes share);

SOTTO_MUST_USE sotto_status sotto_dap_rejections_encode(sotto_buf *out,
                                                        const sotto_rejections *rejections,
                                                        sotto_err *err);
/* A server of another make or a newer version may have other causes: any word of small letters, digits and underscores.
 * Of more than SOTTO_REJECTION_CAUSES the last are counted together, as "other"; any other name is refused, since no
 * version has one and it would be printed. Members that we do not know are passed over: what is told here is shown, and
 * nothing is decided by it.
 *   SOTTO_MALFORMED  no such document
 *   SOTTO_TOO_LARGE  more bytes than we read */
SOTTO_MUST_USE sotto_status sotto_dap_rejections_decode(sotto_rejections *out, sotto_bytes json,
                                                        sotto_err *err);

#endif
