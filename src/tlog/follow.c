#include "tlog/follow.h"

#include "base/rule.h"

#include <inttypes.h>

enum { CACHED = 64 };

/* A partial tile may be gone once the whole one is there. */
static sotto_status fetch_tile(const sotto_log_source *source, sotto_tile tile, sotto_buf *out,
                               sotto_err *err)
{
    char path[SOTTO_TILE_PATH];
    sotto_status status;

    sotto_tile_path(path, &tile);
    status = source->fetch(source->context, path, out, NULL);
    if (status == SOTTO_MISSING && tile.width < SOTTO_TILE_WIDTH) {
        tile.width = SOTTO_TILE_WIDTH;
        sotto_tile_path(path, &tile);
        out->len = 0;
        status = source->fetch(source->context, path, out, NULL);
    }
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "%s: %s", path, sotto_status_name(status));
    return SOTTO_OK;
}

static sotto_status read_tile(void *context, const sotto_tile *tile,
                              sotto_merkle_hash out[SOTTO_TILE_WIDTH], sotto_err *err)
{
    uint8_t file[SOTTO_TILE_BYTES];
    sotto_buf buf = sotto_buf_over(file, sizeof file);

    SOTTO_TRY(fetch_tile(context, *tile, &buf, err));
    if (buf.len == SOTTO_TILE_BYTES)
        buf.len = (size_t)tile->width * SOTTO_MERKLE_HASH;
    return sotto_tile_decode(out, tile->width, sotto_buf_bytes(&buf), err);
}

sotto_status sotto_log_latest(const sotto_log_source *source, sotto_buf *note,
                              sotto_checkpoint *out, const sotto_log_trust *trust, sotto_err *err)
{
    SOTTO_TRY(source->fetch(source->context, "checkpoint", note, err));
    return sotto_checkpoint_open(out, sotto_buf_bytes(note), trust, err);
}

sotto_status sotto_log_prove(const sotto_log_source *source, sotto_inclusion *inclusion,
                             uint64_t size, sotto_err *err)
{
    sotto_prover *prover;
    sotto_status status;

    SOTTO_TRY(sotto_prover_new(&prover, CACHED, read_tile, (void *)source, err));
    status = sotto_prover_inclusion(prover, &inclusion->proof, inclusion->index, size, err);
    sotto_prover_free(prover);
    return status;
}

sotto_status sotto_log_growth(const sotto_log_source *source, sotto_buf *steps,
                              const uint64_t *sizes, size_t count, sotto_err *err)
{
    sotto_prover *prover;
    sotto_status status;

    SOTTO_TRY(sotto_prover_new(&prover, CACHED, read_tile, (void *)source, err));
    status = sotto_prover_growth(prover, steps, sizes, count, err);
    sotto_prover_free(prover);
    return status;
}

static sotto_status begin(const sotto_log_source *source, sotto_merkle_tree *tree,
                          const sotto_checkpoint *from, uint64_t within, sotto_err *err)
{
    sotto_merkle_hash root;
    sotto_prover *prover;
    sotto_status status;

    SOTTO_TRY(sotto_prover_new(&prover, CACHED, read_tile, (void *)source, err));
    status = sotto_prover_tree(prover, tree, from->size, within, err);
    sotto_prover_free(prover);
    if (status != SOTTO_OK)
        return status;
    sotto_merkle_root(&root, tree);
    if (SOTTO_RULE(follower_notices_a_fork) && from->size > 0 &&
        !sotto_merkle_equal(&root, &from->root))
        return sotto_fail(err, SOTTO_REJECTED,
                          "fork: its tree of %" PRIu64 " entries is not the one that was seen",
                          from->size);
    return SOTTO_OK;
}

sotto_status sotto_log_follow(const sotto_log_source *source, const sotto_checkpoint *from,
                              const sotto_checkpoint *to, uint8_t *room, sotto_log_tell *tell,
                              void *context, sotto_err *err)
{
    sotto_merkle_tree tree = {0};
    sotto_merkle_hash hash;

    if (SOTTO_RULE(follower_notices_a_rollback) && to->size < from->size)
        return sotto_fail(err, SOTTO_STALE,
                          "the log was rolled back: it has %" PRIu64 " entries, and %" PRIu64
                          " were seen",
                          to->size, from->size);
    SOTTO_TRY(begin(source, &tree, from, to->size, err));
    while (tree.size < to->size) {
        const uint64_t first = tree.size / SOTTO_TILE_WIDTH * SOTTO_TILE_WIDTH;
        const sotto_tile tile = {.entries = true,
                                 .index = first / SOTTO_TILE_WIDTH,
                                 .width = sotto_tile_width(0, first / SOTTO_TILE_WIDTH, to->size)};
        sotto_buf buf = sotto_buf_over(room, SOTTO_LOG_BUNDLE_MAX);
        sotto_bytes rest, entry;

        SOTTO_TRY(fetch_tile(source, tile, &buf, err));
        rest = sotto_buf_bytes(&buf);
        for (uint64_t i = first; i < first + tile.width; i++) {
            SOTTO_TRY(sotto_tile_entry_next(&entry, &rest, err));
            if (i < from->size)
                continue;
            sotto_merkle_leaf(&hash, entry);
            sotto_merkle_append(&tree, 0, &hash);
            tell(context, i, entry);
        }
    }
    sotto_merkle_root(&hash, &tree);
    if (SOTTO_RULE(followed_entries_make_the_tree) && !sotto_merkle_equal(&hash, &to->root))
        return sotto_fail(err, SOTTO_REJECTED,
                          "its entries are not those of the tree that it signed");
    return SOTTO_OK;
}
