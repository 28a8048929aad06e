#include "aggregate/body.h"

#include "crypto/hash_many.h"

#include <string.h>

static size_t pieces_in(size_t length)
{
    return (length + SOTTO_BODY_PIECE - 1) / SOTTO_BODY_PIECE;
}

/* The last piece of a body may be shorter. */
static size_t piece_size(size_t length, size_t number)
{
    const size_t left = length - number * SOTTO_BODY_PIECE;

    return left < SOTTO_BODY_PIECE ? left : SOTTO_BODY_PIECE;
}

/* ---- the tree ------------------------------------------------------------------------------------------- */

/* Leaves that are digested together. */
enum { TOGETHER = 8, LEAF = 0, NODE = 1 };

/* As many whole pieces as there are bytes for, one after the other; the last may be shorter. */
static void leaves(uint8_t (*out)[32], const uint8_t *pieces, size_t len, size_t count)
{
    uint8_t texts[TOGETHER][1 + SOTTO_BODY_PIECE];
    sotto_bytes all[TOGETHER];

    for (size_t i = 0; i < count; i++) {
        const size_t size = piece_size(len, i);

        texts[i][0] = LEAF;
        memcpy(texts[i] + 1, pieces + i * SOTTO_BODY_PIECE, size);
        all[i] = sotto_bytes_of(texts[i], 1 + size);
    }
    sotto_sha256_many(out, all, count);
}

static void node(uint8_t out[32], const uint8_t left[32], const uint8_t right[32])
{
    const uint8_t kind = NODE;
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(&kind, 1));
    sotto_hash_update(&hash, sotto_bytes_of(left, 32));
    sotto_hash_update(&hash, sotto_bytes_of(right, 32));
    sotto_hash_final(&hash, out);
}

/* How many leaves are left of the root: the largest power of two below `count`. */
static size_t half_of(size_t count)
{
    size_t half = 1;

    while (2 * half < count)
        half *= 2;
    return half;
}

static void fold(uint8_t out[32], uint8_t (*hashes)[32], size_t count)
{
    uint8_t left[32], right[32];

    if (count == 1) {
        memcpy(out, hashes[0], 32);
        return;
    }
    const size_t half = half_of(count);
    fold(left, hashes, half);
    fold(right, hashes + half, count - half);
    node(out, left, right);
}

/* Recursion is as deep as the tree: a body has 2^14 pieces at most. */
static void root_of(uint8_t out[32], sotto_bytes body, size_t first, size_t count)
{
    uint8_t left[32], right[32], hashes[TOGETHER][32];

    if (count <= TOGETHER) {
        const size_t at = first * SOTTO_BODY_PIECE;

        leaves(hashes, body.data + at, body.len - at, count);
        fold(out, hashes, count);
        return;
    }
    const size_t half = half_of(count);
    root_of(left, body, first, half);
    root_of(right, body, first + half, count - half);
    node(out, left, right);
}

void sotto_body_digest(uint8_t out[32], sotto_bytes body)
{
    if (body.len <= SOTTO_BODY_PLAIN)
        sotto_hash_once(out, SOTTO_SHA256, body);
    else
        root_of(out, body, 0, pieces_in(body.len));
}

void sotto_bodies_digest(uint8_t (*out)[32], const sotto_bytes *bodies, size_t count)
{
    for (size_t i = 0; i < count;) {
        size_t end = i;

        while (end < count && bodies[end].len <= SOTTO_BODY_PLAIN)
            end++;
        sotto_sha256_many(out + i, bodies + i, end - i);
        for (i = end; i < count && bodies[i].len > SOTTO_BODY_PLAIN; i++)
            sotto_body_digest(out[i], bodies[i]);
    }
}

/* ---- pieces --------------------------------------------------------------------------------------------- */

void sotto_pieces_of(sotto_pieces *out, size_t length,
                     const sotto_body_span spans[SOTTO_BODY_SPANS])
{
    *out = (sotto_pieces){.count = 0};
    for (size_t i = 0; i < SOTTO_BODY_SPANS && length > SOTTO_BODY_PLAIN; i++) {
        if (spans[i].len == 0)
            continue;
        uint32_t first = (uint32_t)(spans[i].at / SOTTO_BODY_PIECE);
        const uint32_t end = (uint32_t)pieces_in(spans[i].at + spans[i].len);

        if (out->count > 0) {
            const uint32_t last = out->count - 1, before = out->at[last].first;

            if (first <= before + out->at[last].count) {
                first = before;
                out->count--;
            }
        }
        out->at[out->count].first = first;
        out->at[out->count++].count = end - first;
    }
}

bool sotto_pieces_fit(const sotto_pieces *pieces, size_t length)
{
    const size_t all = length > SOTTO_BODY_PLAIN ? pieces_in(length) : 0;
    size_t next = 0;

    if (pieces->count > SOTTO_BODY_SPANS)
        return false;
    for (size_t i = 0; i < pieces->count; i++) {
        const size_t first = pieces->at[i].first, count = pieces->at[i].count;

        if (count == 0 || first < next || first >= all || count > all - first)
            return false;
        next = first + count + 1;
    }
    return true;
}

bool sotto_pieces_equal(const sotto_pieces *a, const sotto_pieces *b)
{
    bool same = a->count == b->count;

    for (uint32_t i = 0; same && i < a->count; i++)
        same = a->at[i].first == b->at[i].first && a->at[i].count == b->at[i].count;
    return same;
}

size_t sotto_pieces_size(const sotto_pieces *pieces, size_t length)
{
    size_t size = 0;

    for (size_t i = 0; i < pieces->count; i++) {
        const size_t at = (size_t)pieces->at[i].first * SOTTO_BODY_PIECE;
        const size_t whole = (size_t)pieces->at[i].count * SOTTO_BODY_PIECE;

        size += length - at < whole ? length - at : whole;
    }
    return size;
}

size_t sotto_pieces_find(const sotto_pieces *pieces, sotto_body_span span)
{
    size_t before = 0;

    for (size_t i = 0; i < pieces->count; i++) {
        const size_t at = (size_t)pieces->at[i].first * SOTTO_BODY_PIECE;
        const size_t len = (size_t)pieces->at[i].count * SOTTO_BODY_PIECE;

        if (span.at >= at && span.at + span.len <= at + len)
            return before + (span.at - at);
        before += len;
    }
    return SIZE_MAX;
}

static bool is_shown(const sotto_pieces *pieces, size_t first, size_t count)
{
    for (size_t i = 0; i < pieces->count; i++)
        if (pieces->at[i].first < first + count &&
            first < (size_t)pieces->at[i].first + pieces->at[i].count)
            return true;
    return false;
}

static void collect(sotto_writer *w, const sotto_pieces *pieces, sotto_bytes body, size_t first,
                    size_t count)
{
    uint8_t hash[32];

    if (!is_shown(pieces, first, count)) {
        root_of(hash, body, first, count);
        sotto_write_bytes(w, sotto_bytes_of(hash, sizeof hash));
        return;
    }
    if (count == 1)
        return;
    const size_t half = half_of(count);
    collect(w, pieces, body, first, half);
    collect(w, pieces, body, first + half, count - half);
}

sotto_status sotto_pieces_hashes(sotto_buf *out, const sotto_pieces *pieces, sotto_bytes body,
                                 sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);
    uint8_t digest[32];

    if (pieces->count) {
        collect(&w, pieces, body, 0, pieces_in(body.len));
    } else {
        sotto_body_digest(digest, body);
        sotto_write_bytes(&w, sotto_bytes_of(digest, sizeof digest));
    }
    return sotto_writer_finish(&w, "hashes", err);
}

typedef struct rebuilding {
    const sotto_pieces *pieces;
    size_t length;
    sotto_reader shown, hashes;
} rebuilding;

static void rebuild(uint8_t out[32], rebuilding *r, size_t first, size_t count)
{
    uint8_t left[32], right[32];

    memset(out, 0, 32);
    if (!is_shown(r->pieces, first, count)) {
        sotto_read_fixed(&r->hashes, out, 32);
        return;
    }
    if (count == 1) {
        const sotto_bytes piece = sotto_read_bytes(&r->shown, piece_size(r->length, first));

        if (piece.data)
            leaves((uint8_t(*)[32])out, piece.data, piece.len, 1);
        return;
    }
    const size_t half = half_of(count);
    rebuild(left, r, first, half);
    rebuild(right, r, first + half, count - half);
    node(out, left, right);
}

sotto_status sotto_pieces_digest(uint8_t out[32], const sotto_pieces *pieces, size_t length,
                                 sotto_bytes shown, sotto_bytes hashes, sotto_err *err)
{
    rebuilding r = {.pieces = pieces,
                    .length = length,
                    .shown = sotto_reader_over(shown),
                    .hashes = sotto_reader_over(hashes)};

    if (!sotto_pieces_fit(pieces, length))
        return sotto_fail(err, SOTTO_MALFORMED, "body: no such pieces of %zu bytes", length);
    if (pieces->count)
        rebuild(out, &r, 0, pieces_in(length));
    else
        sotto_read_fixed(&r.hashes, out, 32);
    SOTTO_TRY(sotto_reader_finish(&r.shown, "body", err));
    return sotto_reader_finish(&r.hashes, "body", err);
}
