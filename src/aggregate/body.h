/* aggregate/body.h - the digest of a message's body, by which it is signed, and which parts of a long body can be shown alone.
 *
 * Callers:  message.c signs it; excerpt.c shows parts of it.
 * Secrets:  none.
 *
 * Up to SOTTO_BODY_PLAIN bytes it is their SHA-256. What is longer is cut into pieces, and the digest is the root of a hash tree over
 * them, shaped as in RFC 6962. Whoever signs it signs the body's length as well, so no body of one kind is one of the other. Nobody may use
 * the digest without the length: a root is also the SHA-256 of 65 bytes.
 */
#ifndef SOTTO_AGGREGATE_BODY_H
#define SOTTO_AGGREGATE_BODY_H

#include "sotto/base.h"

enum {
    SOTTO_BODY_PIECE = 1024,
    SOTTO_BODY_PLAIN = 65536,
    SOTTO_BODY_SPANS = 2,
    /* One on each side of a span at each level: a body has at most 2^14 pieces. */
    SOTTO_BODY_MOST_HASHES = 2 * SOTTO_BODY_SPANS * 16,
};

/* Bytes of a body. */
typedef struct sotto_body_span {
    size_t at, len;
} sotto_body_span;

/* Pieces of a body that are shown: ascending, and not next to each other. */
typedef struct sotto_pieces {
    uint32_t count;
    struct {
        uint32_t first, count;
    } at[SOTTO_BODY_SPANS];
} sotto_pieces;

void sotto_body_digest(uint8_t out[32], sotto_bytes body);
/* The same of many: two at a time where the machine has instructions for it. */
void sotto_bodies_digest(uint8_t (*out)[32], const sotto_bytes *bodies, size_t count);

/* Those that hold these bytes. Spans ascend; an empty one asks for nothing. Of a plain body there are none. */
void sotto_pieces_of(sotto_pieces *out, size_t length,
                     const sotto_body_span spans[SOTTO_BODY_SPANS]);
/* Whether a body of this length can be shown so. */
bool sotto_pieces_fit(const sotto_pieces *pieces, size_t length);
bool sotto_pieces_equal(const sotto_pieces *a, const sotto_pieces *b);
/* Bytes of all of them together. */
size_t sotto_pieces_size(const sotto_pieces *pieces, size_t length);
/* Where these bytes are among what is shown. SIZE_MAX: not all of them are. */
size_t sotto_pieces_find(const sotto_pieces *pieces, sotto_body_span span);

/* The hashes beside what is shown, at most SOTTO_BODY_MOST_HASHES. */
SOTTO_MUST_USE sotto_status sotto_pieces_hashes(sotto_buf *out, const sotto_pieces *pieces,
                                                sotto_bytes body, sotto_err *err);
/* The body's digest, from what is shown and the hashes beside it.
 *   SOTTO_MALFORMED  they are not as many as that takes */
SOTTO_MUST_USE sotto_status sotto_pieces_digest(uint8_t out[32], const sotto_pieces *pieces,
                                                size_t length, sotto_bytes shown,
                                                sotto_bytes hashes, sotto_err *err);

#endif
