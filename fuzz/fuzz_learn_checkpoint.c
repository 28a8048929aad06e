/* A checkpoint is refused and leaves the session as it was, or it is written again as the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "learn/session.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const sotto_model_config config = {
        .type = SOTTO_MODEL_LOGISTIC, .inputs = 2, .classes = 2};
    static const sotto_step_config step = {SOTTO_OPTIMIZER_MOMENTUM, 1, 1, 0.9, 0, 0};
    uint8_t before[2048], after[2048];
    sotto_buf first = sotto_buf_over(before, sizeof before);
    sotto_buf second = sotto_buf_over(after, sizeof after);
    sotto_model model;
    sotto_session session;
    sotto_arena arena;

    sotto_arena_init(&arena, 1 << 20);
    if (sotto_model_init(&model, &config, NULL) != SOTTO_OK ||
        sotto_session_init(&session, &model, &step, sotto_bytes_of("fuzz", 4), 1, 8, &arena,
                           NULL) != SOTTO_OK ||
        sotto_session_encode(&session, &first, NULL) != SOTTO_OK)
        abort();
    const bool taken = sotto_session_decode(&session, sotto_bytes_of(data, size), NULL) == SOTTO_OK;
    if (sotto_session_encode(&session, &second, NULL) != SOTTO_OK)
        abort();
    if (taken ? second.len != size || memcmp(after, data, size) != 0
              : second.len != first.len || memcmp(after, before, first.len) != 0)
        abort();
    sotto_arena_clear(&arena);
    return 0;
}
