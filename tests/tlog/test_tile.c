/* Tiles: which there are, where they lie, and what is in them. */
#include "tlog/tile.h"

#include "support/test.h"

#include <string.h>

static sotto_bytes bytes_of(const char *text)
{
    return sotto_bytes_of(text, strlen(text));
}

/* The examples of C2SP tlog-tiles. */
static void a_tree_has_the_tiles_of_its_size(sotto_test *t)
{
    CHECK_EQUAL(t, 256, sotto_tile_width(0, 272, 70000));
    CHECK_EQUAL(t, 112, sotto_tile_width(0, 273, 70000));
    CHECK_EQUAL(t, 0, sotto_tile_width(0, 274, 70000));
    CHECK_EQUAL(t, 256, sotto_tile_width(1, 0, 70000));
    CHECK_EQUAL(t, 17, sotto_tile_width(1, 1, 70000));
    CHECK_EQUAL(t, 1, sotto_tile_width(2, 0, 70000));
    CHECK_EQUAL(t, 0, sotto_tile_width(3, 0, 70000));
    CHECK_EQUAL(t, 256, sotto_tile_width(0, 0, 256));
    CHECK_EQUAL(t, 1, sotto_tile_width(1, 0, 256));
    CHECK_EQUAL(t, 0, sotto_tile_width(0, 1, 256));
    CHECK_EQUAL(t, 0, sotto_tile_width(0, UINT64_MAX, UINT64_MAX));
}

static void a_path_is_read_back(sotto_test *t)
{
    static const struct {
        const char *path;
        sotto_tile tile;
    } cases[] = {
        {"tile/0/000", {false, 0, 0, 256}},
        {"tile/0/273.p/112", {false, 0, 273, 112}},
        {"tile/1/x001/x234/067", {false, 1, 1234067, 256}},
        {"tile/63/x001/000.p/1", {false, 63, 1000, 1}},
        {"tile/entries/x001/x234/067.p/8", {true, 0, 1234067, 8}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[SOTTO_TILE_PATH];
        sotto_tile tile;

        sotto_tile_path(path, &cases[i].tile);
        CHECK(t, strcmp(path, cases[i].path) == 0);
        CHECK_OK(t, sotto_tile_path_decode(&tile, bytes_of(path), &t->err));
        CHECK_EQUAL(t, cases[i].tile.entries, tile.entries);
        CHECK_EQUAL(t, cases[i].tile.level, tile.level);
        CHECK_EQUAL(t, cases[i].tile.index, tile.index);
        CHECK_EQUAL(t, cases[i].tile.width, tile.width);
    }
}

static void a_path_has_one_spelling(sotto_test *t)
{
    static const char *const bad[] = {
        "",
        "tile",
        "tile/0",
        "tile/0/0",
        "tile/0/0000",
        "tile/00/000",
        "tile/64/000",
        "tile/-1/000",
        "tile/0/x000/000",
        "tile/0/000/",
        "/tile/0/000",
        "tile/0/000.p",
        "tile/0/000.p/0",
        "tile/0/000.p/256",
        "tile/0/000.p/01",
        "tile/0/001/000",
        "tile/0/x001",
        "tile/0/000.p/1/2",
        "tile/0/000.q/1",
        "tile/data/000",
        "tile/0/x999/x999/x999/x999/x999/x999/x999/999",
        "tile/0/../000",
    };
    sotto_tile tile;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_tile_path_decode(&tile, bytes_of(bad[i]), &t->err));
}

static void a_truncated_tile_is_malformed(sotto_test *t)
{
    static const uint8_t file[3 * SOTTO_MERKLE_HASH];
    static sotto_merkle_hash out[SOTTO_TILE_WIDTH];

    CHECK_OK(t, sotto_tile_decode(out, 3, sotto_bytes_of(file, sizeof file), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_tile_decode(out, 4, sotto_bytes_of(file, sizeof file), &t->err));
    CHECK_REASON(t, "tile: 96 bytes, not 4 hashes");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_tile_decode(out, 3, sotto_bytes_of(file, sizeof file - 1), &t->err));
    CHECK_REASON(t, "tile: 95 bytes, not 3 hashes");
}

static void a_bundle_has_as_many_entries_as_its_tile(sotto_test *t)
{
    static const uint8_t file[] = {0, 3, 'o', 'n', 'e', 0, 0, 0, 1, 'x'};
    static sotto_merkle_hash out[SOTTO_TILE_WIDTH];
    sotto_merkle_hash wanted;

    CHECK_OK(t, sotto_tile_entries_hash(out, 3, sotto_bytes_of(file, sizeof file), &t->err));
    sotto_merkle_leaf(&wanted, bytes_of("one"));
    CHECK_BYTES(t, wanted.bytes, out[0].bytes, SOTTO_MERKLE_HASH);
    sotto_merkle_leaf(&wanted, bytes_of(""));
    CHECK_BYTES(t, wanted.bytes, out[1].bytes, SOTTO_MERKLE_HASH);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_tile_entries_hash(out, 2, sotto_bytes_of(file, sizeof file), &t->err));
    CHECK_REASON(t, "entry bundle: more than 2 entries");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_tile_entries_hash(out, 4, sotto_bytes_of(file, sizeof file), &t->err));
    CHECK_REASON(t, "entry bundle: an entry is cut off");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_tile_entries_hash(out, 3, sotto_bytes_of(file, sizeof file - 1), &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_tree_has_the_tiles_of_its_size),
        CASE(a_path_is_read_back),
        CASE(a_path_has_one_spelling),
        CASE(a_truncated_tile_is_malformed),
        CASE(a_bundle_has_as_many_entries_as_its_tile),
    };

    return RUN_TESTS(argc, argv, cases);
}
