/* support/logs.h - a log with three witnesses for tests of devices: entries, signed trees, bundles and feeds of its making.
 *
 * Two logs that are copies of one another up to some entry, and then go on with other entries, are a fork.
 */
#ifndef SOTTO_TESTS_SUPPORT_LOGS_H
#define SOTTO_TESTS_SUPPORT_LOGS_H

#include "../tlog/notes.h"
#include "support/devices.h"
#include "tlog/bundle.h"

enum { SOTTO_TEST_LOG_ENTRIES = 64 };

typedef struct sotto_test_log {
    test_log keys;
    sotto_bytes entries[SOTTO_TEST_LOG_ENTRIES], objects[SOTTO_TEST_LOG_ENTRIES];
    uint64_t size;
    unsigned witnesses; /* bits: who cosigns; at first the first two */
    uint64_t times[3];  /* when each does; at first when the tests' recipes open */
} sotto_test_log;

void sotto_test_log_init(sotto_test *t, sotto_test_log *log);
void sotto_test_log_clear(sotto_test_log *log);

/* Adds an entry; its object may be empty where its type has none. Returns its index. */
uint64_t sotto_test_log_add(sotto_test *t, sotto_test_log *log, sotto_entry_type type,
                            uint64_t serial, sotto_bytes object);
/* Adds any entry without an object. */
uint64_t sotto_test_log_add_entry(sotto_test *t, sotto_test_log *log,
                                  const sotto_tlog_entry *entry);
/* Adds entries of libraries, which nobody cares for, up to a size. */
void sotto_test_log_grow(sotto_test *t, sotto_test_log *log, uint64_t size);

/* The tree of its first `size` entries, signed. */
sotto_bytes sotto_test_log_note(sotto_test *t, const sotto_test_log *log, uint64_t size);
/* A bundle of an entry in the tree of its first `size` entries. */
sotto_bytes sotto_test_log_bundle(sotto_test *t, const sotto_test_log *log, uint64_t index,
                                  uint64_t size);
/* A feed of its whole tree that shows its growth from these sizes and has these entries. */
sotto_bytes sotto_test_log_feed(sotto_test *t, const sotto_test_log *log, const uint64_t *sizes,
                                size_t count, const uint64_t *entries, size_t entry_count);

/* "logs": {"main": ...}, with a quorum of two, for a policy; `more` goes into the log's object. */
const char *sotto_test_log_policy(sotto_test *t, const sotto_test_log *log, const char *policy,
                                  const char *more);
/* A log of three entries, and a phone in files whose policy names it and whose owner consented. */
void sotto_test_log_phone(sotto_test *t, sotto_test_log *log, sotto_test_phone *phone);

#endif
