#define _POSIX_C_SOURCE 200809L
#include "held.h"

#include "serve/tasks/rate.h"
#include "support/database.h"

#include <string.h>

enum { MOST = 64 };

void held_population(sotto_test *t, sotto_test_service *s, bool leader, uint64_t population)
{
    sotto_server *server = leader ? s->leader : s->helper;
    uint8_t memory[64];
    sotto_buf ids = sotto_buf_over(memory, sizeof memory);
    sotto_mistakes *mistakes = sotto_arena_take(&t->arena, sizeof *mistakes);

    CHECK_OK(t, sotto_tasks_add(server->db, server->columns, leader ? SOTTO_LEADER : SOTTO_HELPER,
                                sotto_bytes_of(s->recipe_text, strlen(s->recipe_text)),
                                sotto_bytes_of(s->parties_text, strlen(s->parties_text)),
                                population, sotto_bytes_of(NULL, 0), &ids, mistakes, &t->err));
}

void held_stays(sotto_test *t, sotto_test_service *s, unsigned polls)
{
    uint64_t reports, counts[16];

    s->patience = polls;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, s, 1, &reports, counts));
}

void held_is_released(sotto_test *t, sotto_test_service *s, uint64_t wanted)
{
    uint64_t reports = 0, counts[16];

    s->patience = sotto_test_patience();
    CHECK_EQUAL(t, 200, sotto_test_collect(t, s, 1, &reports, counts));
    CHECK_EQUAL(t, wanted, reports);
}

sotto_test_job held_send_job(sotto_test *t, sotto_test_service *s, size_t sound, size_t bad)
{
    sotto_bytes reports[MOST];
    sotto_test_job job, whole;

    CHECK(t, sound + bad <= MOST);
    for (size_t i = 0; i < sound + bad; i++)
        reports[i] =
            sotto_test_sealed_report(t, s, 1, i < sound ? SOTTO_TEST_SOUND : SOTTO_TEST_BAD_PROOF);
    job = sotto_test_job_of(t, s, reports, sound, NULL);
    whole = bad ? sotto_test_job_of(t, s, reports, sound + bad, NULL) : job;
    CHECK_EQUAL(t, 201, sotto_test_send_job(t, s, whole.request).status);
    return job;
}

void held_await(sotto_test *t, sotto_server *server)
{
    CHECK(t, sotto_test_comes(t, server->db, "SELECT count(*) FROM held"));
}

void held_is_found(sotto_test *t, sotto_test_service *s, sotto_server *server)
{
    held_stays(t, s, 1);
    held_await(t, server);
    held_stays(t, s, 5);
}

void held_let_go(sotto_test *t, sotto_test_service *s, sotto_server *server, const char *reason,
                 sotto_status wanted)
{
    const sotto_server_task *task = sotto_tasks_find(server->tasks, s->task.id);
    sotto_rate_release release = {task->n, {false, s->bucket, s->bucket + 1, {{0}, 0}}, reason};

    if (wanted == SOTTO_OK)
        held_await(t, server);
    CHECK_STATUS(t, wanted, sotto_db_run(server->db, sotto_rate_release_batch, &release, &t->err));
}
