/* Noise that is correlated over rounds, by real servers: its law over rounds, burnt ones between them, restarts, repairs, and what a
 * server that is lied to does not release. */
#include "aggregate/pine/pine.h"
#include "dap/collect.h"
#include "noise/tree.h"
#include "round_noise_scene.h"
#include "serve/tasks/gc.h"
#include "support/database.h"
#include "vdaf/pine/pine.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 8, RESTART = 4 };

static const shape tree = {.by = "servers", .largest = 100, .goal = 10, .restart = RESTART};

/* Seven deviations of a mean of 400 products, where servers draw for themselves: off once in 10^11. */
static void check_product(sotto_test *t, double wanted, double of_a, double of_b, const double *a,
                          const double *b)
{
    CHECK_NEAR(t, wanted, scene_product(a, b),
               7 * sqrt((of_a * of_b + wanted * wanted) / PARAMETERS));
}

/* ---- one server by itself --------------------------------------------------------------------------------------------- */

/* Rounds with their nodes by hand: a tree of four, and another. Round 5 is burnt, so that what round 4 left stays until round 7. */
static const int nodes[ROUNDS][ROUNDS] = {{1},
                                          {-1, 1},
                                          {0, 0, 1},
                                          {0, -1, -1, 1},
                                          {0, 0, 0, 0, 1},
                                          {0},
                                          {0, 0, 0, 0, 0, 0, 1},
                                          {0, 0, 0, 0, -1, 0, -1, 1}};

static void one_server_adds_all_of_its_noise(sotto_test *t)
{
    scene *k = scene_open(t, &tree);
    const adding *rounds[ROUNDS] = {NULL};

    for (uint64_t round = 0; round < ROUNDS; round++) {
        if (round == 5)
            continue;
        rounds[round] = scene_noise(t, k, k->s.leader, round);
        if (round == 2)
            sotto_test_leader_restart(t, &k->s);
    }
    for (size_t a = 0; a < ROUNDS; a++)
        for (size_t b = 0; b <= a; b++) {
            double wanted = 0, of_a = 0, of_b = 0;

            for (size_t i = 0; i < ROUNDS; i++) {
                wanted += nodes[a][i] * nodes[b][i];
                of_a += nodes[a][i] * nodes[a][i];
                of_b += nodes[b][i] * nodes[b][i];
            }
            if (a != 5 && b != 5)
                check_product(t, wanted, of_a, of_b, rounds[a]->noise, rounds[b]->noise);
        }
    /* Exactly: the sums of a tree's rounds have the noise of its last node alone, which is as large as one draw. */
    double all[PARAMETERS] = {0};
    for (size_t round = 0; round < RESTART; round++)
        for (size_t i = 0; i < PARAMETERS; i++)
            all[i] += rounds[round]->noise[i];
    check_product(t, 1, 1, 1, all, all);
    check_product(t, 0, 1, 1, all, rounds[4]->noise);
    sotto_test_service_close(&k->s);
}

/* What a repair releases is another sum. With the same fresh noise the difference of both would be bare. */
static void a_sum_that_is_made_again_has_fresh_noise(sotto_test *t)
{
    scene *k = scene_open(t, &tree);
    const adding *zero = scene_noise(t, k, k->s.helper, 0),
                 *once = scene_noise(t, k, k->s.helper, 1),
                 *again = scene_noise(t, k, k->s.helper, 1), *later;

    check_product(t, 1, 2, 2, once->noise, again->noise); /* what both took away of round 0 */
    check_product(t, 2, 2, 2, again->noise, again->noise);
    check_product(t, -1, 1, 2, zero->noise, again->noise);
    later = scene_noise(t, k, k->s.helper, 3); /* takes away what is there now */
    check_product(t, -1, 2, 2, again->noise, later->noise);
    check_product(t, 0, 2, 2, once->noise, later->noise);
    CHECK_EQUAL(t, 3,
                sotto_test_ask_number(t, k->s.helper->db, "SELECT count(*) FROM round_noise"));
    sotto_test_service_close(&k->s);
}

static void seeds_go_when_nothing_needs_them(sotto_test *t)
{
    static const char kept[] = "SELECT count(*) FROM round_noise WHERE length(seed) > 0",
                      rows[] = "SELECT count(*) FROM round_noise";
    scene *k = scene_open(t, &tree);
    sotto_db *db = k->s.leader->db;

    (void)scene_noise(t, k, k->s.leader, 0);
    (void)scene_noise(t, k, k->s.leader, 1);
    CHECK_EQUAL(t, 2, sotto_test_ask_number(t, db, kept)); /* a repair of round 1 needs both */
    (void)scene_noise(t, k, k->s.leader, 2);
    CHECK_EQUAL(t, 2, sotto_test_ask_number(t, db, kept));
    (void)scene_noise(t, k, k->s.leader, 3);
    CHECK_EQUAL(t, 3, sotto_test_ask_number(t, db, kept));
    (void)scene_noise(t, k, k->s.leader, 4);
    CHECK_EQUAL(t, 2, sotto_test_ask_number(t, db, kept));
    (void)scene_noise(t, k, k->s.leader, 6);
    CHECK_EQUAL(t, 2, sotto_test_ask_number(t, db, kept));
    CHECK_EQUAL(t, 6, sotto_test_ask_number(t, db, rows)); /* released for ever */
    sotto_test_service_close(&k->s);
}

/* Two leaders over one database, each of which releases a round. */
static void a_replica_takes_away_what_another_added(sotto_test *t)
{
    sotto_server *first, *second = NULL;
    sotto_server_options options;
    const adding *one, *two;
    scene *k;

    if (!sotto_test_on_postgres())
        NOT_FOR_THIS_DATABASE(t, "SQLite has one leader");
    k = scene_open(t, &tree);
    first = k->s.leader;
    options = k->s.leader_options;
    options.host.listen = "127.0.0.1:0";
    CHECK_OK(t, sotto_server_open(&second, &options, &t->err));
    one = scene_noise(t, k, first, 0);
    k->s.leader = second;
    two = scene_noise(t, k, second, 1);
    k->s.leader = first;
    check_product(t, -1, 1, 2, one->noise, two->noise);
    check_product(t, 2, 2, 2, two->noise, two->noise);
    sotto_server_close(second);
    sotto_test_service_close(&k->s);
}

/* A task of round 1 that names another model: its devices' updates would be in the tree twice. */
static void a_round_is_released_by_one_task(sotto_test *t)
{
    scene *k = scene_open(t, &tree);
    adding other = {.keys = k->s.leader->columns, .t = t};

    (void)scene_noise(t, k, k->s.leader, 1);
    scene_begin(t, k, 1, 9);
    other.task = sotto_tasks_find(k->s.leader->tasks, k->s.task.id);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_db_run(k->s.leader->db, scene_add_noise, &other, &t->err));
    sotto_test_service_close(&k->s);
}

/* ---- both of them ----------------------------------------------------------------------------------------------------- */

/* Both servers' nodes together, in sums as the collector opens them; closed and opened in between, and round 22 is never asked for. */
static void sums_of_rounds_have_the_noise_of_both_trees(sotto_test *t)
{
    scene *k = scene_open(t, &tree);
    double first[PARAMETERS], second[PARAMETERS], last[PARAMETERS], again[PARAMETERS];

    scene_at_round(t, k, 20, 7);
    scene_collect(t, k, first);
    sotto_test_leader_restart(t, &k->s);
    sotto_test_helper_restart(t, &k->s);
    scene_at_round(t, k, 21, 7);
    scene_collect(t, k, second);
    scene_collect(t, k, again); /* the stored answer */
    CHECK_BYTES(t, second, again, sizeof again);
    scene_at_round(t, k, 22, 7);
    scene_at_round(t, k, 23, 7);
    scene_collect(t, k, last);
    check_product(t, 2, 2, 2, first, first);
    check_product(t, -2, 2, 4, first, second);
    check_product(t, 4, 4, 4, second, second);
    check_product(t, -2, 4, 4, second, last);
    check_product(t, 0, 2, 4, first, last);
    check_product(t, 4, 4, 4, last, last);
    sotto_test_service_close(&k->s);
}

/* A record that names another model for a round that was released. Devices took part in one of both at most; the tree would have both. */
static void neither_server_releases_a_round_of_another_task(sotto_test *t)
{
    const uint8_t checksum[SOTTO_CHECKSUM_SIZE] = {0};
    scene *k = scene_open(t, &tree);
    uint64_t reports = 0, sums[PARAMETERS];
    double noise[PARAMETERS];
    sotto_http_response response;

    scene_at_round(t, k, 23, 7);
    scene_collect(t, k, noise);
    scene_at_round(t, k, 23, 9);
    k->s.patience = 40;
    CHECK(t, sotto_test_collect(t, &k->s, 1, &reports, sums) / 100 == 4);
    response = sotto_test_ask_share(t, &k->s, 1, DEVICES, checksum);
    CHECK(t, sotto_test_is_problem(&response, SOTTO_DAP_BATCH_OVERLAP));
    sotto_test_service_close(&k->s);
}

/* In parts of two hours, each with its own noise, both would take away that of rounds before. */
static void a_round_is_released_whole(sotto_test *t)
{
    static const shape two_hours = {
        .by = "servers", .largest = 100, .goal = 10, .every = 2, .restart = RESTART};
    const uint8_t checksum[SOTTO_CHECKSUM_SIZE] = {0};
    scene *k = scene_open(t, &two_hours);
    sotto_http_response response;

    scene_begin(t, k, 11, 7);
    k->s.bucket -= 2;
    scene_upload(t, k, DEVICES);
    response = sotto_test_ask_collection(t, &k->s);
    CHECK(t, sotto_test_is_problem(&response, SOTTO_DAP_BATCH_INVALID));
    response = sotto_test_ask_share(t, &k->s, 1, DEVICES, checksum); /* by a leader that lies */
    CHECK(t, sotto_test_is_problem(&response, SOTTO_DAP_BATCH_INVALID));
    sotto_test_service_close(&k->s);
}

/* ---- afterwards ------------------------------------------------------------------------------------------------------- */

/* A round that closed long ago may be in the noise of one to come, until the session is over. */
static void gc_keeps_noise_until_the_session_is_over(sotto_test *t)
{
    enum { DAY = 86400 };
    scene *k = scene_open(t, &tree);
    sotto_db *db = k->s.leader->db;
    sotto_gc gc = {.role = SOTTO_LEADER,
                   .late_seconds = 3600,
                   .keep_seconds = 2 * DAY,
                   .now = k->learning->head.closes + DAY};

    (void)scene_noise(t, k, k->s.leader, 0);
    CHECK_OK(t, sotto_gc_run(db, &gc, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, db, "SELECT count(*) FROM round_noise"));
    gc.now += 2 * DAY;
    CHECK_OK(t, sotto_gc_run(db, &gc, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, db, "SELECT count(*) FROM round_noise"));
    sotto_test_service_close(&k->s);
}

/* Writes to a table that no server writes to in this way. */
typedef struct writing {
    const char *sql;
    int64_t task;
} writing;

static sotto_status write_rows(sotto_tx *tx, void *context, sotto_err *err)
{
    const writing *w = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, w->sql, err));
    if (w->task)
        sotto_sql_int(&q, 1, w->task);
    return sotto_sql_run(&q, NULL, err);
}

/* Round 2 is in the node that round 3 ends. Its task waits, so that gc forgets round 3 alone, and then another task of round 3 comes. */
static void a_session_ends_with_all_of_its_seeds(sotto_test *t)
{
    enum { DAY = 86400 };
    scene *k = scene_open(t, &tree);
    sotto_db *db = k->s.leader->db;
    const adding *two = scene_noise(t, k, k->s.leader, 2),
                 *three = scene_noise(t, k, k->s.leader, 3);
    adding again = {.keys = k->s.leader->columns, .t = t};
    writing waits = {"INSERT INTO job (n, task, id, state, bucket, batch, reports, added)"
                     " SELECT 1000, n, id, 1, 0, id, 0, 0 FROM task WHERE n = ?1",
                     two->task->n};
    sotto_gc gc = {.role = SOTTO_LEADER,
                   .late_seconds = 3600,
                   .keep_seconds = 2 * DAY,
                   .now = k->learning->head.closes + 3 * DAY};

    check_product(t, -1, 1, 2, two->noise, three->noise);
    CHECK_OK(t, sotto_db_run(db, write_rows, &waits, &t->err));
    CHECK_OK(t, sotto_gc_run(db, &gc, &t->err));
    CHECK_EQUAL(t, 1, gc.waiting);
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, db, "SELECT count(*) FROM round_noise"));
    scene_begin(t, k, 3, 9);
    again.task = sotto_tasks_find(k->s.leader->tasks, k->s.task.id);
    CHECK_OK(t, sotto_db_run(db, scene_add_noise, &again, &t->err));
    check_product(t, 0, 1, 1, two->noise, again.noise);
    sotto_test_service_close(&k->s);
}

/* The seed of round 0 in the row of round 2, whose noise round 3 would take away. */
static void a_seed_is_bound_to_its_round(sotto_test *t)
{
    scene *k = scene_open(t, &tree);
    adding last = {.keys = k->s.leader->columns, .t = t};
    writing moved = {"UPDATE round_noise SET seed = (SELECT seed FROM round_noise WHERE round = 0)"
                     " WHERE round = 2",
                     0};

    (void)scene_noise(t, k, k->s.leader, 0);
    (void)scene_noise(t, k, k->s.leader, 2);
    CHECK_OK(t, sotto_db_run(k->s.leader->db, write_rows, &moved, &t->err));
    scene_begin(t, k, 3, 7);
    last.task = sotto_tasks_find(k->s.leader->tasks, k->s.task.id);
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_db_run(k->s.leader->db, scene_add_noise, &last, &t->err));
    sotto_test_service_close(&k->s);
}

/* Sigma is the largest that samplers draw, and restart that of the recipe's table. */
static void the_largest_trees_fit_the_field(sotto_test *t)
{
    enum { SIGMA_MOST = (1 << 20) - 1, RESTART_MOST = 65536 };
    sotto_noise noise;

    CHECK_OK(
        t, sotto_noise_gaussian(&noise, (uint64_t)SIGMA_MOST * SIGMA_MOST, 1, &t->arena, &t->err));
    CHECK_EQUAL(t, 32769, sotto_tree_most_nodes(RESTART_MOST));
    CHECK(t, sotto_noise_limit(&noise) * 32769 < (uint64_t)1 << 40);
    CHECK(t, (uint64_t)1 << 40 < SOTTO_PINE_ADDED_LIMIT);
}

/* The noise of a round less that of its own seed is none. */
static void no_other_seed_is_drawn_for_a_node(sotto_test *t)
{
    static const uint64_t rounds[] = {1, 2, 5};
    size_t place;

    for (size_t i = 0; i < 3; i++) {
        CHECK_OK(t, sotto_round_noise_place(&place, rounds, 3, rounds[i], &t->err));
        CHECK_EQUAL(t, i, place);
    }
    CHECK_STATUS(t, SOTTO_BUG, sotto_round_noise_place(&place, rounds, 3, 4, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(one_server_adds_all_of_its_noise),
        CASE(a_sum_that_is_made_again_has_fresh_noise),
        CASE(seeds_go_when_nothing_needs_them),
        CASE(a_replica_takes_away_what_another_added),
        CASE(a_round_is_released_by_one_task),
        CASE(sums_of_rounds_have_the_noise_of_both_trees),
        CASE(neither_server_releases_a_round_of_another_task),
        CASE(a_round_is_released_whole),
        CASE(gc_keeps_noise_until_the_session_is_over),
        CASE(a_session_ends_with_all_of_its_seeds),
        CASE(a_seed_is_bound_to_its_round),
        CASE(the_largest_trees_fit_the_field),
        CASE(no_other_seed_is_drawn_for_a_node),
    };

    return RUN_TESTS(argc, argv, cases);
}
