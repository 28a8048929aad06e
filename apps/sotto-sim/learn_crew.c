/* Threads that take devices of a round one at a time, and rows to evaluate a block at a time; those of all ranks together, where ranks have
 * a counter. All they add up are integers, so their number changes nothing. */
#define _POSIX_C_SOURCE 200809L
#include "learn.h"

#include "learn/random.h"
#include "sim/random.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { EVALUATED = 256 };

typedef struct shift {
    learn_run *run;
    atomic_size_t *next;
    sotto_status (*take)(learn_hand *hand, size_t item, sotto_err *err);
    size_t items;
} shift;

typedef struct worker {
    shift *shift;
    learn_hand *hand;
    pthread_t thread;
} worker;

void learn_entropy(sotto_entropy *out, struct sotto_sim_random *random, uint64_t seed)
{
    sotto_sim_random_init(random, seed);
    sotto_entropy_init(out, sotto_sim_random_fill, random);
}

static void *work(void *context)
{
    worker *w = context;
    learn_hand *h = w->hand;

    while (h->status == SOTTO_OK) {
        const size_t item = atomic_fetch_add(w->shift->next, 1);

        if (item >= w->shift->items)
            break;
        h->status = w->shift->take(h, item, &h->err);
    }
    return NULL;
}

static sotto_status run_shift(learn_run *run, size_t items,
                              sotto_status (*take)(learn_hand *, size_t, sotto_err *),
                              sotto_err *err)
{
    const size_t count = (size_t)run->options->threads;
    atomic_size_t *shared = sotto_ranks_counter(&run->ranks), own = 0;
    shift s = {.run = run, .next = shared ? shared : &own, .take = take, .items = items};
    worker workers[LEARN_THREADS] = {{.shift = &s, .hand = &run->hands[0]}};
    size_t started = 0;

    for (size_t i = 0; i < count; i++) {
        workers[i] = (worker){.shift = &s, .hand = &run->hands[i]};
        run->hands[i].status = SOTTO_OK;
        run->hands[i].err = (sotto_err){0};
    }
    while (started + 1 < count &&
           pthread_create(&workers[started + 1].thread, NULL, work, &workers[started + 1]) == 0)
        started++;
    (void)work(&workers[0]);
    for (size_t i = 1; i <= started; i++)
        (void)pthread_join(workers[i].thread, NULL);
    for (size_t i = 0; i < count; i++)
        if (run->hands[i].status != SOTTO_OK)
            return sotto_fail(err, run->hands[i].status, "%s", run->hands[i].err.reason);
    return SOTTO_OK;
}

/* ---- devices ------------------------------------------------------------------------------------------------------ */

/* By its own coin, as a device does: in each round with the same chance; or once in a tree, in a round that it draws. */
static bool takes_part(const learn_run *run, uint64_t device, uint64_t round)
{
    const learn_options *o = run->options;
    const bool tree = o->algorithm == LEARN_FTRL && !o->blt;
    uint64_t state =
        sotto_learn_seed(sotto_learn_seed(o->seed ^ UINT64_C(0x636f696e), tree ? round / o->restart
                                                                          : o->blt ? 0
                                                                                   : round),
                         device);

    if (o->blt) /* always in the same turn, so that its rounds are as far apart as turns are long */
        return round / run->slots < run->pattern.participations &&
               sotto_learn_number(&state) % run->slots == round % run->slots;
    if (tree)
        return sotto_learn_number(&state) % run->slots == round % o->restart;
    return (double)(sotto_learn_number(&state) >> 11) * 0x1p-53 <
           run->cohort / (double)run->dataset.users;
}

static sotto_status add_bit(learn_hand *h, const int64_t *update, sotto_entropy *entropy,
                            sotto_err *err)
{
    sotto_one_bit_report report;

    SOTTO_TRY(sotto_one_bit_draw(&h->run->one_bit, &report, update, entropy, err));
    sotto_one_bit_add(&h->run->one_bit, h->sum, &report);
    return SOTTO_OK;
}

/* Of an empty slot: the randomizer on zeros. Where noise is on the sum, it covers dummies too. */
static sotto_status take_dummy(learn_hand *h, size_t i, sotto_err *err)
{
    const learn_run *run = h->run;
    const size_t which = learn_ranks_item(run, i);
    sotto_sim_random random;
    sotto_entropy entropy;

    if (!run->options->one_bit)
        return SOTTO_OK;
    learn_entropy(&entropy, &random,
                  sotto_learn_seed(sotto_learn_seed(run->options->seed ^ UINT64_C(0x64756d6d79),
                                                    run->session.round),
                                   which));
    return add_bit(h, NULL, &entropy, err);
}

/* As a device shapes it (device/answer/shape.h): projected by the round's matrix, or as it is. */
static sotto_status shape(learn_hand *h, sotto_err *err)
{
    if (h->run->options->project > 0)
        return sotto_projection_apply(&h->run->projection, h->update, h->delta, err);
    for (size_t i = 0; i < h->run->numbers; i++)
        h->update[i] = (double)h->delta[i];
    return SOTTO_OK;
}

/* All that a device needs to know of a round's matrix is public. */
sotto_status learn_projection_begin(learn_run *run, sotto_err *err)
{
    uint8_t seed[SOTTO_PROJECTION_SEED] = {0};

    if (run->options->project == 0)
        return SOTTO_OK;
    for (size_t i = 0; i < 8; i++)
        seed[i] = (uint8_t)(run->options->seed >> 8 * i);
    return sotto_projection_init(&run->projection, run->model.parameters, run->numbers, seed,
                                 run->session.round, err);
}

static sotto_status take_device(learn_hand *h, size_t item, sotto_err *err)
{
    const learn_run *run = h->run;
    const learn_options *o = run->options;
    if (item >= run->chosen_count)
        return take_dummy(h, item - run->chosen_count, err);
    const uint32_t device = run->chosen[item];
    const uint64_t seed = sotto_learn_seed(sotto_learn_seed(o->seed, run->session.round), device);
    const size_t first = (size_t)run->firsts[device];
    const size_t count = (size_t)run->firsts[device + 1] - first;
    const sotto_examples examples = sotto_dataset_rows(&run->dataset, first, count);
    const sotto_training training = {(size_t)o->epochs, (size_t)o->batch, o->rate, o->clip, seed};
    sotto_training_facts facts;
    sotto_sim_random random;
    sotto_entropy entropy;
    uint64_t weight = 0;

    sotto_train(&h->learner, run->session.weights, &examples, &training, h->delta, &facts);
    SOTTO_TRY(shape(h, err));
    learn_entropy(&entropy, &random, seed ^ UINT64_C(0x726f756e64));
    SOTTO_TRY(
        sotto_update_encode(&run->update, h->integers, &weight, h->update, count, &entropy, err));
    h->weight += weight;
    h->devices++;
    h->failed += facts.failed;
    if (o->one_bit)
        return add_bit(h, h->integers, &entropy, err);
    if (o->shares)
        return learn_shares_add(h, &entropy, err);
    sotto_update_add(h->sum, h->integers, run->numbers);
    return SOTTO_OK;
}

/* The round's sum over all threads and ranks, from wherever this rank has come to. */
static sotto_status gather_round(learn_run *run, sotto_status status, sotto_err *err)
{
    const size_t count = run->numbers;
    int64_t *facts = run->sum + count;

    memset(run->sum, 0, (count + LEARN_FACTS) * sizeof *run->sum);
    for (size_t i = 0; i < run->options->threads; i++) {
        sotto_update_add(run->sum, run->hands[i].sum, count);
        facts[0] += (int64_t)run->hands[i].weight;
        facts[1] += (int64_t)run->hands[i].devices;
        facts[2] += (int64_t)run->hands[i].failed;
    }
    /* A rank opens its own part: what it opens are integers, and they add up to the sum of all. */
    if (status == SOTTO_OK && run->options->shares)
        status = learn_shares_sum(run, err);
    SOTTO_TRY(learn_ranks_gather(run, status, run->sum, count + LEARN_FACTS, err));
    run->weight = (uint64_t)facts[0];
    run->devices = (uint64_t)facts[1];
    run->failed = (uint64_t)facts[2];
    return SOTTO_OK;
}

sotto_status learn_crew_round(learn_run *run, sotto_err *err)
{
    const size_t count = run->numbers;

    SOTTO_TRY(learn_projection_begin(run, err));
    run->chosen_count = run->dummies = 0;
    if (run->options->schedule)
        learn_checkin_choose(run);
    for (size_t i = 0; !run->options->schedule && i < run->dataset.users; i++)
        if (takes_part(run, i, run->session.round))
            run->chosen[run->chosen_count++] = (uint32_t)i;
    if (run->chosen_count > run->update.config.most)
        return sotto_fail(err, SOTTO_TOO_LARGE, "%zu devices: more than a sum has room for",
                          run->chosen_count);
    learn_ranks_divide(run);
    for (size_t i = 0; i < run->options->threads; i++) {
        learn_hand *h = &run->hands[i];

        h->weight = h->devices = h->failed = 0;
        memset(h->sum, 0, count * sizeof *h->sum);
        if (run->options->shares) {
            memset(h->leader, 0, run->pine.sizes.out_share);
            memset(h->helper, 0, run->pine.sizes.out_share);
        }
    }
    const sotto_status status = run_shift(run, run->chosen_count + run->dummies, take_device, err);

    return gather_round(run, status, err);
}

/* ---- evaluation --------------------------------------------------------------------------------------------------- */

static sotto_status take_rows(learn_hand *h, size_t item, sotto_err *err)
{
    const learn_run *run = h->run;
    const size_t first = learn_ranks_item(run, item) * EVALUATED, left = run->dataset.test - first;
    /* A longer loss is cut to this, so that the sum of all blocks fits, whatever the model says. */
    const int64_t most = INT64_MAX / (int64_t)(run->dataset.test / EVALUATED + 1);
    const sotto_examples examples = sotto_dataset_rows(&run->dataset, run->dataset.training + first,
                                                       left < EVALUATED ? left : EVALUATED);
    sotto_score score = {0};

    (void)err;
    sotto_model_gradient(&h->learner, run->session.weights, &examples, NULL, 0, examples.count,
                         NULL, &score);
    /* A sum of integers: the same in any order. */
    h->loss += fabs(score.loss) * 0x1p32 < (double)most ? llround(score.loss * 0x1p32) : most;
    h->right += score.right;
    h->answers += score.answers;
    return SOTTO_OK;
}

sotto_status learn_crew_evaluate(learn_run *run, double *loss, double *accuracy, sotto_err *err)
{
    const size_t blocks = (run->dataset.test + EVALUATED - 1) / EVALUATED;
    int64_t sums[3] = {0}; /* loss, right answers, answers */

    for (size_t i = 0; i < run->options->threads; i++)
        run->hands[i].loss = 0, run->hands[i].right = run->hands[i].answers = 0;
    const sotto_status status = run_shift(run, learn_ranks_part(run, blocks), take_rows, err);
    for (size_t i = 0; i < run->options->threads; i++) {
        sums[0] += run->hands[i].loss;
        sums[1] += (int64_t)run->hands[i].right;
        sums[2] += (int64_t)run->hands[i].answers;
    }
    SOTTO_TRY(learn_ranks_gather(run, status, sums, 3, err));
    *loss = sums[2] ? (double)sums[0] * 0x1p-32 / (double)sums[2] : 0;
    *accuracy = sums[2] ? (double)sums[1] / (double)sums[2] : 0;
    return SOTTO_OK;
}

/* ---- memory -------------------------------------------------------------------------------------------------------- */

sotto_status learn_crew_open(learn_run *run, sotto_err *err)
{
    const size_t count = run->numbers;

    run->chosen = sotto_arena_take_array(&run->arena, run->dataset.users, sizeof *run->chosen);
    run->sum = sotto_arena_take_array(&run->arena, count + LEARN_FACTS, sizeof *run->sum);
    if (!run->chosen || !run->sum)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for %zu devices", run->dataset.users);
    SOTTO_TRY(learn_ranks_open(run, err));
    if (run->options->shares)
        SOTTO_TRY(learn_shares_open(run, err));
    for (size_t i = 0; i < run->options->threads; i++) {
        learn_hand *h = &run->hands[i];

        h->run = run;
        sotto_arena_init(&h->arena, (size_t)1 << 31);
        sotto_arena_init(&h->scratch, (size_t)1 << 31);
        SOTTO_TRY(
            sotto_learner_init(&h->learner, &run->model, run->dataset.largest, &h->arena, err));
        h->delta = sotto_arena_take_array(&h->arena, run->model.parameters, sizeof *h->delta);
        h->update = sotto_arena_take_array(&h->arena, count, sizeof *h->update);
        h->integers = sotto_arena_take_array(&h->arena, count, sizeof *h->integers);
        h->sum = sotto_arena_take_array(&h->arena, count, sizeof *h->sum);
        if (!h->delta || !h->update || !h->integers || !h->sum)
            return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for thread %zu", i);
        if (run->options->shares)
            SOTTO_TRY(learn_shares_open_hand(h, err));
    }
    return SOTTO_OK;
}

void learn_crew_close(learn_run *run)
{
    for (size_t i = 0; i < LEARN_THREADS; i++) {
        sotto_arena_clear(&run->hands[i].arena);
        sotto_arena_clear(&run->hands[i].scratch);
    }
}
