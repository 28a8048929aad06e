/* Large blocks of SQLite's come from those that a server keeps, and go back to them. */
#include "base/alloc.h"
#include "db/sqlite_memory.h"
#include "support/test.h"

#include <sqlite3.h>
#include <string.h>

enum { LARGE = 256 << 10, HUGE_BLOB = 3 << 20, ROOM = 64 };

static void check_filled(sotto_test *t, const uint8_t *block, size_t len, uint8_t with)
{
    for (size_t i = 0; i < len; i++)
        CHECK(t, block[i] == with);
}

/* Across the limit between small and large blocks, in both directions. */
static void blocks_keep_their_bytes_when_they_change_size(sotto_test *t)
{
    static const int sizes[] = {1,         100,       LARGE - 1, LARGE,    LARGE + 1,
                                2 * LARGE, LARGE / 2, 17,        3 * LARGE};
    uint8_t *block = sqlite3_malloc(8);

    CHECK(t, sotto_sqlite_memory_keep());
    CHECK(t, block != NULL);
    memset(block, 7, 8);
    for (size_t i = 0, before = 8; i < sizeof sizes / sizeof sizes[0]; i++) {
        const size_t now = (size_t)sizes[i];
        uint8_t *moved = sqlite3_realloc(block, sizes[i]);

        CHECK(t, moved != NULL);
        CHECK_EQUAL(t, 0, (uintptr_t)moved % 8);
        CHECK(t, sqlite3_msize(moved) >= now);
        check_filled(t, moved, before < now ? before : now, 7);
        memset(moved, 7, now);
        block = moved;
        before = now;
    }
    sqlite3_free(block);
    sqlite3_free(NULL);
}

static void a_large_block_is_kept_for_the_next(sotto_test *t)
{
    void *block, *again;

    sotto_alloc_keep_blocks(8 << 20);
    CHECK(t, sotto_sqlite_memory_keep());
    block = sqlite3_malloc(2 * LARGE);
    CHECK(t, block != NULL);
    memset(block, 1, 2 * LARGE);
    sqlite3_free(block);
    again = sotto_alloc_kept(2 * LARGE + ROOM);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    CHECK(t, again == (uint8_t *)block - ROOM);
#endif
    sotto_release(again, again ? 2 * LARGE + ROOM : 0);
    sotto_alloc_keep_blocks(0);
}

static void a_block_that_can_not_be_had_is_none(sotto_test *t)
{
    CHECK(t, sotto_sqlite_memory_keep());
    sotto_alloc_fail_after(0);
    void *block = sqlite3_malloc(LARGE);
    sotto_alloc_fail_after(-1);
    CHECK(t, block == NULL);
}

static void long_rows_are_written_and_read(sotto_test *t)
{
    uint8_t *blob = sotto_alloc(HUGE_BLOB);
    sqlite3_stmt *q;
    sqlite3 *db;

    CHECK(t, sotto_sqlite_memory_keep());
    CHECK(t, blob != NULL);
    for (size_t i = 0; i < HUGE_BLOB; i++)
        blob[i] = (uint8_t)(i * 7 >> 3);
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_open(":memory:", &db));
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_exec(db, "CREATE TABLE a (b BLOB)", NULL, NULL, NULL));
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_prepare_v2(db, "INSERT INTO a VALUES (?)", -1, &q, NULL));
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_bind_blob(q, 1, blob, HUGE_BLOB, SQLITE_STATIC));
    CHECK_EQUAL(t, SQLITE_DONE, sqlite3_step(q));
    (void)sqlite3_finalize(q);
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_prepare_v2(db, "SELECT b FROM a", -1, &q, NULL));
    CHECK_EQUAL(t, SQLITE_ROW, sqlite3_step(q));
    CHECK_EQUAL(t, HUGE_BLOB, sqlite3_column_bytes(q, 0));
    CHECK(t, memcmp(sqlite3_column_blob(q, 0), blob, HUGE_BLOB) == 0);
    (void)sqlite3_finalize(q);
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_close(db));
    sotto_release(blob, HUGE_BLOB);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(blocks_keep_their_bytes_when_they_change_size),
        CASE(a_large_block_is_kept_for_the_next),
        CASE(a_block_that_can_not_be_had_is_none),
        CASE(long_rows_are_written_and_read),
    };

    (void)sotto_sqlite_memory_keep(); /* before SQLite is used */
    return RUN_TESTS(argc, argv, cases);
}
