/* log_scene.h - a log and its witness as services of a test, and what is asked of them. */
#ifndef SOTTO_TESTS_LOG_SCENE_H
#define SOTTO_TESTS_LOG_SCENE_H

#include "serve/host/operations.h"
#include "support/database.h"
#include "support/http.h"
#include "tlog/bundle.h"

#include <sys/types.h>

/* What the publisher's requests have. */
#define SOTTO_LOGS_BY_TOKEN "Authorization: Bearer a-token-of-the-publisher\r\n"

typedef struct sotto_logs_keys {
    const char *directory;
    sotto_note_key log, witness;
    char log_name[64], witness_name[64], log_vkey[256], witness_vkey[256];
} sotto_logs_keys;

/* A row of somebody's memory as it never was. */
typedef struct sotto_logs_forgery {
    const char *sql;
    int64_t size;
    uint8_t root[SOTTO_MERKLE_HASH];
} sotto_logs_forgery;

void sotto_logs_make_keys(sotto_test *t, sotto_logs_keys *k);
sotto_host *sotto_logs_open_witness(sotto_test *t, const sotto_logs_keys *k, const char *database);
sotto_status sotto_logs_start_log(sotto_test *t, const sotto_logs_keys *k, const char *database,
                                  unsigned witness, sotto_host **host);
sotto_host *sotto_logs_open_log(sotto_test *t, const sotto_logs_keys *k, const char *database,
                                unsigned witness);
sotto_test_answer sotto_logs_ask(sotto_test *t, unsigned port, const char *line, const char *field,
                                 const void *body, size_t len);
sotto_test_answer sotto_logs_get(sotto_test *t, unsigned port, const char *path);
sotto_bytes sotto_logs_entry_of(sotto_test *t, const char *recipe, sotto_bytes *alone);
unsigned sotto_logs_add(sotto_test *t, unsigned port, const char *recipe);
void sotto_logs_add_in_time(sotto_test *t, unsigned port, const char *recipe);
unsigned long sotto_logs_metric(sotto_test *t, const sotto_host *host, const char *name);
void sotto_logs_await_metric(sotto_test *t, const sotto_host *host, const char *name);
sotto_status sotto_logs_forge(sotto_tx *tx, void *context, sotto_err *err);
sotto_test_answer sotto_logs_await_cosigned(sotto_test *t, const sotto_logs_keys *k, unsigned port,
                                            uint64_t size);
void sotto_logs_path_of(char path[80], const sotto_logs_keys *k);
void sotto_logs_write_file(sotto_test *t, const char *directory, const char *name, const void *text,
                           size_t len, mode_t mode);
/* A witness with these lines in its options. */
sotto_status sotto_logs_start_witness(sotto_test *t, const sotto_logs_keys *k, const char *database,
                                      const char *more, sotto_host **host);
/* The services' clock is so many seconds ahead. */
void sotto_logs_shift(int64_t seconds);
/* ... of this clock; NULL: of the system's. */
void sotto_logs_follow(const sotto_clock *clock);
void sotto_logs_forget(void); /* what the options hold, when all tests are over */

#endif
