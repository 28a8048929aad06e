/* The tree against RFC 6962, 2.1, written down as the RFC has it: recursively, and as slowly. */
#include "tlog/merkle.h"

#include "support/test.h"

#include <string.h>

enum { LEAVES = 40 };

static sotto_merkle_hash leaf_of(uint64_t i)
{
    const uint8_t entry[2] = {(uint8_t)(i >> 8), (uint8_t)i};
    sotto_merkle_hash hash;

    sotto_merkle_leaf(&hash, sotto_bytes_of(entry, sizeof entry));
    return hash;
}

static uint64_t left_of(uint64_t n)
{
    uint64_t k = 1;

    while (2 * k < n)
        k *= 2;
    return k;
}

static sotto_merkle_hash root_of(uint64_t begin, uint64_t end)
{
    sotto_merkle_hash left, right;
    uint64_t k;

    if (begin == end) {
        sotto_merkle_empty(&left);
        return left;
    }
    if (end - begin == 1)
        return leaf_of(begin);
    k = left_of(end - begin);
    left = root_of(begin, begin + k);
    right = root_of(begin + k, end);
    sotto_merkle_node(&left, &left, &right);
    return left;
}

static void prove(sotto_merkle_proof *proof, uint64_t index, uint64_t begin, uint64_t end)
{
    uint64_t k;

    if (end - begin == 1)
        return;
    k = begin + left_of(end - begin);
    if (index < k) {
        prove(proof, index, begin, k);
        proof->hashes[proof->count++] = root_of(k, end);
    } else {
        prove(proof, index, k, end);
        proof->hashes[proof->count++] = root_of(begin, k);
    }
}

static void prove_growth(sotto_merkle_proof *proof, uint64_t size1, uint64_t begin, uint64_t end,
                         bool known)
{
    uint64_t k;

    if (size1 == end) {
        if (!known)
            proof->hashes[proof->count++] = root_of(begin, end);
        return;
    }
    k = begin + left_of(end - begin);
    if (size1 <= k) {
        prove_growth(proof, size1, begin, k, known);
        proof->hashes[proof->count++] = root_of(k, end);
    } else {
        prove_growth(proof, size1, k, end, false);
        proof->hashes[proof->count++] = root_of(begin, k);
    }
}

static void a_tree_grows_to_the_roots_of_the_rfc(sotto_test *t)
{
    sotto_merkle_tree tree = {0};
    sotto_merkle_hash root, wanted;

    for (uint64_t i = 0; i < LEAVES; i++) {
        const sotto_merkle_hash leaf = leaf_of(i);

        sotto_merkle_root(&root, &tree);
        wanted = root_of(0, i);
        CHECK_BYTES(t, wanted.bytes, root.bytes, SOTTO_MERKLE_HASH);
        sotto_merkle_append(&tree, 0, &leaf);
    }
}

static void a_whole_subtree_is_appended_at_once(sotto_test *t)
{
    sotto_merkle_tree tree = {0};
    sotto_merkle_hash hash = root_of(0, 8), wanted = root_of(0, 13);

    sotto_merkle_append(&tree, 3, &hash);
    hash = root_of(8, 12);
    sotto_merkle_append(&tree, 2, &hash);
    hash = leaf_of(12);
    sotto_merkle_append(&tree, 0, &hash);
    sotto_merkle_root(&hash, &tree);
    CHECK_BYTES(t, wanted.bytes, hash.bytes, SOTTO_MERKLE_HASH);
    CHECK_EQUAL(t, 13, tree.size);
}

static void every_inclusion_proof_holds_for_its_place_alone(sotto_test *t)
{
    for (uint64_t size = 1; size <= LEAVES; size++) {
        const sotto_merkle_hash root = root_of(0, size);

        for (uint64_t i = 0; i < size; i++) {
            const sotto_merkle_hash leaf = leaf_of(i);
            sotto_merkle_proof proof = {0};

            prove(&proof, i, 0, size);
            CHECK_OK(t, sotto_merkle_check_inclusion(&proof, &leaf, i, size, &root, &t->err));
            if (size > 1)
                CHECK_STATUS(t, SOTTO_REJECTED,
                             sotto_merkle_check_inclusion(&proof, &leaf, (i + 1) % size, size,
                                                          &root, &t->err));
        }
    }
}

static void every_consistency_proof_holds_for_its_sizes_alone(sotto_test *t)
{
    for (uint64_t size2 = 1; size2 <= LEAVES; size2++)
        for (uint64_t size1 = 1; size1 <= size2; size1++) {
            const sotto_merkle_hash root1 = root_of(0, size1), root2 = root_of(0, size2);
            sotto_merkle_proof proof = {0};

            prove_growth(&proof, size1, 0, size2, true);
            CHECK_OK(t,
                     sotto_merkle_check_consistency(&proof, size1, &root1, size2, &root2, &t->err));
            CHECK_STATUS(
                t, SOTTO_REJECTED,
                sotto_merkle_check_consistency(&proof, size1 + 1, &root1, size2, &root2, &t->err));
        }
}

/* ---- bad input ------------------------------------------------------------------------------------------------------ */

static void an_entry_that_is_not_there_is_not_included(sotto_test *t)
{
    const sotto_merkle_hash leaf = leaf_of(4), root = root_of(0, 4);
    const sotto_merkle_proof none = {0};

    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_merkle_check_inclusion(&none, &leaf, 4, 4, &root, &t->err));
    CHECK_REASON(t, "inclusion proof: the tree has no such entry");
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_merkle_check_inclusion(&none, &leaf, UINT64_MAX, 0, &root, &t->err));
}

static void an_inclusion_proof_with_extra_hashes_is_rejected(sotto_test *t)
{
    const sotto_merkle_hash leaf = leaf_of(2), root = root_of(0, 7);
    sotto_merkle_proof proof = {0};

    prove(&proof, 2, 0, 7);
    proof.hashes[proof.count++] = root;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_merkle_check_inclusion(&proof, &leaf, 2, 7, &root, &t->err));
    CHECK_REASON(t, "inclusion proof: 4 hashes, where 3 are needed");
    proof.count = 2;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_merkle_check_inclusion(&proof, &leaf, 2, 7, &root, &t->err));
    CHECK_REASON(t, "inclusion proof: 2 hashes, where 3 are needed");
}

static void an_inclusion_proof_of_another_leaf_is_rejected(sotto_test *t)
{
    const sotto_merkle_hash leaf = leaf_of(3), root = root_of(0, 7);
    sotto_merkle_proof proof = {0};

    prove(&proof, 2, 0, 7);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_merkle_check_inclusion(&proof, &leaf, 2, 7, &root, &t->err));
    CHECK_REASON(t, "inclusion proof: leads to another root");
}

static void a_consistency_proof_with_extra_hashes_is_rejected(sotto_test *t)
{
    const sotto_merkle_hash root1 = root_of(0, 6), root2 = root_of(0, 8);
    sotto_merkle_proof proof = {0};

    prove_growth(&proof, 6, 0, 8, true);
    proof.hashes[proof.count++] = root1;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_merkle_check_consistency(&proof, 6, &root1, 8, &root2, &t->err));
    CHECK_REASON(t, "consistency proof: 4 hashes, where 3 are needed");
    proof.count = 1;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_merkle_check_consistency(&proof, 8, &root2, 8, &root2, &t->err));
    CHECK_REASON(t, "consistency proof: 1 hashes, where 0 are needed");
}

static void a_fork_has_no_consistency_proof(sotto_test *t)
{
    const sotto_merkle_hash root1 = root_of(0, 6), root2 = root_of(0, 8), other = root_of(1, 7);
    sotto_merkle_proof proof = {0};

    prove_growth(&proof, 6, 0, 8, true);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_merkle_check_consistency(&proof, 6, &other, 8, &root2, &t->err));
    CHECK_REASON(t, "consistency proof: leads to another old root");
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_merkle_check_consistency(&proof, 6, &root1, 8, &other, &t->err));
    CHECK_REASON(t, "consistency proof: leads to another new root");
}

static void two_trees_of_one_size_are_one(sotto_test *t)
{
    const sotto_merkle_hash root1 = root_of(0, 6), root2 = root_of(1, 7);
    const sotto_merkle_proof none = {0};

    CHECK_OK(t, sotto_merkle_check_consistency(&none, 6, &root1, 6, &root1, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_merkle_check_consistency(&none, 6, &root1, 6, &root2, &t->err));
    CHECK_REASON(t, "two trees of one size with different roots");
}

static void no_proof_leads_back_or_from_nothing(sotto_test *t)
{
    const sotto_merkle_hash root1 = root_of(0, 6), root2 = root_of(0, 8), empty = root_of(0, 0);
    const sotto_merkle_proof none = {0};

    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_merkle_check_consistency(&none, 8, &root2, 6, &root1, &t->err));
    CHECK_REASON(t, "consistency proof: no proof leads from a larger tree to a smaller one");
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_merkle_check_consistency(&none, 0, &empty, 6, &root1, &t->err));
    CHECK_REASON(t, "consistency proof: no proof leads from an empty tree");
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_tree_grows_to_the_roots_of_the_rfc),
        CASE(a_whole_subtree_is_appended_at_once),
        CASE(every_inclusion_proof_holds_for_its_place_alone),
        CASE(every_consistency_proof_holds_for_its_sizes_alone),
        CASE(an_entry_that_is_not_there_is_not_included),
        CASE(an_inclusion_proof_with_extra_hashes_is_rejected),
        CASE(an_inclusion_proof_of_another_leaf_is_rejected),
        CASE(a_consistency_proof_with_extra_hashes_is_rejected),
        CASE(a_fork_has_no_consistency_proof),
        CASE(two_trees_of_one_size_are_one),
        CASE(no_proof_leads_back_or_from_nothing),
    };

    return RUN_TESTS(argc, argv, cases);
}
