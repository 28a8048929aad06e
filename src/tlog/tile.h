/* tlog/tile.h - how a log lies in files (C2SP tlog-tiles): tiles of 256 hashes, bundles of 256 entries, and their paths.
 *
 * Callers:  logs, monitors and whoever proves something from tiles. No device.
 * Memory:   nothing is allocated; entries borrow the bundle's bytes.
 */
#ifndef SOTTO_TLOG_TILE_H
#define SOTTO_TLOG_TILE_H

#include "tlog/merkle.h"

enum {
    SOTTO_TILE_HEIGHT = 8,
    SOTTO_TILE_WIDTH = 1 << SOTTO_TILE_HEIGHT,
    SOTTO_TILE_LEVELS = 8, /* enough for sizes below 2^63 */
    SOTTO_TILE_BYTES = SOTTO_TILE_WIDTH * SOTTO_MERKLE_HASH,
    SOTTO_TILE_PATH = 64
};

typedef struct sotto_tile {
    bool entries;   /* a bundle of entries; level is 0 */
    unsigned level; /* 0: leaf hashes */
    uint64_t index; /* in its level   */
    unsigned width; /* 1 to 256       */
} sotto_tile;

/* How wide the tile is in a tree of that size; 0: it has none. */
unsigned sotto_tile_width(unsigned level, uint64_t index, uint64_t size);

/* "tile/0/x001/x234/067.p/12", "tile/entries/000", with a zero at its end. */
void sotto_tile_path(char out[SOTTO_TILE_PATH], const sotto_tile *tile);
/* SOTTO_MALFORMED: not the path of a tile, or not in canonical form. */
SOTTO_MUST_USE sotto_status sotto_tile_path_decode(sotto_tile *out, sotto_bytes path,
                                                   sotto_err *err);

/* The hashes of a tile, from its file. SOTTO_MALFORMED: not `width` hashes. */
SOTTO_MUST_USE sotto_status sotto_tile_decode(sotto_merkle_hash out[SOTTO_TILE_WIDTH],
                                              unsigned width, sotto_bytes file, sotto_err *err);

/* Takes the next entry off the front of a bundle. SOTTO_MALFORMED: it is cut off. */
SOTTO_MUST_USE sotto_status sotto_tile_entry_next(sotto_bytes *entry, sotto_bytes *rest,
                                                  sotto_err *err);
/* A whole bundle: the leaf hash of each of its `width` entries.
 *   SOTTO_MALFORMED  it has more or fewer, or one is cut off
 */
SOTTO_MUST_USE sotto_status sotto_tile_entries_hash(sotto_merkle_hash out[SOTTO_TILE_WIDTH],
                                                    unsigned width, sotto_bytes file,
                                                    sotto_err *err);

#endif
