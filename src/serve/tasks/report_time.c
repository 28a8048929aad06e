#include "serve/tasks/report_time.h"

sotto_report_time sotto_report_time_check(const sotto_server *server, const sotto_server_task *task,
                                          uint64_t time, uint64_t now)
{
    const sotto_task *dap = &task->dap;
    uint64_t seconds;

    if (!sotto_dap_seconds_of(&seconds, time, dap->precision))
        seconds = UINT64_MAX;
    if (time < sotto_dap_time_of(dap->opens, dap->precision))
        return SOTTO_TIME_NOT_STARTED;
    if (sotto_task_ends(task) && seconds >= dap->closes)
        return SOTTO_TIME_EXPIRED;
    if (seconds > now + server->options.clock_skew_seconds)
        return SOTTO_TIME_TOO_EARLY;
    return now >= dap->closes + server->options.late_seconds ? SOTTO_TIME_LATE : SOTTO_TIME_FITS;
}
