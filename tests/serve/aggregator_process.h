/* tests/serve/aggregator_process.h - `sotto serve aggregator` as a process of its own, which a test starts, asks and kills. */
#ifndef SOTTO_TESTS_SERVE_AGGREGATOR_PROCESS_H
#define SOTTO_TESTS_SERVE_AGGREGATOR_PROCESS_H

#include "aggregate/posting.h"
#include "support/test.h"
#include "transport/http_client.h"

#include <sys/types.h>

#define AGGREGATOR_OPERATOR "Bearer operator-of-the-test"

typedef struct aggregator_process {
    const char *directory; /* of its files */
    char file[300];        /* its options */
    uint8_t key[SOTTO_SIGN_PUBLIC];
    uint16_t port;
    int kept; /* the port, while nobody listens there */
    pid_t process;
} aggregator_process;

/* Writes its files and starts it. The process ends with this program, whatever happens: see aggregator_process_end. */
void aggregator_process_open(sotto_test *t, aggregator_process *a);
void aggregator_process_start(sotto_test *t, aggregator_process *a);
/* Until it answers. */
void aggregator_process_await(sotto_test *t, const aggregator_process *a,
                              sotto_http_client *client);
void aggregator_process_kill(sotto_test *t, aggregator_process *a);
void aggregator_process_close(sotto_test *t, aggregator_process *a);
/* For sotto_test_at_end. */
void aggregator_process_end(void);

/* As its operator. what: NULL for a new round; else what follows its id. Status 0: nobody answers. */
sotto_http_response aggregator_process_ask(sotto_test *t, const aggregator_process *a,
                                           sotto_http_client *client, sotto_http_method method,
                                           const uint8_t id[SOTTO_ROUND_ID], const char *what,
                                           sotto_bytes body);

void aggregator_process_write(sotto_test *t, const aggregator_process *a, const char *name,
                              sotto_bytes content);
/* SIGKILL, and waits for its end. */
void kill_process(sotto_test *t, pid_t *process);

#endif
