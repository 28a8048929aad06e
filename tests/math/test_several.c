/* Several transforms side by side: every set of kernels against one vector at a time. */
#include "support/test.h"

#include "math/poly.h"
#include "math/several128.h"
#include "sim/random.h"

#include <string.h>

enum { MOST_LOG = 15, GUARD = 0x5a };

static const char *const sets[] = {"portable", "avx2"};

/* What the vectors hold. */
typedef enum contents { RANDOM, ZEROS, LARGEST, ONE_OF_THEM, CONTENTS } contents;

static sotto_f128 element(sotto_sim_random *random, contents what, size_t k)
{
    const sotto_f128 largest = {0, SOTTO_F128_P_HIGH}; /* p - 1 */
    uint8_t bytes[SOTTO_F128_SIZE];

    if (what == ZEROS || (what == ONE_OF_THEM && k % 7 != 3))
        return sotto_f128_zero();
    if (what != RANDOM)
        return largest;
    do
        sotto_sim_random_bytes(random, bytes, sizeof bytes);
    while (!sotto_f128_is_canonical(bytes));
    return sotto_f128_load(bytes);
}

static void check_vectors(sotto_test *t, unsigned log, size_t count, contents what)
{
    size_t n = (size_t)1 << log;
    sotto_f128 *roots = sotto_arena_take_array(&t->arena, n, sizeof *roots);
    sotto_f128 *shift = sotto_arena_take_array(&t->arena, n, sizeof *shift);
    sotto_f128 *given = sotto_arena_take_array(&t->arena, 3 * count * n, sizeof *given);
    sotto_f128 *wanted = given + count * n, *got = wanted + count * n;
    sotto_sim_random random;

    CHECK(t, roots && shift && given);
    sotto_sim_random_init(&random, log * 100 + count);
    sotto_f128_roots(roots, log);
    sotto_f128_odd_shift(shift, log);
    for (size_t k = 0; k < count * n; k++)
        given[k] = element(&random, what, k);
    memcpy(wanted, given, count * n * sizeof *given);
    for (size_t i = 0; i < count; i++)
        sotto_f128_to_odd_values(wanted + i * n, log, roots, shift);
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
        if (!sotto_several128_use(sets[s]))
            continue;
        size_t len = sotto_f128_several_room(log);
        sotto_f128 *room = sotto_arena_take_array(&t->arena, len + 1, sizeof *room);
        sotto_f128 guard;

        CHECK(t, room);
        memset(&guard, GUARD, sizeof guard);
        room[len] = guard;
        sotto_f128_several_prepare(room, log, roots, shift);
        /* Twice: what is prepared serves again. */
        for (int turn = 0; turn < 2; turn++) {
            memcpy(got, given, count * n * sizeof *given);
            sotto_f128_several_to_odd_values(got, count, log, roots, shift, room);
            CHECK_BYTES(t, wanted, got, count * n * sizeof *got);
        }
        CHECK_BYTES(t, &guard, &room[len], sizeof guard);
    }
    CHECK(t, sotto_several128_use(NULL));
    sotto_arena_reset(&t->arena);
}

static void all_sets_give_what_one_vector_at_a_time_gives(sotto_test *t)
{
    for (unsigned log = 0; log <= 8; log++)
        for (size_t count = 1; count <= SOTTO_POLY_SEVERAL; count++)
            for (contents what = RANDOM; what < CONTENTS; what++)
                check_vectors(t, log, count, what);
}

/* Numbers grow with every stage, and have room for fourteen. One more goes another way. */
static void long_vectors_do_not_run_over(sotto_test *t)
{
    for (unsigned log = MOST_LOG - 2; log <= MOST_LOG; log++) {
        check_vectors(t, log, 3, RANDOM);
        check_vectors(t, log, 1, LARGEST);
    }
}

static void sets_are_chosen_by_name(sotto_test *t)
{
    CHECK(t, !sotto_several128_use("abacus"));
    CHECK(t, sotto_several128_use("portable"));
    CHECK(t, sotto_several128_best() == &sotto_several128_portable);
    CHECK(t, sotto_several128_use(NULL));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(all_sets_give_what_one_vector_at_a_time_gives),
        CASE(long_vectors_do_not_run_over),
        CASE(sets_are_chosen_by_name),
    };

    return RUN_TESTS(argc, argv, cases);
}
