#include "round_noise_scene.h"

#include "aggregate/pine/pine.h"
#include "dap/collect.h"
#include "vdaf/pine/pine.h"

#include <string.h>

double scene_product(const double *a, const double *b)
{
    double sum = 0;

    for (size_t i = 0; i < PARAMETERS; i++)
        sum += a[i] * b[i];
    return sum / PARAMETERS / SIGMA / SIGMA;
}

sotto_status scene_add_noise(sotto_tx *tx, void *context, sotto_err *err)
{
    adding *a = context;
    const sotto_server_task *task = a->task;
    const size_t size = task->dap.sizes.out_share;
    sotto_buf share = sotto_test_buf(a->t, size), nothing = sotto_test_buf(a->t, size);
    int64_t numbers[PARAMETERS];
    sotto_tally tally;

    memset(nothing.data, 0, size);
    SOTTO_TRY(task->method->two_server->tally_init(&tally, &task->vdaf, &a->t->arena, err));
    SOTTO_TRY(sotto_round_noise_add(tx, &tally, task, a->keys, &a->t->arena, err));
    SOTTO_TRY(task->method->tally->encode(&tally, &share, err));
    SOTTO_TRY(sotto_pine_unshard(task->vdaf.state, numbers, share.data, nothing.data, err));
    for (size_t i = 0; i < PARAMETERS; i++)
        a->noise[i] = (double)numbers[i];
    return SOTTO_OK;
}

adding *scene_noise(sotto_test *t, scene *k, sotto_server *server, uint64_t round)
{
    adding *a = sotto_arena_take(&t->arena, sizeof *a);

    scene_begin(t, k, round, round == 0 ? 0 : 7);
    *a = (adding){
        .task = sotto_tasks_find(server->tasks, k->s.task.id), .keys = server->columns, .t = t};
    CHECK(t, a->task != NULL);
    CHECK_OK(t, sotto_db_run(server->db, scene_add_noise, a, &t->err));
    return a;
}

/* A scene's buckets are of round 24; each round is an hour. */
void scene_at_round(sotto_test *t, scene *k, uint64_t round, uint8_t model)
{
    scene_begin(t, k, round, model);
    k->s.bucket = k->s.bucket - k->round + round;
    k->round = round;
    memset(k->wanted, 0, sizeof k->wanted);
    scene_upload(t, k, DEVICES);
}

void scene_collect(sotto_test *t, scene *k, double *noise)
{
    uint64_t reports = 0, sums[PARAMETERS];

    CHECK_EQUAL(t, 200, sotto_test_collect(t, &k->s, 1, &reports, sums));
    CHECK_EQUAL(t, DEVICES, reports);
    for (size_t i = 0; i < PARAMETERS; i++)
        noise[i] = (double)(int64_t)sums[i] - k->wanted[i];
}
