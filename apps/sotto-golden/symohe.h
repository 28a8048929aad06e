/* sotto-golden/symohe.h - the Renyi route of the symmetric one-hot encoding, held against its own optimum. */
#ifndef SOTTO_GOLDEN_SYMOHE_H
#define SOTTO_GOLDEN_SYMOHE_H

#include "account/local/onehot.h"

/* Replacement. high by Renyi orders, low from the exact evaluation: what the route must not fall below. */
SOTTO_MUST_USE sotto_status sotto_golden_symohe_by_rdp(sotto_bound *out, double eps0,
                                                       const sotto_crowd *crowd, double log_delta,
                                                       sotto_err *err);

#endif
