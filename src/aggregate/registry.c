#include "aggregate/registry.h"

#include "crypto/hash.h"

#include <string.h>

enum { TOGETHER = 64 };

void sotto_registry_root(const sotto_registry *registry, uint8_t out[32])
{
    static const char plain[] = "sotto-registry-1", agreeing[] = "sotto-registry-2";
    uint8_t count[8];
    sotto_buf number = sotto_buf_over(count, sizeof count);
    sotto_writer w = sotto_writer_on(&number);
    sotto_hash hash;

    sotto_write_uint(&w, registry->count, 8);
    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(registry->pair ? agreeing : plain, sizeof plain - 1));
    sotto_hash_update(&hash, sotto_bytes_of(count, sizeof count));
    sotto_hash_update(&hash, sotto_bytes_of(registry->server, sizeof registry->server));
    for (uint64_t i = 0; i < registry->count;) {
        uint8_t some[TOGETHER][3][32]; /* a call for each key takes as long as the hash */
        size_t more = 0;

        for (; more < TOGETHER && i < registry->count && registry->pair; more++, i++) {
            memcpy(some[more][0], registry->keys[i], 32);
            memcpy(some[more][1], registry->pair[i], 32);
            memcpy(some[more][2], registry->channel[i], 32);
        }
        if (registry->pair)
            sotto_hash_update(&hash, sotto_bytes_of(some, more * sizeof some[0]));
        else
            sotto_hash_update(&hash, sotto_bytes_of(registry->keys[i++], SOTTO_SIGN_PUBLIC));
    }
    sotto_hash_final(&hash, out);
}

const uint8_t *sotto_registry_key(const sotto_registry *registry, uint32_t index)
{
    if (index == SOTTO_TO_SERVER)
        return registry->server;
    return index < registry->count ? registry->keys[index] : NULL;
}
