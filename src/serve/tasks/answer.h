/* serve/tasks/answer.h - answers that several handlers give. */
#ifndef SOTTO_SERVE_TASKS_ANSWER_H
#define SOTTO_SERVE_TASKS_ANSWER_H

#include "serve/tasks/resources.h"

/* 201 or 200 with a message and, unless id is empty, where its resource lives:
 * {path}tasks/{task}/{collection}/{id}. */
void sotto_answer_message(sotto_server *server, sotto_http_request *request, unsigned status,
                          sotto_dap_message message, sotto_bytes body,
                          const sotto_server_task *task, sotto_dap_resource collection,
                          sotto_bytes id);
/* Not ready: a success with an empty body, Retry-After and, unless id is empty, Location. */
void sotto_answer_later(sotto_server *server, sotto_http_request *request, unsigned status,
                        const sotto_server_task *task, sotto_dap_resource collection,
                        sotto_bytes id, unsigned retry_after_s);
/* 204. */
void sotto_answer_nothing(sotto_http_request *request);

/* A resource's id: a hash of what created it, so that the same bytes have the same id. */
void sotto_resource_id(uint8_t out[SOTTO_RESOURCE_ID_SIZE], const char *kind,
                       const sotto_server_task *task, sotto_bytes body);

/* A random row number. */
SOTTO_MUST_USE sotto_status sotto_row_number(int64_t *out, sotto_err *err);

#endif
