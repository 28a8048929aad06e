/* Sums over columns of Field64 against the formula of the header, term by term. */
#define SOTTO_FIELD 64
#include "math/field.h"
#include "math/power_sums.h"
#include "sim/random.h"
#include "support/test.h"

enum { MOST = 70 };

/* Zero, one and the largest element more often than chance has them. */
static fe random_element(sotto_sim_random *random)
{
    uint64_t kind = sotto_sim_random_below(random, 8);
    uint8_t bytes[FE_SIZE];

    if (kind < 3)
        return kind == 0 ? FIELD(zero)() : kind == 1 ? FIELD(one)() : FIELD(neg)(FIELD(one)());
    do
        sotto_sim_random_bytes(random, bytes, sizeof bytes);
    while (!FIELD(is_canonical)(bytes));
    return FIELD(load)(bytes);
}

static void check_matrix(sotto_test *t, size_t count, size_t width)
{
    size_t rows = (count + width - 1) / width;
    uint8_t m[MOST * FE_SIZE];
    fe out[2 * MOST], f[MOST], r[MOST];
    fe *scratch = sotto_arena_take_array(&t->arena, FIELD(power_sums_scratch)(rows), sizeof(fe));
    sotto_sim_random random;

    CHECK(t, scratch);
    sotto_sim_random_init(&random, count * 100 + width);
    for (size_t i = 0; i < count; i++)
        FIELD(store)(m + i * FE_SIZE, random_element(&random));
    for (size_t i = 0; i < rows; i++) {
        f[i] = random_element(&random);
        r[i] = random_element(&random);
    }
    fe wanted = FIELD(zero)(), sum;
    for (size_t i = 0; i < count; i++)
        wanted = FIELD(add)(wanted, FIELD(load)(m + i * FE_SIZE));
    FIELD(power_sums)(out, &sum, m, count, width, f, r, scratch);
    CHECK_BYTES(t, &wanted, &sum, sizeof sum);
    for (size_t j = 0; j < width; j++) {
        fe even = FIELD(zero)(), odd = FIELD(zero)();

        for (size_t i = 0; i < rows && i * width + j < count; i++) {
            fe x = FIELD(load)(m + (i * width + j) * FE_SIZE);
            fe power = FIELD(pow)(r[i], j + 1);

            even = FIELD(add)(even, FIELD(mul)(FIELD(mul)(x, f[i]), power));
            odd = FIELD(add)(odd, FIELD(mul)(x, f[i]));
        }
        CHECK_BYTES(t, &even, &out[2 * j], sizeof even);
        CHECK_BYTES(t, &odd, &out[2 * j + 1], sizeof odd);
    }
    sotto_arena_reset(&t->arena);
}

static void every_shape_of_matrix_gives_the_sums_of_the_formula(sotto_test *t)
{
    for (size_t count = 1; count <= 40; count++)
        for (size_t width = 1; width <= count + 3; width++)
            check_matrix(t, count, width);
    for (size_t width = 1; width <= MOST; width++)
        check_matrix(t, MOST, width);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_shape_of_matrix_gives_the_sums_of_the_formula),
    };
    return RUN_TESTS(argc, argv, cases);
}
