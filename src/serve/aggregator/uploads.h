/* serve/aggregator/uploads.h - reports with long vectors: the message first, then its vector piece by piece.
 *
 * Callers:  aggregator_service.c, on the server's loops; running.c, when a report is stored or refused.
 * Memory:   one vector for each upload, `most` at once. Others wait, and their clients' time stands still. Messages before their
 *           vectors are short; all that are gathered at once have SOTTO_UPLOADS_GATHERED bytes at most.
 * Threads:  any. Its lock is held for moments.
 *
 * Nothing of a vector is taken before its message was judged: it is signed by somebody whom the round knows. Messages that come while
 * others are judged are judged together, since signatures are checked in lanes. A vector is added to
 * the sum when it is whole, and acknowledged when that sum is on disk. Until then its client has it.
 */
#ifndef SOTTO_SERVE_AGGREGATOR_UPLOADS_H
#define SOTTO_SERVE_AGGREGATOR_UPLOADS_H

#include "serve/aggregator/running.h"
#include "transport/http_server.h"

#include <pthread.h>

struct sotto_aggregator;
struct sotto_listed_round;

#define SOTTO_UPLOADS_GATHERED ((size_t)64 << 20)

typedef enum sotto_upload_phase {
    SOTTO_UPLOAD_MESSAGE, /* is gathered            */
    SOTTO_UPLOAD_ASKED,   /* waits to be judged     */
    SOTTO_UPLOAD_ALONE,   /* it has no vector       */
    SOTTO_UPLOAD_JUDGED,  /* its vector may come    */
    SOTTO_UPLOAD_VECTOR,  /* has room, and comes    */
} sotto_upload_phase;

typedef struct sotto_upload {
    sotto_put put; /* first: running.c hands it back */
    struct sotto_aggregator *of;
    sotto_http_request *request;
    struct sotto_listed_round *round; /* held */
    sotto_upload_phase phase;
    uint32_t from;
    uint8_t *head; /* the message's length, in four bytes, and the message */
    size_t head_len, head_room;
    uint64_t fed;  /* bytes of the vector */
    bool is_whole; /* its vector has come  */
    uint8_t
        *rest; /* of the piece that the message ended in, while there is no room for the vector */
    size_t rest_len;
    size_t charged;      /* of the rest, while nobody has judged the message */
    sotto_judged judged; /* with the lock, until `is_judged`                 */
    bool is_judged;
    bool is_at_work;             /* a thread judges it                               */
    bool is_lost;                /* meanwhile: that thread ends it                   */
    struct sotto_upload *behind; /* of those that ask */
    struct sotto_upload *next;   /* of those that were judged */
    struct sotto_upload *later;  /* of those that wait for room */
    bool waits;
} sotto_upload;

typedef struct sotto_uploads {
    pthread_mutex_t lock; /* over what follows */
    unsigned most;
    unsigned vectors; /* in memory now */
    unsigned whole;   /* of those     */
    unsigned waiting;
    size_t gathered; /* bytes of messages, and of what came with them before they were judged */
    sotto_upload *asked, **last_asked; /* that wait to be judged */
    bool judging;                      /* a thread takes them    */
    sotto_upload *judged;
    sotto_upload *first, **last; /* that wait */
    bool was_used;               /* since the last look */
    void **spare;                /* vectors of `spare_size` bytes */
    unsigned spares;
    size_t spare_size;
} sotto_uploads;

SOTTO_MUST_USE sotto_status sotto_uploads_init(sotto_uploads *u, unsigned most, sotto_err *err);
void sotto_uploads_clear(sotto_uploads *u);

/* Called now and then: memory of vectors that nobody wanted since the last call goes. */
void sotto_uploads_look(sotto_uploads *u);

/* Begins one for a round that is held, which it then holds; the request remembers it. */
SOTTO_MUST_USE sotto_status sotto_upload_begin(struct sotto_aggregator *a,
                                               sotto_http_request *request,
                                               struct sotto_listed_round *round, sotto_err *err);
/* sotto_route.piece and .lost, for requests that remember one. A piece may answer. */
sotto_http_flow sotto_upload_piece(sotto_upload *one, sotto_bytes piece);
void sotto_upload_lost(sotto_upload *one);
/* upload_judge.c: has a compute thread judge its message, with all others that came meanwhile. The request is woken then. */
void sotto_upload_ask(sotto_upload *one);
bool sotto_upload_is_judged(sotto_upload *one);
/* Its request has gone. False: a thread judges it, which ends it afterwards. */
SOTTO_MUST_USE bool sotto_upload_asks_no_more(sotto_upload *one);
sotto_bytes sotto_upload_message(const sotto_upload *one);
/* Everything of it goes, and its round is released. */
void sotto_upload_end(sotto_upload *one);

/* The body is whole. Refuses it, or has a compute thread give it to its round. */
void sotto_upload_whole(sotto_upload *one);

#endif
