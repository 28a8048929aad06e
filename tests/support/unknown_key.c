#include "support/unknown_key.h"

static sotto_status note_id(void *context, const sotto_key_line *line, sotto_err *err)
{
    bool *known = context;

    (void)err;
    known[line->config.id] = true;
    return SOTTO_OK;
}

uint8_t sotto_test_unknown_key(sotto_test *t, sotto_keys *keys)
{
    bool known[256] = {false};
    uint8_t id = 0;

    CHECK_OK(t, sotto_keys_list(keys, note_id, known, &t->err));
    while (known[id])
        id++;
    return id;
}
