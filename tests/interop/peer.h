/* interop/peer.h - another implementation as a child process: a line to it, a line back.
 *
 * Callers:  the interoperability tests.
 * Memory:   bytes of an answer are copied into the test's arena.
 * Threads:  one peer, one thread.
 *
 * A request is built word by word and sent; the answer's words are then read by key. Whatever isn't
 * an answer (the peer ended, or says that it did not understand) fails the test with what was said.
 *
 *     sotto_peer_begin(p, "leader_init");
 *     sotto_peer_add_bytes(p, "nonce", nonce);
 *     if (sotto_peer_accepts(t, p))
 *         message = sotto_peer_bytes(t, p, "message");
 */
#ifndef SOTTO_TESTS_INTEROP_PEER_H
#define SOTTO_TESTS_INTEROP_PEER_H

#include "support/test.h"

#include <stdio.h>
#include <sys/types.h>

typedef struct sotto_peer {
    pid_t pid;
    FILE *to;
    FILE *from;
    char *answer; /* the last line, without its end */
    size_t answer_cap;
} sotto_peer;

/* False, with a sentence on standard error, if the program can't be started. */
bool sotto_peer_open(sotto_peer *p, const char *program);
/* True if the peer ends by itself and without complaint once nobody speaks to it. */
bool sotto_peer_close(sotto_peer *p);

void sotto_peer_begin(sotto_peer *p, const char *verb);
void sotto_peer_add_text(sotto_peer *p, const char *key, const char *text);
void sotto_peer_add_number(sotto_peer *p, const char *key, uint64_t number);
void sotto_peer_add_numbers(sotto_peer *p, const char *key, const uint64_t *numbers, size_t count);
void sotto_peer_add_bytes(sotto_peer *p, const char *key, sotto_bytes bytes);

/* Sends the request and waits: true for `ok`, false for `reject`. */
bool sotto_peer_accepts(sotto_test *t, sotto_peer *p);
/* Sends a request that can only be answered with `ok`. */
void sotto_peer_obeys(sotto_test *t, sotto_peer *p);

/* A word of the last answer; the test fails if there is none of that key. */
const char *sotto_peer_text(sotto_test *t, const sotto_peer *p, const char *key);
sotto_bytes sotto_peer_bytes(sotto_test *t, const sotto_peer *p, const char *key);

#endif
