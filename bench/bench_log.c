/* What a transparency log costs. */
#define _XOPEN_SOURCE 700
#include "bench.h"

#include "base/alloc.h"
#include "tlog/store.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- inclusion proofs of a log of 10^7 entries -------------------------------------------------------------------- */

enum { LARGE = 10000000, BRIEF = 200000, LEVELS = 3, WARM = 64 };

/* All hashes of the tiles of the log, in memory: what is measured is a proof from tiles that were read. */
typedef struct large_log {
    sotto_merkle_hash *level[LEVELS];
    size_t sizes[LEVELS];
    sotto_prover *prover;
    sotto_merkle_proof proof;
    sotto_merkle_hash root;
    uint64_t next;
    size_t entries; /* BRIEF where nothing is measured, only run: it has tiles of all levels, too */
} large_log;

static sotto_status read_tile(void *context, const sotto_tile *tile,
                              sotto_merkle_hash out[SOTTO_TILE_WIDTH], sotto_err *err)
{
    const large_log *log = context;

    (void)err;
    memcpy(out, log->level[tile->level] + tile->index * SOTTO_TILE_WIDTH,
           tile->width * sizeof *out);
    return SOTTO_OK;
}

static void leaf_of(sotto_merkle_hash *out, uint64_t i)
{
    memset(out, 0, sizeof *out); /* any 32 bytes will do */
    memcpy(out->bytes, &i, sizeof i);
}

static void make_large(large_log *log)
{
    sotto_merkle_tree tree = {0};

    for (unsigned l = 0; l < LEVELS; l++) {
        const size_t count = log->entries >> (SOTTO_TILE_HEIGHT * l);

        log->sizes[l] = count * sizeof(sotto_merkle_hash);
        log->level[l] = sotto_alloc(log->sizes[l]);
        sotto_bench_expect(log->level[l] != NULL, "memory for a log");
        for (size_t i = 0; i < count; i++) {
            sotto_merkle_tree below = {0};

            if (l == 0) {
                leaf_of(&log->level[0][i], i);
                continue;
            }
            for (size_t j = 0; j < SOTTO_TILE_WIDTH; j++)
                sotto_merkle_append(&below, 0, &log->level[l - 1][i * SOTTO_TILE_WIDTH + j]);
            log->level[l][i] = below.edge[SOTTO_TILE_HEIGHT];
        }
    }
    for (size_t i = 0; i < log->entries >> 16; i++)
        sotto_merkle_append(&tree, 16, &log->level[2][i]);
    for (size_t i = log->entries >> 16 << 8; i < log->entries >> 8; i++)
        sotto_merkle_append(&tree, 8, &log->level[1][i]);
    for (size_t i = log->entries >> 8 << 8; i < log->entries; i++)
        sotto_merkle_append(&tree, 0, &log->level[0][i]);
    sotto_merkle_root(&log->root, &tree);
    sotto_bench_expect(sotto_prover_new(&log->prover, 256, read_tile, log, NULL) == SOTTO_OK,
                       "a prover");
}

static uint64_t next_index(large_log *log)
{
    return (log->next++ % WARM) * (log->entries / WARM) + 77;
}

static void prove(void *arg)
{
    large_log *log = arg;

    sotto_bench_expect(sotto_prover_inclusion(log->prover, &log->proof, next_index(log),
                                              log->entries, NULL) == SOTTO_OK,
                       "an inclusion proof");
}

static void verify(void *arg)
{
    large_log *log = arg;
    sotto_merkle_hash leaf;

    leaf_of(&leaf, 77);
    sotto_bench_expect(sotto_merkle_check_inclusion(&log->proof, &leaf, 77, log->entries,
                                                    &log->root, NULL) == SOTTO_OK,
                       "a proof that holds");
}

static void bench_proofs(const sotto_bench *b)
{
    static large_log log;

    if (!sotto_bench_wanted(b, "anonymity/log-inclusion-proof-10e7") &&
        !sotto_bench_wanted(b, "anonymity/log-inclusion-check-10e7"))
        return;
    log.entries = b->seconds < 0.1 ? BRIEF : LARGE;
    make_large(&log);
    for (int i = 0; i < WARM; i++)
        prove(&log);
    sotto_bench_run(b, "anonymity/log-inclusion-proof-10e7", prove, &log, 1);
    log.next = 0;
    prove(&log);
    sotto_bench_run(b, "anonymity/log-inclusion-check-10e7", verify, &log, 1);
    sotto_prover_free(log.prover);
    for (unsigned l = 0; l < LEVELS; l++)
        sotto_release(log.level[l], log.sizes[l]);
}

/* ---- appending: batches that are on disk and signed ------------------------------------------------------------------ */

enum { BATCH = 4096, ENTRY = 128 };

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *where)
{
    (void)facts, (void)kind, (void)where;
    return remove(path);
}

static double now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void append_batch(sotto_log_store *store)
{
    uint8_t entry[ENTRY] = {0};
    uint64_t index;

    for (uint32_t i = 0; i < BATCH; i++) {
        memcpy(entry, &i, sizeof i);
        sotto_bench_expect(sotto_log_store_add(store, &index, sotto_bytes_of(entry, sizeof entry),
                                               NULL) == SOTTO_OK,
                           "an entry");
    }
    sotto_bench_expect(sotto_log_store_commit(store, NULL) == SOTTO_OK, "a commit");
}

static void bench_append(const sotto_bench *b)
{
    static const uint8_t seed[SOTTO_SIGN_SEED] = {1};
    static const char name[] = "anonymity/log-append-synced";
    char directory[] = "sotto-bench-log-XXXXXX";
    sotto_note_signer signer = {0};
    sotto_log_store_options options = {.directory = directory, .signer = &signer};
    sotto_log_store *store;
    double start, done = 0;

    if (!sotto_bench_wanted(b, name))
        return;
    sotto_bench_expect(mkdtemp(directory) != NULL, "a directory");
    sotto_bench_expect(sotto_signer_init(&signer.signer, seed, NULL) == SOTTO_OK &&
                           sotto_note_key_init(&signer.key, sotto_bytes_of("bench.example/log", 17),
                                               SOTTO_NOTE_ED25519, signer.signer.public_key,
                                               NULL) == SOTTO_OK &&
                           sotto_log_store_open(&store, &options, NULL) == SOTTO_OK,
                       "a log");
    append_batch(store);
    start = now();
    do {
        append_batch(store);
        done += BATCH;
    } while (now() - start < b->seconds);
    /* By the clock on the wall: a disk's time is no processor's. */
    sotto_bench_note(b, name, "entries/s", done / (now() - start));
    sotto_log_store_close(store);
    sotto_note_signer_clear(&signer);
    (void)nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void sotto_bench_log(const sotto_bench *b)
{
    bench_proofs(b);
    bench_append(b);
}
