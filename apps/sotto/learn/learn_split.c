#include "learn_data.h"

#include "base/file.h"
#include "learn/random.h"

#include <math.h>
#include <string.h>

/* ---- Dirichlet ------------------------------------------------------------------------------------------------------- */

static double unit(uint64_t *state)
{
    return ((double)(sotto_learn_number(state) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    return sqrt(-2 * log(unit(state))) * cos(2 * 3.14159265358979323846 * unit(state));
}

/* Gamma with that shape (by the method of Marsaglia and Tsang, of 2000); below 1 by the power of a uniform number. */
static double gamma_of(double shape, uint64_t *state)
{
    const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / sqrt(9 * d);
    const double below = shape < 1 ? pow(unit(state), 1 / shape) : 1;

    for (;;) {
        const double x = normal(state), v = pow(1 + c * x, 3);

        if (v > 0 && log(unit(state)) < x * x / 2 + d - d * v + d * log(v))
            return d * v * below;
    }
}

/* Rows of a class go to users by their parts of it, one after the other. */
static void deal(learn_rows *rows, const double *part, double whole, uint8_t class_of)
{
    size_t count = 0, at = 0, user = 0;
    double reached = part[0];

    for (size_t i = 0; i < rows->training; i++)
        count += rows->labels[i] == class_of;
    for (size_t i = 0; i < rows->training; i++) {
        if (rows->labels[i] != class_of)
            continue;
        while (user + 1 < rows->users && ((double)at + 0.5) / (double)count > reached / whole)
            reached += part[++user];
        rows->owner[i] = (uint32_t)user;
        at++;
    }
}

sotto_status learn_split_dirichlet(learn_rows *rows, uint64_t users, double alpha, uint64_t seed,
                                   sotto_arena *arena, sotto_err *err)
{
    double *part = sotto_arena_take_array(arena, (size_t)users, sizeof *part);

    rows->users = (size_t)users;
    rows->owner = sotto_arena_take_array(arena, rows->training, sizeof *rows->owner);
    if (!part || !rows->owner)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for %zu users", rows->users);
    for (size_t c = 0; c < rows->classes; c++) {
        uint64_t state = sotto_learn_seed(seed, c);
        double whole = 0;

        for (size_t u = 0; u < rows->users; u++)
            whole += part[u] = gamma_of(alpha, &state);
        deal(rows, part, whole, (uint8_t)c);
    }
    return SOTTO_OK;
}

/* ---- the file ---------------------------------------------------------------------------------------------------------- */

/* Where each training row goes, users one after the other; counts has the rows of each. */
static uint32_t *places_of(const learn_rows *rows, uint32_t *counts, sotto_arena *arena)
{
    uint32_t *next = sotto_arena_take_array(arena, rows->users, sizeof *next);
    uint32_t *place = sotto_arena_take_array(arena, rows->training, sizeof *place);
    uint32_t at = 0;

    if (!next || !place)
        return NULL;
    for (size_t i = 0; i < rows->training; i++)
        counts[rows->owner[i]]++;
    for (size_t u = 0; u < rows->users; u++) {
        next[u] = at;
        at += counts[u];
    }
    for (size_t i = 0; i < rows->training; i++)
        place[i] = next[rows->owner[i]]++;
    return place;
}

sotto_status learn_split_write(const learn_rows *rows, const char *path, sotto_arena *arena,
                               sotto_err *err)
{
    const size_t all = rows->training + rows->test, width = rows->height * rows->width;
    sotto_dataset d = {.kind = rows->labels ? SOTTO_DATASET_BYTES : SOTTO_DATASET_SYMBOLS,
                       .classes = rows->classes,
                       .height = rows->height,
                       .width = rows->width,
                       .users = rows->users,
                       .training = rows->training,
                       .test = rows->test};
    const size_t head = sotto_dataset_head_size(&d);
    uint32_t *counts = sotto_arena_take_array(arena, rows->users, sizeof *counts);
    uint32_t *place = counts ? places_of(rows, counts, arena) : NULL;
    uint8_t *labels = sotto_arena_take(arena, all),
            *file = sotto_arena_take(arena, head + all * width);
    sotto_dataset check;

    if (!place || !labels || !file)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for %zu rows", all);
    for (size_t i = 0; i < all; i++) {
        const size_t to = i < rows->training ? place[i] : i;

        if (rows->labels)
            labels[to] = rows->labels[i];
        memcpy(file + head + to * width, rows->values + i * width, width);
    }
    d.labels = sotto_bytes_of(labels, rows->labels ? all : 0);
    sotto_buf buf = sotto_buf_over(file, head);
    SOTTO_TRY(sotto_dataset_encode(&d, counts, &buf, err));
    const sotto_bytes whole = sotto_bytes_of(file, head + all * width);
    SOTTO_TRY(sotto_dataset_decode(&check, whole, err)); /* what is written can be read */
    return sotto_file_write(path, whole, NULL, NULL, err);
}
