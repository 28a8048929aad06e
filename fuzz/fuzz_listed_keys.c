/* A list of token keys comes from the network. No list that anybody can make up passes for one that the policy's issuer signed.
 * What is read of any list is keys with their own ids, one for each collection. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "crypto/hash.h"
#include "dap/admission.h"
#include "recipe/listed_keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of RFC 8032, 7.1, test 2. The corpus has one file that it signed, and this is its list. */
static const uint8_t owner[32] = {0x3d, 0x40, 0x17, 0xc3, 0xe8, 0x43, 0x89, 0x5a, 0x92, 0xb7, 0x0a,
                                  0xa7, 0x4d, 0x1b, 0x7e, 0xbc, 0x9c, 0x98, 0x2c, 0xcf, 0x2e, 0xc4,
                                  0x96, 0x8c, 0xc0, 0xcd, 0x55, 0xf1, 0x2a, 0xf4, 0x66, 0x0c};
static const char by_the_owner[] = "{\"keys\":[]}\n";

static void check(const sotto_listed_key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const bool arc = sotto_listed_key_is_arc(&keys[i]);
        uint8_t id[32];

        sotto_hash_once(id, SOTTO_SHA256,
                        sotto_bytes_of(keys[i].spki, arc ? SOTTO_ARC_PUBLIC : sizeof keys[i].spki));
        if (memcmp(id, keys[i].id, sizeof id) != 0 || keys[i].opens >= keys[i].closes)
            abort();
        for (size_t j = 0; j < i; j++)
            if (strcmp(keys[i].analysis, keys[j].analysis) == 0 &&
                (keys[i].opens == keys[j].opens ||
                 (arc && keys[i].opens < keys[j].closes && keys[j].opens < keys[i].closes)))
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const sotto_policy_key key = {"issuer", sotto_bytes_of(owner, sizeof owner)};
    const sotto_policy policy = {.issuers = &key, .issuer_count = 1};
    sotto_bytes list = sotto_bytes_of(data, size);
    const sotto_listed_key *keys;
    const char *issuer;
    uint64_t serial;
    sotto_arena arena;
    size_t count;

    if (sotto_listed_keys_judge(&issuer, &list, &serial, &policy, list, NULL) == SOTTO_OK &&
        !sotto_bytes_equal_vartime(list, sotto_bytes_of(by_the_owner, sizeof by_the_owner - 1)))
        abort();
    /* The list itself, behind whatever signatures. */
    sotto_arena_init(&arena, 1 << 22);
    if (sotto_listed_keys_read(&keys, &count, list, &arena, NULL) == SOTTO_OK)
        check(keys, count);
    sotto_arena_clear(&arena);
    return 0;
}
