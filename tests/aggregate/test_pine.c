/* PINE as a task's VDAF: batches through both servers, tallies, sums with signs, and what is refused. */
#include "aggregate/pine/pine.h"

#include "base/arena.h"
#include "dap/task_configuration.h"
#include "support/pine.h"
#include "vdaf/pine/ops.h"

#include <string.h>

enum { DIMENSION = 40, BOUND = 1000, REPORTS = 5 };

static const char context[] = "task";

typedef struct scene {
    sotto_vdaf vdaf;
    sotto_test_pine pine; /* the same instance, for forgers */
    sotto_vdaf_batch batches[2];
    sotto_bytes shares[2];
    int64_t wanted[DIMENSION];
} scene;

static sotto_vdaf_config config_of(uint64_t length, uint64_t bound)
{
    const sotto_vdaf_shape shape = {.length = length, .most = bound};
    sotto_vdaf_config config;

    sotto_vdaf_client_named("pine")->plan(&config, &shape);
    return config;
}

static scene *scene_of(sotto_test *t, uint64_t seed)
{
    scene *s = sotto_test_take(t, sizeof *s);
    const sotto_vdaf_config config = config_of(DIMENSION, BOUND);

    CHECK_OK(t, sotto_vdaf_open(&s->vdaf, &config, &t->arena, &t->err));
    CHECK_EQUAL(t, DIMENSION, s->vdaf.sizes.outputs);
    s->pine.pine = *(const sotto_pine *)s->vdaf.state;
    s->pine.context = sotto_bytes_of(context, sizeof context - 1);
    sotto_sim_random_init(&s->pine.random, seed);
    sotto_sim_random_bytes(&s->pine.random, s->pine.verify_key, sizeof s->pine.verify_key);
    return s;
}

static void sizes_are_had_without_an_arena(sotto_test *t)
{
    const scene *s = scene_of(t, 1);
    const sotto_vdaf_config config = config_of(DIMENSION, BOUND);
    sotto_vdaf sizes_alone;

    CHECK_OK(t, sotto_vdaf_open(&sizes_alone, &config, NULL, &t->err));
    CHECK(t, sizes_alone.state == NULL);
    CHECK_EQUAL(t, s->vdaf.sizes.leader_share, sizes_alone.sizes.leader_share);
    CHECK_EQUAL(t, s->vdaf.sizes.outputs, sizes_alone.sizes.outputs);
}

/* Entries from -100 to 100: a norm of about 365. */
static void draw(scene *s, uint64_t *values)
{
    uint8_t random[DIMENSION];

    sotto_sim_random_bytes(&s->pine.random, random, sizeof random);
    for (size_t i = 0; i < DIMENSION; i++)
        values[i] = (uint64_t)(random[i] % 201) - 100;
}

static sotto_test_pine_report report_of(sotto_test *t, scene *s, const uint64_t *values)
{
    sotto_test_pine_report r = sotto_test_pine_report_of(t, &s->pine);
    sotto_buf public = sotto_buf_over(r.shares.public_share, s->vdaf.sizes.public_share);
    sotto_buf shares[2] = {sotto_buf_over(r.shares.leader_share, s->vdaf.sizes.leader_share),
                           sotto_buf_over(r.shares.helper_share, s->vdaf.sizes.helper_share)};

    CHECK_OK(t, s->vdaf.ops->shard(&s->vdaf, &public, shares, s->pine.context,
                                   (sotto_measurement){values, DIMENSION}, r.nonce,
                                   sotto_bytes_of(r.rand, s->vdaf.sizes.rand), &t->arena, &t->err));
    return r;
}

static sotto_vdaf_report view(const scene *s, const sotto_test_pine_report *r, unsigned a)
{
    sotto_vdaf_report out = {
        .public_share = {r->shares.public_share, s->vdaf.sizes.public_share},
        .input_share = {a ? r->shares.helper_share : r->shares.leader_share,
                        a ? s->vdaf.sizes.helper_share : s->vdaf.sizes.leader_share}};

    memcpy(out.nonce, r->nonce, sizeof out.nonce);
    return out;
}

static void verify(sotto_test *t, scene *s, const sotto_test_pine_report *reports, size_t count)
{
    const sotto_vdaf_server_ops *ops = sotto_method_pine.two_server;
    sotto_vdaf_report views[2][REPORTS];
    sotto_vdaf_verifier v = {.context = s->pine.context};

    memcpy(v.verify_key, s->pine.verify_key, sizeof v.verify_key);
    for (unsigned a = 0; a < 2; a++)
        for (size_t i = 0; i < count; i++)
            views[a][i] = view(s, &reports[i], a);
    CHECK_OK(t,
             ops->leader_init(&s->vdaf, &s->batches[0], &v, views[0], count, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_BUG,
                 ops->helper_init(&s->vdaf, &s->batches[1], &v, views[1], s->batches[0].outbound,
                                  count, &t->arena, &t->err));
    v.aggregator = 1;
    CHECK_OK(t, ops->helper_init(&s->vdaf, &s->batches[1], &v, views[1], s->batches[0].outbound,
                                 count, &t->arena, &t->err));
    CHECK_OK(t, ops->leader_finish(&s->vdaf, &s->batches[0], s->batches[1].outbound, &t->err));
}

static void add_up(sotto_test *t, scene *s, const int64_t *noise)
{
    const sotto_vdaf_server_ops *ops = sotto_method_pine.two_server;
    const sotto_tally_ops *tally_ops = sotto_method_pine.tally;

    for (unsigned a = 0; a < 2; a++) {
        sotto_tally one, other;
        sotto_buf out;

        CHECK_OK(t, ops->tally_init(&one, &s->vdaf, &t->arena, &t->err));
        CHECK_OK(t, ops->tally_init(&other, &s->vdaf, &t->arena, &t->err));
        CHECK_OK(t, ops->accumulate(&one, &s->batches[a], 0, 2, &t->err));
        CHECK_OK(t, ops->accumulate(&other, &s->batches[a], 2, s->batches[a].count - 2, &t->err));
        CHECK_OK(t, tally_ops->merge(&one, &other, &t->err));
        CHECK_OK(t, tally_ops->add(&one, 0, noise, DIMENSION, &t->err));
        CHECK_OK(t, sotto_buf_take(&out, &t->arena, s->vdaf.sizes.out_share, &t->err));
        CHECK_OK(t, tally_ops->encode(&one, &out, &t->err));
        CHECK_OK(t, tally_ops->decode(&other, sotto_buf_bytes(&out), one.contributions, &t->err));
        s->shares[a] = sotto_buf_bytes(&out);
    }
}

static void check_sums(sotto_test *t, const scene *s, uint64_t reports, double sigma)
{
    sotto_uint128 sums[DIMENSION];

    CHECK_OK(
        t, sotto_method_pine.two_server->open(&s->vdaf, sums, s->shares, reports, sigma, &t->err));
    for (size_t i = 0; i < DIMENSION; i++) {
        CHECK_EQUAL(t, s->wanted[i], (int64_t)sums[i].low);
        CHECK_EQUAL(t, s->wanted[i] < 0 ? UINT64_MAX : 0, sums[i].high);
    }
}

static void vectors_are_proved_added_and_opened_with_their_signs(sotto_test *t)
{
    scene *s = scene_of(t, 1);
    sotto_test_pine_report reports[REPORTS];
    int64_t noise[DIMENSION];

    for (size_t r = 0; r < REPORTS; r++) {
        uint64_t values[DIMENSION];

        draw(s, values);
        reports[r] = report_of(t, s, values);
        for (size_t i = 0; i < DIMENSION; i++)
            s->wanted[i] += (int64_t)values[i];
    }
    verify(t, s, reports, REPORTS);
    for (size_t r = 0; r < REPORTS; r++)
        CHECK(t, s->batches[0].status[r] == SOTTO_OK && s->batches[1].status[r] == SOTTO_OK);
    for (size_t i = 0; i < DIMENSION; i++) {
        noise[i] = (int64_t)i - 20; /* each server adds it */
        s->wanted[i] += 2 * noise[i];
    }
    add_up(t, s, noise);
    check_sums(t, s, REPORTS, 20);
}

static void a_vector_above_the_bound_is_refused_by_device_and_servers(sotto_test *t)
{
    scene *s = scene_of(t, 2);
    uint64_t values[DIMENSION] = {[3] = (uint64_t)-BOUND};
    int64_t longer[DIMENSION] = {[3] = -BOUND - 1};
    const sotto_test_lie lie = {.norm = (uint64_t)BOUND * BOUND};
    sotto_test_pine_report reports[2] = {report_of(t, s, values),
                                         sotto_test_pine_report_of(t, &s->pine)};

    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_test_pine_shard(t, &s->pine, &reports[1], longer));
    sotto_err_clear(&t->err);
    sotto_test_pine_forge(t, &s->pine, &reports[1], longer, &lie);
    verify(t, s, reports, 2);
    for (unsigned a = 0; a < 2; a++) {
        CHECK_EQUAL(t, SOTTO_OK, s->batches[a].status[0]);
        CHECK_EQUAL(t, SOTTO_REJECTED, s->batches[a].status[1]);
    }
    CHECK_EQUAL(t, 0, s->batches[1].outbound[1].len);
    CHECK(t, s->batches[0].outbound[1].len > 0); /* it was sent, and may have been added */
}

static void a_report_is_of_one_context(sotto_test *t)
{
    static const char other[] = "next";
    scene *s = scene_of(t, 3);
    uint64_t values[DIMENSION];

    draw(s, values);
    sotto_test_pine_report report = report_of(t, s, values);
    s->pine.context = sotto_bytes_of(other, sizeof other - 1);
    verify(t, s, &report, 1);
    CHECK_EQUAL(t, SOTTO_REJECTED, s->batches[0].status[0]);
    CHECK_EQUAL(t, SOTTO_REJECTED, s->batches[1].status[0]);
}

/* Long reports: they join a few at a time, are added before the answer is there, and what was rejected is taken off. */
static void awaited_reports_are_added_and_taken_off(sotto_test *t)
{
    const sotto_vdaf_server_ops *ops = sotto_method_pine.two_server;
    scene *s = scene_of(t, 4);
    sotto_vdaf_verifier v = {.context = s->pine.context};
    sotto_test_pine_report reports[3];
    sotto_bytes answers[3];
    sotto_vdaf_batch leader = {.room = 3}, alone = {.room = 1};
    sotto_tally all, rejected;

    memcpy(v.verify_key, s->pine.verify_key, sizeof v.verify_key);
    CHECK_OK(t, ops->tally_init(&all, &s->vdaf, &t->arena, &t->err));
    CHECK_OK(t, ops->tally_init(&rejected, &s->vdaf, &t->arena, &t->err));
    for (size_t r = 0; r < 3; r++) {
        uint64_t values[DIMENSION];

        draw(s, values);
        reports[r] = report_of(t, s, values);
        const sotto_vdaf_report one = view(s, &reports[r], 0);
        CHECK_OK(t, ops->leader_join(&s->vdaf, &leader, &v, &one, 1, &t->arena, &t->err));
        CHECK_OK(t, ops->accumulate_awaited(&all, &leader, r, &t->err));
        for (size_t i = 0; i < DIMENSION; i++)
            s->wanted[i] += r == 1 ? 0 : (int64_t)values[i];
    }
    CHECK_EQUAL(t, 3, all.contributions);
    verify(t, s, reports, 3);
    memcpy(answers, s->batches[1].outbound, sizeof answers);
    answers[1].len = 0; /* the helper rejected it */
    CHECK_OK(t, ops->leader_finish(&s->vdaf, &leader, answers, &t->err));
    CHECK_EQUAL(t, SOTTO_REJECTED, leader.status[1]);
    const sotto_vdaf_report again = view(s, &reports[1], 0);
    CHECK_OK(t, ops->leader_join(&s->vdaf, &alone, &v, &again, 1, &t->arena, &t->err));
    CHECK_OK(t, ops->accumulate_awaited(&rejected, &alone, 0, &t->err));
    CHECK_OK(t, ops->take_off(&all, &rejected, &t->err));
    CHECK_EQUAL(t, 2, all.contributions);
    s->batches[1].status[1] = SOTTO_REJECTED;
    ((sotto_pine_verification *)s->batches[1].states)[1].status = SOTTO_REJECTED;
    const int64_t none[DIMENSION] = {0};
    s->batches[0] = leader;
    add_up(t, s, none);
    check_sums(t, s, 2, 0);
    CHECK_STATUS(t, SOTTO_BUG, ops->take_off(&rejected, &all, &t->err));
}

static void shares_that_do_not_belong_together_are_rejected(sotto_test *t)
{
    const sotto_vdaf_server_ops *ops = sotto_method_pine.two_server;
    scene *s = scene_of(t, 5);
    const size_t size = s->vdaf.sizes.out_share;
    uint8_t *leader = sotto_test_take(t, size), *helper = sotto_test_take(t, size);
    sotto_bytes shares[2] = {{leader, size}, {helper, size}};
    sotto_uint128 sums[DIMENSION];

    memset(leader, 0, size);
    memset(helper, 0, size);
    CHECK_OK(t, ops->open(&s->vdaf, sums, shares, 1, 0, &t->err));
    leader[1] = (BOUND + 1) >> 8; /* 768 and 233: 1001, one above what a vector of the bound has */
    leader[0] = (BOUND + 1) & 255;
    CHECK_STATUS(t, SOTTO_REJECTED, ops->open(&s->vdaf, sums, shares, 1, 0, &t->err));
    sotto_err_clear(&t->err);
    CHECK_OK(t, ops->open(&s->vdaf, sums, shares, 2, 0, &t->err));
    CHECK_OK(t, ops->open(&s->vdaf, sums, shares, 1, 1, &t->err)); /* noise may have moved it */
    leader[6] = 1;                                                 /* about 2^48 */
    CHECK_STATUS(t, SOTTO_REJECTED, ops->open(&s->vdaf, sums, shares, 1, 1, &t->err));
    memset(leader, 255, size);
    CHECK_STATUS(t, SOTTO_REJECTED, ops->open(&s->vdaf, sums, shares, 1, 1, &t->err));
    shares[0].len--;
    CHECK_STATUS(t, SOTTO_REJECTED, ops->open(&s->vdaf, sums, shares, 1, 1, &t->err));
}

static void sums_that_could_wrap_are_not_taken(sotto_test *t)
{
    const sotto_tally_ops *ops = sotto_method_pine.tally;
    scene *s = scene_of(t, 6);
    const uint64_t most = sotto_pine_most_reports(BOUND);
    uint8_t *zeros = sotto_test_take(t, s->vdaf.sizes.out_share);
    const sotto_bytes wire = {zeros, s->vdaf.sizes.out_share};
    const int64_t large[1] = {((int64_t)1 << 48) + 1}, negative[1] = {-((int64_t)1 << 48)};
    sotto_tally one, other;

    memset(zeros, 0, wire.len);
    CHECK_OK(t, sotto_method_pine.two_server->tally_init(&one, &s->vdaf, &t->arena, &t->err));
    CHECK_OK(t, sotto_method_pine.two_server->tally_init(&other, &s->vdaf, &t->arena, &t->err));
    CHECK_OK(t, ops->decode(&one, wire, most, &t->err));
    CHECK_OK(t, ops->decode(&other, wire, 1, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, ops->merge(&one, &other, &t->err));
    CHECK_EQUAL(t, most, one.contributions);
    CHECK_STATUS(t, SOTTO_DENIED, ops->decode(&other, wire, most + 1, &t->err));
    CHECK_STATUS(t, SOTTO_BUG, ops->add(&one, 0, large, 1, &t->err));
    CHECK_STATUS(t, SOTTO_BUG, ops->add(&one, DIMENSION, negative, 1, &t->err));
    CHECK_OK(t, ops->add(&one, DIMENSION - 1, negative, 1, &t->err));
    memset(zeros, 255, wire.len);
    CHECK_STATUS(t, SOTTO_MALFORMED, ops->decode(&other, wire, 1, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 ops->decode(&other, sotto_bytes_of(zeros, wire.len - 1), 1, &t->err));
}

static void a_task_names_it_by_a_number_of_the_private_range(sotto_test *t)
{
    static const uint8_t wanted[] = {0xff, 0xff, 0x50, 1, 0, 16,   0, 0, 0xbe, 0xce, 0,
                                     0,    0,    0,    0, 0, 0x80, 0, 0, 0,    1,    0};
    const sotto_vdaf_config narrow = config_of(48846, 32768),
                            wide = config_of(1000000, SOTTO_PINE_FIELD64_BOUND + 1);
    sotto_vdaf_config back;
    uint8_t memory[64];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_vdaf vdaf;

    CHECK_OK(t, sotto_task_vdaf_encode(&out, &narrow, &t->err));
    CHECK_EQUAL(t, sizeof wanted, out.len);
    CHECK_BYTES(t, wanted, out.data, sizeof wanted);
    CHECK_OK(t, sotto_task_vdaf_decode(&back, sotto_buf_bytes(&out), &t->err));
    CHECK(t, back.type == narrow.type && back.length == narrow.length && back.max == narrow.max &&
                 back.chunk_length == narrow.chunk_length && back.shares == 2);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_task_vdaf_decode(&back, sotto_bytes_of(memory, out.len - 1), &t->err));
    memory[3] = 3; /* ffff5003 */
    CHECK_STATUS(t, SOTTO_MISSING, sotto_task_vdaf_decode(&back, sotto_buf_bytes(&out), &t->err));
    CHECK_EQUAL(t, SOTTO_PINE_FIELD128, wide.type);
    CHECK_EQUAL(t, 1024, wide.chunk_length);
    CHECK_OK(t, sotto_vdaf_open(&vdaf, &narrow, &t->arena, &t->err));
    back = config_of(100, SOTTO_PINE_FIELD64_BOUND);
    CHECK_OK(t, sotto_vdaf_open(&vdaf, &back, &t->arena, &t->err));
    back.max++;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_vdaf_open(&vdaf, &back, &t->arena, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(sizes_are_had_without_an_arena),
        CASE(vectors_are_proved_added_and_opened_with_their_signs),
        CASE(a_vector_above_the_bound_is_refused_by_device_and_servers),
        CASE(a_report_is_of_one_context),
        CASE(awaited_reports_are_added_and_taken_off),
        CASE(shares_that_do_not_belong_together_are_rejected),
        CASE(sums_that_could_wrap_are_not_taken),
        CASE(a_task_names_it_by_a_number_of_the_private_range),
    };
    return RUN_TESTS(argc, argv, cases);
}
