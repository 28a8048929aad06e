#define SOTTO_FIELD 128
#include "vdaf/flp_template.h"

#include "vdaf/flp_prove_template.h"

#if defined(__x86_64__)
#include "vdaf/query_lanes.h"
#define QUERY_LANES
#endif
#include "vdaf/flp_query_template.h"

const sotto_flp sotto_flp128 = FLP_FUNCTIONS;
const sotto_flp_checks sotto_flp_checks128 = FLP_CHECKS;
