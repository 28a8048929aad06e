/* support/http.h - a server with a few routes, and a client so raw that it can break every rule.
 *
 *   GET  /ok           200 "fine"
 *   POST /echo         the body comes back; at most 1 MiB
 *   POST /limit/N      the same; at most N bytes
 *   POST /known        the same; its client is vouched for
 *   POST /later        the same, answered by another thread
 *   GET  /hold         answered when the test says so
 *   GET  /stall        200, after a second in which its loop does nothing else
 *   *    /refuse       403 by the head, whatever the body
 *   GET  /big/N        N bytes
 *   *    /fail/N/S/R   the first N requests get status S, with Retry-After: R unless it is 0; then 200
 *   GET  /seen/NAME    the value of a header field
 *   GET  /broken       a header field that would start a second line
 */
#ifndef SOTTO_TESTS_SUPPORT_HTTP_H
#define SOTTO_TESTS_SUPPORT_HTTP_H

#include "support/test.h"
#include "transport/http_server.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SOTTO_TEST_HTTP_HELD = 64 };

typedef struct sotto_test_http {
    sotto_http_server *server;
    uint16_t port;
    atomic_uint heads, bodies, lost, failed;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    sotto_http_request *held[SOTTO_TEST_HTTP_HELD];
    unsigned held_count;
    sotto_http_request *later[SOTTO_TEST_HTTP_HELD];
    unsigned later_count;
    bool stop;
    pthread_t worker;
} sotto_test_http;

const sotto_http_handler *sotto_test_http_handler(void);
void sotto_test_http_open(sotto_test *t, sotto_test_http *h, sotto_http_server_options options);
/* Also answers what is held, after the server is closed. */
void sotto_test_http_close(sotto_test_http *h);
/* Waits until that many requests are held. */
void sotto_test_http_wait_held(sotto_test *t, sotto_test_http *h, unsigned count);
void sotto_test_http_release(sotto_test_http *h);

/* ---- the raw client ------------------------------------------------------------------------------ */

int sotto_test_dial(sotto_test *t, uint16_t port);
/* From this address of loopback: "127.0.0.2". */
int sotto_test_dial_from(sotto_test *t, uint16_t port, const char *from);
void sotto_test_send(sotto_test *t, int fd, const void *data, size_t len);
void sotto_test_send_text(sotto_test *t, int fd, const char *text);

typedef struct sotto_test_answer {
    unsigned status; /* 0: the connection ended before an answer */
    size_t body_len;
    char head[2048];
    char body[16384]; /* what fits of it */
} sotto_test_answer;

/* Reads one answer, waiting ten seconds at most. */
sotto_test_answer sotto_test_hear(sotto_test *t, int fd);
/* The same for an answer to HEAD. */
sotto_test_answer sotto_test_hear_head(sotto_test *t, int fd);
/* Does the peer close within ten seconds, without another byte? */
bool sotto_test_is_closed(int fd);
/* Dials, says, hears, hangs up. */
sotto_test_answer sotto_test_ask(sotto_test *t, uint16_t port, const char *text);

void sotto_test_sleep_ms(unsigned ms);
uint64_t sotto_test_now_ms(void);

#endif
