/* apps/sotto/log/log_release.h - an answer that `sotto collect --json` printed, as an entry of a log. */
#ifndef SOTTO_APPS_LOG_RELEASE_H
#define SOTTO_APPS_LOG_RELEASE_H

#include "log_publish.h"

/* Whether it is a JSON object with this key: an answer has a receipt, a policy has analyses. */
bool sotto_log_has(sotto_bytes file, const char *key);
/* Fills in an object of type SOTTO_ENTRY_RELEASE from the answer in its bytes; what is wrong is in the job's err. */
SOTTO_MUST_USE sotto_status sotto_log_release_read(sotto_log_job *job, sotto_log_object *object);

#endif
