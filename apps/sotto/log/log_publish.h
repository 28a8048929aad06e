/* apps/sotto/log/log_publish.h - objects into a log, and bundles out of it. */
#ifndef SOTTO_APPS_LOG_PUBLISH_H
#define SOTTO_APPS_LOG_PUBLISH_H

#include "log_source.h"
#include "tlog/bundle.h"

enum { SOTTO_LOG_PUBLISH_MOST = 8 };

typedef struct sotto_log_object {
    sotto_entry_type type;
    sotto_bytes bytes;      /* empty for entries without an object */
    sotto_tlog_entry entry; /* what else its type has, but for the URL: serial, name, digest, ... */
    sotto_bytes bundle;     /* comes back, in the arena of the job  */
} sotto_log_object;

/* Rows of the options that publishing has, for sotto_log_job_arguments. */
/* clang-format off */
#define SOTTO_LOG_PUBLISH_WORDS(job)                                                               \
    {.name = "--from", .text = &(job)->from, .needed = true},                                      \
    {.name = "--token", .text = &(job)->token, .needed = true},                                    \
    {.name = "--out", .text = &(job)->out, .needed = true},                                        \
    {.name = "--url", .text = &(job)->url}
/* clang-format on */

/* Appends an entry for each that is not in the log yet, with one request. Waits until a cosigned checkpoint has all of them, and proves each in that one tree. A device that
 * takes one of the bundles takes the others without a feed. At most SOTTO_LOG_PUBLISH_MOST. What failed is in the job's err.
 *   SOTTO_IO  also: the log does not sign yet, since no witness has cosigned since its start
 */
SOTTO_MUST_USE sotto_status sotto_log_publish(sotto_log_job *job, sotto_log_object *objects,
                                              size_t count);

#endif
