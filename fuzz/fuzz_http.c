/* Heads and chunked bodies of requests. The first byte chooses, and for chunks says how large the pieces are that they come
 * in: however they are cut, the same data comes out. */
#include "target.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "transport/http_parse.h"

enum { LARGEST = 1 << 14 };

static void require(bool holds)
{
    if (!holds)
        abort();
}

static bool inside(sotto_bytes view, const uint8_t *text, size_t len)
{
    return view.len == 0 || (view.data >= text && view.data + view.len <= text + len);
}

static void check_head(const uint8_t *data, size_t size)
{
    static uint8_t text[LARGEST];
    static sotto_http_head head;
    const size_t end = sotto_http_head_end(sotto_bytes_of(data, size), 0);

    if (end == 0)
        return;
    require(end <= size && memcmp(data + end - 4, "\r\n\r\n", 4) == 0);
    memcpy(text, data, end);
    if (sotto_http_head_parse(&head, text, end, SOTTO_HTTP_MAX_FIELDS) != 0)
        return;
    require(head.line_count <= SOTTO_HTTP_MAX_FIELDS);
    require(head.segment_count <= SOTTO_HTTP_MAX_SEGMENTS);
    require(inside(head.query, text, end));
    require(!head.chunked || head.content_length == 0);
    for (unsigned i = 0; i < head.line_count; i++) {
        require(sotto_http_is_token(head.lines[i].name) && inside(head.lines[i].name, text, end));
        require(sotto_http_is_field_value(head.lines[i].value));
        require(inside(head.lines[i].value, text, end));
    }
    for (unsigned i = 0; i < head.segment_count; i++) {
        require(head.segments[i].len > 0 && inside(head.segments[i], text, end));
        require(!memchr(head.segments[i].data, 0, head.segments[i].len));
    }
}

/* Feeds the body in pieces of `step` bytes; returns how much data came out. */
static size_t unchunk(sotto_http_chunks *chunks, uint8_t *out, const uint8_t *data, size_t size,
                      size_t step)
{
    size_t len = 0;

    *chunks = (sotto_http_chunks){0};
    for (size_t at = 0; at < size && chunks->state < SOTTO_HTTP_CHUNK_DONE;) {
        const size_t part = size - at < step ? size - at : step;
        sotto_bytes piece;
        const size_t taken =
            sotto_http_chunks_next(chunks, sotto_bytes_of(data + at, part), &piece);

        require(taken <= part && piece.len <= taken && inside(piece, data + at, part));
        require(taken > 0 || chunks->state == SOTTO_HTTP_CHUNK_BAD);
        if (piece.len > 0)
            memcpy(out + len, piece.data, piece.len);
        len += piece.len;
        at += taken;
    }
    return len;
}

static void check_chunks(const uint8_t *data, size_t size, size_t step)
{
    static uint8_t whole[LARGEST], parts[LARGEST];
    sotto_http_chunks a, b;
    const size_t len = unchunk(&a, whole, data, size, size);

    require(unchunk(&b, parts, data, size, step) == len);
    require(a.state == b.state && memcmp(whole, parts, len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > LARGEST)
        return 0;
    if (data[0] == 0)
        check_head(data + 1, size - 1);
    else
        check_chunks(data + 1, size - 1, data[0]);
    return 0;
}
