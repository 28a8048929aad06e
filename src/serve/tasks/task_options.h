/* serve/tasks/task_options.h - what leader and helper have alike in their tables: rows of options (host/option.h), and members of
 * their services (host/service.h). */
#ifndef SOTTO_SERVE_TASKS_TASK_OPTIONS_H
#define SOTTO_SERVE_TASKS_TASK_OPTIONS_H

#include "serve/host/key_options.h"
#include "serve/host/option.h"
#include "serve/tasks/resources.h"
#include "serve/tasks/schema.h"
#include "serve/tasks/server.h"

#define SOTTO_TASK_OPTION(field)                                                                   \
    offsetof(sotto_task_options, field), sizeof(((const sotto_task_options *)0)->field)

/* clang-format off */
#define SOTTO_TASK_OPTION_ROWS                                                                     \
    {"clock_skew", SOTTO_OPTION_DURATION, SOTTO_TASK_OPTION(clock_skew_seconds), "5m", 1, 86400,   \
     NULL, "how far ahead of this server's clock a report's time may be", SOTTO_OPTION_ALWAYS},    \
    {"late", SOTTO_OPTION_DURATION, SOTTO_TASK_OPTION(late_seconds), "14d", 60,                    \
     (uint64_t)3650 * 86400, NULL,                                                                 \
     "how long after its task has closed a report may still arrive", SOTTO_OPTION_ALWAYS},         \
    {"rate_history", SOTTO_OPTION_SWITCH, SOTTO_TASK_OPTION(rate_history), "no", 0, 0, NULL,       \
     "hold a batch, too, that has more than twice the reports of the largest earlier one of its task, in proportion to its time", \
     SOTTO_OPTION_ALWAYS},                                                                         \
    {"rounds_log", SOTTO_OPTION_URL, SOTTO_TASK_OPTION(rounds_log), NULL, 0, 0, NULL,              \
     "log whose records of rounds become tasks, of learning recipes that have one here already", SOTTO_OPTION_ALWAYS}, \
    {"rounds_keys", SOTTO_OPTION_FILE, SOTTO_TASK_OPTION(rounds_keys), NULL, 0, 0, NULL,           \
     "file with the public key of that log, and then those of its witnesses, one a line", SOTTO_OPTION_ALWAYS}, \
    {"rounds_quorum", SOTTO_OPTION_NUMBER, SOTTO_TASK_OPTION(rounds_quorum), "0", 0, 31, NULL,     \
     "witnesses that must have cosigned the log's tree; 0: all of the file's", SOTTO_OPTION_ALWAYS}, \
    SOTTO_KEY_OPTION_ROWS(SOTTO_TASK_OPTION)
/* clang-format on */

/* Of a service: what is wrong with these options together; NULL: nothing. */
const char *sotto_task_options_check(const void *options);

#define SOTTO_TASK_SERVICE                                                                         \
    .refuse_method = sotto_resource_refuse_method, .config_size = sizeof(sotto_task_options),      \
    .check = sotto_task_options_check, .migrations = sotto_serve_migrations,                       \
    .migration_count = SOTTO_SERVE_MIGRATIONS

#endif
