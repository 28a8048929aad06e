/* support/repair.h - requests to a helper to repair a batch, by a leader of the test's own. */
#ifndef SOTTO_TESTS_SUPPORT_REPAIR_H
#define SOTTO_TESTS_SUPPORT_REPAIR_H

#include "dap/repair.h"
#include "support/service.h"

/* A RepairReq over `buckets` buckets from s->bucket. */
sotto_bytes sotto_test_repair_of(sotto_test *t, sotto_test_service *s, uint64_t buckets,
                                 const sotto_dap_repair_job *jobs, size_t count);
/* The same of up to four jobs that were sent, in whichever order. */
sotto_bytes sotto_test_repair_request(sotto_test *t, sotto_test_service *s, uint64_t buckets,
                                      const sotto_test_job *jobs, size_t count);
/* token: NULL: none. */
sotto_http_response sotto_test_ask_repair(sotto_test *t, sotto_test_service *s, sotto_bytes request,
                                          const char *token);

#endif
