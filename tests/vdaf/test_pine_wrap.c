/* Dot products by byte planes: every set of instructions gives what plain arithmetic gives. */
#include "support/pine.h"

#include "vdaf/pine/ops.h"
#include "vdaf/pine/wrap.h"

#include <string.h>

/* The dot product of one lane, entry by entry, from the definition. */
static int64_t plain_sum(const uint8_t *elements, size_t size, size_t byte, size_t count,
                         const uint8_t *entries)
{
    int64_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        unsigned bits = (unsigned)entries[i / 4] >> (2 * (i % 4)) & 3;
        int64_t value = elements[i * size + byte];

        sum += bits == 3 ? value : bits == 0 ? -value : 0;
    }
    return sum;
}

static void check_dots(sotto_test *t, size_t size, size_t count)
{
    static const char *const names[] = {"portable", "avx2"};
    size_t stride = sotto_wrap_stride(count);
    uint8_t *elements = sotto_test_take(t, size * count),
            *planes = sotto_test_take(t, size * stride);
    uint8_t *entries = sotto_test_take(t, SOTTO_WRAP_LANES * stride / 4);
    const uint8_t *lanes[SOTTO_WRAP_LANES];
    int64_t sums[SOTTO_WRAP_LANES * SOTTO_WRAP_MAX_BYTES];
    sotto_sim_random random;

    sotto_sim_random_init(&random, size * 100000 + count);
    sotto_sim_random_bytes(&random, elements, size * count);
    sotto_sim_random_bytes(&random, entries, SOTTO_WRAP_LANES * stride / 4);
    for (unsigned l = 0; l < SOTTO_WRAP_LANES; l++)
        lanes[l] = entries + l * stride / 4;
    sotto_wrap_planes(planes, elements, size, count);
    for (size_t n = 0; n < 2; n++) {
        if (!sotto_wrap_use(names[n]))
            continue;
        sotto_wrap_dots(sums, planes, size, stride, lanes);
        for (unsigned l = 0; l < SOTTO_WRAP_LANES; l++)
            for (size_t b = 0; b < size; b++)
                CHECK(t, sums[l * size + b] == plain_sum(elements, size, b, count, lanes[l]));
    }
    CHECK(t, sotto_wrap_use(NULL));
    sotto_arena_reset(&t->arena);
}

static void every_instruction_set_gives_the_definition(sotto_test *t)
{
    static const size_t sizes[] = {4, 5, 8, 16}, counts[] = {1, 31, 33, 2047, 2048, 2049, 9000};

    for (size_t s = 0; s < 4; s++)
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
            check_dots(t, sizes[s], counts[c]);
}

/* All bytes 255 and all entries alike: the largest sums that a block can have. */
static void the_largest_sums_do_not_overflow(sotto_test *t)
{
    static const char *const names[] = {"portable", "avx2"};
    size_t count = 3 * SOTTO_WRAP_BLOCK;
    uint8_t *elements = sotto_test_take(t, 8 * count), *planes = sotto_test_take(t, 8 * count);
    uint8_t *entries = sotto_test_take(t, count / 4);
    const uint8_t *lanes[SOTTO_WRAP_LANES] = {entries, entries, entries, entries};
    int64_t sums[SOTTO_WRAP_LANES * 8];

    memset(elements, 0xff, 8 * count);
    sotto_wrap_planes(planes, elements, 8, count);
    for (unsigned sign = 0; sign < 2; sign++)
        for (size_t n = 0; n < 2; n++) {
            memset(entries, sign ? 0xff : 0, count / 4);
            if (!sotto_wrap_use(names[n]))
                continue;
            sotto_wrap_dots(sums, planes, 8, count, lanes);
            for (size_t i = 0; i < SOTTO_WRAP_LANES * 8; i++)
                CHECK(t, sums[i] == (sign ? 1 : -1) * (int64_t)(255 * count));
        }
    CHECK(t, sotto_wrap_use(NULL));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_instruction_set_gives_the_definition),
        CASE(the_largest_sums_do_not_overflow),
    };
    return RUN_TESTS(argc, argv, cases);
}
