/* A safetensors file is refused, or its weights are finite and written again as a file that reads back the same. */
#include <math.h>
#include <stdlib.h>

#include "learn/model_file.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const sotto_model_config config = {
        .type = SOTTO_MODEL_MLP, .inputs = 2, .hidden = {3}, .hidden_count = 1, .classes = 2};
    float weights[32] = {0}, again[32] = {0};
    uint8_t memory[4096];
    sotto_buf buf = sotto_buf_over(memory, sizeof memory);
    sotto_model model, own;

    if (sotto_model_init(&model, &config, NULL) != SOTTO_OK || model.parameters > 32)
        abort();
    if (sotto_model_own(&own, sotto_bytes_of(data, size), NULL) == SOTTO_OK &&
        (own.head.len + 4 * own.parameters != size || own.head.data != data))
        abort();
    if (sotto_safetensors_decode(&model, weights, sotto_bytes_of(data, size), NULL) != SOTTO_OK)
        return 0;
    for (size_t i = 0; i < model.parameters; i++)
        if (!isfinite(weights[i]))
            abort();
    if (sotto_safetensors_encode(&model, weights, &buf, NULL) != SOTTO_OK ||
        sotto_safetensors_decode(&model, again, sotto_buf_bytes(&buf), NULL) != SOTTO_OK ||
        !sotto_bytes_equal_vartime(sotto_bytes_of(weights, sizeof weights),
                                   sotto_bytes_of(again, sizeof again)))
        abort();
    return 0;
}
