/* tests/serve/held.h - a batch that waits since more reports came than there are devices, and how it goes. */
#ifndef SOTTO_TESTS_SERVE_HELD_H
#define SOTTO_TESTS_SERVE_HELD_H

#include "support/steps.h"

/* Of the leader's task, or the helper's. */
void held_population(sotto_test *t, sotto_test_service *s, bool leader, uint64_t population);
/* One job at the helper, of sound reports and after them some with a proof that fails. The checksum is of the sound. */
sotto_test_job held_send_job(sotto_test *t, sotto_test_service *s, size_t sound, size_t bad);

/* The collector, which asks so many times, is told to wait. */
void held_stays(sotto_test *t, sotto_test_service *s, unsigned polls);
/* The collector gets a sum of so many reports. */
void held_is_released(sotto_test *t, sotto_test_service *s, uint64_t wanted);

/* On a busy machine a server may not have looked at a batch yet when the last poll was answered. */
void held_await(sotto_test *t, sotto_server *server);
/* The collector asks, the server finds that there are too many, and the collector is told to wait. */
void held_is_found(sotto_test *t, sotto_test_service *s, sotto_server *server);
/* Its operator gives a reason. */
void held_let_go(sotto_test *t, sotto_test_service *s, sotto_server *server, const char *reason,
                 sotto_status wanted);

#endif
