#include "tlog/tile.h"

#include "base/rule.h"
#include "tlog/lines.h"

#include <stdio.h>
#include <string.h>

unsigned sotto_tile_width(unsigned level, uint64_t index, uint64_t size)
{
    const uint64_t hashes = level < SOTTO_TILE_LEVELS ? size >> (level * SOTTO_TILE_HEIGHT) : 0;
    const uint64_t before = index << SOTTO_TILE_HEIGHT;

    if (index >= (uint64_t)1 << 56 || hashes <= before)
        return 0;
    return hashes - before < SOTTO_TILE_WIDTH ? (unsigned)(hashes - before) : SOTTO_TILE_WIDTH;
}

/* ---- paths -------------------------------------------------------------------------------------------------------- */

void sotto_tile_path(char out[SOTTO_TILE_PATH], const sotto_tile *tile)
{
    unsigned groups[7], count = 0;
    uint64_t rest = tile->index;
    int len = tile->entries ? snprintf(out, SOTTO_TILE_PATH, "tile/entries")
                            : snprintf(out, SOTTO_TILE_PATH, "tile/%u", tile->level);

    do {
        groups[count++] = (unsigned)(rest % 1000);
        rest /= 1000;
    } while (rest > 0 && count < 7);
    while (count-- > 0)
        len += snprintf(out + len, SOTTO_TILE_PATH - (size_t)len, count > 0 ? "/x%03u" : "/%03u",
                        groups[count]);
    if (tile->width < SOTTO_TILE_WIDTH)
        (void)snprintf(out + len, SOTTO_TILE_PATH - (size_t)len, ".p/%u", tile->width);
}

/* Takes the text before the next '/', or all that is left. */
static sotto_bytes take_segment(sotto_bytes *rest)
{
    const uint8_t *slash = rest->len > 0 ? memchr(rest->data, '/', rest->len) : NULL;
    sotto_bytes segment = *rest;

    if (slash)
        segment.len = (size_t)(slash - rest->data);
    *rest = slash ? sotto_bytes_of(slash + 1, rest->len - segment.len - 1)
                  : sotto_bytes_of(rest->data, 0);
    return segment;
}

static bool equals(sotto_bytes text, const char *word)
{
    return sotto_bytes_equal_vartime(text, sotto_bytes_of(word, strlen(word)));
}

/* Three digits, after an x where more follow. */
static bool read_group(uint64_t *index, sotto_bytes digits)
{
    if (digits.len != 3 || *index >= (uint64_t)1 << 53)
        return false;
    for (size_t i = 0; i < 3; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '9')
            return false;
        *index = 10 * *index + (uint64_t)(digits.data[i] - '0');
    }
    return true;
}

static bool read_index(sotto_tile *out, sotto_bytes *rest)
{
    sotto_bytes segment = take_segment(rest);

    for (; segment.len == 4 && segment.data[0] == 'x'; segment = take_segment(rest))
        if (!read_group(&out->index, sotto_bytes_of(segment.data + 1, 3)))
            return false;
    out->width = SOTTO_TILE_WIDTH;
    if (segment.len == 5 && memcmp(segment.data + 3, ".p", 2) == 0) {
        uint64_t width;

        if (!sotto_tlog_decimal(&width, take_segment(rest)) || width == 0 ||
            width >= SOTTO_TILE_WIDTH)
            return false;
        out->width = (unsigned)width;
        segment.len = 3;
    }
    return read_group(&out->index, segment);
}

sotto_status sotto_tile_path_decode(sotto_tile *out, sotto_bytes path, sotto_err *err)
{
    char again[SOTTO_TILE_PATH];
    sotto_bytes rest = path, level;
    uint64_t number = 0;

    memset(out, 0, sizeof *out);
    if (!equals(take_segment(&rest), "tile"))
        return sotto_fail(err, SOTTO_MALFORMED, "not the path of a tile");
    level = take_segment(&rest);
    out->entries = equals(level, "entries");
    if (!out->entries && (!sotto_tlog_decimal(&number, level) || number >= 64))
        return sotto_fail(err, SOTTO_MALFORMED, "path of a tile: no level from 0 to 63");
    out->level = (unsigned)number;
    if (!read_index(out, &rest))
        return sotto_fail(err, SOTTO_MALFORMED, "path of a tile: no index or width");
    sotto_tile_path(again, out);
    if (SOTTO_RULE(tile_path_in_one_spelling) && !equals(path, again))
        return sotto_fail(err, SOTTO_MALFORMED, "path of a tile: another spelling");
    return SOTTO_OK;
}

/* ---- files --------------------------------------------------------------------------------------------------------- */

sotto_status sotto_tile_decode(sotto_merkle_hash out[SOTTO_TILE_WIDTH], unsigned width,
                               sotto_bytes file, sotto_err *err)
{
    if (SOTTO_RULE(tile_of_exact_length) && file.len != (size_t)width * SOTTO_MERKLE_HASH)
        return sotto_fail(err, SOTTO_MALFORMED, "tile: %zu bytes, not %u hashes", file.len, width);
    memcpy(out, file.data, file.len);
    return SOTTO_OK;
}

sotto_status sotto_tile_entry_next(sotto_bytes *entry, sotto_bytes *rest, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(*rest);

    *entry = sotto_read_opaque16(&in);
    if (in.short_read)
        return sotto_fail(err, SOTTO_MALFORMED, "entry bundle: an entry is cut off");
    *rest = sotto_read_bytes(&in, sotto_reader_left(&in));
    return SOTTO_OK;
}

sotto_status sotto_tile_entries_hash(sotto_merkle_hash out[SOTTO_TILE_WIDTH], unsigned width,
                                     sotto_bytes file, sotto_err *err)
{
    sotto_bytes entry;

    for (unsigned i = 0; i < width; i++) {
        SOTTO_TRY(sotto_tile_entry_next(&entry, &file, err));
        sotto_merkle_leaf(&out[i], entry);
    }
    if (SOTTO_RULE(entry_bundle_of_exact_length) && file.len > 0)
        return sotto_fail(err, SOTTO_MALFORMED, "entry bundle: more than %u entries", width);
    return SOTTO_OK;
}
