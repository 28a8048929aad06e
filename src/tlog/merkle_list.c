#include "tlog/merkle_list.h"

void sotto_merkle_list_root(sotto_merkle_hash *out, const sotto_merkle_hash *leaves, size_t count)
{
    sotto_merkle_tree tree = {.size = 0};

    for (size_t i = 0; i < count; i++)
        sotto_merkle_append(&tree, 0, &leaves[i]);
    sotto_merkle_root(out, &tree);
}

/* RFC 6962, 2.1.2, from the root down: what is beside the way goes to the front. */
void sotto_merkle_list_consistency(sotto_merkle_proof *out, const sotto_merkle_hash *leaves,
                                   size_t before, size_t count)
{
    sotto_merkle_hash beside[SOTTO_MERKLE_PROOF] = {0};
    size_t found = 0, left = 0;
    bool known = true; /* whoever checks has the root of these leaves */

    while (before < count) {
        size_t half = 1;

        while (2 * half < count)
            half *= 2;
        if (before <= half) {
            sotto_merkle_list_root(&beside[found++], leaves + left + half, count - half);
            count = half;
            continue;
        }
        sotto_merkle_list_root(&beside[found++], leaves + left, half);
        left += half;
        before -= half;
        count -= half;
        known = false;
    }
    if (!known)
        sotto_merkle_list_root(&beside[found++], leaves + left, count);
    out->count = found;
    for (size_t i = 0; i < found; i++)
        out->hashes[i] = beside[found - 1 - i];
}

/* RFC 6962, 2.1.1, from the root down likewise. */
void sotto_merkle_list_inclusion(sotto_merkle_proof *out, const sotto_merkle_hash *leaves,
                                 size_t index, size_t count)
{
    sotto_merkle_hash beside[SOTTO_MERKLE_PROOF] = {0};
    size_t found = 0, left = 0;

    while (count > 1) {
        size_t half = 1;

        while (2 * half < count)
            half *= 2;
        if (index < half) {
            sotto_merkle_list_root(&beside[found++], leaves + left + half, count - half);
            count = half;
        } else {
            sotto_merkle_list_root(&beside[found++], leaves + left, half);
            left += half;
            index -= half;
            count -= half;
        }
    }
    out->count = found;
    for (size_t i = 0; i < found; i++)
        out->hashes[i] = beside[found - 1 - i];
}
