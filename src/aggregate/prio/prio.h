/* aggregate/prio/prio.h - Prio3 behind the interface of aggregate/method.h: its tally, and what a round says of it.
 *
 * Two servers verify reports in batches by sotto/vdaf.h, with no call of this interface for a single report; what they add up
 * is a tally. There is no machine: reports and jobs travel by DAP.
 */
#ifndef SOTTO_AGGREGATE_PRIO_PRIO_H
#define SOTTO_AGGREGATE_PRIO_PRIO_H

#include "aggregate/method.h"

enum { SOTTO_PRIO_PARAMETERS = 4 + 1 + 1 + 8 + 8 + 8 };

SOTTO_MUST_USE sotto_status sotto_prio_parameters_encode(sotto_buf *out,
                                                         const sotto_prio3_config *config,
                                                         sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_prio_parameters_decode(sotto_prio3_config *config,
                                                         sotto_bytes wire, sotto_err *err);

/* What a batch call adds to: the instance and aggregate share of a prio tally. After sotto_prio3_accumulate the caller sets
 * tally->contributions to agg->reports. */
const sotto_prio3 *sotto_prio_tally_vdaf(const sotto_tally *tally);
sotto_prio3_agg *sotto_prio_tally_agg(sotto_tally *tally);

#endif
