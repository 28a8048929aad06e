/* aggregate/registry.h - who may take part in a round, by index, with the key that signs for each.
 *
 * Callers:  whoever checks a message. A round names the root; join compares.
 * Memory:   borrowed. Today everybody holds the whole list; a tree with inclusion proofs can take its place without a
 *           change to any machine, which asks for single keys only.
 */
#ifndef SOTTO_AGGREGATE_REGISTRY_H
#define SOTTO_AGGREGATE_REGISTRY_H

#include "crypto/signature.h"

/* Addresses that are no registry index. */
#define SOTTO_TO_SERVER    UINT32_C(0xffffffff)
#define SOTTO_TO_BOARD     UINT32_C(0xfffffffe)
#define SOTTO_TO_EVERYBODY UINT32_C(0xfffffffd)
#define SOTTO_MOST_INDEX   UINT32_C(0xfffffff0) /* no index reaches this */

typedef struct sotto_registry {
    uint8_t server[SOTTO_SIGN_PUBLIC];
    const uint8_t (*keys)[SOTTO_SIGN_PUBLIC];
    /* X25519: what pair masks and what sealed shares are agreed on with. Both NULL where a method makes keys for each round. */
    const uint8_t (*pair)[32], (*channel)[32];
    uint64_t count;
} sotto_registry;

/* SHA-256 over a label, the number of keys, the server's key and all others in order, the X25519 keys after each where there
 * are any. A beacon is drawn over the root, so nobody is registered after the draw. */
void sotto_registry_root(const sotto_registry *registry, uint8_t out[32]);

/* The key that signs for an index or for the server; NULL if there is none. */
const uint8_t *sotto_registry_key(const sotto_registry *registry, uint32_t index);

#endif
