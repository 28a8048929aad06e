#define _POSIX_C_SOURCE 200809L
#include "support/uploaders.h"

#include "base/arena.h"
#include "serve/tasks/batches.h"
#include "support/admitted.h"
#include "support/database.h"
#include "support/steps.h"

#include <string.h>

static void *upload(void *context)
{
    sotto_test_uploader *u = context;
    const sotto_http_response r = sotto_test_upload(&u->own, &u->s, u->reports);

    u->failed = r.status == 200 ? r.body.len / (SOTTO_REPORT_ID_SIZE + 1) : SIZE_MAX;
    return NULL;
}

void sotto_test_uploader_start(sotto_test *t, sotto_test_uploader *u, const sotto_test_service *s,
                               sotto_server *leader, sotto_bytes reports)
{
    memset(u, 0, sizeof *u);
    u->s = *s;
    u->s.leader = leader;
    u->reports = reports;
    sotto_arena_init(&u->own.arena, (size_t)64 << 20);
    CHECK_OK(t, sotto_http_client_open(&u->s.client, &(sotto_http_client_options){0}, &t->err));
    CHECK_EQUAL(t, 0, pthread_create(&u->thread, NULL, upload, u));
}

void sotto_test_uploader_end(sotto_test *t, sotto_test_uploader *u)
{
    CHECK_EQUAL(t, 0, pthread_join(u->thread, NULL));
    sotto_http_client_close(u->s.client);
    sotto_arena_clear(&u->own.arena);
    CHECK(t, u->failed != SIZE_MAX);
}

size_t sotto_test_upload_at_two(sotto_test *t, const sotto_test_service *s,
                                const sotto_bytes reports[2])
{
    static sotto_test_uploader u[2];
    sotto_server_options options = s->leader_options;
    sotto_server *second = NULL;

    options.host.listen = "127.0.0.1:0";
    CHECK_OK(t, sotto_server_open(&second, &options, &t->err));
    for (unsigned i = 0; i < 2; i++)
        sotto_test_uploader_start(t, &u[i], s, i ? second : s->leader, reports[i]);
    for (unsigned i = 0; i < 2; i++)
        sotto_test_uploader_end(t, &u[i]);
    sotto_server_close(second);
    return u[0].failed + u[1].failed;
}

void sotto_test_second_is_rejected(sotto_test *t, sotto_test_service *s, sotto_bytes at_helper,
                                   sotto_bytes at_leader)
{
    CHECK_EQUAL(t, 0, sotto_test_job_error(t, s, at_helper));
    CHECK_EQUAL(t, 0, sotto_test_upload_error(t, s, at_leader));
    sotto_test_want(t, s);
    sotto_test_await(t, s->leader->db, "SELECT count(*) FROM job WHERE state = 2", 1);
    CHECK_EQUAL(t, 1, sotto_test_refused(t, s, SOTTO_CAUSE_HELPER + SOTTO_REPORT_TOKEN_SPENT));
}
