#define SOTTO_FIELD 128
#include "vdaf/flp_template.h"

#include "vdaf/flp_prove_template.h"

#include "vdaf/flp_query_template.h"

const sotto_flp sotto_flp128 = {
    .tables_size = tables_size,
    .tables_init = tables_init,
    .prove_scratch = prove_scratch,
    .query_scratch = query_scratch,
    .canonical = canonical,
    .sieve_vartime = sieve_vartime,
    .encode = encode,
    .subtract = subtract,
    .prove = prove,
    .query = query,
    .decide = decide,
    .truncate = truncate,
    .accumulate = accumulate,
    .merge = merge,
};
