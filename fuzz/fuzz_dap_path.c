/* Request targets and content types: text of strangers. A path that is read is written the same, but for the query
 * of the HPKE configuration, which is ignored. The first byte chooses which. */
#include <stdlib.h>
#include <string.h>

#include "dap/dap.h"
#include "target.h"

static void try_path(sotto_bytes target)
{
    uint8_t memory[256];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    const sotto_bytes none = sotto_bytes_of(NULL, 0);
    sotto_dap_path path;

    if (sotto_dap_path_decode(&path, target, NULL) != SOTTO_OK)
        return;
    if (sotto_dap_path_encode(&out, none, &path, NULL) != SOTTO_OK)
        abort();
    if (path.resource == SOTTO_DAP_HPKE_CONFIG && target.len > out.len)
        target.len = out.len;
    if (!sotto_bytes_equal_vartime(target, sotto_buf_bytes(&out)))
        abort();
}

/* No content type names two messages. */
static void try_media_type(sotto_bytes text)
{
    char *copy = malloc(text.len + 1);
    int found = 0;

    if (!copy)
        abort();
    if (text.len)
        memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    for (int i = 0; i < SOTTO_DAP_MESSAGES; i++)
        found += sotto_dap_media_type_is((sotto_dap_message)i, copy);
    if (found > 1)
        abort();
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] & 1)
        try_media_type(sotto_bytes_of(data + 1, size - 1));
    else
        try_path(sotto_bytes_of(data + 1, size - 1));
    return 0;
}
