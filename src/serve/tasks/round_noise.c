#include "serve/tasks/round_noise.h"

#include "base/rule.h"
#include "crypto/hash.h"
#include "crypto/keystream.h"
#include "noise/blt_noise.h"
#include "noise/tree.h"
#include "recipe/learning_correlated.h"
#include "sotto/random.h"

#include <inttypes.h>
#include <string.h>

/* With buffers a row has the digest of the seed of the round before, among those whose noise its own takes away. */
enum {
    SEED = SOTTO_KEYSTREAM_SEED,
    DIGEST = 32,
    LINKED = SEED + DIGEST,
    SEALED = LINKED + SOTTO_COLUMN_OVERHEAD
};

/* Rounds whose seeds are kept, and that of this task. */
typedef struct kept {
    const sotto_server_task *task;
    const sotto_column_keys *keys;
    uint64_t *rounds; /* ascending; one more than count */
    uint8_t (*seeds)[LINKED];
    size_t count;
    sotto_keystream stream; /* of the round that is drawn now */
} kept;

static sotto_bytes recipe_of(const sotto_server_task *task)
{
    return sotto_bytes_of(task->recipe->hash, sizeof task->recipe->hash);
}

static size_t kept_size(const sotto_server_task *task)
{
    return sotto_learning_buffered(task->learning) ? LINKED : SEED;
}

/* A seed is bound to its recipe and round. */
typedef struct place {
    uint8_t name[SOTTO_RECIPE_HASH_SIZE + 8];
    sotto_column_place column;
} place;

static void place_of(place *out, const sotto_server_task *task, uint64_t round)
{
    sotto_buf name = sotto_buf_over(out->name, sizeof out->name);
    sotto_writer w = sotto_writer_on(&name);

    sotto_write_bytes(&w, recipe_of(task));
    sotto_write_uint(&w, round, 8);
    out->column =
        (sotto_column_place){"round_noise", "seed", sotto_bytes_of(out->name, sizeof out->name)};
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static sotto_status count_seeds(sotto_tx *tx, kept *k, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT count(*) FROM round_noise WHERE recipe = ?1 AND round < ?2"
                                " AND length(seed) > 0",
                                err));
    sotto_sql_bytes(&q, 1, recipe_of(k->task));
    sotto_sql_int(&q, 2, (int64_t)k->task->round);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    k->count = row ? (size_t)sotto_sql_column_int(&q, 0) : 0;
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status open_seed(const kept *k, size_t i, sotto_bytes sealed, sotto_err *err)
{
    const size_t size = kept_size(k->task);
    sotto_buf out = sotto_buf_over(k->seeds[i], size);
    place at;

    place_of(&at, k->task, k->rounds[i]);
    SOTTO_TRY(sotto_column_unseal(&out, k->keys, &at.column, sealed, err));
    return out.len == size ? SOTTO_OK
                           : sotto_fail(err, SOTTO_REJECTED, "a seed of another length is kept");
}

/* The round's own seed is not among them: it is drawn anew each time. */
static sotto_status read_seeds(sotto_tx *tx, kept *k, sotto_arena *arena, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(count_seeds(tx, k, err));
    k->rounds = sotto_arena_take_array(arena, k->count + 1, sizeof *k->rounds);
    k->seeds = sotto_arena_take_array(arena, k->count + 1, sizeof *k->seeds);
    if (!k->rounds || !k->seeds)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for the noise of earlier rounds");
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT round, seed FROM round_noise WHERE recipe = ?1 AND round <"
                                " ?2 AND length(seed) > 0 ORDER BY round LIMIT ?3",
                                err));
    sotto_sql_bytes(&q, 1, recipe_of(k->task));
    sotto_sql_int(&q, 2, (int64_t)k->task->round);
    sotto_sql_int(&q, 3, (int64_t)k->count);
    k->count = 0;
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    for (; row; k->count++) {
        k->rounds[k->count] = (uint64_t)sotto_sql_column_int(&q, 0);
        SOTTO_TRY(open_seed(k, k->count, sotto_sql_column_bytes(&q, 1), err));
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

/* In the row of the round. One that another task wrote stays as it is. */
static sotto_status keep_seed(sotto_tx *tx, const kept *k, sotto_err *err)
{
    uint8_t memory[SEALED];
    sotto_buf sealed = sotto_buf_over(memory, sizeof memory);
    uint64_t changed;
    sotto_sql q;
    place at;

    place_of(&at, k->task, k->task->round);
    SOTTO_TRY(sotto_column_seal(&sealed, k->keys, &at.column,
                                sotto_bytes_of(k->seeds[k->count], kept_size(k->task)), err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO round_noise (recipe, round, task, seed) VALUES"
                                " (?1, ?2, ?3, ?4) ON CONFLICT (recipe, round) DO UPDATE"
                                " SET seed = excluded.seed WHERE round_noise.task = excluded.task",
                                err));
    sotto_sql_bytes(&q, 1, recipe_of(k->task));
    sotto_sql_int(&q, 2, (int64_t)k->task->round);
    sotto_sql_int(&q, 3, k->task->n);
    sotto_sql_bytes(&q, 4, sotto_buf_bytes(&sealed));
    SOTTO_TRY(sotto_sql_run(&q, &changed, err));
    if (SOTTO_RULE(correlated_node_is_one_tasks) && changed == 0)
        return sotto_fail(err, SOTTO_DENIED,
                          "round %" PRIu64 " was released by another task of its recipe",
                          k->task->round);
    return SOTTO_OK;
}

/* Nothing needs it: its noise was taken away when an earlier round was released, or stays. Its row stays, so that its round is not released
 * again. */
static sotto_status erase_seed(sotto_tx *tx, const kept *k, uint64_t round, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "UPDATE round_noise SET seed = ?3 WHERE recipe = ?1 AND round = ?2", err));
    sotto_sql_bytes(&q, 1, recipe_of(k->task));
    sotto_sql_int(&q, 2, (int64_t)round);
    sotto_sql_bytes(&q, 3, sotto_bytes_of(NULL, 0));
    return sotto_sql_erase(&q, NULL, err);
}

/* ---- which are left ----------------------------------------------------------------------------------------------- */

/* Those that earlier rounds have not taken away yet move to the front, with their seeds. */
static sotto_status leave_live(sotto_tx *tx, kept *k, sotto_tree_nodes *live, sotto_arena *arena,
                               sotto_err *err)
{
    const size_t all = k->count;
    size_t left = 0;

    live->rounds = sotto_arena_take_array(arena, all + 1, sizeof *live->rounds);
    live->count = 0;
    if (!live->rounds)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for the noise of earlier rounds");
    for (size_t i = 0; i < all; i++)
        sotto_tree_release(live, k->task->learning->restart, k->rounds[i]);
    for (size_t i = 0; i < all; i++) {
        if (left < live->count && k->rounds[i] == live->rounds[left]) {
            memmove(k->seeds[left], k->seeds[i], LINKED);
            k->rounds[left++] = k->rounds[i];
        } else {
            SOTTO_TRY(erase_seed(tx, k, k->rounds[i], err));
        }
    }
    k->count = left;
    return SOTTO_OK;
}

/* What names a seed in the row of the round after it. */
static void digest_of(uint8_t out[DIGEST], const kept *k, size_t i)
{
    sotto_hash_once(out, SOTTO_SHA256, sotto_bytes_of(k->seeds[i], SEED));
}

/* The digest that the round after the first `count` has to have: zeros after none. */
static void link_after(uint8_t out[DIGEST], const kept *k, size_t count)
{
    memset(out, 0, DIGEST);
    if (count > 0)
        digest_of(out, k, count - 1);
}

/* Noise by buffers can be drawn again if it is known what it took away. So a round counts if it saw exactly the rounds before it that
 * count. One that did not, because a replica released another at the same moment, or one before it was made anew, stays in the model. */
static sotto_status leave_chain(sotto_tx *tx, kept *k, sotto_err *err)
{
    const size_t all = k->count;
    size_t left = 0;

    for (size_t i = 0; i < all; i++) {
        uint8_t wanted[DIGEST];

        link_after(wanted, k, left);
        if (SOTTO_RULE(buffers_follow_what_they_saw) &&
            !sotto_bytes_equal(sotto_bytes_of(k->seeds[i] + SEED, sizeof wanted),
                               sotto_bytes_of(wanted, sizeof wanted))) {
            SOTTO_TRY(erase_seed(tx, k, k->rounds[i], err));
            continue;
        }
        memmove(k->seeds[left], k->seeds[i], LINKED);
        k->rounds[left++] = k->rounds[i];
    }
    k->count = left;
    return SOTTO_OK;
}

/* ---- drawing ------------------------------------------------------------------------------------------------------ */

static sotto_status fill(void *context, void *out, size_t len, sotto_err *err)
{
    return sotto_keystream_next(context, out, len, err);
}

sotto_status sotto_round_noise_place(size_t *at, const uint64_t *rounds, size_t count,
                                     uint64_t round, sotto_err *err)
{
    *at = 0;
    while (*at + 1 < count && rounds[*at] != round)
        ++*at;
    if (SOTTO_RULE(correlated_seed_of_its_node) && rounds[*at] != round)
        return sotto_fail(err, SOTTO_BUG, "no seed of round %" PRIu64 " is kept", round);
    return SOTTO_OK;
}

/* A seed is for one node, and its stream is drawn from its beginning whenever that node is needed. */
static sotto_status start_node(void *context, sotto_entropy *out, uint64_t round, sotto_err *err)
{
    kept *k = context;
    size_t i;

    SOTTO_TRY(sotto_round_noise_place(&i, k->rounds, k->count + 1, round, err));
    SOTTO_TRY(sotto_keystream_seed(&k->stream, k->seeds[i], err));
    sotto_entropy_init(out, fill, &k->stream);
    return SOTTO_OK;
}

typedef struct summing {
    sotto_tally *tally;
    const sotto_method *method;
} summing;

static sotto_status add_to_sum(void *context, size_t first, const int64_t *values, size_t count,
                               sotto_err *err)
{
    summing *s = context;

    return s->method->tally->add(s->tally, first, values, count, err);
}

/* Parts of a stream are far apart: each has 2^32 blocks, and draws a few thousand. What a seed gives is for good: seeds outlive an upgrade
 * (docs/decisions/0301). */
static sotto_status start_part(void *context, sotto_entropy *out, size_t index, uint64_t part,
                               sotto_err *err)
{
    kept *k = context;

    SOTTO_TRY(sotto_keystream_seek(&k->stream, k->seeds[index], part << 32, err));
    sotto_entropy_init(out, fill, &k->stream);
    return SOTTO_OK;
}

static sotto_status draw(kept *k, const sotto_tree_nodes *live, sotto_tally *tally, sotto_err *err)
{
    const sotto_server_task *task = k->task;
    const sotto_learning *l = task->learning;
    const size_t numbers = task->vdaf.sizes.outputs;
    summing sum = {tally, task->method};
    const sotto_tree_source nodes = {start_node, k};
    const sotto_blt_source rounds = {start_part, k};
    const sotto_tree_sink sink = {add_to_sum, &sum};

    SOTTO_TRY(sotto_random_bytes(k->seeds[k->count], SEED, err));
    link_after(k->seeds[k->count] + SEED, k, k->count);
    k->rounds[k->count] = task->round;
    sotto_status status = sotto_keystream_init(&k->stream, err);
    if (status == SOTTO_OK && sotto_learning_buffered(l))
        status = sotto_blt_redraw(&l->blt, task->noise, numbers, k->rounds, k->count + 1, &rounds,
                                  &sink, err);
    else if (status == SOTTO_OK)
        status = sotto_tree_add_noise(task->noise, numbers, live, l->restart, task->round, &nodes,
                                      &sink, err);
    sotto_keystream_clear(&k->stream);
    return status;
}

sotto_status sotto_round_noise_add(sotto_tx *tx, sotto_tally *tally, const sotto_server_task *task,
                                   const sotto_column_keys *keys, sotto_arena *arena,
                                   sotto_err *err)
{
    kept k = {.task = task, .keys = keys};
    sotto_tree_nodes live = {NULL, 0};
    sotto_status status = read_seeds(tx, &k, arena, err);
    const size_t all = k.count;

    if (status == SOTTO_OK)
        status = sotto_learning_buffered(task->learning) ? leave_chain(tx, &k, err)
                                                         : leave_live(tx, &k, &live, arena, err);
    if (status == SOTTO_OK)
        status = draw(&k, &live, tally, err);
    if (status == SOTTO_OK)
        status = keep_seed(tx, &k, err);
    if (k.seeds)
        sotto_wipe(k.seeds, (all + 1) * sizeof *k.seeds);
    return status;
}

sotto_status sotto_round_noise_may(sotto_tx *tx, bool *may, const sotto_server_task *task,
                                   sotto_err *err)
{
    sotto_sql q;
    bool row;

    *may = true;
    if (!sotto_learning_correlated(task->learning))
        return SOTTO_OK;
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT task FROM round_noise WHERE recipe = ?1 AND round = ?2", err));
    sotto_sql_bytes(&q, 1, recipe_of(task));
    sotto_sql_int(&q, 2, (int64_t)task->round);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *may = !row || sotto_sql_column_int(&q, 0) == task->n;
    return row ? sotto_sql_run(&q, NULL, err) : SOTTO_OK;
}

/* A row may go before those of rounds within its node: a second task of its round is then free to be released. It would take the noise of
 * those rounds away once more, and devices paid for once. */
static sotto_status erase_session(sotto_tx *tx, int64_t task, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "UPDATE round_noise SET seed = ?2 WHERE length(seed) > 0 AND recipe"
                                " IN (SELECT recipe FROM round_noise WHERE task = ?1)",
                                err));
    sotto_sql_int(&q, 1, task);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(NULL, 0));
    return sotto_sql_erase(&q, NULL, err);
}

sotto_status sotto_round_noise_forget(sotto_tx *tx, int64_t task, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(erase_session(tx, task, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "DELETE FROM round_noise WHERE task = ?1", err));
    sotto_sql_int(&q, 1, task);
    return sotto_sql_erase(&q, NULL, err);
}
