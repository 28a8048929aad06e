/* What tests of sums of points share: every set that this machine can run, and points. */
#ifndef SOTTO_TESTS_AGGREGATE_P256_SETS_H
#define SOTTO_TESTS_AGGREGATE_P256_SETS_H

#include "support/test.h"

#include "p256_generic.h"
#include "sim/random.h"

#include <string.h>

enum { TERMS = 7, COUNT = SOTTO_P256_SUMS };

typedef struct table {
    sotto_group group;
    sotto_point *sum, *term;
    sotto_sim_random random;
    uint8_t rows[TERMS][COUNT][SOTTO_P256_WIDE];
    const uint8_t *lists[TERMS];
    uint8_t out[COUNT][SOTTO_P256_WIDE];
    bool done[COUNT];
} table;

enum { P256_SETS = 3 };

/* Each set in turn; the last two run on any machine. False: not on this one. */
static inline bool add_up(table *all, size_t set, size_t terms, size_t count)
{
    static const char *const names[] = {"ifma", "scalar"};

    memset(all->out, 0, sizeof all->out);
    memset(all->done, 1, sizeof all->done);
    if (set == P256_SETS - 1) {
        sotto_p256_generic.sum(all->out, all->done, all->lists, terms, SOTTO_P256_WIDE, count);
        return true;
    }
    if (!sotto_p256_use(names[set]))
        return false;
    sotto_p256_sum_many_vartime(all->out, all->done, all->lists, terms, SOTTO_P256_WIDE, count);
    return true;
}

static inline void make_point(sotto_test *t, table *all, uint8_t out[SOTTO_P256_WIDE])
{
    sotto_scalar k = {0};

    sotto_sim_random_bytes(&all->random, k.be, 31);
    sotto_point_multiply(&all->group, all->term, &k, NULL);
    CHECK(t, sotto_point_encode_wide(&all->group, out, all->term));
}

static inline void set_up(sotto_test *t, table *all, uint64_t seed, size_t count)
{
    memset(all, 0, sizeof *all);
    sotto_sim_random_init(&all->random, seed);
    CHECK_OK(t, sotto_group_init(&all->group, &sotto_p256, &t->err));
    all->sum = sotto_point_new(&all->group);
    all->term = sotto_point_new(&all->group);
    for (size_t j = 0; j < TERMS; j++) {
        all->lists[j] = all->rows[j][0];
        for (size_t i = 0; i < count; i++)
            make_point(t, all, all->rows[j][i]);
    }
}

static inline void clear(sotto_test *t, table *all)
{
    CHECK_OK(t, sotto_group_finish(&all->group, &t->err));
    sotto_point_free(all->sum);
    sotto_point_free(all->term);
    sotto_group_clear(&all->group);
    CHECK(t, sotto_p256_use(NULL));
}

/* What the library finds; false: one of them is no point, or the sum is none. */
static inline bool library_sum(table *all, uint8_t out[SOTTO_P256_WIDE], size_t terms, size_t i)
{
    sotto_point_set_identity(&all->group, all->sum);
    for (size_t j = 0; j < terms; j++) {
        if (!sotto_point_decode_wide(&all->group, all->term, all->rows[j][i]))
            return false;
        sotto_point_add(&all->group, all->sum, all->sum, all->term);
    }
    return sotto_point_encode_wide(&all->group, out, all->sum);
}

/* Whether the library finds the same. */
static inline bool is_right(table *all, size_t terms, size_t i)
{
    uint8_t wanted[SOTTO_P256_WIDE];

    return library_sum(all, wanted, terms, i) && all->done[i] &&
           memcmp(wanted, all->out[i], sizeof wanted) == 0;
}

static const uint8_t P_BYTES[32] = {
    0xff, 0xff, 0xff, 0xff, 0,    0,    0,    1,    0,    0,    0,    0,    0,    0,    0,    0,
    0,    0,    0,    0,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

/* The opposite point, by p - y. */
static inline void negate(uint8_t point[SOTTO_P256_WIDE])
{
    unsigned borrow = 0;

    for (size_t i = 32; i-- > 0;) {
        const unsigned d = 256u + P_BYTES[i] - point[33 + i] - borrow;

        point[33 + i] = (uint8_t)d;
        borrow = d < 256;
    }
}

#endif
