/* support/events.h - a small event store, the same for every test that needs one.
 *
 * Two streams: keyboard_ngrams(age, ngram, perplexity, liked, secret) and health(pulse, secret). Policies of
 * tests allow age and ngram at most; `secret` in both is what must never be read.
 */
#ifndef SOTTO_TESTS_SUPPORT_EVENTS_H
#define SOTTO_TESTS_SUPPORT_EVENTS_H

#include "device/events/store.h"
#include "support/directory.h"

#define SOTTO_TEST_NOW 1800000000

enum { SOTTO_TEST_STREAMS = 2, SOTTO_TEST_MAX_AGE = 86400, SOTTO_TEST_MAX_ROWS = 1000 };
extern const sotto_stream sotto_test_streams[SOTTO_TEST_STREAMS];

/* The name of a file beside another: "-wal", ".corrupt". */
const char *sotto_test_beside(sotto_test *t, const char *path, const char *ending);

/* Opens a store with both streams; NULL path: in memory. */
sotto_store *sotto_test_store(sotto_test *t, const char *path);
/* An event of keyboard_ngrams with this number as its id. */
sotto_status sotto_test_type(sotto_store *store, uint64_t id, int64_t time, int64_t age,
                             const char *ngram, const char *secret, sotto_err *err);
sotto_status sotto_test_beat(sotto_store *store, uint64_t id, int64_t pulse, const char *secret,
                             sotto_err *err);
/* Six events of each stream. The text of `secret` is what the caller says. */
void sotto_test_fill(sotto_test *t, sotto_store *store, const char *secret);

uint64_t sotto_test_count(sotto_test *t, sotto_store *store, const char *stream);

/* Whether the file holds these bytes anywhere; false for a file that is not there. */
bool sotto_test_file_holds(sotto_test *t, const char *path, const char *text);
/* Reads a whole file into the test's arena; NULL data if it is not there. */
sotto_bytes sotto_test_read_file(sotto_test *t, const char *path);

#endif
