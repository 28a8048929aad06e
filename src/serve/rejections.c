#include "serve/answer.h"

void sotto_rejections_get(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                          sotto_http_request *request)
{
    (void)server;
    (void)id;
    (void)task;
    (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 404});
}
