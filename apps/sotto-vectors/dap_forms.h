/* sotto-vectors/dap_forms.h - every DAP struct by its name, decoded and encoded again.
 *
 * Callers:  tests, fuzz targets and the vector runner; never a server.
 */
#ifndef SOTTO_VECTORS_DAP_FORMS_H
#define SOTTO_VECTORS_DAP_FORMS_H

#include "dap/dap.h"

/* Decodes wire and appends what its encoder makes of that: the same bytes, if it decodes at all. */
typedef sotto_status (*sotto_dap_again)(sotto_buf *out, sotto_bytes wire, sotto_dap_profile profile,
                                        sotto_err *err);

typedef struct sotto_dap_form {
    const char *name; /* as DAP has it: "AggregationJobInitReq" */
    sotto_dap_again again;
    bool message; /* travels on its own: has a media type of its own or is what is sealed */
    bool open;    /* ends in a list without a length: a prefix of it may be one as well   */
} sotto_dap_form;

extern const sotto_dap_form sotto_dap_forms[];
extern const size_t sotto_dap_form_count;

/* NULL: there is none of this name. */
const sotto_dap_form *sotto_dap_form_named(const char *name);

#endif
