/* account/local/checkin_check.h - the ranges that the check-in files accept, refused by name. */
#ifndef SOTTO_ACCOUNT_LOCAL_CHECKIN_CHECK_H
#define SOTTO_ACCOUNT_LOCAL_CHECKIN_CHECK_H

#include "account/local/checkin.h"

SOTTO_MUST_USE sotto_status sotto_checkin_check_eps0(double eps0, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_checkin_check_log(const char *name, double log_delta,
                                                    sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_checkin_check_count(const char *name, double count,
                                                      sotto_err *err);
/* In (0, 1]. */
SOTTO_MUST_USE sotto_status sotto_checkin_check_rate(const char *name, double rate, sotto_err *err);

#endif
