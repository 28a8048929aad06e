/* Rounds of learning with credentials of ARC: a device shows itself once in a round, with the same credential in each. */
#define _POSIX_C_SOURCE 200809L
#include "aggregate/method.h"
#include "recipe/learning.h"
#include "serve/tasks/batches.h"
#include "support/arc_admitted.h"
#include "support/database.h"
#include "support/pine.h"
#include "support/steps.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { PARAMETERS = 40, DEVICES = 11, ROUND = 24, TEXT = 4096 };

typedef struct scene {
    sotto_test_arc a; /* its service, its keys, and how a report is admitted */
    const sotto_learning *learning;
    sotto_vdaf vdaf;
    char *recipe;
    sotto_bytes parties;
    sotto_arc_holding held[DEVICES][2];
} scene;

/* Rounds of an hour since yesterday: round 24 is open, and 23 has just closed. drawn: a device draws one of them. The
 * schedule ends in so many days. */
static char *recipe_of(sotto_test *t, bool drawn, unsigned days)
{
    char participation[256] = "\"type\": \"poisson\", \"rate\": 1.0";
    char *text = sotto_test_take(t, TEXT), opens[32], closes[32];
    const time_t now = time(NULL), first = now - 86400, last = now + (time_t)days * 86400;
    struct tm tm;

    (void)strftime(opens, sizeof opens, "%Y-%m-%dT%H:00:00Z", gmtime_r(&first, &tm));
    (void)strftime(closes, sizeof closes, "%Y-%m-%dT%H:00:00Z", gmtime_r(&last, &tm));
    if (drawn)
        (void)snprintf(participation, sizeof participation,
                       "\"type\": \"check-in\", \"variant\": \"averaged\", \"window\": 48,"
                       " \"start\": \"%s\", \"slot\": \"1h\"",
                       opens);
    (void)snprintf(
        text, TEXT,
        "{\"recipe\": \"digits\", \"version\": 1, \"analysis\": \"com.example.digits\","
        " \"learn\": {\"model\": {\"type\": \"mlp\", \"parameters\": %d, \"init\": \"%064d\"},"
        " \"data\": {\"query\": \"SELECT pixels, label FROM digits\", \"most_rows\": 100},"
        " \"local\": {\"batch\": 20, \"rate\": 0.1}, \"update\": {\"clip\": 0.5, \"scale\": 4096},"
        " \"server\": {}}, \"rounds\": {\"count\": 48, \"every\": \"1h\", \"goal\": 10,"
        " \"largest\": 100, \"participations\": %d},"
        " \"participation\": {%s},"
        " \"privacy\": {\"by\": \"servers\", \"multiplier\": 2.0, \"adjacency\": \"replacement\","
        " \"epsilon\": 25, \"delta\": 1e-6, \"min_cohort\": 10, \"honest\": 1.0},"
        " \"aggregation\": {\"trust\": \"split\", \"leader\": \"key:leader\", \"helper\":"
        " \"key:helper\", \"proof\": {\"type\": \"pine\", \"bound_factor\": 9.5}},"
        " \"anonymity\": {\"tokens\": \"arc\", \"attester\": \"key:attester\"},"
        " \"schedule\": {\"opens\": \"%s\", \"closes\": \"%s\", \"precision\": \"1h\"},"
        " \"population\": %d}",
        PARAMETERS, 0, drawn ? 1 : 2, participation, opens, closes, drawn ? 1200 : 12);
    return text;
}

/* With the attester that the recipe names. */
static sotto_bytes parties_of(sotto_test *t, const scene *k)
{
    const char *text = k->a.s.parties_text, *rest = strchr(text, '{') + 1;
    const size_t size = strlen(text) + 128;
    char *out = sotto_test_take(t, size);

    (void)snprintf(out, size,
                   "{\"key:attester\": {\"role\": \"attester\", \"url\":"
                   " \"http://127.0.0.1:1/\"}, %s",
                   rest);
    return sotto_bytes_of(out, strlen(out));
}

static scene *open_scene(sotto_test *t, bool drawn)
{
    static const sotto_test_service_options options = {.job_delay_ms = 5};
    scene *k = sotto_test_take(t, sizeof *k);
    sotto_mistakes *mistakes = sotto_test_take(t, sizeof *mistakes);

    sotto_test_await_hour();
    sotto_test_arc_open(t, &k->a, &options);
    k->recipe = recipe_of(t, drawn, 2);
    CHECK_OK(t, sotto_learning_read(&k->learning, sotto_bytes_of(k->recipe, strlen(k->recipe)),
                                    &t->arena, mistakes, &t->err));
    k->parties = parties_of(t, k);
    for (unsigned i = 0; i < DEVICES; i++)
        for (unsigned who = 0; who < 2; who++)
            k->held[i][who] = sotto_test_arc_credential(t, &k->a.keys[who], 0);
    k->a.keep = true;
    return k;
}

/* Both servers add it, and reports are of it from now on. */
static void begin_round(sotto_test *t, scene *k, uint64_t round)
{
    sotto_test_service *s = &k->a.s;
    sotto_round_record record = {.round = round,
                                 .recipe = sotto_bytes_of(k->recipe, strlen(k->recipe))};
    sotto_buf wire = sotto_test_buf(t, 2 * TEXT), ids = sotto_test_buf(t, 64),
              again = sotto_test_buf(t, 64);
    sotto_mistakes *mistakes = sotto_test_take(t, sizeof *mistakes);
    const sotto_parties *read;

    memset(record.model, (int)round, sizeof record.model);
    CHECK_OK(t, sotto_round_record_encode(&wire, &record, &t->err));
    CHECK_OK(t, sotto_tasks_add(s->leader->db, s->leader->columns, SOTTO_LEADER,
                                sotto_buf_bytes(&wire), k->parties, 0, sotto_bytes_of(NULL, 0),
                                &ids, mistakes, &t->err));
    CHECK_OK(t, sotto_tasks_add(s->helper->db, s->helper->columns, SOTTO_HELPER,
                                sotto_buf_bytes(&wire), k->parties, 0, sotto_buf_bytes(&ids),
                                &again, mistakes, &t->err));
    CHECK_OK(t, sotto_tasks_refresh(s->leader->tasks, &t->err));
    CHECK_OK(t, sotto_tasks_refresh(s->helper->tasks, &t->err));
    CHECK_OK(t, sotto_parties_read(&read, k->parties, &t->arena, mistakes, &t->err));
    CHECK_OK(t, sotto_round_task_compile(&s->task, k->learning, &record, read, &t->arena, &t->err));
    CHECK_OK(t, sotto_vdaf_open(&k->vdaf, &s->task.vdaf, &t->arena, &t->err));
    s->opened = &k->vdaf;
    k->a.collection = (sotto_arc_collection){.opens = s->task.opens, .closes = s->task.closes};
    memcpy(k->a.collection.subject, k->learning->head.hash, sizeof k->a.collection.subject);
}

/* An update of zeros, by the device of that number. */
static sotto_bytes report_of(sotto_test *t, scene *k, unsigned device)
{
    sotto_test_service *s = &k->a.s;
    const sotto_hpke_config to[SOTTO_REPORT_SHARES] = {s->leader_hpke, s->helper_hpke};
    const size_t rand = k->vdaf.sizes.rand;
    uint64_t values[PARAMETERS] = {0};
    uint8_t *random = sotto_test_take(t, rand), ikm[2 * SOTTO_HPKE_MAX_PRIVATE_KEY];
    sotto_report_draft draft = {.configuration = s->task.configuration,
                                .metadata = {.time = s->task.opens / s->task.precision}};
    sotto_dap_report report;
    sotto_buf out;

    memcpy(k->a.held, k->held[device], sizeof k->a.held);
    memcpy(draft.task_id, s->task.id, sizeof draft.task_id);
    sotto_sim_random_bytes(&s->random, draft.metadata.report_id, SOTTO_REPORT_ID_SIZE);
    sotto_sim_random_bytes(&s->random, random, rand);
    sotto_sim_random_bytes(&s->random, ikm, sizeof ikm);
    CHECK_OK(t, sotto_report_shard(&draft, &k->vdaf, (sotto_measurement){values, PARAMETERS},
                                   sotto_bytes_of(random, rand), &t->arena, &t->err));
    s->admit(t, s->admit_context, &draft, &t->arena);
    CHECK_OK(t, sotto_report_seal_both(&report, &draft, to, sotto_bytes_of(ikm, sizeof ikm),
                                       &t->arena, &t->err));
    out = sotto_test_buf(t, sotto_dap_report_size(&report));
    CHECK_OK(t, sotto_dap_report_encode(&out, &report, &t->err));
    return sotto_buf_bytes(&out);
}

static uint8_t send(sotto_test *t, scene *k, sotto_bytes report)
{
    return sotto_test_upload_error(t, &k->a.s, report);
}

static void a_presentation_counts_once_in_its_round_and_in_no_other(sotto_test *t)
{
    scene *k = open_scene(t, false);
    uint64_t reports = 0, sums[PARAMETERS];
    sotto_arc_collection last;
    sotto_bytes replayed;

    begin_round(t, k, ROUND - 1);
    last = k->a.collection;
    replayed = report_of(t, k, 0);
    CHECK_EQUAL(t, 0, send(t, k, replayed));
    CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_SPENT, send(t, k, report_of(t, k, 0)));

    begin_round(t, k, ROUND);
    /* What was shown in the round before: as it was sent, and on a report of this round. */
    ((uint8_t *)(uintptr_t)replayed.data)[23]++; /* its time, as if it were of this round */
    CHECK(t, send(t, k, replayed) != 0);
    const sotto_arc_collection now = k->a.collection;
    k->a.collection = last;
    CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_INVALID, send(t, k, report_of(t, k, 0)));
    k->a.collection = now;
    /* The same credential shows itself anew, once. */
    for (unsigned i = 0; i < DEVICES; i++)
        CHECK_EQUAL(t, 0, send(t, k, report_of(t, k, i)));
    CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_SPENT, send(t, k, report_of(t, k, 0)));
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &k->a.s, 1, &reports, sums));
    CHECK_EQUAL(t, DEVICES, reports);
    CHECK_EQUAL(t, 0,
                sotto_test_refused(t, &k->a.s, SOTTO_CAUSE_HELPER + SOTTO_REPORT_TOKEN_INVALID));
    sotto_test_arc_close(&k->a);
}

/* A device that answers in every slot shows the same tag: both rounds are of one collection. */
static void a_device_that_answers_in_every_slot_counts_once(sotto_test *t)
{
    scene *k = open_scene(t, true);
    uint64_t reports = 0, sums[PARAMETERS];

    begin_round(t, k, ROUND - 3);
    const sotto_arc_collection session = {.opens = (uint64_t)k->learning->head.opens,
                                          .closes = (uint64_t)k->learning->head.closes};
    k->a.collection.opens = session.opens;
    k->a.collection.closes = session.closes;
    CHECK_EQUAL(t, 0, send(t, k, report_of(t, k, 0)));
    begin_round(t, k, ROUND - 2);
    /* As if it were for this round alone: no server takes it so. */
    CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_INVALID, send(t, k, report_of(t, k, 0)));
    k->a.collection.opens = session.opens;
    k->a.collection.closes = session.closes;
    CHECK_EQUAL(t, SOTTO_REPORT_TOKEN_SPENT, send(t, k, report_of(t, k, 0)));
    for (unsigned i = 1; i < DEVICES; i++)
        CHECK_EQUAL(t, 0, send(t, k, report_of(t, k, i)));
    k->a.s.bucket -= 2;
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &k->a.s, 1, &reports, sums));
    CHECK_EQUAL(t, 100, reports); /* how many came is not told */
    sotto_test_arc_close(&k->a);
}

/* A device would have a second credential, and a second tag, in the epoch that follows. */
static void a_session_lies_within_one_epoch(sotto_test *t)
{
    scene *k = open_scene(t, true);
    sotto_test_service *s = &k->a.s;
    sotto_mistakes *mistakes = sotto_test_take(t, sizeof *mistakes);

    for (unsigned drawn = 0; drawn < 2; drawn++) {
        const char *recipe = recipe_of(t, drawn == 1, 400);
        const sotto_round_record record = {
            .round = ROUND, .model = {7}, .recipe = sotto_bytes_of(recipe, strlen(recipe))};
        sotto_buf wire = sotto_test_buf(t, 2 * TEXT), ids = sotto_test_buf(t, 64);

        CHECK_OK(t, sotto_round_record_encode(&wire, &record, &t->err));
        CHECK_STATUS(t, drawn == 1 ? SOTTO_DENIED : SOTTO_OK,
                     sotto_tasks_add(s->leader->db, s->leader->columns, SOTTO_LEADER,
                                     sotto_buf_bytes(&wire), k->parties, 0, sotto_bytes_of(NULL, 0),
                                     &ids, mistakes, &t->err));
    }
    CHECK_REASON(t, "no epoch of this server has the whole schedule");
    sotto_test_arc_close(&k->a);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_presentation_counts_once_in_its_round_and_in_no_other),
        CASE(a_device_that_answers_in_every_slot_counts_once),
        CASE(a_session_lies_within_one_epoch),
    };
    return RUN_TESTS(argc, argv, cases);
}
