/* Eight columns at a time. Each row keeps a running vector, f_i * r_i^(j+1) for the eight columns j of
 * the block at hand; r_i^8 takes it to the next block. */
#include "math/kernels128.h"
#include "math/lanes128_ifma.h"

enum { LANES = SOTTO_F128_LANES };

/* Bytes from a block of columns to the next but one. Rows are too far apart for the processor to follow them all by itself, above
 * all where a block begins within a cache line. */
enum { AHEAD = 2 * LANES * SOTTO_F128_SIZE, LINE = 64 };

/* Rows that are worked on together. Their sums grow unreduced: in a limb, 5 products of 52 bits a row
 * come to less than 2^63. Their running vectors take 16 KiB, which stay in the nearest cache. */
enum { GROUP = 64 };

typedef struct row {
    sotto_f128x8 running;
    int64_t f[3], step[3], unused[2]; /* f_i and r_i^8, by limbs */
} row;

_Static_assert(sizeof(row) == 4 * sizeof(sotto_v8), "a row's constants are stored as one vector");
_Static_assert(sizeof(row) == 16 * sizeof(sotto_f128), "see sotto_f128_power_sums_scratch");

/* Eight rows, of which `count` are wanted; lanes are rows until the end. */
static void start_rows(row *rows, const sotto_f128 *f, const sotto_f128 *r, size_t count)
{
    sotto_f128x8 adapter = sotto_f128x8_all(sotto_f128x8_adapter());
    sotto_f128x8 factor = sotto_f128x8_load(f, count), r1 = sotto_f128x8_load(r, count);
    sotto_f128x8 power[LANES]; /* f * r^(k+1) */
    sotto_v8 turned[LANES];

    factor = sotto_f128x8_mul(&factor, &adapter);
    r1 = sotto_f128x8_mul(&r1, &adapter);
    sotto_f128x8 r2 = sotto_f128x8_mul(&r1, &r1);
    sotto_f128x8 r4 = sotto_f128x8_mul(&r2, &r2);
    sotto_f128x8 r8 = sotto_f128x8_mul(&r4, &r4);
    power[0] = sotto_f128x8_mul(&factor, &r1);
    power[1] = sotto_f128x8_mul(&factor, &r2);
    for (unsigned k = 0; k < 2; k++)
        power[2 + k] = sotto_f128x8_mul(&power[k], &r2);
    for (unsigned k = 0; k < 4; k++)
        power[4 + k] = sotto_f128x8_mul(&power[k], &r4);

    for (unsigned limb = 0; limb < 3; limb++) {
        for (unsigned k = 0; k < LANES; k++)
            turned[k] = power[k].limb[limb];
        sotto_v8_transpose(turned);
        for (unsigned i = 0; i < LANES; i++)
            rows[i].running.limb[limb] = turned[i];
    }
    for (unsigned limb = 0; limb < 3; limb++) {
        turned[limb] = factor.limb[limb];
        turned[3 + limb] = r8.limb[limb];
    }
    turned[6] = turned[7] = _mm512_setzero_si512();
    sotto_v8_transpose(turned);
    for (unsigned i = 0; i < LANES; i++)
        _mm512_store_si512(rows[i].f, turned[i]);
}

static inline sotto_f128x8 constant(const int64_t limbs[3])
{
    return (sotto_f128x8){{sotto_v8_of(limbs[0]), sotto_v8_of(limbs[1]), sotto_v8_of(limbs[2])}};
}

/* Adds the block of `rows` rows to even and odd. `left` is the number of elements from m to the matrix's
 * end. A lane past a row's end reads the next row, which is harmless since nobody uses its sums; but
 * nothing reads past the matrix. */
static inline void sum_rows(sotto_f128x8_acc *even_out, sotto_f128x8_acc *odd_out, row *rows,
                            size_t count, const uint8_t *m, size_t width, size_t left, bool advance)
{
    sotto_f128x8_acc even = sotto_f128x8_acc_zero(), odd = even;

    for (size_t i = 0; i < count; i++, m += width * SOTTO_F128_SIZE, left -= width) {
        sotto_f128x8 x = sotto_f128x8_load(m, left);
        sotto_f128x8 f = constant(rows[i].f);

        __builtin_prefetch(m + AHEAD);
        __builtin_prefetch(m + AHEAD + LINE);
        sotto_f128x8_acc_mul(&even, &x, &rows[i].running);
        sotto_f128x8_acc_mul(&odd, &x, &f);
        if (advance) {
            sotto_f128x8 step = constant(rows[i].step);

            rows[i].running = sotto_f128x8_mul(&rows[i].running, &step);
        }
    }
    *even_out = even;
    *odd_out = odd;
}

/* Reduces the sums of up to eight columns and adds them to every second element of out. */
static void settle(sotto_f128 *out, const sotto_f128x8_acc *acc, size_t columns)
{
    _Alignas(64) sotto_f128 sums[LANES];

    sotto_f128x8_store(sums, sotto_f128x8_exact(sotto_f128x8_reduce_sum(*acc)));
    for (size_t j = 0; j < columns; j++)
        out[2 * j] = sotto_f128_add(out[2 * j], sums[j]);
}

static void sum_group(sotto_f128 *out, row *rows, size_t count, const uint8_t *m, size_t width,
                      size_t left)
{
    for (size_t j = 0; j < width; j += LANES) {
        size_t columns = width - j < LANES ? width - j : LANES;
        size_t reach = j < left ? (left - j + width - 1) / width : 0; /* rows that have column j */
        size_t used = reach < count ? reach : count;
        const uint8_t *block = m + j * SOTTO_F128_SIZE;
        sotto_f128x8_acc even, odd;

        if (j + LANES < width)
            sum_rows(&even, &odd, rows, used, block, width, left - j, true);
        else
            sum_rows(&even, &odd, rows, used, block, width, left - j, false);
        settle(out + 2 * j, &even, columns);
        settle(out + 2 * j + 1, &odd, columns);
    }
}

#define POWER_SUMS sotto_f128_power_sums_ifma
#include "math/power_sums128_groups.h"
