#define _DEFAULT_SOURCE
#include "tlog/store.h"

#include "base/alloc.h"
#include "base/rule.h"
#include "tlog/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CACHED = 256,
    NOTE = SOTTO_NOTE_TEXT_MAX + 1 + SOTTO_NOTE_LINE_MAX,
    FIRST_BUNDLE = 1 << 16,
    LARGEST_BUNDLE = SOTTO_TILE_WIDTH * (2 + SOTTO_ENTRY_MAX)
};

/* The tile of a level that is not whole yet. */
typedef struct edge_tile {
    uint64_t index;
    unsigned width, saved; /* saved: as wide as the one that is signed */
    sotto_merkle_hash hashes[SOTTO_TILE_WIDTH];
} edge_tile;

struct sotto_log_store {
    sotto_log_store_options options;
    char directory[SOTTO_LOG_PATH];
    int lock;
    bool broken;
    sotto_merkle_tree tree;
    edge_tile levels[SOTTO_TILE_LEVELS];
    sotto_buf bundle; /* the entries of the last tile */
    sotto_log_files files;
    uint64_t first_whole, whole; /* level-0 tiles that became whole since the last commit */
    sotto_checkpoint last;       /* signed */
    sotto_buf note;
    uint8_t note_bytes[NOTE];
    sotto_prover *prover;
};

static sotto_status step(const sotto_log_store *s, const char *what, sotto_bytes text,
                         sotto_err *err)
{
    if (s->options.step && !s->options.step(s->options.context, what, text))
        return sotto_fail(err, SOTTO_IO, "stopped before: %s", what);
    return SOTTO_OK;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static sotto_status read_whole(const char *directory, sotto_tile tile, sotto_buf *out,
                               sotto_err *err)
{
    char path[SOTTO_TILE_PATH];

    tile.width = SOTTO_TILE_WIDTH;
    sotto_tile_path(path, &tile);
    return sotto_log_file_read(out, directory, path, err);
}

sotto_status sotto_log_read_tile(void *context, const sotto_tile *tile,
                                 sotto_merkle_hash out[SOTTO_TILE_WIDTH], sotto_err *err)
{
    uint8_t file[SOTTO_TILE_BYTES];
    sotto_buf buf = sotto_buf_over(file, sizeof file);
    const size_t wanted = (size_t)tile->width * SOTTO_MERKLE_HASH;
    char path[SOTTO_TILE_PATH];
    sotto_status status;

    sotto_tile_path(path, tile);
    status = sotto_log_file_read(&buf, context, path, NULL);
    if (status == SOTTO_MISSING && tile->width < SOTTO_TILE_WIDTH) {
        status = read_whole(context, *tile, &buf, NULL); /* its partial ones may be gone */
        if (status == SOTTO_OK && buf.len == SOTTO_TILE_BYTES)
            buf.len = wanted;
    }
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "%s: %s", path, sotto_status_name(status));
    return sotto_tile_decode(out, tile->width, sotto_buf_bytes(&buf), err);
}

/* ---- opening ------------------------------------------------------------------------------------------------------ */

static sotto_status take_lock(sotto_log_store *s, sotto_err *err)
{
    char path[SOTTO_LOG_PATH + 8];

    if (mkdir(s->directory, 0755) != 0 && errno != EEXIST)
        return sotto_fail(err, SOTTO_IO, "%.100s: %s", s->directory, strerror(errno));
    (void)snprintf(path, sizeof path, "%s/lock", s->directory);
    s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (s->lock < 0)
        return sotto_fail(err, SOTTO_IO, "%.100s: %s", path, strerror(errno));
    if (SOTTO_RULE(one_process_appends) && flock(s->lock, LOCK_EX | LOCK_NB) != 0)
        return sotto_fail(err, SOTTO_DENIED, "log %.80s: another process appends to it",
                          s->directory);
    return SOTTO_OK;
}

/* The vow, or an empty tree where there is none. */
static sotto_status read_vow(sotto_log_store *s, sotto_checkpoint *vow, sotto_err *err)
{
    const sotto_bytes origin = s->options.signer->key.name;
    sotto_status status;

    s->note.len = 0;
    status = sotto_log_file_read(&s->note, s->directory, "vow", NULL);
    if (status == SOTTO_MISSING) {
        *vow = (sotto_checkpoint){.origin = origin};
        sotto_merkle_empty(&vow->root);
        return SOTTO_OK;
    }
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "log %.80s: its vow can't be read", s->directory);
    SOTTO_TRY(sotto_checkpoint_decode(vow, sotto_buf_bytes(&s->note), err));
    if (SOTTO_RULE(log_of_its_origin) && !sotto_bytes_equal_vartime(vow->origin, origin))
        return sotto_fail(err, SOTTO_DENIED, "log %.80s: it is another log's", s->directory);
    vow->origin = origin;
    vow->extensions = sotto_bytes_of("", 0);
    return SOTTO_OK;
}

/* This tree must continue the tree that was kept outside. */
static sotto_status check_known(sotto_log_store *s, const sotto_checkpoint *vow,
                                const sotto_checkpoint *known, sotto_err *err)
{
    sotto_merkle_hash root;

    if (SOTTO_RULE(log_not_rolled_back) && known->size > vow->size)
        return sotto_fail(err, SOTTO_STALE,
                          "log %.60s was rolled back: it has %" PRIu64 " entries, and %" PRIu64
                          " were signed",
                          s->directory, vow->size, known->size);
    if (known->size > vow->size)
        return SOTTO_OK;
    SOTTO_TRY(sotto_prover_root(s->prover, &root, known->size, err));
    if (SOTTO_RULE(log_continues_what_is_known) && !sotto_merkle_equal(&root, &known->root))
        return sotto_fail(err, SOTTO_REJECTED,
                          "log %.60s: another tree of %" PRIu64 " entries was signed", s->directory,
                          known->size);
    return SOTTO_OK;
}

static sotto_status load_bundle(sotto_log_store *s, unsigned width, sotto_err *err)
{
    static const char cut[] = "the last entries are not those of its tiles";
    const sotto_tile tile = {
        .entries = true, .index = s->tree.size / SOTTO_TILE_WIDTH, .width = width};
    sotto_merkle_hash *leaves = s->levels[1].hashes; /* not loaded yet */
    char path[SOTTO_TILE_PATH];
    sotto_status status;

    sotto_tile_path(path, &tile);
    for (;;) {
        s->bundle.len = 0;
        status = sotto_log_file_read(&s->bundle, s->directory, path, NULL);
        if (status != SOTTO_TOO_LARGE || s->bundle.cap >= LARGEST_BUNDLE)
            break;
        sotto_release(s->bundle.data, s->bundle.cap);
        s->bundle = sotto_buf_over(NULL, LARGEST_BUNDLE);
        s->bundle.data = sotto_alloc(LARGEST_BUNDLE);
        if (!s->bundle.data)
            return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for entries");
    }
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "log %.60s: %s: %s", s->directory, path,
                          sotto_status_name(status));
    SOTTO_TRY(sotto_tile_entries_hash(leaves, width, sotto_buf_bytes(&s->bundle), err));
    if (SOTTO_RULE(entries_of_their_tile) &&
        memcmp(leaves, s->levels[0].hashes, width * sizeof *leaves) != 0)
        return sotto_fail(err, SOTTO_REJECTED, "log %.60s: %s", s->directory, cut);
    return SOTTO_OK;
}

/* The right edge of the promised tree, from its tiles. */
static sotto_status load(sotto_log_store *s, const sotto_checkpoint *vow, sotto_err *err)
{
    sotto_merkle_hash root;

    SOTTO_TRY(sotto_prover_tree(s->prover, &s->tree, vow->size, vow->size, err));
    sotto_merkle_root(&root, &s->tree);
    if (SOTTO_RULE(tiles_of_the_promised_tree) && !sotto_merkle_equal(&root, &vow->root))
        return sotto_fail(err, SOTTO_REJECTED, "log %.60s: its tiles are not the tree it promised",
                          s->directory);
    for (unsigned l = 0; l < SOTTO_TILE_LEVELS; l++) {
        edge_tile *edge = &s->levels[l];
        sotto_tile tile = {.level = l};

        edge->index = tile.index = vow->size >> (SOTTO_TILE_HEIGHT * l) >> SOTTO_TILE_HEIGHT;
        tile.width = sotto_tile_width(l, tile.index, vow->size);
        edge->width = edge->saved = tile.width;
        if (tile.width > 0)
            SOTTO_TRY(sotto_log_read_tile(s->directory, &tile, edge->hashes, err));
        if (tile.width > 0 && l == 0)
            SOTTO_TRY(load_bundle(s, tile.width, err));
    }
    s->first_whole = s->levels[0].index;
    return SOTTO_OK;
}

/* ---- signing -------------------------------------------------------------------------------------------------------- */

/* Signs the promised tree; the checkpoint is not published yet. */
static sotto_status sign(sotto_log_store *s, const sotto_checkpoint *vow, sotto_err *err)
{
    sotto_writer w;
    size_t len;

    s->note.len = 0;
    SOTTO_TRY(sotto_checkpoint_encode(&s->note, vow, err));
    len = s->note.len;
    w = sotto_writer_on(&s->note);
    sotto_write_uint(&w, '\n', 1);
    SOTTO_TRY(sotto_writer_finish(&w, "checkpoint", err));
    SOTTO_TRY(step(s, "sign", sotto_bytes_of(s->note.data, len), err));
    SOTTO_TRY(
        sotto_note_sign(&s->note, sotto_bytes_of(s->note.data, len), s->options.signer, 0, err));
    s->last = *vow;
    return SOTTO_OK;
}

/* A checkpoint that was published already is kept, with its cosignatures. */
static sotto_status settle(sotto_log_store *s, const sotto_checkpoint *vow, sotto_err *err)
{
    const sotto_log_trust trust = {.log = &s->options.signer->key};
    uint8_t *memory = sotto_alloc(SOTTO_NOTE_MAX);
    sotto_buf file = sotto_buf_over(memory, SOTTO_NOTE_MAX);
    sotto_checkpoint out;
    sotto_status status;

    if (!memory)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a checkpoint");
    status = sotto_log_file_read(&file, s->directory, "checkpoint", NULL);
    if (status == SOTTO_OK)
        status = sotto_checkpoint_open(&out, sotto_buf_bytes(&file), &trust, err);
    if (status == SOTTO_OK)
        status = check_known(s, vow, &out, err);
    if (status == SOTTO_OK && out.size == vow->size)
        status = sign(s, vow, err); /* the same text again */
    else if (status == SOTTO_OK || status == SOTTO_MISSING) {
        status = sign(s, vow, err);
        if (status == SOTTO_OK)
            status =
                sotto_log_file_replace(s->directory, "checkpoint", sotto_buf_bytes(&s->note), err);
    }
    sotto_release(memory, SOTTO_NOTE_MAX);
    return status;
}

static sotto_status promise(sotto_log_store *s, const sotto_checkpoint *vow, sotto_err *err)
{
    s->note.len = 0;
    SOTTO_TRY(sotto_checkpoint_encode(&s->note, vow, err));
    SOTTO_TRY(step(s, "vow", sotto_buf_bytes(&s->note), err));
    return sotto_log_file_replace(s->directory, "vow", sotto_buf_bytes(&s->note), err);
}

static sotto_status start(sotto_log_store *s, sotto_err *err)
{
    const size_t cached = s->options.cached_tiles;
    sotto_checkpoint vow;

    SOTTO_TRY(take_lock(s, err));
    SOTTO_TRY(sotto_prover_new(&s->prover, cached > 0 ? cached : CACHED, sotto_log_read_tile,
                               s->directory, err));
    SOTTO_TRY(read_vow(s, &vow, err));
    SOTTO_TRY(load(s, &vow, err));
    if (s->options.known)
        SOTTO_TRY(check_known(s, &vow, s->options.known, err));
    if (vow.size == 0)
        SOTTO_TRY(promise(s, &vow, err));
    return settle(s, &vow, err);
}

sotto_status sotto_log_store_open(sotto_log_store **store, const sotto_log_store_options *options,
                                  sotto_err *err)
{
    sotto_log_store *s = sotto_alloc(sizeof *s);
    sotto_status status;

    *store = s;
    if (!s)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a log");
    s->options = *options;
    s->lock = -1;
    s->note = sotto_buf_over(s->note_bytes, sizeof s->note_bytes);
    s->bundle = sotto_buf_over(sotto_alloc(FIRST_BUNDLE), FIRST_BUNDLE);
    s->files.directory = s->directory;
    if (!s->bundle.data)
        status = sotto_fail(err, SOTTO_NO_MEMORY, "no memory for entries");
    else if (strlen(options->directory) > SOTTO_LOG_PATH / 2)
        status = sotto_fail(err, SOTTO_TOO_LARGE, "log: too long a path");
    else {
        memcpy(s->directory, options->directory, strlen(options->directory) + 1);
        status = start(s, err);
    }
    if (status != SOTTO_OK) {
        sotto_log_store_close(s);
        *store = NULL;
    }
    return status;
}

void sotto_log_store_close(sotto_log_store *s)
{
    if (!s)
        return;
    sotto_log_files_drop(&s->files);
    sotto_prover_free(s->prover);
    sotto_release(s->bundle.data, s->bundle.cap);
    if (s->lock >= 0)
        (void)close(s->lock); /* and the lock with it */
    sotto_release(s, sizeof *s);
}

/* ---- appending ------------------------------------------------------------------------------------------------------- */

static sotto_status write_tile(sotto_log_store *s, const sotto_tile *tile, sotto_bytes bytes,
                               sotto_err *err)
{
    char path[SOTTO_TILE_PATH];

    sotto_tile_path(path, tile);
    SOTTO_TRY(step(s, "tile", sotto_bytes_of(path, strlen(path)), err));
    return sotto_log_files_write(&s->files, path, bytes, err);
}

static sotto_status write_level(sotto_log_store *s, unsigned l, sotto_err *err)
{
    edge_tile *edge = &s->levels[l];
    sotto_tile tile = {.level = l, .index = edge->index, .width = edge->width};

    SOTTO_TRY(write_tile(s, &tile, sotto_bytes_of(edge->hashes, edge->width * sizeof *edge->hashes),
                         err));
    tile.entries = true;
    return l == 0 ? write_tile(s, &tile, sotto_buf_bytes(&s->bundle), err) : SOTTO_OK;
}

static void hash_tile(sotto_merkle_hash *out, const edge_tile *edge)
{
    sotto_merkle_tree tree = {0};

    for (unsigned i = 0; i < SOTTO_TILE_WIDTH; i++)
        sotto_merkle_append(&tree, 0, &edge->hashes[i]);
    *out = tree.edge[SOTTO_TILE_HEIGHT];
}

/* Adds a hash to a level; a tile that is whole is written, and its root goes one level up. */
static sotto_status push(sotto_log_store *s, const sotto_merkle_hash *hash, sotto_err *err)
{
    sotto_merkle_hash up = *hash;

    for (unsigned l = 0; l < SOTTO_TILE_LEVELS; l++) {
        edge_tile *edge = &s->levels[l];

        edge->hashes[edge->width++] = up;
        if (edge->width < SOTTO_TILE_WIDTH)
            break;
        SOTTO_TRY(write_level(s, l, err));
        hash_tile(&up, edge);
        edge->index++;
        edge->width = edge->saved = 0;
        if (l == 0) {
            s->bundle.len = 0;
            s->whole++;
        }
    }
    return SOTTO_OK;
}

static sotto_status room_for(sotto_buf *bundle, size_t more, sotto_err *err)
{
    sotto_buf larger;

    if (bundle->cap - bundle->len >= more)
        return SOTTO_OK;
    larger.cap = 2 * bundle->cap < LARGEST_BUNDLE ? 2 * bundle->cap : LARGEST_BUNDLE;
    larger.cap = larger.cap - bundle->len < more ? LARGEST_BUNDLE : larger.cap;
    larger.data = sotto_alloc(larger.cap);
    if (!larger.data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for entries");
    larger.len = bundle->len;
    memcpy(larger.data, bundle->data, bundle->len);
    sotto_release(bundle->data, bundle->cap);
    *bundle = larger;
    return SOTTO_OK;
}

sotto_status sotto_log_store_add(sotto_log_store *s, uint64_t *index, sotto_bytes entry,
                                 sotto_err *err)
{
    sotto_merkle_hash leaf;
    sotto_status status;
    sotto_writer w;

    if (SOTTO_RULE(broken_log_stays_so) && s->broken)
        return sotto_fail(err, SOTTO_STALE, "log %.80s: open it again", s->directory);
    if (entry.len > SOTTO_ENTRY_MAX)
        return sotto_fail(err, SOTTO_TOO_LARGE, "log: an entry has %d bytes at most",
                          SOTTO_ENTRY_MAX);
    status = room_for(&s->bundle, 2 + entry.len, err);
    w = sotto_writer_on(&s->bundle);
    if (status == SOTTO_OK) {
        sotto_write_opaque16(&w, entry);
        status = sotto_writer_finish(&w, "entry", err);
    }
    if (status != SOTTO_OK) {
        s->broken = true; /* what was added before would be signed with the next batch */
        return status;
    }
    *index = s->tree.size;
    sotto_merkle_leaf(&leaf, entry);
    sotto_merkle_append(&s->tree, 0, &leaf);
    status = push(s, &leaf, err);
    s->broken = status != SOTTO_OK;
    return status;
}

/* Partial tiles that a whole one has taken the place of. */
static void tidy(sotto_log_store *s)
{
    for (uint64_t i = s->first_whole; i < s->first_whole + s->whole; i++) {
        sotto_tile tile = {.index = i, .width = SOTTO_TILE_WIDTH};
        char path[SOTTO_TILE_PATH], folder[SOTTO_TILE_PATH + 2];

        for (int entries = 0; entries < 2; entries++) {
            tile.entries = entries == 1;
            sotto_tile_path(path, &tile);
            (void)snprintf(folder, sizeof folder, "%s.p", path);
            sotto_log_folder_remove(s->directory, folder);
        }
    }
}

static sotto_status commit(sotto_log_store *s, sotto_err *err)
{
    sotto_checkpoint vow = {.origin = s->options.signer->key.name, .size = s->tree.size};

    sotto_merkle_root(&vow.root, &s->tree);
    for (unsigned l = 0; l < SOTTO_TILE_LEVELS; l++)
        if (s->levels[l].width != s->levels[l].saved)
            SOTTO_TRY(write_level(s, l, err));
    SOTTO_TRY(step(s, "sync", sotto_bytes_of("", 0), err));
    SOTTO_TRY(sotto_log_files_sync(&s->files, err));
    SOTTO_TRY(promise(s, &vow, err));
    SOTTO_TRY(sign(s, &vow, err));
    SOTTO_TRY(step(s, "checkpoint", sotto_buf_bytes(&s->note), err));
    SOTTO_TRY(sotto_log_file_replace(s->directory, "checkpoint", sotto_buf_bytes(&s->note), err));
    for (unsigned l = 0; l < SOTTO_TILE_LEVELS; l++)
        s->levels[l].saved = s->levels[l].width;
    tidy(s);
    s->first_whole = s->levels[0].index;
    s->whole = 0;
    return SOTTO_OK;
}

sotto_status sotto_log_store_commit(sotto_log_store *s, sotto_err *err)
{
    sotto_status status;

    if (SOTTO_RULE(broken_log_stays_so) && s->broken)
        return sotto_fail(err, SOTTO_STALE, "log %.80s: open it again", s->directory);
    if (s->tree.size == s->last.size)
        return SOTTO_OK;
    status = commit(s, err);
    s->broken = status != SOTTO_OK;
    return status;
}

/* ---- what was signed ---------------------------------------------------------------------------------------------------- */

const sotto_checkpoint *sotto_log_store_signed(const sotto_log_store *s, sotto_bytes *note)
{
    if (note)
        *note = sotto_buf_bytes(&s->note);
    return &s->last;
}

sotto_status sotto_log_store_publish(sotto_log_store *s, sotto_bytes note, sotto_err *err)
{
    sotto_note given, own;

    SOTTO_TRY(sotto_note_decode(&given, note, err));
    SOTTO_TRY(sotto_note_decode(&own, sotto_buf_bytes(&s->note), err));
    if (SOTTO_RULE(published_note_is_the_last) &&
        (s->broken || !sotto_bytes_equal_vartime(given.text, own.text)))
        return sotto_fail(err, SOTTO_STALE, "checkpoint: not of the tree that was signed last");
    return sotto_log_file_replace(s->directory, "checkpoint", note, err);
}

sotto_prover *sotto_log_store_prover(sotto_log_store *s)
{
    return s->prover;
}
