/* seal/ohttp/ohttp_batch.h - many encapsulated requests in one call, from a relay to its gateway.
 *
 *     body    up to SOTTO_OHTTP_BATCH encapsulated requests of RFC 9458, each behind its length (32 bits).
 *     answer  for each of them, in their order: an HTTP status (16 bits), and a body behind its length (32 bits).
 *             The body is an encapsulated response where the status is 200, else a problem document of RFC 9457.
 *
 * Callers:  serve/relay and serve/gateway.
 * Memory:   what is read is borrowed.
 *
 * A request that can't be opened spoils none of the others.
 */
#ifndef SOTTO_SEAL_OHTTP_OHTTP_BATCH_H
#define SOTTO_SEAL_OHTTP_OHTTP_BATCH_H

#include "sotto/base.h"

#define SOTTO_OHTTP_BATCH_REQUEST_TYPE  "application/sotto-ohttp-requests"
#define SOTTO_OHTTP_BATCH_RESPONSE_TYPE "application/sotto-ohttp-responses"

enum {
    SOTTO_OHTTP_BATCH = 32,
    SOTTO_OHTTP_BATCH_BYTES = 64 << 10, /* of a body, at most */
    SOTTO_OHTTP_BATCH_LENGTH = 4,       /* before each request */
    SOTTO_OHTTP_BATCH_HEAD = 2 + 4      /* before each response */
};

typedef struct sotto_ohttp_batch_answer {
    unsigned status;
    sotto_bytes body;
} sotto_ohttp_batch_answer;

/*   SOTTO_MALFORMED  not such a list, or empty
 *   SOTTO_TOO_LARGE  more than SOTTO_OHTTP_BATCH */
SOTTO_MUST_USE sotto_status sotto_ohttp_batch_requests_read(sotto_bytes out[SOTTO_OHTTP_BATCH],
                                                            size_t *count, sotto_bytes wire,
                                                            sotto_err *err);
/* Appends one. */
SOTTO_MUST_USE sotto_status sotto_ohttp_batch_request_add(sotto_buf *out, sotto_bytes request,
                                                          sotto_err *err);

/*   SOTTO_MALFORMED  not a list of `count` answers */
SOTTO_MUST_USE sotto_status sotto_ohttp_batch_answers_read(sotto_ohttp_batch_answer *out,
                                                           size_t count, sotto_bytes wire,
                                                           sotto_err *err);
/* Appends one. */
SOTTO_MUST_USE sotto_status sotto_ohttp_batch_answer_add(sotto_buf *out,
                                                         const sotto_ohttp_batch_answer *answer,
                                                         sotto_err *err);

#endif
