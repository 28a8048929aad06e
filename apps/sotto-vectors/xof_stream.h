/* sotto-vectors/xof_stream.h - the three XOFs of VDAF behind one face, chosen by the name of a file.
 *
 * XofTurboShake128 comes in lanes: with several of them the stream wanted runs in the last one and the
 * others hold strangers, whose company must not change a byte.
 */
#ifndef SOTTO_VECTORS_XOF_STREAM_H
#define SOTTO_VECTORS_XOF_STREAM_H

#include "crypto/xof.h"

typedef struct sotto_xof_stream {
    const struct sotto_xof_stream_kind *kind;
    sotto_turboshake lanes;
    sotto_xof_aes aes;
    sotto_status status; /* of the first draw that failed */
} sotto_xof_stream;

/* How many lanes the XOF of this name can run in; 0: no such XOF. */
unsigned sotto_xof_stream_lanes(const char *kind);

SOTTO_MUST_USE sotto_status sotto_xof_stream_init(sotto_xof_stream *stream, const char *kind,
                                                  unsigned lanes, sotto_bytes seed, sotto_bytes dst,
                                                  sotto_bytes binder, sotto_err *err);
/* Zeros once a draw has failed. */
void sotto_xof_stream_next(sotto_xof_stream *stream, uint8_t *out, size_t len);
/* Releases the stream; the status of all draws. */
SOTTO_MUST_USE sotto_status sotto_xof_stream_finish(sotto_xof_stream *stream, sotto_err *err);

#endif
