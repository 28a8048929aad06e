/* Three devices, a leader and a helper: a sum of vectors that nobody saw the parts of.
 *
 * In life each part runs on its own machine; what crosses between them is marked "-->". */
#include <stdio.h>
#include <string.h>

#include <sotto/random.h>
#include <sotto/vdaf.h>

enum { DEVICES = 3, LENGTH = 4, MOST = 4096 };

/* A report on its way: both servers get the nonce and the public share, each its own input share. */
typedef struct report {
    uint8_t nonce[SOTTO_PRIO3_NONCE_SIZE];
    uint8_t bytes[3][MOST];
    sotto_buf public_share, shares[2];
} report;

static sotto_status device(const sotto_prio3 *vdaf, report *r, sotto_bytes context,
                           const uint64_t values[LENGTH], sotto_err *err)
{
    uint8_t rand[512];
    sotto_arena scratch;

    r->public_share = sotto_buf_over(r->bytes[0], MOST);
    r->shares[0] = sotto_buf_over(r->bytes[1], MOST);
    r->shares[1] = sotto_buf_over(r->bytes[2], MOST);
    sotto_arena_init(&scratch, 1 << 20);
    SOTTO_TRY(sotto_random_bytes(r->nonce, sizeof r->nonce, err));
    SOTTO_TRY(sotto_random_bytes(rand, vdaf->sizes.rand, err));
    sotto_status status = sotto_prio3_shard(vdaf, &r->public_share, r->shares, context,
                                            (sotto_measurement){values, LENGTH}, r->nonce,
                                            sotto_bytes_of(rand, vdaf->sizes.rand), &scratch, err);
    sotto_wipe(rand, sizeof rand);
    sotto_arena_clear(&scratch);
    return status;
}

static sotto_prio3_report received(const report *r, unsigned aggregator)
{
    sotto_prio3_report in = {.public_share = sotto_buf_bytes(&r->public_share),
                             .input_share = sotto_buf_bytes(&r->shares[aggregator])};

    memcpy(in.nonce, r->nonce, sizeof in.nonce);
    return in;
}

static sotto_status servers(const sotto_prio3 *vdaf, sotto_uint128 *sum, const report *reports,
                            sotto_bytes context, sotto_arena *arena, sotto_err *err)
{
    sotto_prio3_verifier leader = {.context = context, .aggregator = 0}, helper;
    sotto_prio3_report to_leader[DEVICES], to_helper[DEVICES];
    sotto_prio3_verification ours[DEVICES], theirs[DEVICES];
    sotto_bytes ping[DEVICES], pong[DEVICES];
    sotto_prio3_agg a, b;
    uint8_t halves[2][16 * LENGTH];
    sotto_buf out[2] = {sotto_buf_over(halves[0], sizeof halves[0]),
                        sotto_buf_over(halves[1], sizeof halves[1])};

    /* Agreed on beforehand, and kept from every device. */
    SOTTO_TRY(sotto_random_bytes(leader.verify_key, sizeof leader.verify_key, err));
    helper = leader;
    helper.aggregator = 1;
    for (size_t i = 0; i < DEVICES; i++) {
        to_leader[i] = received(&reports[i], 0);
        to_helper[i] = received(&reports[i], 1);
    }
    SOTTO_TRY(sotto_prio3_agg_init(vdaf, &a, arena, err));
    SOTTO_TRY(sotto_prio3_agg_init(vdaf, &b, arena, err));

    /* leader --> helper --> leader */
    SOTTO_TRY(
        sotto_ping_pong_leader_init(vdaf, ours, ping, &leader, to_leader, DEVICES, arena, err));
    SOTTO_TRY(sotto_ping_pong_helper_init(vdaf, theirs, pong, &helper, to_helper, ping, DEVICES,
                                          arena, err));
    SOTTO_TRY(sotto_ping_pong_leader_continued(vdaf, ours, pong, DEVICES, err));
    SOTTO_TRY(sotto_prio3_accumulate(vdaf, &a, ours, DEVICES, err));
    SOTTO_TRY(sotto_prio3_accumulate(vdaf, &b, theirs, DEVICES, err));

    /* both --> collector, who checks that they counted the same reports */
    SOTTO_TRY(sotto_prio3_agg_encode(vdaf, &out[0], &a, err));
    SOTTO_TRY(sotto_prio3_agg_encode(vdaf, &out[1], &b, err));
    if (a.reports != b.reports)
        return sotto_fail(err, SOTTO_REJECTED, "the servers added different reports");
    sotto_bytes shares[2] = {sotto_buf_bytes(&out[0]), sotto_buf_bytes(&out[1])};
    return sotto_prio3_unshard(vdaf, sum, shares, a.reports, err);
}

static sotto_status run(sotto_uint128 *sum, sotto_arena *arena, sotto_err *err)
{
    static const uint64_t values[DEVICES][LENGTH] = {
        {1, 2, 3, 4}, {10, 20, 30, 40}, {255, 0, 0, 9}};
    static report reports[DEVICES];
    const sotto_bytes context = sotto_bytes_of("my application", 14);
    const sotto_prio3_config config = {.type = SOTTO_PRIO3_SUM_VEC,
                                       .shares = 2,
                                       .length = LENGTH,
                                       .max = 255,
                                       .chunk_length = sotto_prio3_best_chunk_length(LENGTH, 8)};
    sotto_prio3 vdaf;

    SOTTO_TRY(sotto_prio3_init(&vdaf, arena, &config, err));
    for (size_t i = 0; i < DEVICES; i++)
        SOTTO_TRY(device(&vdaf, &reports[i], context, values[i], err));
    return servers(&vdaf, sum, reports, context, arena, err);
}

int main(void)
{
    sotto_uint128 sum[LENGTH];
    sotto_err err = {SOTTO_OK, ""};
    sotto_arena arena;

    sotto_arena_init(&arena, 1 << 20);
    sotto_status status = run(sum, &arena, &err);
    sotto_arena_clear(&arena);
    if (status != SOTTO_OK) {
        (void)fprintf(stderr, "sum_vec: %s: %s\n", sotto_status_name(status), err.reason);
        return 1;
    }
    for (size_t i = 0; i < LENGTH; i++)
        printf("%llu ", (unsigned long long)sum[i].low);
    printf("\n");
    return sum[0].low == 266 && sum[3].low == 53 ? 0 : 1;
}
