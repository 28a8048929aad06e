/* tlog/store.h - a log in a directory of files, as C2SP tlog-tiles serves them.
 *
 *     DIR/checkpoint      the signed tree, for everybody        DIR/tile/...   hashes and entries, for everybody
 *     DIR/feed            what devices fetch, which `sotto log feed` writes: the store does not use it
 *     DIR/vow             the tree that is signed next, or was  DIR/lock       held by the one process that appends
 *
 * A commit syncs the tiles, then writes and syncs a vow of the new size and root, and only then signs. So no tree is signed that is not
 * on disk. A process that starts after a crash signs the tree of the vow or none: never two trees of one size. A signed tile is never
 * written again.
 *
 * Callers:  serve/log; benchmarks and tests.
 * Memory:   about 140 KiB, the entries of the last bundle, and the tiles that are cached for proofs.
 * Threads:  a store belongs to one thread at a time.
 * Secrets:  the signer, which is the caller's.
 */
#ifndef SOTTO_TLOG_STORE_H
#define SOTTO_TLOG_STORE_H

#include "tlog/checkpoint.h"
#include "tlog/entry.h"
#include "tlog/prover.h"

typedef struct sotto_log_store sotto_log_store;

/* For tests: called before each step that a crash could leave undone, and with each text before it is signed. False: it stops there, as
 * after a crash. */
typedef bool sotto_log_step(void *context, const char *step, sotto_bytes text);

typedef struct sotto_log_store_options {
    const char *directory;           /* made if it is not there */
    const sotto_note_signer *signer; /* outlives the store; its name is the origin */
    const sotto_checkpoint
        *known; /* the last signed tree, as kept outside of the directory; NULL: not kept */
    size_t cached_tiles;  /* for proofs, 16 KiB each; 0: 256 */
    sotto_log_step *step; /* may be NULL */
    void *context;
} sotto_log_store_options;

/*   SOTTO_DENIED    another process appends to it, or it is another log's
 *   SOTTO_STALE     it was rolled back: it has fewer entries than `known`, or than its own checkpoint
 *   SOTTO_REJECTED  its tiles are not the tree that it promised, or not the one that is known
 *   SOTTO_MALFORMED a file is cut off
 *   SOTTO_IO, SOTTO_NO_MEMORY
 */
SOTTO_MUST_USE sotto_status sotto_log_store_open(sotto_log_store **store,
                                                 const sotto_log_store_options *options,
                                                 sotto_err *err);
/* What was added and not committed is gone. NULL is fine. */
void sotto_log_store_close(sotto_log_store *store);

/* After a failure of add or commit, a store does nothing more (SOTTO_STALE) until it is opened again. */

/* index: where it will be, once committed. SOTTO_TOO_LARGE: more than SOTTO_ENTRY_MAX bytes; the store is as it was. */
SOTTO_MUST_USE sotto_status sotto_log_store_add(sotto_log_store *store, uint64_t *index,
                                                sotto_bytes entry, sotto_err *err);
/* Everything that was added is on disk and signed when this returns. */
SOTTO_MUST_USE sotto_status sotto_log_store_commit(sotto_log_store *store, sotto_err *err);

/* The tree that was signed last; the note, borrowed until the next commit, is its checkpoint with the log's signature. */
const sotto_checkpoint *sotto_log_store_signed(const sotto_log_store *store, sotto_bytes *note);
/* Replaces DIR/checkpoint by a note with the same text and more signatures.
 *   SOTTO_STALE  the note is not of the tree that was signed last
 */
SOTTO_MUST_USE sotto_status sotto_log_store_publish(sotto_log_store *store, sotto_bytes note,
                                                    sotto_err *err);
/* Proofs for sizes up to the one that was signed last. */
sotto_prover *sotto_log_store_prover(sotto_log_store *store);

/* Reads the hashes of a tile below a directory; context: its path. A partial tile may be the beginning of the whole one.
 *   SOTTO_MISSING    it is not there
 *   SOTTO_MALFORMED  it is cut off
 */
sotto_tile_read sotto_log_read_tile;

#endif
