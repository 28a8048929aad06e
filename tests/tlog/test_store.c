/* A log in a directory: what it signs is on disk, it never signs two trees of one size, and it knows when it was rolled back. */
#define _DEFAULT_SOURCE
#include "notes.h"

#include "base/alloc.h"
#include "support/directory.h"
#include "tlog/files.h"
#include "tlog/store.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIGNED_MAX = 4096 };

/* Every tree that was ever signed, by size. */
typedef struct history {
    unsigned left; /* steps until it stops */
    unsigned steps;
    const char *wanted; /* only these steps count; NULL: all */
    bool forked;
    bool known[SIGNED_MAX];
    sotto_merkle_hash roots[SIGNED_MAX];
    const char *directory;
} history;

static void remember(history *h, sotto_bytes text)
{
    sotto_checkpoint c;

    if (sotto_checkpoint_decode(&c, text, NULL) != SOTTO_OK || c.size >= SIGNED_MAX)
        abort();
    if (h->known[c.size] && !sotto_merkle_equal(&h->roots[c.size], &c.root))
        h->forked = true;
    h->known[c.size] = true;
    h->roots[c.size] = c.root;
}

static bool stop_after(void *context, const char *step, sotto_bytes text)
{
    history *h = context;

    h->steps++;
    if (h->left == 0)
        return false;
    h->left--;
    if (strcmp(step, "sign") == 0)
        remember(h, text);
    return true;
}

typedef struct fixture {
    sotto_note_signer signer;
    history h;
    sotto_log_store_options options;
} fixture;

static fixture *set_up(sotto_test *t)
{
    fixture *f = sotto_arena_take(&t->arena, sizeof *f);

    CHECK(t, f != NULL);
    f->signer = signer_of(t, "example.com/log", SOTTO_NOTE_ED25519, 1);
    f->h.left = UINT32_MAX;
    f->options = (sotto_log_store_options){.directory = sotto_test_temp(t, "log"),
                                           .signer = &f->signer,
                                           .cached_tiles = 64,
                                           .step = stop_after,
                                           .context = &f->h};
    return f;
}

static sotto_log_store *open_log(sotto_test *t, fixture *f)
{
    sotto_log_store *store;

    CHECK_OK(t, sotto_log_store_open(&store, &f->options, &t->err));
    return store;
}

static sotto_status add(sotto_log_store *store, char kind, uint64_t i, sotto_err *err)
{
    char entry[64];
    uint64_t index;
    const int len = snprintf(entry, sizeof entry, "%c %llu", kind, (unsigned long long)i);

    return sotto_log_store_add(store, &index, sotto_bytes_of(entry, (size_t)len), err);
}

static void fill(sotto_test *t, sotto_log_store *store, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        CHECK_OK(t, add(store, 'a', i, &t->err));
    CHECK_OK(t, sotto_log_store_commit(store, &t->err));
}

static bool has_file(const fixture *f, const char *name)
{
    char path[SOTTO_LOG_PATH];

    (void)snprintf(path, sizeof path, "%s/%s", f->options.directory, name);
    return access(path, F_OK) == 0;
}

static void rename_in(sotto_test *t, const fixture *f, const char *from, const char *to)
{
    char a[SOTTO_LOG_PATH], b[SOTTO_LOG_PATH];

    (void)snprintf(a, sizeof a, "%s/%s", f->options.directory, from);
    (void)snprintf(b, sizeof b, "%s/%s", f->options.directory, to);
    CHECK(t, rename(a, b) == 0);
}

/* The published checkpoint, and every entry of it by an inclusion proof from the files. */
static uint64_t check_public(sotto_test *t, const fixture *f, char kind)
{
    static uint8_t memory[8192];
    sotto_buf note = sotto_buf_over(memory, sizeof memory);
    const sotto_log_trust trust = {.log = &f->signer.key};
    sotto_prover *prover;
    sotto_checkpoint c;

    CHECK_OK(t, sotto_log_file_read(&note, f->options.directory, "checkpoint", &t->err));
    CHECK_OK(t, sotto_checkpoint_open(&c, sotto_buf_bytes(&note), &trust, &t->err));
    CHECK_OK(t, sotto_prover_new(&prover, 64, sotto_log_read_tile, (void *)f->options.directory,
                                 &t->err));
    for (uint64_t i = 0; i < c.size; i++) {
        sotto_merkle_proof proof;
        sotto_merkle_hash leaf;
        char entry[64];
        const int len = snprintf(entry, sizeof entry, "%c %llu", kind, (unsigned long long)i);

        sotto_merkle_leaf(&leaf, sotto_bytes_of(entry, (size_t)len));
        CHECK_OK(t, sotto_prover_inclusion(prover, &proof, i, c.size, &t->err));
        CHECK_OK(t, sotto_merkle_check_inclusion(&proof, &leaf, i, c.size, &c.root, &t->err));
    }
    sotto_prover_free(prover);
    return c.size;
}

static void a_log_goes_on_where_it_was(sotto_test *t)
{
    static const uint64_t sizes[] = {0, 1, 2, 255, 256, 257, 600, 1024, 1025};
    fixture *f = set_up(t);

    for (size_t i = 1; i < sizeof sizes / sizeof sizes[0]; i++) {
        sotto_log_store *store = open_log(t, f);

        CHECK_EQUAL(t, sizes[i - 1], sotto_log_store_signed(store, NULL)->size);
        fill(t, store, sizes[i - 1], sizes[i]);
        sotto_log_store_close(store);
        CHECK_EQUAL(t, sizes[i], check_public(t, f, 'a'));
    }
    CHECK(t, has_file(f, "tile/0/003"));
    CHECK(t, has_file(f, "tile/entries/004.p/1"));
    CHECK(t, has_file(f, "tile/1/000.p/4"));
    CHECK(t, !has_file(f, "tile/0/000.p")); /* the whole one took its place */
    CHECK(t, !f->h.forked);
    sotto_note_signer_clear(&f->signer);
}

static void what_was_not_committed_is_not_there(sotto_test *t)
{
    fixture *f = set_up(t);
    sotto_log_store *store = open_log(t, f);

    fill(t, store, 0, 200);
    for (uint64_t i = 0; i < 300; i++) /* fills a tile, which is written and not signed */
        CHECK_OK(t, add(store, 'b', i, &t->err));
    sotto_log_store_close(store);
    store = open_log(t, f);
    CHECK_EQUAL(t, 200, sotto_log_store_signed(store, NULL)->size);
    fill(t, store, 200, 600);
    CHECK_EQUAL(t, 600, check_public(t, f, 'a'));
    sotto_log_store_close(store);
    sotto_note_signer_clear(&f->signer);
}

/* Stops at each step of a commit in turn. Whoever opens the log then adds other entries; no size is ever signed twice. */
static void a_crash_at_any_step_forks_nothing(sotto_test *t)
{
    for (unsigned stop = 0;; stop++) {
        fixture *f = set_up(t);
        sotto_log_store *store = open_log(t, f);
        uint64_t before, after;
        bool crashed;

        fill(t, store, 0, 250);
        f->h.left = stop;
        t->err = (sotto_err){0};
        crashed = false;
        for (uint64_t i = 250; i < 260 && !crashed; i++)
            crashed = add(store, 'a', i, NULL) != SOTTO_OK;
        crashed = crashed || sotto_log_store_commit(store, NULL) != SOTTO_OK;
        sotto_log_store_close(store);
        f->h.left = UINT32_MAX;
        store = open_log(t, f);
        before = sotto_log_store_signed(store, NULL)->size;
        CHECK(t, before == 250 || before == 260);
        for (uint64_t i = 0; i < 10; i++)
            CHECK_OK(t, add(store, 'b', i, &t->err));
        CHECK_OK(t, sotto_log_store_commit(store, &t->err));
        after = sotto_log_store_signed(store, NULL)->size;
        CHECK_EQUAL(t, before + 10, after);
        CHECK(t, !f->h.forked);
        sotto_log_store_close(store);
        sotto_note_signer_clear(&f->signer);
        if (!crashed) {
            CHECK_EQUAL(t, 260, before);
            CHECK(t, stop > 6);
            break;
        }
    }
}

/* What another process signed before it was killed is in the log that the next one opens. */
static void a_killed_process_takes_nothing_back(sotto_test *t)
{
    fixture *f = set_up(t);

    for (int round = 0; round < 4; round++) {
        sotto_log_store *store;
        uint64_t signed_size = 0, size;
        int pipes[2];
        pid_t child;

        CHECK(t, pipe(pipes) == 0);
        child = fork();
        CHECK(t, child >= 0);
        if (child == 0) {
            if (sotto_log_store_open(&store, &f->options, NULL) != SOTTO_OK)
                _exit(1);
            for (uint64_t i = sotto_log_store_signed(store, NULL)->size;; i++) {
                if (add(store, 'a', i, NULL) != SOTTO_OK ||
                    (i % 7 == 0 && sotto_log_store_commit(store, NULL) != SOTTO_OK))
                    _exit(1);
                size = sotto_log_store_signed(store, NULL)->size;
                if (i % 7 == 0 && write(pipes[1], &size, sizeof size) != sizeof size)
                    _exit(1);
            }
        }
        (void)close(pipes[1]);
        for (int commits = 0; commits < 5 + 3 * round; commits++)
            CHECK(t, read(pipes[0], &signed_size, sizeof signed_size) == sizeof signed_size);
        CHECK(t, kill(child, SIGKILL) == 0);
        while (read(pipes[0], &size, sizeof size) == sizeof size)
            signed_size = size;
        (void)close(pipes[0]);
        CHECK(t, waitpid(child, NULL, 0) == child);
        store = open_log(t, f);
        CHECK(t, sotto_log_store_signed(store, NULL)->size >= signed_size);
        sotto_log_store_close(store);
        CHECK(t, check_public(t, f, 'a') >= signed_size);
    }
    sotto_note_signer_clear(&f->signer);
}

static void a_rolled_back_log_is_refused(sotto_test *t)
{
    fixture *f = set_up(t);
    sotto_log_store *store = open_log(t, f);
    sotto_checkpoint known;

    fill(t, store, 0, 10);
    rename_in(t, f, "vow", "old");
    fill(t, store, 10, 20);
    known = *sotto_log_store_signed(store, NULL);
    sotto_log_store_close(store);
    rename_in(t, f, "old", "vow");
    /* Its own checkpoint is newer than what it promised last. */
    CHECK_STATUS(t, SOTTO_STALE, sotto_log_store_open(&store, &f->options, &t->err));
    CHECK_REASON(t, "was rolled back: it has 10 entries, and 20 were signed");
    /* So is what a database or a witness knows, where the checkpoint went back too. */
    rename_in(t, f, "checkpoint", "gone");
    f->options.known = &known;
    CHECK_STATUS(t, SOTTO_STALE, sotto_log_store_open(&store, &f->options, &t->err));
    CHECK_REASON(t, "was rolled back: it has 10 entries, and 20 were signed");
    f->options.known = NULL;
    store = open_log(t, f); /* nobody knows: it goes on */
    sotto_log_store_close(store);
    sotto_note_signer_clear(&f->signer);
}

static void a_log_that_others_know_otherwise_is_refused(sotto_test *t)
{
    fixture *f = set_up(t);
    sotto_log_store *store = open_log(t, f);
    sotto_checkpoint known;

    fill(t, store, 0, 10);
    known = *sotto_log_store_signed(store, NULL);
    fill(t, store, 10, 20);
    sotto_log_store_close(store);
    f->options.known = &known;
    store = open_log(t, f);
    sotto_log_store_close(store);
    known.root.bytes[0] ^= 1;
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_log_store_open(&store, &f->options, &t->err));
    CHECK_REASON(t, "another tree of 10 entries was signed");
    sotto_note_signer_clear(&f->signer);
}

static void a_truncated_or_changed_tile_is_noticed(sotto_test *t)
{
    static uint8_t memory[SOTTO_TILE_BYTES];
    fixture *f = set_up(t);
    sotto_log_store *store = open_log(t, f);
    sotto_buf tile = sotto_buf_over(memory, sizeof memory);

    fill(t, store, 0, 10);
    sotto_log_store_close(store);
    CHECK_OK(t, sotto_log_file_read(&tile, f->options.directory, "tile/0/000.p/10", &t->err));
    CHECK_OK(t, sotto_log_file_replace(f->options.directory, "tile/0/000.p/10",
                                       sotto_bytes_of(tile.data, tile.len - 1), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_log_store_open(&store, &f->options, &t->err));
    CHECK_REASON(t, "tile: 319 bytes, not 10 hashes");
    memory[5] ^= 1;
    CHECK_OK(t, sotto_log_file_replace(f->options.directory, "tile/0/000.p/10",
                                       sotto_buf_bytes(&tile), &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_log_store_open(&store, &f->options, &t->err));
    CHECK_REASON(t, "its tiles are not the tree it promised");
    rename_in(t, f, "tile/0/000.p/10", "tile/0/000.p/9");
    CHECK_STATUS(t, SOTTO_MISSING, sotto_log_store_open(&store, &f->options, &t->err));
    sotto_note_signer_clear(&f->signer);
}

static void entries_that_are_not_the_tile_s_are_noticed(sotto_test *t)
{
    fixture *f = set_up(t);
    sotto_log_store *store = open_log(t, f);

    fill(t, store, 0, 1);
    sotto_log_store_close(store);
    CHECK_OK(t, sotto_log_file_replace(f->options.directory, "tile/entries/000.p/1",
                                       sotto_bytes_of("\0\3b 0", 5), &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_log_store_open(&store, &f->options, &t->err));
    CHECK_REASON(t, "the last entries are not those of its tiles");
    sotto_note_signer_clear(&f->signer);
}

static void one_process_appends_at_a_time(sotto_test *t)
{
    fixture *f = set_up(t);
    sotto_log_store *store = open_log(t, f), *second;

    CHECK_STATUS(t, SOTTO_DENIED, sotto_log_store_open(&second, &f->options, &t->err));
    CHECK_REASON(t, "another process appends to it");
    sotto_log_store_close(store);
    store = open_log(t, f);
    sotto_log_store_close(store);
    sotto_note_signer_clear(&f->signer);
}

static void another_log_s_directory_is_refused(sotto_test *t)
{
    fixture *f = set_up(t);
    sotto_log_store *store = open_log(t, f);

    sotto_log_store_close(store);
    sotto_note_signer_clear(&f->signer);
    f->signer = signer_of(t, "example.com/other", SOTTO_NOTE_ED25519, 1);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_log_store_open(&store, &f->options, &t->err));
    CHECK_REASON(t, "it is another log's");
    sotto_note_signer_clear(&f->signer);
}

static void a_log_that_failed_is_opened_again(sotto_test *t)
{
    fixture *f = set_up(t);
    sotto_log_store *store = open_log(t, f);

    CHECK_OK(t, add(store, 'a', 0, &t->err));
    f->h.left = 1; /* the tile alone */
    CHECK_STATUS(t, SOTTO_IO, sotto_log_store_commit(store, &t->err));
    f->h.left = UINT32_MAX;
    CHECK_STATUS(t, SOTTO_STALE, add(store, 'a', 1, &t->err));
    CHECK_STATUS(t, SOTTO_STALE, sotto_log_store_commit(store, &t->err));
    sotto_log_store_close(store);
    store = open_log(t, f);
    fill(t, store, 0, 3);
    sotto_log_store_close(store);
    CHECK_EQUAL(t, 3, check_public(t, f, 'a'));
    sotto_note_signer_clear(&f->signer);
}

static void only_the_last_tree_is_published(sotto_test *t)
{
    fixture *f = set_up(t);
    sotto_log_store *store = open_log(t, f);
    sotto_note_signer witness = signer_of(t, "w.example", SOTTO_NOTE_COSIGNATURE, 9);
    sotto_buf cosigned = sotto_test_buf(t, 8192);
    sotto_writer w = sotto_writer_on(&cosigned);
    sotto_bytes note;

    fill(t, store, 0, 3);
    (void)sotto_log_store_signed(store, &note);
    sotto_write_bytes(&w, note);
    CHECK_OK(t, sotto_writer_finish(&w, "note", &t->err));
    add_signature(t, &cosigned, &witness, 100);
    CHECK_OK(t, sotto_log_store_publish(store, sotto_buf_bytes(&cosigned), &t->err));
    CHECK_EQUAL(t, 3, check_public(t, f, 'a'));
    sotto_log_store_close(store);
    store = open_log(t, f); /* keeps what witnesses signed */
    fill(t, store, 3, 4);
    CHECK_STATUS(t, SOTTO_STALE,
                 sotto_log_store_publish(store, sotto_buf_bytes(&cosigned), &t->err));
    CHECK_REASON(t, "checkpoint: not of the tree that was signed last");
    sotto_log_store_close(store);
    sotto_note_signer_clear(&witness);
    sotto_note_signer_clear(&f->signer);
}

static void entries_may_be_as_long_as_they_can(sotto_test *t)
{
    static uint8_t entry[SOTTO_ENTRY_MAX + 1];
    fixture *f = set_up(t);
    sotto_log_store *store = open_log(t, f);
    uint64_t index;

    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_log_store_add(store, &index, sotto_bytes_of(entry, sizeof entry), &t->err));
    for (int i = 0; i < 5; i++)
        CHECK_OK(t, sotto_log_store_add(store, &index, sotto_bytes_of(entry, sizeof entry - 1),
                                        &t->err));
    CHECK_OK(t, sotto_log_store_commit(store, &t->err));
    sotto_log_store_close(store);
    store = open_log(t, f);
    CHECK_EQUAL(t, 5, sotto_log_store_signed(store, NULL)->size);
    sotto_log_store_close(store);
    sotto_note_signer_clear(&f->signer);
}

static void a_lack_of_memory_breaks_nothing(sotto_test *t)
{
    fixture *f = set_up(t);
    sotto_log_store *store = open_log(t, f);

    fill(t, store, 0, 3);
    sotto_log_store_close(store);
    for (long n = 0; n < 8; n++) {
        sotto_status status;

        sotto_alloc_fail_after(n);
        status = sotto_log_store_open(&store, &f->options, NULL);
        sotto_alloc_fail_after(-1);
        CHECK(t, status == SOTTO_OK || status == SOTTO_NO_MEMORY);
        if (status == SOTTO_OK)
            sotto_log_store_close(store);
    }
    sotto_note_signer_clear(&f->signer);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_log_goes_on_where_it_was),
        CASE(what_was_not_committed_is_not_there),
        CASE(a_crash_at_any_step_forks_nothing),
        CASE(a_killed_process_takes_nothing_back),
        CASE(a_rolled_back_log_is_refused),
        CASE(a_log_that_others_know_otherwise_is_refused),
        CASE(a_truncated_or_changed_tile_is_noticed),
        CASE(entries_that_are_not_the_tile_s_are_noticed),
        CASE(one_process_appends_at_a_time),
        CASE(another_log_s_directory_is_refused),
        CASE(a_log_that_failed_is_opened_again),
        CASE(only_the_last_tree_is_published),
        CASE(entries_may_be_as_long_as_they_can),
        CASE(a_lack_of_memory_breaks_nothing),
    };

    return RUN_TESTS(argc, argv, cases);
}
