/* support/round_trip.h - one device's report to a running service, and the sums that come of all of them. */
#ifndef SOTTO_TESTS_SUPPORT_ROUND_TRIP_H
#define SOTTO_TESTS_SUPPORT_ROUND_TRIP_H

#include "sotto/collect.h"
#include "sotto/device.h"
#include "support/service.h"

/* A new device with this policy and stream, and one event, from there to an acknowledged report.
 *   value  of the event's only field; NULL: there is no event
 *   look   called for each line of the device's record; may be NULL */
void sotto_test_report(sotto_test *t, sotto_test_service *s, const char *policy,
                       const sotto_stream *stream, const sotto_value *value,
                       sotto_record_line_fn *look);

/* Collects this hour and the next, should the clock have struck between two reports. */
sotto_collection sotto_test_collect_whole(sotto_test *t, const sotto_test_service *s);

#endif
