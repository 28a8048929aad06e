#include "sim/discover.h"

#include "base/arena.h"
#include "base/writer.h"
#include "sim/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512 };

/* ---- by the fast path -------------------------------------------------------------------------------------------- */

static sotto_status take_all(sotto_sim_worker *worker, const sotto_sim_words *d, sotto_err *err)
{
    sotto_sim_device devices[BLOCK];
    sotto_value values[BLOCK];
    const int64_t time = INT64_MIN;

    for (size_t first = 0; first < d->devices; first += BLOCK) {
        const size_t count = d->devices - first < BLOCK ? d->devices - first : BLOCK;

        for (size_t i = 0; i < count; i++) {
            const char *word = d->words[d->of[first + i]];

            values[i] =
                (sotto_value){SOTTO_TYPE_TEXT, {.text = sotto_bytes_of(word, strlen(word))}};
            devices[i] = (sotto_sim_device){1, &values[i], &time, NULL};
        }
        SOTTO_TRY(sotto_worker_take(worker, first, devices, count, err));
    }
    return SOTTO_OK;
}

static sotto_status ask_devices(double **counts, size_t *count, sotto_trial *trial,
                                const sotto_sim_words *d, sotto_arena *arena, sotto_err *err)
{
    const sotto_field *f = trial->table.fields;
    const sotto_field field = {f ? f[0].name : "", SOTTO_TYPE_TEXT};
    sotto_sim_worker *worker = NULL;
    sotto_sim_outcome outcome;
    sotto_status status = sotto_trial_type(trial, &field, err);

    if (status == SOTTO_OK)
        status = sotto_worker_open(&worker, trial, err);
    if (status == SOTTO_OK)
        status = take_all(worker, d, err);
    if (status == SOTTO_OK)
        status = sotto_trial_end(&outcome, trial, &worker, 1, 0, 0.95, arena, err);
    if (status == SOTTO_OK) {
        *count = outcome.result.count;
        *counts = sotto_arena_take_array(arena, *count + 1, sizeof **counts);
        for (size_t i = 0; *counts && i < *count; i++)
            (*counts)[i] = outcome.result.bins[i].count;
        if (!*counts)
            status = sotto_fail(err, SOTTO_NO_MEMORY, "%zu counts", *count);
    }
    sotto_worker_close(worker);
    return status;
}

static sotto_status one_round(sotto_search *s, const sotto_search_round *round,
                              const sotto_sim_words *d, sotto_bytes frame_text, sotto_bytes policy,
                              uint64_t seed, sotto_arena *arena, sotto_err *err)
{
    sotto_mistakes *mistakes = sotto_arena_take(arena, sizeof *mistakes);
    const sotto_recipe *frame;
    sotto_trial trial;
    sotto_bytes text;
    double *counts;
    size_t count;

    if (!mistakes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a round");
    SOTTO_TRY(sotto_recipe_read(&frame, frame_text, arena, mistakes, err));
    SOTTO_TRY(sotto_search_recipe(&text, s, round, frame, NULL, arena, err));
    sotto_status status = sotto_trial_init(&trial, text, policy, NULL, err);
    if (status != SOTTO_OK && trial.mistakes && trial.mistakes->count > 0)
        status = sotto_fail(err, status, "%s: %s", trial.mistakes->items[0].path,
                            trial.mistakes->items[0].what);
    if (status == SOTTO_OK) {
        sotto_trial_begin(&trial, seed, round->number, true);
        status = ask_devices(&counts, &count, &trial, d, arena, err);
    }
    if (status == SOTTO_OK)
        status = sotto_search_answer(s, round, counts, count, err);
    sotto_trial_clear(&trial);
    return status;
}

sotto_status sotto_sim_discover(sotto_search *s, const sotto_sim_words *devices, sotto_bytes frame,
                                sotto_bytes policy, uint64_t seed, sotto_err *err)
{
    sotto_search_round round;
    sotto_status status = SOTTO_OK;
    sotto_arena arena;

    sotto_arena_init(&arena, (size_t)1 << 30);
    while (status == SOTTO_OK && sotto_search_ask(s, &round, NULL) == SOTTO_OK) {
        status = one_round(s, &round, devices, frame, policy, seed, &arena, err);
        sotto_arena_reset(&arena);
    }
    sotto_arena_clear(&arena);
    return status;
}

/* ---- plainly ------------------------------------------------------------------------------------------------------ */

typedef struct entry {
    const char *text;
    size_t number;
} entry;

static int by_text(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->text, ((const entry *)b)->text);
}

static const entry *find(const entry *sorted, size_t count, const char *text)
{
    const entry key = {text, 0};

    return count > 0 ? bsearch(&key, sorted, count, sizeof key, by_text) : NULL;
}

static double normal(sotto_sim_random *random)
{
    double u[2];

    for (unsigned i = 0; i < 2; i++) {
        uint64_t bits;

        sotto_sim_random_bytes(random, &bits, sizeof bits);
        u[i] = ((double)(bits >> 11) + 0.5) * 0x1p-53;
    }
    return sqrt(-2 * log(u[0])) * cos(2 * 3.14159265358979323846 * u[1]);
}

/* Texts of a round, sorted: heads, or tails, or what was found. */
static entry *list(const sotto_search *s, const sotto_search_round *r, bool tails, size_t count,
                   sotto_arena *arena)
{
    entry *out = sotto_arena_take_array(arena, count + 1, sizeof *out);

    for (size_t i = 0; out && i < count; i++) {
        if (!tails) {
            out[i].text = r->count ? s->found[i].text : s->survivors ? s->survivors[i].text : "";
            out[i].number = i;
            continue;
        }
        char *text = sotto_arena_take(arena, SOTTO_SEARCH_LONGEST * 4 + 8);
        if (!text)
            return NULL;
        sotto_buf buf = sotto_buf_over((uint8_t *)text, SOTTO_SEARCH_LONGEST * 4 + 7);
        sotto_writer w = sotto_writer_on(&buf);
        sotto_search_tail(s, r, i, &w);
        text[buf.len] = 0;
        out[i] = (entry){text, i};
    }
    if (out)
        qsort(out, count, sizeof *out, by_text);
    return out;
}

/* The cell of a word; letters are single bytes here. False: it has none. */
static bool cell_of(size_t *out, const sotto_search_round *r, const char *word, const entry *heads,
                    const entry *tails)
{
    char text[SOTTO_SEARCH_LONGEST + 2], part[SOTTO_SEARCH_LONGEST + 2];
    const size_t len = strlen(word);
    const entry *head = NULL, *tail;

    if (len > SOTTO_SEARCH_LONGEST || (!r->count && len < r->depth))
        return false;
    memcpy(text, word, len);
    memcpy(text + len, r->count ? "" : SOTTO_SEARCH_END, r->count ? 1 : 2);
    if (r->count) {
        tail = find(tails, r->tails, text);
        *out = tail ? tail->number + 1 : 0;
        return true;
    }
    memcpy(part, text, r->depth);
    part[r->depth] = 0;
    if (r->heads > 0 && !(head = find(heads, r->heads, part)))
        return false;
    const size_t rest = len + 1 - r->depth, cut = rest < r->segment ? rest : r->segment;
    memcpy(part, text + r->depth, cut);
    part[cut] = 0;
    tail = find(tails, r->tails, part);
    if (tail)
        *out = (head ? head->number * r->tails : 0) + tail->number;
    return tail != NULL;
}

static sotto_status plain_round(sotto_search *s, const sotto_search_round *r,
                                const sotto_sim_words *d, sotto_sim_random *random,
                                sotto_arena *arena, sotto_err *err)
{
    double *counts = sotto_arena_take_array(arena, (size_t)r->cells, sizeof *counts);
    entry *heads = list(s, r, false, r->heads, arena),
          *tails = list(s, r, !r->count, r->tails, arena);
    const double deviation = sqrt(2) * (double)r->sigma_milli / 1000;

    if (!counts || !heads || !tails)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a round");
    for (size_t i = 0; i < d->devices; i++) {
        size_t cell;

        if (cell_of(&cell, r, d->words[d->of[i]], heads, tails))
            counts[cell]++;
    }
    for (uint64_t i = 0; i < r->cells; i++)
        counts[i] += floor(deviation * normal(random) + 0.5);
    return sotto_search_answer(s, r, counts, (size_t)r->cells, err);
}

sotto_status sotto_sim_discover_plainly(sotto_search *s, const sotto_sim_words *devices,
                                        uint64_t seed, sotto_err *err)
{
    sotto_search_round round;
    sotto_status status = SOTTO_OK;
    sotto_sim_random random;
    sotto_arena arena;

    sotto_sim_random_init(&random, seed);
    sotto_arena_init(&arena, (size_t)1 << 30);
    while (status == SOTTO_OK && sotto_search_ask(s, &round, NULL) == SOTTO_OK) {
        status = plain_round(s, &round, devices, &random, &arena, err);
        sotto_arena_reset(&arena);
    }
    sotto_arena_clear(&arena);
    return status;
}

/* ---- what was found -------------------------------------------------------------------------------------------------- */

typedef struct counted {
    const char *word;
    uint64_t devices;
} counted;

static int by_devices(const void *a, const void *b)
{
    const counted *x = a, *y = b;

    return x->devices != y->devices ? (x->devices < y->devices ? 1 : -1) : strcmp(x->word, y->word);
}

static int by_word(const void *a, const void *b)
{
    return strcmp(((const counted *)a)->word, ((const counted *)b)->word);
}

/* A list may have a word twice. */
static size_t merge(counted *words, size_t count)
{
    size_t kept = 0;

    qsort(words, count, sizeof *words, by_word);
    for (size_t i = 0; i < count; i++)
        if (kept > 0 && strcmp(words[kept - 1].word, words[i].word) == 0)
            words[kept - 1].devices += words[i].devices;
        else
            words[kept++] = words[i];
    return kept;
}

sotto_status sotto_sim_recall(double *recall, size_t *wrong, const sotto_search *s,
                              const sotto_sim_words *d, size_t most, sotto_err *err)
{
    counted *words = sotto_arena_take_array(s->arena, d->word_count + 1, sizeof *words);
    entry *found = sotto_arena_take_array(s->arena, s->found_count + 1, sizeof *found);
    size_t hit = 0, real = 0;

    if (!words || !found)
        return sotto_fail(err, SOTTO_NO_MEMORY, "%zu words", d->word_count);
    for (size_t i = 0; i < d->word_count; i++)
        words[i].word = d->words[i];
    for (size_t i = 0; i < d->devices; i++)
        words[d->of[i]].devices++;
    for (size_t i = 0; i < s->found_count; i++)
        found[i] = (entry){s->found[i].text, i};
    qsort(found, s->found_count, sizeof *found, by_text);
    const size_t count = merge(words, d->word_count);
    qsort(words, count, sizeof *words, by_devices);
    for (size_t i = 0; i < count && words[i].devices > 0; i++) {
        const bool is_found = find(found, s->found_count, words[i].word) != NULL;

        real += is_found;
        hit += is_found && i < most;
    }
    *recall = (double)hit / (double)most;
    *wrong = s->found_count - real;
    return SOTTO_OK;
}
