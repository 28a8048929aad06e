#include "support/test.h"

#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"

static bool is_zero(const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (bytes[i])
            return false;
    return true;
}

static void arena_gives_zeroed_aligned_memory_that_does_not_overlap(sotto_test *t)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 1000, 4096, 4097, 20000, 1, 100000, 64};
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    uint8_t *taken[COUNT];
    sotto_arena arena;

    sotto_arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < COUNT; i++) {
        taken[i] = sotto_arena_take(&arena, sizes[i]);
        CHECK(t, taken[i] != NULL);
        CHECK_EQUAL(t, 0, (uintptr_t)taken[i] % 64);
        CHECK(t, is_zero(taken[i], sizes[i]));
        memset(taken[i], (int)i + 1, sizes[i]);
    }
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            CHECK_EQUAL(t, i + 1, taken[i][k]);
    sotto_arena_clear(&arena);
}

static void arena_takes_for_a_large_request_what_was_asked_and_a_header(sotto_test *t)
{
    sotto_arena arena;

    sotto_arena_init(&arena, 2000064);
    CHECK(t, sotto_arena_take(&arena, 2000000) != NULL);
    CHECK_EQUAL(t, 2000064, arena.peak);
    CHECK_EQUAL(t, 2000064, arena.held);
    CHECK(t, sotto_arena_take(&arena, 1) == NULL);
    sotto_arena_clear(&arena);
    CHECK_EQUAL(t, 0, arena.held);
    CHECK_EQUAL(t, 2000064, arena.peak); /* still there for whoever asks */
}

static void arena_never_passes_its_ceiling(sotto_test *t)
{
    for (size_t ceiling = 0; ceiling < 70000; ceiling += 1237) {
        sotto_arena arena;
        size_t given = 0;

        sotto_arena_init(&arena, ceiling);
        for (size_t size = 1; size < 9000; size += 331)
            given += sotto_arena_take(&arena, size) ? size : 0;
        CHECK(t, arena.held <= ceiling);
        CHECK(t, arena.peak <= ceiling);
        CHECK(t, given <= ceiling);
        CHECK(t, ceiling < 1000 || given > 0);
        sotto_arena_clear(&arena);
    }
}

static void arena_refuses_sizes_that_overflow(sotto_test *t)
{
    sotto_arena arena;

    sotto_arena_init(&arena, SIZE_MAX);
    CHECK(t, sotto_arena_take(&arena, SIZE_MAX) == NULL);
    CHECK(t, sotto_arena_take(&arena, SIZE_MAX - 64) == NULL);
    CHECK(t, sotto_arena_take(&arena, SIZE_MAX - 200) == NULL);
    CHECK(t, sotto_arena_take_array(&arena, SIZE_MAX / 2, 3) == NULL);
    CHECK(t, sotto_arena_take_array(&arena, 3, SIZE_MAX / 2) == NULL);
    CHECK(t, sotto_arena_take_array(&arena, 1 + SIZE_MAX / 16, 16) == NULL);
    CHECK_EQUAL(t, 0, arena.held);
    CHECK(t, sotto_arena_take_array(&arena, 100, 16) != NULL);
    CHECK(t, sotto_arena_take_array(&arena, 0, 16) != NULL);
    CHECK(t, sotto_arena_take_array(&arena, 16, 0) != NULL);
    sotto_arena_clear(&arena);
}

static void arena_wipes_on_reset_and_hands_the_same_memory_out_again(sotto_test *t)
{
    sotto_arena arena;

    sotto_arena_init(&arena, 1 << 20);
    uint8_t *small = sotto_arena_take(&arena, 100);
    uint8_t *large = sotto_arena_take(&arena, 50000);
    memset(small, 0xee, 100);
    memset(large, 0xee, 50000);
    size_t held = arena.held;

    sotto_arena_reset(&arena);
    CHECK(t, is_zero(small, 100)); /* the arena still owns it, so we may look */
    CHECK(t, is_zero(large, 50000));
    CHECK(t, sotto_arena_take(&arena, 100) == small);
    CHECK(t, sotto_arena_take(&arena, 50000) == large);
    CHECK_EQUAL(t, held, arena.held);
    CHECK_EQUAL(t, held, arena.peak);
    sotto_arena_clear(&arena);
}

/* The linker sends the library's free() here, so that we see memory at the moment it goes back. */
void __real_free(void *memory);
void __wrap_free(void *memory);

static const void *watched;
static size_t watched_len;
static int watched_clean = -1;

void __wrap_free(void *memory)
{
    const uint8_t *bytes = watched;

    if (memory && bytes && bytes - 64 == (uint8_t *)memory)
        watched_clean = is_zero(memory, 64 + watched_len);
    __real_free(memory);
}

static void arena_wipes_on_clear_before_memory_goes_back(sotto_test *t)
{
    sotto_arena arena;

    sotto_arena_init(&arena, 1 << 20);
    uint8_t *secret = sotto_arena_take(&arena, 50000);
    memset(secret, 0xee, 50000);
    watched = secret;
    watched_len = 50000;
    sotto_arena_clear(&arena);
    watched = NULL;
    CHECK_EQUAL(t, 1, watched_clean);
    CHECK_EQUAL(t, 0, arena.held);
}

static void arena_grants_after_a_reset_what_a_fresh_one_would(sotto_test *t)
{
    sotto_arena arena;

    sotto_arena_init(&arena, 100000);
    for (int i = 0; i < 9; i++)
        CHECK(t, sotto_arena_take(&arena, 10000) != NULL);
    sotto_arena_reset(&arena);
    CHECK(t, sotto_arena_take(&arena, 10) != NULL);
    CHECK(t, sotto_arena_take(&arena, 80000) != NULL); /* the nine blocks have to go */
    CHECK(t, arena.held <= 100000);
    sotto_arena_clear(&arena);
}

static void arena_does_not_pile_up_over_rounds_of_new_sizes(sotto_test *t)
{
    sotto_arena arena;

    sotto_arena_init(&arena, SIZE_MAX / 2);
    for (size_t round = 0; round < 20; round++) {
        CHECK(t, sotto_arena_take(&arena, 10000 + 10000 * (round * 7 % 20)) != NULL);
        sotto_arena_reset(&arena);
        CHECK(t, arena.held <= 200000 + 64);
    }
    CHECK(t, arena.peak <= 2 * (200000 + 64));
    sotto_arena_clear(&arena);
}

/* A worker's round takes and gives back in chunks: the next round finds the same memory. */
static void arena_keeps_what_a_round_took_and_gave_back(sotto_test *t)
{
    sotto_arena arena;
    uint8_t *first, *again;

    sotto_arena_init(&arena, 1 << 20);
    sotto_arena_mark mark = sotto_arena_here(&arena);
    first = sotto_arena_take(&arena, 100000);
    CHECK(t, first != NULL);
    memset(first, 7, 100000);
    sotto_arena_rollback(&arena, mark);
    sotto_arena_reset(&arena);
    again = sotto_arena_take(&arena, 100000);
    CHECK(t, again == first);
    CHECK(t, again && again[0] == 0 && again[99999] == 0);
    sotto_arena_reset(&arena);
    sotto_arena_reset(&arena); /* a round without it */
    CHECK_EQUAL(t, 0, arena.held);
    sotto_arena_clear(&arena);
}

static bool take_three(sotto_arena *arena)
{
    return sotto_arena_take(arena, 100) && sotto_arena_take(arena, 30000) &&
           sotto_arena_take(arena, 40000);
}

static void arena_says_no_whichever_allocation_fails(sotto_test *t)
{
    for (long n = 0; n <= 3; n++) {
        sotto_arena arena;

        sotto_arena_init(&arena, 1 << 20);
        sotto_alloc_fail_after(n);
        bool granted = take_three(&arena);
        sotto_alloc_fail_after(-1);
        CHECK_EQUAL(t, n == 3, granted);

        sotto_arena_reset(&arena); /* and it is fit for use afterwards */
        CHECK(t, take_three(&arena));
        sotto_arena_clear(&arena);
        CHECK_EQUAL(t, 0, arena.held);
    }
}

static void arena_takes_back_only_what_came_after_a_mark(sotto_test *t)
{
    sotto_arena arena;

    sotto_arena_init(&arena, 1 << 20);
    uint8_t *small = sotto_arena_take(&arena, 100), *large = sotto_arena_take(&arena, 30000);
    sotto_arena_mark mark = sotto_arena_here(&arena);
    uint8_t *later = sotto_arena_take(&arena, 100), *much = sotto_arena_take(&arena, 30000);
    CHECK(t, small && large && later && much);
    small[99] = large[29999] = later[0] = much[0] = 1;

    sotto_arena_rollback(&arena, mark);
    CHECK_EQUAL(t, 1, small[99]);
    CHECK_EQUAL(t, 1, large[29999]);
    CHECK_EQUAL(t, 0, later[0]); /* still the arena's memory, and wiped */
    CHECK_EQUAL(t, 0, much[0]);
    CHECK(t, sotto_arena_take(&arena, 100) == later);
    CHECK(t, sotto_arena_take(&arena, 30000) == much);
    sotto_arena_clear(&arena);
    CHECK_EQUAL(t, 0, arena.held);
}

static void a_buffer_from_an_arena_has_room_or_says_why_not(sotto_test *t)
{
    sotto_arena arena;
    sotto_buf buf;

    sotto_arena_init(&arena, 1 << 16);
    CHECK_OK(t, sotto_buf_take(&buf, &arena, 5000, &t->err));
    CHECK(t, buf.data != NULL && buf.len == 0 && buf.cap == 5000);
    CHECK_OK(t, sotto_buf_take(&buf, &arena, 0, &t->err));
    CHECK(t, buf.data != NULL && buf.len == 0 && buf.cap == 0);
    CHECK_STATUS(t, SOTTO_NO_MEMORY, sotto_buf_take(&buf, &arena, 1 << 16, &t->err));
    CHECK_REASON(t, "65536 bytes");
    CHECK(t, buf.data == NULL && buf.cap == 0);
    sotto_arena_clear(&arena);
}

static void arena_takes_for_small_things_what_was_expected(sotto_test *t)
{
    sotto_arena arena;
    const uint8_t *first, *second;

    sotto_arena_init(&arena, 1 << 20);
    CHECK(t, sotto_arena_expect(&arena, 1000));
    first = sotto_arena_take(&arena, 500);
    second = sotto_arena_take(&arena, 500);
    CHECK(t, first && second == first + 512);
    CHECK_EQUAL(t, 1024 + 64, arena.held);
    CHECK(t, sotto_arena_take(&arena, 500) != NULL); /* more than was expected */
    CHECK(t, arena.held > 16000);
    sotto_arena_clear(&arena);
    sotto_arena_init(&arena, 512);
    CHECK(t, !sotto_arena_expect(&arena, 1000));
    CHECK(t, sotto_arena_expect(&arena, 1 << 20)); /* nothing to prepare */
    sotto_arena_clear(&arena);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(arena_takes_back_only_what_came_after_a_mark),
        CASE(arena_gives_zeroed_aligned_memory_that_does_not_overlap),
        CASE(arena_takes_for_a_large_request_what_was_asked_and_a_header),
        CASE(arena_takes_for_small_things_what_was_expected),
        CASE(arena_never_passes_its_ceiling),
        CASE(arena_refuses_sizes_that_overflow),
        CASE(arena_wipes_on_reset_and_hands_the_same_memory_out_again),
        CASE(arena_wipes_on_clear_before_memory_goes_back),
        CASE(arena_grants_after_a_reset_what_a_fresh_one_would),
        CASE(arena_does_not_pile_up_over_rounds_of_new_sizes),
        CASE(arena_keeps_what_a_round_took_and_gave_back),
        CASE(arena_says_no_whichever_allocation_fails),
        CASE(a_buffer_from_an_arena_has_room_or_says_why_not),
    };
    return RUN_TESTS(argc, argv, cases);
}
