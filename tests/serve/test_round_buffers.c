/* Noise that is correlated over rounds by buffers, by real servers: its law over rounds, burnt ones between them, restarts, repairs,
 * and what is kept until when. */
#include "aggregate/pine/pine.h"
#include "dap/collect.h"
#include "noise/blt_noise.h"
#include "round_noise_scene.h"
#include "serve/tasks/gc.h"
#include "support/database.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 8, BURNT = 5 };

static const shape buffers = {.by = "servers", .largest = 100, .goal = 10, .buffers = true};

/* A number of the matrix: how much noise of a round is in the prediction of one so many rounds later. */
static double c(uint64_t later)
{
    double sum = later == 0;

    for (size_t j = 0; j < SOTTO_BLT_BUFFERS && later > 0; j++)
        sum += (double)scene_matrix.weight[j] * 0x1p-30 *
               pow((double)scene_matrix.decay[j] * 0x1p-30, (double)(later - 1));
    return sum;
}

/* What was drawn for a release, if it took away the noise of these rounds before it. */
typedef struct release {
    uint64_t round;
    const double *noise;
} release;

static void drawn(double out[PARAMETERS], const release *last, const release *before, size_t count)
{
    memcpy(out, last->noise, PARAMETERS * sizeof *out);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < PARAMETERS; k++)
            out[k] += c(last->round - before[i].round) * before[i].noise[k];
}

/* Seven deviations of a mean of 400 products, of draws whose variance is so many times that of one server: off once in 10^11. */
static void check_product(sotto_test *t, double wanted, double of_a, double of_b, const double *a,
                          const double *b)
{
    CHECK_NEAR(t, wanted, scene_product(a, b),
               7 * sqrt((of_a * of_b + wanted * wanted) / PARAMETERS));
}

/* The matrix of the rounds that were released, times what was: as many fresh draws, of no correlation. */
static void one_server_adds_the_noise_of_the_matrix(sotto_test *t)
{
    static double fresh[ROUNDS][PARAMETERS];
    scene *k = scene_open(t, &buffers);
    release rounds[ROUNDS];
    size_t count = 0;

    for (uint64_t round = 0; round < ROUNDS; round++) {
        if (round == BURNT)
            continue;
        rounds[count].round = round;
        rounds[count].noise = scene_noise(t, k, k->s.leader, round)->noise;
        drawn(fresh[count], &rounds[count], rounds, count);
        count++;
        if (round == 2)
            sotto_test_leader_restart(t, &k->s);
    }
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b <= a; b++)
            check_product(t, a == b, 1, 1, fresh[a], fresh[b]);
    /* Rounds by themselves are not: each takes away some of the one before it. */
    check_product(t, -c(1), 1, 1 + c(1) * c(1), rounds[0].noise, rounds[1].noise);
    sotto_test_service_close(&k->s);
}

/* What a repair releases is another sum. With the same fresh noise the difference of both would be bare. */
static void a_sum_that_is_made_again_has_fresh_noise(sotto_test *t)
{
    static double first[PARAMETERS], second[PARAMETERS], third[PARAMETERS];
    scene *k = scene_open(t, &buffers);
    const release zero = {0, scene_noise(t, k, k->s.helper, 0)->noise},
                  once = {1, scene_noise(t, k, k->s.helper, 1)->noise},
                  again = {1, scene_noise(t, k, k->s.helper, 1)->noise},
                  later = {3, scene_noise(t, k, k->s.helper, 3)->noise}, before[] = {zero, again};

    drawn(first, &once, &zero, 1);
    drawn(second, &again, &zero, 1);
    drawn(third, &later, before, 2); /* takes away what is there now */
    check_product(t, 1, 1, 1, first, first);
    check_product(t, 1, 1, 1, second, second);
    check_product(t, 1, 1, 1, third, third);
    check_product(t, 0, 1, 1, first, second);
    check_product(t, 0, 1, 1, first, third);
    CHECK_EQUAL(t, 3,
                sotto_test_ask_number(t, k->s.helper->db, "SELECT count(*) FROM round_noise"));
    sotto_test_service_close(&k->s);
}

/* Round 2 took noise away of a sum that a repair replaced, after round 2 was released. Nobody could draw its noise again from what is
 * kept, so it stays in the model, and its seed goes. */
static void a_round_that_saw_a_replaced_sum_is_left_alone(sotto_test *t)
{
    static const char kept[] = "SELECT count(*) FROM round_noise WHERE length(seed) > 0";
    static double second[PARAMETERS], third[PARAMETERS], fifth[PARAMETERS];
    scene *k = scene_open(t, &buffers);
    const release zero = {0, scene_noise(t, k, k->s.leader, 0)->noise},
                  once = {1, scene_noise(t, k, k->s.leader, 1)->noise},
                  two = {2, scene_noise(t, k, k->s.leader, 2)->noise},
                  again = {1, scene_noise(t, k, k->s.leader, 1)->noise},
                  three = {3, scene_noise(t, k, k->s.leader, 3)->noise},
                  five = {5, scene_noise(t, k, k->s.leader, 5)->noise}, old[] = {zero, once},
                  before[] = {zero, again}, all[] = {zero, again, three};

    drawn(second, &two, old, 2);
    drawn(third, &three, before, 2);
    drawn(fifth, &five, all, 3);
    check_product(t, 1, 1, 1, second, second);
    check_product(t, 1, 1, 1, third, third);
    check_product(t, 1, 1, 1, fifth, fifth);
    check_product(t, 0, 1, 1, second, third);
    check_product(t, 0, 1, 1, second, fifth);
    check_product(t, 0, 1, 1, third, fifth);
    CHECK_EQUAL(t, 4, sotto_test_ask_number(t, k->s.leader->db, kept));
    CHECK_EQUAL(t, 5,
                sotto_test_ask_number(t, k->s.leader->db, "SELECT count(*) FROM round_noise"));
    sotto_test_service_close(&k->s);
}

/* Two leaders over one database, each of which releases a round. */
static void a_replica_takes_away_what_another_added(sotto_test *t)
{
    static double second[PARAMETERS];
    sotto_server *first, *other = NULL;
    sotto_server_options options;
    scene *k;

    if (!sotto_test_on_postgres())
        NOT_FOR_THIS_DATABASE(t, "SQLite has one leader");
    k = scene_open(t, &buffers);
    first = k->s.leader;
    options = k->s.leader_options;
    options.host.listen = "127.0.0.1:0";
    CHECK_OK(t, sotto_server_open(&other, &options, &t->err));
    const release one = {0, scene_noise(t, k, first, 0)->noise};
    k->s.leader = other;
    const release two = {1, scene_noise(t, k, other, 1)->noise};
    k->s.leader = first;
    drawn(second, &two, &one, 1);
    check_product(t, 1, 1, 1, second, second);
    check_product(t, 0, 1, 1, one.noise, second);
    sotto_server_close(other);
    sotto_test_service_close(&k->s);
}

/* Both servers' noise together, in sums as the collector opens them; closed and opened in between, and round 22 is never asked for. A record
 * that names another model for a round that was released makes no second sum of it. */
static void sums_of_rounds_have_the_noise_of_both_servers(sotto_test *t)
{
    static double sums[3][PARAMETERS], fresh[3][PARAMETERS];
    const uint8_t checksum[SOTTO_CHECKSUM_SIZE] = {0};
    const release rounds[] = {{20, sums[0]}, {21, sums[1]}, {23, sums[2]}};
    scene *k = scene_open(t, &buffers);
    uint64_t reports = 0, out[PARAMETERS];
    sotto_http_response response;

    for (size_t i = 0; i < 3; i++) {
        scene_at_round(t, k, rounds[i].round, 7);
        scene_collect(t, k, sums[i]);
        drawn(fresh[i], &rounds[i], rounds, i);
        if (i == 0) {
            sotto_test_leader_restart(t, &k->s);
            sotto_test_helper_restart(t, &k->s);
        }
    }
    for (size_t a = 0; a < 3; a++)
        for (size_t b = 0; b <= a; b++)
            check_product(t, a == b ? 2 : 0, 2, 2, fresh[a], fresh[b]);
    scene_at_round(t, k, 23, 9);
    k->s.patience = 40;
    CHECK(t, sotto_test_collect(t, &k->s, 1, &reports, out) / 100 == 4);
    response = sotto_test_ask_share(t, &k->s, 1, DEVICES, checksum);
    CHECK(t, sotto_test_is_problem(&response, SOTTO_DAP_BATCH_OVERLAP));
    sotto_test_service_close(&k->s);
}

/* Nothing can be erased before: each later round takes some of all noise away. */
static void seeds_stay_until_the_session_is_over(sotto_test *t)
{
    enum { DAY = 86400 };
    static const char kept[] = "SELECT count(*) FROM round_noise WHERE length(seed) > 0";
    scene *k = scene_open(t, &buffers);
    sotto_db *db = k->s.leader->db;
    sotto_gc gc = {.role = SOTTO_LEADER,
                   .late_seconds = 3600,
                   .keep_seconds = 2 * DAY,
                   .now = k->learning->head.closes + DAY};

    for (uint64_t round = 0; round < 4; round++)
        (void)scene_noise(t, k, k->s.leader, round);
    CHECK_EQUAL(t, 4, sotto_test_ask_number(t, db, kept));
    CHECK_OK(t, sotto_gc_run(db, &gc, &t->err));
    CHECK_EQUAL(t, 4, sotto_test_ask_number(t, db, kept));
    gc.now += 2 * DAY;
    CHECK_OK(t, sotto_gc_run(db, &gc, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, db, "SELECT count(*) FROM round_noise"));
    sotto_test_service_close(&k->s);
}

/* Sigma is the largest that samplers draw; buffers remember a million rounds. */
static void the_largest_buffers_fit_the_field(sotto_test *t)
{
    const sotto_blt slow = {.decay = {(1 << 30) - 1024, 0, 0}, .weight = {(1 << 30) - 1024, 0, 0}};
    sotto_noise noise;
    double reach;

    CHECK_OK(t, sotto_blt_fresh(&noise, &reach, &slow, SOTTO_BLT_ROUNDS, (1 << 20) - 1, &t->arena,
                                &t->err));
    CHECK(t, reach < 0x1p26 && reach < (double)SOTTO_PINE_ADDED_LIMIT);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(one_server_adds_the_noise_of_the_matrix),
        CASE(a_sum_that_is_made_again_has_fresh_noise),
        CASE(a_round_that_saw_a_replaced_sum_is_left_alone),
        CASE(a_replica_takes_away_what_another_added),
        CASE(sums_of_rounds_have_the_noise_of_both_servers),
        CASE(seeds_stay_until_the_session_is_over),
        CASE(the_largest_buffers_fit_the_field),
    };

    return RUN_TESTS(argc, argv, cases);
}
