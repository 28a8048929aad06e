/* Paths of tiles, tiles and bundles of entries come from the network: a path has one spelling, and whatever a tile says, a proof from it
 * ends. */
#include <stdlib.h>
#include <string.h>

#include "target.h"
#include "tlog/prover.h"

static sotto_status read_tile(void *context, const sotto_tile *tile,
                              sotto_merkle_hash out[SOTTO_TILE_WIDTH], sotto_err *err)
{
    return sotto_tile_decode(out, tile->width, *(const sotto_bytes *)context, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static sotto_merkle_hash hashes[SOTTO_TILE_WIDTH];
    sotto_bytes wire = sotto_bytes_of(data, size);
    char path[SOTTO_TILE_PATH];
    sotto_merkle_proof proof;
    sotto_merkle_hash root;
    sotto_prover *prover;
    sotto_tile tile;

    if (sotto_tile_path_decode(&tile, wire, NULL) == SOTTO_OK) {
        sotto_tile_path(path, &tile);
        if (!sotto_bytes_equal_vartime(wire, sotto_bytes_of(path, strlen(path))))
            abort();
    }
    for (unsigned width = 1, found = 0; width <= 4; width++) {
        found += sotto_tile_entries_hash(hashes, width, wire, NULL) == SOTTO_OK;
        if (found > 1)
            abort(); /* a bundle has one number of entries */
    }
    if (size % SOTTO_MERKLE_HASH != 0 || size == 0 || size > SOTTO_TILE_BYTES ||
        sotto_prover_new(&prover, 4, read_tile, &wire, NULL) != SOTTO_OK)
        return 0;
    if (size < SOTTO_TILE_BYTES) { /* a tree of as many leaves */
        const uint64_t count = size / SOTTO_MERKLE_HASH;
        const sotto_merkle_hash *leaves = (const void *)data;

        if (sotto_prover_root(prover, &root, count, NULL) != SOTTO_OK ||
            sotto_prover_inclusion(prover, &proof, data[0] % count, count, NULL) != SOTTO_OK ||
            sotto_merkle_check_inclusion(&proof, &leaves[data[0] % count], data[0] % count, count,
                                         &root, NULL) != SOTTO_OK)
            abort();
    }
    sotto_prover_free(prover);
    return 0;
}
