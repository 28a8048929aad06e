/* The tree over the entries of a board that a duty has seen, as its right edge. */
#include "device/duties/journal_inside.h"

#include "base/writer.h"

#include <string.h>

enum { MOST = 8 + SOTTO_MERKLE_LEVELS * SOTTO_MERKLE_HASH };

sotto_status sotto_journal_store_tree(sotto_journal *j, int64_t n, const sotto_merkle_tree *tree,
                                      sotto_err *err)
{
    uint8_t bytes[MOST];
    sotto_buf out = sotto_buf_over(bytes, sizeof bytes);
    sotto_writer w = sotto_writer_on(&out);
    sqlite3_stmt *q;

    if (tree->size == 0)
        return SOTTO_OK;
    sotto_write_uint(&w, tree->size, 8);
    for (unsigned level = 0; level < SOTTO_MERKLE_LEVELS; level++)
        if (tree->size >> level & 1)
            sotto_write_bytes(&w, sotto_bytes_of(tree->edge[level].bytes, SOTTO_MERKLE_HASH));
    SOTTO_TRY(sotto_writer_finish(&w, "tree", err));
    SOTTO_TRY(sotto_journal_prepare(
        j, &q, "INSERT OR REPLACE INTO tree (duty, edge) VALUES (?1, ?2)", err));
    (void)sqlite3_bind_int64(q, 1, n);
    sotto_journal_bind(q, 2, sotto_buf_bytes(&out));
    return sotto_journal_run(q, err);
}

sotto_status sotto_journal_load_tree(sotto_journal *j, int64_t n, sotto_merkle_tree *tree,
                                     sotto_arena *arena, sotto_err *err)
{
    sotto_bytes edge = {NULL, 0};
    sotto_status status;
    sqlite3_stmt *q;

    memset(tree, 0, sizeof *tree);
    SOTTO_TRY(sotto_journal_prepare(j, &q, "SELECT edge FROM tree WHERE duty = ?1", err));
    (void)sqlite3_bind_int64(q, 1, n);
    const bool found = sotto_journal_row(q, &status, err);
    if (found)
        status = sotto_journal_column(q, 0, &edge, arena, err);
    sqlite3_finalize(q);
    if (!found || status != SOTTO_OK)
        return status;
    sotto_reader in = sotto_reader_over(edge);
    tree->size = sotto_read_uint(&in, 8) & INT64_MAX;
    for (unsigned level = 0; level < SOTTO_MERKLE_LEVELS; level++)
        if (tree->size >> level & 1)
            sotto_read_fixed(&in, tree->edge[level].bytes, SOTTO_MERKLE_HASH);
    return sotto_reader_finish(&in, "tree", err);
}
