/* apps/sotto/log_release.h - an answer that `sotto collect --json` printed, as an entry of a log. */
#ifndef SOTTO_APPS_LOG_RELEASE_H
#define SOTTO_APPS_LOG_RELEASE_H

#include "log_publish.h"

/* Whether it looks like an answer: a JSON object with a receipt. */
bool sotto_log_is_answer(sotto_bytes file);
/* Fills in an object of type SOTTO_ENTRY_RELEASE from the answer in its bytes; what is wrong is in the job's err. */
SOTTO_MUST_USE sotto_status sotto_log_release_read(sotto_log_job *job, sotto_log_object *object);

#endif
