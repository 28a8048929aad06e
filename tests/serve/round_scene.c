#define _POSIX_C_SOURCE 200809L
#include "round_scene.h"

#include "dap/collect.h"
#include "support/database.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TEXT = 4096 };

const sotto_blt scene_matrix = {.decay = {500000000, 1000000000}, .weight = {300000000, 150000000}};

static sotto_status fill(void *context, void *out, size_t len, sotto_err *err)
{
    (void)err;
    sotto_sim_random_bytes(context, out, len);
    return SOTTO_OK;
}

static void write_participation(char out[256], const shape *s, const char *opens)
{
    if (!s->drawn)
        (void)snprintf(out, 256, "\"type\": \"poisson\", \"rate\": 1.0");
    else
        (void)snprintf(out, 256,
                       "\"type\": \"check-in\", \"variant\": \"%s\", \"window\": %u,"
                       " \"start\": \"%s\", \"slot\": \"%uh\"",
                       s->drawn, s->slots, opens, strcmp(s->drawn, "fixed") == 0 ? 1 : s->every);
}

static char *recipe_of(sotto_test *t, const shape *s)
{
    const unsigned every = s->every ? s->every : 1;
    char participation[256], correlation[256] = "";
    char *text = sotto_arena_take(&t->arena, TEXT), opens[32], closes[32];
    const time_t now = time(NULL), first = now - 86400, last = now + 2 * 86400;
    struct tm tm;

    (void)strftime(opens, sizeof opens, "%Y-%m-%dT%H:00:00Z", gmtime_r(&first, &tm));
    (void)strftime(closes, sizeof closes, "%Y-%m-%dT%H:00:00Z", gmtime_r(&last, &tm));
    write_participation(participation, s, opens);
    if (s->restart > 0)
        (void)snprintf(correlation, sizeof correlation,
                       "\"correlation\": {\"type\": \"tree\", \"restart\": %u}, ", s->restart);
    if (s->buffers)
        (void)snprintf(correlation, sizeof correlation,
                       "\"correlation\": {\"type\": \"buffers\", \"buffers\": ["
                       "{\"decay\": %" PRId64 ", \"weight\": %" PRId64 "}, "
                       "{\"decay\": %" PRId64 ", \"weight\": %" PRId64 "}]}, ",
                       scene_matrix.decay[0], scene_matrix.weight[0], scene_matrix.decay[1],
                       scene_matrix.weight[1]);
    (void)snprintf(
        text, TEXT,
        "{\"recipe\": \"digits\", \"version\": 1, \"analysis\": \"com.example.digits\","
        " \"learn\": {\"model\": {\"type\": \"mlp\", \"parameters\": %d, \"init\": "
        "\"%064d\"}, \"data\": {\"query\": \"SELECT pixels, label FROM digits\", \"most_rows\": "
        "100}, \"local\": {\"batch\": 20, \"rate\": 0.1}, \"update\": {\"clip\": %g, \"scale\": "
        "%d}, \"server\": {}}, \"rounds\": {\"count\": %u, \"every\": \"%uh\", \"goal\": %u, "
        "\"grace\": \"1m\", \"largest\": %u, \"participations\": 1},"
        " \"participation\": {%s},"
        " \"privacy\": {\"by\": \"%s\", %s\"multiplier\": 1.0, \"adjacency\": \"replacement\","
        " \"epsilon\": 25, \"delta\": 1e-6, \"min_cohort\": 10, \"honest\": 1.0},"
        " \"aggregation\": {\"trust\": \"split\", \"leader\": \"key:leader\", \"helper\": "
        "\"key:helper\", \"proof\": {\"type\": \"pine\", \"bound_factor\": 9.5}},"
        " \"schedule\": {\"opens\": \"%s\", \"closes\": \"%s\", \"precision\": \"1h\"},"
        " \"population\": %u}",
        PARAMETERS, 0, CLIP, SCALE, 48 / every, every, s->goal, s->largest, participation, s->by,
        correlation, opens, closes, s->drawn ? 1200 : 12);
    return text;
}

static sotto_bytes record_of(sotto_test *t, const scene *k, uint64_t round, uint8_t model)
{
    sotto_round_record record = {.round = round,
                                 .recipe = sotto_bytes_of(k->recipe, strlen(k->recipe))};
    sotto_buf out = sotto_test_buf(t, 2 * TEXT);

    memset(record.model, model, sizeof record.model);
    CHECK_OK(t, sotto_round_record_encode(&out, &record, &t->err));
    return sotto_buf_bytes(&out);
}

/* The same bytes at both servers: neither takes a task from the other. */
void scene_begin(sotto_test *t, scene *k, uint64_t round, uint8_t model)
{
    sotto_test_service *s = &k->s;
    const sotto_bytes wire = record_of(t, k, round, model),
                      parties = sotto_bytes_of(s->parties_text, strlen(s->parties_text));
    sotto_buf ids = sotto_test_buf(t, 64), again = sotto_test_buf(t, 64);
    sotto_mistakes *mistakes = sotto_arena_take(&t->arena, sizeof *mistakes);
    const sotto_parties *read;
    sotto_round_record record;

    CHECK_OK(t, sotto_tasks_add(s->leader->db, s->leader->columns, SOTTO_LEADER, wire, parties, 0,
                                sotto_bytes_of(NULL, 0), &ids, mistakes, &t->err));
    CHECK_OK(t, sotto_tasks_add(s->helper->db, s->helper->columns, SOTTO_HELPER, wire, parties, 0,
                                sotto_buf_bytes(&ids), &again, mistakes, &t->err));
    CHECK_OK(t, sotto_tasks_refresh(s->leader->tasks, &t->err));
    CHECK_OK(t, sotto_tasks_refresh(s->helper->tasks, &t->err));
    CHECK_OK(t, sotto_parties_read(&read, parties, &t->arena, mistakes, &t->err));
    CHECK_OK(t, sotto_round_record_decode(&record, wire, &t->err));
    CHECK_OK(t, sotto_round_task_compile(&s->task, k->learning, &record, read, &t->arena, &t->err));
    CHECK_BYTES(t, ids.data, s->task.id, sizeof s->task.id);
    CHECK_OK(t, sotto_vdaf_open(&k->vdaf, &s->task.vdaf, &t->arena, &t->err));
    s->opened = &k->vdaf;
}

scene *scene_open(sotto_test *t, const shape *s)
{
    scene *k = sotto_arena_take(&t->arena, sizeof *k);
    sotto_mistakes *mistakes = sotto_arena_take(&t->arena, sizeof *mistakes);

    sotto_test_await_hour();
    sotto_test_service_open(t, &k->s, &(sotto_test_service_options){0});
    k->recipe = recipe_of(t, s);
    CHECK_OK(t, sotto_learning_read(&k->learning, sotto_bytes_of(k->recipe, strlen(k->recipe)),
                                    &t->arena, mistakes, &t->err));
    CHECK_OK(t, sotto_learning_randomizer(&k->randomizer, k->learning, &t->arena, &t->err));
    sotto_entropy_init(&k->entropy, fill, &k->s.random);
    k->round = 24;
    return k;
}

sotto_bytes scene_report(sotto_test *t, scene *k, bool counted)
{
    const sotto_update_maker maker = {
        &k->vdaf, &k->randomizer, {k->s.leader_hpke, k->s.helper_hpke}};
    sotto_report_draft draft = {.configuration = k->s.task.configuration,
                                .metadata = {.time = k->s.bucket}};
    double update[PARAMETERS];
    uint8_t random[PARAMETERS];
    sotto_dap_report report;
    sotto_buf out;

    sotto_sim_random_bytes(&k->s.random, random, sizeof random);
    for (size_t i = 0; i < PARAMETERS; i++) {
        update[i] = (random[i] - 127.5) / 12750;
        if (counted)
            k->wanted[i] += update[i] * SCALE;
    }
    memcpy(draft.task_id, k->s.task.id, sizeof draft.task_id);
    CHECK_OK(t, sotto_update_report_make(&report, &draft, &maker, update, 1, &k->entropy, &t->arena,
                                         &t->err));
    out = sotto_test_buf(t, sotto_dap_report_size(&report));
    CHECK_OK(t, sotto_dap_report_encode(&out, &report, &t->err));
    return sotto_buf_bytes(&out);
}

void scene_upload(sotto_test *t, scene *k, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CHECK_EQUAL(t, 2, sotto_test_upload(t, &k->s, scene_report(t, k, true)).status / 100);
}
