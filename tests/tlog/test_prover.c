/* Proofs from tiles hold, for small trees all of them, and for a large one at every edge. */
#include "tlog/prover.h"

#include "base/alloc.h"
#include "support/test.h"
#include "tlog/growth.h"

#include <string.h>

enum { LARGE = 70000, LEVELS = 3 };

/* All hashes of the tiles of a tree: level l has one for each 256^l leaves. */
typedef struct tiles {
    sotto_merkle_hash *level[LEVELS];
    uint64_t count[LEVELS];
    unsigned reads;
    bool fails;
} tiles;

static sotto_merkle_hash leaf_of(uint64_t i)
{
    sotto_merkle_hash hash;

    sotto_merkle_leaf(&hash, sotto_bytes_of(&i, sizeof i));
    return hash;
}

static void fill(sotto_test *t, tiles *all, uint64_t size)
{
    memset(all, 0, sizeof *all);
    for (unsigned l = 0; l < LEVELS; l++) {
        all->count[l] = size >> (8 * l);
        all->level[l] =
            sotto_arena_take_array(&t->arena, (size_t)all->count[l] + 1, sizeof **all->level);
        CHECK(t, all->level[l] != NULL);
        for (uint64_t i = 0; i < all->count[l]; i++) {
            sotto_merkle_tree tree = {0};

            if (l == 0) {
                all->level[0][i] = leaf_of(i);
                continue;
            }
            for (uint64_t j = 0; j < SOTTO_TILE_WIDTH; j++)
                sotto_merkle_append(&tree, 0, &all->level[l - 1][i * SOTTO_TILE_WIDTH + j]);
            sotto_merkle_root(&all->level[l][i], &tree);
        }
    }
}

static sotto_status read_tile(void *context, const sotto_tile *tile,
                              sotto_merkle_hash out[SOTTO_TILE_WIDTH], sotto_err *err)
{
    tiles *all = context;

    all->reads++;
    if (all->fails || tile->level >= LEVELS ||
        tile->index * SOTTO_TILE_WIDTH + tile->width > all->count[tile->level])
        return sotto_fail(err, SOTTO_IO, "no such tile");
    memcpy(out, all->level[tile->level] + tile->index * SOTTO_TILE_WIDTH,
           tile->width * sizeof *out);
    return SOTTO_OK;
}

static sotto_merkle_hash root_of(uint64_t size)
{
    sotto_merkle_tree tree = {0};
    sotto_merkle_hash root;

    for (uint64_t i = 0; i < size; i++) {
        const sotto_merkle_hash leaf = leaf_of(i);

        sotto_merkle_append(&tree, 0, &leaf);
    }
    sotto_merkle_root(&root, &tree);
    return root;
}

static void check_inclusion(sotto_test *t, sotto_prover *p, uint64_t index, uint64_t size,
                            const sotto_merkle_hash *root)
{
    const sotto_merkle_hash leaf = leaf_of(index);
    sotto_merkle_proof proof;

    CHECK_OK(t, sotto_prover_inclusion(p, &proof, index, size, &t->err));
    CHECK_OK(t, sotto_merkle_check_inclusion(&proof, &leaf, index, size, root, &t->err));
}

static void check_consistency(sotto_test *t, sotto_prover *p, uint64_t size1, uint64_t size2,
                              const sotto_merkle_hash *root2)
{
    const sotto_merkle_hash root1 = root_of(size1);
    sotto_merkle_proof proof;

    CHECK_OK(t, sotto_prover_consistency(p, &proof, size1, size2, &t->err));
    CHECK_OK(t, sotto_merkle_check_consistency(&proof, size1, &root1, size2, root2, &t->err));
}

static void every_proof_of_a_small_tree_holds(sotto_test *t)
{
    sotto_prover *p;
    tiles all;

    fill(t, &all, 70);
    CHECK_OK(t, sotto_prover_new(&p, 4, read_tile, &all, &t->err));
    for (uint64_t size = 1; size <= 70; size++) {
        const sotto_merkle_hash root = root_of(size);

        for (uint64_t i = 0; i < size; i++)
            check_inclusion(t, p, i, size, &root);
        for (uint64_t i = 1; i <= size; i++)
            check_consistency(t, p, i, size, &root);
    }
    sotto_prover_free(p);
}

/* Steps for a list of sizes, checked from each of them. */
static void growth_is_shown_from_every_listed_size(sotto_test *t)
{
    static const uint64_t sizes[] = {1, 255, 256, 300, 65537, 69999, LARGE};
    const size_t count = sizeof sizes / sizeof sizes[0];
    const sotto_checkpoint now = {.size = LARGE, .root = root_of(LARGE)};
    sotto_buf steps = sotto_test_buf(t, 8192);
    sotto_prover *p;
    tiles all;
    bool fork;

    fill(t, &all, LARGE);
    CHECK_OK(t, sotto_prover_new(&p, 64, read_tile, &all, &t->err));
    CHECK_OK(t, sotto_prover_growth(p, &steps, sizes, count, &t->err));
    for (size_t i = 0; i < count; i++) {
        const sotto_checkpoint seen = {.size = sizes[i], .root = root_of(sizes[i])};

        CHECK_OK(t, sotto_growth_check(&now, &seen, sotto_buf_bytes(&steps), &fork, &t->err));
    }
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_prover_growth(p, &steps, (const uint64_t[]){300, 256}, 2, &t->err));
    sotto_prover_free(p);
}

static void proofs_of_a_large_tree_hold_at_its_edges(sotto_test *t)
{
    static const uint64_t at[] = {0,     1,     255,   256,   257,   65535, 65536,
                                  65537, 69887, 69888, 69999, 12345, 33000};
    const sotto_merkle_hash root = root_of(LARGE);
    sotto_merkle_tree tree;
    sotto_merkle_hash again;
    sotto_prover *p;
    tiles all;

    fill(t, &all, LARGE);
    CHECK_OK(t, sotto_prover_new(&p, 64, read_tile, &all, &t->err));
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        check_inclusion(t, p, at[i], LARGE, &root);
        check_consistency(t, p, at[i] + 1, LARGE, &root);
    }
    CHECK_OK(t, sotto_prover_root(p, &again, LARGE, &t->err));
    CHECK(t, sotto_merkle_equal(&again, &root));
    CHECK_OK(t, sotto_prover_root(p, &again, 65536, &t->err));
    CHECK_OK(t, sotto_prover_tree(p, &tree, LARGE, LARGE, &t->err));
    CHECK_EQUAL(t, LARGE, tree.size);
    sotto_merkle_root(&again, &tree);
    CHECK(t, sotto_merkle_equal(&again, &root));
    sotto_prover_free(p);
}

/* A proof asks for a few tiles, and for none once they were read. */
static void tiles_are_read_once(sotto_test *t)
{
    sotto_merkle_proof proof;
    sotto_prover *p;
    unsigned first;
    tiles all;

    fill(t, &all, LARGE);
    CHECK_OK(t, sotto_prover_new(&p, 64, read_tile, &all, &t->err));
    CHECK_OK(t, sotto_prover_inclusion(p, &proof, 12345, LARGE, &t->err));
    first = all.reads;
    CHECK(t, first <= 5);
    CHECK_OK(t, sotto_prover_inclusion(p, &proof, 12346, LARGE, &t->err));
    CHECK_EQUAL(t, first, all.reads);
    sotto_prover_forget(p);
    CHECK_OK(t, sotto_prover_inclusion(p, &proof, 12345, LARGE, &t->err));
    CHECK_EQUAL(t, 2 * first, all.reads);
    sotto_prover_free(p);
}

static void a_tile_that_grew_is_read_again(sotto_test *t)
{
    sotto_merkle_hash root = root_of(10);
    sotto_prover *p;
    tiles all;

    fill(t, &all, 20);
    CHECK_OK(t, sotto_prover_new(&p, 4, read_tile, &all, &t->err));
    check_inclusion(t, p, 3, 10, &root);
    root = root_of(20);
    check_inclusion(t, p, 3, 20, &root);
    CHECK_EQUAL(t, 2, all.reads);
    root = root_of(10);
    check_inclusion(t, p, 3, 10, &root); /* the larger one has it all */
    CHECK_EQUAL(t, 2, all.reads);
    sotto_prover_free(p);
}

static void what_is_not_there_is_not_proved(sotto_test *t)
{
    sotto_merkle_proof proof;
    sotto_prover *p;
    tiles all;

    fill(t, &all, 20);
    CHECK_OK(t, sotto_prover_new(&p, 4, read_tile, &all, &t->err));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_prover_inclusion(p, &proof, 20, 20, &t->err));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_prover_consistency(p, &proof, 0, 20, &t->err));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_prover_consistency(p, &proof, 21, 20, &t->err));
    CHECK_STATUS(t, SOTTO_IO, sotto_prover_inclusion(p, &proof, 20, 21, &t->err));
    all.fails = true;
    CHECK_STATUS(t, SOTTO_IO, sotto_prover_inclusion(p, &proof, 1, 20, &t->err));
    all.fails = false;
    CHECK_OK(t, sotto_prover_inclusion(p, &proof, 1, 20, &t->err));
    sotto_prover_free(p);
    sotto_alloc_fail_after(0);
    CHECK_STATUS(t, SOTTO_NO_MEMORY, sotto_prover_new(&p, 4, read_tile, &all, &t->err));
    sotto_alloc_fail_after(-1);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_proof_of_a_small_tree_holds),
        CASE(growth_is_shown_from_every_listed_size),
        CASE(proofs_of_a_large_tree_hold_at_its_edges),
        CASE(tiles_are_read_once),
        CASE(a_tile_that_grew_is_read_again),
        CASE(what_is_not_there_is_not_proved),
    };

    return RUN_TESTS(argc, argv, cases);
}
