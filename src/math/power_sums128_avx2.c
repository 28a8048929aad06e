/* Four columns at a time, as power_sums128_ifma.c does with eight. Sums and running vectors have a loop
 * each: one alone fills the sixteen registers. */
#include "math/kernels128.h"
#include "math/lanes128_avx2.h"

enum { LANES = SOTTO_V4_LANES, LIMBS = SOTTO_V4_LIMBS };

/* Rows that are worked on together. Their sums grow unreduced: in a limb, 5 products of 52 bits a row
 * come to less than 2^61, and all of it to less than 2^(6 + 129 + 128). Their running vectors take 16
 * KiB, which stay in the nearest cache. */
enum { GROUP = 64 };

/* Rows are far apart, and more of them than a processor follows by itself. So each block asks for what the next one but
 * one reads: of 100,000 elements, which no near cache holds, this saves a third of the time. */
enum { AHEAD = 2 * LANES * SOTTO_F128_SIZE };

typedef struct row {
    sotto_f128x4 running;
    int64_t f[LIMBS], step[LIMBS], unused[2]; /* f_i and r_i^4, by limbs */
} row;

_Static_assert(sizeof(row) == 16 * sizeof(sotto_f128), "see sotto_f128_power_sums_scratch");

static inline void transpose(sotto_v4 v[LANES])
{
    sotto_v4 a = _mm256_unpacklo_epi64(v[0], v[1]), b = _mm256_unpackhi_epi64(v[0], v[1]);
    sotto_v4 c = _mm256_unpacklo_epi64(v[2], v[3]), d = _mm256_unpackhi_epi64(v[2], v[3]);

    v[0] = _mm256_permute2x128_si256(a, c, 0x20);
    v[1] = _mm256_permute2x128_si256(b, d, 0x20);
    v[2] = _mm256_permute2x128_si256(a, c, 0x31);
    v[3] = _mm256_permute2x128_si256(b, d, 0x31);
}

/* Four rows, of which `count` are wanted; lanes are rows until the end. */
static void start_rows(row *rows, const sotto_f128 *f, const sotto_f128 *r, size_t count)
{
    sotto_f128x4 adapter = sotto_f128x4_all(sotto_f128x4_adapter());
    sotto_f128x4 factor = sotto_f128x4_load(f, count), r1 = sotto_f128x4_load(r, count);
    sotto_f128x4 power[LANES]; /* f * r^(k+1) */
    _Alignas(32) int64_t factors[LANES], steps[LANES];
    sotto_v4 turned[LANES];

    factor = sotto_f128x4_mul(&factor, &adapter);
    r1 = sotto_f128x4_mul(&r1, &adapter);
    sotto_f128x4 r2 = sotto_f128x4_mul(&r1, &r1);
    sotto_f128x4 r4 = sotto_f128x4_mul(&r2, &r2);
    power[0] = sotto_f128x4_mul(&factor, &r1);
    power[1] = sotto_f128x4_mul(&factor, &r2);
    power[2] = sotto_f128x4_mul(&power[0], &r2);
    power[3] = sotto_f128x4_mul(&power[1], &r2);

    for (unsigned limb = 0; limb < LIMBS; limb++) {
        _mm256_store_si256((sotto_v4 *)factors, factor.limb[limb]);
        _mm256_store_si256((sotto_v4 *)steps, r4.limb[limb]);
        for (unsigned k = 0; k < LANES; k++)
            turned[k] = power[sotto_v4_order[k]].limb[limb];
        transpose(turned);
        for (unsigned i = 0; i < LANES; i++) {
            row *to = &rows[sotto_v4_order[i]];

            to->running.limb[limb] = turned[i];
            to->f[limb] = factors[i];
            to->step[limb] = steps[i];
        }
    }
}

static inline sotto_f128x4 constant(const int64_t limbs[LIMBS])
{
    return (sotto_f128x4){{sotto_v4_of(limbs[0]), sotto_v4_of(limbs[1]), sotto_v4_of(limbs[2]),
                           sotto_v4_of(limbs[3]), sotto_v4_of(limbs[4])}};
}

/* The block of `count` rows at m. `left` is the number of elements from m to the matrix's end. A lane
 * past a row's end reads the next row, which is harmless since nobody uses its sums; but nothing reads
 * past the matrix. */
typedef struct block {
    const uint8_t *m;
    size_t count, width, left;
} block;

static inline sotto_f128x4 block_row(const block *b, size_t i)
{
    return sotto_f128x4_load(b->m + i * b->width * SOTTO_F128_SIZE, b->left - i * b->width);
}

static sotto_f128x4 sum_running(const block *b, const row *rows)
{
    sotto_f128x4_acc acc = sotto_f128x4_acc_zero();

    for (size_t i = 0; i < b->count; i++) {
        sotto_f128x4 x = block_row(b, i);

        __builtin_prefetch(b->m + i * b->width * SOTTO_F128_SIZE + AHEAD);
        sotto_f128x4_acc_mul(&acc, &x, &rows[i].running);
    }
    return sotto_f128x4_reduce(&acc);
}

static sotto_f128x4 sum_plain(const block *b, const row *rows)
{
    sotto_f128x4_acc acc = sotto_f128x4_acc_zero();

    for (size_t i = 0; i < b->count; i++) {
        sotto_f128x4 x = block_row(b, i), f = constant(rows[i].f);

        sotto_f128x4_acc_mul(&acc, &x, &f);
    }
    return sotto_f128x4_reduce(&acc);
}

static void advance(row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sotto_f128x4 step = constant(rows[i].step);

        rows[i].running = sotto_f128x4_mul(&rows[i].running, &step);
    }
}

/* Adds the sums of up to four columns to every second element of out. */
static void settle(sotto_f128 *out, const sotto_f128x4 *sums, size_t columns)
{
    _Alignas(32) uint64_t limb[LIMBS][LANES];

    for (unsigned k = 0; k < LIMBS; k++)
        _mm256_store_si256((sotto_v4 *)limb[k], sums->limb[k]);
    for (unsigned l = 0; l < LANES; l++) {
        size_t j = sotto_v4_order[l];
        uint64_t low = limb[0][l] | limb[1][l] << 26 | limb[2][l] << 52;
        uint64_t high = limb[2][l] >> 12 | limb[3][l] << 14 | limb[4][l] << 40;

        if (j < columns)
            out[2 * j] = sotto_f128_add(
                out[2 * j], sotto_f128_fold(limb[4][l] >> 24, sotto_u128_of(high, low)));
    }
}

typedef sotto_f128_sum running_total;

static running_total no_total(void)
{
    return (sotto_f128_sum){0};
}

static sotto_f128 end_total(running_total total)
{
    return sotto_f128_sum_reduce(&total);
}

static void sum_group(sotto_f128 *out, sotto_f128_sum *total, row *rows, size_t count,
                      const uint8_t *m, size_t width, size_t left)
{
    size_t elements = count * width < left ? count * width : left;

    for (size_t i = 0; total && i < elements; i++)
        sotto_f128_sum_add(total, sotto_f128_load(m + i * SOTTO_F128_SIZE));
    for (size_t j = 0; j < width; j += LANES) {
        size_t columns = width - j < LANES ? width - j : LANES;
        size_t reach = j < left ? (left - j + width - 1) / width : 0; /* rows that have column j */
        block b = {m + j * SOTTO_F128_SIZE, reach < count ? reach : count, width, left - j};
        sotto_f128x4 even = sum_running(&b, rows), odd = sum_plain(&b, rows);

        settle(out + 2 * j, &even, columns);
        settle(out + 2 * j + 1, &odd, columns);
        if (j + LANES < width)
            advance(rows, b.count);
    }
}

#define POWER_SUMS sotto_f128_power_sums_avx2
#include "math/power_sums128_groups.h"
