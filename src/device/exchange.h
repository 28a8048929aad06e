/* device/exchange.h - one HTTP exchange, carried by the host: the request's body leaves in pieces, and the answer is put
 * together here, whole and within a ceiling.
 *
 * Callers:  device_send.c, for uploads; oblivious.c, for those that go through a relay.
 * Memory:   request and answer are the caller's.
 * Threads:  the host may call back from any thread, one at a time, until its callback returns.
 * Secrets:  none: what leaves is sealed.
 */
#ifndef SOTTO_DEVICE_EXCHANGE_H
#define SOTTO_DEVICE_EXCHANGE_H

#include "sotto/device.h"

enum { SOTTO_EXCHANGE_MEDIA_TYPE = 128 };

/* An answer to judge. Nothing in it is trusted. */
typedef struct sotto_exchange_answer {
    unsigned status;                            /* 0: there was no answer                       */
    char media_type[SOTTO_EXCHANGE_MEDIA_TYPE]; /* "": none; "?": longer than any that we know  */
    int64_t retry_after; /* seconds; 0: none, or not given in seconds           */
    sotto_buf body;      /* empty, in the caller's memory: its room is the ceiling */
} sotto_exchange_answer;

/* How an answer begins. media_type and retry_after as they came; NULL: none. */
void sotto_exchange_answer_head(sotto_exchange_answer *answer, unsigned status,
                                const char *media_type, const char *retry_after);

/* Lets the host carry a request, of which method, url, media type, fields, redirects and recipe are filled in, with this
 * body. Only after SOTTO_OK is the answer one to this body, and whole.
 *   SOTTO_AGAIN      the host cancelled it, and wants no other exchange now
 *   SOTTO_TOO_LARGE  the answer is longer than answer->body has room
 *   SOTTO_BUG        the host broke the rules of an exchange: see sotto/device.h
 *   another          the host's own
 */
SOTTO_MUST_USE sotto_status sotto_exchange_carry(const sotto_device_host *host,
                                                 const sotto_exchange *request, sotto_bytes body,
                                                 sotto_exchange_answer *answer);

#endif
