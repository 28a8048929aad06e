/* One handler for each state; each takes bytes and says how many. A line that ends in LF alone, or that holds a control
 * character, is refused: readers that skip such bytes and readers that don't would see different chunks. */
#include "transport/http_parse.h"

#include "base/hex.h"

static size_t bad(sotto_http_chunks *chunks)
{
    chunks->state = SOTTO_HTTP_CHUNK_BAD;
    return 0;
}

static void end_size_line(sotto_http_chunks *chunks)
{
    const uint64_t size = chunks->left;

    *chunks = (sotto_http_chunks){.left = size, .trailer = chunks->trailer};
    chunks->state = size > 0 ? SOTTO_HTTP_CHUNK_DATA : SOTTO_HTTP_CHUNK_TRAILER;
}

/* chunk-size [ chunk-ext ] CRLF, byte by byte, as it may come in pieces. */
static size_t take_size(sotto_http_chunks *chunks, sotto_bytes in, sotto_bytes *piece)
{
    (void)piece;
    for (size_t i = 0; i < in.len; i++) {
        const uint8_t c = in.data[i];
        const int digit = sotto_hex_digit_vartime(c);

        if (chunks->cr) {
            if (c != '\n')
                return bad(chunks);
            end_size_line(chunks);
            return i + 1;
        }
        if (++chunks->line > SOTTO_HTTP_MAX_CHUNK_LINE)
            return bad(chunks);
        if (c == '\r' && chunks->digits > 0) {
            chunks->cr = true;
        } else if (chunks->extension) {
            if ((c < 0x20 && c != '\t') || c == 0x7f)
                return bad(chunks);
        } else if (digit >= 0) {
            /* 15 digits stay far below what 64 bits hold. */
            if (++chunks->digits > 15)
                return bad(chunks);
            chunks->left = chunks->left * 16 + (uint64_t)digit;
        } else if (c == ';' && chunks->digits > 0) {
            chunks->extension = true;
        } else {
            return bad(chunks);
        }
    }
    return in.len;
}

static size_t take_data(sotto_http_chunks *chunks, sotto_bytes in, sotto_bytes *piece)
{
    const size_t len = in.len < chunks->left ? in.len : (size_t)chunks->left;

    *piece = sotto_bytes_of(in.data, len);
    chunks->left -= len;
    if (chunks->left == 0)
        chunks->state = SOTTO_HTTP_CHUNK_DATA_END;
    return len;
}

static size_t take_data_end(sotto_http_chunks *chunks, sotto_bytes in, sotto_bytes *piece)
{
    (void)piece;
    if (in.data[0] != (chunks->cr ? '\n' : '\r'))
        return bad(chunks);
    if (chunks->cr) {
        chunks->cr = false;
        chunks->state = SOTTO_HTTP_CHUNK_SIZE;
    } else {
        chunks->cr = true;
    }
    return 1;
}

/* Lines up to an empty one. All of them together are bounded as one line is. */
static size_t take_trailer(sotto_http_chunks *chunks, sotto_bytes in, sotto_bytes *piece)
{
    (void)piece;
    for (size_t i = 0; i < in.len; i++) {
        const uint8_t c = in.data[i];

        if (++chunks->trailer > SOTTO_HTTP_MAX_CHUNK_LINE)
            return bad(chunks);
        if (chunks->cr) {
            if (c != '\n')
                return bad(chunks);
            chunks->cr = false;
            if (chunks->line == 0) {
                chunks->state = SOTTO_HTTP_CHUNK_DONE;
                return i + 1;
            }
            chunks->line = 0;
        } else if (c == '\r') {
            chunks->cr = true;
        } else if ((c < 0x20 && c != '\t') || c == 0x7f) {
            return bad(chunks);
        } else {
            chunks->line++;
        }
    }
    return in.len;
}

size_t sotto_http_chunks_next(sotto_http_chunks *chunks, sotto_bytes in, sotto_bytes *piece)
{
    static size_t (*const take[])(sotto_http_chunks *, sotto_bytes, sotto_bytes *) = {
        [SOTTO_HTTP_CHUNK_SIZE] = take_size,
        [SOTTO_HTTP_CHUNK_DATA] = take_data,
        [SOTTO_HTTP_CHUNK_DATA_END] = take_data_end,
        [SOTTO_HTTP_CHUNK_TRAILER] = take_trailer,
    };
    size_t taken = 0;

    *piece = sotto_bytes_of(NULL, 0);
    while (taken < in.len && piece->len == 0 && chunks->state < SOTTO_HTTP_CHUNK_DONE)
        taken +=
            take[chunks->state](chunks, sotto_bytes_of(in.data + taken, in.len - taken), piece);
    return taken;
}
