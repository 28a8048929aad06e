/* A round of learning through a leader and a helper: updates by devices' own code, sums with noise of the stated law. */
#define _POSIX_C_SOURCE 200809L
#include "aggregate/method.h"
#include "dap/collect.h"
#include "round_scene.h"
#include "serve/tasks/batches.h"
#include "support/database.h"
#include "support/pine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static scene *open_scene_of(sotto_test *t, const char *by, unsigned largest, unsigned goal)
{
    return scene_open(t, &(shape){.by = by, .largest = largest, .goal = goal});
}

static scene *open_scene(sotto_test *t, const char *by)
{
    return open_scene_of(t, by, 100, 10);
}

/* A device without checks: an update just above the bound, and a proof that says it is not. */
static sotto_bytes oversized_report(sotto_test *t, scene *k)
{
    const sotto_hpke_config to[SOTTO_REPORT_SHARES] = {k->s.leader_hpke, k->s.helper_hpke};
    sotto_test_pine p = {.pine = *(const sotto_pine *)k->vdaf.state, .random = k->s.random};
    const uint64_t bound = p.pine.config.norm_bound;
    const sotto_test_lie lie = {.norm = bound * bound};
    const int64_t vector[PARAMETERS] = {[5] = -(int64_t)bound - 1};
    sotto_test_pine_report r = sotto_test_pine_report_of(t, &p);
    uint8_t context[SOTTO_DAP_CONTEXT_SIZE], ikm[2 * SOTTO_HPKE_MAX_PRIVATE_KEY];
    sotto_report_draft draft = {.configuration = k->s.task.configuration,
                                .metadata = {.time = k->s.bucket}};
    sotto_dap_report report;
    sotto_buf out;

    sotto_dap_context(context, k->s.task.id);
    p.context = sotto_bytes_of(context, sizeof context);
    sotto_test_pine_forge(t, &p, &r, vector, &lie);
    memcpy(draft.task_id, k->s.task.id, sizeof draft.task_id);
    memcpy(draft.metadata.report_id, r.nonce, sizeof draft.metadata.report_id);
    draft.public_share = sotto_bytes_of(r.shares.public_share, k->vdaf.sizes.public_share);
    draft.shares[SOTTO_REPORT_LEADER].payload =
        sotto_bytes_of(r.shares.leader_share, k->vdaf.sizes.leader_share);
    draft.shares[SOTTO_REPORT_HELPER].payload =
        sotto_bytes_of(r.shares.helper_share, k->vdaf.sizes.helper_share);
    sotto_sim_random_bytes(&k->s.random, ikm, sizeof ikm);
    CHECK_OK(t, sotto_report_seal_both(&report, &draft, to, sotto_bytes_of(ikm, sizeof ikm),
                                       &t->arena, &t->err));
    out = sotto_test_buf(t, sotto_dap_report_size(&report));
    CHECK_OK(t, sotto_dap_report_encode(&out, &report, &t->err));
    return sotto_buf_bytes(&out);
}

/* The cell of a number, in deviations: ten cells of about a tenth each. */
static size_t cell_of(double x)
{
    static const double ends[] = {-1.2816, -0.8416, -0.5244, -0.2533, 0,
                                  0.2533,  0.5244,  0.8416,  1.2816};
    size_t cell = 0;

    while (cell < sizeof ends / sizeof ends[0] && x > ends[cell])
        cell++;
    return cell;
}

/* The sum less what devices had is noise of this deviation, rounding (below half a step a device) beside it. Chi-square over
 * ten cells by its cube root: with fixed seeds for devices; servers draw for themselves, and then it fails once in 10^7. */
static void check_law(sotto_test *t, const scene *k, const uint64_t *sums, double sigma)
{
    enum { CELLS = 10 };
    const double deviation = sqrt(sigma * sigma + DEVICES / 4.0), spread = 2.0 / (9 * (CELLS - 1)),
                 wanted = PARAMETERS / (double)CELLS;
    double seen[CELLS] = {0}, chi = 0;

    for (size_t i = 0; i < PARAMETERS; i++)
        seen[cell_of(((double)(int64_t)sums[i] - k->wanted[i]) / deviation)]++;
    for (size_t c = 0; c < CELLS; c++)
        chi += pow(seen[c] - wanted, 2) / wanted;
    CHECK(t, fabs((cbrt(chi / (CELLS - 1)) - (1 - spread)) / sqrt(spread)) < 5.6);
}

static void a_round_has_the_sum_and_the_noise_of_its_devices(sotto_test *t)
{
    scene *k = open_scene(t, "shares");
    uint64_t reports = 0, sums[PARAMETERS];

    scene_begin(t, k, k->round, 7);
    CHECK_EQUAL(t, 0, k->s.task.noise_sigma);
    scene_upload(t, k, DEVICES / 2);
    sotto_test_helper_stop(t, &k->s);
    scene_upload(t, k, DEVICES - DEVICES / 2);
    sotto_test_leader_restart(t, &k->s);
    sotto_test_helper_start(t, &k->s);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &k->s, 1, &reports, sums));
    CHECK_EQUAL(t, DEVICES, reports);
    check_law(t, k, sums, k->randomizer.device_sigma * sqrt(DEVICES));
    sotto_test_service_close(&k->s);
}

static void servers_add_the_noise_of_a_round(sotto_test *t)
{
    scene *k = open_scene(t, "servers");
    uint64_t reports = 0, sums[PARAMETERS];

    scene_begin(t, k, k->round, 7);
    CHECK_NEAR(t, CLIP * SCALE, k->s.task.noise_sigma, 0);
    scene_upload(t, k, DEVICES);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &k->s, 1, &reports, sums));
    CHECK_EQUAL(t, DEVICES, reports);
    check_law(t, k, sums, sqrt(2) * CLIP * SCALE);
    sotto_test_service_close(&k->s);
}

/* An update of the round before, of another model, and one that is too long: none of them counts. */
static void a_report_is_of_its_round_and_its_model(sotto_test *t)
{
    scene *k = open_scene(t, "shares");
    uint64_t reports = 0, sums[PARAMETERS];
    sotto_bytes replayed, stale;

    scene_begin(t, k, k->round - 1, 6);
    k->s.bucket--;
    replayed = scene_report(t, k, false);
    k->s.bucket++;
    scene_begin(t, k, k->round, 8);
    stale = scene_report(t, k, false);
    scene_begin(t, k, k->round, 7);
    (void)sotto_test_upload(t, &k->s, replayed);
    ((uint8_t *)(uintptr_t)replayed.data)[23]++; /* its time, as if it were of this round */
    (void)sotto_test_upload(t, &k->s, replayed);
    (void)sotto_test_upload(t, &k->s, stale);
    CHECK_EQUAL(t, 2, sotto_test_upload(t, &k->s, oversized_report(t, k)).status / 100);
    scene_upload(t, k, DEVICES);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &k->s, 1, &reports, sums));
    CHECK_EQUAL(t, DEVICES, reports);
    CHECK_EQUAL(t, 1,
                sotto_test_refused(t, &k->s, SOTTO_CAUSE_HELPER + SOTTO_REPORT_VDAF_VERIFY_ERROR));
    CHECK_EQUAL(t, 2, sotto_test_refused(t, &k->s, SOTTO_REPORT_HPKE_DECRYPT_ERROR));
    check_law(t, k, sums, k->randomizer.device_sigma * sqrt(DEVICES));
    sotto_test_service_close(&k->s);
}

static int64_t counted(sotto_test *t, const scene *k)
{
    return sotto_test_ask_number(
        t, k->s.leader->db, "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM sub_aggregate");
}

static sotto_status count_one_more(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_sql q;

    (void)context;
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE sub_aggregate SET reports = reports + 1", err));
    return sotto_sql_run(&q, NULL, err);
}

/* Twelve devices, and room for ten: the helper takes no more, and the leader releases no sum of more. */
static void a_round_has_room_for_its_largest_cohort(sotto_test *t)
{
    const struct timespec moment = {0, 50000000};
    scene *k = open_scene_of(t, "servers", 10, 10);
    uint64_t reports = 0, sums[PARAMETERS];
    sotto_http_response response = {.status = 201};

    scene_begin(t, k, k->round, 7);
    scene_upload(t, k, DEVICES);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &k->s, 1, &reports, sums));
    CHECK_EQUAL(t, 10, reports);
    CHECK_EQUAL(t, 2, sotto_test_refused(t, &k->s, SOTTO_CAUSE_HELPER + SOTTO_REPORT_DROPPED));
    sotto_test_service_close(&k->s);

    k = open_scene_of(t, "servers", 10, 10);
    scene_begin(t, k, k->round, 7);
    scene_upload(t, k, 10);
    for (unsigned i = 0; i < k->s.patience && counted(t, k) < 10; i++)
        (void)nanosleep(&moment, NULL);
    CHECK_OK(t, sotto_db_run(k->s.leader->db, count_one_more, NULL, &t->err));
    for (unsigned i = 0; i < k->s.patience && response.status / 100 == 2; i++) {
        (void)nanosleep(&moment, NULL);
        response = sotto_test_ask_collection(t, &k->s);
    }
    CHECK(t, sotto_test_is_problem(&response, SOTTO_DAP_INVALID_BATCH_SIZE));
    sotto_test_service_close(&k->s);
}

static int64_t closed(sotto_test *t, const scene *k)
{
    return sotto_test_ask_number(t, k->s.leader->db,
                                 "SELECT count(*) FROM release WHERE state > 1 OR shut > 0");
}

/* The recipe's goal is all twelve devices, and min_cohort ten of them. */
static void a_round_waits_for_its_goal_until_its_grace_is_over(sotto_test *t)
{
    scene *k = open_scene_of(t, "servers", 100, DEVICES);
    uint64_t reports = 0, sums[PARAMETERS], until = 0;

    scene_begin(t, k, k->round, 7);
    CHECK_EQUAL(t, 201, sotto_test_ask_collection(t, &k->s).status);
    scene_upload(t, k, DEVICES - 1);
    while (counted(t, k) < DEVICES - 1 && sotto_test_waits(&until, 50))
        ;
    CHECK_EQUAL(t, DEVICES - 1, counted(t, k));
    sotto_test_pause_ms(1500); /* the leader looks each second: eleven are not enough to it */
    CHECK_EQUAL(t, 0, closed(t, k));
    scene_upload(t, k, 1);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &k->s, 1, &reports, sums));
    CHECK_EQUAL(t, DEVICES, reports);
    sotto_test_service_close(&k->s);

    k = open_scene_of(t, "servers", 100, DEVICES); /* an hour after the end of this round */
    scene_begin(t, k, k->round - 2, 7);
    k->s.bucket -= 2;
    scene_upload(t, k, 10);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &k->s, 1, &reports, sums));
    CHECK_EQUAL(t, 10, reports);
    sotto_test_service_close(&k->s);
}

/* ---- rounds of which a device draws one ------------------------------------------------------------------- */

static const shape all_of_two_hours = {"servers", 100, 10, 2, "averaged", 24, 0, false},
                   one_of_an_hour = {"servers", 100, 10, 12, "fixed", 48, 0, false},
                   sliding = {"servers", 100, 10, 2, "sliding", 6, 0, false};

/* A round that is over. The scene's bucket is its first hour. */
static scene *open_drawn(sotto_test *t, const shape *s, uint64_t round)
{
    scene *k = scene_open(t, s);

    scene_begin(t, k, round, round == 0 ? 0 : 7);
    k->s.bucket -= 24 - round * s->every;
    return k;
}

/* Twelve came, and nobody is told: the collector knows the room of a sum alone. */
static void the_number_of_reports_of_a_drawn_round_is_not_told(sotto_test *t)
{
    scene *k = open_drawn(t, &all_of_two_hours, 10);
    uint64_t reports = 0, sums[PARAMETERS];

    scene_upload(t, k, DEVICES);
    CHECK(t, sotto_test_collect(t, &k->s, 1, &reports, sums) / 100 == 4); /* half a round */
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &k->s, 2, &reports, sums));
    CHECK_EQUAL(t, 100, reports);
    CHECK_EQUAL(t, DEVICES, counted(t, k));
    check_law(t, k, sums, sqrt(2) * CLIP * SCALE);
    sotto_test_service_close(&k->s);
}

static void a_drawn_round_is_released_whole(sotto_test *t)
{
    scene *k = open_drawn(t, &all_of_two_hours, 10);
    const uint8_t checksum[SOTTO_CHECKSUM_SIZE] = {0};
    sotto_http_response response;

    scene_upload(t, k, DEVICES);
    response = sotto_test_ask_collection(t, &k->s);
    CHECK(t, sotto_test_is_problem(&response, SOTTO_DAP_BATCH_INVALID));
    response = sotto_test_ask_share(t, &k->s, 1, DEVICES, checksum); /* by a leader that lies */
    CHECK(t, sotto_test_is_problem(&response, SOTTO_DAP_BATCH_INVALID));
    sotto_test_service_close(&k->s);
}

/* Its goal is reached and it was asked for. When it closes would tell how many came by then. */
static void a_drawn_round_is_not_released_before_its_end(sotto_test *t)
{
    const uint8_t checksum[SOTTO_CHECKSUM_SIZE] = {0};
    scene *k = open_drawn(t, &all_of_two_hours, 12); /* it began with this hour */
    sotto_dap_collection_req ask = {
        .query = {.mode = SOTTO_DAP_TIME_INTERVAL, .interval = {k->s.bucket, 2}}};
    sotto_buf req = sotto_test_buf(t, 256);
    uint64_t until = 0;

    scene_upload(t, k, DEVICES);
    CHECK_OK(t, sotto_dap_collection_req_encode(&req, &ask, &t->err));
    CHECK_EQUAL(t, 201,
                sotto_test_post(t, &k->s, true, "collection_jobs", SOTTO_DAP_COLLECTION_JOB_REQ,
                                k->s.pairing.collector_token, sotto_buf_bytes(&req))
                    .status);
    while (counted(t, k) < DEVICES && sotto_test_waits(&until, 50))
        ;
    CHECK_EQUAL(t, DEVICES, counted(t, k));
    sotto_test_pause_ms(1500);
    CHECK_EQUAL(t, 0, closed(t, k));
    CHECK_EQUAL(t, 503, sotto_test_ask_share(t, &k->s, 2, DEVICES, checksum).status);
    sotto_test_service_close(&k->s);
}

/* One report in each of twelve slots, and a second one in the fifth: the leader picked it, or made it. It is not added. */
static void the_helper_takes_one_report_of_a_slot(sotto_test *t)
{
    scene *k = open_drawn(t, &one_of_an_hour, 0);
    uint64_t reports = 0, sums[PARAMETERS];
    sotto_rejections told;

    for (unsigned slot = 0; slot < 12; slot++, k->s.bucket++)
        scene_upload(t, k, 1);
    k->s.bucket -= 8;
    CHECK_EQUAL(t, 2, sotto_test_upload(t, &k->s, scene_report(t, k, false)).status / 100);
    k->s.bucket -= 4;
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &k->s, 12, &reports, sums));
    CHECK_EQUAL(t, 100, reports);
    CHECK_EQUAL(t, 12, counted(t, k));
    CHECK_EQUAL(t, 1, sotto_test_refused(t, &k->s, SOTTO_CAUSE_HELPER + SOTTO_REPORT_DROPPED));
    sotto_test_told_refusals(t, k->s.leader, &told);
    CHECK_EQUAL(t, 0, told.count); /* the operator knows, and the collector does not */
    sotto_test_service_close(&k->s);
}

/* A helper that lets two pass is not believed. */
static void the_leader_releases_one_report_of_a_slot(sotto_test *t)
{
    const struct timespec moment = {0, 50000000};
    scene *k = open_drawn(t, &one_of_an_hour, 0);
    uint64_t reports = 0, sums[PARAMETERS];

    for (unsigned slot = 0; slot < 12; slot++, k->s.bucket++)
        scene_upload(t, k, 1);
    k->s.bucket -= 12;
    for (unsigned i = 0; i < k->s.patience && counted(t, k) < 12; i++)
        (void)nanosleep(&moment, NULL);
    CHECK_OK(t, sotto_db_run(k->s.leader->db, count_one_more, NULL, &t->err));
    CHECK(t, sotto_test_collect(t, &k->s, 12, &reports, sums) / 100 == 4);
    sotto_test_service_close(&k->s);
}

/* Windows of six rounds: those before round 5 have devices of some windows alone. */
static void a_warm_up_is_not_released(sotto_test *t)
{
    scene *k = open_drawn(t, &sliding, 4);
    uint64_t reports = 0, sums[PARAMETERS];

    scene_upload(t, k, DEVICES);
    CHECK(t, sotto_test_collect(t, &k->s, 2, &reports, sums) / 100 == 4);
    k->s.bucket += 2;
    memset(k->wanted, 0, sizeof k->wanted);
    scene_begin(t, k, 5, 7);
    scene_upload(t, k, DEVICES);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &k->s, 2, &reports, sums));
    check_law(t, k, sums, sqrt(2) * CLIP * SCALE);
    sotto_test_service_close(&k->s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_round_has_the_sum_and_the_noise_of_its_devices),
        CASE(servers_add_the_noise_of_a_round),
        CASE(a_report_is_of_its_round_and_its_model),
        CASE(a_round_has_room_for_its_largest_cohort),
        CASE(a_round_waits_for_its_goal_until_its_grace_is_over),
        CASE(the_number_of_reports_of_a_drawn_round_is_not_told),
        CASE(a_drawn_round_is_released_whole),
        CASE(a_drawn_round_is_not_released_before_its_end),
        CASE(the_helper_takes_one_report_of_a_slot),
        CASE(the_leader_releases_one_report_of_a_slot),
        CASE(a_warm_up_is_not_released),
    };
    return RUN_TESTS(argc, argv, cases);
}
