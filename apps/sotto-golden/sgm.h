/* sotto-golden/sgm.h - one question to the subsampled Gaussian's engine, from cold. */
#ifndef SOTTO_GOLDEN_SGM_H
#define SOTTO_GOLDEN_SGM_H

#include "account/gauss/sgm.h"

SOTTO_MUST_USE sotto_status sotto_golden_sgm_epsilon(sotto_bound *out, double q, double sigma,
                                                     uint64_t rounds, double log_delta,
                                                     sotto_direction direction, sotto_err *err);
/* Delta itself, not its logarithm. */
SOTTO_MUST_USE sotto_status sotto_golden_sgm_delta(sotto_bound *out, double q, double sigma,
                                                   uint64_t rounds, double eps, sotto_err *err);

#endif
