/* Key configurations come from servers: whatever decodes must encode to the same bytes, and sealing to
 * it must end in a status. The first byte chooses between one configuration and a list. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sotto/seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_CONFIGS = 64, WIRE = 2 + UINT16_MAX + 9 };

static void same_bytes(sotto_bytes wire, const sotto_buf *out)
{
    if (!sotto_bytes_equal_vartime(wire, sotto_buf_bytes(out)))
        abort();
}

/* Only a key of a known KEM costs curve arithmetic; the others are refused at once. */
static void seal_to(const sotto_hpke_config *to)
{
    static const uint8_t ikm[SOTTO_HPKE_MAX_PRIVATE_KEY] = {1};
    uint8_t memory[SOTTO_HPKE_MAX_PUBLIC_KEY + 4 + SOTTO_HPKE_TAG_SIZE];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    const sotto_bytes none = sotto_bytes_of(NULL, 0);

    sotto_status status = sotto_hpke_seal(&out, to, sotto_bytes_of(ikm, sizeof ikm), none, none,
                                          sotto_bytes_of("text", 4), NULL);
    if (status == SOTTO_OK && !to->supported)
        abort();
    if (status != SOTTO_OK && out.len != 0)
        abort();
}

static void try_one(sotto_bytes wire)
{
    static uint8_t memory[WIRE];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_hpke_config config;

    if (sotto_hpke_config_decode(&config, wire, NULL) != SOTTO_OK)
        return;
    if (sotto_hpke_config_encode(&out, &config, NULL) != SOTTO_OK)
        abort();
    same_bytes(wire, &out);
    seal_to(&config);
}

static void try_list(sotto_bytes wire)
{
    static sotto_hpke_config configs[MOST_CONFIGS];
    static uint8_t memory[WIRE];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    const sotto_hpke_config *picked;
    size_t count;

    if (sotto_hpke_config_list_decode(configs, MOST_CONFIGS, &count, wire, NULL) != SOTTO_OK)
        return;
    if (sotto_hpke_config_list_encode(&out, configs, count, NULL) != SOTTO_OK)
        abort();
    same_bytes(wire, &out);
    if (sotto_hpke_config_pick(&picked, configs, count, NULL) == SOTTO_OK)
        seal_to(picked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] & 1)
        try_list(sotto_bytes_of(data + 1, size - 1));
    else
        try_one(sotto_bytes_of(data + 1, size - 1));
    return 0;
}
