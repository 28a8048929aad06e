#include "support/test.h"

#include "base/alloc.h"

#include <string.h>

static void alloc_refuses_nothing_and_too_much(sotto_test *t)
{
    CHECK(t, sotto_alloc(0) == NULL);
    CHECK(t, sotto_alloc(SIZE_MAX) == NULL);
    CHECK(t, sotto_alloc(SIZE_MAX - 62) == NULL);
    CHECK(t, sotto_alloc(PTRDIFF_MAX) == NULL);
}

static void alloc_gives_zeroed_aligned_memory(sotto_test *t)
{
    for (size_t size = 1; size < 5000; size += 97) {
        uint8_t *memory = sotto_alloc(size);

        CHECK(t, memory != NULL);
        CHECK_EQUAL(t, 0, (uintptr_t)memory % 64);
        for (size_t i = 0; i < size; i++)
            CHECK_EQUAL(t, 0, memory[i]);
        sotto_release(memory, size);
    }
}

/* Blocks of many sizes, more than are kept: what is handed out again is as good as new, whichever had to make way. */
static void large_blocks_come_back_zeroed(sotto_test *t)
{
    enum { STEP = 40000, SIZES = 12, ROUNDS = 4 };
    uint8_t *blocks[SIZES];

    sotto_alloc_keep_blocks(1 << 20);
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < SIZES; i++) {
            size_t size = (i + round + 1) * STEP;

            blocks[i] = sotto_alloc(size);
            CHECK(t, blocks[i] != NULL);
            CHECK(t, blocks[i][0] == 0 && memcmp(blocks[i], blocks[i] + 1, size - 1) == 0);
            memset(blocks[i], 0xa5, size);
        }
        for (size_t i = 0; i < SIZES; i++)
            sotto_release(blocks[i], (i + round + 1) * STEP);
    }
    sotto_alloc_keep_blocks(0);
}

/* More of them than are kept, of every size, released in another order than they came: what is handed out again is as good as
 * new. */
static void small_blocks_come_back_zeroed(sotto_test *t)
{
    enum { SIZES = 260, EACH = 8, ROUNDS = 3, STEP = 63 };
    static uint8_t *blocks[SIZES * EACH];

    sotto_alloc_keep_blocks(1 << 20);
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < SIZES * EACH; i++) {
            size_t size = (i % SIZES + 1) * STEP;

            blocks[i] = sotto_alloc(size);
            CHECK(t, blocks[i] != NULL && (uintptr_t)blocks[i] % 64 == 0);
            CHECK(t, blocks[i][0] == 0 && memcmp(blocks[i], blocks[i] + 1, size - 1) == 0);
            memset(blocks[i], 0xa5, size);
        }
        for (size_t i = 0; i < SIZES * EACH; i++) {
            size_t other = (i * 7 + round) % (SIZES * EACH); /* 7 divides no multiple of it */

            sotto_release(blocks[other], (other % SIZES + 1) * STEP);
        }
    }
    sotto_alloc_keep_blocks(0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static bool is_zeroed(const uint8_t *block, size_t size)
{
    return block[0] == 0 && memcmp(block, block + 1, size - 1) == 0;
}

/* Sizes that no other test has. */
static void a_kept_block_is_handed_out_once(sotto_test *t)
{
    enum { SIZE = 900000 };
    uint8_t *block;

    sotto_alloc_keep_blocks(1 << 20);
    CHECK(t, sotto_alloc_kept(SIZE) == NULL); /* none is made for it */
    block = sotto_alloc(SIZE);
    CHECK(t, block != NULL);
    memset(block, 0xa5, SIZE);
    sotto_release(block, SIZE);
    CHECK(t, sotto_alloc_kept(2 * (size_t)SIZE) == NULL);
    CHECK(t, sotto_alloc_kept(SIZE) == block);
    CHECK(t, is_zeroed(block, SIZE)); /* since it was no sealed one */
    CHECK(t, sotto_alloc_kept(SIZE) == NULL);
    sotto_alloc_keep_blocks(0);
    sotto_release(block, SIZE);
}

static void what_was_not_wiped_is_zeroed_before_it_is_memory_again(sotto_test *t)
{
    enum { SIZE = 800000 };
    uint8_t *block;

    sotto_alloc_keep_blocks(1 << 20);
    block = sotto_alloc(SIZE);
    CHECK(t, block != NULL);
    memset(block, 0xa5, SIZE);
    sotto_release_sealed(block, SIZE);
    CHECK(t, sotto_alloc_kept(SIZE) == block);
    CHECK(t, block[SIZE - 1] == 0xa5);
    sotto_release_sealed(block, SIZE);
    CHECK(t, sotto_alloc(SIZE) == block);
    CHECK(t, is_zeroed(block, SIZE));
    sotto_alloc_keep_blocks(0);
    sotto_release(block, SIZE);
}

/* A sealed block, then a shorter one that is wiped as far as it goes: both are blocks of one size. */
static void no_byte_of_what_was_sealed_is_left_behind_a_shorter_block(sotto_test *t)
{
    enum { SIZE = 700000, LESS = SIZE - 1000 };
    uint8_t *block;

    sotto_alloc_keep_blocks(1 << 20);
    block = sotto_alloc(SIZE);
    CHECK(t, block != NULL);
    memset(block, 0xa5, SIZE);
    sotto_release_sealed(block, SIZE);
    CHECK(t, sotto_alloc_kept(LESS) == block);
    sotto_release(block, LESS);
    CHECK(t, sotto_alloc(SIZE) == block);
    CHECK(t, is_zeroed(block, SIZE));
    sotto_alloc_keep_blocks(0);
    sotto_release(block, SIZE);
}
#endif

static void alloc_fails_for_one_size_when_told(sotto_test *t)
{
    sotto_alloc_fail_size(8);
    void *first = sotto_alloc(8);
    void *second = sotto_alloc(9);
    sotto_alloc_fail_size(0);
    void *third = sotto_alloc(8);

    CHECK(t, !first && second && third);
    sotto_release(second, 9);
    sotto_release(third, 8);
}

static void alloc_fails_when_told_and_recovers(sotto_test *t)
{
    sotto_alloc_fail_after(1);
    void *first = sotto_alloc(8);
    void *second = sotto_alloc(8);
    void *third = sotto_alloc(8);
    sotto_alloc_fail_after(-1);

    CHECK(t, first && !second && !third);
    sotto_release(first, 8);
    first = sotto_alloc(8);
    CHECK(t, first != NULL);
    sotto_release(first, 8);
}

static void a_grown_block_keeps_its_items_and_fails_whole(sotto_test *t)
{
    uint32_t *items = sotto_alloc_grow(NULL, 0, 0, 2, sizeof *items), *more;

    CHECK(t, items != NULL);
    items[0] = 7;
    items[1] = 8;
    sotto_alloc_fail_after(0);
    more = sotto_alloc_grow(items, 2, 2, 100, sizeof *items);
    sotto_alloc_fail_after(-1);
    CHECK(t, more == NULL && items[1] == 8);
    CHECK(t, sotto_alloc_grow(items, 2, 2, SIZE_MAX / 2, sizeof *items) == NULL);
    more = sotto_alloc_grow(items, 2, 2, 100, sizeof *items);
    CHECK(t, more && more[0] == 7 && more[1] == 8 && more[99] == 0);
    sotto_release(more, 100 * sizeof *more);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(alloc_refuses_nothing_and_too_much),
        CASE(alloc_gives_zeroed_aligned_memory),
        CASE(large_blocks_come_back_zeroed),
        CASE(small_blocks_come_back_zeroed),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        CASE(a_kept_block_is_handed_out_once),
        CASE(what_was_not_wiped_is_zeroed_before_it_is_memory_again),
        CASE(no_byte_of_what_was_sealed_is_left_behind_a_shorter_block),
#endif
        CASE(alloc_fails_when_told_and_recovers),
        CASE(alloc_fails_for_one_size_when_told),
        CASE(a_grown_block_keeps_its_items_and_fails_whole),
    };
    return RUN_TESTS(argc, argv, cases);
}
