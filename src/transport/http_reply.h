/* transport/http_reply.h - the head of an answer (RFC 9112), read strictly: a pure function over a stranger's bytes.
 *
 * Callers:  http_direct.c, the fuzz target.
 * Memory:   nothing is taken.
 *
 * As for requests (http_parse.h), whatever two readers could understand differently is refused. What follows a head whose length is
 * in doubt would be taken for the answer to the next call.
 */
#ifndef SOTTO_TRANSPORT_HTTP_REPLY_H
#define SOTTO_TRANSPORT_HTTP_REPLY_H

#include "transport/http.h"

typedef struct sotto_http_reply_head {
    unsigned status;
    bool keep_alive;
    bool chunked;
    bool sized; /* `length` bytes follow; where neither, all until the connection ends */
    uint64_t length;
    sotto_bytes retry_after; /* a view; empty: none */
} sotto_http_reply_head;

/* One whole head, with its empty line. False: it is not one. */
SOTTO_MUST_USE bool sotto_http_reply_parse(sotto_http_reply_head *out, sotto_bytes text);

#endif
