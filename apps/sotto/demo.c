/* sotto demo - devices, a leader and a helper in one process: real shards, real proofs, real sums. */
#include "terminal.h"
#include "verbs.h"

#include "sotto/random.h"
#include "sotto/vdaf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BUCKETS = 12, BATCH = 64, DEFAULT_DEVICES = 50000, CHEATS_IN = 200 };

static const char *const labels[BUCKETS] = {
    "under 10 min", "10-20", "20-30", "30-45", "45-60", "1 h",
    "1.5 h",        "2 h",   "3 h",   "4 h",   "5 h",   "6 h or more",
};

/* Out of 256 devices, how many have at most this bucket: a made-up population. */
static const uint8_t population[BUCKETS] = {6, 15, 29, 52, 84, 125, 166, 201, 227, 243, 251, 255};

typedef struct options {
    uint64_t devices;
    bool json;
} options;

/* Both servers see only their own half: `leader` and `helper` share nothing but messages. */
typedef struct demo {
    options options;
    sotto_prio3 vdaf;
    sotto_arena tables, device, leader_job, helper_job;
    sotto_prio3_verifier leader, helper;
    sotto_prio3_agg leader_sum, helper_sum;
    uint64_t truth[BUCKETS]; /* what honest devices measured; no server ever has this */
    uint64_t cheats;
    uint64_t malformed, rejected; /* as the leader counts them */
} demo;

/* One batch of reports on its way from devices to servers. */
typedef struct batch {
    size_t count;
    uint8_t public_shares[BATCH][64];
    uint8_t leader_shares[BATCH][1024];
    uint8_t helper_shares[BATCH][64];
    sotto_prio3_report to_leader[BATCH], to_helper[BATCH];
} batch;

static uint64_t pick_bucket(uint8_t draw)
{
    uint64_t bucket = 0;

    while (bucket + 1 < BUCKETS && draw > population[bucket])
        bucket++;
    return bucket;
}

/* A cheat changes a byte of what it sends to the leader: of its measurement, its proof, or the top of an
 * element, which then is none. */
static void cheat(demo *d, uint8_t *leader_share, uint8_t draw)
{
    size_t at[3] = {0, 16 * (BUCKETS + 1), 15};

    if (draw % 3 == 2)
        memset(leader_share, 0xff, 16);
    else
        leader_share[at[draw % 3]] ^= 1;
    d->cheats++;
}

/* What one device does: measure, split, prove. */
static sotto_status answer(demo *d, batch *b, sotto_err *err)
{
    struct {
        uint8_t nonce[SOTTO_PRIO3_NONCE_SIZE];
        uint8_t rand[128];
        uint8_t draws[4];
    } fresh;
    size_t i = b->count;
    sotto_buf public_share = sotto_buf_over(b->public_shares[i], sizeof b->public_shares[i]);
    sotto_buf shares[2] = {sotto_buf_over(b->leader_shares[i], sizeof b->leader_shares[i]),
                           sotto_buf_over(b->helper_shares[i], sizeof b->helper_shares[i])};

    SOTTO_TRY(sotto_random_bytes(&fresh, sizeof fresh, err));
    uint64_t bucket = pick_bucket(fresh.draws[0]);
    SOTTO_TRY(sotto_prio3_shard(&d->vdaf, &public_share, shares, d->leader.context,
                                (sotto_measurement){&bucket, 1}, fresh.nonce,
                                sotto_bytes_of(fresh.rand, d->vdaf.sizes.rand), &d->device, err));
    sotto_arena_reset(&d->device);
    if ((fresh.draws[1] << 8 | fresh.draws[2]) % CHEATS_IN == 0)
        cheat(d, b->leader_shares[i], fresh.draws[3]);
    else
        d->truth[bucket]++;

    memcpy(b->to_leader[i].nonce, fresh.nonce, sizeof fresh.nonce);
    b->to_leader[i].public_share = sotto_buf_bytes(&public_share);
    b->to_leader[i].input_share = sotto_buf_bytes(&shares[0]);
    b->to_helper[i] = b->to_leader[i];
    b->to_helper[i].input_share = sotto_buf_bytes(&shares[1]);
    b->count++;
    sotto_wipe(&fresh, sizeof fresh);
    return SOTTO_OK;
}

/* What the two servers do with a batch: one message each way, then each adds up its own half. */
static sotto_status aggregate(demo *d, const batch *b, sotto_err *err)
{
    sotto_prio3_verification leader[BATCH], helper[BATCH];
    sotto_bytes to_helper[BATCH], to_leader[BATCH];

    SOTTO_TRY(sotto_ping_pong_leader_init(&d->vdaf, leader, to_helper, &d->leader, b->to_leader,
                                          b->count, &d->leader_job, err));
    SOTTO_TRY(sotto_ping_pong_helper_init(&d->vdaf, helper, to_leader, &d->helper, b->to_helper,
                                          to_helper, b->count, &d->helper_job, err));
    for (size_t i = 0; i < b->count; i++)
        d->malformed += leader[i].status == SOTTO_MALFORMED;
    /* A report the helper refused has no answer; the leader refuses it too. */
    SOTTO_TRY(sotto_ping_pong_leader_continued(&d->vdaf, leader, to_leader, b->count, err));
    for (size_t i = 0; i < b->count; i++)
        d->rejected += helper[i].status == SOTTO_REJECTED;
    SOTTO_TRY(sotto_prio3_accumulate(&d->vdaf, &d->leader_sum, leader, b->count, err));
    SOTTO_TRY(sotto_prio3_accumulate(&d->vdaf, &d->helper_sum, helper, b->count, err));
    sotto_arena_reset(&d->leader_job);
    sotto_arena_reset(&d->helper_job);
    return SOTTO_OK;
}

static sotto_status run_devices(demo *d, sotto_err *err)
{
    static batch b;
    sotto_progress progress = {"devices answer", d->options.devices, d->options.json, 0};

    for (uint64_t done = 0; done < d->options.devices; done++) {
        SOTTO_TRY(answer(d, &b, err));
        if (b.count == BATCH || done + 1 == d->options.devices) {
            SOTTO_TRY(aggregate(d, &b, err));
            b.count = 0;
            sotto_progress_show(&progress, done + 1);
        }
    }
    sotto_progress_end(&progress);
    return SOTTO_OK;
}

/* The collector puts the two halves together: the only moment anybody sees a sum. */
static sotto_status collect(demo *d, sotto_uint128 answer[BUCKETS], sotto_err *err)
{
    uint8_t halves[2][16 * BUCKETS];
    sotto_buf bufs[2] = {sotto_buf_over(halves[0], sizeof halves[0]),
                         sotto_buf_over(halves[1], sizeof halves[1])};

    SOTTO_TRY(sotto_prio3_agg_encode(&d->vdaf, &bufs[0], &d->leader_sum, err));
    SOTTO_TRY(sotto_prio3_agg_encode(&d->vdaf, &bufs[1], &d->helper_sum, err));
    sotto_bytes shares[2] = {sotto_buf_bytes(&bufs[0]), sotto_buf_bytes(&bufs[1])};
    return sotto_prio3_unshard(&d->vdaf, answer, shares, d->leader_sum.reports, err);
}

static void print_answer(const demo *d, const sotto_uint128 *answer, double seconds)
{
    uint64_t largest = 1;
    bool exact = d->leader_sum.reports == d->helper_sum.reports;

    for (size_t i = 0; i < BUCKETS; i++) {
        largest = answer[i].low > largest ? answer[i].low : largest;
        exact = exact && answer[i].low == d->truth[i];
    }
    printf("\nScreen time yesterday, %" PRIu64 " simulated devices\n\n", d->options.devices);
    for (size_t i = 0; i < BUCKETS; i++)
        sotto_bar_print(labels[i], answer[i].low, largest, 40);
    printf("\n  accepted   %8" PRIu64
           "   counted by both servers, each holding half of every answer\n"
           "  malformed  %8" PRIu64 "   not even field elements: refused by the leader\n"
           "  rejected   %8" PRIu64 "   the proof does not hold: refused by the helper\n",
           d->leader_sum.reports, d->malformed, d->rejected);
    printf("  cheats     %8" PRIu64 "   made by the demo: each changed one byte of its share\n\n",
           d->cheats);
    printf("%s\n", exact ? "The sum equals what the honest devices measured."
                         : "The sum DIFFERS from what the honest devices measured.");
    printf("%.1f s, %.0f reports/s on one core: split, proved, checked twice and added.\n", seconds,
           (double)d->options.devices / seconds);
    printf("Not in this demo yet: noise, sealing and the network. The sum is exact.\n");
}

static void print_json(const demo *d, const sotto_uint128 *answer, double seconds)
{
    printf("{\"devices\":%" PRIu64 ",\"accepted\":%" PRIu64 ",\"malformed\":%" PRIu64
           ",\"rejected\":%" PRIu64 ",\"cheats\":%" PRIu64 ",\"seconds\":%.3f,\"histogram\":[",
           d->options.devices, d->leader_sum.reports, d->malformed, d->rejected, d->cheats,
           seconds);
    for (size_t i = 0; i < BUCKETS; i++)
        printf("%s%" PRIu64, i ? "," : "", answer[i].low);
    printf("],\"truth\":[");
    for (size_t i = 0; i < BUCKETS; i++)
        printf("%s%" PRIu64, i ? "," : "", d->truth[i]);
    printf("]}\n");
}

static sotto_status prepare(demo *d, sotto_err *err)
{
    static const uint8_t context[] = "sotto demo";
    sotto_prio3_config config = {.type = SOTTO_PRIO3_HISTOGRAM,
                                 .shares = 2,
                                 .length = BUCKETS,
                                 .chunk_length = sotto_prio3_best_chunk_length(BUCKETS, 1)};

    SOTTO_TRY(sotto_prio3_init(&d->vdaf, &d->tables, &config, err));
    SOTTO_TRY(sotto_prio3_agg_init(&d->vdaf, &d->leader_sum, &d->tables, err));
    SOTTO_TRY(sotto_prio3_agg_init(&d->vdaf, &d->helper_sum, &d->tables, err));
    SOTTO_TRY(sotto_random_bytes(d->leader.verify_key, sizeof d->leader.verify_key, err));
    d->leader.context = sotto_bytes_of(context, sizeof context - 1);
    d->helper = d->leader; /* both hold the verification key; clients never do */
    d->helper.aggregator = 1;
    return SOTTO_OK;
}

static double now(void)
{
    struct timespec t;

    (void)timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static sotto_status play(demo *d, sotto_err *err)
{
    sotto_uint128 answer[BUCKETS];
    double start = now();

    SOTTO_TRY(prepare(d, err));
    SOTTO_TRY(run_devices(d, err));
    SOTTO_TRY(collect(d, answer, err));
    (d->options.json ? print_json : print_answer)(d, answer, now() - start);
    for (size_t i = 0; i < BUCKETS; i++)
        if (answer[i].low != d->truth[i] || answer[i].high != 0)
            return sotto_fail(err, SOTTO_BUG, "bucket %zu: the sum is not the honest devices'", i);
    return SOTTO_OK;
}

static int parse(int argc, char **argv, options *o)
{
    *o = (options){DEFAULT_DEVICES, false};
    for (int i = 1; i < argc; i++) {
        char *end = NULL;

        if (strcmp(argv[i], "--json") == 0) {
            o->json = true;
        } else if (strcmp(argv[i], "--devices") == 0 && i + 1 < argc && argv[i + 1][0] != '-') {
            o->devices = strtoull(argv[++i], &end, 10);
            if (*end || o->devices == 0 || o->devices > 100000000) {
                (void)fprintf(stderr, "sotto demo: --devices takes a number from 1 to 100000000\n");
                return EXIT_USAGE;
            }
        } else {
            (void)fprintf(stderr, "sotto demo: what is '%s'? See `sotto demo --help`\n", argv[i]);
            return EXIT_USAGE;
        }
    }
    return EXIT_DONE;
}

static int run(int argc, char **argv)
{
    static demo d;
    sotto_err err = {0};
    int code = parse(argc, argv, &d.options);

    if (code != EXIT_DONE)
        return code;
    sotto_arena_init(&d.tables, (size_t)1 << 20);
    sotto_arena_init(&d.device, (size_t)1 << 20);
    sotto_arena_init(&d.leader_job, (size_t)8 << 20);
    sotto_arena_init(&d.helper_job, (size_t)8 << 20);
    if (play(&d, &err) != SOTTO_OK) {
        (void)fprintf(stderr, "sotto demo: %s: %s\n", sotto_status_name(err.status), err.reason);
        code = EXIT_FAILED;
    }
    sotto_arena_clear(&d.tables);
    sotto_arena_clear(&d.device);
    sotto_arena_clear(&d.leader_job);
    sotto_arena_clear(&d.helper_job);
    return code;
}

const sotto_verb sotto_verb_demo = {
    .name = "demo",
    .summary = "simulated devices, a leader and a helper in one process: a histogram nobody saw "
               "the parts of",
    .usage =
        "usage: sotto demo [--devices N] [--json]\n\n"
        "Simulates N devices (50000). Each splits its answer in two and proves it valid; a leader "
        "and "
        "a\n"
        "helper check every proof and add up their halves; the collector puts the sums together. "
        "About\n"
        "one device in 200 cheats and is found out.\n",
    .run = run,
};
