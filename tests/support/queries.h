/* support/queries.h - a policy, and queries run under it to their end.
 *
 * The policy allows keyboard_ngrams.age, keyboard_ngrams.ngram and health.pulse; age is not sensitive.
 */
#ifndef SOTTO_TESTS_SUPPORT_QUERIES_H
#define SOTTO_TESTS_SUPPORT_QUERIES_H

#include "device/events/query.h"
#include "support/events.h"

extern const sotto_query_policy sotto_test_policy;

/* What a query came to: every value in order, spelled out, and what it read. */
typedef struct sotto_answer {
    sotto_status status;
    char text[4096]; /* as much as fits */
    size_t len;
    uint32_t rows;
    char read[1024]; /* "keyboard_ngrams.age keyboard_ngrams.ngram" */
    bool opened;
} sotto_answer;

/* A sotto_row_fn that adds a row to a sotto_answer. */
sotto_status sotto_test_take_row(void *answer, const sotto_value *values, size_t count,
                                 sotto_err *err);

/* Opens, runs and closes; the status and reason are those of the step that failed. No time passes, so that a slow machine
 * changes no reason. */
sotto_answer sotto_test_ask(sotto_store *store, const sotto_query_policy *policy, sotto_bytes sql,
                            sotto_err *err);
sotto_answer sotto_test_ask_text(sotto_store *store, const sotto_query_policy *policy,
                                 const char *sql, sotto_err *err);

#endif
