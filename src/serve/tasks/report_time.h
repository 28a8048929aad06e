/* serve/tasks/report_time.h - whether a report's time fits its task and this server's clock: both roles' rule. */
#ifndef SOTTO_SERVE_TASKS_REPORT_TIME_H
#define SOTTO_SERVE_TASKS_REPORT_TIME_H

#include "serve/tasks/server.h"

typedef enum sotto_report_time {
    SOTTO_TIME_FITS,
    SOTTO_TIME_NOT_STARTED, /* before the task opens                                           */
    SOTTO_TIME_EXPIRED,     /* after it closes                                                 */
    SOTTO_TIME_TOO_EARLY,   /* further ahead of our clock than `clock_skew` allows             */
    SOTTO_TIME_LATE, /* the task closed `late` ago: its marks may have been cleared away (tasks/gc.h) */
} sotto_report_time;

/*   now  seconds since 1970
 * The task's interval is checked first. A report outside of it never becomes valid, so its client must not be told to
 * retry, as one that is too early is. */
sotto_report_time sotto_report_time_check(const sotto_server *server, const sotto_server_task *task,
                                          uint64_t time, uint64_t now);

#endif
