/* seal/ohttp/bhttp.h - an HTTP message as bytes (Binary HTTP, RFC 9292).
 *
 * Callers:  device/ writes requests and reads answers; serve/gateway reads requests and writes answers.
 * Memory:   a message borrows everything from the bytes that it was read from, or that it is made of.
 * Secrets:  none are known here: what is inside is sealed outside (ohttp.h).
 *
 * Both framings are read: known length, and indeterminate length, whose content comes in chunks. The first is written, padded
 * to the size that the caller asks for, so that the size reveals nothing about the message.
 */
#ifndef SOTTO_SEAL_OHTTP_BHTTP_H
#define SOTTO_SEAL_OHTTP_BHTTP_H

#include "sotto/base.h"

typedef struct sotto_bhttp {
    bool response;
    unsigned status; /* of a response: 200 to 599                      */
    sotto_bytes method, scheme, authority,
        path;           /* of a request                                    */
    sotto_bytes fields; /* header lines as they stand on the wire: sotto_bhttp_field reads them  */
    sotto_bytes content;
    sotto_bytes
        trailers; /* as fields                                                              */
} sotto_bhttp;

/* Reads a message. The chunks of a message of indeterminate length are moved together inside `wire`. Informational responses
 * are skipped. Sections that are left out at the end are empty; padding is skipped.
 *   SOTTO_MALFORMED  the reason names what is wrong
 */
SOTTO_MUST_USE sotto_status sotto_bhttp_decode(sotto_bhttp *out, uint8_t *wire, size_t len,
                                               sotto_err *err);

/* Appends the message with known length and without what is empty at its end, then zeros up to `size` bytes; 0: none.
 *   SOTTO_TOO_LARGE  it is longer than size, or does not fit out, which is unchanged
 */
SOTTO_MUST_USE sotto_status sotto_bhttp_encode(sotto_buf *out, const sotto_bhttp *message,
                                               size_t size, sotto_err *err);

/* Appends a header line, for `fields`; the name in lower case. */
void sotto_bhttp_field_write(sotto_writer *w, const char *name, sotto_bytes value);

/* The next line of fields or trailers, from *at = 0 on; false: there is none. The lines were checked by decode. */
bool sotto_bhttp_field_next(sotto_bytes fields, size_t *at, sotto_bytes *name, sotto_bytes *value);
/* The first line of this name, which is in lower case. */
bool sotto_bhttp_field(sotto_bytes fields, const char *name, sotto_bytes *value);

/* bhttp_check.c. Is this a name or value that a message may have (RFC 9292, 3.6; RFC 9113, 8.2.1)? */
bool sotto_bhttp_name_is_clean(sotto_bytes name);
bool sotto_bhttp_value_is_clean(sotto_bytes value);
/* A method, authority or path: visible ASCII without spaces. */
bool sotto_bhttp_control_is_clean(sotto_bytes text);

#endif
