/* Key configurations come from gateways: what decodes and is supported encodes again, and can be sealed to. */
#include "target.h"

#include "seal/ohttp/ohttp.h"

#include <stdlib.h>

enum { MOST = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t ikm[SOTTO_HPKE_MAX_PRIVATE_KEY] = {1};
    sotto_hpke_config configs[MOST], again;
    size_t count;

    if (sotto_ohttp_keys_decode(configs, MOST, &count, sotto_bytes_of(data, size), NULL) !=
        SOTTO_OK)
        return 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t memory[256];
        sotto_buf out = sotto_buf_over(memory, sizeof memory);
        sotto_ohttp_exchange exchange;

        if (!configs[i].supported)
            continue;
        if (sotto_ohttp_keys_encode(&out, &configs[i], 1, NULL) != SOTTO_OK ||
            sotto_ohttp_key_decode(&again, sotto_bytes_of(memory + 2, out.len - 2), NULL) !=
                SOTTO_OK ||
            again.id != configs[i].id || again.suite.aead != configs[i].suite.aead)
            abort();
        out.len = 0;
        if (sotto_ohttp_request_seal(&exchange, &out, &configs[i], sotto_bytes_of(ikm, sizeof ikm),
                                     sotto_bytes_of("text", 4), NULL) != SOTTO_OK &&
            out.len != 0)
            abort();
    }
    return 0;
}
