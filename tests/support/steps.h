/* support/steps.h - what tests of a leader and a helper do again and again. Each fails the test where it can't. */
#ifndef SOTTO_TESTS_SUPPORT_STEPS_H
#define SOTTO_TESTS_SUPPORT_STEPS_H

#include "dap/rejections.h"
#include "db/store.h"
#include "support/service.h"

/* So many reports of this bin, with this flaw, in one request, which the leader takes. */
void sotto_test_upload_some(sotto_test *t, sotto_test_service *s, size_t count, uint64_t bin,
                            sotto_test_flaw flaw);
/* Collects one bucket: so many reports, all of bin 1. */
void sotto_test_check_sum(sotto_test *t, sotto_test_service *s, uint64_t wanted);
/* Asks for it once, so that jobs are formed, and does not wait. */
void sotto_test_want(sotto_test *t, sotto_test_service *s);

/* A segment, number 1, that no process forms a job of: the batch of s->bucket stays unfinished for as long as the row is there. */
void sotto_test_put_stuck(sotto_test *t, const sotto_test_service *s);

/* Asks the leader for the batch of s->bucket, or for the next one, and does not wait. */
sotto_http_response sotto_test_ask_collection(sotto_test *t, sotto_test_service *s);
/* What the collector is told, for ever, beside the one sum that a server released. */
void sotto_test_told_refusals(sotto_test *t, const sotto_server *server, sotto_rejections *out);

/* Closes the helper, and opens it again where the leader knows it to be. */
void sotto_test_helper_stop(sotto_test *t, sotto_test_service *s);
void sotto_test_helper_start(sotto_test *t, sotto_test_service *s);

/* What operators read: readiness, which is told by *ready as well, and after it the metrics. */
const char *sotto_test_pages(sotto_test *t, sotto_server *server, bool *ready);

/* A bit of the first byte that a query finds, or of the last: of what is sealed, the first names its datastore key.
 *   select  a row's number and its bytes; those of the first row are meant
 *   update  puts ?2 into row ?1
 */
typedef struct sotto_test_damage {
    const char *select, *update;
    bool last;
} sotto_test_damage;
/* Done twice, it is undone. */
void sotto_test_flip(sotto_test *t, sotto_db *db, const sotto_test_damage *damage);

/* Reports that the leader counted as refused for this cause, in all batches. */
int64_t sotto_test_refused(sotto_test *t, const sotto_test_service *s, unsigned cause);

#endif
