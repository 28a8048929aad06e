/* aggregate/excerpt.h - a record of the board with some of its body, and what proves that it is of that body.
 *
 * Callers:  the aggregator, for readers who need no more; methods whose kinds have such readers.
 * Memory:   a decoded excerpt borrows from the wire bytes.
 * Wire:     "sotto-excerpt-2", the whole body's length (4 bytes) and the number of spans that are shown (1 byte). Of each span, its first
 *           piece and how many there are (4 bytes each). Then the hashes beside them (opaque, 2 bytes), and the message with these
 *           pieces as its body.
 *
 * A signature covers the body's digest (body.h), which is computed from pieces and hashes. So what is shown is what was signed, in its
 * place. What is not shown is there, and nobody can have it changed. A method says which pieces each reader is shown.
 */
#ifndef SOTTO_AGGREGATE_EXCERPT_H
#define SOTTO_AGGREGATE_EXCERPT_H

#include "aggregate/body.h"
#include "aggregate/method.h"

typedef struct sotto_excerpt {
    sotto_message message; /* its body is what is shown */
    uint32_t length;       /* of the whole body */
    sotto_pieces pieces;
    uint8_t digest[32]; /* of the whole body */
} sotto_excerpt;

bool sotto_excerpt_is(sotto_bytes record);
/* At most. */
size_t sotto_excerpt_size(const sotto_message *record, const sotto_pieces *pieces);
/* SOTTO_MALFORMED: its body has no such pieces. */
SOTTO_MUST_USE sotto_status sotto_excerpt_encode(sotto_buf *out, const sotto_message *record,
                                                 const sotto_pieces *pieces, sotto_err *err);
/* SOTTO_MALFORMED for everything that encode would not have written. */
SOTTO_MUST_USE sotto_status sotto_excerpt_decode(sotto_excerpt *out, sotto_bytes wire,
                                                 sotto_err *err);
/* Bytes of the whole body, where all of them are shown: borrowed. No data: they are not. */
sotto_bytes sotto_excerpt_bytes(const sotto_excerpt *excerpt, sotto_body_span span);
/* What this reader is shown of a record whose body has the record's length, whatever its bytes. False: all of it. */
bool sotto_excerpt_for(sotto_pieces *out, const sotto_method *method, const sotto_round *round,
                       const sotto_message *record, uint32_t reader);
/* What stands for a record in its board's tree: an excerpt of none of its body. The same for a whole record and for each of its excerpts. At
 * most SOTTO_EXCERPT_LEAF bytes. SOTTO_MALFORMED: neither a message nor an excerpt. */
enum { SOTTO_EXCERPT_LEAF = 512 };
SOTTO_MUST_USE sotto_status sotto_excerpt_leaf(sotto_buf *out, sotto_bytes record, sotto_err *err);
/* As sotto_message_judge. */
SOTTO_MUST_USE sotto_status sotto_excerpt_judge(const sotto_excerpt *excerpt,
                                                const sotto_round *round,
                                                const sotto_method *method, sotto_err *err);

#endif
