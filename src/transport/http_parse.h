/* transport/http_parse.h - the bytes of HTTP/1.1 (RFC 9112), read strictly: pure functions over a stranger's bytes.
 *
 * Callers:  the server's connections, the fuzz target.
 * Memory:   nothing is taken; views point into the text given.
 *
 * Whatever two readers could understand differently is refused: both Content-Length and Transfer-Encoding, a
 * length given twice, folded lines, space before a colon, a line that ends in LF alone. A proxy in front of us can
 * then not be made to see other requests than we do.
 */
#ifndef SOTTO_TRANSPORT_HTTP_PARSE_H
#define SOTTO_TRANSPORT_HTTP_PARSE_H

#include "transport/http.h"

enum { SOTTO_HTTP_MAX_FIELDS = 64, SOTTO_HTTP_MAX_SEGMENTS = 16, SOTTO_HTTP_MAX_CHUNK_LINE = 1024 };

bool sotto_http_is_token(sotto_bytes text);
bool sotto_http_is_field_value(sotto_bytes text);
/* ASCII case aside. */
bool sotto_http_equal_caseless(sotto_bytes text, const char *wanted);

typedef struct sotto_http_line {
    sotto_bytes name; /* in lower case */
    sotto_bytes value;
} sotto_http_line;

typedef struct sotto_http_head {
    sotto_http_method method;
    bool is_head;    /* HEAD, seen as GET                          */
    bool any_target; /* OPTIONS *                                  */
    unsigned minor;  /* HTTP/1.minor                               */
    bool keep_alive;
    bool expects_continue;
    bool chunked;
    uint64_t content_length; /* 0 where none is given                */
    sotto_bytes query;       /* after the '?', as it came            */
    unsigned segment_count;
    unsigned line_count;
    sotto_bytes segments[SOTTO_HTTP_MAX_SEGMENTS];
    sotto_http_line lines[SOTTO_HTTP_MAX_FIELDS];
} sotto_http_head;

/* Looks for the empty line that ends a head. `scanned` bytes were looked at before. Returns the length of the head with
 * that line, or 0 if it isn't there. */
size_t sotto_http_head_end(sotto_bytes text, size_t scanned);

/* Reads one whole head. Names become lower case and the path is decoded in place: the text is written to.
 * Returns 0, or the status to refuse it with: 400, 414, 417, 431, 501, 505. */
unsigned sotto_http_head_parse(sotto_http_head *head, uint8_t *text, size_t len,
                               unsigned max_fields);

/* A field by its name in lower case; NULL if there is none. */
const sotto_http_line *sotto_http_head_field(const sotto_http_head *head, const char *name);

/* ---- chunked bodies, in whatever pieces they come ------------------------------------------------ */

typedef enum sotto_http_chunk_state {
    SOTTO_HTTP_CHUNK_SIZE, /* reading the line with the size    */
    SOTTO_HTTP_CHUNK_DATA,
    SOTTO_HTTP_CHUNK_DATA_END, /* CRLF after the data           */
    SOTTO_HTTP_CHUNK_TRAILER,  /* lines after the last chunk; thrown away */
    SOTTO_HTTP_CHUNK_DONE,
    SOTTO_HTTP_CHUNK_BAD
} sotto_http_chunk_state;

/* Starts as zeros. */
typedef struct sotto_http_chunks {
    sotto_http_chunk_state state;
    uint64_t left;    /* of the chunk's data; while its line is read, the size so far */
    unsigned line;    /* characters of the line so far                                */
    unsigned digits;  /* of the size                                                  */
    unsigned trailer; /* characters of all trailer lines                              */
    bool extension;   /* past the size, within its line                               */
    bool cr;          /* CR seen, LF is due                                           */
} sotto_http_chunks;

/* Takes bytes from the front of `in` up to the next piece of data, which comes back as a view, or the end.
 * Returns how many bytes were taken, the piece included. Call again until it takes none or the state is DONE or BAD. */
size_t sotto_http_chunks_next(sotto_http_chunks *chunks, sotto_bytes in, sotto_bytes *piece);

#endif
