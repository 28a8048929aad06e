/* serve/tasks/log_task.h - which task a line of the log is about, as DAP writes its id.
 *
 *     char id[SOTTO_DAP_ID_TEXT_MAX];
 *
 *     sotto_log(log, SOTTO_LOG_INFO, "share.released", sotto_log_task(id, task), ...);
 *
 * Memory:   the field borrows `text`.
 */
#ifndef SOTTO_SERVE_TASKS_LOG_TASK_H
#define SOTTO_SERVE_TASKS_LOG_TASK_H

#include "base/log.h"
#include "serve/tasks/tasks.h"

static inline sotto_log_field sotto_log_task(char text[SOTTO_DAP_ID_TEXT_MAX],
                                             const sotto_server_task *task)
{
    sotto_dap_id_encode(text, sotto_bytes_of(task->dap.id, sizeof task->dap.id));
    return sotto_log_text("task", text);
}

#endif
