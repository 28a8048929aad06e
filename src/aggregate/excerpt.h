/* aggregate/excerpt.h - a record of the board without the end of its body, which comes by its length and hash.
 *
 * Callers:  the aggregator, for readers who need no more; methods whose kinds have such readers.
 * Memory:   a decoded excerpt borrows from the wire bytes.
 * Wire:     "sotto-excerpt-1", the whole body's length (4 bytes) and SHA-256, and the message with what is left of its body.
 *
 * A signature covers the body's hash, so it is checked without the end. That the beginning belongs to that hash is not shown: a
 * method takes an excerpt only where it knows the beginning from elsewhere, as by a commitment.
 */
#ifndef SOTTO_AGGREGATE_EXCERPT_H
#define SOTTO_AGGREGATE_EXCERPT_H

#include "aggregate/method.h"

typedef struct sotto_excerpt {
    sotto_message message; /* its body is the beginning */
    uint32_t length;       /* of the whole body */
    uint8_t digest[32];    /* SHA-256 of it */
} sotto_excerpt;

bool sotto_excerpt_is(sotto_bytes record);
size_t sotto_excerpt_size(const sotto_message *record, size_t needed);
/* needed: bytes of the body that stay; at most its length. */
SOTTO_MUST_USE sotto_status sotto_excerpt_encode(sotto_buf *out, const sotto_message *record,
                                                 size_t needed, sotto_err *err);
/* SOTTO_MALFORMED for everything that encode would not have written. */
SOTTO_MUST_USE sotto_status sotto_excerpt_decode(sotto_excerpt *out, sotto_bytes wire,
                                                 sotto_err *err);
/* What stands for a record in its board's tree: all of it but the body, which is there by its length and hash. The same for a whole record and for
 * each of its excerpts. At most SOTTO_EXCERPT_LEAF bytes. SOTTO_MALFORMED: neither a message nor an excerpt. */
enum { SOTTO_EXCERPT_LEAF = 512 };
SOTTO_MUST_USE sotto_status sotto_excerpt_leaf(sotto_buf *out, sotto_bytes record, sotto_err *err);
/* As sotto_message_judge. */
SOTTO_MUST_USE sotto_status sotto_excerpt_judge(const sotto_excerpt *excerpt,
                                                const sotto_round *round,
                                                const sotto_method *method, sotto_err *err);

#endif
