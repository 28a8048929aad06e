/* Eight columns at a time. Each row keeps a running vector, f_i * r_i^(j+1) for the eight columns j of
 * the block at hand; r_i^8 takes it to the next block. */
#include "math/kernels128.h"
#include "math/lanes128_ifma.h"

enum { LANES = SOTTO_F128_LANES };

/* Bytes from a block of columns to the next but one. Rows are too far apart for the processor to follow them all by itself, above
 * all where a block begins within a cache line. */
enum { AHEAD = 2 * LANES * SOTTO_F128_SIZE, LINE = 64 };

/* Rows that are worked on together; their sums grow unreduced (see sotto_f128x8_reduce_sum). Their running vectors take up to 96 KiB.
 * They are read one after the other, so the second cache is near enough, and sums are reduced once. */
enum { GROUP = SOTTO_F128_POWER_SUMS_GROUP };

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

/* What a block of eight columns comes to. */
typedef struct block_sums {
    sotto_f128x8_acc even, odd;
    sotto_f128x8 plain; /* the elements themselves; limbs are sums of 384 at most */
} block_sums;

/* Adds up `count` rows at m. `left` is the number of elements from m to the matrix's end. A lane past a row's end reads the next row,
 * which is harmless since nobody uses its sums; but nothing reads past the matrix. The three products of a row go side by side. */
static inline block_sums sum_rows(row *rows, size_t count, const uint8_t *m, size_t width,
                                  size_t left, bool advance)
{
    const sotto_f128x8_acc zero = sotto_f128x8_acc_zero();
    const sotto_v8 none = _mm512_setzero_si512();
    block_sums s = {zero, zero, {{none, none, none}}};

    for (size_t i = 0; i < count; i++, m += width * SOTTO_F128_SIZE, left -= width) {
        sotto_f128x8 x = sotto_f128x8_load(m, left), weight = rows[i].running;
        sotto_f128x8 f = constant(rows[i].f), step = constant(rows[i].step);
        sotto_f128x8_acc next = zero;

        __builtin_prefetch(m + AHEAD);
        __builtin_prefetch(m + AHEAD + LINE);
        sotto_f128x8_grow(&s.plain, x);
#define STEP(half, at, j, k)                                                                       \
    if (advance)                                                                                   \
        SOTTO_F128X8_STEP(half, next.limb[at], j, weight, k, step)                                 \
    SOTTO_F128X8_STEP(half, s.even.limb[at], j, weight, k, x)                                      \
    SOTTO_F128X8_STEP(half, s.odd.limb[at], j, f, k, x)
        SOTTO_F128X8_PRODUCTS(STEP)
#undef STEP
        if (advance)
            rows[i].running = sotto_f128x8_reduce(&next);
    }
    return s;
}

/* Reduces the sums of up to eight columns and adds them to every second element of out. */
static void settle(sotto_f128 *out, const sotto_f128x8_acc *acc, size_t columns)
{
    _Alignas(64) sotto_f128 sums[LANES];

    sotto_f128x8_store(sums, sotto_f128x8_exact(sotto_f128x8_reduce_sum(*acc)));
    for (size_t j = 0; j < columns; j++)
        out[2 * j] = sotto_f128_add(out[2 * j], sums[j]);
}

/* Adds the elements of up to eight columns to the total, lane by lane. */
static void add_plain(sotto_f128x8 *total, const sotto_f128x8 *plain, size_t columns)
{
    __mmask8 wanted = (__mmask8)((1U << columns) - 1);
    sotto_v8 *sum = total->limb;

    for (unsigned i = 0; i < 3; i++)
        sum[i] = _mm512_mask_add_epi64(sum[i], wanted, sum[i], plain->limb[i]);
    *total = sotto_f128x8_settle(*total);
}

static void sum_group(sotto_f128 *out, sotto_f128x8 *total, row *rows, size_t count,
                      const uint8_t *m, size_t width, size_t left)
{
    for (size_t j = 0; j < width; j += LANES) {
        size_t columns = width - j < LANES ? width - j : LANES;
        size_t reach = j < left ? (left - j + width - 1) / width : 0; /* rows that have column j */
        size_t used = reach < count ? reach : count;
        const uint8_t *block = m + j * SOTTO_F128_SIZE;
        block_sums s = j + LANES < width ? sum_rows(rows, used, block, width, left - j, true)
                                         : sum_rows(rows, used, block, width, left - j, false);

        settle(out + 2 * j, &s.even, columns);
        settle(out + 2 * j + 1, &s.odd, columns);
        if (total)
            add_plain(total, &s.plain, columns);
    }
}

static sotto_f128 end_total(sotto_f128x8 total)
{
    _Alignas(64) sotto_f128 lanes[LANES];
    sotto_f128_sum sum = {0};

    sotto_f128x8_store(lanes, total);
    for (unsigned l = 0; l < LANES; l++)
        sotto_f128_sum_add(&sum, lanes[l]);
    return sotto_f128_sum_reduce(&sum);
}

typedef sotto_f128x8 running_total;

static running_total no_total(void)
{
    return (sotto_f128x8){{_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()}};
}

#define POWER_SUMS sotto_f128_power_sums_ifma
#include "math/power_sums128_groups.h"
