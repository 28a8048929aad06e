/* fuzz/dap.h - what holds for every DAP message that comes from a stranger: what decodes encodes to the same
 * bytes, within them, and anything else is refused as malformed or unknown.
 *
 * The first byte chooses the profile.
 */
#ifndef SOTTO_FUZZ_DAP_H
#define SOTTO_FUZZ_DAP_H

#include <stdlib.h>
#include <string.h>

#include "sotto-vectors/dap_forms.h"
#include "target.h"

static inline void sotto_fuzz_dap(const char *name, const uint8_t *data, size_t size)
{
    const sotto_dap_form *form = sotto_dap_form_named(name);
    const sotto_dap_profile profile = size > 0 && data[0] & 1 ? SOTTO_DAP_JANUS : SOTTO_DAP_DRAFT18;
    const sotto_bytes wire =
        size > 0 ? sotto_bytes_of(data + 1, size - 1) : sotto_bytes_of(data, 0);
    uint8_t *memory = malloc(wire.len + 1);
    sotto_buf out = sotto_buf_over(memory, wire.len);
    sotto_status status;

    if (!form || !memory)
        abort();
    status = form->again(&out, wire, profile, NULL);
    if (status == SOTTO_OK) {
        /* The one message that is told otherwise to Janus: error 11 becomes 4. */
        if (!(profile == SOTTO_DAP_JANUS && strcmp(name, "UploadErrors") == 0) &&
            !sotto_bytes_equal_vartime(wire, sotto_buf_bytes(&out)))
            abort();
    } else if (status != SOTTO_MALFORMED && status != SOTTO_MISSING && status != SOTTO_DENIED) {
        abort(); /* the latter two: of extensions that are unknown, or out of order */
    }
    free(memory);
}

#endif
