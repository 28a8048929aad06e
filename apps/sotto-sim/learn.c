#define _POSIX_C_SOURCE 200809L
#include "learn.h"

#include "base/file.h"
#include "crypto/hash.h"
#include "learn/random.h"
#include "sim/random.h"
#include "terminal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int complain(const learn_run *run, const sotto_err *err)
{
    if (!run->ranks.silent)
        (void)fprintf(stderr, "sotto sim learn: %s\n", err->reason);
    return sotto_exit_code(err->status, SOTTO_AT_DATA);
}

/* ---- set-up ---------------------------------------------------------------------------------------------------------- */

static sotto_status load_data(learn_run *run, uint8_t digest[32], sotto_err *err)
{
    sotto_bytes file;

    SOTTO_TRY(sotto_file_read(&file, run->options->data, UINT64_C(1) << 34, &run->arena, err));
    SOTTO_TRY(sotto_dataset_decode(&run->dataset, file, err));
    sotto_hash_once(digest, SOTTO_SHA256, file);
    run->firsts = sotto_arena_take_array(&run->arena, run->dataset.users + 1, sizeof *run->firsts);
    if (!run->firsts)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for %zu users", run->dataset.users);
    sotto_dataset_firsts(&run->dataset, run->firsts);
    return SOTTO_OK;
}

/* Once for all rounds: training itself looks at nothing. */
static sotto_status check_training(const learn_run *run, sotto_err *err)
{
    const learn_options *o = run->options;
    const sotto_training training = {(size_t)o->epochs, (size_t)o->batch, o->rate, o->clip,
                                     o->seed};
    const sotto_examples all =
        sotto_dataset_rows(&run->dataset, 0, run->dataset.training + run->dataset.test);

    SOTTO_TRY(sotto_training_check(&training, err));
    return sotto_examples_check(&all, &run->model, err);
}

static sotto_status choose_numbers(learn_run *run, sotto_err *err)
{
    const uint64_t project = run->options->project;

    run->numbers = project > 0 ? (size_t)project : run->model.parameters;
    if (project == 0)
        return SOTTO_OK;
    run->lifted = sotto_arena_take_array(&run->arena, run->model.parameters, sizeof *run->lifted);
    if (!run->lifted)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a sum");
    return learn_projection_begin(run, err);
}

/* A device's chance, and the public number that sums are divided by. */
static void choose_cohort(learn_run *run)
{
    const learn_options *o = run->options;
    const double users = (double)run->dataset.users;
    const double wanted = fmin((double)o->cohort, users);

    run->cohort = wanted;
    if (o->schedule)
        run->cohort = sotto_schedule_divisor(&run->schedule, 0);
    if (o->algorithm == LEARN_FTRL) {
        const double least = (double)(o->blt ? o->separation : o->restart);

        run->slots = (uint64_t)fmax(least, ceil(users / wanted));
        run->cohort = users / (double)run->slots;
    }
}

/* Devices take part in every turn of `slots` rounds, or in as many as stated. */
static sotto_status choose_correlation(learn_run *run, sotto_err *err)
{
    const learn_options *o = run->options;

    if (!o->blt)
        return SOTTO_OK;
    const uint64_t turns = (o->rounds + run->slots - 1) / run->slots;
    run->pattern = (sotto_blt_pattern){
        o->rounds, run->slots,
        o->participations && o->participations < turns ? o->participations : turns};
    return sotto_blt_choose(&run->blt, &run->pattern, err);
}

/* Once the deviation of the noise is known. */
static sotto_status open_correlation(learn_run *run, sotto_err *err)
{
    const sotto_update *u = &run->update;

    if (!run->options->blt)
        return SOTTO_OK;
    SOTTO_TRY(sotto_blt_noise_init(&run->buffered, &run->blt, run->options->rounds,
                                   run->model.parameters, u->sigma, &run->arena, err));
    if ((double)u->config.most * u->length + run->buffered.reach >= 0x1p62)
        return sotto_fail(err, SOTTO_DENIED, "--scale: a sum with its noise does not fit");
    return SOTTO_OK;
}

/* 2^14 integers in a clip: with a noise of one clip, rounding adds less than a millionth to it. With much noise, fewer do. */
double learn_scale(const learn_options *o, double noise)
{
    return o->scale > 0 ? o->scale : 16384 / o->clip * fmin(1, 30 / fmax(noise, 1));
}

static sotto_status choose_update(learn_run *run, sotto_err *err)
{
    const learn_options *o = run->options;
    const sotto_update_config config = {
        .dimension = run->numbers,
        .weights = o->weights,
        .cap = o->weights == SOTTO_WEIGHTS_COUNT ? run->dataset.largest : o->cap,
        .clip = o->clip,
        .scale = learn_scale(o, o->noise),
        .multiplier = o->noise,
        .draws = o->algorithm == LEARN_FTRL && !o->blt ? sotto_tree_levels(o->restart) : 1,
        .most = run->dataset.users,
        .bits = 62};

    return sotto_update_init(&run->update, &config, &run->arena, err);
}

/* All that changes the result, but for the number of threads and the way sums are made, which do not. */
static sotto_status begin_session(learn_run *run, const uint8_t digest[32], sotto_err *err)
{
    const learn_options *o = run->options;
    char text[1024];
    int len = snprintf(
        text, sizeof text,
        "%s %d %d %d cohort %.17g min %llu epochs %llu batch %llu cap %llu restart %llu "
        "rate %.17g clip %.17g noise %.17g scale %.17g server %.17g %.17g %.17g every %llu "
        "seed %llu schedule %d %d %d slots %llu %llu %.17g local %.17g rate %.17g %.17g data ",
        o->model, (int)o->algorithm, (int)o->weights, (int)o->step.optimizer, run->cohort,
        (unsigned long long)o->min_cohort, (unsigned long long)o->epochs,
        (unsigned long long)o->batch, (unsigned long long)o->cap, (unsigned long long)o->restart,
        o->rate, o->clip, o->noise, run->update.config.scale, o->step.rate, o->step.decay,
        o->step.momentum, (unsigned long long)o->evaluate, (unsigned long long)o->seed,
        (int)o->schedule, (int)o->one_bit, (int)o->step_size, (unsigned long long)o->slots,
        (unsigned long long)o->per_step, o->check_in, o->local_epsilon, o->diameter, o->smooth);

    /* The noise of a round follows from the whole plan. */
    if (o->blt && len > 0 && (size_t)len < sizeof text)
        len += snprintf(text + len, sizeof text - (size_t)len, "blt %llu %llu %llu ",
                        (unsigned long long)run->pattern.rounds,
                        (unsigned long long)run->pattern.separation,
                        (unsigned long long)run->pattern.participations);
    for (size_t j = 0; o->blt && len > 0 && (size_t)len < sizeof text && j < SOTTO_BLT_BUFFERS; j++)
        len += snprintf(text + len, sizeof text - (size_t)len, "%lld %lld ",
                        (long long)run->blt.decay[j], (long long)run->blt.weight[j]);
    if (o->project > 0 && len > 0 && (size_t)len < sizeof text)
        len += snprintf(text + len, sizeof text - (size_t)len, "project %llu ",
                        (unsigned long long)o->project);
    if (len < 0 || (size_t)len + 32 > sizeof text)
        return sotto_fail(err, SOTTO_BUG, "options that are too long");
    memcpy(text + len, digest, 32);
    return sotto_session_init(&run->session, &run->model, &o->step,
                              sotto_bytes_of(text, (size_t)len + 32), o->seed, LEARN_POINTS,
                              &run->arena, err);
}

static sotto_status resume(learn_run *run, sotto_err *err)
{
    sotto_status status;

    if (!run->options->checkpoint || run->ranks.rank > 0)
        return SOTTO_OK;
    status = sotto_session_load(&run->session, run->options->checkpoint, &run->arena, err);
    if (status != SOTTO_MISSING)
        return status;
    sotto_err_clear(err);
    return SOTTO_OK;
}

static sotto_status set_up(learn_run *run, sotto_err *err)
{
    const learn_options *o = run->options;
    uint8_t digest[32];

    SOTTO_TRY(load_data(run, digest, err));
    SOTTO_TRY(sotto_dataset_model(&run->model, &run->dataset, run->options->model, err));
    SOTTO_TRY(choose_numbers(run, err));
    SOTTO_TRY(check_training(run, err));
    SOTTO_TRY(learn_checkin_plan(run, err));
    choose_cohort(run);
    SOTTO_TRY(choose_correlation(run, err));
    SOTTO_TRY(learn_noise_find(run, err));
    SOTTO_TRY(choose_update(run, err));
    SOTTO_TRY(open_correlation(run, err));
    SOTTO_TRY(sotto_step_check(&o->step, o->algorithm == LEARN_FTRL, err));
    SOTTO_TRY(begin_session(run, digest, err));
    SOTTO_TRY(learn_checkin_open(run, err));
    SOTTO_TRY(learn_crew_open(run, err));
    return resume(run, err);
}

/* ---- rounds ---------------------------------------------------------------------------------------------------------- */

typedef struct node_source {
    sotto_sim_random random;
    uint64_t seed, restart; /* rounds of a tree; 1: noise of rounds by themselves */
} node_source;

/* A seed is of its tree, level, and place in the level. Checkpoints go on with these. */
static sotto_status start_node(void *context, sotto_entropy *out, uint64_t round, sotto_err *err)
{
    node_source *n = context;
    uint64_t level = 0, t = round % n->restart + 1, seed;

    (void)err;
    for (; t % 2 == 0; t /= 2)
        level++;
    seed = sotto_learn_seed(sotto_learn_seed(n->seed, round / n->restart), level);
    learn_entropy(out, &n->random, sotto_learn_seed(seed, t - 1));
    return SOTTO_OK;
}

static sotto_status add_to_sum(void *sum, size_t first, const int64_t *values, size_t count,
                               sotto_err *err)
{
    (void)err;
    sotto_update_add((int64_t *)sum + first, values, count);
    return SOTTO_OK;
}

/* Every round is released, the burnt ones with zeros. So as many nodes are left as a tree has levels, at most. */
static sotto_status add_tree(learn_run *run, node_source *n, sotto_err *err)
{
    const uint64_t round = run->session.round, restart = run->options->restart;
    const sotto_tree_source source = {start_node, n};
    const sotto_tree_sink sink = {add_to_sum, run->sum};
    uint64_t rounds[64];
    sotto_tree_nodes nodes = {rounds, 0};

    for (uint64_t before = round - round % restart; before < round; before++)
        sotto_tree_release(&nodes, restart, before);
    return sotto_tree_add_noise(&run->update.noise, run->numbers, &nodes, restart, round, &source,
                                &sink, err);
}

/* Buffers are in no checkpoint: those of earlier rounds are drawn again. */
static sotto_status add_buffered(learn_run *run, node_source *n, sotto_err *err)
{
    sotto_status status = SOTTO_OK;

    for (; status == SOTTO_OK && run->buffered_rounds <= run->session.round;
         run->buffered_rounds++) {
        sotto_entropy entropy;

        SOTTO_TRY(start_node(n, &entropy, run->buffered_rounds, err));
        status = sotto_blt_noise_add(&run->buffered,
                                     run->buffered_rounds == run->session.round ? run->sum : NULL,
                                     &entropy, err);
        sotto_entropy_clear(&entropy);
    }
    return status;
}

static sotto_status add_noise(learn_run *run, sotto_err *err)
{
    const learn_options *o = run->options;
    const bool tree = o->algorithm == LEARN_FTRL && !o->blt;
    node_source n = {.seed = o->seed ^ UINT64_C(0x6e6f697365), .restart = tree ? o->restart : 1};
    sotto_entropy entropy;

    if (o->blt)
        return add_buffered(run, &n, err);
    if (tree)
        return add_tree(run, &n, err);
    SOTTO_TRY(start_node(&n, &entropy, run->session.round, err));
    const sotto_status status = sotto_update_add_noise(&run->update, run->sum, &entropy, err);
    sotto_entropy_clear(&entropy);
    return status;
}

static sotto_status evaluate(learn_run *run, sotto_err *err)
{
    double loss, accuracy;

    if (run->session.point_count == LEARN_POINTS || run->dataset.test == 0)
        return SOTTO_OK;
    float *kept = learn_checkin_show(run);
    const sotto_status status = learn_crew_evaluate(run, &loss, &accuracy, err);
    learn_checkin_unshow(run, kept);
    SOTTO_TRY(status);
    return sotto_session_note(&run->session, loss, accuracy, err);
}

/* A released sum as the step takes it. */
static sotto_status lift(learn_run *run, const int64_t **out, sotto_err *err)
{
    *out = run->options->project > 0 ? run->lifted : run->sum;
    return run->options->project > 0
               ? sotto_projection_lift(&run->projection, run->lifted, run->sum, err)
               : SOTTO_OK;
}

/* A step of a schedule: what it is divided by is public, or a theorem covers it. */
static sotto_status close_scheduled(learn_run *run, sotto_err *err)
{
    const double divisor = learn_checkin_divisor(run);
    const int64_t *sum;

    learn_checkin_before_step(run);
    if (divisor <= 0) {
        sotto_session_burn_round(&run->session);
        return SOTTO_OK;
    }
    SOTTO_TRY(add_noise(run, err));
    SOTTO_TRY(lift(run, &sum, err));
    sotto_session_close_round(&run->session, sum, 1 / (run->update.config.scale * divisor),
                              run->devices);
    learn_checkin_after_step(run);
    return SOTTO_OK;
}

static sotto_status close_sampled(learn_run *run, sotto_err *err)
{
    const learn_options *o = run->options;
    const bool counts = o->weights == SOTTO_WEIGHTS_COUNT;
    sotto_session *s = &run->session;

    /* A sum of few devices is not released. Correlated noise has to be, or it would not cancel. Where epsilon is claimed, a
     * round without devices is released like any other: that there were none must not be seen. */
    const int64_t *sum;
    const bool hidden = o->noise > 0 && o->min_cohort <= 1;
    const bool burns = (!hidden && run->devices < o->min_cohort) || (counts && run->weight == 0);
    if (burns && o->algorithm == LEARN_FTRL)
        memset(run->sum, 0, run->numbers * sizeof *run->sum);
    if (burns && o->algorithm != LEARN_FTRL) {
        sotto_session_burn_round(s);
    } else {
        SOTTO_TRY(add_noise(run, err));
        SOTTO_TRY(lift(run, &sum, err));
        sotto_session_close_round(
            s, sum, 1 / (run->update.config.scale * (counts ? (double)run->weight : run->cohort)),
            burns ? 0 : run->devices);
    }
    return SOTTO_OK;
}

static sotto_status one_round(learn_run *run, sotto_err *err)
{
    const learn_options *o = run->options;
    sotto_session *s = &run->session;

    SOTTO_TRY(learn_crew_round(run, err));
    SOTTO_TRY(o->schedule ? close_scheduled(run, err) : close_sampled(run, err));
    if (s->round % o->evaluate == 0 || s->round == o->rounds)
        SOTTO_TRY(evaluate(run, err));
    return o->checkpoint && run->ranks.rank == 0
               ? sotto_session_save(s, o->checkpoint, &run->arena, NULL, NULL, err)
               : SOTTO_OK;
}

static sotto_status run_rounds(learn_run *run, sotto_err *err)
{
    sotto_progress progress = {
        .what = "rounds", .total = run->options->rounds, .quiet = run->options->quiet};
    sotto_status status = SOTTO_OK;

    if (run->session.round == 0 && run->session.point_count == 0)
        status = evaluate(run, err);
    while (status == SOTTO_OK && run->session.round < run->options->rounds) {
        status = learn_ranks_compare(run, one_round(run, err), err);
        sotto_progress_show(&progress, run->session.round);
    }
    sotto_progress_end(&progress);
    return status;
}

static double now(void)
{
    struct timespec t = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int train(learn_run *run)
{
    sotto_err err = {0};

    if (learn_ranks_begin(run, set_up(run, &err), &err) != SOTTO_OK)
        return complain(run, &err);
    const double begun = now();
    learn_show_begin(run);
    if (run_rounds(run, &err) != SOTTO_OK)
        return complain(run, &err);
    (void)learn_checkin_show(run); /* what is exported, too */
    return run->ranks.rank == 0 ? learn_show_end(run, now() - begun) : EXIT_DONE;
}

int sim_verb_learn(int argc, char **argv)
{
    static learn_run run; /* as large as all threads' places together */
    learn_options options;
    sotto_err err = {0};
    int code = sotto_ranks_open(&run.ranks, &err) == SOTTO_OK ? EXIT_DONE : complain(&run, &err);

    if (code == EXIT_DONE)
        code = learn_options_read(&options, &run.ranks, argc, argv);
    if (code == EXIT_DONE) {
        run.options = &options;
        sotto_arena_init(&run.arena, SIZE_MAX / 2);
        code = train(&run);
        learn_crew_close(&run);
        sotto_arena_clear(&run.arena);
    }
    sotto_ranks_close(&run.ranks);
    return code;
}
