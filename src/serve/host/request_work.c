#include "serve/host/request_work.h"

#include "base/alloc.h"

typedef struct work {
    sotto_request_run *run;
    void *state;
    sotto_http_request *request;
} work;

static void run_work(void *context, sotto_worker *worker)
{
    work *w = context;

    w->run(w->state, w->request, worker->arena);
    sotto_release(w, sizeof *w);
}

void sotto_request_work(sotto_pool *pool, sotto_request_run *run, void *state,
                        sotto_http_request *request)
{
    work *w = sotto_alloc(sizeof *w);

    if (w) {
        *w = (work){run, state, request};
        if (sotto_pool_post(pool, run_work, w, NULL) == SOTTO_OK)
            return;
        sotto_release(w, sizeof *w);
    }
    (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 503, .retry_after_s = 1});
}

void sotto_request_answer(sotto_http_request *request, unsigned status, const char *type,
                          sotto_bytes body)
{
    const sotto_http_field field = {"Content-Type", type};

    sotto_http_answer(request, &(sotto_http_reply){status, &field, 1, body});
}
