/* serve/aggregator/put_queue.h - messages that wait for their round, and when those of one transaction are taken.
 *
 * Callers:  running.c. One thread at a time works for a round; whoever puts a message meanwhile leaves it to that thread.
 * Threads:  any.
 *
 * A long vector may wait for others: to store the sum takes as long as to receive several of them. It waits for
 * SOTTO_PUTS_GATHER_MS after the last batch at most, so a vector that comes alone does not wait.
 */
#ifndef SOTTO_SERVE_AGGREGATOR_PUT_QUEUE_H
#define SOTTO_SERVE_AGGREGATOR_PUT_QUEUE_H

#include "sotto/base.h"

#include <pthread.h>

enum { SOTTO_PUTS_TOGETHER = 64, SOTTO_PUTS_GATHER_MS = 250 };

/* A message that waits, with its vector behind it. */
typedef struct sotto_put {
    struct sotto_put *next;
    sotto_bytes message, bulk; /* borrowed until `done` */
    /* NULL: it is in `bulk`; else what sotto_running_begin made of it, whole; borrowed */
    void *vector;
    bool may_wait; /* other vectors are coming, which can be stored with it */
    /* OK, also for what was acknowledged before; STALE: too late, or seen before; REJECTED: its sender lied; AGAIN: too
     * early; MALFORMED, TOO_LARGE; all others: try again later */
    sotto_status status;
    /* To a question, as messages of an inbox: the caller's to release; else empty. */
    sotto_buf answer;
    bool is_known; /* a record that is on the board: running.c's */
    /* Whose signature was found right, as sotto_message has it: running.c's, unless there is a `vector`. */
    const uint8_t *holds_for;
    uint8_t digest[32]; /* likewise */
    /* Of how many one wants to see it there. Each has as much room for its sender as the board; 0: none wants it. */
    unsigned witnesses;
    uint64_t came; /* ms since 1970, and how often it could not be stored: running.c's */
    unsigned tries;
    void (*done)(struct sotto_put *put);
} sotto_put;

typedef struct sotto_put_queue {
    pthread_mutex_t lock; /* over what follows */
    sotto_put *first, **last;
    unsigned count;
    bool at_work;
    uint64_t due;   /* ms by the monotonic clock; UINT64_MAX: nothing waits */
    uint64_t taken; /* when some were taken last; 0: never                  */
} sotto_put_queue;

/* Releases its answer. */
void sotto_put_clear(sotto_put *put);

void sotto_put_queue_init(sotto_put_queue *q);
/* Whatever waits is done, with SOTTO_IO. */
void sotto_put_queue_clear(sotto_put_queue *q);

void sotto_put_queue_add(sotto_put_queue *q, sotto_put *put);
/* What could not be stored comes first again, and all that waits is due then (ms by the monotonic clock). */
void sotto_put_queue_return(sotto_put_queue *q, sotto_put *puts, uint64_t due);
/* What waits is due now. */
void sotto_put_queue_hurry(sotto_put_queue *q);
/* now: ms by the monotonic clock. True: something is due, and the caller takes it until there is nothing more. */
bool sotto_put_queue_begin(sotto_put_queue *q, uint64_t now);
/* A batch. NULL: nothing is due, and the caller no longer works for this round. */
sotto_put *sotto_put_queue_take(sotto_put_queue *q, uint64_t now);

bool sotto_put_queue_is_empty(sotto_put_queue *q);
/* ms until something is due; UINT64_MAX: nothing waits. */
uint64_t sotto_put_queue_wait(sotto_put_queue *q, uint64_t now);

#endif
