/* transport/stream_server.h - a server whose bodies and answers come in pieces, for tests.
 *
 *   POST /count         streamed: "bytes checksum" of the body; at most 1 GiB
 *   POST /limit/N       the same; at most N bytes
 *   POST /gate          the same, but takes nothing while the test keeps the gate shut
 *   POST /fail/N        streamed: fails once N bytes have come
 *   POST /answer/N      streamed: answers 422 once N bytes have come
 *   POST /echo          buffered: the body comes back
 *   GET  /made/N        N bytes, made on the loop, whose length is told
 *   GET  /chunks/N      N bytes, made on the loop, whose length is not told
 *   GET  /breaks/N      fails after N bytes; /short/N ends after N of N + 1 bytes that were promised
 *   GET  /pipe/N        N bytes that a thread writes
 *   GET  /events        endless; the test writes it with stream_test_event
 */
#ifndef SOTTO_TESTS_TRANSPORT_STREAM_SERVER_H
#define SOTTO_TESTS_TRANSPORT_STREAM_SERVER_H

#include "support/http.h"
#include "transport/http_pipe.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct stream_server {
    sotto_http_server *server;
    uint16_t port;
    atomic_uint called_while_shut, lost, bodies, overs, overs_whole, pipes_ended;
    atomic_uint_fast64_t taken; /* bytes, over all uploads                    */
    atomic_uint_fast64_t piped; /* bytes that threads could put into pipes     */
    atomic_size_t largest;      /* piece                                       */
    atomic_uint placed;         /* pieces that came where they were wanted     */
    pthread_mutex_t lock;       /* guards the rest */
    bool shut;
    sotto_http_request *waiting; /* at the gate; NULL: none */
    sotto_http_pipe *events;
    pthread_t writers[8];
    unsigned writer_count;
} stream_server;

void stream_server_open(sotto_test *t, stream_server *s, sotto_http_server_options options);
void stream_server_close(stream_server *s);
sotto_http_server_counts stream_server_counts(const stream_server *s);
/* Waits until one of its counts is so high, or until nobody is connected and nothing held. */
void stream_server_wait(sotto_test *t, atomic_uint *count, unsigned wanted);
void stream_server_wait_quiet(sotto_test *t, const stream_server *s);
void stream_server_shut(stream_server *s);
void stream_server_unshut(stream_server *s);
sotto_status stream_server_event(stream_server *s, const char *text);
/* Waits until there is a client of /events. */
void stream_server_await_events(sotto_test *t, stream_server *s);

/* The byte at this place of whatever is sent either way, and the checksum of bytes from there on. */
uint8_t stream_byte(uint64_t at);
uint64_t stream_sum(uint64_t sum, uint64_t at, const uint8_t *bytes, size_t len);

#endif
