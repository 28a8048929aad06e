/* Made-up digits: a font of 5 by 7 dots, drawn by many hands on 28 by 28 pixels. Whoever has no data can train on them. */
#include "learn_digits.h"

#include "base/arena.h"
#include "learn/random.h"

#include <math.h>
#include <string.h>

enum { SIDE = 28, DIGITS = 10, DOTS_HIGH = 7, DOTS_WIDE = 5 };

/* A row of dots is five bits, the leftmost the highest. */
static const uint8_t font[DIGITS][DOTS_HIGH] = {
    {14, 17, 19, 21, 25, 17, 14}, {4, 12, 4, 4, 4, 4, 14},  {14, 17, 1, 2, 4, 8, 31},
    {31, 2, 4, 2, 1, 17, 14},     {2, 6, 10, 18, 31, 2, 2}, {31, 16, 30, 1, 1, 17, 14},
    {6, 8, 16, 30, 17, 17, 14},   {31, 1, 2, 4, 8, 8, 8},   {14, 17, 17, 14, 17, 17, 14},
    {14, 17, 17, 15, 1, 2, 12}};

typedef struct hand {
    double size, slant, pen; /* of a person */
} hand;

static double between(uint64_t *state, double low, double high)
{
    return low + (high - low) * (double)(sotto_learn_number(state) >> 11) * 0x1p-53;
}

/* How much ink a dot of the font leaves at a distance from it. */
static double ink(double dx, double dy, double pen)
{
    const double reach = 1.3 * pen - sqrt(dx * dx + dy * dy);

    return reach <= 0 ? 0 : reach >= 1 ? 1 : reach;
}

static void draw(uint8_t out[SIDE * SIDE], unsigned digit, const hand *h, uint64_t *state)
{
    const double x0 = 14 + between(state, -2.5, 2.5), y0 = 14 + between(state, -2.5, 2.5),
                 size = h->size * between(state, 0.92, 1.08);

    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            double dark = 0;

            for (int r = 0; r < DOTS_HIGH; r++)
                for (int c = 0; c < DOTS_WIDE; c++)
                    if (font[digit][r] >> (DOTS_WIDE - 1 - c) & 1) {
                        const double dy = (r - 3) * size, dx = (c - 2) * size - h->slant * dy;

                        dark = fmax(dark, ink(x - x0 - dx, y - y0 - dy, h->pen));
                    }
            dark = 230 * dark + between(state, 0, 25);
            out[y * SIDE + x] = (uint8_t)dark;
        }
}

sotto_status learn_digits_make(sotto_dataset *out, size_t users, size_t rows, size_t test,
                               uint64_t seed, sotto_arena *arena, sotto_err *err)
{
    const size_t all = users * rows + test;
    uint8_t *counts = sotto_arena_take(arena, 4 * users), *labels = sotto_arena_take(arena, all),
            *pixels = sotto_arena_take_array(arena, all, (size_t)SIDE * SIDE);
    hand h = {0};

    if (!counts || !labels || !pixels)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for %zu devices", users);
    for (size_t i = 0; i < all; i++) {
        uint64_t state = sotto_learn_seed(seed, 2 * i + 1);

        if (i >= users * rows || i % rows == 0) { /* another person */
            uint64_t person = sotto_learn_seed(seed, 2 * i);

            h.size = between(&person, 2.3, 3.3);
            h.slant = between(&person, -0.35, 0.35);
            h.pen = between(&person, 1.1, 1.9);
        }
        labels[i] = (uint8_t)sotto_learn_below(&state, DIGITS);
        draw(pixels + i * SIDE * SIDE, labels[i], &h, &state);
    }
    for (size_t i = 0; i < users; i++)
        for (unsigned b = 0; b < 4; b++)
            counts[4 * i + b] = (uint8_t)(rows >> (24 - 8 * b));
    *out = (sotto_dataset){.kind = SOTTO_DATASET_BYTES,
                           .classes = DIGITS,
                           .height = SIDE,
                           .width = SIDE,
                           .users = users,
                           .training = users * rows,
                           .test = test,
                           .counts = sotto_bytes_of(counts, 4 * users),
                           .labels = sotto_bytes_of(labels, all),
                           .rows = sotto_bytes_of(pixels, all * SIDE * SIDE),
                           .largest = rows};
    return SOTTO_OK;
}
