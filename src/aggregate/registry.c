#include "aggregate/registry.h"

#include "crypto/hash.h"

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
    for (uint64_t i = 0; i < registry->count; i++) {
        sotto_hash_update(&hash, sotto_bytes_of(registry->keys[i], SOTTO_SIGN_PUBLIC));
        if (!registry->pair)
            continue;
        sotto_hash_update(&hash, sotto_bytes_of(registry->pair[i], 32));
        sotto_hash_update(&hash, sotto_bytes_of(registry->channel[i], 32));
    }
    sotto_hash_final(&hash, out);
}

const uint8_t *sotto_registry_key(const sotto_registry *registry, uint32_t index)
{
    if (index == SOTTO_TO_SERVER)
        return registry->server;
    return index < registry->count ? registry->keys[index] : NULL;
}
